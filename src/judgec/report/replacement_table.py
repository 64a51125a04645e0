"""The table of the Alternative Annotator Test: the columns that the screen and the judge's page share."""

from judgec.records.alternative_annotator import AnnotatorContest
from judgec.report.columns import Column, TableColumns
from judgec.report.kit import marked, shown
from judgec.report.numbers import number, p_value, show

TITLE = "May it replace an annotator"
COLUMNS: TableColumns[AnnotatorContest] = TableColumns(
    (
        Column("annotator", lambda one: one.annotator),
        Column("rho, judge", lambda one: number(one.rho_judge)),
        Column("rho, own", lambda one: number(one.rho_annotator)),
        Column(
            "difference [95 %]",
            lambda one: show(one.difference, sign=True),
            cell=lambda one: shown(one.difference, sign=True),
        ),
        Column("adjusted p", lambda one: p_value(one.p_adjusted)),
        Column(
            "wins",
            lambda one: "yes" if one.wins else "not shown",
            cell=lambda one: marked("pass" if one.wins else "not-shown", "✓ yes" if one.wins else "? not shown"),
        ),
        Column("labels (queries)", lambda one: f"{one.items}" + ("" if one.queries is None else f" ({one.queries})")),
    )
)
