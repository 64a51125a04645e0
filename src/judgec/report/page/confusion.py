"""The confusion matrix and the confidence map: as drawings, and as tables whose shaded cells say their count."""

from collections.abc import Sequence

import numpy as np
from markupsafe import Markup

from judgec.records.label import FloatArray, IntArray
from judgec.report.kit import heat, table
from judgec.report.page.count_map import CountMap
from judgec.stats.agreement.reliability import BINS, bin_of

CONFUSION = "Confusion matrix: experts' grades in rows, the judge's in columns"
CONFIDENCE = "Confidence map: the judge's grades in rows, its confidence in columns"


def confusion_counts(expert: IntArray, judge: IntArray, grades: Sequence[str]) -> CountMap:
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
    names = [*grades, *(["unscored"] * (columns - k))]
    return CountMap(counts[:, :columns], counts.sum(axis=1), grades, names, [(i, i) for i in range(k)])


def confidence_counts(judge: IntArray, confidence: FloatArray, grades: Sequence[str]) -> CountMap | None:
    """How many items got each grade (rows) with each confidence (columns, tenths by their lower end); None without any.

    Args:
        judge: Grade positions, shape (n_items,), -1 where unscored: these are left out.
        confidence: 0-1, same shape, NaN where none was stated: likewise.
        grades: Of the scale, worst first.
    """
    known = (judge >= 0) & np.isfinite(confidence)
    if not known.any():
        return None
    counts = np.zeros((len(grades), BINS), dtype=np.int64)
    np.add.at(counts, (judge[known], bin_of(confidence[known])), 1)
    step = 100 // BINS
    names = [str(step * i) for i in range(BINS)]
    return CountMap(counts, np.full(len(grades), counts.max()), grades, names)


def count_table(counted: CountMap, label: str, corner: str) -> Markup:
    """The same counts as a table, for who reads it aloud or copies it.

    Args:
        counted: What is counted.
        label: What it shows, for screen readers.
        corner: What rows and columns are.
    """
    rows = [
        [name, *(_cell(int(n), int(of)) for n in counts), str(counts.sum())]
        for name, counts, of in zip(counted.rows, counted.counts, counted.of, strict=True)
    ]
    return table([corner, *counted.columns, "items"], rows, "heat", label=label)


def _cell(count: int, total: int) -> Markup:
    return heat(100 * count / total, f"{count}") if count else heat(0.0, "·")
