"""Failure modes in files: columns, lists, words, raters; what is absent, what nobody said, and what is refused."""

import json
from pathlib import Path

import pytest

from judgec.errors import InputError, UserError
from judgec.labels.labels import read_label_file
from judgec.labels.reading import as_reading
from judgec.labels.review.sheet import open_sheet
from judgec.labels.rows.modes import with_modes
from judgec.records.label import LabelSet
from judgec.table.table import Table

COLUMNS = ("query", "answer", "mode.wrong", "mode.rude")


def labels(folder: Path, rows: list[dict[str, object]], **how: object) -> LabelSet:
    path = folder / "labels.jsonl"
    texts = ({"query": f"q{n}", "answer": f"a{n}"} for n in range(len(rows)))
    path.write_text("".join(json.dumps(text | row) + "\n" for text, row in zip(texts, rows, strict=True)))
    return read_label_file(str(path), as_reading(**how)).labels


def said(found: LabelSet) -> list[dict[str, int]]:
    return [dict(label.grades) for label in found.labels]


def test_columns_take_what_people_write_and_an_empty_cell_is_no_label(tmp_path: Path) -> None:
    cells: list[tuple[object, object]] = [(1, False), ("Yes", "absent"), ("0", None), (None, "")]
    found = labels(tmp_path, [{"mode.wrong": wrong, "mode.rude": rude} for wrong, rude in cells])
    assert (found.task, found.aspects) == ("modes", ("wrong", "rude"))
    assert (found.scale.grades, found.scale.accept_at) == ((0, 1), None)
    assert said(found) == [{"wrong": 1, "rude": 0}, {"wrong": 1, "rude": 0}, {"wrong": 0}]
    assert not any("accept" in note for note in found.notes)


def test_list_says_absent_of_all_others_and_an_empty_cell_says_nothing(tmp_path: Path) -> None:
    lists: list[object] = [["wrong", "rude"], [], "rude, late", '["wrong"]', None]
    rows: list[dict[str, object]] = [{"modes": one} for one in lists]
    found = labels(tmp_path, [*rows, {"modes": ["wrong"], "mode.rude": 1}])  # the cell of its own counts
    assert found.aspects == ("rude", "late", "wrong")  # columns of their own first
    assert ["".join(str(one[name]) for name in ("wrong", "rude", "late")) for one in said(found)] == [
        *("110", "000", "011", "100", "110")
    ]


def test_list_and_columns_of_the_same_labels_have_the_same_digest(tmp_path: Path) -> None:
    listed = labels(tmp_path, [{"modes": ["late"]}, {"modes": []}, {"modes": ["late", "rude"]}])
    columns = labels(tmp_path, [{"mode.late": late, "mode.rude": rude} for late, rude in ((1, 0), (0, 0), (1, 1))])
    assert listed.digest == columns.digest


def test_modes_of_the_datasheet_are_absent_where_no_list_names_them(tmp_path: Path) -> None:
    (tmp_path / "labels.datasheet.toml").write_text('[aspects.late]\nasks = "does it come late"\n')
    found = labels(tmp_path, [{"modes": ["rude"]}, {"modes": []}])
    assert found.aspects == ("late", "rude")
    assert said(found) == [{"late": 0, "rude": 1}, {"late": 0, "rude": 0}]
    assert found.scale.aspect("late").asks == "does it come late"


def test_raters_have_columns_of_their_own(tmp_path: Path) -> None:
    rows: list[dict[str, object]] = [{"ann.mode.wrong": n % 2, "bob.mode.wrong": 1, "ann.mode.rude": 0} for n in (0, 1)]
    found = labels(tmp_path, rows, annotators=("ann", "bob"))
    assert [(label.annotator, dict(label.grades)) for label in found.labels[:2]] == [
        ("ann", {"wrong": 0, "rude": 0}),
        ("bob", {"wrong": 1}),
    ]


@pytest.mark.parametrize(
    ("rows", "fault"),
    [
        ([{"mode.wrong": 1}, {"mode.wrong": 2}], r"jsonl:2: mode.wrong 2 .* failure mode \(0, 1\)"),
        ([{"mode.wrong": 1}, {"mode.wrong": "maybe"}], r"jsonl:2: mode.wrong maybe "),
        ([{"modes": ["a"]}, {"modes": {"a": 1}}], r"jsonl:2: modes is \{'a': 1\}; a list"),
        ([{"modes": "[a"}, {"modes": []}], r"jsonl:1: modes is no JSON"),
        ([{"modes": [""]}, {"modes": []}], r"jsonl:1: modes is"),
        ([{"modes": []}, {"modes": []}], "query, answer fit no task"),
    ],
)
def test_cell_that_is_no_mode_is_refused_with_its_line(
    tmp_path: Path, rows: list[dict[str, object]], fault: str
) -> None:
    with pytest.raises(InputError, match=fault):
        labels(tmp_path, rows)


def test_other_scale_in_the_datasheet_is_refused(tmp_path: Path) -> None:
    (tmp_path / "labels.datasheet.toml").write_text("[scale]\ngrades = [0, 1, 2]\n")
    with pytest.raises(InputError, match=r"0, 1, 2; .* 0 \(absent\) or 1 \(present\)"):
        labels(tmp_path, [{"mode.wrong": 1}, {"mode.wrong": 0}])


def test_list_beside_labels_of_another_task_is_left_alone() -> None:
    table = Table("f", ("query", "answer", "grade", "modes"), ({"grade": 1, "modes": "fast"},), (1,), by_line=True)
    assert with_modes(table, None) is table
    assert with_modes(table, "grade") is table


def test_list_is_no_sheet_for_people_who_grade(tmp_path: Path) -> None:
    labels(tmp_path, [{"modes": ["late"]}, {"modes": []}])
    with pytest.raises(UserError, match=r"column modes .*mode.NAME"):
        open_sheet(str(tmp_path / "labels.jsonl"))
