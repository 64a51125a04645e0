"""Rank correlations of a continuous score with expert grades, from sums of signs over pairs of items.

No pair is ever looked at: what a score is above and below are differences of running sums over the sorted items. All
costs grow with the items, times the grades of the scale. Arrays of shape (1 + n_clusters,) hold a sum over all items,
and then over those without each cluster in turn.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cache

import numpy as np

from judgec.records.label import FloatArray, IntArray
from judgec.stats.agreement.statistic import CORRELATION, ROUNDING, SHARE, Bounds, Statistic, checked
from judgec.stats.agreement.tables import ratio


@dataclass(frozen=True, slots=True, eq=False)
class ScoredItems:
    """Items, or where several grades share one its parts, with an expert's grade and a score.

    Args:
        expert: Grade positions, shape (n_items,).
        score: The judge's scores, same shape.
        cluster: Cluster codes, same shape.
        weight: The part of an item that each row stands for, same shape.
        n_clusters: Number of clusters.
    """

    expert: IntArray
    score: FloatArray
    cluster: IntArray
    weight: FloatArray
    n_clusters: int

    def by_cluster(self, values: FloatArray) -> FloatArray:
        """Sums over the items of each cluster, shape (n_clusters,)."""
        return np.bincount(self.cluster, values, self.n_clusters).astype(np.float64)

    def left(self, sums: FloatArray) -> FloatArray:
        """The sum over all clusters, and without each of them, shape (1 + n_clusters,), from those of each."""
        return np.asarray(sums.sum() - np.concatenate([[0.0], sums]))

    def untied(self, group: FloatArray | IntArray, power: int, *, torn: bool = False) -> FloatArray:
        """Of n ** power minus the sum of t ** power over groups of t of the n items, shape (1 + n_clusters,).

        With 2 these are twice the pairs of items that are not tied, less with ``torn`` those that the parts of one item
        make; with 3 it is three times the sum of squares of centred ranks.
        """
        code = np.unique(group, return_inverse=True)[1]
        size = int(code.max(initial=0)) + 1
        cells, at = np.unique(self.cluster * size + code, return_inverse=True)
        own, total = np.bincount(at, self.weight), np.bincount(code, self.weight, size)
        of_group = total[cells % size]
        less = np.bincount(cells // size, of_group**power - (of_group - own) ** power, self.n_clusters)
        n = self.left(self.by_cluster(self.weight)) ** power
        found = n - (total**power).sum() + np.concatenate([[0.0], less])
        if torn:
            found -= self.left(self.by_cluster(self.weight * (1.0 - self.weight)))
        return np.where(found > ROUNDING * n, found, 0.0)

    def signed(self) -> FloatArray:
        """Sum of sign(expert_i - expert_j) * sign(score_i - score_j) over pairs i, j, shape (1 + n_clusters,)."""
        every, own = np.zeros(self.score.shape), np.zeros(self.score.shape)
        for grade, above, inside in self._by_grade():
            sign = np.sign(self.expert - grade)
            every += sign * above
            own += sign * inside
        linear = self.by_cluster(every * self.weight)
        return np.asarray(self.left(linear) + np.concatenate([[0.0], self.by_cluster(own * self.weight) - linear]))

    def ranked(self) -> FloatArray:
        """Sum of products of centred ranks, times 4, shape (1 + n_clusters,): midranks are those of what is left.

        Twice a centred rank is the sum of sign(item - other) over all others.
        """
        grades = np.arange(int(self.expert.max(initial=-1)) + 1)
        tables = np.zeros((self.n_clusters, grades.size))
        np.add.at(tables, (self.cluster, self.expert), self.weight)
        apart = tables @ np.sign(grades - grades[:, None]).astype(np.float64)
        people = apart.sum(0) - np.vstack([np.zeros(grades.size), apart])  # of grades, shape (1 + n_clusters, n_grades)
        parts, ranks = [], np.zeros(self.score.shape)
        for _, above, inside in self._by_grade():
            parts.append(self.by_cluster((above - inside) * self.weight))
            ranks += above
        found = np.zeros(1 + self.n_clusters)
        for grade, others in enumerate(parts):
            own = self.by_cluster(ranks * (self.weight * (self.expert == grade)))
            found += people[:, grade] * (self.left(own) + np.concatenate([[0.0], others]))
        return found

    def _by_grade(self) -> Iterator[tuple[int, FloatArray, FloatArray]]:
        """Each grade, with sums over its items i of sign(score_l - score_i): over all, and those in l's cluster."""
        every, within = _signs(self.score, np.zeros_like(self.cluster)), _signs(self.score, self.cluster)
        for grade in range(int(self.expert.max(initial=-1)) + 1):
            mine = self.weight * (self.expert == grade)
            yield grade, every(mine), within(mine)


