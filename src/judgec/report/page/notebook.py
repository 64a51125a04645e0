"""Shows a result in a notebook: its name, a sentence, and a table."""

from collections.abc import Mapping, Sequence

from judgec.records.agreement import Agreement
from judgec.report.agreement_columns import statistic, statistics
from judgec.report.columns import TableColumns
from judgec.report.kit import render


def notebook_part(sentence: str, head: Sequence[str], rows: Sequence[Sequence[str]], *, name: str = "") -> str:
    """HTML for ``_repr_html_``.

    Args:
        sentence: What is shown.
        head: Of the table's columns.
        rows: Cells.
        name: Of what is shown.
    """
    return str(render("notebook.html", {"name": name, "sentence": sentence, "head": head, "rows": rows}))


def judges_part(name: str, sentence: str, judges: Mapping[str, Agreement]) -> str:
    """The same of judges: their statistics with intervals.

    Args:
        name: Of what is shown.
        sentence: What it is worth.
        judges: Agreement by judge.
    """
    head, rows = TableColumns([statistic(each) for each in statistics(judges)]).page(list(judges.values()))
    named = [[judge.replace("_", " "), *row] for judge, row in zip(judges, rows, strict=True)]
    return notebook_part(sentence, ["", *head], named, name=name)
