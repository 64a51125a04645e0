"""Compares two judges on the items that both were asked about, paired."""

from judgec.compile.settings import CompileSettings
from judgec.raters.recorded import MIN_COMMON
from judgec.records.estimate import Estimate
from judgec.records.ratings import GradePairs, on_both
from judgec.stats.agreement.objective import Objective
from judgec.stats.intervals.jackknife import difference_interval
from judgec.stats.intervals.paired_gain import PairedGain, paired_gain

LEAST = MIN_COMMON // 2  # labels in common: two judges with fewer are not compared


def in_common(one: GradePairs, other: GradePairs) -> int:
    """Number of labels of items that both were asked about."""
    return int((one.labelled & other.labelled).sum())


def gain(one: GradePairs, other: GradePairs, objective: Objective) -> PairedGain:
    """By how much ``one`` is better, and the standard error; of no item in common it is 0, and not clear."""
    one, other = on_both(one, other)
    if not one.labelled.any():
        return PairedGain(0.0, None)
    return paired_gain(objective.statistic(one), objective.statistic(other))


def difference(one: GradePairs, other: GradePairs, objective: Objective, settings: CompileSettings) -> Estimate:
    """The objective of ``one`` minus that of ``other``, with its interval; ``n`` labels are of both."""
    one, other = on_both(one, other)
    found = difference_interval(
        objective.statistic(one), objective.statistic(other), resamples=settings.resamples, seed=settings.seed
    )
    return found.estimate(int(one.labelled.sum()))
