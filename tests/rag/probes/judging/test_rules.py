"""Criteria by rules: figures, options, parts, neighbours, contradictions."""

import pytest

from judgec.rag.probes.judging.facts import neighbours, quotes, states
from judgec.rag.probes.judging.rules import chosen_options, judge_reply
from judgec.records.scenario.schema import Question, QuestionPart


@pytest.mark.parametrize(
    ("answer", "reference", "there"),
    [
        ("Accuracy: ±0.25 % of full scale [1].", "±0.25 % of full scale", True),
        ("The accuracy is 0.25 percent of full scale", "±0.25 % of full scale", True),
        ("The accuracy is 0.5 % of full scale", "±0.25 % of full scale", False),
        ("It moved to HART 7 on May 14, 2024.", "14 May 2024", True),
        ("It was released on 14 May 2023.", "14 May 2024", False),
        ("Twenty-five newton metres", "25", True),
        ("The answer stands in [25].", "25", False),
        ("", "25", False),
        ("Paris | no", "London | Paris", True),
    ],
)
def test_states_compares_figures_and_words(answer: str, reference: str, *, there: bool) -> None:
    assert states(answer, reference) is there


def test_quotes_wants_the_words_in_a_row() -> None:
    assert quotes("Expected life: 15 years.", "15 years")
    assert not quotes("Supply 1.5 W, life 15 years", "1.5 years")


def test_neighbours_are_named_when_the_asked_product_is_not() -> None:
    assert neighbours("How exact is the Fenn 25?", "The Fenn 20 reaches 0.5 %.") == {"Fenn 20"}
    assert neighbours("How exact is the Fenn 25?", "Unlike the Fenn 20, the Fenn 25 reaches 0.25 %.") == set()


CHOICE = Question(
    query_id="c",
    query="Which?",
    form="choice",
    options=("1.5 years", "15 years", "4 years"),
    right=1,
    reference="15 years",
)


@pytest.mark.parametrize(
    ("answer", "chosen"),
    [
        ("B", [1]),
        ("(B)", [1]),
        ("B) 15 years", [1]),
        ("**B** – 15 years", [1]),
        ("The right answer is: B) 15 years", [1]),
        ("Option B", [1]),
        ("It lasts 15 years. [1] Supply: 1.5 W.", [1]),
        ("A healthy unit shows nothing", []),
        ("A) 1.5 years\nB) 15 years", [0, 1]),
        ("I do not know.", []),
    ],
)
def test_chosen_options_reads_letters_and_quotes(answer: str, chosen: list[int]) -> None:
    assert chosen_options(CHOICE, answer) == chosen


def test_judge_reply_of_two_options_is_inconsistent() -> None:
    found = judge_reply(CHOICE, "A) 1.5 years\nB) 15 years")
    assert found.criteria == {"correctness": True, "relevance": True, "completeness": True, "consistency": False}


def test_judge_reply_part_by_part_names_the_missing_one() -> None:
    parts = (QuestionPart(query="a?", reference="5 ms"), QuestionPart(query="b?", reference="IP67"))
    question = Question(query_id="q", query="a? and b?", reference="5 ms IP67", parts=parts, form="several")
    found = judge_reply(question, "The response takes 5 ms.")
    assert found.parts == (True, False)
    assert found.criteria["correctness"] is True
    assert found.criteria["completeness"] is False
    assert "part 2 of 2" in found.reason


def test_judge_reply_of_a_false_premise_wants_the_correction() -> None:
    question = Question(
        query_id="q",
        query="Why is the accuracy 9 %?",
        reference="That is wrong: it is 5 %, not 9 %.",
        wrong=("9 %",),
        form="false_premise",
    )
    assert all(judge_reply(question, "It is not 9 %: the accuracy is 5 %.").criteria.values())
    agreed = judge_reply(question, "The accuracy is 9 % because of the cell.")
    assert agreed.criteria["correctness"] is False
    assert "it says 9 %" in agreed.reason


def test_judge_reply_without_a_reference_leaves_what_needs_one_unknown() -> None:
    found = judge_reply(
        Question(query_id="q", query="How long is the cable of the pump?"), "The cable of the pump is long."
    )
    assert found.criteria == {"correctness": None, "relevance": True, "completeness": None, "consistency": True}


def test_judge_reply_without_a_reference_cannot_only_fail() -> None:
    question = Question(query_id="q", query="How long is the cable of the pump?")
    found = judge_reply(question, "Bananas are yellow.")
    assert found.criteria == {"correctness": None, "relevance": None, "completeness": None, "consistency": True}
    assert "no reference" in found.unscored
    asked = question.model_copy(update={"metrics": ("relevance",)})  # which needs none
    assert judge_reply(asked, "Bananas are yellow.").criteria == {"relevance": False}


def test_judge_reply_that_refuses_what_can_be_answered_fails() -> None:
    found = judge_reply(Question(query_id="q", query="How long?", reference="5 m"), "The documents do not say.")
    assert found.criteria["relevance"] is False
    assert found.criteria["correctness"] is False
