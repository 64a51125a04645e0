"""Statistics of clustered items that can be computed again without each of the clusters.

A statistic keeps a summary of each cluster (query), so that leaving one out costs no look at its items. Items without a
judgment (-1, NaN) are left out by the caller; ``worst_case`` has the statistics that count them. Statistics that are to
be compared need the same ``n_clusters``.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from types import MappingProxyType

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
from judgec.stats.agreement.rank_correlation import spearman_table, tau_b_table
from judgec.stats.agreement.tables import NumberArray, count_clusters, ratio, rectangular_tables
from judgec.stats.agreement.worst_case import tau_b_bound

SHARE = (0.0, 1.0)
CORRELATION = (-1.0, 1.0)
CONTENT_DIGITS = 9  # sums that differ by rounding are equal
ROUNDING = 1e-12  # relative error of a difference of sums that counts as none

Formula = Callable[[FloatArray], FloatArray]
Bounds = tuple[float, float] | None


@dataclass(frozen=True, slots=True, eq=False)
class Resampler:
    """A statistic that moves in steps, as ranks of a few systems do: a jackknife of it has no standard error.

    Args:
        under: Maps how often each cluster is drawn, shape (B, n_clusters), to the value of each resample, shape (B,).
        content: What each cluster adds, shape (n_clusters, n_columns): those with equal rows can stand for each other.
    """

    under: Formula
    content: FloatArray


@dataclass(frozen=True, slots=True, eq=False)
class Statistic:
    """A number computed from clusters of items.

    Args:
        items: Number of items in each cluster, shape (n_clusters,).
        point: Computes the value on the items as they are; NaN where it is undefined.
        without: Computes the value without each cluster in turn, shape (n_clusters,).
        bounds: Smallest and largest possible value, or None when it has no limits.
        steps: How it is resampled where it moves in steps.
        why_undefined: The reason why it is, where it is not that one of two graders gave one grade only.
    """

    items: FloatArray
    point: Callable[[], float]
    without: Callable[[], FloatArray]
    bounds: Bounds = None
    steps: Resampler | None = None
    why_undefined: str = ""


def of_sums(items: FloatArray, sums: FloatArray, formula: Formula, bounds: Bounds = None) -> Statistic:
    """A formula of sums over clusters.

    Args:
        items: Number of items in each cluster.
        sums: Those of each cluster, shape (n_clusters, ...).
        formula: Maps sums (..., *shape of one) to values (...).
        bounds: Smallest and largest possible value, or None when it has no limits.
    """
    whole = sums.sum(0)
    return Statistic(items, lambda: float(formula(whole)), lambda: formula(whole - sums), bounds)


def weighted_sum(parts: Sequence[tuple[float, Statistic]]) -> Statistic:
    """A weighted sum of statistics of the same clusters, for example the difference of two judges.

    It has the limits of a mean of limited statistics, and none where a weight is negative: intervals of differences are
    proven without.
    """
    limits = [part.bounds for _, part in parts]
    bounds = None
    if not any(weight < 0 for weight, _ in parts):
        ends = [[weight * end for end in own] for (weight, _), own in zip(parts, limits, strict=True) if own]
        bounds = (sum(low for low, _ in ends), sum(high for _, high in ends)) if len(ends) == len(parts) else None
    stepwise = [(weight, part.steps) for weight, part in parts if part.steps is not None]
    return Statistic(
        np.asarray(np.maximum.reduce([part.items for _, part in parts])),
        lambda: float(sum(weight * part.point() for weight, part in parts)),
        lambda: np.asarray(sum(weight * part.without() for weight, part in parts)),
        bounds,
        Resampler(lambda drawn: np.asarray(sum(w * one.under(drawn) for w, one in stepwise)), _content(stepwise))
        if stepwise
        else None,
    )


def _content(parts: Sequence[tuple[float, Resampler]]) -> FloatArray:
    """That of all parts, in an order that their sizes and contents decide, so that ``a - b`` draws as ``b - a``."""
    columns = [np.round(part.content, CONTENT_DIGITS) for _, part in parts]
    keys = [(abs(weight), sorted(map(tuple, own.tolist()))) for (weight, _), own in zip(parts, columns, strict=True)]
    return np.hstack([columns[i] for i in sorted(range(len(keys)), key=keys.__getitem__)])


def zero_where_undefined(one: Statistic) -> Statistic:
    """The statistic, 0 where it is undefined, as a baseline has to be."""
    steps = one.steps
    if steps is not None:
        under = steps.under
        steps = replace(steps, under=lambda drawn: np.nan_to_num(under(drawn)))
    return Statistic(
        one.items,
        lambda: float(np.nan_to_num(one.point())),
        lambda: np.nan_to_num(one.without()),
        one.bounds,
        steps,
    )


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
) -> Statistic:
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
    formula: tuple[Callable[..., FloatArray], Bounds],
    expert: IntArray,
    judge: IntArray,
    cluster: IntArray,
    shape: tuple[int, int],
    *,
    n_clusters: int | None,
    weight: FloatArray | None,
) -> Statistic:
    """A formula, with its bounds, of the tables of two graders; arguments as ``rectangular_tables``.

    Tau-b counts pairs of items: where several grades share one, the pairs that its parts make are the last row of its
    table, by column (see ``tau_b_table``).
    """
    tables = rectangular_tables(expert, judge, cluster, shape, n_clusters=n_clusters, weight=weight)
    items, (of, bounds) = np.asarray(np.einsum("qij->q", tables)), formula
    if weight is None or of not in {tau_b_table, tau_b_bound}:
        return of_sums(items, tables, of, bounds)
    pairs = rectangular_tables(
        expert * 0, judge, cluster, (1, shape[1]), n_clusters=len(tables), weight=weight * (1.0 - weight) / 2.0
    )
    whole = np.concatenate([tables, pairs], axis=1)
    return of_sums(items, whole, lambda M: of(M[..., :-1, :], M[..., -1, :]), bounds)


def pearson_moments(M: FloatArray) -> FloatArray:
    """Product-moment correlation from sums of ``of_moments``, shape (...); NaN where a grader gave one number only.

    Source: Pearson (1896); equal to scipy.stats.pearsonr.
    """
    xy, xx, yy, _ = _centred(M)
    return ratio(xy, np.sqrt(xx * yy))


def concordance_moments(M: FloatArray) -> FloatArray:
    """Lin's concordance: how close the pairs lie to x = y, from sums of ``of_moments``, shape (...).

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
    formula: Formula, expert: FloatArray, judge: FloatArray, cluster: IntArray, *, n_clusters: int | None = None
) -> Statistic:
    """A formula of the sums of 1, x, y and their products, in tables (..., 3, 3) of these by these.

    Arguments as ``bland_altman``.
    """
    size = checked(expert, judge, cluster, n_clusters)
    middle = float(expert.mean()) if expert.size else 0.0  # so that squares lose no digits
    columns = np.stack([np.ones(expert.shape), expert - middle, judge - middle], axis=1)
    tables = np.zeros((size, 3, 3))
    np.add.at(tables, cluster, columns[:, :, None] * columns[:, None, :])
    return of_sums(tables[:, 0, 0], tables, formula, CORRELATION)


