"""Nuggets in a label file: as texts, as objects, as lines, and what is said of others."""

import json
from pathlib import Path

import pytest

from judgec.errors import InputError
from judgec.labels.labels import read_items, read_labels
from judgec.labels.rows.nuggets import nugget_rows
from judgec.table.tables import read_table

ROW = {"query": "What is known?", "answer": "It is deep.", "grade": 3}


def written(tmp_path: Path, *rows: dict[str, object]) -> str:
    file = tmp_path / "labels.jsonl"
    file.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return str(file)


@pytest.mark.parametrize(
    "nuggets",
    [
        ["It is deep.", "okay: It is old."],
        [{"text": "It is deep.", "importance": "vital"}, {"text": "It is old.", "importance": "okay"}],
        json.dumps([{"text": "It is deep."}, "OKAY: It is old."]),
        "It is deep.\nokay: It is old.",
    ],
)
def test_nuggets_in_any_form_are_the_same_and_tell_the_task(tmp_path: Path, nuggets: object) -> None:
    read = read_labels(written(tmp_path, {**ROW, "nuggets": nuggets}, {**ROW, "answer": "No.", "grade": 1}))

    assert read.task == "claims"
    assert read.items[0].inputs["nuggets"] == ("vital: It is deep.", "okay: It is old.")
    assert "nuggets" not in read.items[1].inputs


def test_nugget_of_another_importance_is_named_with_its_line(tmp_path: Path) -> None:
    file = written(tmp_path, ROW | {"nuggets": [{"text": "It is deep.", "importance": "high"}]})

    with pytest.raises(
        InputError, match=r"jsonl:1: nuggets: importance 'high'; a text that is vital or okay is needed"
    ):
        read_items(file, task="claims")


@pytest.mark.parametrize(
    "criteria",
    [
        [
            {"criterion": "It is deep.", "points": 5, "criteria_met": True},
            {"criterion": "It is a lake.", "points": -2, "criteria_met": False},
        ],
        ["+5: It is deep.", "-2: It is a lake."],
        "+5: It is deep.\n-2: It is a lake.",
    ],
)
def test_criteria_with_weights_are_nuggets_and_what_people_found_of_them_is_no_input(
    tmp_path: Path, criteria: object
) -> None:
    row = {**ROW, "contexts": ["It is deep."], "criteria": criteria}
    read = read_labels(written(tmp_path, row, {**row, "answer": "No.", "grade": 1}))

    assert read.task == "claims"
    assert read.items[0].inputs["nuggets"] == ("+5: It is deep.", "-2: It is a lake.")
    items = read_items(written(tmp_path, row), task="claims")
    assert items[0].inputs["nuggets"] == ("+5: It is deep.", "-2: It is a lake.")


def test_criteria_in_prose_are_no_nuggets(tmp_path: Path) -> None:
    row = {**ROW, "contexts": ["It is deep."], "criteria": "Be brief and name the depth."}

    assert read_labels(written(tmp_path, row, {**row, "answer": "No.", "grade": 1})).task == "grade"


def test_weight_that_is_no_number_is_named_with_its_line(tmp_path: Path) -> None:
    file = written(tmp_path, ROW | {"nuggets": [{"text": "It is deep.", "weight": "much"}]})

    with pytest.raises(InputError, match=r"jsonl:1: nuggets: weight 'much'; a text that is vital or okay is needed"):
        read_items(file, task="claims")


def test_verdicts_of_nuggets_in_two_columns_are_rows_of_grades(tmp_path: Path) -> None:
    rows: list[dict[str, object]] = [
        {
            "query_id": "q",
            "nuggets": [
                {"text": "It is deep.", "assignment": "support"},
                {"text": "It is old.", "assignment": "partial_support"},
                {"text": "It is wide.", "assignment": "not_support"},
            ],
            "found_nuggets": json.dumps(
                [
                    {"text": "It is old.", "verdict": "supported"},
                    {"text": "It is deep.", "verdict": "partly supported"},
                    {"text": "It is wide.", "verdict": "contradicted"},
                ]
            ),
        }
    ]
    table = nugget_rows(read_table(written(tmp_path, *rows)), ("nuggets", "found_nuggets"))

    assert [(row["nugget"], row["nuggets"], row["found_nuggets"]) for row in table.rows] == [
        ("It is deep.", 2, 1),
        ("It is old.", 1, 2),
        ("It is wide.", 0, 0),
    ]
    assert {row["query_id"] for row in table.rows} == {"q"}


def test_columns_of_grades_have_no_rows_of_nuggets(tmp_path: Path) -> None:
    table = read_table(written(tmp_path, {**ROW, "nuggets": ["It is deep."]}))

    assert nugget_rows(table, ("grade", "grade")) is table
    assert nugget_rows(table, ("nuggets", "nuggets")) is table


def test_answer_with_nothing_to_check_it_against_is_no_file_of_claims(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="task claims needs contexts or reference or nuggets"):
        read_labels(written(tmp_path, ROW, {**ROW, "grade": 1}), task="claims")


def test_grades_without_nuggets_are_of_the_task_grade(tmp_path: Path) -> None:
    rows = [ROW | {"contexts": ["It is deep."]}, ROW | {"contexts": ["It is old."], "grade": 1}]

    assert read_labels(written(tmp_path, *rows)).task == "grade"
    assert read_labels(written(tmp_path, *rows), task="claims").task == "claims"


def test_yes_and_no_say_whether_a_citation_is_supported(tmp_path: Path) -> None:
    row = {"query": "What is known?", "answer": "It is deep [1].", "contexts": ["It is deep."]}
    read = read_labels(
        written(tmp_path, {**row, "supported": "Yes"}, {**row, "contexts": ["Fish."], "supported": False})
    )

    assert (read.task, read.accept_only) == ("cited", False)
    assert [label.grades["grade"] for label in read.labels] == [1, 0]


def test_label_that_holds_sentences_is_the_reference_and_one_that_holds_grades_is_not(tmp_path: Path) -> None:
    rows = [
        {**ROW, "query": f"How deep is it at {n}?", "label": f"It is {n} m deep.", "grade": 1 + n % 5}
        for n in range(20)
    ]
    read = read_labels(written(tmp_path, *rows))

    assert read.items[3].inputs["reference"] == "It is 3 m deep."
    assert any("label as reference" in note for note in read.notes)
    short = [{**row, "label": ("quite right so", "not right at all")[n % 2]} for n, row in enumerate(rows)]
    assert "reference" not in read_labels(written(tmp_path, *short)).items[3].inputs
