"""Grades that are means of several annotators: thirds, halves, quarters of a grade."""

from typing import Literal

import numpy as np

from judgec.records.label import FloatArray, IntArray

Rounding = Literal["nearest"] | None
"""What becomes of a number between two grades: the nearest one, or it stays as it is."""

RATERS = {2: "halves", 3: "thirds", 4: "quarters", 5: "fifths", 6: "sixths"}
LEAST = 2  # different means that lie between two grades; a single one is a slip
CLOSE = 0.011  # of a grade: a third is written as 0.33, 0.333 or 0.3333


def looks_like_means(used: FloatArray) -> str | None:
    """Text on grades that look like means: ``these look like means of 3 annotators (thirds)``; None where they do not.

    Numbers from 0 to 1 are shares or percents as well, and nobody can tell; the nearest of 0 and 1 is no advice.
    """
    numbers = np.unique(used)
    between = numbers[numbers != np.round(numbers)]
    if len(between) < LEAST or (numbers[0] >= 0 and numbers[-1] <= 1):
        return None
    for raters, parts in RATERS.items():
        if (np.abs(between * raters - np.round(between * raters)) <= CLOSE * raters).all():
            return f"these look like means of {raters} annotators ({parts})"
    return None


def nearest_grades(numbers: FloatArray, values: FloatArray) -> IntArray:
    """Positions of the nearest grades; of two as near the even one, of none even the worse."""
    gaps = np.abs(np.asarray(numbers)[:, None] - values)
    best = np.asarray(gaps.argmin(axis=1), dtype=np.int64)
    after = np.minimum(best + 1, len(values) - 1)
    rows = np.arange(len(best))
    tied = (after > best) & (gaps[rows, after] == gaps[rows, best]) & (values[best] % 2 == 1)
    return np.asarray(best + tied, dtype=np.int64)
