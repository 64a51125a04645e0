"""Statistics of grades that a judge could not always give: lower bounds over what the missing might be.

Tables have one more column than rows: column k counts, by expert grade, the items that the judge left
unscored. Each function gives the plain statistic when that column is 0, and otherwise a value not above the
statistic under any completion of the missing grades. Leaving one more item unscored widens the set of
completions, so it never raises the value: failing never pays. An undefined statistic counts as 0 (a judge
that cannot tell items apart has shown nothing), so that every candidate can be compared.
"""

import numpy as np

from judgec.records.label import FloatArray
from judgec.stats.agreement.kappa import balanced_accuracy_table, exact_table, squared_distances
from judgec.stats.agreement.rank_correlation import concordance, untied
from judgec.stats.agreement.tables import NumberArray, agreements, ratio


def tau_b_bound(M: NumberArray, torn: NumberArray | float = 0.0) -> FloatArray:
    """Lower bound of tau-b, shape (...), from tables (..., k, k + 1).

    Every pair with an unscored member is discordant where the experts differ; where they tie it is untied
    by the judge if that lowers the value (positive numerator), else tied. Both choices are the worst one for
    each pair by itself: since abs(numerator) <= untied pairs, one more discordant pair never raises
    numerator / sqrt(untied). ``torn`` as in ``tau_b_table``.
    """
    M = np.asarray(M, dtype=np.float64)
    torn = np.broadcast_to(np.asarray(torn, dtype=np.float64), (*M.shape[:-2], M.shape[-1]))
    scored = M[..., :-1]
    rows, known = M.sum(-1), scored.sum(-1)
    n, m = rows.sum(-1), known.sum(-1)
    x = untied(rows, torn.sum(-1))
    hidden = x - untied(known, torn[..., :-1].sum(-1))
    hidden_ties = np.maximum(0.5 * (n * (n - 1) - m * (m - 1)) - hidden, 0.0)
    numerator = concordance(scored) - hidden
    y = untied(scored.sum(-2)) + hidden + np.where(numerator > 0, hidden_ties, 0.0)
    return ratio(numerator, np.sqrt(x * y), undefined=0.0)


def kappa_bound(M: NumberArray) -> FloatArray:
    """The smallest kappa over all completions, shape (...), from tables (..., k, k + 1).

    kappa = 1 - disagreement / expected disagreement. An unscored item disagrees, with the other grade that
    the experts used most: that makes the expected disagreement smallest.
    """
    M = np.asarray(M, dtype=np.float64)
    rows, scored, missing = M.sum(-1), M[..., :-1], M[..., -1]
    n = rows.sum(-1)
    most, second = np.sort(rows, axis=-1)[..., -1:], np.sort(rows, axis=-1)[..., -2:-1]
    top = np.arange(rows.shape[-1]) == rows.argmax(-1)[..., None]
    other = np.where(top, second, most)  # count of the commonest expert grade but one's own
    alike = (scored.sum(-2) * rows).sum(-1) + (missing * other).sum(-1)
    expected = n - ratio(alike, n, undefined=0.0)
    return ratio(expected - n + agreements(scored), expected, undefined=0.0)


def qwk_bound(M: NumberArray) -> FloatArray:
    """Lower bound of quadratically weighted kappa, shape (...), from tables (..., k, k + 1).

    QWK = 2 * covariance / expected squared distance, both sums over items. An unscored item adds its worst
    grade to the covariance, and to the distance its largest value when the covariance stays positive, its
    smallest when not.
    """
    M = np.asarray(M, dtype=np.float64)
    rows, scored, missing = M.sum(-1), M[..., :-1], M[..., -1]
    n, position = rows.sum(-1, keepdims=True), np.arange(rows.shape[-1], dtype=np.float64)
    deviation = position - ratio((rows * position).sum(-1, keepdims=True), n, undefined=0.0)
    worst = np.minimum(0.0, deviation * position[-1])
    covariance = ((scored @ position) * deviation).sum(-1) + (missing * worst).sum(-1)
    distance = ratio(rows @ squared_distances(rows.shape[-1]), n, undefined=0.0)  # of a judge's grade
    extreme = np.where(covariance > 0, distance.max(-1), distance.min(-1))
    expected = (scored.sum(-2) * distance).sum(-1) + missing.sum(-1) * extreme
    return ratio(2 * covariance, expected, undefined=0.0)


def exact_bound(M: NumberArray) -> FloatArray:
    """Share of items with the expert's grade, an unscored one being wrong; tables (..., k, k + 1)."""
    return np.nan_to_num(exact_table(M), nan=0.0)


def balanced_accuracy_bound(M: NumberArray) -> FloatArray:
    """Balanced accuracy, an unscored item being wrong; tables (..., k, k + 1)."""
    return np.nan_to_num(balanced_accuracy_table(M), nan=0.0)
