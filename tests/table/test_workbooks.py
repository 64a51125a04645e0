"""Excel and OpenDocument: the table that people see, and nothing that an archive can do to its reader."""

import datetime as dt
import struct
import zipfile
from collections.abc import Callable, Sequence
from pathlib import Path

import pytest

from judgec.errors import InputError
from judgec.labels.reading import find_datasheet
from judgec.labels.split.family import default_family
from judgec.table import workbooks
from judgec.table.tables import read_table
from judgec.table.workbooks import split_sheet
from tests.table.spreadsheets import MAIN, Error, Formula, Rows, write_ods, write_xlsx

Write = Callable[..., Path]
BOTH = pytest.mark.parametrize(("write", "suffix"), [(write_xlsx, ".xlsx"), (write_ods, ".ods")], ids=["xlsx", "ods"])
TABLE: Rows = [["query", "answer", "grade"], ["Q1", "A1", 5.0], ["Q2", "A2", 3]]


@BOTH
def test_cells_of_every_kind_become_the_text_that_people_see(tmp_path: Path, write: Write, suffix: str) -> None:
    row: list[object] = ["a\nb  c <&>", 5.0, 0.5, True, False, dt.date(2026, 3, 1), "", "007"]
    header = ["text", "whole", "half", "yes", "no", "day", "blank", "code"]
    rows: list[Sequence[object]] = [[*header, "", ""], [], [*row, "", ""], ["", ""], ["x"]]
    table = read_table(str(write(tmp_path / f"t{suffix}", {"S": rows})))
    assert table.columns == tuple(header)
    assert list(table.rows[0].values()) == ["a\nb  c <&>", "5", "0.5", "true", "false", "2026-03-01", "", "007"]
    assert table.lines == (3, 5)
    assert table.where(1).endswith(f"t{suffix}:row 5")


def test_formulas_give_their_saved_value_and_errors_are_counted_and_empty(tmp_path: Path) -> None:
    rows: Rows = [["query", "grade"], [Formula("Q1"), Error("#DIV/0!")], ["Q2", 3]]
    table = read_table(str(write_xlsx(tmp_path / "t.xlsx", {"S": rows})))
    assert [list(row.values()) for row in table.rows] == [["Q1", ""], ["Q2", "3"]]
    assert table.notes[0].startswith("1 cell ")


@BOTH
def test_first_sheet_that_has_the_columns_is_read_or_the_one_that_is_named(
    tmp_path: Path, write: Write, suffix: str
) -> None:
    sheets = {"Read me": [["About", "us"], ["x", "y"]], "Labels": TABLE, "März 2": [["Frage", "Zahl"], ["F", 1]]}
    path = str(write(tmp_path / f"t{suffix}", sheets))
    assert read_table(path).columns == ("query", "answer", "grade")
    note = read_table(path).notes[0]
    assert note.startswith("Sheet 'Labels'")
    assert "not Read me, März 2" in note
    assert read_table(path, having=["Zahl"]).columns == ("Frage", "Zahl")
    named = read_table(f"{path}#Read me")
    assert named.columns == ("About", "us")
    assert named.where(0).endswith(f"t{suffix}#Read me:row 2")
    with pytest.raises(InputError, match=r"'Nope'; .* Read me, Labels, März 2"):
        read_table(f"{path}#Nope")
    assert default_family(f"{path}#März 2") == "t"
    (tmp_path / "t.datasheet.toml").write_text("")
    assert find_datasheet(f"{path}#v1.2") == tmp_path / "t.datasheet.toml"


def test_file_whose_name_has_a_hash_is_that_file(tmp_path: Path) -> None:
    path = write_xlsx(tmp_path / "a.xlsx#b.xlsx", {"S": TABLE})
    assert split_sheet(str(path)) == (str(path), None)
    assert split_sheet("x.xlsx#b") == ("x.xlsx", "b")
    assert split_sheet("x.csv#b") == ("x.csv#b", None)


