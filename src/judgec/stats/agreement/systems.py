"""Compares how a judge ranks systems with how people do: means, their order, and the pairs that each tells apart.

Intervals of a correlation are percentiles over resamples of the queries: that of a few systems moves in steps, for
which a jackknife has no standard error. Those of a difference of means are Student's, which hold at few queries too.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Self

import numpy as np
from scipy import stats
from scipy.stats import rankdata

from judgec.records.estimate import Estimate
from judgec.records.label import FloatArray, IntArray, TextArray
from judgec.records.ratings import ROUNDING, GradePairs
from judgec.stats.agreement.statistic import Statistic
from judgec.stats.agreement.system_tau import system_means, tau_b_of_means
from judgec.stats.agreement.tables import ratio
from judgec.stats.intervals.jackknife import interval
from judgec.stats.intervals.significance import holm

HALVES = 200  # random splits of the queries
TAIL = 0.025  # of a decision at 5 %, and of a 95 % interval


@dataclass(frozen=True, slots=True)
class SystemPair:
    """Two systems that a judge and people tell apart otherwise, and not by chance.

    Args:
        a: One.
        b: The other.
        judge: Mean score of ``a`` minus that of ``b`` by the judge, in scale units.
        people: The same by people.
        p: Of no difference between the two differences, adjusted for all pairs (Holm).
    """

    a: str
    b: str
    judge: Estimate
    people: Estimate
    p: float

    @classmethod
    def from_json(cls, found: Mapping[str, Any]) -> Self:  # Any: of a report, which ``to_json`` wrote
        """As a report has it."""
        judge, people = (Estimate(**found[name]) for name in ("judge", "people"))
        return cls(found["a"], found["b"], judge, people, found["p_holm"])

    def to_json(self) -> dict[str, object]:
        """An entry of ``differing``."""
        by = {"judge": self.judge.to_json(), "people": self.people.to_json()}
        return {"a": self.a, "b": self.b, **by, "p_holm": self.p}


@dataclass(frozen=True, slots=True)
class SystemAgreement:
    """Order of systems by a judge beside that by people.

    Args:
        systems: Their names.
        n_queries: Queries where people and judge graded all of them.
        tau_b: Between the systems' mean scores by the judge and their mean grades by people.
        spearman: The same by ranks.
        people: Mean tau-b of people's own order on half of the queries and that on the other half: how settled that
            order is; None where it is undefined. A judge of the same answers may come closer to it.
        told: Pairs of systems that people tell apart at 5 %.
        same: Pairs on which judge and people decide the same at 5 %: better, worse, or not to be told.
        opposite: Pairs on which they decide the opposite.
        differing: Pairs on which they decide otherwise, and whose two differences differ at 5 % over all pairs; none
            of a score in other units than people's.
    """

    systems: tuple[str, ...]
    n_queries: int
    tau_b: Estimate
    spearman: Estimate
    people: float | None
    told: int
    same: int
    opposite: int
    differing: tuple[SystemPair, ...] = ()

    @property
    def share_same(self) -> float | None:
        """Share of the pairs on which judge and people decide the same; None without an order."""
        return None if self.tau_b.value is None else self.same / self.pairs

    @property
    def pairs(self) -> int:
        """Number of pairs of systems."""
        return len(self.systems) * (len(self.systems) - 1) // 2

    @classmethod
    def from_json(cls, found: Mapping[str, Any]) -> Self:  # Any: of a report, which ``to_json`` wrote
        """As a report has it."""
        tau_b, spearman = (Estimate(**found[name]) for name in ("tau_b", "spearman"))
        told, same, opposite = found["told_by_people"], found["same_decisions"], found["opposite_decisions"]
        people, systems = found["people_on_halves"], tuple(found["systems"])
        differing = tuple(map(SystemPair.from_json, found.get("differing", ())))  # none where an older version wrote it
        return cls(systems, found["queries"], tau_b, spearman, people, told, same, opposite, differing)

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
            "share_same": self.share_same,
            "differing": [one.to_json() for one in self.differing],
        }


def systems_of(ratings: GradePairs, *, alike: bool = True) -> SystemAgreement | None:
    """The order of systems by a judge beside that by people; None where nobody says who answered.

    ``alike`` is false where the judge's score is in other units than people's grades.
    """
    if ratings.system is None:
        return None
    found = system_agreement(ratings.system, ratings.cluster, ratings.given, ratings.score)
    return found if found is None or alike else replace(found, differing=())


def system_agreement(
    systems: TextArray | Sequence[str | None],
    queries: IntArray,
    people: FloatArray,
    judge: FloatArray,
) -> SystemAgreement | None:
    """The order of systems by a judge beside that by people.

    Args:
        systems: Which one answered, of each item; None where nobody says.
        queries: Code of each item's query, shape (n_items,).
        people: Their mean grade, in scale units, NaN where nobody graded, shape (n_items,).
        judge: Its score, in scale units, NaN where it is unscored, shape (n_items,).

    Returns:
        None where nobody says who answered. Below three systems or three queries where both graded all of them nothing
        is defined, and its note says so.

    Source: Kendall (1938), Biometrika 30, tau-b as in Kendall (1945), Biometrika 33; Voorhees (2000), Information
        Processing and Management 36(5), for the order of systems as what judgments are for.
    """
    found = system_means(systems, queries, people, judge)
    if not found.systems:
        return None
    names, counted = found.systems, found.items > 0
    by_people, by_judge = found.people[counted], found.judge[counted]
    if found.too_few:
        nothing = Estimate(value=None, note=found.too_few, n=len(names), n_clusters=len(by_people))
        return SystemAgreement(names, len(by_people), nothing, nothing, None, 0, 0, 0)
    n = len(by_people)
    left, right = np.triu_indices(len(names), 1)

    def apart(by: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Difference of each pair and its standard error, each of shape (n_pairs,)."""
        each = by[:, left] - by[:, right]
        error = each.std(axis=0, ddof=1) / np.sqrt(n)
        return each.mean(axis=0), np.where(error > 10.0**-ROUNDING, error, 0.0)

    def chance(value: FloatArray, error: FloatArray) -> FloatArray:
        """Of no difference; the same one in every query is a sign test's."""
        alike = np.where(np.abs(value) > 10.0**-ROUNDING, 2.0 ** (1 - n), 1.0)
        return np.where(error > 0, 2 * stats.t.sf(np.abs(ratio(value, error)), n - 1), alike)

    reach = stats.t.isf(TAIL, n - 1)
    ours, theirs, surplus = (apart(by) for by in (by_judge, by_people, by_judge - by_people))
    our, their = (np.sign(one[0]) * (chance(*one) < 2 * TAIL) for one in (ours, theirs))
    p = holm(chance(*surplus))

    def of(one: Statistic) -> Estimate:
        return interval(one).estimate(len(names))

    def shown(by: tuple[FloatArray, FloatArray], pair: int) -> Estimate:
        value, error = (float(one[pair]) for one in by)
        low, high = value - reach * error, value + reach * error
        return Estimate(value=value, low=low, high=high, n_clusters=n, method="Student's t over queries")

    differing = [
        pair for pair in np.argsort(p, kind="stable").tolist() if p[pair] < 2 * TAIL and our[pair] != their[pair]
    ]
    return SystemAgreement(
        systems=names,
        n_queries=n,
        tau_b=of(found.statistic(tau_b_of_means)),
        spearman=of(found.statistic(_spearman)),
        people=_on_halves(by_people),
        told=int((their != 0).sum()),
        same=int((our == their).sum()),
        opposite=int((our * their < 0).sum()),
        differing=tuple(
            SystemPair(names[left[i]], names[right[i]], shown(ours, i), shown(theirs, i), float(p[i]))
            for i in differing
        ),
    )


def _spearman(people: FloatArray, judge: FloatArray) -> FloatArray:
    """Spearman's rho of each row of means, shape (B,); NaN where all of one side are equal."""
    a, b = (rankdata(np.round(by, ROUNDING), axis=1) for by in (people, judge))
    a, b = a - a.mean(axis=1, keepdims=True), b - b.mean(axis=1, keepdims=True)
    return ratio((a * b).sum(axis=1), np.sqrt((a * a).sum(axis=1) * (b * b).sum(axis=1)))


def _on_halves(by: FloatArray) -> float | None:
    by = by[np.lexsort(np.round(by.T, ROUNDING))]  # whatever the order of rows
    rng, n = np.random.default_rng(0), len(by)
    halves = np.zeros((HALVES, n))
    for row in halves:
        row[rng.permutation(n)[: n // 2]] = 1.0
    rest = 1.0 - halves
    first, second = halves / halves.sum(axis=1, keepdims=True), rest / rest.sum(axis=1, keepdims=True)
    one, other = first @ by, second @ by
    found = tau_b_of_means(one, other)
    return None if np.isnan(found).all() else float(np.nanmean(found))