def _signs(score: FloatArray, segment: IntArray) -> Callable[[FloatArray], FloatArray]:
    """The sums of values_i * sign(score_l - score_i) over the items i of each item l's segment, as a function."""
    order = np.lexsort((score, segment))
    new = np.diff(segment[order], prepend=-1) != 0
    begin, end = _runs(new)
    low, high = _runs(new | (np.diff(score[order], prepend=np.nan) != 0))

    def sums(values: FloatArray) -> FloatArray:
        up_to = np.concatenate([[0.0], np.cumsum(values[order])])
        found = np.empty(order.size)
        found[order] = up_to[low] - up_to[begin] - (up_to[end] - up_to[high])
        return found

    return sums


def _runs(starts: np.ndarray[tuple[int], np.dtype[np.bool_]]) -> tuple[IntArray, IntArray]:
    """Begin and end of the run that each place is in, given where runs start."""
    first, run = np.flatnonzero(starts), np.cumsum(starts) - 1
    return first[run], np.append(first[1:], starts.size)[run]


def tau_b_score(items: ScoredItems) -> Statistic:
    """Kendall's tau-b of a continuous score with the expert's grade; pairs are of different items.

    Source: Kendall (1945); equal to scipy.stats.kendalltau.
    """

    def formula(items: ScoredItems) -> FloatArray:
        untied = items.untied(items.expert, 2, torn=True) * items.untied(items.score, 2)
        return ratio(items.signed(), np.sqrt(untied))

    return _statistic(formula, CORRELATION, items)


def spearman_score(items: ScoredItems) -> Statistic:
    """Spearman's rho of a continuous score with the expert's grade."""

    def formula(items: ScoredItems) -> FloatArray:
        return ratio(3.0 * items.ranked(), np.sqrt(items.untied(items.expert, 3) * items.untied(items.score, 3)))

    return _statistic(formula, CORRELATION, items)


def auc_score(items: ScoredItems) -> Statistic:
    """Area under the ROC curve of a continuous score against binary labels.

    The probability that of two random items, one of each class, the better one has the higher score; a tie counts a
    half. .5 is chance, 1 a perfect order, and with one class only it is undefined (NaN). A threshold of the judge plays
    no part in it.

    Raises:
        ValueError: When a grade is neither 0 nor 1.

    Source: Hanley and McNeil (1982), Radiology 143(1); equal to sklearn.metrics.roc_auc_score.
    """
    if np.max(items.expert, initial=0) > 1:
        raise ValueError(
            f"expert: grade position {np.max(items.expert)}; 0 and 1 are valid, the labels must be binary."
        )

    def formula(items: ScoredItems) -> FloatArray:
        return (1.0 + ratio(items.signed(), items.untied(items.expert, 2, torn=True))) / 2.0

    return _statistic(formula, SHARE, items)


def _statistic(formula: Callable[[ScoredItems], FloatArray], bounds: Bounds, items: ScoredItems) -> Statistic:
    found = cache(lambda: formula(items))
    size = items.by_cluster(items.weight)
    return Statistic(size, lambda: float(found()[0]), lambda: found()[1:], bounds)


def scored_items(
    expert: IntArray,
    score: FloatArray,
    cluster: IntArray,
    *,
    n_clusters: int | None = None,
    weight: FloatArray | None = None,
) -> ScoredItems:
    """Items with a score, once they are found valid.

    Args:
        expert: Grade positions, shape (n_items,).
        score: The judge's scores, same shape; no NaN.
        cluster: Cluster codes, same shape.
        n_clusters: Number of clusters; the largest code + 1 when left out.
        weight: The part of an item that each row stands for, shape (n_rows,): where several grades share an item, those
            of its rows add up to 1. None: each is an item.

    Raises:
        ValueError: When shapes differ, or a grade or score is missing.
    """
    size = checked(expert, score, cluster, n_clusters)
    if np.min(expert, initial=0) < 0:
        raise ValueError("expert: grade positions below 0; leave missing grades (-1) out first.")
    return ScoredItems(expert, score, cluster, np.ones(len(score)) if weight is None else weight, size)
