"""A prompt in somebody's own turns, byte for byte: nothing is added, no fence, no rubric, no form of reply.

So the reply is read in the forms that such prompts ask for, as strictly as any: one grade on the scale, or none.
"""

from collections.abc import Mapping, Sequence

import numpy as np

from judgec.lm.endpoint.exchange import chat_of
from judgec.lm.executor import Reply, Request
from judgec.raters.about_judges import EVERY
from judgec.raters.asking import ATTEMPTS, text_of
from judgec.raters.columns import Columns
from judgec.raters.piece import Piece
from judgec.raters.rater import Count, Rating
from judgec.raters.replies import UnreadableReplyError, Verdict, read_verdict, stated
from judgec.raters.tree import PLACEHOLDER, PromptLeaf
from judgec.records.judgment import Judgments
from judgec.records.label import Item
from judgec.records.scale import Scale
from judgec.records.tasks.registry import TASKS

BETWEEN = "\n\n"  # texts of a list, in the place of one
COMPARED = ("answer", "conversation")  # of which a prompt shows two


def filled(prompt: Mapping[str, Sequence[tuple[str, str]]], aspect: str, item: Item) -> list[dict[str, str]]:
    """Messages that are sent: the turns for an aspect with the item's texts in their places, and nothing else."""
    turns = prompt.get(aspect, prompt.get(EVERY, ()))
    return chat_of((role, PLACEHOLDER.sub(lambda at: BETWEEN.join(item.texts(at[1])), text)) for role, text in turns)


def unfit(turns: Mapping[str, Sequence[tuple[str, str]]], task: str, aspects: Sequence[str]) -> str:
    """The reason why turns cannot be put to items of a task: an aspect without one, a placeholder that no item fills,
    two answers of which they show one; empty where they can.
    """
    spec = TASKS[task]
    shown = {name for some in turns.values() for _, text in some for name in PLACEHOLDER.findall(text)}
    every = len(aspects) == 1 and EVERY in turns
    if lacking := [aspect for aspect in aspects if not every and aspect not in turns]:
        return f"no text for {', '.join(lacking)}"
    if strange := sorted(shown - set(spec.inputs)):
        return f"{', '.join(f'{{{name}}}' for name in strange)}, and items of {task} have {', '.join(spec.inputs)}"
    if spec.pairs and not any({f"{what}_a", f"{what}_b"} <= shown for what in COMPARED):
        return "without {answer_a} and {answer_b}, which compare two answers"
    return ""


class TurnsRater:
    """A prompt in somebody's own turns, put to its model an aspect at a time.

    Args:
        prompt: What is asked.
        scale: The grades.
        aspects: What is graded.
        to: What requests call the model, where there are several.
        count: Told of progress.
    """

    def __init__(
        self, prompt: PromptLeaf, *, scale: Scale, aspects: tuple[str, ...], to: str = "", count: Count | None = None
    ) -> None:
        self.prompt, self.scale, self.aspects, self.to = prompt, scale, aspects, to
        self.count = count or Count()

    def rate(self, piece: Piece) -> Rating:
        """As ``Rater.rate``."""
        questions = _Questions(self, piece.items)
        if questions.numbers:
            yield (questions,)
        found = questions.judgments(piece.item_ids)
        self.count.add(len(piece.item_ids), int((~found.scored).sum()))
        return found


class _Questions:
    """The questions of such a prompt about some items: one an aspect."""

    def __init__(self, rater: TurnsRater, items: Sequence[Item]) -> None:
        self.numbers = range(len(items) * len(rater.aspects))
        self._rater, self._items, self._many = rater, items, len(rater.aspects)
        self._read: dict[int, tuple[str, Verdict]] = {}
        self._faults: dict[int, str] = {}

    def request(self, number: int, attempt: int, key: int) -> Request:
        """As ``Questions.request``."""
        item, aspect = self._items[number // self._many], self._rater.aspects[number % self._many]
        return Request(key, filled(self._rater.prompt.turns, aspect, item), attempt or None, to=self._rater.to)

    def take(self, number: int, attempt: int, reply: Reply) -> bool:
        """As ``Questions.take``."""
        item, aspect = self._items[number // self._many], self._rater.aspects[number % self._many]
        scale = self._rater.scale
        try:
            text = text_of(reply)
            form = self._rater.prompt.verdict
            grade = stated(text, scale, reply.finish, names=(aspect,), texts=item.everything, form=form)
            self._read[number] = text, read_verdict({"grade": grade}, ("grade",), scale, {})
        except UnreadableReplyError as fault:
            self._faults[number] = str(fault)
            return not fault.final and attempt + 1 < ATTEMPTS
        self._faults.pop(number, None)
        return False

    def judgments(self, item_ids: tuple[str, ...]) -> Judgments:
        """Judgments from the replies; an item without a verdict on one aspect is unscored."""
        scale, aspects = self._rater.scale, self._rater.aspects
        columns = Columns.empty(len(self._items), self._many, len(scale.grades))
        for n in range(len(self._items)):
            rows = range(n * self._many, (n + 1) * self._many)
            lost = next((self._faults[row] for row in rows if row in self._faults), None)
            if lost is not None:
                columns.faults[n] = lost
            else:
                columns.put(n, _together([self._read[row] for row in rows], aspects))
        return columns.judgments(scale, aspects, item_ids)


def _together(read: Sequence[tuple[str, Verdict]], aspects: Sequence[str]) -> Verdict:
    """The verdicts of several aspects as one."""
    reasons = [
        text if len(aspects) == 1 else f"{aspect}: {text}" for aspect, (text, _) in zip(aspects, read, strict=True)
    ]
    return Verdict(
        tuple(one.positions[0] for _, one in read),
        np.concatenate([one.probabilities for _, one in read]),
        float("nan"),
        "\n".join(reasons),
    )
