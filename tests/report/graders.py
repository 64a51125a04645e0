"""Ratings written down by hand."""

from collections.abc import Sequence

import numpy as np

from judgec.records.ratings import GradePairs


def graded(expert: Sequence[int], judge: Sequence[int], *, values: tuple[float, ...] = (0.0, 1.0, 2.0)) -> GradePairs:
    """Each row a query of its own; -1 is missing."""
    grades, given = np.array(expert, dtype=np.int64), np.array(judge, dtype=np.int64)
    score = np.where(given < 0, np.nan, np.array(values)[np.maximum(given, 0)])
    unknown = np.full(len(grades), -1, dtype=np.int64)
    return GradePairs(
        grades[:, None], given, score, unknown[:, None], unknown, np.arange(len(grades)), values, len(grades)
    )