def mean(values: FloatArray, cluster: IntArray, *, n_clusters: int | None = None, bounds: Bounds = None) -> Statistic:
    """The mean of one value an item, shape (n_items,); give rates their bounds, ``SHARE``."""
    return _moment(values, cluster, n_clusters, 0.0, bounds)


def bland_altman(
    expert: FloatArray,
    judge: FloatArray,
    cluster: IntArray,
    *,
    n_clusters: int | None = None,
    weight: FloatArray | None = None,
) -> tuple[Statistic, Statistic, Statistic]:
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
    bounds: Bounds = None,
    weight: FloatArray | None = None,
) -> Statistic:
    """Mean of a value plus ``z`` standard deviations (n - 1)."""
    values = np.asarray(values, dtype=np.float64)
    size = checked(values, values, cluster, n_clusters)
    shift = float(values.mean()) if values.size else 0.0  # so that squares lose no digits
    part = np.ones_like(values) if weight is None else weight
    powers = (part, part * (values - shift), part * (values - shift) ** 2)
    sums = np.stack([np.bincount(cluster, power, size).astype(np.float64) for power in powers], axis=1)

    def formula(of: FloatArray) -> FloatArray:
        n, total, squares = of[..., 0], of[..., 1], of[..., 2]
        middle = ratio(total, n)
        if z == 0:
            return shift + middle
        spread = squares - n * middle**2
        spread = np.where(spread > ROUNDING * squares, spread, 0.0)  # the root would magnify it
        return shift + middle + z * np.sqrt(ratio(spread, np.where(n > 1, n - 1, 0.0)))

    return of_sums(sums[:, 0], sums, formula, bounds)


def checked(expert: NumberArray, score: FloatArray, cluster: IntArray, n_clusters: int | None) -> int:
    """The number of clusters, once shapes and values are found valid.

    Raises:
        ValueError: They are not.
    """
    if not np.shape(expert) == np.shape(score) == np.shape(cluster) or np.ndim(score) != 1:
        raise ValueError(
            f"expert {np.shape(expert)}, score {np.shape(score)}, cluster {np.shape(cluster)}; "
            "all three must have the same shape (n_items,)."
        )
    if np.isnan(score).any():
        raise ValueError(f"score: {int(np.isnan(score).sum())} values are NaN; leave missing scores out first.")
    return count_clusters(cluster, n_clusters)
