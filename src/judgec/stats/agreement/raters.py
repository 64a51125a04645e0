"""Agreement of several raters with each other: Fleiss' kappa and Krippendorff's alpha, with missing ratings.

Both are functions of the counts alone: how many raters gave each unit each grade.
"""

from typing import Literal

import numpy as np

from judgec.records.label import FloatArray, IntArray
from judgec.stats.agreement.kappa import kappa_table
from judgec.stats.agreement.statistic import CORRELATION, Statistic, of_sums
from judgec.stats.agreement.tables import count_clusters


def rating_counts(ratings: IntArray, n_grades: int) -> IntArray:
    """Number of raters that gave each unit each grade.

    Args:
        ratings: Grade positions, shape (n_raters, ...units); -1 where a rater left the unit out.
        n_grades: Number of grades on the scale.

    Returns:
        Counts, shape (n_units, n_grades), the axes of the units flattened.
    """
    flat = np.asarray(ratings).reshape(len(ratings), -1)
    counts: IntArray = (flat[:, :, None] == np.arange(n_grades)).sum(axis=0, dtype=np.int64)
    return counts


def fleiss_kappa(counts: IntArray) -> float | None:
    """Chance-corrected agreement of several raters on unordered grades.

    1 is perfect, 0 is what chance gives with these shares of the grades, negative is worse than chance.
    Units may have different numbers of ratings: each unit weighs the same, and a unit with fewer than two
    says nothing of agreement and is left out. With equal numbers this is Fleiss' original.

    Args:
        counts: Ratings of each grade, shape (n_units, n_grades).

    Returns:
        Kappa, or None when no unit has two ratings, or all ratings are the same grade (0/0; that is not 1).

    Source: Fleiss (1971), Psychological Bulletin 76(5); unequal numbers: Gwet (2014), Handbook of Inter-Rater
        Reliability, chapter 2.
    """
    kappa = float(kappa_table(_pair_shares(counts).sum(0)))
    return None if np.isnan(kappa) else kappa


def fleiss_statistic(counts: IntArray, cluster: IntArray) -> Statistic:
    """``fleiss_kappa`` as a statistic of clusters, for its interval.

    Args:
        counts: Ratings of each grade, shape (n_units, n_grades).
        cluster: Query codes, shape (n_units,).
    """
    tables = np.zeros((count_clusters(cluster, None), counts.shape[1], counts.shape[1]))
    np.add.at(tables, cluster[np.asarray(counts).sum(1) > 1], _pair_shares(counts))
    return of_sums(np.asarray(np.einsum("qij->q", tables)), tables, kappa_table, CORRELATION)


def _pair_shares(counts: IntArray) -> FloatArray:
    """Share of each ordered pair of grades among the pairs of ratings of each unit that has two.

    Both margins of their sum are the shares of the grades, so Cohen's formula on it is Fleiss' kappa.
    """
    n, raters = _pairable(counts)
    pairs = n[:, :, None] * n[:, None, :] - n[:, :, None] * np.eye(n.shape[1])
    return np.asarray(pairs / (raters * (raters - 1))[:, None, None])


def krippendorff_alpha(
    counts: IntArray,
    level: Literal["nominal", "ordinal", "interval"] = "ordinal",
    values: FloatArray | None = None,
) -> float | None:
    """Reliability of several raters: 1 - observed / expected disagreement, whatever ratings are missing.

    1 is perfect, 0 is what chance gives, negative is systematic disagreement. Units with fewer than two
    ratings cannot be paired and are left out.

    Args:
        counts: Ratings of each grade, shape (n_units, n_grades), grades in order, the worst first.
        level: How far two grades lie apart: nominal, the same or not; ordinal, by how many ratings lie
            between them; interval, by their values.
        values: What each grade stands for, shape (n_grades,); positions when left out. For interval only.

    Returns:
        Alpha, or None when no unit has two ratings, or all of these are the same grade (0/0; that is not 1).

    Source: Krippendorff (2011), Computing Krippendorff's Alpha-Reliability.
    """
    n, raters = _pairable(counts)
    total = n.sum(0)
    if np.count_nonzero(total) < 2:
        return None
    distance = _squared_distances(total, level, values)
    # Within a unit each ordered pair of ratings counts 1 / (raters - 1); a rating is not paired with itself,
    # but its distance to itself is 0, so the diagonal needs no correction.
    observed = np.einsum("ui,ij,uj->u", n, distance, n) @ (1 / (raters - 1))
    expected = total @ distance @ total / (total.sum() - 1)
    return float(1 - observed / expected)


def _pairable(counts: IntArray) -> tuple[FloatArray, FloatArray]:
    """The counts of units with at least two ratings, and how many each has."""
    n = np.asarray(counts, dtype=np.float64)
    raters = n.sum(1)
    return n[raters > 1], raters[raters > 1]


def _squared_distances(total: FloatArray, level: str, values: FloatArray | None) -> FloatArray:
    if level == "nominal":
        return 1.0 - np.eye(len(total))
    if level == "ordinal":
        # The distance of c and k is the number of ratings from c to k, half of those at either end.
        values = total.cumsum() - total / 2
    elif values is None:
        values = np.arange(len(total), dtype=np.float64)
    difference = np.subtract.outer(values, values)
    return np.asarray(difference**2, dtype=np.float64)
