"""Turns changed verdicts into a finding: effect, interval over queries, pass / not shown / fail, a plain sentence."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from judgec.records.audit import RANK, Finding, Status
from judgec.records.estimate import Estimate
from judgec.records.label import FloatArray, IntArray
from judgec.report.numbers import percent
from judgec.stats.correction.mean import clustered_mean, within_unit

LEVEL = 0.95
MOST_TIMES = 1000  # as many items as were audited; beyond that no number is named
SETTLED = frozenset({"pass", "fail"})


@dataclass(frozen=True, slots=True)
class Effect:
    """One number of an audit, before it is judged.

    Args:
        name: The part, for example ``padded``; empty when the audit has only one.
        says: The plain sentence with ``{effect}`` in it.
        values: One an item, in -1..1; NaN where the judge gave no verdict on the original or the changed item.
        cluster: Code of each item's query.
        step: The smallest value that a changed verdict can have.
        two_sided: Either sign is a fault.
        share: The values are 0 or 1, so that the interval ends at 0.
        detail: Too small a part of the audit to leave it uncertain: it only counts when it fails.
        draws: Queries that the interval rests on, where these are fewer than all: of a difference, the smaller side's.
    """

    name: str
    says: str
    values: FloatArray
    cluster: IntArray
    step: float = 1.0
    two_sided: bool = False
    share: bool = False
    detail: bool = False
    draws: int | None = None


def status_of(effect: Estimate, bound: float, *, two_sided: bool = False) -> Status:
    """Status of an effect against its bound.

    ``pass`` where the whole interval is within the bound, ``fail`` where all of it is beyond. A judge whose true effect
    is at the bound fails, or passes, in at most half of (1 - level) of all audits.

    Args:
        effect: With its interval.
        bound: What the effect may be.
        two_sided: Either sign is a fault.
    """
    if effect.value is None:
        return "skipped"
    if effect.low is None or effect.high is None:
        return "not shown"
    beyond = max(effect.low, -effect.high) if two_sided else effect.low
    reach = max(effect.high, -effect.low) if two_sided else effect.high
    if beyond > bound:
        return "fail"
    return "pass" if reach <= bound else "not shown"


def more_items(measure: Effect, bound: float, level: float) -> int | None:
    """Number of further items, like those that were audited, that would settle what is not shown.

    The mean and the variance over queries are taken to stay as they were seen. Where the effect is at the bound itself,
    no number is enough.

    Args:
        measure: What was measured.
        bound: What the effect may be.
        level: Coverage of the interval.

    Returns:
        None where ``MOST_TIMES`` as many would not settle it.
    """
    known = ~np.isnan(measure.values)
    values, cluster, n = measure.values[known], measure.cluster[known], int(known.sum())

    def settled(more: int) -> bool:
        return _status(measure, _effect(measure, values, cluster, level, times=(n + more) / n), bound) in SETTLED

    few, many = 0, MOST_TIMES * n
    if not n or not settled(many):
        return None
    while few + 1 < many:
        middle = (few + many) // 2
        few, many = (few, middle) if settled(middle) else (middle, many)
    return many


def _effect(measure: Effect, values: FloatArray, cluster: IntArray, level: float, times: float = 1.0) -> Estimate:
    found = clustered_mean(values, cluster, step=measure.step, level=level, draws=measure.draws, times=times)
    return within_unit(found) if measure.share else found


def _status(measure: Effect, effect: Estimate, bound: float) -> Status:
    return status_of(effect, bound, two_sided=measure.two_sided)


def finding_of(audit: str, measures: Sequence[Effect], bound: float) -> Finding:
    """The finding of an audit; of several measures the worst one counts, each at its share of the error level.

    Args:
        audit: Its name.
        measures: At least one that is no detail.
        bound: Of each measure.
    """
    level = 1 - (1 - LEVEL) / len(measures)  # Bonferroni
    effects: dict[str, Estimate] = {}
    statuses: dict[str, Status] = {}
    for measure in measures:
        known = ~np.isnan(measure.values)
        found = _effect(measure, measure.values[known], measure.cluster[known], level)
        effects[measure.name] = found
        statuses[measure.name] = _status(measure, found, bound)
    counting = [one for one in measures if not one.detail or statuses[one.name] == "fail"]
    worst = min(counting, key=lambda one: (RANK.index(statuses[one.name]), -_size(effects[one.name], one)))
    effect, status = effects[worst.name], statuses[worst.name]
    more = [
        more_items(one, bound, level)
        for one in measures
        if statuses[one.name] == "not shown" and (not one.detail or one is worst)
    ]
    needed = None if status != "not shown" or None in more else max(number for number in more if number)
    return Finding(
        audit=audit,
        status=status,
        effect=effect,
        bound=bound,
        two_sided=worst.two_sided,
        sentence=_sentence(worst, effect, status, bound, needed),
        part=worst.name,
        parts=effects if len(measures) > 1 else {},
        unscored=int(sum(np.isnan(measure.values).sum() for measure in measures)),
        more_items=needed,
    )


def skipped(audit: str, bound: float, why: str) -> Finding:
    """The finding of an audit that does not apply."""
    nothing = Estimate(value=None, note=why)
    return Finding(audit=audit, status="skipped", effect=nothing, bound=bound, sentence=f"Skipped: {why}.")


def codes_of(names: Sequence[str]) -> IntArray:
    """A code for each name, in order of appearance."""
    code: Mapping[str, int] = {name: number for number, name in enumerate(dict.fromkeys(names))}
    return np.array([code[name] for name in names], dtype=np.int64)


def _size(effect: Estimate, measure: Effect) -> float:
    value = effect.value or 0.0
    return abs(value) if measure.two_sided else value


def bound_shown(bound: float, *, two_sided: bool) -> str:
    """``±5 %``, or ``10 %`` where only a rise is a fault."""
    return f"{'±' if two_sided else ''}{percent(bound)}"


def _sentence(measure: Effect, effect: Estimate, status: Status, bound: float, more: int | None) -> str:
    if effect.value is None:
        return f"Skipped: {effect.note}."
    sign = "+" if measure.two_sided else ""
    shown = f"{100 * effect.value:{sign}.1f} %"
    if effect.low is not None and effect.high is not None:
        shown += f" [{100 * effect.low:{sign}.1f}, {100 * effect.high:{sign}.1f}]"
    allowed = bound_shown(bound, two_sided=measure.two_sided)
    if status == "pass":
        verdict = f"within the bound of {allowed}"
        if not measure.two_sided and effect.low is not None and effect.low < -bound:
            verdict += " (only a rise counts)"
    elif status == "fail":
        verdict = f"beyond the bound of {allowed}"
    else:
        enough = (
            "too close to the bound to say how many items would settle it"
            if more is None
            else f"about {more} more items of other queries, like these {effect.n}, would settle it"
        )
        verdict = f"not shown to be within the bound of {allowed}; {enough}"
    return f"{measure.says.format(effect=shown)}: {verdict}."
