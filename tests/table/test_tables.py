import json
import os
from pathlib import Path

import pytest

from judgec.errors import InputError
from judgec.labels.bulk.items import open_items
from judgec.table.table import Table
from judgec.table.tables import read_table


def write(folder: Path, name: str, content: str | bytes) -> str:
    path = folder / name
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    return str(path)


def faults_of(path: str) -> list[str]:
    with pytest.raises(InputError) as caught:
        read_table(path)
    return [fault.removeprefix(str(Path(path).parent) + "/") for fault in caught.value.faults]


def values(table: Table) -> list[list[object]]:
    return [[row.get(column) for column in table.columns] for row in table.rows]


def test_csv_with_quotes_and_line_breaks_gives_first_line_of_each_row(tmp_path: Path) -> None:
    table = read_table(write(tmp_path, "t.csv", 'q,a\n"one\ntwo","say ""hi"""\n\nthree,4\n'))
    assert table.columns == ("q", "a")
    assert values(table) == [["one\ntwo", 'say "hi"'], ["three", "4"]]
    assert table.lines == (2, 5)
    assert table.where(1).endswith("t.csv:5")


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("plain.csv", "q,a\nx,1\ny,2\n"),
        ("mark.csv", b"\xef\xbb\xbfq,a\r\nx,1\r\ny,2\r\n"),
        ("quoted_mark.csv", b'\xef\xbb\xbf"q","a"\r\n"x",1\r\n"y",2'),
        ("old_mac.csv", "q,a\rx,1\ry,2\r"),
        ("european.csv", "q;a\nx;1\ny;2\n"),
        ("tabs.csv", "q\ta\nx\t1\ny\t2\n"),
        ("bars.csv", "q|a\nx|1\ny|2\n"),
        ("spaces.csv", "q, a\nx, 1\ny, 2\n"),
        ("trailing.csv", "q,a,\nx,1,\ny,2,\n,,\n"),
        ("UPPER.CSV", "q,a\nx,1\ny,2\n"),
        ("tabs.tsv", "q\ta\nx\t1\ny\t2\n"),
        ("commas.tsv", "q,a\nx,1\ny,2\n"),
        ("lines.jsonl", '{"q": "x", "a": "1"}\n\n{"q": "y", "a": "2"}\n'),
        ("mark.jsonl", b'\xef\xbb\xbf{"q": "x", "a": "1"}\r\n{"q": "y", "a": "2"}\r\n'),
        ("lines.ndjson", '{"q": "x", "a": "1"}\n{"q": "y", "a": "2"}'),
        ("array.json", '[\n {"q": "x", "a": "1"},\n {"q": "y",\n "a": "2"}]'),
        ("lines.json", '{"q": "x", "a": "1"}\n{"q": "y", "a": "2"}'),
    ],
)
def test_same_rows_in_any_dialect_give_the_same_table(tmp_path: Path, name: str, content: str | bytes) -> None:
    table = read_table(write(tmp_path, name, content))
    assert table.columns == ("q", "a")
    assert values(table) == [["x", "1"], ["y", "2"]]


@pytest.mark.parametrize(
    ("name", "content", "columns", "rows"),
    [
        ("t.csv", ",q,a\n0,x,1\n1,y,2\n", ("q", "a"), [["x", "1"], ["y", "2"]]),  # an index without a name
        ("t.csv", "q;answer, final;g\nx;y, z;1\n", ("q", "answer, final", "g"), [["x", "y, z", "1"]]),
        ("t.csv", f"q,a\nx,{'w' * 200_000}\n", ("q", "a"), [["x", "w" * 200_000]]),  # longer than csv's own limit
        ("t.tsv", 'q\ta\n"half\t1\n"Hi" he said\t2\n', ("q", "a"), [['"half', "1"], ['"Hi" he said', "2"]]),
        ("t.jsonl", '{"q": "a\u2028b"}\n{"q": "c", "late": 1}\n', ("q", "late"), [["a\u2028b", None], ["c", 1]]),
        ("t.csv", "q,a\rx,1\r", ("q", "a"), [["x", "1"]]),  # carriage returns that end all lines
        ("t.csv", 'q,a\n"x\ry",1\n', ("q", "a"), [["x\ry", "1"]]),
    ],
    ids=range(7),
)
def test_odd_tables_are_read_as_they_are(
    tmp_path: Path, name: str, content: str, columns: tuple[str, ...], rows: list[list[object]]
) -> None:
    table = read_table(write(tmp_path, name, content))
    assert (table.columns, values(table)) == (columns, rows)


def test_json_array_rows_carry_the_line_they_begin_on(tmp_path: Path) -> None:
    rows = [{"q": "x", "n": [1, 2]}, {"q": "y"}, {"q": "z"}]
    path = write(tmp_path, "t.json", "\n" + json.dumps(rows, indent=1))
    lines = Path(path).read_text().split("\n")
    assert [lines[number - 1] for number in read_table(path).lines] == [" {"] * 3
    assert read_table(path).lines == (3, 10, 13)


