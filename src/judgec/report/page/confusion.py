"""The confusion matrix and the confidence map: as drawings, and as tables whose shaded cells say their count."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from markupsafe import Markup

from judgec.records.consensus import parts_of
from judgec.records.counts import plural, tidy
from judgec.records.label import FloatArray, IntArray
from judgec.report.kit import heat, render, table
from judgec.report.numbers import percent
from judgec.report.page.charts import WIDTH, ChartMark, cut_to
from judgec.stats.agreement.reliability import BINS, bin_of
from judgec.stats.agreement.tables import rectangular_tables

LETTER = 7  # units of the drawing that a letter takes
LARGEST_CELL, SMALLEST_CELL = 44, 22
MOST_LETTERS = 14  # of a row's name
TOP, BOTTOM, SIDE = 22, 24, 20  # for the columns' names, the words below and along the side
TOTAL = 44  # for the rows' sums


@dataclass(frozen=True, slots=True)
class CountMap:
    """The counts that are drawn.

    Args:
        counts: Shape (n_rows, n_columns).
        of: What a full square stands for, by row; more than 0 where its row has a count.
        rows: Names, from top to bottom.
        columns: Names.
        framed: Cells with a frame, by row and column: where both say the same.
    """

    counts: FloatArray
    of: FloatArray
    rows: Sequence[str]
    columns: Sequence[str]
    framed: Sequence[tuple[int, int]] = ()

    def drawn(self, label: str, words: tuple[str, str]) -> Markup:
        """The drawing; nothing where there are more columns than can be read.

        Args:
            label: What it shows, for who cannot see it.
            words: What the columns are, and what the rows are.
        """
        left = SIDE + LETTER * min(MOST_LETTERS, max(map(len, self.rows))) + 10
        cell = min(LARGEST_CELL, int((WIDTH - left - TOTAL) / len(self.columns)))
        if cell < SMALLEST_CELL:
            return Markup()
        marks = self._names(left, cell, words)
        for row, column in np.argwhere(self.counts).tolist():
            half = float(np.sqrt(self.counts[row, column] / self.of[row])) * (cell / 2 - 3)
            x, y = left + cell * (column + 0.5), TOP + cell * (row + 0.5)
            marks.append(self._square("square", row, column, (x, y), half))
            marks.append(_text("count", x, y + 4, str(tidy(self.counts[row, column]))))
        for row, column in self.framed:
            centre = left + cell * (column + 0.5), TOP + cell * (row + 0.5)
            marks.append(self._square("frame", row, column, centre, cell / 2 - 1))
        height = TOP + cell * len(self.rows) + BOTTOM
        return render("chart.html", {"label": label, "marks": marks, "width": WIDTH, "height": height})

    def _names(self, left: int, cell: int, words: tuple[str, str]) -> list[ChartMark]:
        below, side = TOP + cell * len(self.rows), left + cell * len(self.columns)
        end = side + TOTAL - 6
        marks = [_text("tick", end, TOP - 7, "items", "end"), _text("tick", (left + side) / 2, below + 18, words[0])]
        for at, name in enumerate(self.columns):
            marks.append(_text("tick", left + cell * (at + 0.5), TOP - 7, cut_to(name, max(cell // LETTER, 2))))
        for at, name in enumerate(self.rows):
            y = TOP + cell * (at + 0.5) + 4
            marks.append(_text("tick", left - 8, y, cut_to(name, MOST_LETTERS), "end"))
            marks.append(_text("tick", end, y, str(tidy(self.counts[at].sum())), "end"))
        for at in range(len(self.rows) + 1):
            y = TOP + cell * at
            marks.append(ChartMark("line", "grid", str(left), str(y), str(side), str(y)))
        middle = f"{(TOP + below) / 2}"
        return [*marks, ChartMark("text", "tick", "13", middle, text=words[1], anchor="middle", turned=True)]

    def _square(self, css: str, row: int, column: int, centre: tuple[float, float], half: float) -> ChartMark:
        count = self.counts[row, column]
        of = f", {percent(count / self.of[row])}" if self.of[row] else ""
        said = f"{self.rows[row]}, {self.columns[column]}: {plural(str(tidy(count)), 'item')}{of}"
        x, y, size = f"{centre[0] - half:.1f}", f"{centre[1] - half:.1f}", f"{2 * half:.1f}"
        return ChartMark("column", css, x, y, size, size, text=said)


def _text(css: str, x: float, y: float, text: str, anchor: str = "middle") -> ChartMark:
    return ChartMark("text", css, f"{x:.1f}", f"{y:.1f}", text=text, anchor=anchor)


CONFUSION = "Confusion matrix: experts' grades in rows, the judge's in columns"
CONFIDENCE = "Confidence map: the judge's grades in rows, its confidence in columns"


def confusion_counts(expert: IntArray, judge: IntArray, grades: Sequence[str]) -> CountMap:
    """Number of times that the judge gave each grade (columns) where the experts gave each grade (rows).

    Args:
        expert: Grade positions, shape (n_items, n_tied), -1 where nobody graded: these are left out.
        judge: Grade positions, shape (n_items,), -1 where unscored: these have a column of their own.
        grades: Of the scale, worst first.
    """
    k, (row, given, weight) = len(grades), parts_of(expert)
    said = np.where(judge < 0, k, judge)[row]
    counts = rectangular_tables(given, said, given * 0, (k, k + 1), n_clusters=1, weight=weight)[0]
    return confusion_map(counts[:, : k + int(counts[:, k].any())], grades)


def confusion_map(counts: FloatArray, grades: Sequence[str]) -> CountMap:
    """Counts of grades by grades; what is beyond the last grade is unscored."""
    names = [*grades, *(["unscored"] * (counts.shape[1] - len(grades)))]
    return CountMap(counts, counts.sum(axis=1), grades, names, [(i, i) for i in range(len(grades))])


def confidence_counts(judge: IntArray, confidence: FloatArray, grades: Sequence[str]) -> CountMap | None:
    """Number of items with each grade (rows) and confidence (columns, tenths by their lower end); None without any.

    Args:
        judge: Grade positions, shape (n_items,), -1 where unscored: these are left out.
        confidence: 0-1, same shape, NaN where none was stated: likewise.
        grades: Of the scale, worst first.
    """
    known = (judge >= 0) & np.isfinite(confidence)
    if not known.any():
        return None
    counts = np.zeros((len(grades), BINS))
    np.add.at(counts, (judge[known], bin_of(confidence[known])), 1)
    return confidence_map(counts, grades)


def confidence_map(counts: FloatArray, grades: Sequence[str]) -> CountMap:
    """Counts of grades by tenths of confidence."""
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
        [name, *(_cell(float(n), float(of)) for n in counts), str(tidy(counts.sum()))]
        for name, counts, of in zip(counted.rows, counted.counts, counted.of, strict=True)
    ]
    return table([corner, *counted.columns, "items"], rows, "heat", label=label)


def _cell(count: float, total: float) -> Markup:
    return heat(100 * count / total, f"{tidy(count)}") if count else heat(0.0, "·")
