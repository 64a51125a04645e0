"""Measures how far a judge finds the failure modes that experts see: each by itself, micro and macro."""

from collections.abc import Mapping
from dataclasses import replace
from math import ceil

import numpy as np
from scipy import stats

from judgec.records.consensus import mean_of, parts_of
from judgec.records.counts import plural, tidy
from judgec.records.estimate import Estimate
from judgec.records.judgment import UNSCORED
from judgec.records.label import IntArray
from judgec.records.mode_agreement import FoundModes, ModesAgreement
from judgec.records.ratings import GradePairs, stacked
from judgec.stats.agreement.measure import measure
from judgec.stats.agreement.statistic import Statistic, table_statistic, weighted_sum
from judgec.stats.agreement.tables import NumberArray, contingency
from judgec.stats.intervals.jackknife import interval
from judgec.stats.intervals.proportion import share
from judgec.stats.intervals.significance import holm

PRESENT = 1
LEAST = 5  # cases below which a share of them is not given: 4 of 4 are compatible with two in five
STATISTICS = ("kappa", "precision", "recall")


def measure_modes(parts: Mapping[str, GradePairs]) -> ModesAgreement:
    """Each mode by itself, all together, and their mean.

    Intervals of kappa and of means are jackknife intervals over queries, those of precision and recall exact binomial
    ones with the design effect of queries. Unscored rows are in nothing and are counted.

    Args:
        parts: The judge beside the experts by mode, on a scale absent, present; all with the same codes of queries.
    """
    found = {mode: _found(ratings) for mode, ratings in parts.items()}
    adjusted = holm(np.array([np.nan if one.p is None else one.p for one in found.values()], dtype=np.float64))
    modes = {
        mode: replace(one, p_holm=None if np.isnan(p) else float(p))
        for (mode, one), p in zip(found.items(), adjusted.tolist(), strict=True)
    }
    averaged = {
        name: tuple(mode for mode, one in modes.items() if getattr(one, name).value is not None) for name in STATISTICS
    }
    macro = {name: _mean(name, [parts[mode] for mode in averaged[name]]) for name in STATISTICS}
    micro = replace(_found(stacked(list(parts.values()))), p=None)
    return ModesAgreement(modes, micro, macro, averaged)


def _found(ratings: GradePairs) -> FoundModes:
    labelled = ratings.graded
    known = ratings.where(labelled & (ratings.judge != UNSCORED))
    expert, judge = mean_of(known.target == PRESENT, known.target), known.judge == PRESENT
    n, present, flagged = len(expert), float(expert.sum()), int(judge.sum())
    rare = _rare(n, present)
    measured = None if rare else measure(known).estimates
    few, shown = _few_flagged(flagged), expert > 0
    return FoundModes(
        kappa=rare or _of(measured, "kappa"),
        precision=few or share(expert[judge], known.cluster[judge]),
        recall=rare or share(judge[shown], known.cluster[shown], weight=expert[shown]),
        p=None if rare else association_p(expert, known.judge, known.cluster),
        n=n,
        present=tidy(present),
        flagged=flagged,
        unscored=int(labelled.sum()) - n,
    )


def association_p(expert: NumberArray, judge: IntArray, cluster: IntArray) -> float | None:
    """Two-sided p-value of "what the judge flags has nothing to do with what the expert flags".

    Fisher's exact test where every row is a query of its own, with one label; else a score test whose variance is that
    of the queries' own sums, so that a judge without any error has a p-value, too.

    Args:
        expert: The part of each row that shows it, 0 to 1, shape (n,).
        judge: 0 or 1, same shape.
        cluster: Code of the query of each row, shape (n,).

    Returns:
        None where one of them always says the same.

    Source: Fisher (1922), JRSS 85(1); Boos (1992), On generalized score tests, American Statistician 46(4).
    """
    if len(np.unique(expert)) < 2 or len(np.unique(judge)) < 2:
        return None
    _, codes = np.unique(cluster, return_inverse=True)
    if int(codes.max()) + 1 == len(expert) and not (expert % 1).any():
        return float(stats.fisher_exact(contingency(expert.astype(np.int64), judge, 2)).pvalue)
    sums = np.bincount(codes, (expert - expert.mean()) * (judge - judge.mean()))
    if len(sums) < 2 or not (sums**2).sum():
        return None
    return float(2 * stats.t.sf(abs(sums.sum()) / np.sqrt((sums**2).sum()), len(sums) - 1))


def _of(measured: Mapping[str, Estimate] | None, name: str) -> Estimate:
    assert measured is not None  # what is not rare was measured
    return measured[name]


def _rare(n: int, present: float) -> Estimate | None:
    """The reason why recall and kappa are not measured, or None: cases of both kinds are needed."""
    absent = n - present
    if min(present, absent) >= LEAST:
        return None
    few, word = (present, "show it") if present <= absent else (absent, "do not show it")
    more = f"label about {ceil((LEAST - few) * n / few):,} more" if few else "label more"
    note = f"{few:g} of {plural(n, 'item')} {word}, {LEAST} are needed to measure recall and kappa; {more} like these"
    return Estimate(value=None, note=note, n=n)


def _few_flagged(flagged: int) -> Estimate | None:
    """The reason why precision is not measured, or None."""
    if flagged >= LEAST:
        return None
    said = f"the judge flags {plural(flagged, 'item')}, {LEAST} are needed to measure precision"
    return Estimate(value=None, note=said, n=flagged)


def _mean(name: str, parts: list[GradePairs]) -> Estimate:
    if not parts:
        return Estimate(value=None, note="no mode has it")
    n_clusters = max(part.n_clusters for part in parts)
    weight = 1.0 / len(parts)
    whole = weighted_sum([(weight, _statistic(name, part, n_clusters)) for part in parts])
    return interval(whole).estimate(sum(len(part.judge) for part in parts))


def _statistic(name: str, ratings: GradePairs, n_clusters: int) -> Statistic:
    known = ratings.where(ratings.graded & (ratings.judge != UNSCORED))
    row, expert, weight = parts_of(known.target)
    return table_statistic(
        name, expert, known.judge[row], known.cluster[row], n_grades=2, n_clusters=n_clusters, weight=weight
    )
