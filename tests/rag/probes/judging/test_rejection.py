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


def read(name: str) -> list[dict[str, Any]]:
    return list(map(json.loads, Path(__file__).with_name(name).read_text(encoding="utf-8").splitlines()))


@pytest.mark.parametrize("row", read("outcomes.jsonl"), ids=lambda row: row["reply"])
def test_rejection_outcome_names_what_was_done(row: dict[str, Any]) -> None:
    """Denials, and answers that deny; a figure is a claim in any sentence; an echo is no question back."""
    assert row["outcome"] in REJECTION_OUTCOMES
    assert rejection_outcome(row["reply"], row["question"]) == row["outcome"]


CONFUSION = {  # rows: what a reader says; columns: what the rules say, both in the order of REJECTION_OUTCOMES
    "answered": (40, 0, 0, 0, 0, 0),
    "refused": (0, 35, 0, 0, 0, 0),
    "refused_then_answered": (0, 0, 35, 0, 0, 0),
    "described": (0, 1, 0, 29, 0, 0),
    "described_then_answered": (1, 0, 0, 0, 24, 0),
    "error": (0, 0, 0, 0, 0, 35),
}


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


@pytest.mark.parametrize(
    "reply",
    [
        "N/A",
        "No, de la Cruz is not mentioned.",
        "No information available on Tour de France or la Vuelta a España.",
        "No data on Die Zeit und Der Spiegel.",
    ],
)
def test_english_refusal_that_names_what_is_foreign_is_a_refusal(reply: str) -> None:
    assert rejection_outcome(reply) == "refused"


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
