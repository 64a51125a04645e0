"""Tau-b of systems' means by people and by a judge, as a statistic that can be recomputed under any resample.

Only queries count where people graded an answer of every system, and the judge all of these: else a system with harder
queries would look worse.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from judgec.records.counts import plural
from judgec.records.label import FloatArray, IntArray, TextArray
from judgec.records.ratings import ROUNDING, GradePairs
from judgec.stats.agreement.pair_statistic import CORRELATION, MAX_CELLS
from judgec.stats.agreement.statistic import Stepwise
from judgec.stats.agreement.tables import ratio

LEAST_SYSTEMS = 3  # of two, the order is right or wrong
LEAST_QUERIES = 3

Formula = Callable[[FloatArray, FloatArray, FloatArray], FloatArray]
"""Values, shape (B,), from means of systems by people and the lowest and highest by the judge, shape (B, n_systems)."""


@dataclass(frozen=True, slots=True, eq=False)
class SystemStatistic(Stepwise):
    """A statistic of systems' means by people and by a judge, over the queries where both graded all systems.

    Args:
        systems: Their names, sorted.
        people: Mean of each query and system by people, shape (n_clusters, n_systems); 0 of queries that do not count.
        low: The same by the judge, an unscored answer being the worst grade.
        high: The same, it being the best grade.
        items: Number of answers to each query that counts, else 0, shape (n_clusters,).
        formula: Of the means of a resample.
        undefined: What stands for a statistic that is not defined.
    """

    systems: tuple[str, ...]
    people: FloatArray
    low: FloatArray
    high: FloatArray
    items: FloatArray
    formula: Formula
    undefined: float = np.nan

    @property
    def content(self) -> FloatArray:
        """The means of each query."""
        return np.hstack([self.people, self.low, self.high])

    @property
    def bounds(self) -> tuple[float, float] | None:
        """Smallest and largest possible value."""
        return CORRELATION

    @property
    def why_undefined(self) -> str:
        """The reason why there is no order to compare, or empty."""
        if len(self.systems) < LEAST_SYSTEMS:
            return f"{plural(len(self.systems), 'system answered', 'systems answered')}, an order needs {LEAST_SYSTEMS}"
        if (common := int((self.items > 0).sum())) < LEAST_QUERIES:
            return f"{common} queries where people and judge graded all {len(self.systems)}, {LEAST_QUERIES} are needed"
        return "all systems have the same mean" if np.isnan(self._of(np.ones((1, len(self.items))))[0]) else ""

    def point(self) -> float:
        """The value on the queries as they are."""
        return float(self.under(np.ones((1, len(self.items))))[0])

    def under(self, weights: FloatArray) -> FloatArray:
        """The value of each resample, shape (B,)."""
        if len(self.systems) < LEAST_SYSTEMS or (self.items > 0).sum() < LEAST_QUERIES:
            return np.full(len(weights), self.undefined)
        step = max(1, MAX_CELLS // len(self.systems) ** 2)
        found = np.concatenate([self._of(weights[at : at + step]) for at in range(0, len(weights), step)])
        return np.where(np.isnan(found), self.undefined, found)

    def _of(self, weights: FloatArray) -> FloatArray:
        drawn = (weights @ (self.items > 0).astype(np.float64))[:, None]
        people, low, high = (
            ratio(np.asarray(weights @ means), drawn, 0.0) for means in (self.people, self.low, self.high)
        )
        return self.formula(people, low, high)

    def without_one(self, weights: FloatArray) -> FloatArray:
        """Each resample's value without one draw of each cluster."""
        b, q = np.nonzero(weights)
        less = weights[b]
        less[np.arange(len(b)), q] -= 1.0
        values = np.full(weights.shape, np.nan)
        values[b, q] = self.under(less)
        return values

    @property
    def within_queries(self) -> FloatArray:
        """Agreement of each query with people's order of the means, by system: -1 to 1, (n_clusters, n_systems)."""
        left, right = np.triu_indices(len(self.systems), 1)
        total = self.people.sum(axis=0)
        sign = _signs(_apart(total, total))
        worst = np.where(sign > 0, _apart(self.low, self.high), _apart(self.high, self.low))
        right_order = (_signs(worst) * sign / max(1, len(self.systems) - 1)).T
        found = np.zeros(self.people.T.shape)
        for side in (left, right):
            np.add.at(found, side, right_order)
        return found.T


