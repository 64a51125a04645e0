"""Workbooks that we write open in the programs that people read them with, every cell as it was given."""

import csv
import shutil
import subprocess
import tempfile
import zipfile
from collections.abc import Callable, Sequence
from pathlib import Path

import openpyxl
import pandas as pd
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from python_calamine import CalamineWorkbook

from judgec.errors import UserError
from judgec.table import xlsx
from judgec.table.workbooks import read_sheets
from judgec.table.xlsx import MOST_CELL, Cell, WrittenSheet, sheet_writer
from tests.table.spreadsheets import letters

Reader = Callable[[Path], list[list[object]]]
TEXTS = [
    *(
        "=1+1",
        "{=1+1}",
        "+1",
        "@SUM(A1)",
        "https://example.org/a?b=1&c=2",
        "mailto:a@b.org",
        "007",
        "1e5",
        "2026-01-02",
    ),
    *("TRUE", "#N/A!", "<r>no markup & none</r>", "<r><t>red</t></r>", "</t></is></c>", "]]>", " two  spaces "),
    *("a\n\tb", "Größe 漢字 עברית 👩‍🔬", "x" * MOST_CELL),
]
NUMBERS: list[float] = [0, -7, 2**53, 0.1 + 0.2, 1 / 3, 1e-300, 12345678901234.567, -0.5]


def written(
    path: Path, rows: Sequence[Sequence[Cell]], *, widths: Sequence[int] = (), choices: Sequence[Sequence[str]] = ()
) -> WrittenSheet:
    with path.open("wb") as file, sheet_writer(file, "judged", widths=widths, choices=choices) as sheet:
        for row in rows:
            sheet.put(row)
    return sheet


def by_openpyxl(path: Path) -> list[list[object]]:
    book = openpyxl.load_workbook(path)
    found = [list(row) for row in book["judged"].iter_rows(values_only=True)]
    book.close()
    return found


def by_calamine(path: Path) -> list[list[object]]:
    return [list(row) for row in CalamineWorkbook.from_path(str(path)).get_sheet_by_name("judged").to_python()]


def by_pandas(path: Path, engine: str) -> list[list[object]]:
    frame = pd.read_excel(path, header=None, keep_default_na=False, engine=engine)  # type: ignore[call-overload]
    return [list(row) for row in frame.itertuples(index=False)]


READERS: dict[str, Reader] = {
    "openpyxl": by_openpyxl,
    "calamine": by_calamine,
    "pandas": lambda path: by_pandas(path, "openpyxl"),
    "pandas-calamine": lambda path: by_pandas(path, "calamine"),
}
EVERY_READER = pytest.mark.parametrize("read", READERS.values(), ids=READERS)


@EVERY_READER
def test_texts_are_texts_and_numbers_are_numbers_in_every_reader(tmp_path: Path, read: Reader) -> None:
    path = tmp_path / "o.xlsx"
    cells: list[list[Cell]] = [["text", "number", "yes"], *(list[Cell]([text, 0.25, True]) for text in TEXTS)]
    sheet = written(path, cells)
    assert not sheet.notes
    rows = read(path)
    assert [row[0] for row in rows[1:]] == TEXTS
    assert {type(row[0]) for row in rows} == {str}
    assert [(row[1], row[2]) for row in rows[1:]] == [(0.25, True)] * len(TEXTS)
    written(path, [["n"], *([number] for number in NUMBERS)])
    assert [row[0] for row in read(path)[1:]] == NUMBERS  # to the last digit


def test_sheet_holds_no_formula_and_no_link(tmp_path: Path) -> None:
    written(tmp_path / "o.xlsx", [["text"], *([text] for text in TEXTS)])
    book = openpyxl.load_workbook(tmp_path / "o.xlsx")
    cells = [cell for row in book["judged"].iter_rows() for cell in row]
    assert {cell.data_type for cell in cells} == {"s"}
    assert not any(cell.hyperlink for cell in cells)
    with zipfile.ZipFile(tmp_path / "o.xlsx") as archive:
        assert b"<f>" not in archive.read("xl/worksheets/sheet1.xml")


