"""Rank correlations of a continuous score with expert grades, from sums of signs over pairs of items.

Scores have no contingency table, but their pairs can be summed by cluster once; every resample of clusters
is then a matrix product. Both classes are ``Statistic``s. ``coarse_clusters`` bounds their memory.
"""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from judgec.records.label import FloatArray, IntArray
from judgec.stats.agreement.tables import ratio

CORRELATION = (-1.0, 1.0)
AREA = (0.0, 1.0)
MAX_CELLS = 4_000_000  # floats in one temporary array (32 MB): larger work is done in chunks


@dataclass(frozen=True, slots=True, eq=False)
class PairStatistic:
    """Kendall's tau-b of a continuous score.

    Args:
        products: Sum of sign(expert_i - expert_j) * sign(score_i - score_j) over items i of one cluster and j
            of another, shape (n_clusters, n_clusters).
        expert_untied: Number of those pairs that the expert does not tie, same shape.
        score_untied: Number that the score does not tie, same shape.
        items: Number of items in each cluster, shape (n_clusters,).
        bounds: Smallest and largest possible value.
    """

    products: FloatArray
    expert_untied: FloatArray
    score_untied: FloatArray
    items: FloatArray
    bounds: tuple[float, float] | None = CORRELATION

    def point(self) -> float:
        """The value on the items as they are."""
        return float(self.under(np.ones((1, self.items.size)))[0])

    def under(self, weights: FloatArray) -> FloatArray:
        """The value of each resample, shape (B,)."""
        signed, x, y = (np.einsum("bq,bq->b", weights @ pairs, weights) for pairs in self._pairs)
        return ratio(signed, np.sqrt(x * y))

    def without_one(self, weights: FloatArray) -> FloatArray:
        """Each resample's value without one draw of each cluster."""
        signed, x, y = (_taken_back(weights, pairs) for pairs in self._pairs)
        return np.where(weights > 0, ratio(signed, np.sqrt(x * y)), np.nan)

    @property
    def _pairs(self) -> tuple[FloatArray, FloatArray, FloatArray]:
        return self.products, self.expert_untied, self.score_untied


@dataclass(frozen=True, slots=True, eq=False)
class AreaStatistic:
    """Area under the ROC curve of a continuous score: how often the better of two items has the higher score.

    It is the share of pairs of an accepted and a rejected item, a tied score counting a half:
    (1 + products / expert_untied) / 2.

    Args:
        products: As ``PairStatistic``, of a binary expert.
        expert_untied: As ``PairStatistic``.
        items: Number of items in each cluster, shape (n_clusters,).
        bounds: Smallest and largest possible value.
    """

    products: FloatArray
    expert_untied: FloatArray
    items: FloatArray
    bounds: tuple[float, float] | None = AREA

    def point(self) -> float:
        """The value on the items as they are."""
        return float(self.under(np.ones((1, self.items.size)))[0])

    def under(self, weights: FloatArray) -> FloatArray:
        """The value of each resample, shape (B,); NaN where only one class was drawn."""
        signed, pairs = (np.einsum("bq,bq->b", weights @ sums, weights) for sums in (self.products, self.expert_untied))
        return (1.0 + ratio(signed, pairs)) / 2.0

    def without_one(self, weights: FloatArray) -> FloatArray:
        """Each resample's value without one draw of each cluster."""
        signed, pairs = (_taken_back(weights, sums) for sums in (self.products, self.expert_untied))
        return np.where(weights > 0, (1.0 + ratio(signed, pairs)) / 2.0, np.nan)


def _taken_back(weights: FloatArray, pairs: FloatArray) -> FloatArray:
    """(w - e_q)' pairs (w - e_q) for each drawn cluster q, 0 for the others."""
    linear = weights @ pairs
    whole = np.einsum("bq,bq->b", linear, weights)[:, None]
    return np.where(weights > 0, whole - 2 * linear + np.diagonal(pairs), 0.0)


