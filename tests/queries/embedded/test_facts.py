"""Facts that rules find: in tables, in sentences, and where they must find none."""

import pytest

from judgec.queries.embedded.facts import facts_of
from judgec.queries.embedded.rewriting import noisy
from judgec.retrieval.passages import Passage

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


def test_noisy_changes_words_and_never_figures_or_names() -> None:
    question = "What is the response time of the Fenn 25 transmitter?"
    found = [noisy(question, seed) for seed in range(50)]
    assert all(one != question for one in found)
    assert all("Fenn 25" in one and one.startswith("What is the ") for one in found)
    assert noisy("Fenn 25?", 3) == "Fenn 25?"
