"""The statistics of every report, a row each: whatever shows, tests or explains them reads it here."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Literal

import numpy as np

from judgec.records.consensus import parts_of
from judgec.records.label import FloatArray, IntArray
from judgec.records.ratings import GradePairs
from judgec.stats.agreement.kappa import decided_table
from judgec.stats.agreement.rank_correlation import spearman_p, tau_b_p
from judgec.stats.agreement.score_correlation import (
    ScoredItems,
    auc_score,
    scored_items,
    spearman_score,
    tau_b_score,
)
from judgec.stats.agreement.statistic import (
    SHARE,
    TABLE_FORMULAS,
    Statistic,
    bland_altman,
    concordance_moments,
    mean,
    of_moments,
    of_table,
    pearson_moments,
)
from judgec.stats.agreement.system_tau import system_tau
from judgec.stats.agreement.tables import NumberArray

Make = Callable[[GradePairs], Statistic]
PValue = Callable[[FloatArray, FloatArray], float]


@dataclass(frozen=True, slots=True)
class ReportedStatistic:
    """One statistic of every report.

    Args:
        label: What people call it.
        make: From ratings that are all labelled and scored, so that it can be resampled.
        compares: The judge's ``grades``, its ``score``, or its ``accepts``, with those of the experts.
        meaning: In plain words; empty where the name explains itself.
        ordinal: It is undefined of classes without an order.
        against_chance: Chance gives 0, so that 0 is what a judge has to beat; else the most frequent grade is.
        binary: It is defined of two grades alone, both in use.
        p_value: Of "no association", where every row is a query of its own; None where no such test is made.
        objective: The objective that counts an unscored row against the judge; empty where there is none, and such
            rows are left out of paired differences.
        numbers: It is of numbers on one scale, and reported where the labels are on an interval scale.
    """

    label: str
    make: Make
    compares: Literal["grades", "score", "accepts"] = "grades"
    meaning: str = ""
    ordinal: bool = False
    against_chance: bool = False
    binary: bool = False
    p_value: PValue | None = None
    objective: str = ""
    numbers: bool = False


MOST_SIGNS = 20_000  # clusters times numbers that differ: what rank correlations of these keep


def of_grades(formula: Callable[[NumberArray], FloatArray], bounds: tuple[float, float]) -> Make:
    """A statistic of the table of grades, expert by judge."""
    return lambda r: of_target(r, r.target, r.judge, (r.n_grades, r.n_grades), (formula, bounds))


def of_accepts(formula: Callable[[NumberArray], FloatArray], bounds: tuple[float, float]) -> Make:
    """A statistic of the table of accept and reject, expert by judge."""
    return lambda r: of_target(r, r.target_accept, r.judge_accept, (2, 2), (formula, bounds))


def clusters_of(ratings: GradePairs) -> tuple[IntArray, int]:
    """Codes of the clusters that a statistic of scores leaves out in turn, and how many there are."""
    most = max(20, min(1000, MOST_SIGNS // ratings.n_grades)) if ratings.interval else 1000
    return coarse_clusters(ratings.cluster, ratings.n_clusters, most)


def coarse_clusters(cluster: IntArray, n_clusters: int, most: int) -> tuple[IntArray, int]:
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


def of_score(build: Callable[[ScoredItems], Statistic]) -> Make:
    """A statistic of the judge's score beside the experts' grades."""

    def make(ratings: GradePairs) -> Statistic:
        cluster, n_clusters = clusters_of(ratings)
        row, expert, weight = parts_of(ratings.order)
        return build(scored_items(expert, ratings.score[row], cluster[row], n_clusters=n_clusters, weight=weight))

    return make


def of_numbers(formula: Callable[[FloatArray], FloatArray]) -> Make:
    """A statistic of the moments of the judge's score and what people gave."""
    return lambda r: of_moments(formula, r.given, r.score, r.cluster, n_clusters=r.n_clusters)


def absolute_error(ratings: GradePairs) -> Statistic:
    """Mean distance of the judge's score from what people gave, in scale units."""
    error = np.abs(ratings.score - ratings.given)
    return mean(error, ratings.cluster, n_clusters=ratings.n_clusters, bounds=(0.0, ratings.span))


def _apart(place: int) -> Make:
    """Bias, lower or upper limit of agreement of the judge's score with what people gave."""
    return lambda r: bland_altman(r.given, r.score, r.cluster, n_clusters=r.n_clusters)[place]


def of_target(
    ratings: GradePairs,
    target: IntArray,
    judge: IntArray,
    shape: tuple[int, int],
    formula: tuple[Callable[..., FloatArray], tuple[float, float] | None],
) -> Statistic:
    """A formula, with its bounds, of the table of a target, whose grades share items, by a judge's positions."""
    row, expert, weight = parts_of(target)
    return of_table(
        formula, expert, judge[row], ratings.cluster[row], shape, n_clusters=ratings.n_clusters, weight=weight
    )


