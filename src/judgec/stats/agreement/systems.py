"""Compares how a judge ranks systems with how people do: means, their order, and the pairs that each tells apart.

Only queries that every system answered, and that both people and judge graded for every system, count: else a system
with harder queries would look worse. Intervals are percentiles over resamples of these queries; a rank correlation of
a few systems moves in steps, for which a jackknife has no standard error.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from scipy.stats import rankdata

from judgec.records.estimate import Estimate
from judgec.records.label import FloatArray, IntArray
from judgec.stats.intervals.resampling import resample

LEAST_SYSTEMS = 3  # of two, the order is right or wrong
LEAST_QUERIES = 3
HALVES = 200  # random splits of the queries
ROUNDING = 9  # digits: means that differ by rounding are equal
TAIL = 0.025  # of a decision at 5 %, and of a 95 % interval


@dataclass(frozen=True, slots=True)
class SystemAgreement:
    """How a judge orders systems beside how people do.

    Args:
        systems: Their names.
        n_queries: Queries that all of them answered.
        tau_b: Between the systems' mean scores by the judge and their mean grades by people.
        spearman: The same by ranks.
        people: Mean tau-b of people's own order on half of the queries and that on the other half: a bound for what can
            be asked of a judge on half as many; None where it is undefined.
        told: Pairs of systems that people tell apart at 5 %.
        same: Pairs on which judge and people decide the same at 5 %: better, worse, or not to be told.
        opposite: Pairs on which they decide the opposite.
    """

    systems: tuple[str, ...]
    n_queries: int
    tau_b: Estimate
    spearman: Estimate
    people: float | None
    told: int
    same: int
    opposite: int

    @property
    def pairs(self) -> int:
        """How many pairs of systems there are."""
        return len(self.systems) * (len(self.systems) - 1) // 2

    @classmethod
    def from_json(cls, found: Mapping[str, Any]) -> Self:  # Any: of a report, which ``to_json`` wrote
        """As a report has it."""
        tau_b, spearman = (Estimate(**found[name]) for name in ("tau_b", "spearman"))
        told, same, opposite = found["told_by_people"], found["same_decisions"], found["opposite_decisions"]
        people, systems = found["people_on_halves"], tuple(found["systems"])
        return cls(systems, found["queries"], tau_b, spearman, people, told, same, opposite)

    def to_json(self) -> dict[str, object]:
        """The report's ``systems``."""
        return {
            "systems": list(self.systems),
            "queries": self.n_queries,
            "tau_b": self.tau_b.to_json(),
            "spearman": self.spearman.to_json(),
            "people_on_halves": self.people,
            "pairs": self.pairs,
            "told_by_people": self.told,
            "same_decisions": self.same,
            "opposite_decisions": self.opposite,
        }


