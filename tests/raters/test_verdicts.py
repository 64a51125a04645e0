"""Recorded verdicts from files: every format alike, faults by line, a million rows."""

import json
import subprocess
import sys
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from judgec.errors import InputError
from judgec.labels.reading import as_reading
from judgec.raters.verdicts import VerdictColumns, read_verdicts
from judgec.table.table import Row, Table
from judgec.table.tables import read_table
from tests.pace import assert_within

GRADES = (0, 1, 2)
ROWS: list[Row] = [
    {"item_id": "a", "judge": "one", "grade": 2, "p_2": 0.5, "reply": 'said "2"\nthen nothing', "cost_usd": 0.25},
    {"item_id": "b", "judge": "one", "grade": None, "p_2": None, "reply": "?", "cost_usd": None},
    {"item_id": "a", "judge": "two", "grade": 1, "p_2": 0.25, "reply": "", "cost_usd": None},
]


def cells(found: VerdictColumns) -> dict[str, list[object]]:
    read = {}
    for name, column in found.coded.items():
        read[name] = [None if code < 0 else str(column.values[code]).removesuffix(".0") for code in column.codes]  # noqa: PD011  # no frame
    return read | {name: [None if np.isnan(x) else x for x in column] for name, column in found.numbers.items()}


@pytest.mark.parametrize("kind", ["csv", "tsv", "jsonl", "json", "parquet", "table"])
def test_read_verdicts_every_format_gives_the_same_columns(tmp_path: Path, kind: str) -> None:
    path, frame = tmp_path / f"verdicts.{kind}", pd.DataFrame(ROWS)
    if kind == "parquet":
        frame.astype({"grade": "Int8"}).to_parquet(path)
    elif kind in {"csv", "tsv"}:
        frame.to_csv(path, index=False, sep="," if kind == "csv" else "\t")
    elif kind == "jsonl":
        path.write_text("".join(json.dumps(row) + "\n" for row in ROWS))
    else:
        path.write_text(json.dumps(ROWS))
    rows = Table("rows", tuple(ROWS[0]), tuple(ROWS), (1, 2, 3), by_line=False)
    read = read_verdicts(rows if kind == "table" else str(path), GRADES)
    table = rows if kind == "table" else read_table(str(path))
    assert [read.where([row]) for row in range(3)] == [table.where(row) for row in range(3)]
    assert cells(read) == {
        "item_id": ["a", "b", "a"],
        "judge": ["one", "one", "two"],
        "grade": ["2", None, "1"],
        "p_2": [0.5, None, 0.25],
        "reply": ['said "2"\nthen nothing', "?", None],
        "cost_usd": [0.25, None, None],
    }


def test_read_verdicts_under_other_heads_are_the_same_where_they_are_named(tmp_path: Path) -> None:
    path, heads = tmp_path / "verdicts.csv", {"model": "judge", "score": "grade", "price": "cost_usd"}
    theirs = {ours: name for name, ours in heads.items()}
    pd.DataFrame(ROWS).rename(columns=theirs).to_csv(path, index=False)
    found = read_verdicts(str(path), GRADES, as_reading(columns={**heads, "elsewhere": "query"}))
    pd.DataFrame(ROWS).to_csv(path, index=False)
    assert cells(found) == cells(read_verdicts(str(path), GRADES))


@pytest.mark.parametrize("blank", ["\n", " , , \n"])
def test_read_verdicts_of_a_file_with_blank_rows_counts_lines_as_every_table(tmp_path: Path, blank: str) -> None:
    path = tmp_path / "verdicts.csv"
    path.write_text(f'item_id,judge,grade\n"x\ny",one,1\n{blank}z,one,2\n')
    read = read_verdicts(str(path), GRADES)
    assert cells(read)["item_id"] == ["x\ny", "z"]
    assert read.where([1]) == f"{path}:5"


@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
def test_read_verdicts_of_cells_over_several_lines_names_the_lines_on_which_rows_begin(
    tmp_path: Path, end: str
) -> None:
    path = tmp_path / "verdicts.csv"
    rows = ["item_id,judge,grade,reply", 'x,one,1,"a', "b", '"', "y,one,2,plain", 'z,one,1,"two', 'lines"', "w,one,1,"]
    path.write_bytes(end.join([*rows, ""]).encode())
    read, table = read_verdicts(str(path), GRADES), read_table(str(path))
    assert [read.where([row]) for row in range(4)] == [table.where(row) for row in range(4)]
    assert read.where([3]) == f"{path}:8"


def test_read_verdicts_says_which_probabilities_it_does_not_know(tmp_path: Path) -> None:
    path = tmp_path / "verdicts.csv"
    path.write_text("item_id,judge,grade,p_2,p_3\nx,one,1,.5,.5\n")
    assert any("p_3: no grade" in note for note in read_verdicts(str(path), GRADES).notes)


@pytest.mark.parametrize(("name", "text"), [("v.csv", "item_id,judge\nx\n"), ("v.jsonl", "[1]\n"), ("v.parquet", "no")])
def test_read_verdicts_of_a_broken_file_is_the_error_of_every_table(tmp_path: Path, name: str, text: str) -> None:
    (tmp_path / name).write_text(text)
    with pytest.raises(InputError) as theirs:
        read_table(str(tmp_path / name))
    with pytest.raises(InputError) as ours:
        read_verdicts(str(tmp_path / name), GRADES)
    assert str(ours.value) == str(theirs.value)


FILES = ("csv", "jsonl")
READ = """
import sys, time
from pathlib import Path
from judgec.raters.recorded import OnWhat, read_recorded
from judgec.records.scale import Scale
began = time.process_time()
found = read_recorded(sys.argv[1], OnWhat("relevance", Scale(grades=(0, 1, 2, 3)), ("grade",)))
seconds = time.process_time() - began
most = next(line for line in Path("/proc/self/status").read_text().splitlines() if line.startswith("VmHWM"))
print(sum(len(one.cost) for one in found.recordings.values()), len(found.notes), seconds, most.split()[1])
"""


@pytest.mark.soak
@pytest.mark.parametrize("kind", ["parquet", *FILES])
def test_a_million_verdicts_are_read_in_ten_seconds_and_below_two_gigabytes_and_a_half(
    tmp_path: Path, kind: str
) -> None:
    rng = np.random.default_rng(0)
    item, judge = np.tile(np.arange(20_000), 50), np.repeat(np.arange(50), 20_000)
    n = len(item)
    frame = pd.DataFrame(
        {
            "item_id": [f"item-{i:06d}" for i in item],
            "judge": [f"model/prompt-{j}" for j in judge],
            "grade": pd.array(rng.integers(0, 4, n), dtype="Int8"),
            **{f"p_{grade}": rng.random(n) for grade in range(4)},
            "reply": [f"I think it is {i}, for reason number {i % 997}" for i in range(n)],
            "cost_usd": rng.random(n) / 1000,
        }
    )
    frame.loc[n // 2, ["grade", "cost_usd"]] = None  # two notes that name the line
    path = tmp_path / f"verdicts.{kind}"
    if kind == "parquet":
        frame.to_parquet(path)
    elif kind == "csv":
        frame.to_csv(path, index=False)
    else:
        frame.to_json(path, orient="records", lines=True)

    def read() -> float:
        command = [sys.executable, "-c", READ, str(path)]
        done = subprocess.run(command, capture_output=True, text=True, check=True, timeout=400)
        rows, notes, seconds, kilobytes = map(float, done.stdout.split())
        assert (rows, notes) == (n, 2)
        assert kilobytes < 2_500_000
        return seconds

    assert_within(10, read)
