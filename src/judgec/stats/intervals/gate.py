"""Defines what a gate says: passed, failed, or not shown; every gate of the project uses these words."""

from collections.abc import Iterable
from typing import Literal

from scipy import stats

from judgec.records.counts import plural
from judgec.records.estimate import Estimate

GateVerdict = Literal["passed", "failed", "not shown"]
"""``passed``: what was demanded is shown; ``failed``: the contrary is; ``not shown``: neither. Only the first opens."""

PLUS = 2.0  # queries won, and lost, that are added: Agresti and Coull (1998), The American Statistician 52(2)
WORST_FIRST: tuple[GateVerdict, ...] = ("failed", "not shown", "passed")


def announced(verdict: GateVerdict, sentence: str) -> str:
    """The sentence after the verdict in capitals, so that nobody overlooks it in a log: ``GATE NOT SHOWN: ...``."""
    return f"GATE {verdict.upper()}: {sentence}"


def worst(verdicts: Iterable[GateVerdict]) -> GateVerdict:
    """That of several demands of one gate; a gate without a demand has passed."""
    return min(verdicts, key=WORST_FIRST.index, default="passed")


def verdict_of(estimate: Estimate, least: float) -> GateVerdict:
    """Decides whether an estimate is shown to be at least ``least``.

    A number without an interval shows nothing.
    """
    if estimate.low is not None and estimate.low >= least:
        return "passed"
    return "failed" if estimate.high is not None and estimate.high < least else "not shown"


def with_unseen(difference: Estimate) -> Estimate:
    """A difference of two judges, with an interval where they never differed.

    Judges that gave the same verdicts on a few queries may differ on the next one; resamples of these queries cannot
    know. The interval is then what two more queries won and two more lost would leave: 0 +- t 2 / (n + 4).

    Args:
        difference: Of a statistic between -1 and 1, with its interval; one with a width stays as it is.
    """
    n = difference.n_clusters
    if difference.value is None or difference.low is None or difference.low != difference.high or n < 2:
        return difference
    half = float(stats.t.isf((1.0 - difference.level) / 2.0, n - 1)) * (2.0 * PLUS) ** 0.5 / (n + 2.0 * PLUS)
    limits = {"low": max(-1.0, difference.value - half), "high": min(1.0, difference.value + half)}
    return difference.model_copy(update={**limits, "note": f"no difference seen on {plural(n, 'query')}"})
