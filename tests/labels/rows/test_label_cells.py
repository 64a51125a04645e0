"""Cells of labels and verdicts: marks of nothing, percent signs and decimal commas."""

from pathlib import Path

import numpy as np
import pytest

from judgec.errors import InputError
from judgec.labels.labels import read_label_file
from judgec.labels.reading import as_reading
from judgec.labels.rows.label_cells import label_cells
from judgec.raters.verdicts import read_verdicts
from judgec.records.scale import Scale
from judgec.records.tasks.winners import winner_words
from judgec.table.tables import read_table
from judgec.tournament.files.games import games_of
from judgec.verbs.agreement import agreement


@pytest.mark.parametrize(
    ("cells", "read"),
    [
        (["1", "2", "None", "-", "#N/A", "n/a"], ("1", "2", None, None, None, None)),
        (["1", "2", "None", "X"], ("1", "2", "None", "X")),  # which the scale, or --missing, says
        (["none", "partial", "full", "n/a"], ("none", "partial", "full", None)),
        (["-", "+", "0"], ("-", "+", "0")),
        (["yes", "no", "None"], ("yes", "no", None)),
        (["A", "B", "tie", "none"], ("A", "B", "tie", None)),
        (["a", "b", "none"], ("a", "b", "none")),  # neither of the two, perhaps
        (["good", "bad", "None"], ("good", "bad", "None")),
        (["20%", "60 %"], (0.2, 0.6)),
        (["20%", "3"], ("20%", "3")),
        (["0,75", "1,0", "0"], (0.75, 1.0, 0.0)),
        (["0,75", "1.5", "2"], (0.75, 1.5, 2.0)),  # typed as text beside cells that are numbers
        (["0,75", "1.000"], ("0,75", "1.000")),
        (["1,000", "2,500"], ("1,000", "2,500")),  # thousands, or three digits
        ([1, 2, "-"], (1, 2, None)),
    ],
)
def test_cells_are_read_by_what_their_column_holds(cells: list[object], read: tuple[object, ...]) -> None:
    assert label_cells(cells) == read


def test_mark_on_the_declared_scale_or_that_of_another_rater_is_a_grade() -> None:
    assert label_cells(["none", "1", "-"], Scale(name="s", grades=("none", "1"))) == ("none", "1", None)
    assert label_cells(["none", "good", "-"], Scale(name="s", grades=("bad", "good"))) == (None, "good", None)
    assert label_cells(["none", "none"], None, ["none", "partial", "full"]) == ("none", "none")


def test_winner_that_nobody_gave_is_missing_in_every_verb(tmp_path: Path) -> None:
    """A row of ``None`` is no game that anybody decided; a word that is on the scale, or was given a meaning, stays."""
    words = ("a", "b", "tie", "None", "error")
    rows = "".join(f"q{i}?,x{i},y{i},m,n,{words[i % 5]},{words[i % 4]}\n" for i in range(20))
    file = tmp_path / "t.csv"
    file.write_text("query,answer_a,answer_b,agent_a,agent_b,preference,gpt\n" + rows)
    said = winner_words({"error": "unscored"})
    assert len(read_label_file(str(file), as_reading(winner_words=said)).labels.labels) == 12
    assert int(np.isnan(games_of(read_table(str(file)), said=said).score).sum()) == 8
    found = agreement(str(file), judges="gpt", winner_words={"error": "unscored"}).agreement
    assert found.n + found.unscored == 12


def test_sign_on_the_scale_of_recorded_verdicts_is_a_verdict(tmp_path: Path) -> None:
    file = tmp_path / "v.csv"
    file.write_text("item_id,judge,grade\n1,j,-\n2,j,1\n")
    assert read_verdicts(str(file), ["-", 1]).coded["grade"].values == ["-", "1"]
    assert read_verdicts(str(file), [0, 1]).coded["grade"].values == ["1"]


