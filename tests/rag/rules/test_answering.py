import pytest

from judgec.rag.agents.answer import REFUSAL
from judgec.rag.rules.answering import extract, vary

PAGE = """# Fenn 25 pressure transmitter

Made for rain. It replaces the Fenn 20.

## Technical data

| | Fenn 25 |
|---|---|
| Range | 0 to 25 bar |
| Supply | 12-30 V DC |

## Versions

| Code | Thread | Housing |
|---|---|---|
| F25-A | G1/2 | steel |
| F25-B | NPT | brass |
"""


@pytest.mark.parametrize(
    ("query", "wanted"),
    [
        ("What is the range of the Fenn 25?", "Range: 0 to 25 bar. [1]"),
        ("What does the Fenn 25 replace?", "It replaces the Fenn 20. [1]"),
        ("Which thread has the F25-B?", "F25-B: Thread NPT, Housing brass. [1]"),
    ],
)
def test_answer_quotes_the_sentence_or_row_that_says_it(query: str, wanted: str) -> None:
    assert extract(query, [PAGE, "Bread is baked in ovens."], REFUSAL, cite=True, most=1) == wanted


@pytest.mark.parametrize(
    "query",
    [
        "What is the range of the Murmur 9?",  # another name
        "Is the Fenn 25 certified for mining in Chile by inspectors?",  # words that no passage holds
        "the of and?",
        "",
    ],
)
def test_what_the_passages_do_not_hold_is_refused(query: str) -> None:
    assert extract(query, [PAGE], REFUSAL, cite=True) == REFUSAL


def test_no_passages_are_refused_and_citations_are_left_out_when_not_asked() -> None:
    assert extract("What is the range?", [], REFUSAL, cite=True) == REFUSAL
    assert extract("What is the range of the Fenn 25?", [PAGE], REFUSAL, cite=False, most=1) == "Range: 0 to 25 bar."


def test_sentences_that_say_new_things_are_joined_in_the_order_of_the_passages() -> None:
    found = extract("What range and which supply has the Fenn 25?", [PAGE], REFUSAL, cite=True)
    assert found.startswith("Range: 0 to 25 bar. [1] Supply: 12-30 V DC. [1]")


def test_variations_rewrite_and_take_words_from_passages() -> None:
    found = vary("What is the measuring range of the Fenn 25?", [PAGE], 4)
    assert len(found) == len(set(found)) == 4
    assert found[0] == "measuring range of the Fenn 25"
    assert found[1] == "measuring range Fenn 25"
    assert all("Fenn" in query for query in found[:3])
    added = set(found[2].split()) - set(found[1].split())
    assert added
    assert all(word in PAGE for word in added)


def test_variations_without_passages_are_rewritings_alone() -> None:
    found = vary("How long is the warranty of the Fenn 25?", [], 4)
    assert found[:2] == ["warranty of the Fenn 25", "long warranty Fenn 25"]
    assert vary("ok", [], 4) == []


LETTERED = "How many litres does the Aster 4 pump move in a minute?\nA) 20 litres\nB) 40 litres\nC) 12 kg\nD) 60 litres"


def test_extract_of_lettered_options_names_the_one_that_the_passages_hold() -> None:
    page = "The Aster 4 pump moves 40 litres a minute. It opens at 9 a.m. on Fridays and weighs 12 kg."
    said = extract(LETTERED, ["Bread is baked in ovens.", page], REFUSAL, cite=True)
    assert said == "B) 40 litres: The Aster 4 pump moves 40 litres a minute. [2]"
    assert extract(LETTERED, ["Bread is baked in ovens for 40 minutes."], REFUSAL, cite=True) == REFUSAL
    opening = extract("When does it open on Fridays?", [page], REFUSAL, cite=False, most=1)
    assert opening.startswith("It opens at 9 a.m. on")
