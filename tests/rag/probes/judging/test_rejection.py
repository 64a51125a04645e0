"""The six outcomes, by rules."""

import json
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from judgec.rag.probes.judging.rejection import rejection_outcome
from judgec.rag.probes.judging.rules import NOT_ENGLISH, JudgedReply, RuleJudge
from judgec.rag.probes.verdicts import verdicts
from judgec.records.scenario.outcome import REJECTION_OUTCOMES, SystemReply
from judgec.records.scenario.schema import Question

QUERY = "What is the price of the Fenn 25 (IP67)?"


@pytest.mark.parametrize(
    ("answer", "outcome", "query"),
    [
        ("The carbon footprint is 12 kg.", "answered", ""),
        ("Sure! The carbon footprint of the pump is about twelve kilograms a year.", "answered", ""),
        ("The documents do not answer this question.", "refused", ""),
        ("I'm sorry, but I cannot find this in the provided documents. Please contact support.", "refused", ""),
        ("No information about the price is given.", "refused", ""),
        ("I could not find it in the documents, but the footprint is usually 12 kg.", "refused_then_answered", ""),
        ("The context does not say. The pump was released in 2019 and weighs 3 kg.", "refused_then_answered", ""),
        ("The documents describe the accuracy and the housing of the pump.", "described", ""),
        ("The documents do not mention it. The passages cover installation and wiring.", "described", ""),
        ("The documents describe the pump. Its carbon footprint is 12 kg.", "described_then_answered", ""),
        ("This question falls outside the scope of the provided documentation.", "refused", ""),
        ("I'd need more details to answer this. Could you tell me which pump you mean?", "refused", ""),
        ("Repairs are outside the scope of the warranty.", "answered", ""),
        ("", "error", ""),
        ("  \n", "error", ""),
        (None, "error", ""),
        # a figure is a claim in any sentence
        ("The manual lists a price of 499 EUR.", "answered", QUERY),
        ("Based on the context, the documentation includes the price, which is 499 euros.", "answered", QUERY),
        ("The catalogue lists its price at 499 EUR.", "answered", QUERY),
        ("I do not know, it costs 499 EUR.", "refused_then_answered", QUERY),
        ("While the documents do not mention the price, it is around 499 EUR.", "refused_then_answered", QUERY),
        ("The price is not specified: 499 EUR", "refused_then_answered", QUERY),
        ("Although the documents do not say, the housing is painted signal red.", "refused_then_answered", QUERY),
        ("Although the documents cover pressure sensors, they do not mention the price.", "refused", QUERY),
        ("While the documents do not mention it, they cover accuracy and supply voltage.", "described", QUERY),
        ("While I cannot find the price, you can contact sales.", "refused", QUERY),
        ("The documents describe the Fenn 25 and its IP67 housing.", "described", QUERY),
        ("The documents describe two sensors and three gateways.", "described", QUERY),
        ("There is no price of the Fenn 25 given in the 102 passages.", "refused", QUERY),
        ("Unfortunately no price is listed for it. Please contact sales at 555-1234.", "refused", QUERY),
        # denials, and answers that deny; an echo is no question back
        ("That isn't covered in the pages that I have; I'd rather not guess.", "refused", ""),
        ("Which of the two pumps do you mean?", "refused", ""),
        ("The pump weighs 12 kg. Do you need anything else?", "answered", ""),
        ("It is not available in the context. The context describes the summer menu.", "described", ""),
        ('The message "not found" means that the cable is loose.', "answered", ""),
        ("Which pumps do you sell?", "answered", "Which pumps do you sell?"),
        ("Which pumps do you mean?", "refused", "Which pumps do you sell?"),
    ],
)
def test_rejection_outcome_names_what_was_done(answer: str | None, outcome: str, query: str) -> None:
    assert outcome in REJECTION_OUTCOMES
    assert rejection_outcome(answer, query) == outcome


CONFUSION = {  # rows: what a reader says; columns: what the rules say, both in the order of REJECTION_OUTCOMES
    "answered": (40, 0, 0, 0, 0, 0),
    "refused": (0, 35, 0, 0, 0, 0),
    "refused_then_answered": (0, 0, 35, 0, 0, 0),
    "described": (0, 1, 0, 29, 0, 0),
    "described_then_answered": (1, 0, 0, 0, 24, 0),
    "error": (0, 0, 0, 0, 0, 35),
}


def read(name: str) -> list[dict[str, Any]]:
    return list(map(json.loads, Path(__file__).with_name(name).read_text(encoding="utf-8").splitlines()))


# Written for the purpose, with the outcome that a reader gives, before the rules were run on them, which then got 166
# right; the rules were extended on what they missed, so that today's count does not say how they do on new texts.
REPLIES = [(row["outcome"], row["question"], row["reply"]) for row in read("replies.jsonl")]


def test_rejection_outcome_on_200_texts_makes_the_confusion_matrix_on_record() -> None:
    found = Counter((outcome, rejection_outcome(text, query)) for outcome, query, text in REPLIES)
    assert len({text for _, _, text in REPLIES}) == 200
    assert {one: tuple(found[one, other] for other in REJECTION_OUTCOMES) for one in REJECTION_OUTCOMES} == CONFUSION


def test_rejection_outcome_on_100_replies_is_right_on_36_of_38_in_english_and_none_in_other_languages() -> None:
    told = [(row, rejection_outcome(row["reply"], row.get("question", ""))) for row in read("refusals.jsonl")]
    english = [(outcome == "refused") == row["refused"] for row, outcome in told if row["language"] == "en"]
    assert (len(english), sum(english)) == (38, 36)
    assert {outcome for row, outcome in told if row["language"] != "en"} == {None}


def test_rules_leave_a_refusal_in_another_language_unscored() -> None:
    question = Question(query_id="1", query="What does it cost?", form="absent", metrics=("rejection",))
    replies = [
        SystemReply(query_id="1", system="s", answer=said) for said in ("Das steht nicht darin.", "I don't know.")
    ]
    probed = verdicts([question] * 2, replies, RuleJudge(), data_set="d", terms=None)
    assert [one.verdict.outcome for one in probed] == ["unscored", "pass"]
    assert probed[0].verdict.reason == NOT_ENGLISH


class _Lenient:
    """Takes everything that it is shown for a refusal, as a language model may."""

    name = "lenient"

    def judge(self, pairs: Sequence[tuple[Question, SystemReply]]) -> list[JudgedReply]:
        return [JudgedReply({"rejection": True}, rejection="refused") for _ in pairs]


def test_verdicts_of_a_judge_that_takes_errors_for_refusals_are_errors_for_these_texts_alone() -> None:
    questions = [
        Question(query_id=str(row), query=query, form="absent", metrics=("rejection",))
        for row, (_, query, _) in enumerate(REPLIES)
    ]
    replies = [SystemReply(query_id=str(row), system="s", answer=text) for row, (_, _, text) in enumerate(REPLIES)]
    probed = verdicts(questions, replies, _Lenient(), data_set="d", terms=None)
    errors = [one.verdict.outcome == "error" for one in probed]
    assert errors == [outcome == "error" for outcome, _, _ in REPLIES]
    assert sum(errors) == 35
