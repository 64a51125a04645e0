"""Brings together what one person gave one item several times: the latest where a column says when, else the median."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import UTC, date, datetime, time
from typing import Literal

from judgec.errors import InputError
from judgec.records.counts import plural
from judgec.records.label import Label
from judgec.table.rows.cells import as_number, is_missing
from judgec.table.table import Table

Repeats = Literal["median", "error"] | None
MEDIAN: Repeats = "median"
ERROR: Repeats = "error"
GRADED_AT = "graded_at"  # the column that says when a label was given


@dataclass(frozen=True, slots=True)
class SelfAgreement:
    """Agreement of a person with their own other grades of an item.

    Args:
        annotator: Who.
        n: Gradings of items beside one each.
        same: Those with the same grades as most of that item's, beside one each.
    """

    annotator: str
    n: int
    same: int

    def note(self) -> str:
        """The sentence that says so."""
        return f"{self.annotator} gave the same grade again {self.same} of {plural(self.n, 'time')}"


def graded_again(count: int, *, latest: bool = False) -> str:
    """Says how gradings that an annotator gave again count."""
    counts = f"the latest by {GRADED_AT}" if latest else "the median, of two the lower,"
    return f"{plural(count, 'grading')} repeated by the same annotator: {counts} is the label"


def times_of(table: Table) -> list[float] | None:
    """When the label of each row was given, in seconds or as the number that stands there; None without a column.

    Raises:
        InputError: Cells that say no time.
    """
    if GRADED_AT not in table.columns:
        return None
    times = table.column(GRADED_AT).each(_time)
    if faults := [at for at, one in enumerate(times) if one is None]:
        seen = f"{table.where(faults[0])}: {GRADED_AT} {table.rows[faults[0]].get(GRADED_AT)!r} is no time"
        raise InputError([f"{seen}; a number, 2026-09-01 or 2026-09-01T12:30 is valid ({len(faults)} rows). Mend it."])
    return [one for one in times if one is not None]


def _time(cell: object) -> float | None:
    if is_missing(cell):
        return float("-inf")
    if (number := as_number(cell)) is not None:
        return number
    if isinstance(cell, date) and not isinstance(cell, datetime):
        cell = datetime.combine(cell, time())
    try:
        found = cell if isinstance(cell, datetime) else datetime.fromisoformat(str(cell).strip())
    except ValueError:
        return None
    return (found if found.tzinfo else found.replace(tzinfo=UTC)).timestamp()


def median_of(gradings: Sequence[int], *, ordered: bool = True) -> int:
    """The median of several gradings, of two middle ones the lower; of classes the most frequent, the first of several.

    Args:
        gradings: Places on the scale, at least one.
        ordered: False for classes.
    """
    if ordered:
        return sorted(gradings)[(len(gradings) - 1) // 2]
    counts = Counter(gradings)
    return min(one for one, count in counts.items() if count == max(counts.values()))


def once(
    labels: Sequence[Label], times: Sequence[float] | None = None, *, ordered: bool = True
) -> tuple[tuple[Label, ...], tuple[SelfAgreement, ...]]:
    """One label an item and annotator, in the order of the first ones, and how often each gave the same again.

    Args:
        labels: In any order.
        times: When each was given, where it is known.
        ordered: False for classes.
    """
    by: dict[tuple[str, str], list[int]] = {}
    for at, label in enumerate(labels):
        by.setdefault((label.item_id, label.annotator), []).append(at)
    if len(by) == len(labels):
        return tuple(labels), ()
    again: Counter[str] = Counter()
    same: Counter[str] = Counter()
    found = []
    for (_, name), places in by.items():
        given = Counter((tuple(sorted(labels[at].grades.items())), labels[at].accept) for at in places)
        again[name] += len(places) - 1
        same[name] += max(given.values()) - 1
        last = max(times[at] for at in places) if times else None
        found.append(_median([labels[at] for at in places if times is None or times[at] == last], ordered=ordered))
    said = tuple(SelfAgreement(name, count, same[name]) for name, count in sorted(again.items()) if count)
    return tuple(found), said


def _median(labels: Sequence[Label], *, ordered: bool) -> Label:
    first, *others = labels
    if not others:
        return first
    aspects = dict.fromkeys(aspect for one in labels for aspect in one.grades)
    given = {aspect: [one.grades[aspect] for one in labels if aspect in one.grades] for aspect in aspects}
    grades = {a: median_of(own, ordered=ordered) for a, own in given.items()}
    accepts = [one.accept for one in labels if one.accept is not None]
    accept = bool(median_of(accepts)) if accepts else None
    fits = [one for one in labels if one.rationale and all(one.grades.get(a) == grades[a] for a in aspects)]
    rationale = next((one.rationale for one in (*fits, *labels) if one.rationale), "")
    return replace(first, grades=grades, accept=accept, rationale=rationale)
