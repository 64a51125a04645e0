"""Each planted fault is caught by the scenario that is made for it, and a healthy system passes them all."""

import pytest

from judgec.rag.queries.scenarios import SHIPPED
from judgec.rag.queries.scenarios.reading import files_in
from tests.rag.probes.planted import make, outcomes, probed

NAMES = tuple(path.stem for path in files_in(SHIPPED))


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
