"""Statistics of clustered items that can be recomputed under any resample of the clusters.

A statistic keeps a summary of each cluster (query). ``under(weights)`` gives its value when cluster q was
drawn ``weights[b, q]`` times, exactly as if its items were written that often, for all resamples at once.
Items without a judgment (-1, NaN) are left out by the caller; ``worst_case`` has the statistics that count
them. Statistics that are to be compared or resampled together need the same ``n_clusters``.
"""

from collections.abc import Callable
from dataclasses import dataclass
from types import MappingProxyType
from typing import Protocol

import numpy as np

from judgec.records.label import FloatArray, IntArray
from judgec.stats.agreement.kappa import (
    balanced_accuracy_table,
    exact_table,
    kappa_table,
    precision_table,
    qwk_table,
    recall_table,
)
from judgec.stats.agreement.pair_statistic import (
    CORRELATION,
    PairStatistic,
    RankStatistic,
    ScoredPairs,
)
from judgec.stats.agreement.rank_correlation import spearman_table, tau_b_table
from judgec.stats.agreement.tables import NumberArray, count_clusters, ratio, rectangular_tables
from judgec.stats.agreement.worst_case import tau_b_bound

SHARE = (0.0, 1.0)
CONTENT_DIGITS = 9  # sums that differ by rounding are equal
ROUNDING = 1e-12  # relative error of a difference of sums that counts as none


class Statistic(Protocol):
    """A number computed from clusters of items; NaN where it is undefined."""

    @property
    def items(self) -> FloatArray:
        """Number of items in each cluster, shape (n_clusters,)."""

    @property
    def content(self) -> FloatArray:
        """What each cluster adds, shape (n_clusters, n_columns): clusters with equal rows can stand for each other."""

    @property
    def bounds(self) -> tuple[float, float] | None:
        """Smallest and largest possible value, or None when it has no limits."""

    def point(self) -> float:
        """The value on the items as they are."""

    def under(self, weights: FloatArray) -> FloatArray:
        """The value of each resample, shape (B,), from multiplicities of shape (B, n_clusters)."""

    def without_one(self, weights: FloatArray) -> FloatArray:
        """Each resample's value after taking back one draw of cluster q, shape (B, n_clusters).

        NaN for clusters that were not drawn.
        """


@dataclass(frozen=True, slots=True, eq=False)
class TableStatistic:
    """A formula of the contingency table.

    Args:
        tables: One table a cluster, shape (n_clusters, k, m).
        formula: Maps tables (..., k, m) to values (...).
        bounds: Smallest and largest possible value, or None when it has no limits.
    """

    tables: FloatArray
    formula: Callable[[FloatArray], FloatArray]
    bounds: tuple[float, float] | None

    @property
    def items(self) -> FloatArray:
        """Number of items in each cluster."""
        return np.asarray(np.einsum("qij->q", self.tables))

    @property
    def content(self) -> FloatArray:
        """The tables, flattened."""
        return self.tables.reshape(len(self.tables), -1)

    def point(self) -> float:
        """The value on the items as they are."""
        return float(self.formula(self.tables.sum(0)))

    def under(self, weights: FloatArray) -> FloatArray:
        """The value of each resample, shape (B,)."""
        n_clusters, rows, columns = self.tables.shape
        flat = self.tables.reshape(n_clusters, rows * columns)
        return self.formula((weights @ flat).reshape(len(weights), rows, columns))

    def without_one(self, weights: FloatArray) -> FloatArray:
        """Each resample's value without one draw of each cluster."""
        n_clusters, rows, columns = self.tables.shape
        whole = (weights @ self.tables.reshape(n_clusters, rows * columns)).reshape(-1, rows, columns)
        b, q = np.nonzero(weights)
        values = np.full(weights.shape, np.nan)
        values[b, q] = self.formula(whole[b] - self.tables[q])
        return values


