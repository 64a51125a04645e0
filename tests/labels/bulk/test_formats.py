"""Formats of judged files: the types of columns in Parquet."""

import json
from datetime import UTC, date, datetime
from pathlib import Path

import pyarrow.parquet as pq

from judgec.labels.bulk.formats import FORMATS, JudgedRow, Target
from judgec.labels.bulk.items import open_items


def test_parquet_has_a_type_that_all_cells_of_a_column_fit_else_text(tmp_path: Path) -> None:
    cells: dict[str, tuple[object, object]] = {
        "whole": (1, None),
        "number": (1, 2.5),
        "long": (2**60, 2.5),
        "truth": (True, 1),
        "texts": (["a"], ["b\ud800"]),
        "object": ({"a": 1}, None),
        "none": (None, None),
    }
    rows = [{"query": "q", "answer": str(at)} | {name: own[at] for name, own in cells.items()} for at in range(2)]
    file, out = tmp_path / "i.jsonl", tmp_path / "o.parquet"
    file.write_text("".join(json.dumps(row) + "\n" for row in rows))
    items = open_items(str(file), task="grade")
    for row, day in zip(items.table.rows, (date(2026, 1, 2), datetime(2026, 1, 2, 3, tzinfo=UTC)), strict=True):
        row["day"] = day  # as of a table in memory
    columns = (*cells, "day")
    target = Target(columns, "item_id", ("grade",), {"grade": float}, 2, inputs=True, path=out)
    with out.open("wb") as raw, FORMATS[".parquet"](raw, target, items, []) as sink:
        sink.write((row, JudgedRow(f"i{at}", {"grade": at})) for at, row in enumerate(items.table.rows))
    found = pq.read_table(out)
    assert [str(kind) for kind in found.schema.types] == [
        *("string", "int64", "double", "string", "string", "list<element: string>", "string", "string", "string"),
        "double",
    ]
    assert found.to_pylist()[1] == {
        "item_id": "i1", "whole": None, "number": 2.5, "long": "2.5", "truth": "1", "texts": ["b\ufffd"],
        "object": None, "none": None, "day": "2026-01-02 03:00:00+00:00", "grade": 1.0,
    }  # fmt: skip