def system_statistic(
    systems: TextArray | Sequence[str | None],
    queries: IntArray,
    people: FloatArray,
    judge: FloatArray,
    *,
    n_clusters: int | None = None,
    ends: tuple[float, float] | None = None,
    undefined: float = np.nan,
) -> SystemStatistic:
    """Tau-b between the systems' mean scores by a judge and their mean grades by people.

    Args:
        systems: Which one answered, of each item; None or empty where nobody says.
        queries: Code of each item's query, shape (n_items,).
        people: Their mean grade, in scale units, NaN where nobody graded, shape (n_items,).
        judge: Its score, in scale units, NaN where it is unscored, shape (n_items,).
        n_clusters: How many queries there are.
        ends: The worst and the best grade, which stand for an unscored answer; None: a query with one does not count.
        undefined: What stands for a value that is not defined.
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
    items = np.where(counted, count.sum(axis=1), 0.0)
    return SystemStatistic(tuple(names.tolist()), means(people), low, high, items, tau_b_bounds, undefined)


def orders_systems(ratings: GradePairs) -> bool:
    """True where enough systems answered to speak of their order."""
    return ratings.system is not None and len(set(ratings.system[ratings.system != ""])) >= LEAST_SYSTEMS


def system_tau(ratings: GradePairs) -> SystemStatistic:
    """System-level tau-b of rows that are all labelled and scored; undefined where nobody says who answered."""
    systems = np.full(ratings.judge.shape, "") if ratings.system is None else ratings.system
    return system_statistic(systems, ratings.cluster, ratings.given, ratings.score, n_clusters=ratings.n_clusters)


def system_tau_bound(ratings: GradePairs) -> SystemStatistic:
    """The lowest system-level tau-b that any scores of the unscored rows could have given; 0 where it is undefined.

    Of each pair of systems the one that people call better has the worst grade where it is unscored, the other one the
    best. So leaving one more row unscored never raises it.
    """
    labelled = ratings.where(ratings.graded)
    systems = np.full(labelled.judge.shape, "") if labelled.system is None else labelled.system
    return system_statistic(
        systems,
        labelled.cluster,
        labelled.given,
        labelled.score,
        n_clusters=ratings.n_clusters,
        ends=(ratings.values[0], ratings.values[-1]),
        undefined=0.0,
    )


def system_tau_shares(ratings: GradePairs) -> FloatArray:
    """One number a labelled row, whose mean is ``system_tau_bound``: high where its query orders systems as people."""
    found = system_tau_bound(ratings)
    shares = np.full(ratings.judge.shape, found.point())
    if ratings.system is not None and len(found.systems):
        counted = (found.items[ratings.cluster] > 0) & (ratings.system != "")
        place = np.searchsorted(found.systems, ratings.system[counted])
        own = found.within_queries[ratings.cluster[counted], place]
        shares[counted] += own - own.mean() if len(own) else own
    return shares


def _apart(one: FloatArray, other: FloatArray) -> FloatArray:
    """The first of each pair of systems by ``one`` minus the second by ``other``, shape (..., n_pairs)."""
    left, right = np.triu_indices(one.shape[-1], 1)
    return one[..., left] - other[..., right]


def _signs(apart: FloatArray) -> FloatArray:
    return np.asarray(np.sign(np.round(apart, ROUNDING)))


def tau_b_bounds(people: FloatArray, low: FloatArray, high: FloatArray) -> FloatArray:
    """The lowest tau-b of each row of means, shape (B,); NaN where all of one side are equal.

    A pair that people do not tell apart is untied by the judge if that lowers the value, as in ``worst_case``.
    """
    sign, least, most = _signs(_apart(people, people)), _signs(_apart(low, high)), _signs(_apart(high, low))
    worst = np.where(sign > 0, least, most)
    signed, tied = (sign * worst).sum(axis=-1), sign == 0
    open_ = (tied & (least != most)).sum(axis=-1)
    y = np.where(tied, least == most, True) * np.abs(worst)
    untied = y.sum(axis=-1) + np.where(signed > 0, open_, 0)
    return ratio(np.asarray(signed, dtype=np.float64), np.sqrt(np.abs(sign).sum(axis=-1) * untied))