@dataclass(frozen=True, slots=True, eq=False)
class PairTable(TableStatistic):
    """A formula that counts pairs of items, some of which several grades share.

    The last row of a table is the sum of the pairs that the parts of one item make, by column: see ``tau_b_table``. An
    item that a resample draws twice is two items.
    """

    @property
    def items(self) -> FloatArray:
        """Number of items in each cluster."""
        return np.asarray(np.einsum("qij->q", self.tables[:, :-1]))


@dataclass(frozen=True, slots=True, eq=False)
class MomentStatistic:
    """Mean of a value plus ``z`` standard deviations (n - 1); z = 0 is the mean.

    Args:
        items: Number of items in each cluster, shape (n_clusters,).
        total: Sum of (value - shift), same shape.
        squares: Sum of (value - shift) ** 2, same shape.
        shift: A value near the mean, so that squares lose no digits.
        z: How many standard deviations above the mean.
        bounds: Smallest and largest possible value, or None when it has no limits.
    """

    items: FloatArray
    total: FloatArray
    squares: FloatArray
    shift: float
    z: float
    bounds: tuple[float, float] | None = None

    @property
    def content(self) -> FloatArray:
        """The sums."""
        return np.stack([self.items, self.total, self.squares], axis=1)

    def point(self) -> float:
        """The value on the items as they are."""
        return float(self.under(np.ones((1, self.items.size)))[0])

    def under(self, weights: FloatArray) -> FloatArray:
        """The value of each resample, shape (B,)."""
        return self._value(weights @ self.items, weights @ self.total, weights @ self.squares)

    def without_one(self, weights: FloatArray) -> FloatArray:
        """Each resample's value without one draw of each cluster."""
        n, total, squares = ((weights @ sums)[:, None] - sums for sums in (self.items, self.total, self.squares))
        return np.where(weights > 0, self._value(n, total, squares), np.nan)

    def _value(self, n: FloatArray, total: FloatArray, squares: FloatArray) -> FloatArray:
        mean = ratio(total, n)
        if self.z == 0:
            return self.shift + mean
        spread = squares - n * mean**2
        spread = np.where(spread > ROUNDING * squares, spread, 0.0)  # the root would magnify it
        return self.shift + mean + self.z * np.sqrt(ratio(spread, np.where(n > 1, n - 1, 0.0)))


class Stepwise:
    """Marks statistics that move in steps, as ranks of a few systems do: a jackknife of them has no standard error."""

    __slots__ = ()


def moves_in_steps(statistic: Statistic) -> bool:
    """True where a term of the statistic does."""
    if isinstance(statistic, WeightedSum):
        return any(moves_in_steps(part) for _, part in statistic.parts)
    return isinstance(statistic, Stepwise)


@dataclass(frozen=True, slots=True, eq=False)
class WeightedSum:
    """A weighted sum of statistics of the same clusters, for example the difference of two judges.

    Args:
        parts: Weight and statistic of each term.
    """

    parts: tuple[tuple[float, Statistic], ...]

    @property
    def items(self) -> FloatArray:
        """Number of items in each cluster."""
        return np.asarray(np.maximum.reduce([part.items for _, part in self.parts]))

    @property
    def content(self) -> FloatArray:
        """That of all terms, in an order that their sizes and contents decide, so that ``a - b`` draws as ``b - a``."""
        columns = [np.round(part.content, CONTENT_DIGITS) for _, part in self.parts]
        keys = [
            (abs(weight), sorted(map(tuple, own.tolist())))
            for (weight, _), own in zip(self.parts, columns, strict=True)
        ]
        return np.hstack([columns[i] for i in sorted(range(len(keys)), key=keys.__getitem__)])

    @property
    def bounds(self) -> tuple[float, float] | None:
        """Those of a mean of limited statistics; None for a difference, whose intervals are proven without."""
        limits = [part.bounds for _, part in self.parts]
        if None in limits or any(weight < 0 for weight, _ in self.parts):
            return None
        low, high = (sum(w * b[end] for (w, _), b in zip(self.parts, limits, strict=True) if b) for end in (0, 1))
        return low, high

    def point(self) -> float:
        """The value on the items as they are."""
        return float(sum(weight * part.point() for weight, part in self.parts))

    def under(self, weights: FloatArray) -> FloatArray:
        """The value of each resample, shape (B,)."""
        values = np.zeros(len(weights))
        for weight, part in self.parts:
            values += weight * part.under(weights)
        return values

    def without_one(self, weights: FloatArray) -> FloatArray:
        """Each resample's value without one draw of each cluster."""
        values = np.zeros(weights.shape)
        for weight, part in self.parts:
            values += weight * part.without_one(weights)
        return values


