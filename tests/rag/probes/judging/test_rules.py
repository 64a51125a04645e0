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


def test_quotes_wants_the_words_in_a_row_and_neighbours_are_named_when_the_asked_product_is_not() -> None:
    assert quotes("Expected life: 15 years.", "15 years")
    assert not quotes("Supply 1.5 W, life 15 years", "1.5 years")
    assert neighbours("How exact is the Fenn 25?", "The Fenn 20 reaches 0.5 %.") == {"Fenn 20"}
    assert neighbours("How exact is the Fenn 25?", "Unlike the Fenn 20, the Fenn 25 reaches 0.25 %.") == set()


CHOICE = Question(query_id="c", query="Which?", form="choice", options=("1.5 years", "15 years", "4 years"), right=1)


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


ALL = ("correctness", "relevance", "completeness", "consistency")
FALSE_PREMISE = Question(
    query_id="q",
    query="Why is the accuracy 9 %?",
    reference="That is wrong: it is 5 %, not 9 %.",
    wrong=("9 %",),
    form="false_premise",
)
PARTS = (QuestionPart(query="a?", reference="5 ms"), QuestionPart(query="b?", reference="IP67"))
SEVERAL = Question(query_id="q", query="a? and b?", reference="5 ms IP67", parts=PARTS, form="several")
NO_REFERENCE = Question(query_id="q", query="How long is the cable of the pump?")
RELEVANCE = NO_REFERENCE.model_copy(update={"metrics": ("relevance",)})  # which needs none


@pytest.mark.parametrize(
    ("question", "answer", "passed", "said"),
    [
        (CHOICE, "A) 1.5 years\nB) 15 years", (True, True, True, False), ""),
        (FALSE_PREMISE, "It is not 9 %: the accuracy is 5 %.", (True, True, True, True), ""),
        (FALSE_PREMISE, "The accuracy is 9 % because of the cell.", (False, ..., ..., ...), "9 %"),
        (SEVERAL, "The response takes 5 ms.", (True, ..., False, ...), "part 2 of 2"),
        (NO_REFERENCE, "The cable of the pump is long.", (None, True, None, True), "no reference"),
        (NO_REFERENCE, "Bananas are yellow.", (None, None, None, True), "no reference"),  # it could only fail
        (RELEVANCE, "Bananas are yellow.", (False,), ""),
        (Question(query_id="q", query="How long?", reference="5 m"), "The documents do not say.", (False, False), ""),
    ],
)
def test_judge_reply_by_criteria(question: Question, answer: str, passed: tuple[object, ...], said: str) -> None:
    found = judge_reply(question, answer)
    names = ("relevance",) if question is RELEVANCE else ALL
    assert set(found.criteria) == set(names)
    for name, wanted in zip(names, passed, strict=False):
        assert wanted is ... or found.criteria[name] is wanted, name
    assert said in f"{found.reason} {found.unscored}"
    assert found.parts == ((True, False) if question is SEVERAL else ())
