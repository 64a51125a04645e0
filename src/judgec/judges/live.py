"""A recorded judge that is asked again: its own prompt, byte for byte, in place of the file of its verdicts.

Nothing is added to the prompt: no fence around the item's texts, no rubric, no form of reply. So the reply is read in
the forms that such prompts ask for, as strictly as any: one grade on the scale, or none.
"""

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from threading import Event

import numpy as np
from pydantic import Field

from judgec.errors import UserError
from judgec.judges.decision import half_way
from judgec.judges.panel import Panel
from judgec.judges.reading import UnreadableReplyError, Verdict, read_between, read_fields, read_grade, read_verdict
from judgec.judges.stream.asking import ask_rows, text_of
from judgec.judges.stream.columns import Columns
from judgec.lm.endpoint.exchange import chat_of
from judgec.lm.executor import Ask, Reply, Request
from judgec.records.judgment import Judgments
from judgec.records.label import Item
from judgec.records.record import FiniteRecord
from judgec.records.scale import Scale
from judgec.store.stream.pieces import Piece
from judgec.tasks.registry import TASKS

EVERY = ""  # the aspect of a prompt that is for all
BETWEEN = "\n\n"  # texts of a list, in the place of one
PLACEHOLDER = re.compile(r"\{(\w+)\}")
BRACKETED = re.compile(r"\[\[([^\[\]]{1,40})\]\]")
KIND = r"(?:scor(?:e|es|ed|ing)|grade|rating|relevance)"
NUMBER = r"([-+]?\d+(?:\.\d+)?)(?!\d|\.\d|\s*[-–]\s*\d|\s+to\s+\d)"  # not the beginning of a range
STATED = rf"{KIND}(?:\s*\([^)]{{0,40}}\))?\W{{0,6}}(?:(?:is|of|a)\W{{1,4}}){{0,2}}{NUMBER}"
FINAL = re.compile(rf"\b(?:final|overall)\s+{STATED}", re.IGNORECASE)
LABELLED = re.compile(rf"\b{STATED}", re.IGNORECASE)
OUT_OF = re.compile(r"(?<![\d.])(\d+(?:\.\d+)?)\s*(?:out\s+of|/)\s*(\d+)(?![\d.]*\d)", re.IGNORECASE)
STARS = re.compile(r"(?<![\d.-])(\d+(?:\.\d+)?)\s+stars?\b", re.IGNORECASE)
WORDS = ("zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten")
IN_WORDS = re.compile(rf"\b({'|'.join(WORDS)})(?=\s+(?:stars?\b|out\s+of\b))", re.IGNORECASE)
NAMES = ("grade", "score", "rating", "relevance", "label", "answer", "verdict")  # of a JSON object's field
LONGEST = 20_000  # characters of a reply that are looked through


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
    if spec.pairs:
        raise UserError(
            f"--live: {judge} compares two answers; how its replies name them is not recorded. Compile a judge with "
            "--instructions FILE, or give recorded verdicts."
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
    return prompt


class LiveInterview:
    """Recorded judges whose prompts are put to a stream of items.

    Args:
        prompts: Of each judge that is asked.
        ask: How each one's model is asked.
        joint: How several become one; None for a single one.
        scale: The grades.
        aspects: What is graded.
        on_verdict: Told how many verdicts have come, and how many of these stay unscored.
    """

    def __init__(
        self,
        prompts: Mapping[str, LivePrompt],
        ask: Mapping[str, Ask],
        joint: Panel | None,
        *,
        scale: Scale,
        aspects: tuple[str, ...],
        on_verdict: Callable[[int, int], None] = lambda _done, _unscored: None,
    ) -> None:
        self.half_way = 0
        self.stop = Event()
        self._prompts, self._ask, self._joint = prompts, ask, joint
        self._scale, self._aspects, self._on_verdict = scale, aspects, on_verdict

    def hold(self, pieces: Iterable[Piece]) -> Iterator[tuple[Piece, list[Judgments]]]:
        """Each piece with the raw verdicts, in order."""
        for piece in pieces:
            if self.stop.is_set():
                return
            yield piece, [self.judgments(piece.read(), piece.item_ids)]

    def judgments(self, items: Sequence[Item], item_ids: tuple[str, ...]) -> Judgments:
        """The raw verdicts on some items."""
        members = list(self._prompts) if self._joint is None else list(self._joint.members)
        said = [self._said(name, items, item_ids) for name in members]
        joined = said[0] if self._joint is None else self._joint.verdict(said, self._scale)
        if self._joint is None:
            self.half_way += half_way(joined, self._scale)
        self._on_verdict(len(item_ids), int((~joined.scored).sum()))
        return joined

    def _said(self, judge: str, items: Sequence[Item], item_ids: tuple[str, ...]) -> Judgments:
        prompt, many = self._prompts[judge], len(self._aspects)
        read: dict[int, tuple[str, Verdict]] = {}

        def request(row: int, attempt: int) -> Request:
            item, aspect = items[row // many], self._aspects[row % many]
            return Request(row, prompt.filled(aspect, item), attempt or None)

        def take(row: int, reply: Reply) -> None:
            text = text_of(reply)
            stated = {"grade": grade_text(text, self._scale)}
            read[row] = text, read_verdict(stated, ("grade",), self._scale, {})

        faults = ask_rows(range(len(items) * many), self._ask[judge], request, take)
        columns = Columns.empty(len(items), many, len(self._scale.grades))
        for n in range(len(items)):
            rows = range(n * many, (n + 1) * many)
            lost = next((faults[row] for row in rows if row in faults), None)
            if lost is not None:
                columns.faults[n] = lost
                continue
            columns.put(n, _together([read[row] for row in rows], self._aspects))
        return columns.judgments(self._scale, self._aspects, item_ids)


def grade_text(reply: str, scale: Scale) -> str:
    """The one grade that a free reply states, as it is written.

    In this order: the whole reply, what stands in double brackets, a field of a JSON object, ``Final score: 3``,
    ``Score: 3``, ``3 out of 5`` of the highest grade, ``3 stars``, the last or the first line. Two different ones in
    the form that counts are none.

    Raises:
        UnreadableReplyError: There is none.
    """
    text = IN_WORDS.sub(lambda word: str(WORDS.index(word[1].lower())), reply.strip()[:LONGEST])
    if not text:
        raise UnreadableReplyError("empty reply")

    def states(part: str) -> bool:
        return read_grade(part, scale) is not None or read_between(part, scale) is not None

    lines = [line.strip() for line in text.splitlines() if line.strip()]
    forms: list[list[str]] = [
        [text],
        BRACKETED.findall(text),
        _fields(text),
        FINAL.findall(text),
        LABELLED.findall(text),
        [grade for grade, most in OUT_OF.findall(text) if float(most) == scale.values[-1]],
        STARS.findall(text),
        [lines[-1]],
        [lines[0]],
    ]
    for found in forms:
        stated = {part.strip() for part in found if states(part)}
        if len(stated) > 1:
            raise UnreadableReplyError(f"malformed reply: it states {' and '.join(sorted(stated))}")
        if stated:
            return stated.pop()
    raise UnreadableReplyError(f"malformed reply: {' '.join(text.split())[:60]}")


def _fields(text: str) -> list[str]:
    if "{" not in text:
        return []
    try:
        found = read_fields(text[text.index("{") : text.rindex("}") + 1], _no_form)
    except (UnreadableReplyError, ValueError):
        return []
    return [str(value) for name, value in found.items() if name.casefold() in NAMES]


def _no_form(_: str) -> Mapping[str, object]:
    raise ValueError("read by hand")


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
