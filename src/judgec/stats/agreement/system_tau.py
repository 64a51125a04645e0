"""Tau-b of systems' means by people and by a judge, as a statistic that can be computed under any resample.

Only queries count where people graded an answer of every system, and the judge all of these: else a system with harder
queries would look worse.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from judgec.records.counts import plural
from judgec.records.label import FloatArray, IntArray, TextArray
from judgec.records.ratings import ROUNDING, GradePairs
from judgec.stats.agreement.statistic import CORRELATION, Resampler, Statistic
from judgec.stats.agreement.tables import ratio

LEAST_SYSTEMS = 3  # of two, the order is right or wrong
LEAST_QUERIES = 3
MAX_CELLS = 4_000_000  # floats in one temporary array (32 MB): larger work is done in chunks

Formula = Callable[[FloatArray, FloatArray, FloatArray], FloatArray]
"""Values, shape (B,), from means of systems by people and the lowest and highest by the judge, shape (B, n_systems)."""


@dataclass(frozen=True, slots=True, eq=False)
class SystemMeans:
    """Means of systems by people and by a judge, of the queries where both graded all systems.

    Args:
        systems: Their names, sorted.
        people: Mean of each query and system by people, shape (n_clusters, n_systems); 0 of queries that do not count.
        low: The same by the judge, an unscored answer being the worst grade.
        high: The same, it being the best grade.
        items: Number of answers to each query that counts, else 0, shape (n_clusters,).
    """

    systems: tuple[str, ...]
    people: FloatArray
    low: FloatArray
    high: FloatArray
    items: FloatArray

    @property
    def too_few(self) -> str:
        """The reason why there is no order to compare, or empty."""
        if len(self.systems) < LEAST_SYSTEMS:
            return f"{plural(len(self.systems), 'system answered', 'systems answered')}, an order needs {LEAST_SYSTEMS}"
        if (common := int((self.items > 0).sum())) < LEAST_QUERIES:
            return f"{common} queries where people and judge graded all {len(self.systems)}, {LEAST_QUERIES} are needed"
        return ""

    def statistic(self, formula: Formula, undefined: float = np.nan) -> Statistic:
        """A formula of the means; ``undefined`` stands for a value that is not defined."""
        counted = (self.items > 0).astype(np.float64)

        def of(weights: FloatArray) -> FloatArray:
            drawn = (weights @ counted)[:, None]
            return formula(*(ratio(weights @ means, drawn, 0.0) for means in (self.people, self.low, self.high)))

        def under(weights: FloatArray) -> FloatArray:
            if self.too_few:
                return np.full(len(weights), undefined)
            step = max(1, MAX_CELLS // len(self.systems) ** 2)
            found = np.concatenate([of(weights[at : at + step]) for at in range(0, len(weights), step)])
            return np.where(np.isnan(found), undefined, found)

        n = len(self.items)
        return Statistic(
            self.items,
            lambda: float(under(np.ones((1, n)))[0]),
            lambda: under(np.ones((n, n)) - np.eye(n)),
            CORRELATION,
            Resampler(under, np.hstack([self.people, self.low, self.high])),
            self.too_few or "all systems have the same mean",
        )


def system_means(
    systems: TextArray | Sequence[str | None],
    queries: IntArray,
    people: FloatArray,
    judge: FloatArray,
    *,
    n_clusters: int | None = None,
    ends: tuple[float, float] | None = None,
) -> SystemMeans:
    """The systems' mean scores by a judge and their mean grades by people.

    Args:
        systems: Which one answered, of each item; None or empty where nobody says.
        queries: Code of each item's query, shape (n_items,).
        people: Their mean grade, in scale units, NaN where nobody graded, shape (n_items,).
        judge: Its score, in scale units, NaN where it is unscored, shape (n_items,).
        n_clusters: How many queries there are.
        ends: The worst and the best grade, which stand for an unscored answer; None: a query with one does not count.
    """
    name = np.array([one or "" for one in systems], dtype=np.str_)
    known = (name != "") & ~np.isnan(people)
    names = np.unique(name[known])
    n = (int(queries.max(initial=-1)) + 1) if n_clusters is None else n_clusters
    width = len(names)
    cell = queries[known] * width + np.searchsorted(names, name[known])
    count = np.bincount(cell, minlength=n * width).reshape(n, width).astype(np.float64)
    counted = np.asarray((count > 0).all(axis=1) & (width > 0))
    if ends is None:
        counted[queries[known & np.isnan(judge)]] = False

    def means(given: FloatArray) -> FloatArray:
        total = np.bincount(cell, given[known], minlength=n * width).astype(np.float64).reshape(n, width)
        return np.where(counted[:, None], ratio(total, count, 0.0), 0.0)

    low, high = (means(np.where(np.isnan(judge), end, judge)) for end in ends or (np.nan, np.nan))
    return SystemMeans(tuple(names.tolist()), means(people), low, high, np.where(counted, count.sum(axis=1), 0.0))


def orders_systems(ratings: GradePairs) -> bool:
    """True where enough systems answered to speak of their order."""
    return ratings.system is not None and len(set(ratings.system[ratings.system != ""])) >= LEAST_SYSTEMS


def system_tau(ratings: GradePairs) -> Statistic:
    """System-level tau-b of rows that are all labelled and scored; undefined where nobody says who answered."""
    return _means(ratings).statistic(tau_b_bounds)


def system_tau_bound(ratings: GradePairs) -> Statistic:
    """The lowest system-level tau-b that any scores of the unscored rows could have given; 0 where it is undefined.

    Of each pair of systems the one that people call better has the worst grade where it is unscored, the other one the
    best. So leaving one more row unscored never raises it.
    """
    ends = ratings.values[0], ratings.values[-1]
    return _means(ratings.where(ratings.graded), ends).statistic(tau_b_bounds, undefined=0.0)


def _means(ratings: GradePairs, ends: tuple[float, float] | None = None) -> SystemMeans:
    systems = np.full(ratings.judge.shape, "") if ratings.system is None else ratings.system
    given, score = ratings.given, ratings.score
    return system_means(systems, ratings.cluster, given, score, n_clusters=ratings.n_clusters, ends=ends)


def tau_b_bounds(people: FloatArray, low: FloatArray, high: FloatArray) -> FloatArray:
    """The lowest tau-b of each row of means, shape (B,); NaN where all of one side are equal.

    A pair that people do not tell apart is untied by the judge if that lowers the value, as in ``worst_case``.
    """
    left, right = np.triu_indices(people.shape[-1], 1)

    def signs(one: FloatArray, other: FloatArray) -> FloatArray:
        return np.asarray(np.sign(np.round(one[..., left] - other[..., right], ROUNDING)))

    sign, least, most = signs(people, people), signs(low, high), signs(high, low)
    worst = np.where(sign > 0, least, most)
    signed, tied = (sign * worst).sum(axis=-1), sign == 0
    open_ = (tied & (least != most)).sum(axis=-1)
    y = np.where(tied, least == most, True) * np.abs(worst)
    untied = y.sum(axis=-1) + np.where(signed > 0, open_, 0)
    return ratio(np.asarray(signed, dtype=np.float64), np.sqrt(np.abs(sign).sum(axis=-1) * untied))
