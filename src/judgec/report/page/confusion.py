"""The confusion matrix as a table whose cells are shaded by their share of the row."""

from collections.abc import Sequence

import numpy as np
from markupsafe import Markup

from judgec.records.label import IntArray
from judgec.report.kit import heat, table


def confusion_table(expert: IntArray, judge: IntArray, grades: Sequence[str]) -> Markup:
    """How often the judge gave each grade (columns) where the experts gave each grade (rows).

    Args:
        expert: Grade positions, shape (n_items,), -1 where nobody graded: these are left out.
        judge: Grade positions, same shape, -1 where unscored: these have a column of their own.
        grades: Of the scale, worst first.
    """
    k = len(grades)
    known = expert >= 0
    counts = np.zeros((k, k + 1), dtype=np.int64)
    np.add.at(counts, (expert[known], np.where(judge[known] < 0, k, judge[known])), 1)
    columns = k + int(counts[:, k].any())
    totals = counts.sum(axis=1)
    rows = [
        [
            grades[row],
            *(_cell(int(counts[row, column]), int(totals[row])) for column in range(columns)),
            str(totals[row]),
        ]
        for row in range(k)
    ]
    head = ["experts ↓ judge →", *grades, *(["unscored"] * (columns - k)), "items"]
    return table(head, rows, "heat", label="Confusion matrix: experts' grades in rows, the judge's in columns")


def _cell(count: int, total: int) -> Markup:
    return heat(100 * count / total, f"{count}") if count else heat(0.0, "·")
