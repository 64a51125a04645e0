"""Shows what a verb found in a notebook: its answer, its tables, a drawing of the numbers that matter most."""

from collections.abc import Mapping

from judgec.records.estimate import Estimate
from judgec.report.kit import render, whole
from judgec.report.page.interval_chart import interval_chart
from judgec.report.report import Report


def notebook(
    report: Report,
    *,
    chart: Mapping[str, Estimate] | None = None,
    drawn: str = "",
    digits: int = 2,
) -> str:
    """HTML for ``_repr_html_``: the answer and one screenful of tables; what to type next is for a terminal.

    Args:
        report: What was found.
        chart: Values to draw with their intervals, or none.
        drawn: Name of the numbers that are drawn.
        digits: Of the drawing.
    """
    said = " ".join(report.verdict)
    tables = [
        {"title": table.title, "head": list(table.heads), "rows": [list(map(whole, row)) for row in table.rows]}
        for table in report.tables
    ]
    values = {
        "said": said,
        "tables": tables,
        "chart": interval_chart(chart, said, digits=digits) if chart else "",
        "drawn": drawn,
        "lines": [*report.lines, *(f"Note: {note}" for note in report.noted()), *report.stamps],
    }
    return str(render("notebook.html", values))