STATISTICS: Mapping[str, ReportedStatistic] = MappingProxyType(
    {
        "tau_b": ReportedStatistic(
            "tau-b",
            of_grades(*TABLE_FORMULAS["tau_b"]),
            meaning="do judge and expert put the items in the same order? 1 always, 0 no better than chance",
            ordinal=True,
            against_chance=True,
            p_value=tau_b_p,
            objective="tau_b",
        ),
        "tau_b_score": ReportedStatistic(
            "tau-b of the score",
            of_score(tau_b_score),
            compares="score",
            meaning="tau-b of the judge's score, which is finer than its grade",
            ordinal=True,
            against_chance=True,
            p_value=tau_b_p,
        ),
        "spearman": ReportedStatistic(
            "Spearman",
            of_score(spearman_score),
            compares="score",
            ordinal=True,
            against_chance=True,
            p_value=spearman_p,
        ),
        "auc": ReportedStatistic(
            "AUC",
            of_score(auc_score),
            compares="score",
            meaning="how often the better of two items has the higher score; .5 is chance",
            ordinal=True,
            binary=True,
        ),
        "exact": ReportedStatistic("exact", of_grades(*TABLE_FORMULAS["exact"]), objective="exact"),
        "accept_agreement": ReportedStatistic(
            "accept agreement",
            of_accepts(*TABLE_FORMULAS["accept_agreement"]),
            compares="accepts",
            meaning="share of items on which both accept or both reject",
            objective="accept",
        ),
        "kappa": ReportedStatistic(
            "kappa",
            of_grades(*TABLE_FORMULAS["kappa"]),
            meaning="agreement on the grade beyond chance: 0 is chance, 1 is always the same",
            against_chance=True,
            objective="kappa",
        ),
        "qwk": ReportedStatistic(
            "QWK",
            of_grades(*TABLE_FORMULAS["qwk"]),
            meaning="quadratic weighted kappa: as kappa, but near misses count little",
            ordinal=True,
            against_chance=True,
            objective="qwk",
        ),
    }
)
"""In the order in which they are shown."""

OF_NUMBERS: Mapping[str, ReportedStatistic] = MappingProxyType(
    {
        "pearson": ReportedStatistic(
            "Pearson",
            of_numbers(pearson_moments),
            compares="score",
            ordinal=True,
            against_chance=True,
            numbers=True,
        ),
        "concordance": ReportedStatistic(
            "Lin's concordance",
            of_numbers(concordance_moments),
            compares="score",
            ordinal=True,
            against_chance=True,
            numbers=True,
        ),
        "mae": ReportedStatistic("mean absolute error", absolute_error, compares="score", ordinal=True, numbers=True),
        "bias": ReportedStatistic("bias (judge minus expert)", _apart(0), compares="score", ordinal=True, numbers=True),
        "limit_low": ReportedStatistic(
            "lower limit of agreement", _apart(1), compares="score", ordinal=True, numbers=True
        ),
        "limit_high": ReportedStatistic(
            "upper limit of agreement", _apart(2), compares="score", ordinal=True, numbers=True
        ),
    }
)
"""Those of labels on an interval scale besides."""

OF_SYSTEMS: Mapping[str, ReportedStatistic] = MappingProxyType(
    {
        "system_tau": ReportedStatistic(
            "system tau",
            system_tau,
            compares="score",
            meaning="tau-b of the means of whoever answered: do judge and expert rank the systems alike?",
            ordinal=True,
            against_chance=True,
        )
    }
)
"""Those of labels that name the systems that answered besides."""

OF_PAIRS: Mapping[str, ReportedStatistic] = MappingProxyType(
    {"decided": ReportedStatistic("accuracy where the experts do not tie", of_grades(decided_table, SHARE))}
)
"""Those of two answers besides."""

KNOWN: Mapping[str, ReportedStatistic] = MappingProxyType({**STATISTICS, **OF_NUMBERS, **OF_SYSTEMS, **OF_PAIRS})


def reported(*, interval: bool, systems: bool = False) -> tuple[str, ...]:
    """The names of the statistics of a report."""
    return (*STATISTICS, *(OF_NUMBERS if interval else ()), *(OF_SYSTEMS if systems else ()))


def statistic_of_objective(name: str) -> str:
    """Name of an objective's statistic in reports: ``accept_agreement`` of ``accept``; others keep their names."""
    return next((own for own, one in KNOWN.items() if one.objective == name), name)
