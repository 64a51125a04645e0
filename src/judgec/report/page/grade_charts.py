"""Draws a judge's grades beside the experts': confusion, differences, histogram, and grades against its confidence."""

from collections.abc import Sequence
from dataclasses import dataclass

from markupsafe import Markup

from judgec.records.agreement import BlandAltman
from judgec.records.label import FloatArray, IntArray
from judgec.report.page import charts
from judgec.report.page.confusion import CONFIDENCE, CONFUSION, confidence_counts, confusion_counts, count_table

MOST_RATERS = 12  # in the histogram
UNNAMED = "judge"  # of a page about one judge


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
        limits: Bias and limits of agreement; None where grades have no order.
        name: What the judge is called.
    """

    expert: IntArray
    judge: IntArray
    given: FloatArray
    said: FloatArray
    grades: Sequence[str]
    raters: Sequence[tuple[str, IntArray]]
    confidence: FloatArray
    limits: BlandAltman | None
    name: str = UNNAMED


def grade_charts(drawn: DrawnGrades) -> tuple[list[tuple[Markup, str]], list[Markup]]:
    """Each drawing with its caption, and the counts in them as tables.

    Numbers of an interval scale have no cell or bar each: only their differences are drawn.
    """
    grades, name = drawn.grades, drawn.name
    drawings: list[tuple[Markup, str]] = []
    tables: list[Markup] = []
    whose = "" if name == UNNAMED else f"{name}. "
    if grades:
        matched = confusion_counts(drawn.expert, drawn.judge, grades)
        square = "Confusion: a square's area is its share of the row; frames are the same grade."
        drawings.append((matched.drawn(f"{whose}{CONFUSION}", (name, "experts")), f"{whose}{square}"))
        tables.append(count_table(matched, f"{whose}{CONFUSION}", f"experts ↓ {name} →"))
    if drawn.limits is not None:
        plot = charts.bland_altman_chart(drawn.given, drawn.said, drawn.limits)
        drawings.append((plot, f"{whose}Bland-Altman: bias and 95 % limits of agreement."))
    if not grades:
        return drawings, tables
    raters = list(drawn.raters)[:MOST_RATERS]
    order = ", ".join(rater for rater, _ in raters)
    histogram = charts.histogram_chart([*raters, (name, drawn.judge)], grades)
    who = name if whose else "the judge"
    drawings.append((histogram, f"Grades by annotator, from left to right {order} and, framed, {who}."))
    sure = confidence_counts(drawn.judge, drawn.confidence, grades)
    if sure is not None:
        counted = "Confidence map: how many items got each grade with each confidence."
        drawings.append((sure.drawn(f"{whose}{CONFIDENCE}", ("confidence from, %", name)), f"{whose}{counted}"))
        tables.append(count_table(sure, f"{whose}{CONFIDENCE}", f"{name} ↓ confidence from, % →"))
    return drawings, tables
