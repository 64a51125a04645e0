"""Documents on 24 devices, three questions on each, and a judge of their answers, for the tests of agents."""

from pathlib import Path

import pandas as pd

from tests.compile.small import compiled_from

_PARTS = {"Fenn": ("25 bar", "12 V", "steel"), "Plumb": ("60 m", "24 V", "brass"), "Rill": ("9 l", "48 V", "glass")}
_ASKED = ("range", "supply", "housing")
QUERIES = [
    {"query_id": f"{name}-{n}-{what}", "query": f"What {what} has the {name} {n}?", "reference": value}
    for n in range(8)
    for name, values in _PARTS.items()
    for what, value in zip(_ASKED, values, strict=True)
]


def make_parts(folder: Path) -> Path:
    """Write the documents to ``docs``, and compile ``parts`` and, of too few labels to be promoted, ``few``."""
    (folder / "docs").mkdir()
    for name, values in _PARTS.items():
        for n in range(8):
            lines = "\n".join(f"| {what} | {value} |" for what, value in zip(_ASKED, values, strict=True))
            text = f"# {name} {n}\n\n| | {name} {n} |\n|---|---|\n{lines}\n"
            (folder / "docs" / f"{name}-{n}.md").write_text(text, encoding="utf-8")
    rows = [
        {**query, "answer": answer, "grade": grade}
        for n, query in enumerate(QUERIES)
        for grade, answer in ((5, f"It is {query['reference']}."), (1 + n % 2, "The documents do not say."))
    ]
    compiled_from(folder, rows, name="parts", lm="embedded")
    few = compiled_from(folder, rows[:24], name="few", lm="embedded").saved.report
    assert pd.Series(few["notes"]).str.contains("under 30").sum() == 1
    return folder