def test_labels_count_marks_by_column(tmp_path: Path) -> None:
    rows = "".join(f"q{i}?,a{i},{(1, 2, '-', 'None')[i % 4]},{i % 2 + 1}\n" for i in range(8))
    (tmp_path / "t.csv").write_text("query,answer,mia,noah\n" + rows)
    found = read_label_file(str(tmp_path / "t.csv"), as_reading(annotators=["mia", "noah"], best="2"))
    assert sum(label.annotator == "mia" for label in found.labels.labels) == 4
    assert [note for note in found.labels.notes if note.startswith("Column mia: 4 cells") and "- (2), None (2)" in note]


def test_means_below_a_sheet_are_no_item_where_the_best_grade_was_said(tmp_path: Path) -> None:
    rows = "".join(f"q{i}?,a{i},{i % 4 + 1},{i % 3 + 1}\n" for i in range(8))
    (tmp_path / "t.csv").write_text("query,answer,mia,noah\n" + rows + "mean,,2.5,1.875\n")
    for more in ({}, {"round": "nearest"}):
        found = read_label_file(str(tmp_path / "t.csv"), as_reading(annotators=["mia", "noah"], best="4", **more))
        assert len(found.labels.items) == 8
        assert any("1 row left out, without query or answer" in note for note in found.labels.notes)


def test_verdicts_with_decimal_commas_are_numbers(tmp_path: Path) -> None:
    (tmp_path / "v.csv").write_text("item_id;judge;grade\n1;j;0,75\n2;j;1,0\n3;j;-\n")
    grade = read_verdicts(str(tmp_path / "v.csv"), [0, 1]).coded["grade"]
    assert [None if code < 0 else grade.values[code] for code in grade.codes] == [0.75, 1.0, None]


def test_answers_are_never_read_so(tmp_path: Path) -> None:
    (tmp_path / "t.csv").write_text('query,answer,grade\nq?,"1,5",1\nr?,None,2\ns?,20%,1\n')
    found = read_label_file(str(tmp_path / "t.csv"))
    assert [item.inputs["answer"] for item in found.labels.items] == ["1,5", "None", "20%"]


def test_winner_that_is_named_by_its_system_is_the_side_that_this_had_in_that_row(tmp_path: Path) -> None:
    """A sheet whose people and judge name the system that won, whichever side it stood on."""
    rng = np.random.default_rng(3)
    lines, sides = ["query,answer_a,answer_b,agent_a,agent_b,Mia,Noah,gpt"], []
    for number in range(40):
        pair = rng.permutation(["Heron", "Falcon"]).tolist()
        won = pair[int(rng.integers(2))] if number % 5 else "tie"
        sides.append("tie" if won == "tie" else "ab"[pair.index(won)])
        lines.append(f"q{number}?,one,two,{','.join(pair)},{won.upper()},{won},{won if number % 3 else pair[0]}")
    path = tmp_path / "duels.csv"
    path.write_text("\n".join(lines), encoding="utf-8")
    labels = read_label_file(str(path), as_reading(annotators=["Mia", "Noah"], judges=["gpt"])).labels
    grades = {(one.item_id, one.annotator): labels.scale.grades[one.grades["grade"]] for one in labels.labels}
    assert [[grades[item.item_id, who] for item in labels.items] for who in ("Mia", "Noah")] == [sides, sides]
    found = agreement(str(path), annotators=["Mia", "Noah"], judges="gpt")
    first = [side if n % 3 else "a" for n, side in enumerate(sides)]
    same = sum(one == other for one, other in zip(first, sides, strict=True))
    assert found.estimates["exact"].value == same / 40
    assert [one.cell for one in labels.judged["gpt"]] == first
    lines[2] = "q1?,one,two,Owl,Falcon,Heron,Heron,Heron"  # who did not play there
    path.write_text("\n".join(lines), encoding="utf-8")
    with pytest.raises(InputError, match="Heron"):
        read_label_file(str(path), as_reading(annotators=["Mia", "Noah"], judges=["gpt"]))
