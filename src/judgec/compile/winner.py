"""Compares candidates on the items that both were asked about, and says which one ships: the one rule of a compile."""

from collections.abc import Mapping

from judgec.raters.recorded import MIN_COMMON
from judgec.records.estimate import Estimate
from judgec.records.ratings import GradePairs, on_both
from judgec.stats.agreement.objective import Objective
from judgec.stats.intervals.jackknife import difference_interval, interval
from judgec.stats.intervals.paired_gain import PairedGain, paired_gain

LEAST = MIN_COMMON // 2  # labels in common: two judges with fewer are not compared
MARGIN = 0.02  # of the objective, that a cheaper judge may be worse


def in_common(one: GradePairs, other: GradePairs) -> int:
    """Number of labels of items that both were asked about."""
    return int((one.labelled & other.labelled).sum())


def gain(one: GradePairs, other: GradePairs, objective: Objective) -> PairedGain:
    """By how much ``one`` is better, and the standard error; of no item in common it is 0, and not clear."""
    one, other = on_both(one, other)
    if not one.labelled.any():
        return PairedGain(0.0, None)
    return paired_gain(objective.statistic(one), objective.statistic(other))


def lead(one: GradePairs, other: GradePairs, objective: Objective) -> float:
    """By how much ``one`` is ahead on the items of both; a statistic that is undefined counts as 0."""
    one, other = on_both(one, other)
    return objective.value(one) - objective.value(other)


def worth(rated: GradePairs, objective: Objective) -> Estimate:
    """The objective of a judge with its interval; ``n`` are its labels."""
    return interval(objective.statistic(rated)).estimate(int(rated.labelled.sum()))


def difference(one: GradePairs, other: GradePairs, objective: Objective) -> Estimate:
    """The objective of ``one`` minus that of ``other``, with its interval; ``n`` labels are of both."""
    one, other = on_both(one, other)
    return difference_interval(objective.statistic(one), objective.statistic(other)).estimate(int(one.labelled.sum()))


def incumbent(raw: Mapping[str, GradePairs], beside: str, objective: Objective) -> str:
    """The candidate that is best as it is; of equals the first by name.

    Args:
        raw: What each says before it is calibrated.
        beside: The candidate that all are compared with, each on the items of both.
        objective: Decides.
    """
    leads = {name: lead(one, raw[beside], objective) for name, one in raw.items()}
    return min(leads, key=lambda name: (-leads[name], name))


def winner(rated: Mapping[str, GradePairs], incumbent: str, objective: Objective) -> str:
    """The incumbent, or whoever is clearly better: a paired gain above one standard error on the items of both.

    Of several the largest gain wins, of equal gains the first name.

    Args:
        rated: The grades of each, calibrated, out of fold.
        incumbent: The name of the one that has to be beaten.
        objective: Decides.
    """
    others = (name for name in rated if name != incumbent and in_common(rated[name], rated[incumbent]) >= LEAST)
    return clearest({name: gain(rated[name], rated[incumbent], objective) for name in others}, incumbent)


def clearest(gains: Mapping[str, PairedGain], incumbent: str) -> str:
    """The incumbent, or whoever gains most over it of those that clearly do; of equal gains the first name."""
    clear = {name: gain.value for name, gain in sorted(gains.items()) if gain.clear}
    return max(clear, key=lambda name: clear[name], default=incumbent)


def hardly_worse(gain: PairedGain) -> bool:
    """True where a cheaper judge is shown to lose less than ``MARGIN``, by one standard error."""
    return gain.error is not None and gain.value - gain.error > -MARGIN
