"""Shows a result in a notebook: its name, a sentence, a table, and a drawing of the numbers that matter most."""

from base64 import b64encode
from collections.abc import Mapping, Sequence

from judgec.records.estimate import Estimate
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
    lines: Sequence[str] = (),
    figures: Mapping[str, bytes] | None = None,
) -> str:
    """HTML for ``_repr_html_``.

    Args:
        sentence: What is shown.
        head: Of the table's columns.
        rows: Cells.
        name: Of what is shown.
        chart: Values to draw with their intervals, or none.
        digits: Of the drawing.
        lines: Sentences below the table.
        figures: PNGs beside each other, by what each shows.
    """
    drawn = interval_chart(chart, sentence, digits=digits) if chart else ""
    cells = [list(map(whole, row)) for row in rows]
    shown = {about: b64encode(image).decode() for about, image in (figures or {}).items()}
    values = {"name": name, "sentence": sentence, "head": head, "rows": cells, "chart": drawn, "lines": lines}
    return str(render("notebook.html", {**values, "figures": shown}))
