"""Agreement of two graders on grades from their contingency table: plain, balanced and corrected for chance.

Counts may be integers or floats and have any leading axes, as in ``rank_correlation``.
"""

import numpy as np

from judgec.records.label import FloatArray
from judgec.stats.agreement.tables import NumberArray, agreements, margins, ratio


def kappa_table(M: NumberArray) -> FloatArray:
    """Cohen's kappa: agreement beyond what these margins give by chance.

    1 is perfect, 0 is chance, negative is worse than chance. One grader with a single grade gives 0 (that is
    chance); both with the same single grade give 0/0.

    Args:
        M: Tables expert by judge, shape (..., k, k).

    Returns:
        Shape (...); NaN where both graders gave the same single grade, and for empty tables.

    Source: Cohen (1960), Educational and Psychological Measurement 20(1); equal to scikit-learn.
    """
    rows, columns, n = margins(M)
    chance = (rows * columns).sum(-1)
    return ratio(n * agreements(M) - chance, n**2 - chance)


def qwk_table(M: NumberArray) -> FloatArray:
    """Quadratically weighted kappa: a disagreement costs the square of its distance in grade positions.

    Args:
        M: Tables expert by judge, shape (..., k, k).

    Returns:
        Shape (...); NaN where both graders gave the same single grade, and for empty tables.

    Source: Cohen (1968), Psychological Bulletin 70(4); equal to scikit-learn with weights="quadratic".
    """
    M = np.asarray(M, dtype=np.float64)
    rows, columns, n = margins(M)
    cost = squared_distances(M.shape[-1])
    expected = np.einsum("...i,...i->...", rows @ cost, columns)
    return ratio(expected - n * np.einsum("...ij,ij->...", M, cost), expected)


def squared_distances(n_grades: int) -> FloatArray:
    """(i - j) ** 2 for all pairs of grade positions, shape (n_grades, n_grades)."""
    position = np.arange(n_grades, dtype=np.float64)
    return (position[:, None] - position) ** 2


def exact_table(M: NumberArray) -> FloatArray:
    """Share of items with the same grade; on accept / reject tables, accept agreement.

    Args:
        M: Tables expert by judge, shape (..., k, m); columns beyond the k-th never agree.

    Returns:
        Shape (...); NaN for empty tables.
    """
    return ratio(agreements(M), margins(M)[2])


def decided_table(M: NumberArray) -> FloatArray:
    """Share of items with the same grade, of those to which the expert does not give the last one: of pairs, a tie.

    Args:
        M: Tables expert by judge, shape (..., k, k).

    Returns:
        Shape (...); NaN where the expert gives nothing else.
    """
    return exact_table(np.asarray(M, dtype=np.float64)[..., :-1, :])


def precision_table(M: NumberArray) -> FloatArray:
    """Of two grades: the share of what the judge gives the second grade that the expert gives it, too.

    Args:
        M: Tables expert by judge, shape (..., 2, 2).

    Returns:
        Shape (...); NaN where the judge never gives it.
    """
    M = np.asarray(M, dtype=np.float64)
    return ratio(M[..., 1, 1], M[..., 1].sum(-1))


def recall_table(M: NumberArray) -> FloatArray:
    """Of two grades: the share of what the expert gives the second grade that the judge gives it, too.

    Args:
        M: Tables expert by judge, shape (..., 2, 2).

    Returns:
        Shape (...); NaN where the expert never gives it.
    """
    M = np.asarray(M, dtype=np.float64)
    return ratio(M[..., 1, 1], M[..., 1, :].sum(-1))


def balanced_accuracy_table(M: NumberArray) -> FloatArray:
    """Mean over the grades that the expert used of the share the judge graded the same.

    Args:
        M: Tables expert by judge, shape (..., k, m); columns beyond the k-th never agree.

    Returns:
        Shape (...); NaN where the expert used fewer than two grades: nothing is balanced there.

    Source: Brodersen et al. (2010), ICPR; equal to scikit-learn, which also averages over one grade.
    """
    M = np.asarray(M, dtype=np.float64)
    rows, _, _ = margins(M)
    used = (rows > 0).sum(-1).astype(np.float64)
    recall = ratio(np.diagonal(M, axis1=-2, axis2=-1), rows, undefined=0.0)
    return ratio(recall.sum(-1), np.where(used < 2, 0.0, used))