@EVERY_READER
def test_what_no_cell_holds_is_cut_or_replaced_and_counted(tmp_path: Path, read: Reader) -> None:
    path = tmp_path / "o.xlsx"
    rows = [["a", "b"], ["x" * 40_000, "\x07bell \x00 \ud800 \uffff"], ["👍" * 20_000, "a\r\nb\rc"], ["", "k"]]
    sheet = written(path, rows)
    assert (sheet.cut, sheet.mended) == (2, 1)
    assert [note.split(" ")[0] for note in sheet.notes] == ["2", "1"]
    found = read(path)
    assert found[1] == ["x" * 32_767, "\ufffdbell \ufffd \ufffd \ufffd"]
    assert found[2] == ["👍" * 16_383, "a\nb\nc"]  # one is two units, of which a cell holds 32,767
    assert found[3][0] in {None, ""}


@given(st.lists(st.text(st.characters(codec="utf-8", exclude_characters="\r_"), max_size=12), min_size=1, max_size=4))
@settings(max_examples=15, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_any_text_comes_back_alike_from_every_reader(tmp_path: Path, texts: list[str]) -> None:
    kept = [xlsx._INVALID.sub("\ufffd", text) for text in texts]
    path = tmp_path / "o.xlsx"
    written(path, [["head", *(f"c{n}" for n in range(len(texts)))], ["first", *texts]])
    for name, read in READERS.items():
        row = [cell if cell is not None else "" for cell in read(path)[1]]
        assert row[1:] == kept, name
    assert list(read_sheets(str(path))[0].rows[2])[1:] == kept


def test_first_row_stays_in_view_columns_are_wide_and_grades_are_offered(tmp_path: Path) -> None:
    long = [f"grade number {n:03}" for n in range(30)]  # more than a list holds
    choices = [(), ["1", "2"], ["a,b"], long]
    rows = [["query", "grade", "x", "y"], ["q", "", "", ""], ["r", "2", "", ""]]
    written(tmp_path / "o.xlsx", rows, widths=[60, 16, 16, 16], choices=choices)
    sheet = openpyxl.load_workbook(tmp_path / "o.xlsx")["judged"]
    assert sheet.freeze_panes == "A2"
    assert [round(sheet.column_dimensions[letters(n)].width) for n in range(2)] == [61, 17]
    offered = sheet.data_validations.dataValidation
    assert [(str(one.sqref), one.formula1, one.type) for one in offered] == [("B2:B3", '"1,2"', "list")]


def test_more_than_a_sheet_holds_is_refused_and_nothing_is_left_behind(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(xlsx, "MOST_ROWS", 3)
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    with pytest.raises(UserError, match=r"3 rows; a workbook holds 2\."):
        written(tmp_path / "o.xlsx", [["a"]] * 4)
    assert [path.name for path in tmp_path.iterdir()] == ["o.xlsx"]  # of the temporary files none
    with pytest.raises(UserError, match=r"16,385 columns; a workbook holds 16,384\."):
        written(tmp_path / "o.xlsx", [["a"] * 16_385])


@pytest.mark.skipif(shutil.which("soffice") is None, reason="LibreOffice is not installed: not tried in it")
def test_libreoffice_reads_the_same(tmp_path: Path) -> None:
    texts = [text for text in TEXTS if len(text) < 1000]
    rows: list[list[Cell]] = [["text", "n"], *(list[Cell]([text, 0.5]) for text in texts)]
    written(tmp_path / "o.xlsx", rows)
    command = ["soffice", f"-env:UserInstallation=file://{tmp_path}/profile", "--headless", "--convert-to"]
    kind = "csv:Text - txt - csv (StarCalc):44,34,76,1,,0,false,true,false"
    subprocess.run(
        [*command, kind, "--outdir", str(tmp_path), str(tmp_path / "o.xlsx")], check=True, capture_output=True
    )
    with (tmp_path / "o.csv").open(encoding="utf-8", newline="") as file:
        assert list(csv.reader(file)) == [["text", "n"], *([text, "0.5"] for text in texts)]
