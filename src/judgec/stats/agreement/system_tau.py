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

Formula = Callable[[FloatArray, FloatArray], FloatArray]
"""Values, shape (B,), from means of systems by people and by the judge, shape (B, n_systems); NaN where undefined."""


@dataclass(frozen=True, slots=True, eq=False)
class SystemMeans:
    """Means of systems by people and by a judge, of the queries where both graded all systems.

    Args:
        systems: Their names, sorted.
        people: Mean of each query and system by people, shape (n_clusters, n_systems); 0 of queries that do not count.
        judge: The same by the judge.
        items: Number of answers to each query that counts, else 0, shape (n_clusters,).
    """

    systems: tuple[str, ...]
    people: FloatArray
    judge: FloatArray
    items: FloatArray

    @property
    def too_few(self) -> str:
        """The reason why there is no order to compare, or empty."""
        if len(self.systems) < LEAST_SYSTEMS:
            return f"{plural(len(self.systems), 'system answered', 'systems answered')}, an order needs {LEAST_SYSTEMS}"
        if (common := int((self.items > 0).sum())) < LEAST_QUERIES:
            return f"{common} queries where people and judge graded all {len(self.systems)}, {LEAST_QUERIES} are needed"
        return ""

    def statistic(self, formula: Formula) -> Statistic:
        """A formula of the means."""
        counted = (self.items > 0).astype(np.float64)

        def of(weights: FloatArray) -> FloatArray:
            drawn = (weights @ counted)[:, None]
            return formula(*(ratio(weights @ means, drawn, 0.0) for means in (self.people, self.judge)))

        def under(weights: FloatArray) -> FloatArray:
            if self.too_few:
                return np.full(len(weights), np.nan)
            step = max(1, MAX_CELLS // len(self.systems) ** 2)
            return np.concatenate([of(weights[at : at + step]) for at in range(0, len(weights), step)])

        n = len(self.items)
        return Statistic(
            self.items,
            lambda: float(under(np.ones((1, n)))[0]),
            lambda: under(np.ones((n, n)) - np.eye(n)),
            CORRELATION,
            Resampler(under, np.hstack([self.people, self.judge])),
            self.too_few or "all systems have the same mean",
        )


def system_means(
    systems: TextArray | Sequence[str | None],
    queries: IntArray,
    people: FloatArray,
    judge: FloatArray,
    *,
    n_clusters: int | None = None,
) -> SystemMeans:
    """The systems' mean scores by a judge and their mean grades by people.

    Args:
        systems: Which one answered, of each item; None or empty where nobody says.
        queries: Code of each item's query, shape (n_items,).
        people: Their mean grade, in scale units, NaN where nobody graded, shape (n_items,).
        judge: Its score, in scale units, NaN where it is unscored, shape (n_items,); a query with one does not count.
        n_clusters: How many queries there are.
    """
    name = np.array([one or "" for one in systems], dtype=np.str_)
    known = (name != "") & ~np.isnan(people)
    names = np.unique(name[known])
    n = (int(queries.max(initial=-1)) + 1) if n_clusters is None else n_clusters
    width = len(names)
    cell = queries[known] * width + np.searchsorted(names, name[known])
    count = np.bincount(cell, minlength=n * width).reshape(n, width).astype(np.float64)
    counted = np.asarray((count > 0).all(axis=1) & (width > 0))
    counted[queries[known & np.isnan(judge)]] = False

    def means(given: FloatArray) -> FloatArray:
        total = np.bincount(cell, given[known], minlength=n * width).astype(np.float64).reshape(n, width)
        return np.where(counted[:, None], ratio(total, count, 0.0), 0.0)

    by = means(people), means(judge)
    return SystemMeans(tuple(names.tolist()), *by, np.where(counted, count.sum(axis=1), 0.0))


def orders_systems(ratings: GradePairs) -> bool:
    """True where enough systems answered to speak of their order."""
    return ratings.system is not None and len(set(ratings.system[ratings.system != ""])) >= LEAST_SYSTEMS


def system_tau(ratings: GradePairs) -> Statistic:
    """System-level tau-b of rows that are all labelled and scored; undefined where nobody says who answered."""
    systems = np.full(ratings.judge.shape, "") if ratings.system is None else ratings.system
    found = system_means(systems, ratings.cluster, ratings.given, ratings.score, n_clusters=ratings.n_clusters)
    return found.statistic(tau_b_of_means)


def tau_b_of_means(people: FloatArray, judge: FloatArray) -> FloatArray:
    """Tau-b of each row of means, shape (B,); NaN where all of one side are equal."""
    left, right = np.triu_indices(people.shape[-1], 1)
    one, other = (np.sign(np.round(by[..., left] - by[..., right], ROUNDING)) for by in (people, judge))
    return ratio((one * other).sum(axis=-1), np.sqrt(np.abs(one).sum(axis=-1) * np.abs(other).sum(axis=-1)))