def system_agreement(
    systems: Sequence[str | None],
    queries: IntArray,
    people: FloatArray,
    judge: FloatArray,
    *,
    resamples: int = 2000,
    seed: int = 0,
) -> SystemAgreement | None:
    """The order of systems by a judge beside that by people.

    Args:
        systems: Which one answered, of each item; None where nobody says.
        queries: Code of each item's query, shape (n_items,).
        people: Their mean grade, in scale units, NaN where nobody graded, shape (n_items,).
        judge: Its score, in scale units, NaN where it is unscored, shape (n_items,).
        resamples: Of the queries.
        seed: Of resamples and halves.

    Returns:
        None below three systems or three queries that all of them answered.

    Source: Kendall (1938), Biometrika 30, tau-b as in Kendall (1945), Biometrika 33; Voorhees (2000), Information
        Processing and Management 36(5), for the order of systems as what judgments are for.
    """
    names = tuple(sorted({name for name in systems if name}))
    if len(names) < LEAST_SYSTEMS:
        return None
    by_people, by_judge = _means(systems, names, queries, people, judge)
    n = len(by_people)
    if n < LEAST_QUERIES:
        return None
    weights = resample(n, resamples, seed) / n
    everywhere = np.full((1, n), 1.0 / n)
    left, right = np.triu_indices(len(names), 1)

    def decided(by: FloatArray) -> IntArray:
        drawn = weights @ (by[:, left] - by[:, right])
        low, high = np.quantile(drawn, [TAIL, 1 - TAIL], axis=0)
        return np.asarray((low > 0).astype(np.int64) - (high < 0).astype(np.int64))

    ours, theirs = decided(by_judge), decided(by_people)

    def of(statistic: Callable[[FloatArray, FloatArray], FloatArray]) -> Estimate:
        (point,) = statistic(everywhere @ by_people, everywhere @ by_judge).tolist()
        drawn = statistic(weights @ by_people, weights @ by_judge)
        known = drawn[~np.isnan(drawn)]
        low, high = np.quantile(known, [TAIL, 1 - TAIL]).tolist() if len(known) else (None, None)
        equal = np.isnan(point)
        return Estimate(
            value=None if equal else point,
            low=low,
            high=high,
            note="all systems have the same mean" if equal else "",
            n=len(names),
            n_clusters=n,
            method="percentiles of resampled queries",
            seed=seed,
        )

    return SystemAgreement(
        systems=names,
        n_queries=n,
        tau_b=of(_tau_b),
        spearman=of(_spearman),
        people=_on_halves(by_people, seed),
        told=int((theirs != 0).sum()),
        same=int((ours == theirs).sum()),
        opposite=int((ours * theirs < 0).sum()),
    )


def _means(
    systems: Sequence[str | None], names: Sequence[str], queries: IntArray, people: FloatArray, judge: FloatArray
) -> tuple[FloatArray, FloatArray]:
    """Means by people and by the judge, shape (n_queries, n_systems), of the queries that have both of every system."""
    both = ~np.isnan(people) & ~np.isnan(judge)
    rows = [i for i, name in enumerate(systems) if name and both[i]]
    code = {name: place for place, name in enumerate(names)}
    _, query = np.unique(queries[rows], return_inverse=True)
    cell = query * len(names) + np.array([code[str(systems[i])] for i in rows], dtype=np.int64)
    cells = (int(query.max(initial=-1)) + 1) * len(names)
    count = np.bincount(cell, minlength=cells).reshape(-1, len(names))
    common = (count > 0).all(axis=1)
    totals = (np.bincount(cell, given[rows], minlength=cells).reshape(-1, len(names)) for given in (people, judge))
    by_people, by_judge = (total[common] / count[common] for total in totals)
    return by_people, by_judge


def _tau_b(one: FloatArray, other: FloatArray) -> FloatArray:
    """Tau-b of each row of means, shape (n_rows,); NaN where all of one side are equal."""
    left, right = np.triu_indices(one.shape[1], 1)
    a, b = (np.sign(np.round(by[:, left] - by[:, right], ROUNDING)) for by in (one, other))
    with np.errstate(invalid="ignore", divide="ignore"):
        return np.asarray((a * b).sum(axis=1) / np.sqrt((a * a).sum(axis=1) * (b * b).sum(axis=1)))


def _spearman(one: FloatArray, other: FloatArray) -> FloatArray:
    """Spearman's rho of each row of means, shape (n_rows,); NaN where all of one side are equal."""
    a, b = (rankdata(np.round(by, ROUNDING), axis=1) for by in (one, other))
    a, b = a - a.mean(axis=1, keepdims=True), b - b.mean(axis=1, keepdims=True)
    with np.errstate(invalid="ignore", divide="ignore"):
        return np.asarray((a * b).sum(axis=1) / np.sqrt((a * a).sum(axis=1) * (b * b).sum(axis=1)))


def _on_halves(by: FloatArray, seed: int) -> float | None:
    rng, n = np.random.default_rng(seed), len(by)
    halves = np.zeros((HALVES, n))
    for row in halves:
        row[rng.permutation(n)[: n // 2]] = 1.0
    rest = 1.0 - halves
    first, second = halves / halves.sum(axis=1, keepdims=True), rest / rest.sum(axis=1, keepdims=True)
    found = _tau_b(first @ by, second @ by)
    return None if np.isnan(found).all() else float(np.nanmean(found))
