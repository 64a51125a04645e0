"""A recorded judge that is asked again: its own prompt, byte for byte, in place of the file of its verdicts.

Nothing is added to the prompt: no fence around the item's texts, no rubric, no form of reply. So the reply is read in
the forms that such prompts ask for, as strictly as any: one grade on the scale, or none. A pair is asked in both orders
of its answers. Of a cascade the strong judge's prompt is put to the items alone that need it.
"""

import re
from collections.abc import Sequence

import numpy as np
from pydantic import Field

from judgec.errors import UserError
from judgec.lm.endpoint.exchange import chat_of
from judgec.lm.executor import Reply, Request
from judgec.raters.asking import ATTEMPTS, text_of
from judgec.raters.columns import Columns
from judgec.raters.piece import Piece
from judgec.raters.rater import Count, Rating
from judgec.raters.replies import UnreadableReplyError, Verdict, read_verdict, stated
from judgec.raters.verdicts import EVERY, AboutJudge
from judgec.records.judgment import Judgments
from judgec.records.label import Item
from judgec.records.record import FiniteRecord
from judgec.records.scale import Scale
from judgec.records.tasks.registry import TASKS

BETWEEN = "\n\n"  # texts of a list, in the place of one
PLACEHOLDER = re.compile(r"\{(\w+)\}")
COMPARED = ("answer", "conversation")  # of which a prompt shows two


class LivePrompt(FiniteRecord):
    """The prompt of a recorded judge.

    Args:
        model: Whose verdicts were recorded, or None.
        messages: Role and text of each turn, by aspect; ``""`` for all. ``{query}`` stands for the item's query, and so
            on.
        verdict: The form of its replies, with ``{v}`` in the place of the grade, which alone is read; None for any.
    """

    model: str | None = None
    messages: dict[str, tuple[tuple[str, str], ...]] = Field(min_length=1)
    verdict: str | None = Field(default=None, exclude_if=lambda said: said is None)

    def of(self, aspect: str) -> tuple[tuple[str, str], ...] | None:
        """The turns for an aspect, or None."""
        return self.messages.get(aspect, self.messages.get(EVERY))

    def filled(self, aspect: str, item: Item) -> list[dict[str, str]]:
        """Messages that are sent: the turns with the item's texts in their places, and nothing else."""
        turns = self.of(aspect) or ()
        return chat_of((role, PLACEHOLDER.sub(lambda at: _text(item, at[1]), text)) for role, text in turns)


def check_prompt(judge: str, prompt: LivePrompt | None, task: str, aspects: Sequence[str]) -> LivePrompt:
    """The prompt of a judge, where it can be put to items of a task.

    Raises:
        UserError: It is not known, has no text for an aspect, or a placeholder that no item fills.
    """
    spec = TASKS[task]
    if prompt is None:
        raise UserError(
            f"--live: the prompt of {judge} is not known; STEM.judges.json beside the verdicts, or a column prompt, "
            "says it. Add it and compile again, or give recorded verdicts with --lm recorded:FILE."
        )
    if lacking := [aspect for aspect in aspects if len(aspects) > 1 and aspect not in prompt.messages]:
        raise UserError(f"--live: the prompt of {judge} has no text for {', '.join(lacking)}; one each is needed.")
    texts = [text for turns in prompt.messages.values() for _, text in turns]
    strange = sorted({name for text in texts for name in PLACEHOLDER.findall(text)} - set(spec.inputs))
    if strange:
        raise UserError(
            f"--live: the prompt of {judge} has {', '.join(f'{{{name}}}' for name in strange)}; items of {task} have "
            f"{', '.join(f'{{{name}}}' for name in spec.inputs)}. Rename the placeholder, and compile again."
        )
    shown = {name for text in texts for name in PLACEHOLDER.findall(text)}
    if spec.pairs and not any({f"{what}_a", f"{what}_b"} <= shown for what in COMPARED):
        raise UserError(
            f"--live: the prompt of {judge} shows {', '.join(f'{{{name}}}' for name in sorted(shown)) or 'no texts'}; "
            "{answer_a} and {answer_b} are needed to compare two answers. Put them in, and compile again."
        )
    return prompt


class LiveRater:
    """A recorded judge whose prompt is put to its model, an aspect at a time.

    Args:
        prompt: What is asked.
        scale: The grades.
        aspects: What is graded.
        to: What requests call the model, where there are several.
        count: Told of progress.
    """

    def __init__(
        self, prompt: LivePrompt, *, scale: Scale, aspects: tuple[str, ...], to: str = "", count: Count | None = None
    ) -> None:
        self.prompt, self.scale, self.aspects, self.to = prompt, scale, aspects, to
        self.count = count or Count()

    def rate(self, piece: Piece) -> Rating:
        """As ``Rater.rate``."""
        questions = _LiveQuestions(self, piece.items)
        if questions.numbers:
            yield (questions,)
        found = questions.judgments(piece.item_ids)
        self.count.add(len(piece.item_ids), int((~found.scored).sum()))
        return found


class _LiveQuestions:
    """The questions of a live judge about some items: one an aspect."""

    def __init__(self, rater: LiveRater, items: Sequence[Item]) -> None:
        self.numbers = range(len(items) * len(rater.aspects))
        self._rater, self._items, self._many = rater, items, len(rater.aspects)
        self._read: dict[int, tuple[str, Verdict]] = {}
        self._faults: dict[int, str] = {}

    def request(self, number: int, attempt: int, key: int) -> Request:
        """As ``Questions.request``."""
        item, aspect = self._items[number // self._many], self._rater.aspects[number % self._many]
        return Request(key, self._rater.prompt.filled(aspect, item), attempt or None, to=self._rater.to)

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


def _text(item: Item, name: str) -> str:
    return BETWEEN.join(item.texts(name))


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


def live_prompt(about: AboutJudge) -> LivePrompt | None:
    """The prompt of a recorded judge, or None where it is not known."""
    known = {"model": about.model, "messages": dict(about.messages), "verdict": about.verdict}
    return LivePrompt.model_validate(known) if about.messages else None
