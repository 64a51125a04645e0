"""A recorded judge that is asked again: its own prompt, byte for byte, in place of the file of its verdicts.

Nothing is added to the prompt: no fence around the item's texts, no rubric, no form of reply. So the reply is read in
the forms that such prompts ask for, as strictly as any: one grade on the scale, or none. A pair is asked in both orders
of its answers. Of a cascade the dear judge's prompt is put to the items alone that need it.
"""

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from threading import Event

import numpy as np
from pydantic import Field

from judgec.errors import UserError
from judgec.labels.stream.pieces import Piece
from judgec.lm.endpoint.exchange import chat_of
from judgec.lm.executor import Ask, Reply, Request
from judgec.raters.decision import half_way
from judgec.raters.pairwise import joined, mirrored
from judgec.raters.panel import Panel
from judgec.raters.replies import Verdict, read_verdict, stated
from judgec.raters.stream.asking import ask_rows, text_of
from judgec.raters.stream.columns import Columns
from judgec.raters.verdicts import EVERY
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
    """

    model: str | None = None
    messages: dict[str, tuple[tuple[str, str], ...]] = Field(min_length=1)

    def of(self, aspect: str) -> tuple[tuple[str, str], ...] | None:
        """The turns for an aspect, or None."""
        return self.messages.get(aspect, self.messages.get(EVERY))

    def filled(self, aspect: str, item: Item) -> list[dict[str, str]]:
        """What is sent: the turns with the item's texts in their places, and nothing else."""
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


class LiveInterview:
    """Recorded judges whose prompts are put to a stream of items.

    Args:
        prompts: Of each judge that is asked.
        ask: How each one's model is asked.
        panel: How several become one; None for a single one, or where a cascade asks one after the other.
        scale: The grades.
        aspects: What is graded.
        pairs: Items are pairs; pieces hold every pair twice, the second time mirrored.
        on_verdict: Told how many verdicts have come, and how many of these stay unscored.
    """

    samples = 1

    def __init__(
        self,
        prompts: Mapping[str, LivePrompt],
        ask: Mapping[str, Ask],
        panel: Panel | None,
        *,
        scale: Scale,
        aspects: tuple[str, ...],
        pairs: bool = False,
        on_verdict: Callable[[int, int], None] = lambda _done, _unscored: None,
    ) -> None:
        self.stop = Event()
        self.on_verdict = on_verdict
        self._prompts, self._ask, self._panel = prompts, ask, panel
        self._scale, self._aspects, self._pairs = scale, aspects, pairs
        self._half_way = 0
        self._alone: list[LiveInterview] = []

    @property
    def half_way(self) -> int:
        """How many verdicts of a single judge lay half way between two grades."""
        return self._half_way + sum(one.half_way for one in self._alone)

    def of(self, judge: str) -> "LiveInterview":
        """One of the judges alone; ending the whole ends it, too."""
        alone = LiveInterview(
            {judge: self._prompts[judge]},
            self._ask,
            None,
            scale=self._scale,
            aspects=self._aspects,
            pairs=self._pairs,
            on_verdict=self.on_verdict,
        )
        alone.stop = self.stop
        self._alone.append(alone)
        return alone

    def hold(self, pieces: Iterable[Piece]) -> Iterator[tuple[Piece, list[Judgments]]]:
        """Each piece with the raw verdicts, in order; a pair's are of both orders already."""
        for piece in pieces:
            if self.stop.is_set():
                return
            n = len(piece.item_ids) // (1 + self._pairs)
            yield piece, [self._judgments(piece.read()[:n], piece.item_ids[:n])]

    def _judgments(self, items: Sequence[Item], item_ids: tuple[str, ...]) -> Judgments:
        """The raw verdicts on some items, of a panel its own."""
        names = list(self._prompts) if self._panel is None else list(self._panel.members)
        said = [self.said(name, items, item_ids) for name in names]
        if self._panel is not None:
            return self._panel.verdict(said, self._scale)
        self._half_way += half_way(said[0], self._scale)
        return said[0]

    def said(self, judge: str, items: Sequence[Item], item_ids: tuple[str, ...] = ()) -> Judgments:
        """The raw verdicts of one judge on some items; a pair is asked in both orders.

        Args:
            judge: Whose prompt.
            items: What is judged.
            item_ids: What it is called in the result; by default as the items.
        """
        ids = item_ids or tuple(item.item_id for item in items)
        if self._pairs:
            twice = self._replies(judge, [*items, *map(mirrored, items)]).judgments(self._scale, self._aspects, ids * 2)
            found = joined(twice, self._scale)
        else:
            found = self._replies(judge, items).judgments(self._scale, self._aspects, ids)
        orders = 1 + self._pairs
        self.on_verdict(orders * len(ids), orders * int((~found.scored).sum()))
        return found

    def _replies(self, judge: str, items: Sequence[Item]) -> Columns:
        prompt, many = self._prompts[judge], len(self._aspects)
        read: dict[int, tuple[str, Verdict]] = {}

        def request(row: int, attempt: int) -> Request:
            item, aspect = items[row // many], self._aspects[row % many]
            return Request(row, prompt.filled(aspect, item), attempt or None)

        def take(row: int, reply: Reply) -> None:
            text, item = text_of(reply), items[row // many]
            grade = stated(text, self._scale, reply.finish, names=(self._aspects[row % many],), texts=item.everything)
            read[row] = text, read_verdict({"grade": grade}, ("grade",), self._scale, {})

        faults = ask_rows(range(len(items) * many), self._ask[judge], request, take) if items else {}
        columns = Columns.empty(len(items), many, len(self._scale.grades))
        for n in range(len(items)):
            rows = range(n * many, (n + 1) * many)
            lost = next((faults[row] for row in rows if row in faults), None)
            if lost is not None:
                columns.faults[n] = lost
                continue
            columns.put(n, _together([read[row] for row in rows], self._aspects))
        return columns


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


def live_prompt(model: str | None, messages: Mapping[str, tuple[tuple[str, str], ...]]) -> LivePrompt | None:
    """The prompt of a recorded judge, or None where it is not known."""
    return LivePrompt(model=model, messages=dict(messages)) if messages else None
