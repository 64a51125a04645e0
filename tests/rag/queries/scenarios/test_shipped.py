"""The scenarios that ship, built by rules on the catalogue that ships."""

from collections import Counter

import pytest

from judgec.rag.queries.filters import has_date, has_number
from judgec.rag.queries.pool import Near
from judgec.rag.queries.scenarios import SHIPPED
from judgec.rag.queries.scenarios.building import Built, build
from judgec.rag.queries.scenarios.drafts import Draft, choice_fault, plain
from judgec.rag.queries.scenarios.reading import files_in, read_scenario
from judgec.rag.rules.writer import RuleWriter
from judgec.records.scenario.schema import Question
from tests.rag.queries.catalogue import catalogue

NAMES = tuple(path.stem for path in files_in(SHIPPED))


def built(name: str, n: int = 20, seed: int = 0) -> Built:
    corpus = catalogue()
    scenario = read_scenario(SHIPPED / f"{name}.yaml")
    return build(scenario, corpus.documents, RuleWriter(corpus.passages), corpus.terms, n=n, seed=seed)


def questions(name: str, n: int = 20, seed: int = 0) -> tuple[Question, ...]:
    return built(name, n, seed).questions


@pytest.mark.parametrize("name", NAMES)
def test_shipped_scenario_gives_as_many_questions_as_asked_for(name: str) -> None:
    found = built(name, 30)
    assert len(found.questions) == 30
    assert not found.shortfall
    assert len({one.query_id for one in found.questions}) == 30
    assert all(one.lm == "embedded" and one.scenario == name and one.passages for one in found.questions)
    assert questions(name, 30) == found.questions
    assert questions(name, 30, seed=1) != found.questions


@pytest.mark.parametrize("name", [name for name in NAMES if name != "S6"])
def test_shipped_scenario_takes_its_references_from_the_passage(name: str) -> None:
    for one in questions(name):
        needed = [part.reference for part in one.parts] or [one.reference]
        if name == "false-premise":
            needed = [one.reference.partition("it is ")[2].partition(", not ")[0]]
            assert all(wrong not in "\n".join(one.passages) for wrong in one.wrong)
        text = " ".join("\n".join(one.passages).split())
        assert all(" ".join(part.split()) in text for part in needed)


def test_numbers_dates_and_another_language_are_what_is_asked_for() -> None:
    assert all(one.query.startswith("Welche") for one in questions("language"))
    first, second, _ = read_scenario(SHIPPED / "language.yaml").prompts
    assert "language of the passage" in first  # each is shown the language that the question is to be in
    assert "Translate" in second
    assert all(has_number(one.reference) for one in questions("S1"))
    assert all(has_date(one.reference) or has_date(f"in {one.reference}") for one in questions("S2"))


def test_multiple_choice_has_exactly_one_right_option_in_a_shuffled_place() -> None:
    found = questions("S3", 40)
    for one in found:
        assert len(one.options) == 4
        assert [plain(option) == plain(one.reference) for option in one.options].count(True) == 1
        assert one.options[one.right or 0] == one.reference
        assert f"A) {one.options[0]}" in one.query
    places = Counter(one.right for one in found)
    assert set(places) == {0, 1, 2, 3}
    assert max(places.values()) < 24


@pytest.mark.parametrize(
    ("options", "fault"),
    [
        (("5 ms", "6 ms", "7 ms"), ""),
        (("6 ms", "7 ms"), "exactly one"),
        (("5 ms", "5 MS ", "7 ms"), "repeated"),
        (("5 ms", "1,000 ms", "1000 ms"), "repeated"),
        (("5 ms", "2024-05-01", "1 May 2024"), "repeated"),
        (("5 ms", "-5 ms", "7 ms"), ""),
        (("5 ms",), "missing"),
        (("5 ms", "9 bar"), "in the passage"),
    ],
)
def test_choice_fault_wants_one_right_option(options: tuple[str, ...], fault: str) -> None:
    found = choice_fault(Draft("q?", "5 ms", options=options), "It takes 5 ms at 9 bar.")
    assert fault in found
    assert bool(fault) is bool(found)


def test_several_questions_keep_their_parts_from_one_or_several_documents() -> None:
    for name, documents in (("S4", 1), ("S5", 3)):
        for one in questions(name):
            assert len(one.parts) == 3
            assert all(part.query in one.query for part in one.parts)
            assert len(one.doc_ids) == documents
            assert [part.passage_id for part in one.parts] == list(one.passage_ids)


def test_unanswerable_questions_ask_for_what_no_passage_holds_of_their_subject() -> None:
    for one in questions("S6"):
        assert one.must_refuse
        assert one.reference == ""


def test_follow_up_does_not_name_what_the_conversation_named() -> None:
    for one in questions("follow-up"):
        assert [turn.role for turn in one.history] == ["user", "assistant"]
        if not one.query.startswith("And which"):
            assert "its" in one.query
            assert one.reference not in one.history[1].content


def test_questions_of_one_scenario_are_no_near_duplicates() -> None:
    near = Near()
    for one in questions("S1", 40):
        assert not near.seen(one.query)
        near.add(one.query)


def test_build_of_more_than_the_documents_hold_says_so() -> None:
    corpus = catalogue()
    scenario = read_scenario(SHIPPED / "S2.yaml")
    few = build(scenario, corpus.documents[:2], RuleWriter(corpus.passages), corpus.terms, n=50, seed=0)
    assert len(few.questions) < 50
    assert few.shortfall.startswith(f"{len(few.questions)} of 50 ")
