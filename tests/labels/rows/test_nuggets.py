"""Nuggets in a label file: as texts, as objects, as lines, and what is said of others."""

import json
from collections.abc import Mapping
from pathlib import Path

import pytest

from judgec.errors import InputError
from judgec.labels.labels import read_items, read_labels
from judgec.labels.reading import Reading, as_reading
from judgec.labels.rows.nuggets import nugget_rows
from judgec.table.tables import read_table

ROW = {"query": "What is known?", "answer": "It is deep.", "grade": 3}


def written(tmp_path: Path, *rows: Mapping[str, object]) -> str:
    file = tmp_path / "labels.jsonl"
    file.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return str(file)


OKAY = ("vital: It is deep.", "okay: It is old.")
WEIGHED = ("+5: It is deep.", "-2: It is a lake.")


@pytest.mark.parametrize(
    ("column", "given", "nuggets"),
    [
        ("nuggets", ["It is deep.", "okay: It is old."], OKAY),
        (
            "nuggets",
            [{"text": "It is deep.", "importance": "vital"}, {"text": "It is old.", "importance": "okay"}],
            OKAY,
        ),
        ("nuggets", json.dumps([{"text": "It is deep."}, "OKAY: It is old."]), OKAY),
        ("nuggets", "It is deep.\nokay: It is old.", OKAY),
        (
            "criteria",  # what people found of them is no input
            [
                {"criterion": "It is deep.", "points": 5, "criteria_met": True},
                {"criterion": "It is a lake.", "points": -2, "criteria_met": False},
            ],
            WEIGHED,
        ),
        ("criteria", [*WEIGHED], WEIGHED),
        ("criteria", "\n".join(WEIGHED), WEIGHED),
    ],
)
def test_nuggets_in_any_form_are_the_same_and_tell_the_task(
    tmp_path: Path, column: str, given: object, nuggets: tuple[str, ...] | None
) -> None:
    row = {**ROW, column: given} | ({"contexts": ["It is deep."]} if column == "criteria" else {})
    named = {} if column == "nuggets" else {column: "nuggets"}
    read = read_labels(written(tmp_path, row, {**ROW, "answer": "No.", "grade": 1}), Reading(columns=named))
    assert read.task == ("claims" if nuggets else "grade")
    assert read.items[0].inputs.get("nuggets") == nuggets
    assert "nuggets" not in read.items[1].inputs
    if nuggets:
        assert read_items(written(tmp_path, row), task="claims", rename=named)[0].inputs["nuggets"] == nuggets


@pytest.mark.parametrize(("key", "value"), [("importance", "high"), ("weight", "much")])
def test_nugget_of_another_importance_is_named_with_its_line(tmp_path: Path, key: str, value: str) -> None:
    file = written(tmp_path, ROW | {"nuggets": [{"text": "It is deep.", key: value}]})
    with pytest.raises(InputError, match=rf"jsonl:1: nuggets: {key} '{value}'; .* vital or okay"):
        read_items(file, task="claims")


def test_verdicts_of_nuggets_in_two_columns_are_rows_of_grades(tmp_path: Path) -> None:
    texts = ("It is deep.", "It is old.", "It is wide.")
    said = zip(texts, ("support", "partial_support", "not_support"), strict=True)
    found = zip(texts, ("partly supported", "supported", "contradicted"), strict=True)
    row: dict[str, object] = {
        "query_id": "q",
        "nuggets": [{"text": text, "assignment": word} for text, word in said],
        "found_nuggets": json.dumps([{"text": text, "verdict": word} for text, word in found][::-1]),
    }
    table = nugget_rows(read_table(written(tmp_path, row)), ("nuggets", "found_nuggets"))
    read = [(row["query_id"], row["nugget"], row["nuggets"], row["found_nuggets"]) for row in table.rows]
    assert read == [("q", texts[0], 2, 1), ("q", texts[1], 1, 2), ("q", texts[2], 0, 0)]


def test_columns_of_grades_have_no_rows_of_nuggets(tmp_path: Path) -> None:
    table = read_table(written(tmp_path, {**ROW, "nuggets": ["It is deep."]}))
    assert nugget_rows(table, ("grade", "grade")) is table
    assert nugget_rows(table, ("nuggets", "nuggets")) is table


def test_answers_are_claims_only_beside_something_to_check_them_against(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="contexts or reference or nuggets"):
        read_labels(written(tmp_path, ROW, {**ROW, "grade": 1}), as_reading(task="claims"))
    rows = [ROW | {"contexts": ["It is deep."]}, ROW | {"contexts": ["It is old."], "grade": 1}]
    assert read_labels(written(tmp_path, *rows)).task == "grade"
    assert read_labels(written(tmp_path, *rows), as_reading(task="claims")).task == "claims"


def test_yes_and_no_say_whether_a_citation_is_supported(tmp_path: Path) -> None:
    row: dict[str, object] = {
        "query": "What is known?",
        "answer": "It is deep [1].",
        "contexts": ["It is deep."],
        "supported": "Yes",
    }
    read = read_labels(written(tmp_path, row, {**row, "contexts": ["Fish."], "supported": False}))
    assert (read.task, read.accept_only) == ("cited", False)
    assert [label.grades["grade"] for label in read.labels] == [1, 0]
