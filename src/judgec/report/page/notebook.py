"""Shows judges in a notebook: a sentence, and a table of their statistics with intervals."""

from collections.abc import Mapping

from judgec.records.agreement import Agreement
from judgec.report.agreement_columns import statistic, statistics
from judgec.report.columns import TableColumns
from judgec.report.kit import render


def notebook_part(name: str, sentence: str, judges: Mapping[str, Agreement]) -> str:
    """HTML for ``_repr_html_``.

    Args:
        name: Of what is shown.
        sentence: What it is worth.
        judges: Agreement by judge.
    """
    head, rows = TableColumns([statistic(each) for each in statistics(judges)]).page(list(judges.values()))
    named = [[judge.replace("_", " "), *row] for judge, row in zip(judges, rows, strict=True)]
    return str(render("notebook.html", {"name": name, "sentence": sentence, "head": ["", *head], "rows": named}))