@dataclass(frozen=True, slots=True, eq=False)
class RankStatistic:
    """Spearman's rho of a continuous score; midranks follow every resample.

    An item's midrank minus the mean rank is half the sum of sign(item - other) over all others, so it is
    linear in the multiplicities of the clusters.

    Args:
        cluster: Cluster code of each item, shape (n_items,).
        expert_signs: Sum of sign(expert_i - expert_j) over the items j of each cluster, shape (n_items,
            n_clusters).
        score_signs: The same of the score.
        items: Number of items in each cluster, shape (n_clusters,).
        bounds: Smallest and largest possible value.
    """

    cluster: IntArray
    expert_signs: FloatArray
    score_signs: FloatArray
    items: FloatArray
    bounds: tuple[float, float] | None = CORRELATION

    def point(self) -> float:
        """The value on the items as they are."""
        return float(self.under(np.ones((1, self.items.size)))[0])

    def under(self, weights: FloatArray) -> FloatArray:
        """The value of each resample, shape (B,)."""
        values = np.full(len(weights), np.nan)
        for rows in self._chunks(len(weights)):
            times = weights[rows][:, self.cluster]
            x, y = weights[rows] @ self.expert_signs.T, weights[rows] @ self.score_signs.T
            xy, xx, yy = (np.einsum("bi,bi,bi->b", times, a, b) for a, b in ((x, y), (x, x), (y, y)))
            values[rows] = ratio(xy, np.sqrt(xx * yy))
        return values

    def without_one(self, weights: FloatArray) -> FloatArray:
        """Each resample's value without one draw of each cluster."""
        values = np.full(weights.shape, np.nan)
        X, Y = self.expert_signs, self.score_signs
        for rows in self._chunks(len(weights)):
            x, y = weights[rows] @ X.T, weights[rows] @ Y.T
            xy, xx, yy = (self._taken_back(weights[rows], *pair) for pair in ((x, X, y, Y), (x, X, x, X), (y, Y, y, Y)))
            values[rows] = ratio(xy, np.sqrt(xx * yy))
        return np.where(weights > 0, values, np.nan)

    def _taken_back(
        self, weights: FloatArray, x: FloatArray, X: FloatArray, y: FloatArray, Y: FloatArray
    ) -> FloatArray:
        """Sum of x * y over items after taking back one draw of cluster q, shape (B, n_clusters).

        Items of all draws lose X[:, q] and Y[:, q] from their sums; the items of the draw leave the sum.
        """
        times = weights[:, self.cluster]
        whole = np.einsum("bi,bi,bi->b", times, x, y)[:, None]
        left = whole - (times * x) @ Y - (times * y) @ X + times @ (X * Y)
        item = np.arange(self.cluster.size)
        gone = (x - X[item, self.cluster]) * (y - Y[item, self.cluster])
        member = (self.cluster[:, None] == np.arange(self.items.size)).astype(np.float64)
        return np.where(weights > 0, left - gone @ member, 0.0)

    def _chunks(self, n: int) -> list[slice]:
        step = max(1, MAX_CELLS // max(1, self.cluster.size))
        return [slice(at, at + step) for at in range(0, n, step)]


def pair_statistic(expert: IntArray, score: FloatArray, cluster: IntArray, n_clusters: int) -> PairStatistic:
    """Sum the pairs of ``expert`` and ``score``, shapes (n_items,), by the clusters of their members."""
    sums = np.zeros((3, n_clusters, n_clusters))
    order, starts, present = _by_cluster(cluster)
    for rows, x, y in _sign_blocks(expert[order], score[order]):
        for matrix, pairs in zip(sums, (x * y, x * x, y * y), strict=True):
            by_cluster = np.add.reduceat(pairs, starts, axis=1)
            np.add.at(matrix, (cluster[order][rows, None], present), by_cluster)
    items = np.bincount(cluster, minlength=n_clusters).astype(np.float64)
    return PairStatistic(sums[0], sums[1], sums[2], items)


def rank_statistic(expert: IntArray, score: FloatArray, cluster: IntArray, n_clusters: int) -> RankStatistic:
    """Sum the signs of ``expert`` and ``score``, shapes (n_items,), over the clusters."""
    order, starts, present = _by_cluster(cluster)
    signs = np.zeros((2, cluster.size, n_clusters))
    for rows, x, y in _sign_blocks(expert[order], score[order]):
        for matrix, pairs in zip(signs, (x, y), strict=True):
            matrix[rows, present] = np.add.reduceat(pairs, starts, axis=1)
    items = np.bincount(cluster, minlength=n_clusters).astype(np.float64)
    return RankStatistic(cluster[order], signs[0], signs[1], items)


def coarse_clusters(cluster: IntArray, n_clusters: int, most: int = 1000) -> tuple[IntArray, int]:
    """Clusters merged at random so that at most ``most`` are left; the same codes when there are no more.

    Groups of independent clusters are independent too, so intervals stay right; with 1,000 of them Student's
    t is the normal. Pair sums need 24 ``most`` ** 2 bytes, ranks 16 n_items * ``most``. Where a cluster goes
    depends on its code and ``n_clusters`` alone, so graders of the same queries stay comparable.

    Returns:
        The new codes, shape (n_items,), and how many there are.
    """
    if n_clusters <= most:
        return cluster, n_clusters
    return np.random.default_rng(0).permutation(np.arange(n_clusters) % most)[cluster], most


def _by_cluster(cluster: IntArray) -> tuple[IntArray, IntArray, IntArray]:
    """An order of items by cluster, where each cluster starts in it, and which clusters those are."""
    order = np.argsort(cluster, kind="stable")
    starts = np.flatnonzero(np.diff(cluster[order], prepend=-1))
    return order, starts, cluster[order][starts]


def _sign_blocks(x: IntArray, y: FloatArray) -> Iterator[tuple[slice, FloatArray, FloatArray]]:
    """Signs of x_i - x_j and of y_i - y_j for all j, a block of rows i at a time."""
    step = max(1, MAX_CELLS // max(1, x.size))
    for at in range(0, x.size, step):
        rows = slice(at, at + step)
        yield rows, np.sign(x[rows, None] - x).astype(np.float64), np.sign(y[rows, None] - y)
