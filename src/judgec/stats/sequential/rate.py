"""The rate at which experts would accept, from a judge's rate and its two error rates, each with limits.

    rate = (raw - wrongly) / (rightly - wrongly)

Source: Rogan and Gladen (1978), American Journal of Epidemiology 107(1); the limits are those of a box: they hold
whenever the limits of all three rates do.
"""

from dataclasses import dataclass

import numpy as np

from judgec.records.estimate import Estimate
from judgec.records.label import FloatArray, IntArray
from judgec.stats.intervals.proportion import share
from judgec.stats.sequential.mean import rolling_limits, stage_alpha

ALPHA = 0.05  # chance that any corrected interval of any look is wrong; drift has as much of its own
MIN_OF_EACH = 5  # labelled items that experts accept, and that they reject
OF_RAW, OF_ERRORS = 0.6, 0.2  # its parts: of the judge's rate, and of each error rate
METHOD = "confidence sequence, Rogan-Gladen over a box"
RAW_METHOD = "confidence sequence, mixture over tilts"


@dataclass(frozen=True, slots=True)
class ErrorRates:
    """Rates at which a judge accepts what experts accept, and what they reject.

    Args:
        rightly: Of accepted items.
        wrongly: Of rejected items.
        refused: Why they correct nothing, or empty.
    """

    rightly: Estimate
    wrongly: Estimate
    refused: str


def error_rates(judge: FloatArray, expert: FloatArray, cluster: IntArray, *, epoch: int = 1) -> ErrorRates:
    """The error rates on labelled items, with limits.

    Args:
        judge: 1 accept, 0 reject, NaN without a verdict, shape (n_items,).
        expert: The same of experts, no NaN.
        cluster: Code of each item's query.
        epoch: How often they were measured anew, from 1: all of their limits hold together.
    """
    level = 1 - stage_alpha(epoch, ALPHA * OF_ERRORS)
    there = ~np.isnan(judge)
    sides = [there & (expert == side) for side in (1, 0)]
    rates = [share(judge[side].astype(np.int64), cluster[side], level=level) for side in sides]
    few = [int(side.sum()) for side in sides]
    if min(few) < MIN_OF_EACH:
        refused = f"the labels hold {few[0]} accepted and {few[1]} rejected items; {MIN_OF_EACH} of each are needed"
    elif _value(rates[0].low) <= _value(rates[1].high):
        refused = (
            f"on its labels the judge accepts {100 * _value(rates[0].value):.0f} % of what experts accept and "
            f"{100 * _value(rates[1].value):.0f} % of what they reject; it is not shown to tell them apart"
        )
    else:
        refused = ""
    return ErrorRates(rates[0], rates[1], refused)


def rolling_rates(accept: FloatArray, window: int, errors: ErrorRates, *, since: int = 0) -> tuple[Estimate, Estimate]:
    """The judge's rate over its latest verdicts, and the corrected one, whose limits hold at every look.

    Args:
        accept: 1 or 0, in the order in which they came; no NaN.
        window: Most verdicts that they are about.
        errors: The judge's.
        since: Verdicts before it are not used.

    Returns:
        Both without a value where there is no verdict; the corrected one also where it is refused.
    """
    start, low, high = rolling_limits(accept, window, ALPHA * OF_RAW, since)
    n = len(accept) - start
    if not n:
        nothing = Estimate(value=None, note="nothing was judged", level=1 - ALPHA, method=RAW_METHOD)
        return nothing, nothing
    value = float(accept[start:].mean())
    raw = Estimate(value=value, low=low, high=high, n=n, n_clusters=n, level=1 - ALPHA, method=RAW_METHOD)
    blank = Estimate(value=None, note=errors.refused, n=n, n_clusters=n, level=1 - ALPHA, method=METHOD)
    if errors.refused:
        return raw, blank
    rightly, wrongly = errors.rightly, errors.wrongly
    least = _corrected(low, _value(rightly.high), _value(wrongly.high))
    most = _corrected(high, _value(rightly.low), _value(wrongly.low))
    if least > 1 or most < 0:
        return raw, blank.model_copy(update={"note": _outside(value, rightly, wrongly)})
    found = _corrected(value, _value(rightly.value), _value(wrongly.value))
    limits = {"value": found, "low": least, "high": most}
    within = {name: min(1.0, max(0.0, limit)) for name, limit in limits.items()}
    return raw, blank.model_copy(update={**within, "note": ""})


def _corrected(raw: float, rightly: float, wrongly: float) -> float:
    return (raw - wrongly) / (rightly - wrongly)


def _outside(value: float, rightly: Estimate, wrongly: Estimate) -> str:
    return (
        f"the judge accepts {100 * value:.1f} % of the traces; with its error rates only "
        f"{100 * _value(wrongly.value):.1f} % to {100 * _value(rightly.value):.1f} % can come about"
    )


def _value(limit: float | None) -> float:
    return float("nan") if limit is None else limit
