"""Contingency tables of expert against judge: what every statistic of grades is computed from.

Rows are the expert's grade, columns the judge's; both are positions on the scale, 0 the worst.
"""

import numpy as np

from judgec.records.label import FloatArray, IntArray

NumberArray = FloatArray | IntArray
"""Counts of items or floats in their place (resampling weights, probabilities); grades or scores."""


def contingency(expert: IntArray, judge: IntArray, n_grades: int, weight: FloatArray | None = None) -> FloatArray:
    """Counts of each pair of grades.

    Args:
        expert: Grade positions, shape (n_items,), values 0..n_grades-1.
        judge: The same of the judge.
        n_grades: Number of grades on the scale.
        weight: As ``rectangular_tables``.

    Returns:
        Counts, shape (n_grades, n_grades), expert by judge.

    Raises:
        ValueError: When shapes differ or a position is off the scale (-1 means missing: leave it out first).
    """
    one = np.zeros(np.shape(expert), dtype=np.int64)
    table: FloatArray = rectangular_tables(expert, judge, one, (n_grades, n_grades), n_clusters=1, weight=weight)[0]
    return table


def rectangular_tables(
    rows: IntArray,
    columns: IntArray,
    cluster: IntArray,
    shape: tuple[int, int],
    *,
    n_clusters: int | None = None,
    weight: FloatArray | None = None,
) -> FloatArray:
    """One contingency table a cluster, whose rows and columns may have different numbers of categories.

    Args:
        rows: Positions, shape (n_items,).
        columns: The same of the judge.
        cluster: Cluster code of each item, same shape.
        shape: How many positions rows and columns have.
        n_clusters: Number of clusters; the largest code + 1 when left out. One without items has a table of zeros.
        weight: The part of an item that each row stands for, same shape: where several grades share an item, those of
            its rows add up to 1. None: each is an item.

    Returns:
        Counts, shape (n_clusters, *shape).

    Raises:
        ValueError: When shapes differ, or a position or a cluster code is out of range.
    """
    rows, columns, cluster = (np.asarray(a, dtype=np.int64) for a in (rows, columns, cluster))
    if not rows.shape == columns.shape == cluster.shape or rows.ndim != 1:
        raise ValueError(
            f"expert {rows.shape}, judge {columns.shape}, cluster {cluster.shape}; "
            "all three must have the same shape (n_items,)."
        )
    n_clusters = count_clusters(cluster, n_clusters)
    for what, values, limit in (("expert", rows, shape[0]), ("judge", columns, shape[1])):
        if values.size and not 0 <= values.min() <= values.max() < limit:
            raise ValueError(
                f"{what}: grade positions {values.min()}..{values.max()}; 0..{limit - 1} are on the scale. "
                "Leave missing grades (-1) out first."
            )
    cell = (cluster * shape[0] + rows) * shape[1] + columns
    counts = np.bincount(cell, weight, minlength=n_clusters * shape[0] * shape[1])
    return counts.reshape(n_clusters, *shape).astype(np.float64)


def count_clusters(cluster: IntArray, n_clusters: int | None) -> int:
    """``n_clusters``, or the largest code + 1.

    Raises:
        ValueError: When a code is negative or not below ``n_clusters``.
    """
    seen = int(cluster.max()) + 1 if cluster.size else 0
    lowest = int(cluster.min()) if cluster.size else 0
    if lowest < 0 or (n_clusters is not None and seen > n_clusters):
        raise ValueError(f"cluster codes {lowest}..{seen - 1}; 0..n_clusters-1 are valid ({n_clusters=}).")
    return seen if n_clusters is None else n_clusters


def margins(M: NumberArray) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Row sums (..., rows), column sums (..., columns) and totals (...) of tables, as floats."""
    M = np.asarray(M, dtype=np.float64)
    rows = np.einsum("...ij->...i", M)
    return rows, np.einsum("...ij->...j", M), np.einsum("...i->...", rows)


def agreements(M: NumberArray) -> FloatArray:
    """Number of items with the same row and column, shape (...); columns beyond the rows never agree."""
    square = np.asarray(M, dtype=np.float64)[..., : np.shape(M)[-2]]
    return np.asarray(np.einsum("...ii->...", square))


def ratio(numerator: FloatArray, denominator: FloatArray, undefined: float = np.nan) -> FloatArray:
    """``numerator / denominator``, ``undefined`` where the denominator is 0."""
    numerator, denominator = np.broadcast_arrays(numerator, denominator)
    filled: FloatArray = np.full(numerator.shape, undefined)
    np.divide(numerator, denominator, out=filled, where=denominator != 0)
    return filled
