"""Sheets of several people who graded the same items are one table; other sheets are not read with them."""

from pathlib import Path

import pytest

from judgec.errors import InputError
from judgec.table.rows.heads import may_be_no_person
from judgec.table.tables import read_table
from tests.table.spreadsheets import Rows, write_xlsx

ITEMS = [["1", "What is A?", "It is one."], ["2", "What is B?", "It is two."], ["3", "What is C?", "It is three."]]


def sheet(*grades: object, head: str = "Grade") -> Rows:
    return [["Nr", "Question", "Answer", head], *([*item, grade] for item, grade in zip(ITEMS, grades, strict=False))]


def read(tmp_path: Path, **sheets: Rows) -> tuple[list[tuple[object, object, object]], str]:
    """Who graded which answer how, and the notes."""
    path = tmp_path / "t.xlsx"
    write_xlsx(path, {name.replace("_", " "): rows for name, rows in sheets.items()})
    table = read_table(str(path))
    found = [(row.get("annotator"), row.get("Answer"), row.get("Grade", row.get("grade"))) for row in table.rows]
    return found, " ".join(table.notes)


def test_sheet_of_the_same_items_is_a_persons_and_its_name_who_graded(tmp_path: Path) -> None:
    found, said = read(tmp_path, Mia=sheet(1, 2, 3), Noah=sheet(3, 2, 1), Legend=[["1", "bad"], ["3", "good"]])
    given = (("Mia", "123"), ("Noah", "321"))
    assert found == [(who, item[2], grade) for who, own in given for item, grade in zip(ITEMS, own, strict=True)]
    assert "Sheets Mia, Noah" in said


def test_places_name_the_sheet(tmp_path: Path) -> None:
    path = tmp_path / "t.xlsx"
    write_xlsx(path, {"Mia": sheet(1, 2, 3), "Noah": [["Noah's sheet"], *sheet(3, 2)]})
    table = read_table(str(path))
    assert [table.where(at) for at in (0, 4)] == [f"{path}#Mia:row 2", f"{path}#Noah:row 4"]
    assert read_table(f"{path}#Noah").columns == ("Nr", "Question", "Answer", "Grade")


def test_head_with_the_name_of_the_sheet_is_the_same_column(tmp_path: Path) -> None:
    found, _ = read(tmp_path, Mia=sheet(1, 2, 3, head="Mia"), Noah=sheet(3, 2, 1, head="Noah"))
    assert [(who, grade) for who, _, grade in found][2:4] == [("Mia", "3"), ("Noah", "3")]


def test_items_are_joined_by_texts_and_by_ids_whatever_their_order(tmp_path: Path) -> None:
    items: Rows = [row[:3] for row in sheet(0, 0, 0)]
    mia: Rows = [["Nr", "Grade"], ["3", 1], ["1", 2]]
    found, _ = read(tmp_path, Items=items, Mia=mia, Noah=[["Nr", "Grade"], ["2", 3], ["3", 1]])
    assert found[:3] == [("Mia", "It is three.", "1"), ("Mia", "It is one.", "2"), ("Noah", "It is two.", "3")]
    back = sheet(3, 2, 1)
    found, _ = read(tmp_path, Mia=sheet(1, 2, 3), Noah=[back[0], back[3], back[1]])
    assert found[3:] == [("Noah", "It is three.", "1"), ("Noah", "It is one.", "3")]


@pytest.mark.parametrize("name", ["Mean", "Summary_final", "Vorlage"])
def test_sums_and_blank_forms_are_nobodys(tmp_path: Path, name: str) -> None:
    rows = sheet("", "", "") if name == "Vorlage" else sheet(2, 2, 2)
    found, said = read(tmp_path, Mia=sheet(1, 2, 3), Noah=sheet(3, 2, 1), **{"Mean" if "_" in name else name: rows})
    assert {who for who, _, _ in found} == {"Mia", "Noah"}
    assert "not " in said


def test_sheets_of_other_items_are_not_read_with_the_first(tmp_path: Path) -> None:
    other: Rows = [["Nr", "Question", "Answer", "Grade"], *([n, f"Who is {n}?", f"It is {n}.", 1] for n in "789")]
    found, said = read(tmp_path, May=sheet(1, 2, 3), June=other)
    assert len(found) == 3
    assert "Sheet 'May'" in said
    assert "not June" in said


def test_several_people_on_each_of_several_sheets_are_an_error_that_names_one(tmp_path: Path) -> None:
    rows: Rows = [["Question", "Answer", "Mia", "Noah"], *([*item[1:], 1, 2] for item in ITEMS)]
    with pytest.raises(InputError, match=r"Mia, Noah .*t.xlsx#First"):
        read(tmp_path, First=rows, Second=rows)


def test_names_of_sheets_that_may_be_nobodys() -> None:
    assert all(map(may_be_no_person, ["Sheet1", "Tabelle2", "Round 2", "v1", "Mia (2)", "2024", "Model A", "Лист1"]))
    assert not any(map(may_be_no_person, ["Mia", "Sanne de Vries", "Rater 1", "Expert A", "Prüferin Lena", "小明"]))