@pytest.mark.parametrize(
    ("name", "content", "place", "seen"),
    [
        ("t.csv", "", "t.csv:1:", "empty"),
        ("t.csv", " \n\n", "t.csv:1:", "empty"),
        ("t.csv", b"\xef\xbb\xbf", "t.csv:1:", "empty"),
        ("t.jsonl", "\n", "t.jsonl:1:", "empty"),
        ("t.csv", "q,a\n", "t.csv:1:", "without rows"),
        ("t.json", "[]", "t.json:1:", "no rows"),
        ("t.csv", "q,a\nx,1\ny\n", "t.csv:3:", "1 cell; the header names 2"),
        ("t.csv", "q,a\nx,1,2\n", "t.csv:2:", "3 cells; the header names 2"),
        ("t.csv", 'q,a\nx,1\n"open,2\ny,3\n', "t.csv:3:", "broken"),
        ("t.csv", "q,a,q\nx,1,2\n", "t.csv:1:", "'q' appears 2 times"),
        ("t.csv", b"q,a\nB\xc3\xa4r,1\nZ\xfcrich,2\n", "t.csv:3:", "byte 0xfc at position 2"),
        ("t.csv", b"q,a\nx,1\xff\x9d\n", "t.csv:2:", "byte 0xff at position 4"),
        ("t.csv", "q,a\nx,1\0\n", "t.csv:2:", "NUL"),
        ("t.jsonl", '{"q": 1}\n{"q": \n', "t.jsonl:2:", "not JSON"),
        ("t.jsonl", '{"q": 1}\n[1]\n', "t.jsonl:2:", "a list; one object"),
        ("t.json", '[{"q": 1},\n{"q": }]', "t.json:2:", "not JSON"),
        ("t.xls", "PK", "t.xls:", "format .xls is not known"),
        ("t.xlsx", "PK", "t.xlsx:", "not an Excel or OpenDocument workbook"),
    ],
)
def test_broken_file_is_refused_with_its_line(
    tmp_path: Path, name: str, content: str | bytes, place: str, seen: str
) -> None:
    (fault,) = faults_of(write(tmp_path, name, content))
    assert fault.startswith(place)
    assert seen in fault


@pytest.mark.parametrize(("name", "mark", "shown"), [("t.csv", ",", ","), ("t.tsv", "\t", "\\t")])
def test_stray_carriage_return_in_a_header_is_named(tmp_path: Path, name: str, mark: str, shown: str) -> None:
    content = "query,ans\rwer,grade\nq,a,1\nq2,b,0\n".replace(",", mark)
    first, *others = faults_of(write(tmp_path, name, content))
    assert first.startswith(f"{name}:1: a carriage return (CR)")
    assert f"'query{shown}ans'" in first
    assert len(others) == 2
    with pytest.raises(InputError, match="carriage return"):
        open_items(str(tmp_path / name), task="grade")


def test_all_broken_lines_are_collected_and_the_first_ten_shown(tmp_path: Path) -> None:
    path = write(tmp_path, "t.csv", "q,a\n" + "x\n" * 12 + "y,2\n")
    with pytest.raises(InputError) as caught:
        read_table(path)
    assert len(caught.value.faults) == 12
    assert str(caught.value).splitlines()[-1] == "... and 2 more, 12 in all."


def test_every_line_that_is_not_utf8_is_named(tmp_path: Path) -> None:
    faults = faults_of(write(tmp_path, "t.csv", b"q\n" + b"\xe9\n\xc3\xa9\n\xe8\n"))
    assert [fault.split(": ")[0] for fault in faults] == ["t.csv:2", "t.csv:4"]
    (fault,) = faults_of(str(tmp_path / "none.csv"))
    assert fault.startswith("none.csv: no such")


@pytest.mark.parametrize("name", ["rows.csv", "rows.xlsx", "rows.xlsx#Sheet"])
def test_pipe_is_refused_as_one_and_not_waited_for(tmp_path: Path, name: str) -> None:
    os.mkfifo(tmp_path / name.partition("#")[0])
    (fault,) = faults_of(str(tmp_path / name))
    assert "a pipe" in fault
    assert "no such file" not in fault


def test_folder_of_a_train_set_is_read_through_its_label_file(tmp_path: Path) -> None:
    write(tmp_path, "labels.jsonl", '{"q": "x"}\n')
    table = read_table(str(tmp_path))
    assert values(table) == [["x"]]
    assert table.where(0) == f"{tmp_path}/labels.jsonl:1"


def test_rows_without_any_value_are_skipped_and_counted(tmp_path: Path) -> None:
    table = read_table(write(tmp_path, "t.csv", "q,a\nx,1\n,\n , \ny,2\n"))
    assert table.lines == (2, 5)
    assert [note.split(" ")[0] for note in table.notes] == ["2"]
