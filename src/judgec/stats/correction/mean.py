"""Means of shares and of changes, with intervals that few or no changes do not make too short."""

import numpy as np
from scipy import stats

from judgec.records.estimate import Estimate
from judgec.records.label import FloatArray, IntArray

MIN_CLUSTERS = 3
PLUS = 2.0  # successes, and failures, added to a share: Agresti and Coull (1998), The American Statistician 52(2)
METHOD = "mean, clustered by query, Student's t"


def clustered_mean(
    values: FloatArray,
    cluster: IntArray,
    *,
    step: float = 1.0,
    level: float = 0.95,
    draws: int | None = None,
    times: float = 1.0,
) -> Estimate:
    """Mean over items of values between -1 and 1, most of them 0 or another round number; its interval over clusters.

    Where few values differ from 0 the variance that was seen is too small; the interval holds what adding two
    clusters that differ, and two that do not, would add.

    Args:
        values: Shape (n_items,), no NaN.
        cluster: Code of each item's query, same shape.
        step: The smallest value other than 0.
        level: Coverage of the interval.
        draws: Clusters that the interval rests on, where these are fewer than all.
        times: Imagine so many times as many items, of as many more clusters, with the same mean and variance: for
            how many would be needed.

    Returns:
        Without items no value; below three clusters no interval.
    """
    n, clusters = len(values), len(np.unique(cluster))
    plain = Estimate(value=None, n=n, n_clusters=clusters, level=level, method=METHOD)
    if not n:
        return plain.model_copy(update={"note": "no item to measure it on"})
    mean = float(values.mean())
    resting = int((clusters if draws is None else min(draws, clusters)) * times)
    if resting < MIN_CLUSTERS:
        return plain.model_copy(update={"value": mean, "note": f"{resting} queries: no interval"})
    parts = cluster_sums((values - mean) / n, cluster)
    changed, imagined = float((values != 0).mean()), clusters * times
    seen = float(parts @ parts) / times * imagined / (imagined - 1)
    variance = seen + step**2 * unseen_variance(changed, imagined)
    half = float(stats.t.isf((1 - level) / 2, resting - 1)) * float(np.sqrt(variance))
    return plain.model_copy(update={"value": mean, "low": max(-1.0, mean - half), "high": min(1.0, mean + half)})


def cluster_sums(parts: FloatArray, cluster: IntArray) -> FloatArray:
    """Sum of ``parts`` over each cluster, in the order of the codes."""
    codes = np.unique(cluster, return_inverse=True)[1]
    return np.bincount(codes, weights=parts).astype(np.float64)


def unseen_variance(share: float, n: float) -> float:
    """By how much the variance of a share is larger when two successes and two failures are added; at least 0.

    Args:
        share: As seen, 0-1.
        n: Independent draws behind it.
    """
    padded = (share * n + PLUS) / (n + 2 * PLUS)
    return max(0.0, padded * (1 - padded) / (n + 2 * PLUS) - share * (1 - share) / n)


def within_unit(estimate: Estimate) -> Estimate:
    """The estimate of a share: value and limits cut at 0 and 1."""
    limits = {name: getattr(estimate, name) for name in ("value", "low", "high")}
    cut = {name: min(1.0, max(0.0, limit)) for name, limit in limits.items() if limit is not None}
    return estimate.model_copy(update=cut)
