"""Rank correlation of two graders from their contingency table: Kendall's tau-b and Spearman's rho.

Counts may be integers or floats (resampling weights, probabilities) and have any leading axes; float64
counts are exact up to 94 million items.
"""

import numpy as np
from scipy import stats

from judgec.records.label import FloatArray
from judgec.stats.agreement.tables import NumberArray, margins, ratio

ROUNDING = 1e-12  # of all pairs: a difference of sums of parts that is none


def tau_b_table(M: NumberArray, torn: NumberArray | float = 0.0) -> FloatArray:
    """Kendall's tau-b: concordant minus discordant pairs over the geometric mean of pairs not tied.

    1 is the same order, 0 no association, -1 the reverse order; ties of either grader lower it.

    Args:
        M: Tables expert by judge, shape (..., k, m).
        torn: Of items that several grades share, the pairs that their own parts make, shape (..., m) or 0: these are no
            pairs of two items. The judge ties them, so that they are missing from its pairs and from the numerator.

    Returns:
        Shape (...); NaN where a grader gave one grade only.

    Source: Kendall (1945), Biometrika 33(3); equal to scipy.stats.kendalltau.
    """
    rows, columns, _ = margins(M)
    return ratio(concordance(M), np.sqrt(untied(rows, np.sum(torn, axis=-1)) * untied(columns)))


def concordance(M: NumberArray) -> FloatArray:
    """Concordant minus discordant pairs of items, shape (...)."""
    M = np.asarray(M, dtype=np.float64)
    signed: FloatArray = 0.5 * np.einsum("...ij,...ij->...", M, order_sums(M))
    return signed


def order_sums(M: NumberArray) -> FloatArray:
    """Sum over all items of sign(i - expert) * sign(j - judge) for each cell (i, j), shape (..., k, m)."""
    M = np.asarray(M, dtype=np.float64)
    rows, columns = (np.arange(size) for size in M.shape[-2:])
    by_row, by_column = (np.sign(at[:, None] - at).astype(np.float64) for at in (rows, columns))
    sums: FloatArray = by_row @ M @ by_column.T
    return sums


def untied(counts: NumberArray, torn: NumberArray | float = 0.0) -> FloatArray:
    """Pairs of items in different categories, from category counts (..., k); ``torn`` are pairs of an item's parts."""
    counts = np.asarray(counts, dtype=np.float64)
    squares = counts.sum(-1) ** 2
    pairs: FloatArray = 0.5 * (squares - np.einsum("...i,...i->...", counts, counts)) - torn
    return np.where(pairs > ROUNDING * squares, pairs, 0.0)


def spearman_table(M: NumberArray) -> FloatArray:
    """Spearman's rho: the product-moment correlation of midranks.

    Args:
        M: Tables expert by judge, shape (..., k, m).

    Returns:
        Shape (...); NaN where a grader gave one grade only.

    Source: Spearman (1904); ties as in Kendall and Gibbons (1990), equal to scipy.stats.spearmanr.
    """
    rows, columns, _ = margins(M)
    u, v = centred_midranks(rows), centred_midranks(columns)
    covariance = np.einsum("...ij,...i,...j->...", np.asarray(M, dtype=np.float64), u, v)
    return ratio(covariance, np.sqrt((rows * u**2).sum(-1) * (columns * v**2).sum(-1)))


def centred_midranks(counts: FloatArray) -> FloatArray:
    """Midrank of each category minus the mean rank, from category counts (..., k)."""
    ranks: FloatArray = counts.cumsum(-1) - 0.5 * counts - 0.5 * counts.sum(-1, keepdims=True)
    return ranks


def tau_b_p(expert: NumberArray, judge: NumberArray) -> float:
    """Two-sided p-value of tau-b = 0, items independent (SciPy: exact for few items without ties).

    Args:
        expert: Grades or scores, shape (n_items,).
        judge: The same of the judge.

    Returns:
        The p-value; NaN where tau-b is undefined.
    """
    if _constant(expert) or _constant(judge):
        return float("nan")
    return float(stats.kendalltau(expert, judge).pvalue)


def spearman_p(expert: NumberArray, judge: NumberArray) -> float:
    """Two-sided p-value of rho = 0 by Student's t, items independent; NaN where rho is undefined.

    Args:
        expert: Grades or scores, shape (n_items,).
        judge: The same of the judge.

    Returns:
        The p-value; NaN also below three items, where the t distribution has no degree of freedom.
    """
    if _constant(expert) or _constant(judge) or len(expert) < 3:
        return float("nan")
    return float(stats.spearmanr(expert, judge).pvalue)


def _constant(values: NumberArray) -> bool:
    return np.unique(values).size < 2
