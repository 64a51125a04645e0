"""Whether a compiled judge becomes the champion: only when the test split says that it is better."""

from collections.abc import Mapping
from dataclasses import dataclass, replace

from judgec.agreement.difference import differences
from judgec.agreement.measure import Resampling
from judgec.agreement.render import show
from judgec.records.estimate import Estimate
from judgec.records.judgment import UNSCORED
from judgec.records.ratings import Ratings
from judgec.stats.agreement.objective import Objective
from judgec.stats.intervals.bootstrap import Interval, detectable_difference, difference_interval
from judgec.stats.intervals.significance import level_for_look

MIN_TEST_QUERIES = 10  # fewer: an interval over them means little


@dataclass(frozen=True, slots=True)
class Decision:
    """What the test split said.

    Args:
        promoted: Whether the judge becomes the champion.
        reason: Why, or why not, in a sentence for people.
        rival: What it was compared with: ``champion``, or the best of the baselines.
        difference: Of the objective, at the level that this look may spend.
        detectable: The smallest difference that this test set would have shown (80 % power), or None.
        by_statistic: The paired difference of every statistic at the same level.
        look: How many versions were tested on this split, this one included.
    """

    promoted: bool
    reason: str
    rival: str
    difference: Estimate
    detectable: float | None
    by_statistic: Mapping[str, Estimate]
    look: int


def decide(
    compiled: Ratings,
    rivals: Mapping[str, Ratings],
    objective: Objective,
    resampling: Resampling,
    *,
    look: int,
    majority: Ratings | None = None,
    nominal: bool = False,
    refusal: str = "",
) -> Decision:
    """Compare the compiled judge with the best of its rivals.

    Args:
        compiled: Its ratings of the test items.
        rivals: Those of the champion alone, or of the baselines where there is no champion.
        objective: What was maximised.
        resampling: How intervals are made; the level is that of this look.
        look: How many versions were tested on this split, this one included: the k-th look spends
            .05 / (k (k + 1)) of the error level, so that all looks together spend at most .05.
        majority: Those of the most frequent grade: a judge that is not shown to beat it is called so, whoever its
            rival is.
        nominal: The grades are classes without an order.
        refusal: Why it must not be promoted whatever the numbers say, or empty.
    """
    values = {name: objective.value(ratings) for name, ratings in rivals.items()}
    rival = max(values, key=lambda name: values[name])
    how = replace(resampling, level=1 - level_for_look(look))
    found = _difference(compiled, rivals[rival], objective, how)
    if not refusal and found.n_clusters < MIN_TEST_QUERIES:
        refusal = f"never promoted: {found.n_clusters} test queries, {MIN_TEST_QUERIES} are needed"
    difference = found.estimate(len(compiled.expert))
    detectable = detectable_difference(found)
    better = _better(found)
    measured = (
        f"{objective.name} {_signed(difference)} against {rival.replace('_', ' ')} "
        f"({how.level:.1%} interval, look {look} at this test split)"
    )
    if unscored := int(((compiled.judge == UNSCORED) & (compiled.judge_accept == UNSCORED)).sum()):
        measured += f", {unscored} of {len(compiled.judge)} unscored counting against it"
    reason = f"{refusal} ({measured})" if refusal else _verdict(measured, difference, detectable, better=better)
    if not better and majority is not None and rival != "majority":
        over = _difference(compiled, majority, objective, how)
        if not _better(over):
            reason += f"; no better than the majority grade ({objective.name} {_signed(over.estimate(0))})"
    return Decision(
        promoted=better and not refusal,
        reason=reason,
        rival=rival,
        difference=difference,
        detectable=detectable,
        by_statistic=differences(compiled, rivals[rival], how, nominal=nominal),
        look=look,
    )


def _verdict(measured: str, difference: Estimate, detectable: float | None, *, better: bool) -> str:
    if better:
        return f"better: {measured}"
    if difference.note:
        return f"not shown to be better: {measured}; {difference.note}"
    shown = "" if detectable is None else f"; this test set could have shown {detectable:.2f}"
    return f"not shown to be better: {measured}{shown}"


def _difference(one: Ratings, other: Ratings, objective: Objective, how: Resampling) -> Interval:
    return difference_interval(
        objective.statistic(one),
        objective.statistic(other),
        level=how.level,
        resamples=how.resamples,
        seed=how.seed,
    )


def _better(difference: Interval) -> bool:
    return bool(difference.value and difference.value > 0 and difference.low is not None and difference.low >= 0)


def _signed(difference: Estimate) -> str:
    sign = "+" if (difference.value or 0) > 0 else ""
    return sign + show(difference)
