"""Brings together what one person gave one item several times: the median is the label."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Literal, TypeVar

from judgec.records.counts import plural
from judgec.records.label import Label

Repeats = Literal["median", "error"] | None
MEDIAN: Repeats = "median"
ERROR: Repeats = "error"
G = TypeVar("G")


@dataclass(frozen=True, slots=True)
class SelfAgreement:
    """Agreement of a person with their own first grade of an item.

    Args:
        annotator: Who.
        n: Gradings of items that they had graded before.
        same: Those with the same grades as the first.
    """

    annotator: str
    n: int
    same: int

    def note(self) -> str:
        """The sentence that says so."""
        return f"{self.annotator} gave the same grade again {self.same} of {plural(self.n, 'time')}"


def graded_again(count: int) -> str:
    """Says how gradings that an annotator gave again count."""
    return f"{plural(count, 'grading')} repeated by the same annotator: the median is the label, of two the first"


def median_of(gradings: Sequence[G], places: Mapping[G, float]) -> G:
    """The median of several gradings, the earliest first; of two middle ones the earlier.

    Args:
        gradings: At least one.
        places: By grade, its place on the scale; where one has none, the most frequent grade counts, the earliest of
            several.
    """
    counts = Counter(gradings)
    if all(one in places for one in counts):
        ordered = sorted(gradings, key=places.__getitem__)
        middle = {ordered[(len(ordered) - 1) // 2], ordered[len(ordered) // 2]}
    else:
        middle = {one for one, count in counts.items() if count == max(counts.values())}
    return next(one for one in gradings if one in middle)


def once(labels: Sequence[Label], *, ordered: bool = True) -> tuple[tuple[Label, ...], tuple[SelfAgreement, ...]]:
    """One label an item and annotator, in the order of the first ones, and how often each gave the same again."""
    if len({(label.item_id, label.annotator) for label in labels}) == len(labels):
        return tuple(labels), ()
    by: dict[tuple[str, str], list[Label]] = {}
    for label in labels:
        by.setdefault((label.item_id, label.annotator), []).append(label)
    again: Counter[str] = Counter()
    same: Counter[str] = Counter()
    for (_, name), (first, *others) in by.items():
        again[name] += len(others)
        same[name] += sum((one.grades, one.accept) == (first.grades, first.accept) for one in others)
    found = tuple(SelfAgreement(name, count, same[name]) for name, count in sorted(again.items()) if count)
    return tuple(_median(own, ordered=ordered) for own in by.values()), found


def _median(labels: Sequence[Label], *, ordered: bool) -> Label:
    first, *others = labels
    if not others:
        return first
    aspects = dict.fromkeys(aspect for one in labels for aspect in one.grades)
    given = {aspect: [one.grades[aspect] for one in labels if aspect in one.grades] for aspect in aspects}
    grades = {a: median_of(own, {grade: float(grade) for grade in own} if ordered else {}) for a, own in given.items()}
    accepts = [one.accept for one in labels if one.accept is not None]
    accept = median_of(accepts, {False: 0.0, True: 1.0}) if accepts else None
    fits = [one for one in labels if one.rationale and all(one.grades.get(a) == grades[a] for a in aspects)]
    rationale = next((one.rationale for one in (*fits, *labels) if one.rationale), "")
    return replace(first, grades=grades, accept=accept, rationale=rationale)
