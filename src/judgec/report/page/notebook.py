"""Shows a result in a notebook: its name, a sentence, a table, and a drawing of the numbers that matter most."""

from collections.abc import Mapping, Sequence

from judgec.records.agreement import Agreement
from judgec.records.estimate import Estimate
from judgec.report.agreement_columns import statistic, statistics
from judgec.report.columns import TableColumns
from judgec.report.kit import render, whole
from judgec.report.page.interval_chart import interval_chart


def notebook_part(
    sentence: str,
    head: Sequence[str],
    rows: Sequence[Sequence[str]],
    *,
    name: str = "",
    chart: Mapping[str, Estimate] | None = None,
    digits: int = 2,
) -> str:
    """HTML for ``_repr_html_``.

    Args:
        sentence: What is shown.
        head: Of the table's columns.
        rows: Cells.
        name: Of what is shown.
        chart: Values to draw with their intervals, or none.
        digits: Of the drawing.
    """
    drawn = interval_chart(chart, sentence, digits=digits) if chart else ""
    cells = [list(map(whole, row)) for row in rows]
    values = {"name": name, "sentence": sentence, "head": head, "rows": cells, "chart": drawn}
    return str(render("notebook.html", values))


def judges_part(name: str, sentence: str, judges: Mapping[str, Agreement], headline: str | None = None) -> str:
    """The same of judges: their statistics with intervals.

    Args:
        name: Of what is shown.
        sentence: What it is worth.
        judges: Agreement by judge.
        headline: The statistic that is drawn, too.
    """
    head, rows = TableColumns([statistic(each) for each in statistics(judges)]).page(list(judges.values()))
    named = [[judge.replace("_", " "), *row] for judge, row in zip(judges, rows, strict=True)]
    numbers = zip(judges, judges.values(), strict=True) if headline else ()
    chart = {judge.replace("_", " "): one.estimates[str(headline)] for judge, one in numbers}
    return notebook_part(sentence, ["", *head], named, name=name, chart=chart)
