"""Tests and the levels at which to read them: repeated test uses, several comparisons, paired samples."""

from dataclasses import dataclass

import numpy as np
from scipy import stats

from judgec.records.label import FloatArray

EQUAL_TO = 12  # decimals: means of the same grades differ in the last bits, and must still be ties
EXACT_UP_TO = 50  # pairs; SciPy switches to the normal approximation there too
FAMILY_LEVEL = 0.05  # chance that any use of one test split promotes a judge that is no better


def level_for_test_use(use: int) -> float:
    """Two-sided significance level of the k-th use of one test split: .05 / (k (k + 1)).

    The levels of all uses, however many, sum to .05: by Bonferroni no number of uses makes a false
    promotion likelier than that.

    Args:
        use: 1 for the first use.

    Raises:
        ValueError: When ``use`` is below 1.
    """
    if use < 1:
        raise ValueError(f"test use {use}; they are counted from 1.")
    return FAMILY_LEVEL / (use * (use + 1))


@dataclass(frozen=True, slots=True)
class PairedTest:
    """Outcome of a two-sided test of paired samples.

    Args:
        statistic: The test statistic, or None where it is undefined (all differences equal or none).
        p: Two-sided p-value, or None.
        smallest_p: The smallest p-value that this many pairs can reach; above .05 the test can show nothing.
        n: Pairs the test used (Wilcoxon leaves out pairs without a difference).
        method: The test's name.
    """

    statistic: float | None
    p: float | None
    smallest_p: float
    n: int
    method: str


def paired_t(a: FloatArray, b: FloatArray) -> PairedTest:
    """Two-tailed paired t-test of ``a - b``, shapes (n_pairs,).

    Its p-value has no lower limit from two pairs on (``smallest_p`` 0), provided that differences are normal.

    Raises:
        ValueError: When shapes differ.

    Source: Student (1908); equal to scipy.stats.ttest_rel.
    """
    difference = _differences(a, b)
    smallest = 0.0 if difference.size > 1 else 1.0
    if difference.size < 2 or np.ptp(difference) == 0:
        return PairedTest(None, None, smallest, difference.size, "paired t-test")
    result = stats.ttest_1samp(difference, 0.0)
    return PairedTest(float(result.statistic), float(result.pvalue), smallest, difference.size, "paired t-test")


def wilcoxon(a: FloatArray, b: FloatArray) -> PairedTest:
    """Two-sided Wilcoxon signed-rank test of ``a - b``, shapes (n_pairs,).

    Pairs without a difference are left out. The p-value is exact up to 50 pairs, over all 2 ** n signs of the
    midranks (ties included), and normal above. All signs alike gives the smallest p, 2 ** (1 - n): .25 for 3
    pairs, .0625 for 5, so fewer than 6 pairs never reach .05.

    Raises:
        ValueError: When shapes differ.

    Source: Wilcoxon (1945), Biometrics Bulletin 1(6); equal to scipy.stats.wilcoxon.
    """
    difference = _differences(a, b)
    difference = difference[difference != 0]
    n = difference.size
    if not n:
        return PairedTest(None, None, 1.0, 0, "Wilcoxon signed-rank test")
    ranks = stats.rankdata(np.abs(difference))
    positive = float(ranks[difference > 0].sum())
    total = float(ranks.sum())
    smaller = min(positive, total - positive)
    if n <= EXACT_UP_TO:
        p, smallest = _exact_signs(ranks, smaller), 2.0 ** (1 - n)
    else:
        z = (smaller - total / 2) / np.sqrt((ranks**2).sum() / 4)
        p, smallest = float(2 * stats.norm.cdf(z)), 0.0
    return PairedTest(smaller, p, smallest, n, "Wilcoxon signed-rank test")


def _exact_signs(ranks: FloatArray, smaller: float) -> float:
    """Two-sided p-value over all signs of the ranks: counts of each doubled rank sum by convolution."""
    doubled = np.rint(2 * ranks).astype(np.int64)  # midranks are halves
    ways = np.zeros(int(doubled.sum()) + 1)
    ways[0] = 1.0
    for rank in doubled:
        ways[rank:] = ways[rank:] + ways[: ways.size - rank]
    tail = ways[: round(2 * smaller) + 1].sum() / ways.sum()
    return float(min(1.0, 2 * tail))


def holm(p_values: FloatArray) -> FloatArray:
    """Holm's adjusted p-values, shape as given; NaN stays NaN and is not counted as a comparison.

    Rejecting those at most .05 keeps the chance of any false rejection among them at most .05.

    Source: Holm (1979), Scandinavian Journal of Statistics 6(2).
    """
    p = np.asarray(p_values, dtype=np.float64)
    adjusted = np.full(p.shape, np.nan)
    known = np.flatnonzero(~np.isnan(p))
    order = known[np.argsort(p[known], kind="stable")]
    factors = np.arange(order.size, 0, -1)
    adjusted[order] = np.minimum(1.0, np.maximum.accumulate(p[order] * factors))
    return adjusted


def _differences(a: FloatArray, b: FloatArray) -> FloatArray:
    a, b = np.asarray(a, dtype=np.float64), np.asarray(b, dtype=np.float64)
    if a.shape != b.shape or a.ndim != 1:
        raise ValueError(f"samples of shapes {a.shape} and {b.shape}; paired samples are two equal (n_pairs,).")
    return np.round(a - b, EQUAL_TO)
