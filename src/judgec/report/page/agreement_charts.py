"""Draws judges beside the experts: grades, differences, and grades against the confidence that a judge states."""

from collections.abc import Mapping, Sequence

import numpy as np
from markupsafe import Markup

from judgec.labels.rows.graded import Graded
from judgec.records.agreement import Agreement
from judgec.records.label import FloatArray
from judgec.report.numbers import short
from judgec.report.page import charts
from judgec.report.page.confusion import confidence_counts, confusion_counts, count_table
from judgec.table.rows.cells import as_number

MOST_JUDGES = 3  # of whom charts are drawn
MOST_RATERS = 6  # columns beside each other
PERCENT = 100.0


def agreement_charts(graded: Mapping[str, Graded], agreements: Mapping[str, Agreement]) -> Markup:
    """The drawings of the first judges, with the counts in them as tables.

    Args:
        graded: The rows that were measured, by judge.
        agreements: What was found of each.
    """
    drawings: list[tuple[Markup, str]] = []
    tables: list[Markup] = []
    for judge, one in list(graded.items())[:MOST_JUDGES]:
        if one.nominal or one.no_grades:
            continue
        pairs, grades = one.ratings, [short(value) for value in one.ratings.values]
        said = np.where(pairs.judge < 0, np.nan, np.array(pairs.values)[np.maximum(pairs.judge, 0)])
        limits = agreements[judge].bland_altman
        plot = charts.bland_altman_chart(pairs.given, said, limits)
        drawings.append((plot, f"{judge}, Bland-Altman: bias and 95 % limits of agreement."))
        people = list(one.people.items())[:MOST_RATERS]
        order = ", ".join(name for name, _ in people)
        histogram = charts.histogram_chart([*people, (judge, pairs.judge)], grades)
        drawings.append((histogram, f"Grades by rater, from left to right {order} and, framed, {judge}."))
        matched = confusion_counts(pairs.expert, pairs.judge, grades)
        drawn = matched.drawn(f"Grades of {judge} and the experts", (judge, "experts"))
        drawings.append((drawn, "Confusion: a square's area is its share of the row; frames are the same grade."))
        tables.append(count_table(matched, f"Grades of {judge} and the experts", f"experts ↓ {judge} →"))
        sure = confidence_counts(pairs.judge, _stated(one.cells.get("confidence", (None,) * len(pairs.judge))), grades)
        if sure is not None:
            label = f"Grades of {judge} by the confidence that it states"
            drawings.append(
                (sure.drawn(label, ("stated confidence from, %", judge)), f"{label}: how many items are in each cell.")
            )
            tables.append(count_table(sure, label, f"{judge} ↓ stated confidence from, % →"))
    return charts.figures(drawings, tables) if drawings else Markup()


def _stated(cells: Sequence[object]) -> FloatArray:
    """Stated confidence as 0-1; where a number is above 1, all of them are per cent."""
    found = np.array([np.nan if (value := as_number(cell)) is None else value for cell in cells], dtype=np.float64)
    return found / PERCENT if np.nanmax(found, initial=0.0) > 1 else found
