"""Rows of a sheet that are none, its header below titles, and questions that stand once above their answers."""

from collections.abc import Mapping
from pathlib import Path

import pytest

from judgec.table.rows.surplus import header_row
from judgec.table.tables import read_table

ROWS = "".join(f"How many {i}?,It is {i}.,{1 + i % 3}\n" for i in range(12))


def read(folder: Path, text: str) -> tuple[list[object], tuple[str, ...]]:
    """The questions of a table, and its notes."""
    (folder / "t.csv").write_text(text, encoding="utf-8")
    table = read_table(str(folder / "t.csv"))
    return [row["question"] for row in table.rows], table.notes


@pytest.mark.parametrize(
    ("rows", "header"),
    [
        ({1: ["a", "b"], 2: ["1", "2"]}, 1),
        ({1: ["Title", "", ""], 3: ["query", "answer", "grade"], 4: ["q", "a", "1"]}, 3),
        ({1: ["Author", "Mia"], 2: ["query", "answer", "grade"], 3: ["q", "a", "1"], 4: ["r", "b", "2"]}, 2),
        ({1: ["x", "y"], 2: ["u?", "m", "1"], 3: ["v?", "n", "2"]}, 1),
        ({2: ["only"], 3: ["one"]}, 2),
    ],
)
def test_header_row_is_the_first_as_wide_as_the_table(rows: Mapping[int, list[str]], header: int) -> None:
    assert header_row(rows) == header


@pytest.mark.parametrize(
    "text",
    [
        f"sep=,\nquestion,answer,grade\n{ROWS}",
        f"Our evaluation; draft\n\nquestion,answer,grade\n{ROWS}",
        f"question,answer,grade\nPrices,,\n{ROWS}question,answer,grade\n",
        f"question,answer,grade\n{ROWS}\nGrades: 1 is bad; 3 is good\n",
        f"question,answer,grade\n{ROWS}Zwischensumme,,12\n,Gemiddelde,1.9\n",
    ],
)
def test_what_is_no_row_is_left_out(tmp_path: Path, text: str) -> None:
    assert len(read(tmp_path, text)[0]) == 12


def test_question_alone_stays_and_a_short_row_is_named(tmp_path: Path) -> None:
    questions, _ = read(tmp_path, f"question,answer,grade\n{ROWS}Who?,,\n")
    assert questions[-1] == "Who?"


def test_question_above_its_answers_is_each_ones_and_a_forgotten_one_is_not(tmp_path: Path) -> None:
    two = "".join(f"How many {i}?,one,1\n,two,2\n" for i in range(4))
    questions, notes = read(tmp_path, f"question,answer,grade\n{two}")
    assert questions == [f"How many {i // 2}?" for i in range(8)]
    assert any("4 rows without question" in note for note in notes)
    assert read(tmp_path, f"question,answer,grade\n{ROWS},forgotten,2\n")[0][-1] == ""
