"""The consensus of several annotators: what a judge is held against, an item at a time.

Grades: the median; where the two middle grades differ, both, and each has half of the item. Unordered grades (a / b /
tie): the most frequent, tied ones in equal parts. Numbers on an interval scale: their mean. So nothing is drawn, and
neither ids nor the order of rows or annotators can change a number; with ``draws`` one of the tied grades is picked.
"""

from collections.abc import Sequence
from typing import Any, Literal  # of numbers or truth values

import numpy as np
from numpy.typing import NDArray

from judgec.records.label import UNLABELLED, FloatArray, IntArray
from judgec.records.scale import Grade, Scale

Consensus = Literal["share", "pick"]
"""What becomes of an item whose middle grades differ: both share it, or a seed picks one of them."""


def consensus_of(
    by: IntArray, scale: Scale | None = None, draws: FloatArray | None = None, *, nominal: bool = False
) -> IntArray:
    """The consensus of several annotators.

    Args:
        by: Positions, shape (n_annotators, n_items, n_aspects); -1 where missing. Accepts (1 / 0) too.
        scale: That of the grades; None of accepts, which have an order.
        draws: A number in [0, 1) for each item, by which one of its tied grades is picked; None: they share it.
        nominal: The grades have no order, where no scale says so.

    Returns:
        Positions, shape (n_items, n_aspects, n_tied): -1 fills up, and stands where nobody said anything.
    """
    if by.shape[0] == 0:
        return np.full((*by.shape[1:], 1), UNLABELLED, dtype=np.int64)
    if scale is not None and scale.interval:
        mean = people_mean(by, np.array(scale.values))
        found = [scale.nearest(one) for one in mean.ravel().tolist()]
        return np.array([UNLABELLED if one is None else one for one in found], dtype=np.int64).reshape(*mean.shape, 1)
    nominal = nominal or (scale is not None and scale.level == "nominal")
    tied = _most_frequent(by) if nominal else _median(by)
    if draws is None or tied.shape[-1] == 1:
        return tied
    place = (draws[:, None, None] * (tied >= 0).sum(axis=-1, keepdims=True)).astype(np.int64)
    return np.take_along_axis(tied, place, axis=-1)


def people_mean(by: IntArray, values: FloatArray) -> FloatArray:
    """Mean of what each item's annotators gave.

    Args:
        by: Positions by annotator, -1 where missing, shape (n_annotators, ...).
        values: What each grade stands for.

    Returns:
        Shape (...); NaN where nobody graded.
    """
    given = by >= 0
    total = np.where(given, values[np.maximum(by, 0)], 0.0).sum(axis=0)
    count = given.sum(axis=0)
    return np.asarray(np.where(count > 0, total / np.maximum(count, 1), np.nan))


def parts_of(target: IntArray) -> tuple[IntArray, IntArray, FloatArray | None]:
    """The grades that each item has by consensus, with the part of the item that each stands for.

    Args:
        target: Positions, shape (n_items, n_tied), -1 filling up.

    Returns:
        Row and position of each part, and its weight, those of an item adding up to 1; the weight is None where no
        item has two. Items that nobody labelled have no part.
    """
    given = target >= 0
    row, column = np.nonzero(given)
    whole = not given[:, 1:].any()
    return row, target[row, column], None if whole else (1.0 / np.maximum(given.sum(axis=1), 1))[row]


def share_of(target: IntArray, n_grades: int) -> FloatArray:
    """The parts as shares of each grade, shape (n_items, n_grades); rows of an item that nobody labelled are 0."""
    row, grade, weight = parts_of(target)
    found = np.zeros((len(target), n_grades))
    found[row, grade] = 1.0 if weight is None else weight
    return found


def mean_of(values: NDArray[Any], target: IntArray) -> FloatArray:
    """Mean over the parts of an item of one value each, shape (...), from shape (..., n_tied); NaN without a part."""
    given = target >= 0
    count = given.sum(axis=-1)
    return np.asarray(np.where(count > 0, np.where(given, values, 0.0).sum(axis=-1) / np.maximum(count, 1), np.nan))


def settled(target: IntArray) -> IntArray:
    """The grade of each item that has one, shape (...), from shape (..., n_tied); -1 where two share it, or none is."""
    return np.where((target[..., 1:] >= 0).any(axis=-1), UNLABELLED, target[..., 0])


def accept_rate_of(target: IntArray) -> FloatArray:
    """The part of each item that is accepted, shape (...), of accepts in shape (..., n_tied); NaN where unknown."""
    return mean_of(target == 1, target)


def named(target: Sequence[int], scale: Scale) -> Grade | None:
    """The consensus of one item in grades of the scale, ``3 or 4`` where two share it; None without one."""
    grades = [scale.grades[position] for position in target if position >= 0]
    return " or ".join(map(str, grades)) if len(grades) > 1 else grades[0] if grades else None


def _median(by: IntArray) -> IntArray:
    ordered = np.sort(by, axis=0)  # missing ones (-1) come first
    n = (by != UNLABELLED).sum(axis=0)
    missing = by.shape[0] - n
    last = by.shape[0] - 1
    low = np.take_along_axis(ordered, np.minimum(missing + (n - 1) // 2, last)[None], axis=0)[0]
    high = np.take_along_axis(ordered, np.minimum(missing + n // 2, last)[None], axis=0)[0]
    differ = low != high
    if not differ.any():
        return np.asarray(low[..., None])
    return np.stack([low, np.where(differ, high, UNLABELLED)], axis=-1)


def _most_frequent(by: IntArray) -> IntArray:
    n_grades = int(by.max(initial=0)) + 1
    votes = (by[..., None] == np.arange(n_grades)).sum(axis=0)
    top = (votes == votes.max(axis=-1, keepdims=True)) & (votes > 0)
    order = np.argsort(~top, axis=-1, kind="stable")[..., : max(1, int(top.sum(axis=-1).max(initial=0)))]
    return np.where(np.take_along_axis(top, order, axis=-1), order, UNLABELLED)
