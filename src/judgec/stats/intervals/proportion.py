"""A share of few clustered outcomes with an interval that holds at 0 and 1, and exact tests of two shares."""

from dataclasses import dataclass
from typing import Any  # of truth values or numbers

import numpy as np
from numpy.typing import NDArray
from scipy import stats

from judgec.records.estimate import Estimate
from judgec.records.label import FloatArray, IntArray

METHOD = "Clopper-Pearson, adjusted for clusters"


def share(
    outcomes: NDArray[Any], cluster: IntArray, *, weight: FloatArray | None = None, level: float = 0.95
) -> Estimate:
    """The share of ones, with an exact binomial interval whose sample size is deflated by the design effect.

    The design effect is the variance of the share over clusters, relative to independent outcomes; with one outcome a
    cluster it is 1 and the interval is Clopper and Pearson's. An effect below 1 counts as 1: it is chance; so does that
    of outcomes that are all alike, which show none. The effective sample size is also corrected for the few degrees of
    freedom of the variance between clusters.

    Args:
        outcomes: 0 or 1, between them where both share one, shape (n,).
        cluster: Code of the source that each came from, shape (n,).
        weight: The part of an outcome that each is, at most 1, shape (n,); None: all are whole.
        level: Coverage, at least: the interval is conservative.

    Returns:
        Value None with a note when there is no outcome.

    Source: Clopper and Pearson (1934), Biometrika 26(4); Korn and Graubard (1998), Survey Methodology 24(2); Parker et
        al. (2017), National Center for Health Statistics data presentation standards, for outcomes all alike.
    """
    n = len(outcomes)
    if n == 0:
        return Estimate(value=None, note="nothing was judged", level=level, method=METHOD)
    _, codes = np.unique(cluster, return_inverse=True)
    n_clusters = int(codes.max()) + 1
    part = np.ones(n) if weight is None else weight
    value = float(np.average(outcomes, weights=part))
    size = _effective(np.asarray(outcomes, dtype=np.float64), codes, n_clusters, part)
    low, high = clopper_pearson(value * size, size, level=level)
    return Estimate(value=value, low=low, high=high, n=n, n_clusters=n_clusters, level=level, method=METHOD)


def clopper_pearson(successes: float, n: float, *, level: float = 0.95) -> tuple[float, float]:
    """The exact interval of a binomial share; fractional counts interpolate.

    Args:
        successes: 0 to ``n``.
        n: More than 0.
        level: Coverage, at least.
    """
    tail = (1 - level) / 2
    low = 0.0 if successes <= 0 else float(stats.beta.ppf(tail, successes, n - successes + 1))
    high = 1.0 if successes >= n else float(stats.beta.ppf(1 - tail, successes + 1, n - successes))
    return low, high


def _effective(outcomes: FloatArray, codes: IntArray, n_clusters: int, part: FloatArray) -> float:
    """Outcomes that independent sampling would have needed for this precision."""
    n = float(part.sum())
    p = float(np.average(outcomes, weights=part))
    if n_clusters == len(outcomes):
        return n
    if n_clusters < 2:
        return 1.0  # one source: one outcome's worth, as nothing is known of others
    # The variance is estimated from few clusters: Korn and Graubard's ratio of t quantiles.
    few = float(stats.t.ppf(0.975, len(outcomes) - 1) / stats.t.ppf(0.975, n_clusters - 1)) ** 2
    residual = np.bincount(codes, weights=part * (outcomes - p), minlength=n_clusters)
    variance = n_clusters / (n_clusters - 1) * float((residual**2).sum()) / n**2
    # No spread was seen (all outcomes alike): no effect. So a failure more can never lower the upper bound at 0.
    size = min(p * (1 - p) / variance, float(n)) if variance > 0 else float(n)
    return max(1.0, min(size * few, float(n)))


@dataclass(frozen=True, slots=True)
class McNemar:
    """Two systems on the same questions.

    Args:
        a_only: Questions that only the first failed.
        b_only: Questions that only the second failed.
        p: Exact two-sided p-value of equal failure rates; 1 without a discordant question.
        smallest_p: The smallest that so many discordant questions can give.
        n: Questions that both were judged on.
    """

    a_only: int
    b_only: int
    p: float
    smallest_p: float
    n: int


def mcnemar(a: IntArray, b: IntArray) -> McNemar:
    """Exact McNemar test of paired outcomes, 1 where a system failed, shapes (n,).

    Raises:
        ValueError: When shapes differ.

    Source: McNemar (1947), Psychometrika 12(2); the exact version is the sign test of the discordant pairs.
    """
    if a.shape != b.shape:
        raise ValueError(f"shapes {a.shape} and {b.shape}; paired outcomes have one shape.")
    a_only, b_only = int(((a == 1) & (b == 0)).sum()), int(((a == 0) & (b == 1)).sum())
    discordant = a_only + b_only
    p = float(stats.binomtest(a_only, discordant).pvalue) if discordant else 1.0
    return McNemar(a_only, b_only, p, 2.0 ** (1 - discordant) if discordant else 1.0, len(a))
