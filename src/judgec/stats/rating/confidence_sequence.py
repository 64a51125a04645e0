"""Intervals and tests that stay valid however often one looks, and whenever one stops.

Source: Robbins (1970), Annals of Mathematical Statistics 41 (the normal mixture); Waudby-Smith, Arbour,
Sinha, Kennedy & Ramdas (2024), Annals of Statistics 52(6) (with estimated variances, asymptotically);
Waudby-Smith & Ramdas (2024), JRSS B 86(1) (betting on bounded means, for any sample size).
"""

import math

import numpy as np

from judgec.records.label import FloatArray

BETS = np.linspace(0.05, 0.95, 19)  # stakes mixed evenly; any set of them is valid


def anytime_radius(se: FloatArray, alpha: float, tightest_se: float) -> FloatArray:
    """Half-width around an estimate that covers at all times at once with probability 1 - ``alpha``.

    Args:
        se: Standard error of the estimate so far, any shape; infinite gives infinite.
        alpha: Chance of ever missing the truth.
        tightest_se: Where the radius is the smallest multiple of ``se``; it moves efficiency, not validity.

    Returns: se * sqrt((1 + r) * log((1 + 1/r) / alpha^2)), where r is the mixture's precision over 1 / se^2.
    """
    # The multiple is smallest where 1/r solves 1/r = log((1 + 1/r) / alpha^2): three rounds are plenty.
    best = 2.0 * math.log(1.0 / alpha)
    for _ in range(3):
        best = math.log((1.0 + best) / alpha**2)
    ratio = (np.asarray(se) / tightest_se) ** 2 / best
    with np.errstate(divide="ignore", invalid="ignore"):
        radius = se * np.sqrt((1.0 + ratio) * np.log((1.0 + 1.0 / ratio) / alpha**2))
    return np.where(np.isfinite(se) & (ratio > 0), radius, np.where(ratio > 0, np.inf, 0.0))


def order_e_value(score: FloatArray) -> float:
    """Evidence that the mean is above one half; 1 without data.

    A test martingale: were the mean never above one half, it would ever reach x with probability at most 1/x,
    for any number of observations and any dependence on the past.

    Args:
        score: Values in [0, 1] in the order they came, one a query.
    """
    wealth = np.log1p(BETS[:, None] * (2.0 * np.asarray(score, dtype=np.float64) - 1.0)).sum(axis=1)
    return float(np.exp(np.minimum(wealth, 700.0)).mean())
