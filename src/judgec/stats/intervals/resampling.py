"""The spread of a statistic over clusters: by leaving out each of them, or by resamples of them."""

from functools import lru_cache

import numpy as np

from judgec.records.label import FloatArray
from judgec.stats.agreement.statistic import CONTENT_DIGITS, Statistic

RESAMPLES = 2000  # of a statistic that moves in steps


@lru_cache(maxsize=4)
def resample(n_clusters: int) -> FloatArray:
    """Draws clusters, and counts how often each is drawn: the one set of resamples that every interval shares.

    Args:
        n_clusters: Number of clusters; each draw takes any of them with equal probability.

    Returns:
        Multiplicities, shape (RESAMPLES, n_clusters), rows summing to n_clusters; read-only, as it is cached.
    """
    drawn = np.random.default_rng(0).integers(n_clusters, size=(RESAMPLES, n_clusters))
    drawn += n_clusters * np.arange(RESAMPLES)[:, None]
    counts = np.bincount(drawn.ravel(), minlength=RESAMPLES * n_clusters)
    weights = counts.reshape(RESAMPLES, n_clusters).astype(np.float64)
    weights.flags.writeable = False
    return weights


def resampled(statistic: Statistic) -> FloatArray:
    """Values of a statistic that moves in steps, shape (RESAMPLES,); clusters without items are never drawn.

    Clusters are numbered by what they hold, so that neither names nor the order of rows can change a limit.
    """
    assert statistic.steps is not None
    present = np.flatnonzero(statistic.items > 0)
    content = np.round(statistic.steps.content[present], CONTENT_DIGITS)
    weights = np.zeros((RESAMPLES, statistic.items.size))
    weights[:, present[np.lexsort(content.T[::-1])]] = resample(len(present))
    return statistic.steps.under(weights)


def standard_error(statistic: Statistic) -> float | None:
    """The delete-one-cluster jackknife's; of a statistic that moves in steps the spread of its resamples.

    Returns:
        None below two clusters, or where the statistic is undefined without one of them.

    Source: Efron and Stein (1981), Annals of Statistics 9(3).
    """
    present = statistic.items > 0
    n = int(present.sum())
    if n < 2:
        return None
    if statistic.steps is not None:
        error = float(np.std(resampled(statistic), ddof=1))
    else:
        error = float(np.sqrt((n - 1) * np.var(statistic.without()[present])))
    return None if np.isnan(error) else error
