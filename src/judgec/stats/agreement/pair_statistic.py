"""Rank correlations of a continuous score with expert grades, from sums of signs over pairs of items.

No pair is ever looked at: items of one cluster, grade and score are one cell, and what a score is above and below are
differences of running sums over the sorted cells. All costs grow with the cells, times the grades of the scale.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Self

import numpy as np

from judgec.records.label import FloatArray, IntArray
from judgec.stats.agreement.tables import ratio

CORRELATION = (-1.0, 1.0)
AREA = (0.0, 1.0)
ROUNDING = 1e-12  # of all pairs: a difference of sums of parts that is none
MAX_CELLS = 4_000_000  # floats in one temporary array (32 MB): larger work is done in chunks

Both = tuple[FloatArray, FloatArray]
"""A sum of each resample, shape (B, 1), and without one draw of each cluster, shape (B, n_clusters)."""


@dataclass(frozen=True, slots=True, eq=False)
class PairStatistic:
    """Kendall's tau-b of a continuous score, or the area under its ROC curve against a binary expert.

    The area is how often the better of two items has the higher score: of pairs of an accepted and a rejected item, a
    tied score counting a half. That is (1 + signed pairs / pairs that the expert does not tie) / 2.

    Args:
        pairs: The items.
        area: The area in place of tau-b.
    """

    pairs: "ScoredPairs"
    area: bool = False

    @property
    def items(self) -> FloatArray:
        """Number of items in each cluster, shape (n_clusters,)."""
        return self.pairs.items

    @property
    def content(self) -> FloatArray:
        """Place of each cluster in the order of their cells, shape (n_clusters, 1)."""
        return self.pairs.cells.content

    @property
    def bounds(self) -> tuple[float, float]:
        """Smallest and largest possible value."""
        return AREA if self.area else CORRELATION

    def point(self) -> float:
        """The value on the items as they are."""
        return float(self.under(np.ones((1, self.items.size)))[0])

    def under(self, weights: FloatArray) -> FloatArray:
        """The value of each resample, shape (B,); NaN where a grader gave one grade only."""
        return _in_chunks(lambda rows: self._values(rows)[0][:, 0], weights, self.pairs)

    def without_one(self, weights: FloatArray) -> FloatArray:
        """Each resample's value without one draw of each cluster."""
        return _in_chunks(lambda rows: np.where(rows > 0, self._values(rows)[1], np.nan), weights, self.pairs)

    def _values(self, weights: FloatArray) -> Both:
        linear = self.pairs.signed(weights)
        whole = np.einsum("bq,bq->b", linear, weights)[:, None]
        signed = whole, whole - 2 * linear + self.pairs.signed_within
        expert = self.pairs.of_expert.untied(weights, 2)
        if self.area:
            (a, b) = ((1.0 + ratio(s, x)) / 2.0 for s, x in zip(signed, expert, strict=True))
            return a, b
        return _correlations(signed, expert, self.pairs.of_score.untied(weights, 2))


@dataclass(frozen=True, slots=True, eq=False)
class RankStatistic:
    """Spearman's rho of a continuous score; midranks follow every resample.

    An item's midrank minus the mean rank is half the sum of sign(item - other) over all others. The sum of its squares
    over n items with groups of t tied ones is (n ** 3 - sum of t ** 3) / 3.

    Args:
        pairs: The items.
        bounds: Smallest and largest possible value.
    """

    pairs: "ScoredPairs"
    bounds: tuple[float, float] | None = CORRELATION

    @property
    def items(self) -> FloatArray:
        """Number of items in each cluster, shape (n_clusters,)."""
        return self.pairs.items

    @property
    def content(self) -> FloatArray:
        """Place of each cluster in the order of their cells, shape (n_clusters, 1)."""
        return self.pairs.cells.content

    def point(self) -> float:
        """The value on the items as they are."""
        return float(self.under(np.ones((1, self.items.size)))[0])

    def under(self, weights: FloatArray) -> FloatArray:
        """The value of each resample, shape (B,)."""
        return _in_chunks(lambda rows: self._values(rows)[0][:, 0], weights, self.pairs)

    def without_one(self, weights: FloatArray) -> FloatArray:
        """Each resample's value without one draw of each cluster."""
        return _in_chunks(lambda rows: np.where(rows > 0, self._values(rows)[1], np.nan), weights, self.pairs)

    def _values(self, weights: FloatArray) -> Both:
        pairs = self.pairs
        of_others, of_own = np.split(pairs.ranks(weights), 2)  # each (n_grades, B, n_clusters)
        whole, left = np.zeros((len(weights), 1)), np.zeros(weights.shape)
        for grade, (others, own, within) in enumerate(zip(of_others, of_own, pairs.ranks_within, strict=True)):
            above = pairs.expert_signs[:, grade]
            x, y = weights @ above, np.einsum("bq,bq->b", own, weights)
            whole[:, 0] += x * y
            left += (x[:, None] - above) * (y[:, None] - others - own + within)
        expert, score = (ties.untied(weights, 3) for ties in (pairs.of_expert, pairs.of_score))
        return _correlations((3.0 * whole, 3.0 * left), expert, score)