TABLE_FORMULAS = MappingProxyType(
    {
        "tau_b": (tau_b_table, CORRELATION),
        "spearman": (spearman_table, CORRELATION),
        "kappa": (kappa_table, CORRELATION),
        "qwk": (qwk_table, CORRELATION),
        "exact": (exact_table, SHARE),
        "accept_agreement": (exact_table, SHARE),  # of accept / reject: n_grades = 2
        "balanced_accuracy": (balanced_accuracy_table, SHARE),
        "precision": (precision_table, SHARE),  # of the second of two grades
        "recall": (recall_table, SHARE),
    }
)
"""Every statistic of two graders' grades by name: its formula and bounds."""


def table_statistic(
    name: str,
    expert: IntArray,
    judge: IntArray,
    cluster: IntArray,
    *,
    n_grades: int,
    n_clusters: int | None = None,
    weight: FloatArray | None = None,
) -> TableStatistic:
    """The statistic ``name`` of ``TABLE_FORMULAS`` comparing grade positions.

    Args:
        name: A key of ``TABLE_FORMULAS``.
        expert: Grade positions, shape (n_items,).
        judge: The judge's grade positions, same shape; no -1.
        cluster: Cluster codes, same shape.
        n_grades: Number of grades on the scale (2 for accept / reject).
        n_clusters: Number of clusters; the largest code + 1 when left out.
        weight: The part of an item that each row stands for, as ``rectangular_tables``.

    Raises:
        ValueError: When shapes differ or positions are off the scale.
    """
    shape = (n_grades, n_grades)
    return of_table(TABLE_FORMULAS[name], expert, judge, cluster, shape, n_clusters=n_clusters, weight=weight)


def of_table(
    formula: tuple[Callable[..., FloatArray], tuple[float, float] | None],
    expert: IntArray,
    judge: IntArray,
    cluster: IntArray,
    shape: tuple[int, int],
    *,
    n_clusters: int | None,
    weight: FloatArray | None,
) -> TableStatistic:
    """A formula, with its bounds, of the tables of two graders; arguments as ``rectangular_tables``."""
    tables = rectangular_tables(expert, judge, cluster, shape, n_clusters=n_clusters, weight=weight)
    if weight is None or formula[0] not in {tau_b_table, tau_b_bound}:
        return TableStatistic(tables, *formula)
    pairs = rectangular_tables(
        expert * 0, judge, cluster, (1, shape[1]), n_clusters=len(tables), weight=weight * (1.0 - weight) / 2.0
    )
    whole = np.concatenate([tables, pairs], axis=1)
    return PairTable(whole, lambda M: formula[0](M[..., :-1, :], M[..., -1, :]), formula[1])


def tau_b_score(
    expert: IntArray,
    score: FloatArray,
    cluster: IntArray,
    *,
    n_clusters: int | None = None,
    weight: FloatArray | None = None,
) -> PairStatistic:
    """Kendall's tau-b of a continuous score with the expert's grade.

    Args:
        expert: Grade positions, shape (n_items,).
        score: The judge's scores, same shape; no NaN.
        cluster: Cluster codes, same shape.
        n_clusters: Number of clusters; the largest code + 1 when left out.
        weight: The part of an item that each row stands for, shape (n_rows,): where several grades share an item, those
            of its rows, which follow each other, add up to 1. Pairs are of different items. None: each is an item.

    Raises:
        ValueError: When shapes differ, or a grade or score is missing.

    Source: Kendall (1945); pairs of a drawn cluster with its own copies count as in scipy.stats.kendalltau
        on the items written out.
    """
    return PairStatistic(_pairs(expert, score, cluster, n_clusters, weight))


