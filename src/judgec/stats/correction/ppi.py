"""PPI++: the mean of what experts would say of all items, from many judged items and few labelled ones.

    mean = mean(expert) + w * (mean(judge, the other items) - mean(judge, labelled items))

For any w it is unbiased when the labelled items are a random sample, however wrong the judge is. w is chosen
to make it as precise as the judge allows (power tuning); it is 0 for a useless judge, so that the estimate is
never worse than the labels alone.
Source: Angelopoulos, Duchi and Zrnic (2023), PPI++: Efficient Prediction-Powered Inference, arXiv:2311.01453;
the variances here are clustered by query.
"""

from dataclasses import dataclass

import numpy as np
from scipy import stats

from judgec.records.counts import plural
from judgec.records.estimate import Estimate
from judgec.records.label import FloatArray, IntArray

MIN_LABELLED = 2
MIN_CLUSTERS = 3
METHOD = "PPI++, clustered by query"
PLUS = 2.0  # successes, and failures, added to a share: Agresti and Coull (1998), The American Statistician 52(2)


@dataclass(frozen=True, slots=True)
class PPIMean:
    """A corrected mean.

    Args:
        estimate: The mean with its interval; ``n`` is the number of labelled items.
        weight: How far the judge was trusted, 0-1; NaN without an estimate.
    """

    estimate: Estimate
    weight: float


def ppi_mean(
    judge: FloatArray, expert: FloatArray, cluster: IntArray, *, level: float = 0.95, shares: bool = False
) -> PPIMean:
    """The experts' mean over all items, corrected, with an interval.

    The interval is Student's t with as many degrees of freedom as there are labelled clusters, less one for the mean
    and one for the weight. A judge that was right about every label may still be wrong about others; with ``shares``
    the variance holds what the rule "add two agreements and two disagreements" says of that, and the interval ends at
    0 and 1.

    Args:
        judge: The judge's value of every item, shape (n_items,); no NaN.
        expert: The experts' value, same shape, NaN where unlabelled; the labelled are a random sample.
        cluster: Code of each item's query, same shape; items of one query are not independent.
        level: Coverage of the interval.
        shares: Both values are within 0 and 1, such as accepts or points of a game.

    Returns:
        Below two labelled items the value is None; below three labelled clusters there is no interval.

    Raises:
        ValueError: When shapes differ, or ``judge`` holds NaN.
    """
    if not judge.shape == expert.shape == cluster.shape or judge.ndim != 1 or np.isnan(judge).any():
        raise ValueError(
            f"ppi_mean: shapes {judge.shape}, {expert.shape}, {cluster.shape} and {int(np.isnan(judge).sum())} NaN "
            "of the judge; three equal shapes (n_items,) and no NaN are needed."
        )
    known = ~np.isnan(expert)
    n, rest = int(known.sum()), int((~known).sum())
    if n < MIN_LABELLED:
        note = f"{plural(n, 'labelled item')}; at least {MIN_LABELLED} are needed"
        return PPIMean(Estimate(value=None, note=note, n=n, level=level, method=METHOD), float("nan"))
    truth = np.where(known, expert, 0.0)
    mean_expert = float(expert[known].mean())
    judge_known = float(judge[known].mean())
    judge_rest = float(judge[~known].mean()) if rest else judge_known
    # What each cluster adds to the errors of mean(expert) and of the difference of the judge's means.
    expert_part = cluster_sums(np.where(known, truth - mean_expert, 0.0) / n, cluster)
    difference = np.where(known, -(judge - judge_known) / n, (judge - judge_rest) / max(rest, 1))
    judge_part = cluster_sums(difference, cluster)
    power = float(judge_part @ judge_part)
    weight = float(np.clip(-(expert_part @ judge_part) / power, 0.0, 1.0)) if power > 0 and rest else 0.0
    value = mean_expert + weight * (judge_rest - judge_known)
    clusters = len(np.unique(cluster[known]))
    parts = expert_part + weight * judge_part
    unseen = 0.0
    if shares:
        unseen = (1 - weight) ** 2 * unseen_variance(mean_expert, clusters)
        unseen += weight**2 * unseen_variance(float(np.abs(truth - judge)[known].mean()), clusters)
    tuned = int(weight > 0)  # the weight was fitted to these very labels, which costs a degree of freedom
    estimate = _estimate(value, float(parts @ parts), unseen, n, clusters, level, fitted=1 + tuned)
    return PPIMean(within_unit(estimate) if shares else estimate, weight)


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


def _estimate(
    value: float, seen: float, unseen: float, n: int, clusters: int, level: float, *, fitted: int
) -> Estimate:
    if clusters < MIN_CLUSTERS:
        note = f"{plural(clusters, 'labelled query')}; an interval needs {MIN_CLUSTERS}"
        return Estimate(value=value, note=note, n=n, n_clusters=clusters, level=level, method=METHOD)
    freedom = clusters - fitted
    se = float(np.sqrt(seen * clusters / freedom + unseen))
    half = float(stats.t.isf((1.0 - level) / 2.0, freedom)) * se
    return Estimate(
        value=value, low=value - half, high=value + half, n=n, n_clusters=clusters, level=level, method=METHOD
    )
