"""Writes the sentence on a judge: does it agree with the experts as well as they agree with each other?"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Literal

import numpy as np

from judgec.records.agreement import Agreement
from judgec.records.counts import plural
from judgec.records.estimate import Estimate
from judgec.records.ratings import GradePairs
from judgec.report.numbers import number, show, statistic_name
from judgec.stats.agreement.measure import panel_statistic
from judgec.stats.agreement.objective import parse_objective
from judgec.stats.agreement.registry import KNOWN, statistic_of_objective
from judgec.stats.intervals.jackknife import difference_interval

AS_WELL = 0.1  # how much less than the experts is still "as well": the lower limit must not pass it
HEADLINES = {"balanced_accuracy": "kappa"}  # objectives that no report has

Standing = Literal["better", "as well", "less", "unclear", "alone", "none", "below", "unknown"]


@dataclass(frozen=True, slots=True)
class JudgeVerdict:
    """The value of a judge: its agreement beside the experts' own.

    Args:
        standing: Beside the experts: ``better``, ``as well``, ``less``, ``unclear`` (the test set cannot tell),
            ``alone`` (one annotator), ``none`` (not shown to agree at all), ``below`` (shown to agree less often than
            the most frequent grade), ``unknown`` (undefined).
        statistic: The headline's name.
        sentence: For people.
        detail: The like-for-like comparison, or empty.
    """

    standing: Standing
    statistic: str
    sentence: str
    detail: str


def headline(objective: str, agreement: Agreement) -> str:
    """The statistic that the objective names first; where it is undefined, the first one that is not."""
    term = parse_objective(objective).terms[0][1]
    wanted = HEADLINES.get(term, statistic_of_objective(term))
    known = [name for name in (wanted, *KNOWN) if _value(agreement.estimates.get(name)) is not None]
    return known[0] if known else wanted


def beside_experts(name: str, judge: Sequence[GradePairs], experts: Sequence[GradePairs]) -> Estimate | None:
    """The judge minus the experts, both against the consensus of the other annotators, paired by query.

    Args:
        name: Of ``KNOWN``.
        judge: ``ceiling.judge_panel``.
        experts: ``ceiling.expert_panel`` of the same annotators.

    Returns: None where either is undefined.
    """
    pair = []
    for panel, other in ((judge, experts), (experts, judge)):
        statistic = panel_statistic(name, panel, other)
        if statistic is None or np.isnan(statistic.point()):
            return None
        pair.append(statistic)
    return difference_interval(*pair).estimate(sum(len(ratings.judge) for ratings in judge))


def judge_verdict(
    name: str,
    agreements: Mapping[str, Agreement],
    difference: Estimate | None,
    *,
    statistic: str,
    constructed: bool = False,
    below: str = "",
    above: str = "",
) -> JudgeVerdict:
    """Put the numbers into words.

    The judge is compared with the experts by ``compiled_loo`` and ``ceiling`` alone: both are measured against the
    same consensuses, which the agreement with all experts is not.

    Args:
        name: The judge's, with version.
        agreements: By judge: ``compiled``, ``compiled_loo``, ``ceiling``, ``majority``.
        difference: From ``beside_experts``, or None.
        statistic: The headline.
        constructed: No expert gave the labels.
        below: Where the judge is shown below the most frequent grade, as numbers, or empty.
        above: Which other rows of its table stand above it, as a clause, or empty; such a judge is not called better.
    """
    found = _compared_with_experts(name, agreements, difference, statistic, constructed, below, topped=bool(above))
    return replace(found, sentence=f"{found.sentence.removesuffix('.')}; {above}.") if above else found


def _compared_with_experts(
    name: str,
    agreements: Mapping[str, Agreement],
    difference: Estimate | None,
    statistic: str,
    constructed: bool,
    below: str,
    *,
    topped: bool,
) -> JudgeVerdict:
    who, they = ("the constructed labels", "their annotators") if constructed else ("your experts", "they")
    own = agreements["compiled"].estimates[statistic]
    named = statistic_name(statistic)
    if below:
        sentence = f"{name} agrees with {who} less often than their most frequent grade does: {below}."
        return JudgeVerdict("below", statistic, sentence, "")
    if own.value is None:
        return JudgeVerdict("unknown", statistic, f"How far {name} agrees with {who} is unknown: {own.note}.", "")
    numbers = f"{named} {show(own)}"
    if not _above_chance(statistic, own, agreements["majority"]):
        bar = "0 is chance" if KNOWN[statistic].against_chance else "no more than the most frequent grade"
        return JudgeVerdict("none", statistic, f"{name} is not shown to agree with {who}: {numbers} ({bar}).", "")
    ceiling, loo = (agreements[column].estimates[statistic] for column in ("ceiling", "compiled_loo"))
    if None in (ceiling.value, loo.value) or difference is None or difference.value is None:
        sentence = f"{name} agrees with {who}: {numbers}; how far {they} agree with each other is unknown."
        return JudgeVerdict("alone", statistic, sentence, ceiling.note)
    both = f"{named} {show(loo)} with one annotator left out, the annotators' own {number(ceiling.value)}"
    standing = _standing(difference)
    if standing == "better" and topped:
        standing = "as well"  # which is true, too: no word of praise for a judge that another row of its table beats
    few = plural(difference.n_clusters, "test query is", "test queries are")
    words = {
        "better": f"agrees with {who} better than {they} agree with each other: {both}.",
        "as well": f"agrees with {who} as well as {they} agree with each other: {both}.",
        "less": f"agrees with {who}, but less than {they} agree with each other: {both}.",
        "unclear": f"agrees with {who}; {few} too few to tell whether as well as {they} agree with each other: {both}.",
    }
    detail = (
        f"Like for like, against the consensus of the other annotators on the same items: the judge {show(loo)}, "
        f"the experts {show(ceiling)}, difference {show(difference)}. Against the consensus of all experts: {numbers}."
    )
    return JudgeVerdict(standing, statistic, f"{name} {words[standing]}", detail)


def _standing(difference: Estimate) -> Standing:
    if difference.low is None or difference.high is None:
        return "unclear"
    if difference.low > 0:
        return "better"
    if difference.high < 0:
        return "less"
    return "as well" if difference.low >= -AS_WELL else "unclear"


def _above_chance(statistic: str, own: Estimate, majority: Agreement) -> bool:
    least = own.value if own.low is None else own.low
    bar = 0.0 if KNOWN[statistic].against_chance else _value(majority.estimates[statistic])
    return least is not None and least > (bar or 0.0)


def _value(estimate: Estimate | None) -> float | None:
    return None if estimate is None else estimate.value