def spearman_score(
    expert: IntArray,
    score: FloatArray,
    cluster: IntArray,
    *,
    n_clusters: int | None = None,
    weight: FloatArray | None = None,
) -> RankStatistic:
    """Spearman's rho of a continuous score with the expert's grade; arguments as ``tau_b_score``."""
    return RankStatistic(_pairs(expert, score, cluster, n_clusters, weight))


def auc_score(
    expert: IntArray,
    score: FloatArray,
    cluster: IntArray,
    *,
    n_clusters: int | None = None,
    weight: FloatArray | None = None,
) -> PairStatistic:
    """Area under the ROC curve of a continuous score against binary labels; arguments as ``tau_b_score``.

    The probability that of two random items, one of each class, the better one has the higher score; a tie counts a
    half. .5 is chance, 1 a perfect order, and with one class only it is undefined (NaN). A threshold of the judge plays
    no part in it.

    Raises:
        ValueError: As ``tau_b_score``, or when a grade is neither 0 nor 1.

    Source: Hanley and McNeil (1982), Radiology 143(1); equal to sklearn.metrics.roc_auc_score.
    """
    if np.max(expert, initial=0) > 1:
        raise ValueError(f"expert: grade position {np.max(expert)}; 0 and 1 are valid, the labels must be binary.")
    return PairStatistic(_pairs(expert, score, cluster, n_clusters, weight), area=True)


@dataclass(frozen=True, slots=True, eq=False)
class MomentTable(TableStatistic):
    """A formula of the sums of 1, x, y and their products, in tables (..., 3, 3) of these by these."""

    @property
    def items(self) -> FloatArray:
        """Number of items in each cluster."""
        return np.asarray(self.tables[:, 0, 0])


def pearson_moments(M: FloatArray) -> FloatArray:
    """Product-moment correlation from tables of ``MomentTable``, shape (...); NaN where a grader gave one number only.

    Source: Pearson (1896); equal to scipy.stats.pearsonr.
    """
    xy, xx, yy, _ = _centred(M)
    return ratio(xy, np.sqrt(xx * yy))


def concordance_moments(M: FloatArray) -> FloatArray:
    """Lin's concordance: how close the pairs lie to x = y, from tables of ``MomentTable``, shape (...).

    1 where judge and expert give the same numbers; below Pearson's correlation where scale or level differ. NaN where
    both gave one and the same number throughout.

    Source: Lin (1989), Biometrics 45(1), with sums in place of n - 1.
    """
    xy, xx, yy, shift = _centred(M)
    return ratio(2 * xy, xx + yy + shift)


def _centred(M: FloatArray) -> tuple[FloatArray, FloatArray, FloatArray, FloatArray]:
    """Sums of squares and products about the means, and n times the squared difference of these."""
    n, x, y = M[..., 0, 0], M[..., 0, 1], M[..., 0, 2]
    xy, xx, yy = (
        M[..., i, j] - ratio(a * b, n, undefined=0.0) for i, j, a, b in ((1, 2, x, y), (1, 1, x, x), (2, 2, y, y))
    )
    xx, yy = (np.where(own > ROUNDING * M[..., i, i], own, 0.0) for i, own in ((1, xx), (2, yy)))
    return xy, xx, yy, ratio((x - y) ** 2, n, undefined=0.0)


