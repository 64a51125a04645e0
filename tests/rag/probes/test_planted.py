"""Each planted fault is caught by the scenario that is made for it, and a healthy system passes them all."""

from collections.abc import Mapping, Sequence

import pytest

from judgec.rag.agents.answer import Context
from judgec.rag.agents.external import ExternalReply, SystemFailedError
from judgec.rag.probes.judging.panel import ReplyPanel
from judgec.rag.probes.runner import Limits, Running
from judgec.rag.probes.systems import External, asked
from judgec.rag.probes.verdicts import verdicts
from judgec.rag.queries.scenarios import SHIPPED
from judgec.rag.queries.scenarios.building import build
from judgec.rag.queries.scenarios.reading import files_in, read_scenario
from judgec.rag.rules.writer import RuleWriter
from judgec.records.scenario.outcome import Probed
from judgec.records.scenario.schema import Question
from tests.rag.queries.catalogue import catalogue

REFUSAL = "The documents do not answer this question."
INVENTED = "It is 4711, and it has been so since 1 April 1999."
NAMES = tuple(path.stem for path in files_in(SHIPPED))


def make(scenario: str, n: int = 12) -> tuple[Question, ...]:
    corpus, read = catalogue(), read_scenario(SHIPPED / f"{scenario}.yaml")
    return build(read, corpus.documents, RuleWriter(corpus.passages), corpus.terms, n=n, seed=0).questions


class Planted:
    """Answers from the questions themselves, as its fault says."""

    def __init__(self, fault: str, questions: Sequence[Question]) -> None:
        self.name = self.identity = fault
        self._known: Mapping[str, Question] = {asked(question): question for question in questions}
        self._calls = 0

    def ask(self, query: str) -> ExternalReply:
        self._calls += 1
        if self.name == "errors every third call" and self._calls % 3 == 0:
            raise SystemFailedError("it broke")
        question = self._known[query]
        return ExternalReply(self._answer(question), tuple(Context(text) for text in question.passages))

    def _answer(self, question: Question) -> str:
        if question.must_refuse:
            refusals = {"never refuses": INVENTED, "refuses then answers": f"{REFUSAL} However, {INVENTED.lower()}"}
            return refusals.get(self.name, REFUSAL)
        if self.name == "first option" and question.options:
            return f"A) {question.options[0]}"
        if question.options:
            return f"{'ABCD'[question.right or 0]}) {question.reference}"
        if self.name == "ignores half the question" and question.parts:
            return f"It is {question.parts[0].reference}."
        if question.parts:
            return ". ".join(f"{part.query} {part.reference}" for part in question.parts)
        if self.name == "stale date":
            return "It was on 29 February 1996."
        if self.name == "neighbour product":
            return "The Fenn 99 has 123456 of it, and the Caldo 99 as well."
        if question.form == "false_premise":
            return question.reference
        return f"It is {question.reference}."


def probed(fault: str, questions: Sequence[Question]) -> list[Probed]:
    system = Planted(fault, questions)
    subject = External(system, Limits(in_flight=1, retries=0), Running())
    replies = subject.replies(questions, lambda reply: None)
    return verdicts(questions, replies, ReplyPanel(), data_set="catalogue", terms=catalogue().terms)


def outcomes(fault: str, questions: Sequence[Question]) -> list[str]:
    return [one.verdict.outcome for one in probed(fault, questions)]


@pytest.mark.parametrize("scenario", NAMES)
def test_healthy_system_passes_every_scenario(scenario: str) -> None:
    found = probed("healthy", make(scenario))
    assert [(one.question.query, one.verdict.reason) for one in found if one.verdict.outcome != "pass"] == []


@pytest.mark.parametrize(
    ("fault", "rejection"), [("never refuses", "answered"), ("refuses then answers", "refused_then_answered")]
)
def test_unanswerable_questions_catch_who_answers_them(fault: str, rejection: str) -> None:
    found = probed(fault, make("S6"))
    assert {(one.verdict.outcome, one.verdict.rejection, one.verdict.component) for one in found} == {
        ("fail", rejection, "generator")
    }


@pytest.mark.parametrize("scenario", ["S4", "S5"])
def test_several_questions_catch_who_ignores_some_part_by_part(scenario: str) -> None:
    found = probed("ignores half the question", make(scenario))
    assert {one.verdict.outcome for one in found} == {"fail"}
    assert all(one.verdict.parts[0] is True and False in one.verdict.parts[1:] for one in found)
    asked = [(one.verdict.criteria["correctness"], one.verdict.criteria["completeness"]) for one in found]
    assert set(asked) == {(True, False)}


def test_multiple_choice_catches_who_always_takes_the_first() -> None:
    questions = make("S3", 40)
    found = outcomes("first option", questions)
    assert found == ["pass" if question.right == 0 else "fail" for question in questions]
    assert found.count("fail") > 20


def test_dates_catch_who_answers_with_a_stale_one() -> None:
    assert set(outcomes("stale date", make("S2"))) == {"fail"}


def test_numbers_catch_who_answers_about_the_neighbour() -> None:
    questions = make("S1")
    found = probed("neighbour product", questions)
    assert {one.verdict.outcome for one in found} == {"fail"}
    about = [one for one in found if "Fenn" in one.question.query or "Caldo" in one.question.query]
    assert about
    assert all(one.verdict.criteria["relevance"] is False for one in about)


@pytest.mark.parametrize("scenario", NAMES)
def test_errors_of_the_system_are_an_outcome_of_their_own(scenario: str) -> None:
    found = probed("errors every third call", make(scenario))
    assert [one.verdict.outcome for one in found].count("error") == len(found) // 3
    assert {one.verdict.outcome for one in found} == {"pass", "error"}
    assert all(one.verdict.reason == "it broke" for one in found if one.verdict.outcome == "error")


@pytest.mark.parametrize(
    "fault", ["never refuses", "refuses then answers", "first option", "ignores half the question"]
)
def test_a_fault_is_no_failure_where_it_does_not_show(fault: str) -> None:
    assert set(outcomes(fault, make("S1"))) == {"pass"}
