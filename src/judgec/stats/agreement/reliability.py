"""Measures how well stated probabilities match what happens."""

import numpy as np

from judgec.records.label import FloatArray, IntArray
from judgec.stats.agreement.tables import NumberArray

BINS = 10  # equal bins of [0, 1]: steps of 10 points


def bin_of(probability: FloatArray) -> IntArray:
    """The bin of each probability, 0-9; 1 belongs to the last, and .3 to the fourth although .3 * 10 < 3."""
    return np.minimum((probability * BINS + 1e-9).astype(np.int64), BINS - 1)


def reliability_bins(probability: FloatArray, accepted: NumberArray) -> tuple[IntArray, FloatArray, FloatArray]:
    """Items, mean probability and share accepted in ten equal bins of [0, 1]; 1 belongs to the last.

    Args:
        probability: Shape (n_items,), values 0-1.
        accepted: 1 / 0, between them where both share the item, same shape.

    Returns: Three arrays of shape (10,); the last two are NaN where a bin is empty.
    """
    bins = bin_of(probability)
    counts = np.bincount(bins, minlength=BINS)
    sums = np.stack([np.bincount(bins, weights, BINS) for weights in (probability, accepted)])
    means = np.divide(sums, counts, out=np.full(sums.shape, np.nan), where=counts > 0)
    return counts, means[0], means[1]


def calibration_error(probability: FloatArray, accepted: NumberArray) -> float | None:
    """Expected calibration error: mean distance of predicted and observed; 0 is best, None without items.

    Source: Naeini, Cooper and Hauskrecht (2015), AAAI 29(1), with ten equal-width bins.
    """
    if len(probability) == 0:
        return None
    counts, predicted, observed = reliability_bins(probability, accepted)
    filled = counts > 0
    return float((counts[filled] * np.abs(predicted - observed)[filled]).sum() / counts.sum())