def _correlations(xy: Both, xx: Both, yy: Both) -> Both:
    whole, left = (ratio(a, np.sqrt(b * c)) for a, b, c in zip(xy, xx, yy, strict=True))
    return whole, left


def _apart(power: int, a: FloatArray, b: FloatArray) -> FloatArray:
    """Of a ** power - b ** power for a power of 1, 2 or 3, without its cancellation."""
    found: FloatArray = a - b
    if power > 1:
        found *= a + b if power == 2 else a * a + a * b + b * b
    return found


def _in_chunks(values: Callable[[FloatArray], FloatArray], weights: FloatArray, pairs: "ScoredPairs") -> FloatArray:
    """``values`` of all resamples, as many at once as memory allows."""
    step = max(1, MAX_CELLS // max(1, pairs.cells.cluster.size))
    return np.concatenate([values(weights[at : at + step]) for at in range(0, max(1, len(weights)), step)])


@dataclass(frozen=True, slots=True, eq=False)
class Cells:
    """Items that are alike, counted; sorted by cluster.

    Args:
        cluster: Cluster code, shape (n_cells,).
        grade: The expert's grade.
        score: Position of the score among those that differ.
        count: How many items, of those that several grades share the part.
        n_clusters: Number of clusters.
    """

    cluster: IntArray
    grade: IntArray
    score: IntArray
    count: FloatArray
    n_clusters: int

    @classmethod
    def of(
        cls, expert: IntArray, score: FloatArray, cluster: IntArray, n_clusters: int, weight: FloatArray | None = None
    ) -> Self:
        """The cells of items, shapes (n_items,), or of their parts, which have a weight."""
        different, code = np.unique(score, return_inverse=True)
        shape = n_clusters, int(np.max(expert, initial=0)) + 1, max(1, different.size)
        cell = np.ravel_multi_index((cluster, expert, code), shape)
        if weight is None:
            found, count = np.unique(cell, return_counts=True)
        else:
            found, at = np.unique(cell, return_inverse=True)
            count = np.bincount(at, weight, found.size)
        in_cluster, grade, position = np.unravel_index(found, shape)
        return cls(in_cluster, grade, position, count.astype(np.float64), n_clusters)

    @property
    def content(self) -> FloatArray:
        """Place of each cluster in the order of their cells, equal ones at the same, shape (n_clusters, 1)."""
        rows = np.stack([self.grade, self.score, np.round(self.count, 9)], axis=1)
        parts = np.split(rows, np.searchsorted(self.cluster, np.arange(1, self.n_clusters)))
        keys = [tuple(part.ravel().tolist()) for part in parts]
        place = {key: i for i, key in enumerate(sorted(set(keys)))}
        return np.array([[float(place[key])] for key in keys])

    def drawn(self, weights: FloatArray) -> FloatArray:
        """Number of times that the items of each cell are in each resample, shape (B, n_cells)."""
        return weights[:, self.cluster] * self.count

    def by_cluster(self, values: FloatArray) -> FloatArray:
        """Sums over the cells of each cluster, shape (B, n_clusters), of values (B, n_cells)."""
        sums = np.zeros((len(values), self.n_clusters))
        if self.cluster.size:
            starts = np.flatnonzero(np.diff(self.cluster, prepend=-1))
            sums[:, self.cluster[starts]] = np.add.reduceat(values, starts, axis=1)
        return sums


@dataclass(frozen=True, slots=True, eq=False)
class Ties:
    """Groups of items that one grader does not tell apart.

    Args:
        cells: The items.
        group: The group of each cell; a cluster has no group twice.
        torn: Twice the pairs that the parts of one item make, which are no pairs of items, shape (n_clusters,) or 0.
    """

    cells: Cells
    group: IntArray
    torn: FloatArray | float = 0.0

    @classmethod
    def of(cls, cells: Cells, group: IntArray, torn: FloatArray | float = 0.0) -> Self:
        """The groups of cells, with one cell for each group of a cluster."""
        shape = cells.n_clusters, int(group.max(initial=0)) + 1
        found, at = np.unique(np.ravel_multi_index((cells.cluster, group), shape), return_inverse=True)
        cluster, own = np.unravel_index(found, shape)
        count = np.bincount(at, cells.count, found.size).astype(np.float64)
        return cls(Cells(cluster, own, own, count, cells.n_clusters), own, torn)

    def untied(self, weights: FloatArray, power: int) -> Both:
        """Of n ** power minus the sum of t ** power over groups of t of the n items.

        With 2 these are the pairs that are not tied; with 3 it is three times the sum of squares of centred ranks.
        """
        groups = int(self.group.max(initial=0)) + 1
        at = np.arange(len(weights))[:, None] * groups + self.group
        sums = np.bincount(at.ravel(), self.cells.drawn(weights).ravel(), len(weights) * groups).astype(np.float64)
        sums = sums.reshape(-1, groups)
        n, t = (weights @ self.items)[:, None], sums[:, self.group]
        whole = (sums * _apart(power - 1, n, sums)).sum(1, keepdims=True)
        change = self.cells.by_cluster(_apart(power, t, t - self.cells.count))
        if power == 2 and isinstance(self.torn, np.ndarray):
            whole, change = whole - (weights @ self.torn)[:, None], change + self.torn
            whole = np.where(whole > ROUNDING * n**2, whole, 0.0)
        left = whole - _apart(power, n, n - self.items) + change
        return whole, np.where((weights > 0) & (left > ROUNDING * n**power), left, 0.0)

    @property
    def items(self) -> FloatArray:
        """Number of items in each cluster."""
        one: FloatArray = self.cells.by_cluster(self.cells.count[None])[0]
        return one


@dataclass(frozen=True, slots=True, eq=False)
class Order:
    """Cells in the order of their scores, whole or cluster by cluster.

    Args:
        order: Positions of the cells in it.
        low: How many cells come before those with this cell's score, shape (n_cells,).
        high: How many come before those with a higher one.
        begin: Where the cells start that this one is compared with.
        end: Where they end.
    """

    order: IntArray
    low: IntArray
    high: IntArray
    begin: IntArray
    end: IntArray

    @classmethod
    def of(cls, score: IntArray, segment: IntArray) -> Self:
        """The order of scores, shape (n_cells,), within each segment."""
        order = np.lexsort((score, segment))
        new = np.diff(segment[order], prepend=-1) != 0
        tied = new | (np.diff(score[order], prepend=-1) != 0)
        low, high = _runs(tied, order)
        return cls(order, low, high, *_runs(new, order))

    def signs(self, values: FloatArray) -> FloatArray:
        """Sum of values_i * sign(score_i - score_l) over the cells i of the segment, for each cell l; shape (B, n)."""
        sums = np.zeros((len(values), self.order.size + 1))
        np.cumsum(values[:, self.order], axis=1, out=sums[:, 1:])
        found: FloatArray = sums[:, self.end] - sums[:, self.high] - (sums[:, self.low] - sums[:, self.begin])
        return found


def _runs(starts: np.ndarray[tuple[int], np.dtype[np.bool_]], order: IntArray) -> tuple[IntArray, IntArray]:
    """Begin and end of each cell's run, given where runs start in the order."""
    first = np.flatnonzero(starts)
    run = np.cumsum(starts) - 1
    begin, end = np.empty_like(order), np.empty_like(order)
    begin[order], end[order] = first[run], np.append(first[1:], order.size)[run]
    return begin, end


@dataclass(frozen=True, slots=True, eq=False)
class ScoredPairs:
    """Pairs of items with an expert's grade and a score.

    Args:
        cells: The items.
        order: All cells by score.
        of_expert: What the expert ties.
        of_score: What the score ties.
        items: Number of items in each cluster, shape (n_clusters,).
        expert_signs: Sum of sign(grade - expert) over the items of each cluster, shape (n_clusters, n_grades).
        signed_within: ``signed`` within each cluster, shape (n_clusters,).
        ranks_within: The second half of ``ranks`` within each cluster, shape (n_grades, n_clusters).
    """

    cells: Cells
    order: Order
    of_expert: Ties
    of_score: Ties
    items: FloatArray
    expert_signs: FloatArray
    signed_within: FloatArray
    ranks_within: FloatArray

    @classmethod
    def of(
        cls, expert: IntArray, score: FloatArray, cluster: IntArray, n_clusters: int, weight: FloatArray | None = None
    ) -> Self:
        """The pairs of items, shapes (n_items,), or of their parts, which have a weight."""
        cells = Cells.of(expert, score, cluster, n_clusters, weight)
        torn = 0.0 if weight is None else np.bincount(cluster, weight * (1.0 - weight), n_clusters).astype(np.float64)
        grades = np.arange(int(cells.grade.max(initial=-1)) + 1)
        tables = np.zeros((n_clusters, grades.size))
        np.add.at(tables, (cells.cluster, cells.grade), cells.count)
        once, within = np.ones((1, n_clusters)), Order.of(cells.score, cells.cluster)
        return cls(
            cells,
            Order.of(cells.score, np.zeros_like(cells.cluster)),
            Ties.of(cells, cells.grade, torn),
            Ties.of(cells, cells.score),
            tables.sum(1),
            tables @ np.sign(grades - grades[:, None]).astype(np.float64),
            _signed(cells, within, once)[0],
            _ranks(cells, within, once)[grades.size :, 0],
        )

    def signed(self, weights: FloatArray) -> FloatArray:
        """Sum of sign(expert_i - expert_j) * sign(score_i - score_j) over drawn items i and items j of each cluster.

        Shape (B, n_clusters).
        """
        if len(weights) <= self.items.size:
            return _signed(self.cells, self.order, weights)
        return weights @ self._of_each(_signed)

    def ranks(self, weights: FloatArray) -> FloatArray:
        """Sums of signs of scores, two by grade; shape (2 * n_grades, B, n_clusters).

        First of sign(score_i - score_j) over drawn items i of the grade and items j of the cluster; then over items i
        of the grade and the cluster and drawn items j.
        """
        if len(weights) <= self.items.size:
            return _ranks(self.cells, self.order, weights)
        sums: FloatArray = np.einsum("bp,fpq->fbq", weights, self._of_each(_ranks), optimize=True)
        return sums

    def _of_each(self, sums: Callable[[Cells, Order, FloatArray], FloatArray]) -> FloatArray:
        """The sums of every single cluster drawn once: those of any resample are a product with them."""
        once, step = np.eye(self.items.size), max(1, MAX_CELLS // max(1, self.cells.cluster.size))
        parts = [sums(self.cells, self.order, once[at : at + step]) for at in range(0, len(once), step)]
        return np.concatenate(parts, axis=-2)


def _signed(cells: Cells, order: Order, weights: FloatArray) -> FloatArray:
    sums = np.zeros((len(weights), cells.cluster.size))
    for grade, above in _by_grade(cells, order, weights):
        sums += np.sign(grade - cells.grade) * above
    return cells.by_cluster(sums * cells.count)


def _ranks(cells: Cells, order: Order, weights: FloatArray) -> FloatArray:
    others, ranks = [], np.zeros((len(weights), cells.cluster.size))
    for _, above in _by_grade(cells, order, weights):
        others.append(cells.by_cluster(above * cells.count))
        ranks -= above
    own = [cells.by_cluster(ranks * (cells.count * (cells.grade == grade))) for grade in range(len(others))]
    return np.reshape([*others, *own], (2 * len(own), len(weights), cells.n_clusters))


def _by_grade(cells: Cells, order: Order, weights: FloatArray) -> Iterator[tuple[int, FloatArray]]:
    """Each grade with the sum of sign(score_i - score_l) over its drawn items i, for each cell l."""
    drawn = cells.drawn(weights)
    for grade in range(int(cells.grade.max(initial=-1)) + 1):
        yield grade, order.signs(drawn * (cells.grade == grade))


def coarse_clusters(cluster: IntArray, n_clusters: int, most: int = 1000) -> tuple[IntArray, int]:
    """Clusters merged at random so that at most ``most`` are left; the same codes when there are no more.

    Groups of independent clusters are independent too, so intervals stay right; with 1,000 of them Student's
    t is the normal. Where a cluster goes depends on its code and ``n_clusters`` alone, so graders of the same queries
    stay comparable.

    Returns:
        The new codes, shape (n_items,), and how many there are.
    """
    if n_clusters <= most:
        return cluster, n_clusters
    return np.random.default_rng(0).permutation(np.arange(n_clusters) % most)[cluster], most
