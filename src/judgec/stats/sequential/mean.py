"""Confidence sequence of a mean: an interval that holds at every look, whenever one stops.

For values in 0 to 1 whose means m_1, m_2, ... may change, and may depend on what came before,

    exp(s S_n - sum log(1 - m_i + m_i e^s))

is at most a test martingale for every tilt s, because e^(s x) <= 1 - x + x e^s there. As the logarithm is concave,
sum log(1 - m_i + m_i e^s) <= n log(1 - m + m e^s) for the mean m of all m_i: with n log(...) it is smaller still. A
mixture over tilts is one, too, and by Ville's inequality it ever exceeds 1 / alpha with a probability of at most alpha.
The limits are where the mixtures over positive and over negative tilts reach 2 / alpha.
Source: Howard, Ramdas, McAuliffe and Sekhon (2020), Time-uniform Chernoff bounds via nonnegative supermartingales,
Probability Surveys 17; Ville (1939).
"""

import numpy as np

from judgec.records.label import FloatArray

TILTS = np.geomspace(0.004, 8.0, 48)  # the best one for n values is about sqrt(2 log(1 / alpha) / (n variance))
STEPS = 40  # of a bisection: 1e-12
STAGES = 10  # a sequence begins every tenth of a window


def sequence_limits(total: float, n: int, alpha: float) -> tuple[float, float]:
    """Limits of the mean of the means of n values.

    Args:
        total: Sum of the values, each in 0 to 1.
        n: How many there are.
        alpha: Chance that the limits are wrong at any n.
    """
    if not n:
        return 0.0, 1.0
    return _lower(total, n, alpha / 2), 1.0 - _lower(n - total, n, alpha / 2)


def evidence_above(mean: float, total: FloatArray, n: FloatArray) -> FloatArray:
    """Log of the mixture that speaks against a mean this low, after n values; any shape."""
    terms = TILTS * total[..., None] - n[..., None] * np.log1p(mean * np.expm1(TILTS))
    most = terms.max(axis=-1)
    found: FloatArray = most + np.log(np.exp(terms - most[..., None]).mean(axis=-1))
    return found


def _lower(total: float, n: int, alpha: float) -> float:
    """The least mean that the values do not speak against."""
    low, high = 0.0, total / n
    sums, counts = np.array(total), np.array(float(n))
    for _ in range(STEPS):
        middle = (low + high) / 2
        if evidence_above(middle, sums, counts) > -np.log(alpha):
            low = middle
        else:
            high = middle
    return low


def stage_alpha(stage: int, alpha: float) -> float:
    """The part of an error probability that the stage-th sequence has, from 1: all of them together have it all."""
    return alpha / (stage * (stage + 1))


def stage_starts(n: int, window: int) -> list[int]:
    """After how many values each sequence begins that has begun by the n-th value."""
    return list(range(0, max(n, 1), max(window // STAGES, 1)))


def rolling_limits(values: FloatArray, window: int, alpha: float, since: int = 0) -> tuple[int, float, float]:
    """Limits of the mean of the latest values, of which at most ``window`` are used; they hold at every look.

    Args:
        values: In 0 to 1, in the order in which they came.
        window: Most values that the interval is about.
        alpha: Chance that any limits of any look are wrong.
        since: Values before it are not used.

    Returns:
        Where the values begin that the limits are about, and the limits.
    """
    n, step = len(values), max(window // STAGES, 1)
    stage = -(-max(n - window, min(since, n)) // step)
    start = min(stage * step, n)
    low, high = sequence_limits(float(values[start:].sum()), n - start, stage_alpha(stage + 1, alpha))
    return start, low, high
