"""Sheets that experts take away: nothing in them runs, and what comes back is what was said."""

import csv
import json
import zipfile
from collections.abc import Sequence
from pathlib import Path

import pytest
from hypothesis import given as property_of
from hypothesis import strategies as st

from judgec.errors import InputError, UserError
from judgec.labels.labels import read_label_file
from judgec.labels.review.sheet import NOTHING, Given, open_sheet
from judgec.labels.review.spreadsheet import export_sheet, import_sheet
from judgec.table.formulas import guarded, unguarded
from judgec.table.workbooks import read_sheets
from tests.labels.review.test_sheet import rows_of, sheet_of
from tests.table.spreadsheets import write_xlsx

FORMULA = '=HYPERLINK("http://evil.example";"click")'
ROWS: Sequence[dict[str, object]] = [
    {"item_id": "0012", "query": FORMULA, "answer": "A1\nline <&>", "contexts": ["one", "two"], "agent": "gpt"},
    {"item_id": "=i2", "query": "Q2", "answer": "-A2", "contexts": [], "annotator": "cem", "grade": 2},
    {"item_id": "i3", "query": "Q3 \x07 漢", "answer": "", "contexts": []},
]


def cells_of(path: Path) -> list[list[str]]:
    with path.open(encoding="utf-8-sig", newline="") as file:
        return list(csv.reader(file))


@pytest.mark.parametrize("suffix", [".csv", ".xlsx"])
def test_labels_of_a_sheet_come_back_to_their_items(tmp_path: Path, suffix: str) -> None:
    sheet, path = sheet_of(tmp_path, ROWS), tmp_path / f"bob{suffix}"
    sheet.save("i3", "bob", Given({"grade": 4}, "-good"))
    blank, notes = export_sheet(sheet, path, "bob")
    assert blank == 2
    assert ["control characters" in note for note in notes] == ([True] if suffix == ".xlsx" else [])
    table = [list(row) for row in read_sheets(str(path))[0].rows.values()] if suffix == ".xlsx" else cells_of(path)
    assert table[0] == ["item_id", "query", "answer", "contexts", "grade", "rationale", "annotator"]
    assert "gpt" not in str(table)  # blind to the agent, and to cem
    assert "cem" not in str(table)
    table[1][4], table[2][4], table[2][5] = "1", "5", FORMULA
    if suffix == ".xlsx":
        write_xlsx(path, {"labels": table})
    else:
        with path.open("w", newline="") as file:
            csv.writer(file).writerows(table)
    assert import_sheet(sheet, path) == {"bob": 3}
    assert sheet.given("bob") == {
        "0012": Given({"grade": 0}),
        "=i2": Given({"grade": 4}, FORMULA),
        "i3": Given({"grade": 4}, "-good"),
    }
    assert sheet.given("cem") == {"=i2": Given({"grade": 1})}
    assert len(read_label_file(str(sheet.path)).labels.labels) == 4


def test_rows_keep_why_they_were_chosen_whoever_grades_them_later(tmp_path: Path) -> None:
    sheet, path = sheet_of(tmp_path, ROWS), tmp_path / "next.csv"
    heads = ["item_id", "grade", "annotator", "stratum"]
    cells = [heads, ["0012", "3", "bob", "uncertain"], ["=i2", "4", "bob", "random"]]
    with path.open("w", newline="") as file:
        csv.writer(file).writerows(cells)
    assert import_sheet(sheet, path) == {"bob": 2}
    known = sheet.given("bob")["0012"]
    assert sheet.save("0012", "bob", Given({"grade": 4}), known=[known, NOTHING]) is None  # nobody wrote between
    sheet.save("0012", "ada", Given({"grade": 1}))
    strata = {(row["item_id"], row.get("annotator")): row.get("stratum") for row in rows_of(sheet.path)}
    assert strata["0012", "bob"] == strata["0012", "ada"] == "uncertain"
    assert strata["=i2", "bob"] == "random"
    assert strata["=i2", "cem"] is None


def test_sheet_holds_no_formula_whatever_the_texts_say(tmp_path: Path) -> None:
    sheet = sheet_of(tmp_path, ROWS)
    export_sheet(sheet, tmp_path / "s.csv", "=cmd|'/c calc'!A0")
    for row in cells_of(tmp_path / "s.csv"):
        assert not [cell for cell in row if cell.startswith(("=", "+", "-", "@", "\t", "\r"))]
    export_sheet(sheet, tmp_path / "s.xlsx", "=1+1")
    with zipfile.ZipFile(tmp_path / "s.xlsx") as archive:
        xml = archive.read("xl/worksheets/sheet1.xml").decode()
    assert "<f>" not in xml
    assert xml.count(' t="inlineStr"') == xml.count("<c ")
    assert '<formula1>"1,2,3,4,5"</formula1>' in xml  # the grades to choose from


@property_of(st.text(max_size=20))
def test_guard_keeps_every_text_and_none_begins_a_formula(text: str) -> None:
    assert unguarded(guarded(text)) == text
    assert not guarded(text).startswith(("=", "+", "-", "@", "\t", "\r"))


def test_sheet_with_faults_is_refused_whole_with_every_line(tmp_path: Path) -> None:
    sheet, path = sheet_of(tmp_path, ROWS), tmp_path / "s.csv"
    path.write_text("item_id,grade\n0012,3\ni3,9\nnobody,2\n")
    with pytest.raises(InputError) as error:
        import_sheet(sheet, path, "bob")
    assert [fault.split(":")[1] for fault in error.value.faults] == ["3", "4"]
    assert rows_of(sheet.path) == list(ROWS)
    path.write_text("id,grade\n0012,3\n")
    with pytest.raises(InputError, match="no column item_id"):
        import_sheet(sheet, path)
    with pytest.raises(UserError, match=r"\.csv and \.xlsx"):
        export_sheet(sheet, tmp_path / "s.ods", "bob")


@pytest.mark.parametrize(
    ("rows", "faults"),
    [
        ([["item_id", "grade"], ["", ""], ["0012", "3"], [], ["i3", "9"]], ["row 5"]),
        ([[], [], ["item_id", "grade"], *[[]] * 3, ["i3", 8], [], ["i3", 9]], ["row 7", "row 9"]),
    ],
)
def test_fault_of_a_workbook_names_the_row_of_the_sheet_after_blank_rows(
    tmp_path: Path, rows: list[list[object]], faults: list[str]
) -> None:
    path = write_xlsx(tmp_path / "s.xlsx", {"S": rows})
    with pytest.raises(InputError) as error:
        import_sheet(sheet_of(tmp_path, ROWS), path, "bob")
    assert [fault.split(": ")[0] for fault in error.value.faults] == [f"{path}:{row}" for row in faults]


def test_numbers_of_an_interval_scale_come_back_as_they_are(tmp_path: Path) -> None:
    rows = [
        {"item_id": name, "query": name, "answer": "a", "annotator": "ann", "grade": 2.25} for name in ("one", "two")
    ]
    file = tmp_path / "labels.jsonl"
    file.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    sheet, _ = open_sheet(str(file), scale={"grades": [1, 5], "level": "interval"})
    (tmp_path / "bob.csv").write_text("item_id,grade,annotator\none,2.667,bob\ntwo,5,bob\n", encoding="utf-8")
    assert import_sheet(sheet, tmp_path / "bob.csv") == {"bob": 2}
    kept = [(row["annotator"], row["grade"]) for row in map(json.loads, file.read_text(encoding="utf-8").splitlines())]
    assert sorted(kept) == [("ann", 2.25), ("ann", 2.25), ("bob", 2.667), ("bob", 5)]
