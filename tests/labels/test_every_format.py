"""The same labels in every format are the same label set, whatever the texts are."""

import csv
import io
import json
from collections.abc import Callable
from pathlib import Path

import pandas as pd
import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from judgec.labels.labels import read_label_file
from tests.table.spreadsheets import write_ods, write_xlsx

NAMES = ["query", "answer", "annotator", "grade"]
# What XML 1.0 and a line of delimited text can hold, without blanks at the edges, which a sheet may drop.
texts = st.text(
    st.characters(exclude_categories=["Cs", "Cc", "Zl", "Zp", "Zs", "Cn", "Co"], exclude_characters="\ufffe\uffff"),
    min_size=1, max_size=8,
).map(lambda text: f'text {text}, "said" <&>\nand;so')  # fmt: skip
rows_of_labels = st.lists(st.tuples(texts, texts, st.integers(1, 5)), min_size=2, max_size=6).filter(
    lambda rows: len({grade for *_, grade in rows}) > 1
)
Rows = list[list[object]]


def _delimited(path: Path, rows: Rows) -> None:
    text = io.StringIO(newline="")
    csv.writer(text, delimiter="," if path.suffix == ".csv" else "\t").writerows([NAMES, *rows])
    path.write_text(text.getvalue(), encoding="utf-8", newline="")


def _json_lines(path: Path, rows: Rows) -> None:
    lines = (json.dumps(dict(zip(NAMES, row, strict=True))) + "\n" for row in rows)
    path.write_text("".join(lines), encoding="utf-8")


FORMATS: dict[str, Callable[[Path, Rows], object]] = {
    ".csv": _delimited,
    ".tsv": _delimited,
    ".jsonl": _json_lines,
    ".parquet": lambda path, rows: pd.DataFrame(rows, columns=NAMES).to_parquet(path),
    ".xlsx": lambda path, rows: write_xlsx(path, {"Labels": [NAMES, *rows]}),
    ".ods": lambda path, rows: write_ods(path, {"Labels": [NAMES, *rows]}),
}


@given(rows_of_labels)
@example([("=1+1", "007", 1), ("2026-01-02", "true", 5), ("a  b", "-", 3)])
@settings(max_examples=25, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@pytest.mark.filterwarnings("ignore::DeprecationWarning")
def test_label_set_is_the_same_from_every_format(tmp_path: Path, rows: list[tuple[str, str, int]]) -> None:
    table: Rows = [[f"{query} {i}", answer, "ann", grade] for i, (query, answer, grade) in enumerate(rows)]
    found = {}
    for suffix, write in FORMATS.items():
        path = tmp_path / f"labels{suffix}"
        write(path, table)
        found[suffix] = read_label_file(str(path)).labels
    first = found[".csv"]
    assert [item.inputs["query"] for item in first.items] == [row[0] for row in table]
    for suffix, labels in found.items():
        assert labels.digest == first.digest, suffix
        assert (labels.items, labels.scale, labels.notes) == (first.items, first.scale, first.notes), suffix
        assert [label.grades for label in labels.labels] == [label.grades for label in first.labels], suffix