@BOTH
def test_title_above_the_header_is_passed_over_and_said(tmp_path: Path, write: Write, suffix: str) -> None:
    table = read_table(str(write(tmp_path / f"t{suffix}", {"S": [["Evaluation, March"], [], *TABLE]})))
    assert (table.columns, table.lines) == (("query", "answer", "grade"), (4, 5))
    assert "row 3" in table.notes[0]


def test_heading_merged_over_several_columns_is_named_by_the_row_below(tmp_path: Path) -> None:
    rows = [["query", "answer", "Anna", "", "Ben", ""], ["", "", "accuracy", "note", "accuracy", "why"], [*"qa1x2y"]]
    path = write_xlsx(tmp_path / "t.xlsx", {"S": rows}, merged=["A1:A2", "B1:B2", "C1:D1", "E1:F1"])
    table = read_table(str(path))
    assert table.columns == ("query", "answer", "Anna accuracy", "note", "Ben accuracy", "why")
    assert list(table.rows[0].values()) == [*"qa1x2y"]


def test_archive_that_declares_too_much_is_refused_before_it_is_unpacked(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = write_xlsx(tmp_path / "t.xlsx", {"S": TABLE}, parts={"xl/sharedStrings.xml": " " * 50_000})
    monkeypatch.setattr(workbooks, "MOST_BYTES", 20_000)
    monkeypatch.setattr(zipfile.ZipFile, "read", lambda *_: pytest.fail("unpacked"))
    with pytest.raises(InputError, match=r"to 5\d,\d{3} bytes; .* 20,000"):
        read_table(str(path))


def test_archive_that_lies_about_its_size_is_refused(tmp_path: Path) -> None:
    path = write_xlsx(tmp_path / "t.xlsx", {"S": TABLE}, parts={"xl/sharedStrings.xml": " " * 50_000})
    data = bytearray(path.read_bytes())
    with zipfile.ZipFile(path) as archive:
        size = archive.getinfo("xl/sharedStrings.xml").file_size
    assert data.count(struct.pack("<L", size)) == 2
    path.write_bytes(data.replace(struct.pack("<L", size), struct.pack("<L", 100)))
    with pytest.raises(InputError, match="not an Excel"):
        read_table(str(path))


@pytest.mark.parametrize(
    "cell",
    ['<row r="1"><c r="XFE1"><v>1</v></c></row>', '<row r="1048577"/>', '<row><c r="Z1"/><c r="A1048576"/></row>'],
)
def test_cell_far_out_is_refused_before_rows_grow(tmp_path: Path, cell: str) -> None:
    sheet = f'<worksheet xmlns="{MAIN}"><sheetData>{cell}</sheetData></worksheet>'
    path = write_xlsx(tmp_path / "t.xlsx", {"S": TABLE}, parts={"xl/worksheets/sheet1.xml": sheet})
    with pytest.raises(InputError, match="reaches to row"):
        read_table(str(path))


@pytest.mark.parametrize("prefix", ["table", "x"])
def test_repeated_cells_of_opendocument_are_counted_before_they_are_unfolded(tmp_path: Path, prefix: str) -> None:
    cell = f'<table:table-cell {prefix}:number-columns-repeated="16000" office:value-type="float" office:value="1"/>'
    raw = f'<table:table table:name="S"><table:table-row {prefix}:number-rows-repeated="9000">{cell}</table:table-row>'
    with pytest.raises(InputError, match="reaches to row 9000, column 16000"):
        read_table(str(write_ods(tmp_path / "t.ods", {}, raw=f"{raw}</table:table>")))


def test_blank_rest_of_an_opendocument_sheet_costs_nothing(tmp_path: Path) -> None:
    blank = '<table:table-cell table:number-columns-repeated="16380"/>'
    cell = '<table:table-cell office:value-type="string"><text:p>{}</text:p></table:table-cell>'
    rows = f"<table:table-row>{cell}{{}}</table:table-row>"
    rest = f'<table:table-row table:number-rows-repeated="1048570">{blank}</table:table-row>'
    raw = f'<table:table table:name="S">{rows.format("query", blank)}{rows.format("Q", blank)}{rest}</table:table>'
    table = read_table(str(write_ods(tmp_path / "t.ods", {}, raw=raw)))
    assert table.columns == ("query",)
    assert table.rows == ({"query": "Q"},)


LAUGHS = '<!DOCTYPE x [<!ENTITY a "aaaaaaaaaa"><!ENTITY b "&a;&a;&a;&a;&a;&a;&a;&a;&a;&a;">]>'


@pytest.mark.parametrize(
    ("part", "content", "seen"),
    [
        ("worksheets/sheet1", '<!DOCTYPE x [<!ENTITY a "aaaa">]><worksheet>&a;</worksheet>', "document type"),
        ("sharedStrings", f'{LAUGHS}<sst xmlns="{MAIN}"><si><t>&b;</t></si></sst>', "document type"),
        *(("", content, "not an Excel or OpenDocument") for content in ("PK nothing", "")),
    ],
    ids=["entities", "entities that grow", "broken", "empty"],
)
def test_workbook_that_is_none_is_refused(tmp_path: Path, part: str, content: str, seen: str) -> None:
    path = tmp_path / "t.xlsx"
    if part:
        write_xlsx(path, {"S": TABLE}, parts={f"xl/{part}.xml": content})
    else:
        path.write_text(content)
    with pytest.raises(InputError, match=seen):
        read_table(str(path))
    with pytest.raises(InputError, match="no such file"):
        read_table(str(tmp_path / "none.ods"))


def test_workbook_without_rows_says_so(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="row 1: a header without rows"):
        read_table(str(write_xlsx(tmp_path / "t.xlsx", {"S": TABLE[:1]})))
    with pytest.raises(InputError, match="the workbook is empty"):
        read_table(str(write_ods(tmp_path / "t.ods", {"S": [[]]})))


def long_text_in(path: Path, cells: Sequence[int]) -> Path:
    """A column of cells, each the head (0), a long text (1) or a letter (2), which the workbook holds once."""
    texts = "".join(f"<si><t>{text}</t></si>" for text in ("query", "x" * 32_000, "a"))
    rows = "".join(f'<row r="{n}"><c r="A{n}" t="s"><v>{one}</v></c></row>' for n, one in enumerate(cells, 1))
    sheet = f'<worksheet xmlns="{MAIN}"><sheetData>{rows}</sheetData></worksheet>'
    parts = {"xl/sharedStrings.xml": f'<sst xmlns="{MAIN}">{texts}</sst>', "xl/worksheets/sheet1.xml": sheet}
    return write_xlsx(path, {"S": TABLE}, parts=parts)


def test_one_long_text_in_very_many_cells_is_refused_before_it_is_copied(tmp_path: Path) -> None:
    path = long_text_in(tmp_path / "t.xlsx", [0, *[1] * 19_999])
    assert path.stat().st_size < 200_000  # 640 million characters
    with pytest.raises(InputError, match="400,000,000 characters"):
        read_table(str(path))


def test_a_long_text_in_few_of_many_cells_is_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(workbooks, "MOST_TEXT", 100_000)
    table = read_table(str(long_text_in(tmp_path / "t.xlsx", [0, 1, *[2] * 98])))
    assert [len(str(row["query"])) for row in table.rows] == [32_000, *[1] * 98]


def test_long_text_that_opendocument_repeats_is_refused_before_it_is_copied(tmp_path: Path) -> None:
    text = f"<text:p>{'x' * 10_000}</text:p>"
    cell = f'<table:table-cell table:number-columns-repeated="100" office:value-type="string">{text}</table:table-cell>'
    raw = f'<table:table table:name="S"><table:table-row table:number-rows-repeated="1000">{cell}</table:table-row>'
    with pytest.raises(InputError, match="400,000,000 characters"):
        read_table(str(write_ods(tmp_path / "t.ods", {}, raw=f"{raw}</table:table>")))
