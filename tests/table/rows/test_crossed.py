"""A crossed form is read as the heads over its crosses; what is no such form stays as it is."""

from collections.abc import Sequence
from pathlib import Path

import pytest

from judgec.table.tables import read_table


def read(tmp_path: Path, *lines: str) -> tuple[list[object], tuple[str, ...], str]:
    path = tmp_path / "t.csv"
    path.write_text("\n".join(lines))
    table = read_table(str(path))
    cells = table.column("grade").cells() if "grade" in table.columns else []
    return cells, table.columns, " ".join(table.notes).replace(f"{tmp_path}/", "")


def test_grade_is_the_head_over_the_cross_and_several_crosses_are_listed(tmp_path: Path) -> None:
    rows = ["q1,a1,,X,,,3", "q2,a2,x,,,,4", "q3,a3,,x,x,,1", "q4,a4,,,,,2", "q5,a5,,,x,,5", "q6,a6, x ,,,,5"]
    cells, columns, said = read(tmp_path, "Question,Answer,1,2,3,4,GPT-4", *rows)
    assert cells == ["2", "1", None, None, "3", "1"]
    assert columns == ("Question", "Answer", "grade", "GPT-4")
    assert "t.csv:4 (2, 3)" in said
    assert "t.csv:5" not in said  # nothing is crossed there


@pytest.mark.parametrize(
    ("heads", "rows", "grades"),
    [
        ("1 (schlecht),2,3 (gut)", [",✓,", "✓,,", ",,✔"], ["2", "1", "3"]),
        ("falsch,teilweise,richtig", [",x,", "x,,", ",,x"], ["teilweise", "falsch", "richtig"]),
        ("1,2,3", ["0,1,0", "1,0,0", "0,0,1"], ["2", "1", "3"]),
        ("0,1,2", ["FALSE,TRUE,FALSE", "TRUE,FALSE,FALSE", "FALSE,FALSE,TRUE"], ["1", "0", "2"]),
    ],
)
def test_heads_and_marks_of_several_kinds(tmp_path: Path, heads: str, rows: Sequence[str], grades: list[str]) -> None:
    assert read(tmp_path, f"Frage,Antwort,{heads}", *(f"q{at},a{at},{row}" for at, row in enumerate(rows)))[0] == grades


def test_form_of_each_person_is_a_column_of_the_person(tmp_path: Path) -> None:
    rows = ["q1,a1,x,,,x", "q2,a2,,x,,x", "q3,a3,,x,x,"]
    _, columns, _ = read(tmp_path, "Question,Answer,Mia 1,Mia 2,Noah 1,Noah 2", *rows)
    assert columns == ("Question", "Answer", "Mia", "Noah")


@pytest.mark.parametrize(
    ("heads", "rows"),
    [
        ("1,2,3", ["x,x,", "x,x,x", ",x,"]),  # several may be crossed
        ("1,2,3", ["4,5,4", "1,2,1", "3,3,3"]),  # annotators of these names
        ("1,2", ["1,0", "0,1", "1,0"]),  # two people, or two questions
        ("Mia 1,Mia 2,Mia 3", ["1,1,0", "0,1,1", "1,0,0"]),  # gradings
        ("Mia,Noah", ["x,", ",x", "x,"]),  # no grades
    ],
)
def test_other_columns_stay(tmp_path: Path, heads: str, rows: Sequence[str]) -> None:
    _, columns, said = read(tmp_path, f"Question,Answer,{heads}", *(f"q{at},a{at},{r}" for at, r in enumerate(rows)))
    assert columns == ("Question", "Answer", *heads.split(","))
    assert "Crosses" not in said
