"""Facts that rules find: in tables, in sentences, and where they must find none."""

import pytest

from judgec.rag.retrieval.passages import Passage
from judgec.rag.rules.facts import facts_of
from judgec.rag.rules.rewriting import noisy

TABLE = """| Property | Value | Remark |
|---|---|---|
| Accuracy | ±0.25 % of full scale | at 20 °C |
| Colour | blue | |
| Response time | 5 ms | |
"""
ENTITIES = """| Product | Last order | Replacement |
|---|---|---|
| Heft P | 30 June 2026 | none planned |
"""


def facts(text: str, title: str = "Fenn 25") -> list[tuple[str, str, str]]:
    return [(fact.kind, fact.value, fact.question) for fact in facts_of(Passage("d#0", "d", text, title))]


def test_facts_of_a_table_of_properties_ask_for_the_title() -> None:
    assert facts(TABLE) == [
        ("number", "±0.25 % of full scale", "What is the accuracy of the Fenn 25?"),
        ("number", "5 ms", "What is the response time of the Fenn 25?"),
    ]


def test_facts_of_a_table_of_things_ask_for_the_row() -> None:
    assert facts(ENTITIES, "Life cycle") == [
        ("date", "30 June 2026", "What is the last order of the Heft P (Life cycle)?")
    ]


def test_facts_of_a_sentence_leave_a_blank() -> None:
    (found,) = facts("Tighten the sensor with a spanner to 25 Nm before use.")
    asked = (
        'Which number completes this statement about Fenn 25: "Tighten the sensor with a spanner to ____ before use."?'
    )
    assert found == ("number", "25 Nm", asked)


def test_facts_of_a_passive_sentence_with_a_date_ask_when() -> None:
    assert ("date", "14 May 2024", "When was the older housing withdrawn from sale?") in facts(
        "The older housing was withdrawn from sale on 14 May 2024."
    )


@pytest.mark.parametrize(
    "text",
    [
        "It was introduced in March 2019 and it is still sold today.",  # nobody knows what "it" is
        "See table 3 below for the values that this device reaches.",
        "The Fenn 25 replaces the Fenn 20 in most of these old loops.",  # the figures belong to names
        "Too short: 5 ms.",
    ],
)
def test_facts_of_what_cannot_stand_alone_are_none(text: str) -> None:
    assert not [found for found in facts(text) if found[0] != "name"]


def test_facts_do_not_cut_times_of_day_and_decimals() -> None:
    text = "The town library opens at 9:30 am, closes at 17:45 and lends 12.5 kg of books for 1,299.50 euros."
    assert sorted(value for _, value, _ in facts(text)) == ["1,299.50 euros", "12.5 kg", "17:45", "9:30 am"]


def test_noisy_changes_words_and_never_figures_or_names() -> None:
    question = "What is the response time of the Fenn 25 transmitter?"
    found = [noisy(question, seed) for seed in range(50)]
    assert all(one != question for one in found)
    assert all("Fenn 25" in one and one.startswith("What is the ") for one in found)
    assert noisy("Fenn 25?", 3) == "Fenn 25?"


SMALL = (
    "flow over cones at a mach number of 5.8 . the cones were tested in air at mach numbers of 3.12 and 3.81 . "
    "they were heated to 400 deg . figure 7 shows the rates of all the models that were tested . "
    "the work was extended by several authors in zurich (amr 10 (1957), rev. 2601) soon after . "
    "the tests were made in a wind tunnel at langley in october, 1951 . "
)


def test_facts_of_a_text_without_capitals_are_its_figures_and_dates_not_its_labels_and_sources() -> None:
    found = facts(SMALL, "flow over cones at a mach number of 5.8 .")
    assert [(kind, value) for kind, value, _ in found] == [
        ("number", "3.12"),
        ("number", "3.81"),
        ("date", "october, 1951"),
    ]
    assert found[0][2] == (
        "Which number completes this statement about flow over cones at a mach number of 5.8: "
        '"the cones were tested in air at mach numbers of ____ and 3.81."?'
    )


def test_facts_of_a_text_without_capitals_ends_no_sentence_at_an_abbreviation() -> None:
    text = "the models of wood, brass, etc. were tested at fig. 3 speeds of 250 ft in the tunnel. all of it went well."
    assert [value for _, value, _ in facts(text, "")] == ["250 ft"]


def test_facts_leave_out_what_the_title_gives_away() -> None:
    assert facts("The nozzle was designed for a pressure of 25 bar at most.", "The 25 bar nozzle") == []
