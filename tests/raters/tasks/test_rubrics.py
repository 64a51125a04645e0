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
    assert "if the question is about a specific product" in described["grade_precision"]  # RAGElo, appendix A.2
    assert described["grade_tone"].startswith("tone: judged by itself")


CLAIMS_SCALE = Scale(grades=(1, 2, 3, 4, 5))


def claims_prompt(*fields: str) -> str:
    """Everything that the judge of claims is told."""
    signature = judge_module("claims", CLAIMS_SCALE, ("grade",), ("query", "answer", *fields)).signature
    told = [str(field.json_schema_extra["desc"]) for field in signature.fields.values()]
    return " ".join(" ".join([signature.instructions, *told]).split())


def test_judge_of_claims_speaks_of_nuggets_only_where_there_are_some() -> None:
    without, with_some = claims_prompt("contexts"), claims_prompt("contexts", "nuggets")
    assert "nugget" not in without.lower()
    assert "say then of each whether the answer gives it" in with_some
    assert "a line a nugget: given, partly, missing or denied" in with_some
    assert "{" not in without + with_some
    assert [f"{n}. " in without for n in range(1, 5)] == [True, True, True, False]


def test_judge_of_claims_copies_a_sentence_only_where_there_is_a_text_to_check_against() -> None:
    assert "and copy the one sentence that decides. What you know beside that" in claims_prompt("reference")
    alone = claims_prompt("nuggets")
    assert "not found in what you know." in alone
    assert "What you know beside that" not in alone