def of_moments(
    formula: Callable[[FloatArray], FloatArray],
    expert: FloatArray,
    judge: FloatArray,
    cluster: IntArray,
    *,
    n_clusters: int | None = None,
) -> MomentTable:
    """A statistic of two columns of numbers; arguments as ``bland_altman``."""
    size = _checked(expert, judge, cluster, n_clusters)
    middle = float(expert.mean()) if expert.size else 0.0  # so that squares lose no digits
    columns = np.stack([np.ones(expert.shape), expert - middle, judge - middle], axis=1)
    tables = np.zeros((size, 3, 3))
    np.add.at(tables, cluster, columns[:, :, None] * columns[:, None, :])
    return MomentTable(tables, formula, CORRELATION)


def mean(
    values: FloatArray,
    cluster: IntArray,
    *,
    n_clusters: int | None = None,
    bounds: tuple[float, float] | None = None,
) -> MomentStatistic:
    """The mean of one value an item, shape (n_items,); give rates their bounds, ``SHARE``."""
    return _moment(values, cluster, n_clusters, 0.0, bounds)


def bland_altman(
    expert: FloatArray,
    judge: FloatArray,
    cluster: IntArray,
    *,
    n_clusters: int | None = None,
    weight: FloatArray | None = None,
) -> tuple[MomentStatistic, MomentStatistic, MomentStatistic]:
    """Bias of the judge and its 95 % limits of agreement, in scale values.

    Args:
        expert: The expert's grades as scale values, shape (n_items,).
        judge: The judge's, same shape.
        cluster: Cluster codes, same shape.
        n_clusters: Number of clusters; the largest code + 1 when left out.
        weight: The part of an item that each row stands for, shape (n_rows,); None where each is an item.

    Returns:
        Bias (mean of judge - expert: positive is a lenient judge), lower limit and upper limit
        (bias -+ 1.96 standard deviations); the limits are undefined below two items.

    Source: Bland and Altman (1986), Lancet 327.
    """
    difference = np.asarray(judge, dtype=np.float64) - np.asarray(expert, dtype=np.float64)
    bias, low, high = (_moment(difference, cluster, n_clusters, z, weight=weight) for z in (0.0, -1.96, 1.96))
    return bias, low, high


def _moment(
    values: FloatArray,
    cluster: IntArray,
    n_clusters: int | None,
    z: float,
    bounds: tuple[float, float] | None = None,
    weight: FloatArray | None = None,
) -> MomentStatistic:
    values = np.asarray(values, dtype=np.float64)
    size = _checked(values, values, cluster, n_clusters)
    shift = float(values.mean()) if values.size else 0.0
    part = np.ones_like(values) if weight is None else weight
    items, total, squares = (
        np.bincount(cluster, weights=power, minlength=size).astype(np.float64)
        for power in (part, part * (values - shift), part * (values - shift) ** 2)
    )
    return MomentStatistic(items, total, squares, shift, z, bounds)


def _checked(expert: NumberArray, score: FloatArray, cluster: IntArray, n_clusters: int | None) -> int:
    """The number of clusters, once shapes and values are found valid."""
    if not np.shape(expert) == np.shape(score) == np.shape(cluster) or np.ndim(score) != 1:
        raise ValueError(
            f"expert {np.shape(expert)}, score {np.shape(score)}, cluster {np.shape(cluster)}; "
            "all three must have the same shape (n_items,)."
        )
    if np.isnan(score).any():
        raise ValueError(f"score: {int(np.isnan(score).sum())} values are NaN; leave missing scores out first.")
    return count_clusters(cluster, n_clusters)


def _pairs(
    expert: IntArray, score: FloatArray, cluster: IntArray, n_clusters: int | None, weight: FloatArray | None
) -> ScoredPairs:
    """The pairs of items, once they are found valid."""
    size = _checked(expert, score, cluster, n_clusters)
    if np.min(expert, initial=0) < 0:
        raise ValueError("expert: grade positions below 0; leave missing grades (-1) out first.")
    return ScoredPairs.of(expert, score, cluster, size, weight)
