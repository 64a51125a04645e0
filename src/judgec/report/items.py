"""The items of a page: which are worth reading, how they are embedded, and the JSON lines that hold all of them."""

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from judgec.evidence.overlap import gram_orders
from judgec.evidence.text import FUNCTION_STEMS, StemmedText, read, stem
from judgec.report.kit import script_data
from judgec.report.numbers import percent

FILE = "items.jsonl"  # beside the page; holds every item whole
MOST_BYTES = 1_500_000  # of embedded items: half of what a page may be
MOST_CHARACTERS = 4000  # of one text on the page
MOST_ROWS = 50  # of the table that stands where no script runs
TITLE = 160  # characters of an item's line
WORD = re.compile(r"[^\W_]+(?:['’][^\W_]+)*")


@dataclass(frozen=True, slots=True)
class ItemLabel:
    """What one rater said of an item."""

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
        expert: The experts' consensus by aspect, None where nobody graded.
        judge: The judge's grade by aspect, None where it has none.
        score: The judge's by aspect, None where it has none.
        confidence: The judge's, 0-1, or None.
        distance: How far apart judge and experts are, as a share of the scale.
        unscored: Why it has no grade, or None.
        reason: The judge's.
        labels: What raters said.
        texts: Input fields in the order of reading.
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

    def to_json(self) -> dict[str, object]:
        """The item as a line of the file."""
        kept = {name: getattr(self, name) for name in self.__slots__ if name not in {"labels", "texts"}}
        labels = [{name: getattr(label, name) for name in label.__slots__} for label in self.labels]
        return {**kept, "labels": labels, "texts": {name: list(parts) for name, parts in self.texts.items()}}


def item_lines(items: Sequence[BrowsedItem]) -> Iterator[str]:
    """Every item whole, one JSON object a line."""
    return (json.dumps(one.to_json(), ensure_ascii=False, allow_nan=False) + "\n" for one in items)


def embedded(items: Sequence[BrowsedItem], most_bytes: int = MOST_BYTES) -> dict[str, object]:
    """What ``items.html`` shows: the items most worth reading, as many as fit.

    Args:
        items: All of them; ``FILE`` beside the page has to hold the same.
        most_bytes: Of the items together, as JSON.
    """
    kept: list[dict[str, object]] = []
    size = 0
    ordered = sorted(items, key=_worth)
    for one in ordered:
        made = _shown(one)
        size += len(str(script_data(made)).encode()) + 2  # as escaped: a "<" takes six bytes
        if size > most_bytes:
            break
        kept.append(made)
    left_out = len(items) - len(kept)
    rows = [_row(one) for one in ordered[: min(len(kept), MOST_ROWS)]]
    data = script_data({"items": kept, "left_out": left_out, "file": FILE})
    return {"data": data, "left_out": left_out, "file": FILE, "rows": rows, "count": len(kept)}


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


def _worth(one: BrowsedItem) -> tuple[int, float, float]:
    """Unscored items first, then the farthest disagreements, then the least sure."""
    differs = any(grade is not None and one.judge.get(a) not in {None, grade} for a, grade in one.expert.items())
    place = 0 if one.unscored is not None else 1 if differs else 2
    sure = 1.0 if one.confidence is None else one.confidence
    return place, -one.distance if place == 1 else 0.0, sure


def _shown(one: BrowsedItem) -> dict[str, object]:
    """An item as embedded: texts cut, contexts in pieces of which every second one supports the answer."""
    answers = tuple(part for name, parts in one.texts.items() if name.startswith("answer") for part in parts)
    support = read(" \n".join(part[:MOST_CHARACTERS] for part in answers)) if answers else None
    texts = []
    for name, parts in one.texts.items():
        short = [_cut(part) for part in parts]
        marks = support is not None and name in {"contexts", "document"}
        texts.append([name, [marked_parts(part, support) if marks and support else [part] for part in short]])
    query = " ".join(one.texts.get("query", (one.item_id,)))
    made = one.to_json()
    labels = [{**label, "reason": _cut(label["reason"])} for label in made.pop("labels")]  # type: ignore[attr-defined]  # a list
    return {**made, "labels": labels, "texts": texts, "title": query[:TITLE], "reason": _cut(one.reason)}


def _cut(text: str) -> str:
    return text if len(text) <= MOST_CHARACTERS else f"{text[:MOST_CHARACTERS]} … (cut; whole in {FILE})"


def _row(one: BrowsedItem) -> list[str]:
    sure = "–" if one.confidence is None else percent(one.confidence)
    return [one.item_id, _said(one.expert), one.unscored or _said(one.judge), sure]


def _said(grades: Mapping[str, object]) -> str:
    words = {aspect: "–" if grade is None else str(grade) for aspect, grade in grades.items()}
    return next(iter(words.values())) if len(words) == 1 else ", ".join(f"{a} {g}" for a, g in words.items())
