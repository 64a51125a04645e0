"""Resamples of whole clusters, and the spread of a statistic over them."""

from functools import lru_cache

import numpy as np

from judgec.records.label import FloatArray
from judgec.stats.agreement.pair_statistic import MAX_CELLS
from judgec.stats.agreement.statistic import CONTENT_DIGITS, Statistic, moves_in_steps

RESAMPLES = 1000  # of the standard error of a statistic that moves in steps


@lru_cache(maxsize=4)
def resample(n_clusters: int, resamples: int, seed: int) -> FloatArray:
    """Draws clusters, and counts how often each is drawn: the one set of resamples that a whole report shares.

    Args:
        n_clusters: Number of clusters; each draw takes any of them with equal probability.
        resamples: Number of resamples B.
        seed: Same seed, same resamples.

    Returns:
        Multiplicities, shape (B, n_clusters), rows summing to n_clusters; read-only, as it is cached.
    """
    drawn = np.random.default_rng(seed).integers(n_clusters, size=(resamples, n_clusters))
    drawn += n_clusters * np.arange(resamples)[:, None]
    counts = np.bincount(drawn.ravel(), minlength=resamples * n_clusters)
    weights = counts.reshape(resamples, n_clusters).astype(np.float64)
    weights.flags.writeable = False
    return weights


def resample_present(statistic: Statistic, resamples: int, seed: int) -> FloatArray:
    """``resample`` of the clusters that have items; clusters without items are never drawn.

    They are numbered by what they hold, so that neither names nor the order of rows can change a limit.

    Returns:
        Multiplicities, shape (resamples, all clusters of the statistic).
    """
    present = np.flatnonzero(statistic.items > 0)
    content = np.round(statistic.content[present], CONTENT_DIGITS)
    spread = np.zeros((resamples, statistic.items.size))
    spread[:, present[np.lexsort(content.T[::-1])]] = resample(len(present), resamples, seed)
    return spread


def standard_error(statistic: Statistic) -> float | None:
    """The delete-one-cluster jackknife's; of a statistic that moves in steps the spread of its resamples.

    Returns:
        None below two clusters, or where the statistic is undefined without one of them.
    """
    present = statistic.items > 0
    if present.sum() < 2:
        return None
    if moves_in_steps(statistic):
        error = float(np.std(statistic.under(resample_present(statistic, RESAMPLES, 0)), ddof=1))
    else:
        error = float(jackknife_se(statistic, present[None].astype(np.float64))[0])
    return None if np.isnan(error) else error


def jackknife_se(statistic: Statistic, weights: FloatArray) -> FloatArray:
    """Delete-one-cluster jackknife standard error within each resample.

    Args:
        statistic: What to estimate.
        weights: Multiplicities, shape (B, n_clusters); a cluster drawn m times is m clusters.

    Returns:
        Shape (B,); NaN where the statistic is undefined without one of the clusters.

    Source: Efron and Stein (1981), Annals of Statistics 9(3).
    """
    step = max(1, MAX_CELLS // (16 * weights.shape[1]))  # 16: a table of a five-grade scale, or so
    blocks = [weights[at : at + step] for at in range(0, len(weights), step)]
    return np.concatenate([_jackknife_se(statistic, block) for block in blocks])


def _jackknife_se(statistic: Statistic, weights: FloatArray) -> FloatArray:
    drawn = weights > 0
    values = np.where(drawn, statistic.without_one(weights), 0.0)
    n_clusters = weights.sum(1, keepdims=True)
    centre = (weights * values).sum(1, keepdims=True) / n_clusters
    squares = (weights * (values - centre) ** 2).sum(1)
    se: FloatArray = np.sqrt((n_clusters[:, 0] - 1) / n_clusters[:, 0] * squares)
    return se
