"""The items of a page: which are worth reading, how they are embedded, and the JSON lines that hold all of them."""

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from judgec.evidence.overlap import gram_orders
from judgec.evidence.text import FUNCTION_STEMS, StemmedText, read, stem
from judgec.records.conversation import as_turn, holds_turns, speaker
from judgec.records.trajectory import STEPS, titled
from judgec.report.kit import script_data
from judgec.report.numbers import percent
from judgec.report.words import CLAIMS

FILE = "items.jsonl"  # beside the page; holds every item whole
MOST_BYTES = 1_500_000  # of embedded items: half of what a page may be
MOST_CHARACTERS = 4000  # of one text on the page
MOST_ROWS = 50  # of the table that stands where no script runs
TITLE = 160  # characters of an item's line
WORDS = {  # what the browser calls things; a page may have others
    "intro": "The items most worth reading: unscored ones, disagreements, then the least sure.",
    "differ": "disagreements",
    "unscored": "unscored",
    "rater": "Annotator",
    "group": "Group",
    "far": "farthest apart",
}
HEAD = ("item", "experts", "judge", "confidence")
WORD = re.compile(r"[^\W_]+(?:['’][^\W_]+)*")


class Browsed(Protocol):
    """Anything that a page's browser can show: an item of a judge's page, or a case of another page."""

    def to_json(self) -> dict[str, object]:
        """Whole, as a line of the file."""

    def shown(self, file: str) -> dict[str, object]:
        """As embedded: texts cut, pointing to ``file`` for the rest."""

    def worth(self) -> tuple[float, ...]:
        """Its place: what is most worth reading has the smallest."""

    def row(self) -> list[str]:
        """Cells of the table that stands where no script runs."""


@dataclass(frozen=True, slots=True)
class ItemLabel:
    """Label of an item by one annotator."""

    rater: str
    grades: Mapping[str, object]
    accept: bool | None
    reason: str


@dataclass(frozen=True, slots=True)
class BrowsedItem:
    """An item with what experts and judge said of it.

    Args:
        item_id: Of the item.
        query_id: Of its query.
        agent: Which wrote the answer, or None.
        group: Its slice, or None.
        expert: The experts' consensus by aspect, ``3 or 4`` where two share the item, None where nobody graded.
        judge: The judge's grade by aspect, None where it has none.
        score: The judge's by aspect, None where it has none.
        confidence: The judge's, 0-1, or None.
        distance: How far apart judge and experts are, as a share of the scale.
        unscored: Why it has no grade, or None.
        reason: The judge's.
        labels: What annotators said.
        texts: Input fields in the order of reading.
        claims: What was checked piece by piece, as in rows of ``judge``.
        nuggets: What the answer should say, likewise.
    """

    item_id: str
    query_id: str
    agent: str | None
    group: str | None
    expert: Mapping[str, object]
    judge: Mapping[str, object]
    score: Mapping[str, float | None]
    confidence: float | None
    distance: float
    unscored: str | None
    reason: str
    labels: Sequence[ItemLabel]
    texts: Mapping[str, tuple[str, ...]]
    claims: Sequence[Mapping[str, object]] = ()
    nuggets: Sequence[Mapping[str, object]] = ()

    def to_json(self) -> dict[str, object]:
        """The item as a line of the file."""
        apart = {"labels", "texts", *(name for name in ("claims", "nuggets") if not getattr(self, name))}
        kept = {name: getattr(self, name) for name in self.__slots__ if name not in apart}
        labels = [{name: getattr(label, name) for name in label.__slots__} for label in self.labels]
        return {**kept, "labels": labels, "texts": {name: list(parts) for name, parts in self.texts.items()}}

    def worth(self) -> tuple[float, ...]:
        """Unscored items first, then the farthest disagreements, then the least sure."""
        differs = any(grade is not None and self.judge.get(a) not in {None, grade} for a, grade in self.expert.items())
        place = 0 if self.unscored is not None else 1 if differs else 2
        sure = 1.0 if self.confidence is None else self.confidence
        return place, -self.distance if place == 1 else 0.0, sure

    def shown(self, file: str) -> dict[str, object]:
        """As embedded: texts cut, contexts in pieces of which every second one supports the answer."""
        texts = shown_texts(self.texts, answers_of(self.texts), file)
        if self.claims:
            texts = [_claimed(field, self.claims) for field in texts]
        query = " ".join(self.texts.get("query", (self.item_id,)))
        made = self.to_json()
        labels = [{**label, "reason": cut(label["reason"], file)} for label in made.pop("labels")]  # type: ignore[attr-defined]  # a list
        return {**made, "labels": labels, "texts": texts, "title": query[:TITLE], "reason": cut(self.reason, file)}

    def row(self) -> list[str]:
        """Cells of the table."""
        sure = "–" if self.confidence is None else percent(self.confidence)
        return [self.item_id, grades_said(self.expert), self.unscored or grades_said(self.judge), sure]


def item_lines(items: Sequence[Browsed]) -> Iterator[str]:
    """Every item whole, one JSON object a line."""
    return (json.dumps(one.to_json(), ensure_ascii=False, allow_nan=False) + "\n" for one in items)


