"""The published rubrics stand in for a scale without meanings, on their own grades only."""

import pytest

from judgec.raters.registry import judge_module
from judgec.records.scale import Scale


@pytest.mark.parametrize(
    ("task", "grades", "lowest", "highest"),
    [
        ("grade", (1, 2, 3, 4, 5), "1: not aligned, off topic", "5: fully accurate"),
        ("answer", (0, 1, 2), "0: not at all", "2: fully"),
        ("relevance", (0, 1, 2), "0: not relevant: ", "2: very relevant"),
    ],
)
def test_rubric_of_a_task_is_the_published_one_on_the_published_grades(
    task: str, grades: tuple[int, ...], lowest: str, highest: str
) -> None:
    text = judge_module(task, Scale(grades=grades), ("grade",), ("query",)).signature.instructions
    assert lowest in text
    assert highest in text


@pytest.mark.parametrize("task", ["grade", "answer", "relevance"])
def test_rubric_of_a_task_on_other_grades_lists_them_alone(task: str) -> None:
    text = judge_module(task, Scale(grades=(0, 1, 2, 3)), ("grade",), ("query",)).signature.instructions
    assert text.endswith("\n\nGrades, worst first: 0, 1, 2, 3.")


def test_answer_instructions_go_through_the_four_steps_in_order() -> None:
    text = judge_module("answer", Scale(grades=(0, 1, 2)), ("accuracy",), ("query",)).signature.instructions
    places = [text.index(step) for step in ("1. Understand the intent", "2. Check", "3. Evaluate", "4. Score")]
    assert places == sorted(places)


def test_answer_fields_describe_known_aspects_as_published_and_others_by_name() -> None:
    predict = judge_module("answer", Scale(grades=(0, 1)), ("Precision", "tone"), ("query", "contexts"))
    described = {name: field.json_schema_extra["desc"] for name, field in predict.signature.output_fields.items()}
    assert "not a similar one" in described["grade_precision"]
    assert described["grade_tone"].startswith("tone: judged by itself")
