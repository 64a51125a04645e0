"""Draws a judge's grades beside the experts': confusion, differences, histogram, and grades against its confidence."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from markupsafe import Markup

from judgec.records.agreement import BlandAltman
from judgec.records.label import FloatArray, IntArray
from judgec.report.page import charts
from judgec.report.page.confusion import (
    CONFIDENCE,
    CONFUSION,
    confidence_counts,
    confidence_map,
    confusion_counts,
    confusion_map,
    count_table,
)

MOST_RATERS = 12  # in the histogram
UNNAMED = "judge"  # of a page about one judge
STATED = "Confidence that the model stated: how many items got each grade with each"


@dataclass(frozen=True, slots=True)
class DrawnGrades:
    """The data of a judge that is drawn.

    Args:
        expert: The experts' grade positions, shape (n, n_tied); -1 where missing.
        judge: The judge's, shape (n,); -1 where unscored.
        given: What the experts gave on average, in scale units, same shape; NaN where missing.
        said: The judge's grade in scale units, of numbers its score; NaN where unscored.
        grades: Of the scale as they are written, worst first; none of an interval scale, which has no grades.
        raters: Grade positions of each expert on these rows, by name; -1 where missing.
        confidence: 0-1, shape (n,), NaN where none is known.
        stated: What a model stated before anything was calibrated, likewise; None where it was not asked.
        ordered: False where grades are classes, which have no differences.
    """

    expert: IntArray
    judge: IntArray
    given: FloatArray
    said: FloatArray
    grades: Sequence[str]
    raters: Sequence[tuple[str, IntArray]]
    confidence: FloatArray
    stated: FloatArray | None = None
    ordered: bool = True

    def counts(self) -> dict[str, object]:
        """What is drawn, as a report has it: confusion, differences, histogram and heat maps of confidence.

        Numbers of an interval scale have no cell or bar each: only their differences are counted.
        """
        apart = charts.differences(self.given, self.said) if self.ordered else None
        if not self.grades:
            return {"grades": [], "differences": apart}
        sure = [
            None if by is None or (found := confidence_counts(self.judge, by, self.grades)) is None else found.counts
            for by in (self.confidence, self.stated)
        ]
        return {
            "grades": list(self.grades),
            "confusion": confusion_counts(self.expert, self.judge, self.grades).counts.tolist(),
            "differences": apart,
            "histogram": {
                "annotators": {name: self._often(given) for name, given in self.raters[:MOST_RATERS]},
                "judge": self._often(self.judge),
            },
            "heat_map": None if sure[0] is None else sure[0].tolist(),
            "stated": None if sure[1] is None else sure[1].tolist(),
        }

    def _often(self, given: IntArray) -> list[int]:
        return [int(n) for n in np.bincount(given[given >= 0], minlength=len(self.grades))]


def grade_charts(
    counts: Mapping[str, Any], limits: BlandAltman, name: str = UNNAMED
) -> tuple[list[tuple[Markup, str]], list[Markup]]:
    """Each drawing with its caption, and the counts in them as tables.

    Args:
        counts: Of ``DrawnGrades``.
        limits: Bias and limits of agreement.
        name: What the judge is called.
    """
    grades = counts["grades"]
    drawings: list[tuple[Markup, str]] = []
    tables: list[Markup] = []
    whose = "" if name == UNNAMED else f"{name}. "
    if grades:
        matched = confusion_map(np.array(counts["confusion"]), grades)
        square = "Confusion: a square's area is its share of the row; frames are the same grade."
        drawings.append((matched.drawn(f"{whose}{CONFUSION}", (name, "experts")), f"{whose}{square}"))
        tables.append(count_table(matched, f"{whose}{CONFUSION}", f"experts ↓ {name} →"))
    if counts["differences"] is not None:
        plot = charts.bland_altman_chart(counts["differences"], limits)
        drawings.append((plot, f"{whose}Bland-Altman: bias and 95 % limits of agreement."))
    if not grades:
        return drawings, tables
    raters = counts["histogram"]["annotators"]
    histogram = charts.histogram_chart([*raters.items(), (name, counts["histogram"]["judge"])], grades)
    who = name if whose else "the judge"
    drawings.append((histogram, f"Grades by annotator, from left to right {', '.join(raters)} and, framed, {who}."))
    counted = "Confidence map: how many items got each grade with each confidence."
    for what, title, caption in (("heat_map", CONFIDENCE, counted), ("stated", STATED, f"{STATED}.")):
        if counts[what] is not None:
            sure = confidence_map(np.array(counts[what]), grades)
            drawings.append((sure.drawn(f"{whose}{title}", ("confidence from, %", name)), f"{whose}{caption}"))
            tables.append(count_table(sure, f"{whose}{title}", f"{name} ↓ confidence from, % →"))
    return drawings, tables