def embedded(
    items: Sequence[Browsed],
    most_bytes: int = MOST_BYTES,
    *,
    words: Mapping[str, str] = WORDS,
    head: Sequence[str] = HEAD,
    file: str = FILE,
) -> dict[str, object]:
    """Data that ``items.html`` shows: the items most worth reading, as many as fit.

    Args:
        items: All of them; ``file`` beside the page has to hold the same.
        most_bytes: Of the items together, as JSON.
        words: What the browser calls things, as ``WORDS``.
        head: Of the table that stands where no script runs.
        file: Which holds all of them.
    """
    kept: list[dict[str, object]] = []
    size = 0
    ordered = sorted(items, key=lambda one: one.worth())
    for one in ordered:
        made = one.shown(file)
        size += len(str(script_data(made)).encode()) + 2  # as escaped: a "<" takes six bytes
        if size > most_bytes:
            break
        kept.append(made)
    left_out = len(items) - len(kept)
    rows = [one.row() for one in ordered[: min(len(kept), MOST_ROWS)]]
    legend = {"verdicts": dict(CLAIMS)} if any("claims" in one for one in kept) else {}
    data = script_data({"items": kept, "left_out": left_out, "file": file, "words": dict(words), **legend})
    named = {"intro": words["intro"], "head": head, "file": file}
    return {"data": data, "left_out": left_out, "rows": rows, "count": len(kept), **named}


def shown_texts(texts: Mapping[str, tuple[str, ...]], answers: Sequence[str], file: str) -> list[list[Any]]:
    """Texts by name as embedded: cut, and those of contexts in pieces of which every second one supports an answer.

    Turns of a conversation come without their roles, and steps of a run without their titles, which stand beside them.
    """
    support = read(" \n".join(part[:MOST_CHARACTERS] for part in answers)) if answers else None
    made: list[list[Any]] = []  # Any: what JSON embeds
    for name, parts in texts.items():
        turns = [as_turn(part) for part in parts] if holds_turns(name, texts) else None
        named = [titled(part) for part in parts] if name == STEPS else []
        named = [(speaker(turn), turn.content) for turn in turns] if turns is not None else named
        short = [cut(part, file) for part in ([said for _, said in named] if named else parts)]
        marks = support is not None and name in {"contexts", "document", STEPS}
        pieces = [marked_parts(part, support) if marks and support else [part] for part in short]
        made.append([name, pieces, *([[title for title, _ in named]] if named else [])])
    return made


def answers_of(texts: Mapping[str, tuple[str, ...]]) -> tuple[str, ...]:
    """Of an item's texts those that answer."""
    return tuple(part for name, parts in texts.items() if name.startswith("answer") for part in parts)


def marked_parts(text: str, support: StemmedText) -> list[str]:
    """A text in pieces, of which every second one stands in ``support`` too.

    Marked are words of content that ``support`` has, and function words within a run that it copies.
    """
    words = list(WORD.finditer(text))
    stems = [stem(word.group()) for word in words]
    pieces, end, inside = [""], 0, False
    for word, name, order in zip(words, stems, gram_orders(stems, support), strict=True):
        known = order > 1 or (order == 1 and name not in FUNCTION_STEMS)
        gap = text[end : word.start()]
        if known and not inside:
            pieces[-1] += gap
            pieces.append(word.group())
        elif inside and not known:
            pieces.append(gap + word.group())
        else:
            pieces[-1] += gap + word.group()
        end, inside = word.end(), known
    if inside:
        pieces.append("")
    pieces[-1] += text[end:]
    return pieces


def _claimed(field: list[Any], claims: Sequence[Mapping[str, object]]) -> list[object]:  # Any: what JSON embeds
    """The texts of a field with marks where claims stand and where what decides them does, each with its verdict.

    Args:
        field: As ``shown_texts`` gives it: its name, its texts in pieces of which every second one is marked, and the
            titles of these where they have some.
        claims: As in rows of ``judge``.
    """
    name, pieces, *titles = field
    whole = ["".join(map(str, parts)) for parts in pieces]
    spans: list[list[tuple[int, int, str]]] = [[] for _ in whole]
    for claim in claims:
        verdict, start, end = str(claim["verdict"]), claim["start"], claim["end"]
        if name == "answer" and isinstance(start, int) and isinstance(end, int):
            spans[0].append((start, end, verdict))
        if claim["source"] == name and claim["sentence"]:
            sentence = str(claim["sentence"])
            found = ((n, text.find(sentence)) for n, text in enumerate(whole))
            place = next(((n, at) for n, at in found if at >= 0), None)
            if place is not None:
                spans[place[0]].append((place[1], place[1] + len(sentence), verdict))
    if not any(spans):
        return field
    return [name, [_marked_spans(text, some) for text, some in zip(whole, spans, strict=True)], *titles]


def _marked_spans(text: str, spans: Sequence[tuple[int, int, str]]) -> list[object]:
    """A text in pieces, of which every second one is marked: its text and why; of two in one place the first."""
    pieces: list[object] = []
    at = 0
    for start, end, kind in sorted(set(spans)):
        if at <= start < end <= len(text):
            pieces += [text[at:start], [text[start:end], kind]]
            at = end
    return [*pieces, text[at:]]


def cut(text: str, file: str) -> str:
    """A text as embedded: where it is long, its beginning and where the rest is."""
    return text if len(text) <= MOST_CHARACTERS else f"{text[:MOST_CHARACTERS]} … (cut; whole in {file})"


def grades_said(grades: Mapping[str, object]) -> str:
    """Grades by aspect as one word, or with the aspects' names where there are several."""
    words = {aspect: "–" if grade is None else str(grade) for aspect, grade in grades.items()}
    return next(iter(words.values())) if len(words) == 1 else ", ".join(f"{a} {g}" for a, g in words.items())
