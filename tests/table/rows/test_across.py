"""A table with items across is turned; any other stays as it is."""

from collections.abc import Mapping, Sequence
from pathlib import Path

import pytest

from judgec.errors import InputError
from judgec.labels.proposal import UserChoices, propose
from judgec.labels.reading import Datasheet
from judgec.table.coded import read_coded
from judgec.table.rows.across import turned
from judgec.table.table import column_letters
from judgec.table.tables import read_table
from tests.table.spreadsheets import letters, write_xlsx

ROWS: list[list[object]] = [
    ["Frage", "Was kostet A?", "Was kostet B?", "Was kostet A?"],
    ["Antwort", "Zwei Euro.", "Drei Euro.", "Vier Euro."],
    ["KI", 1, 2, 3],
    ["Lena", 2, 2, 3],
    ["Tim", 1, "", 3],
]


def test_turned_table_has_a_row_an_item_and_its_places_are_columns(tmp_path: Path) -> None:
    csv, xlsx = tmp_path / "t.csv", tmp_path / "t.xlsx"
    csv.write_text("\n".join(";".join(map(str, row)) for row in ROWS))
    write_xlsx(xlsx, {"Bogen": [["Auswertung"], *ROWS]})
    for path in (csv, xlsx):
        table = read_table(str(path))
        assert table.columns == ("Frage", "Antwort", "KI", "Lena", "Tim")
        assert [row["Antwort"] for row in table.rows] == ["Zwei Euro.", "Drei Euro.", "Vier Euro."]
        assert table.where(1) == f"{path}:column C"
        assert read_coded(str(path), ["Lena"]).where(2) == f"{path}:column D"


def test_columns_are_lettered_as_in_a_spreadsheet() -> None:
    assert [column_letters(n) for n in (1, 26, 27, 52, 53, 702, 703)] == ["A", "Z", "AA", "AZ", "BA", "ZZ", "AAA"]
    assert all(letters(n) == column_letters(n + 1) for n in range(800))  # of the tests' own writer


@pytest.mark.parametrize(
    "rows",
    [
        {1: ["Question", "Answer", "Mia"], 2: ["What is it?", "It is.", "1"]},
        {1: ["field", "value"], 2: ["question", "What?"], 3: ["answer", "It."], 4: ["question", "Who?"]},  # repeated
        {1: ["Question", "What is it?", "Who?"], 2: ["Mia", "1", "2"]},  # no answers
        {1: ["", "Item 1", "Item 2"], 2: ["Mia", "1", "2"], 3: ["Noah", "1", "2"]},
    ],
)
def test_other_tables_are_not_turned(rows: Mapping[int, Sequence[str]]) -> None:
    assert turned(rows) == {}


def test_graders_down_and_items_across_without_texts_end_in_an_error_that_says_so(tmp_path: Path) -> None:
    path = tmp_path / "t.csv"
    path.write_text("Rater,Item 1,Item 2,Item 3,Item 4,Item 5\nMia,1,2,3,1,2\nNoah,1,3,3,1,2\nGPT-4,2,2,3,1,1")
    with pytest.raises(InputError, match=r"Mia, Noah, .*Turn the table"):
        propose(read_table(str(path)), Datasheet(), UserChoices())
