"""Rules that stand in for a model: what they quote, which facts they find, what nothing answers."""

import random
import re
from pathlib import Path

import pytest

from judgec.rag.agents.answer import REFUSAL
from judgec.rag.queries.corpus import Corpus, open_corpus
from judgec.rag.queries.scenarios import SHIPPED
from judgec.rag.queries.scenarios.building import Built, build
from judgec.rag.queries.scenarios.drafts import Draft, check
from judgec.rag.queries.scenarios.reading import read_scenario
from judgec.rag.queries.terms import content
from judgec.rag.retrieval.passages import Passage
from judgec.rag.rules.answering import extract, vary
from judgec.rag.rules.facts import facts_of
from judgec.rag.rules.rewriting import noisy
from judgec.rag.rules.unanswerable import absent_years, names, topic
from judgec.rag.rules.writer import RuleWriter
from judgec.records.scenario.schema import Question

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
BREAD = "Bread is baked in ovens."
PUMP = "The Aster 4 pump moves 40 litres a minute. It opens at 9 a.m. on Fridays and weighs 12 kg."
LETTERED = "How many litres does the Aster 4 pump move in a minute?\nA) 20 litres\nB) 40 litres\nC) 12 kg\nD) 60 litres"


@pytest.mark.parametrize(
    ("query", "passages", "answer"),
    [
        ("What is the range of the Fenn 25?", [PAGE, BREAD], "Range: 0 to 25 bar. [1]"),
        ("What does the Fenn 25 replace?", [PAGE, BREAD], "It replaces the Fenn 20. [1]"),
        ("Which thread has the F25-B?", [PAGE, BREAD], "F25-B: Thread NPT, Housing brass. [1]"),
        (LETTERED, [BREAD, PUMP], "B) 40 litres: The Aster 4 pump moves 40 litres a minute. [2]"),
        (LETTERED, ["Bread is baked in ovens for 40 minutes."], REFUSAL),
        ("What is the range of the Murmur 9?", [PAGE], REFUSAL),  # another name
        ("Is the Fenn 25 certified for mining in Chile by inspectors?", [PAGE], REFUSAL),  # words that none holds
        ("the of and?", [PAGE], REFUSAL),
        ("", [PAGE], REFUSAL),
        ("What is the range?", [], REFUSAL),
    ],
)
def test_answer_quotes_what_says_it_or_refuses(query: str, passages: list[str], answer: str) -> None:
    assert extract(query, passages, REFUSAL, cite=True, most=1) == answer


def test_answer_without_citations_and_of_several_sentences() -> None:
    assert extract("What is the range of the Fenn 25?", [PAGE], REFUSAL, cite=False, most=1) == "Range: 0 to 25 bar."
    found = extract("What range and which supply has the Fenn 25?", [PAGE], REFUSAL, cite=True)
    assert found.startswith("Range: 0 to 25 bar. [1] Supply: 12-30 V DC. [1]")
    opening = extract("When does it open on Fridays?", [PUMP], REFUSAL, cite=False, most=1)
    assert opening.startswith("It opens at 9 a.m. on")


def test_variations_rewrite_and_take_words_from_passages() -> None:
    found = vary("What is the measuring range of the Fenn 25?", [PAGE], 4)
    assert len(found) == len(set(found)) == 4
    assert found[:2] == ["measuring range of the Fenn 25", "measuring range Fenn 25"]
    assert all("Fenn" in query for query in found[:3])
    added = set(found[2].split()) - set(found[1].split())
    assert added
    assert all(word in PAGE for word in added)
    alone = vary("How long is the warranty of the Fenn 25?", [], 4)
    assert alone[:2] == ["warranty of the Fenn 25", "long warranty Fenn 25"]
    assert vary("ok", [], 4) == []


SMALL = (
    "flow over cones at a mach number of 5.8 . the cones were tested in air at mach numbers of 3.12 and 3.81 . "
    "they were heated to 400 deg . figure 7 shows the rates of all the models that were tested . "
    "the work was extended by several authors in zurich (amr 10 (1957), rev. 2601) soon after . "
    "the tests were made in a wind tunnel at langley in october, 1951 . "
)
PROPERTIES = "| Property | Value |\n|---|---|\n| Accuracy | ±0.25 % of full scale |\n| Colour | blue |\n"
ORDERS = "| Product | Last order | Replacement |\n|---|---|---|\n| Heft P | 30 June 2026 | none planned |\n"


@pytest.mark.parametrize(
    ("text", "title", "values"),
    [
        (PROPERTIES, "Fenn 25", ["±0.25 % of full scale"]),
        (ORDERS, "Life cycle", ["30 June 2026"]),
        ("Tighten the sensor with a spanner to 25 Nm before use.", "Fenn 25", ["25 Nm"]),
        ("The nozzle was designed for a pressure of 25 bar at most.", "The 25 bar nozzle", []),  # which gives it away
        ("It was introduced in March 2019 and it is still sold today.", "Fenn 25", []),  # nobody knows what "it" is
        ("See table 3 below for the values that this device reaches.", "Fenn 25", []),
        ("The Fenn 25 replaces the Fenn 20 in most of these old loops.", "Fenn 25", []),  # figures of names
        ("Too short: 5 ms.", "Fenn 25", []),
        (
            "The town library opens at 9:30 am, closes at 17:45 and lends 12.5 kg of books for 1,299.50 euros.",
            "Fenn 25",
            ["1,299.50 euros", "12.5 kg", "17:45", "9:30 am"],
        ),
        (SMALL, "flow over cones at a mach number of 5.8 .", ["3.12", "3.81", "october, 1951"]),
        (
            "the models of wood, brass, etc. were tested at fig. 3 speeds of 250 ft in the tunnel. all went well.",
            "",
            ["250 ft"],
        ),
    ],
)
def test_facts_are_figures_and_dates_that_can_stand_alone(text: str, title: str, values: list[str]) -> None:
    found = [fact for fact in facts_of(Passage("d#0", "d", text, title)) if fact.kind != "name"]
    assert sorted(fact.value for fact in found) == values
    assert all(fact.value not in fact.question for fact in found)


@pytest.mark.parametrize(
    ("text", "title", "kind", "question"),
    [
        (PROPERTIES, "Fenn 25", "number", "What is the accuracy of the Fenn 25?"),
        (ORDERS, "Life cycle", "date", "What is the last order of the Heft P (Life cycle)?"),
        (
            "The older housing was withdrawn from sale on 14 May 2024.",
            "Fenn 25",
            "date",
            "When was the older housing withdrawn from sale?",
        ),
        (
            "Tighten the sensor to 25 Nm before use.",
            "Fenn 25",
            "number",
            'Which number completes this statement about Fenn 25: "Tighten the sensor to ____ before use."?',
        ),
    ],
)
def test_question_asks_for_the_fact_of_a_row_or_sentence(text: str, title: str, kind: str, question: str) -> None:
    assert (kind, question) in [(one.kind, one.question) for one in facts_of(Passage("d#0", "d", text, title))]


def test_noisy_changes_words_and_never_figures_or_names() -> None:
    question = "What is the response time of the Fenn 25 transmitter?"
    found = [noisy(question, seed) for seed in range(50)]
    assert all(one != question and "Fenn 25" in one and one.startswith("What is the ") for one in found)
    assert noisy("Fenn 25?", 3) == "Fenn 25?"


SUBJECTS = ("boundary layer", "wing flutter", "heat transfer", "shock wave", "jet noise", "panel buckling")
S6 = read_scenario(SHIPPED / "S6.yaml")


@pytest.fixture(scope="module")
def plain_texts(tmp_path_factory: pytest.TempPathFactory) -> Corpus:
    """A hundred text files without titles; those of even number without a capital letter."""
    rng, folder = random.Random(7), tmp_path_factory.mktemp("texts")
    for number in range(100):
        subject, year = SUBJECTS[number % len(SUBJECTS)], rng.randrange(1900, 1960)
        text = (
            f"The {subject} was measured by Anna Berg in {year} on {number + 3} models . A second study of the "
            f"{subject} by the Delft Institute followed in {year + 4} , with {number + 9} probes of brass ."
        )
        Path(folder, f"{number}.txt").write_text(text if number % 2 else text.lower(), encoding="utf-8")
    return open_corpus(str(folder))


def nowhere(question: Question, corpus: Corpus) -> bool:
    """Whether a year or a name of the question stands in no document, by looking at the texts themselves."""
    whole = "\n".join(f"{one.title}\n{one.text}" for one in corpus.documents)
    words = {word.casefold() for word in re.findall(r"\w+", whole)}
    people = re.findall(r"\b[A-Z][a-z]+ [A-Z][a-z]+\b", question.query)
    return any(year not in whole for year in re.findall(r"\b\d{4}\b", question.query)) or any(
        not set(name.casefold().split()) & words for name in people
    )


def test_plain_text_files_give_as_many_questions_as_asked_for_and_nothing_answers_them(plain_texts: Corpus) -> None:
    def s6(seed: int = 0) -> Built:
        writer = RuleWriter(plain_texts.passages)
        return build(S6, plain_texts.documents, writer, plain_texts.terms, n=20, seed=seed)

    found = s6().questions
    assert len(found) == 20
    assert all(one.must_refuse and not one.reference and nowhere(one, plain_texts) for one in found)
    assert {bool(re.search(r"\d{4}", one.query)) for one in found} == {True, False}  # years, and people
    assert s6().questions == found
    assert s6(1).questions != found


def test_question_is_dropped_when_a_search_finds_what_it_asks_for(plain_texts: Corpus) -> None:
    known = re.findall(r"\b19\d\d\b", plain_texts.documents[0].text)[0]
    assert all(word in plain_texts.terms for word in content(known))
    faults = [
        check(Draft("?", "", focus=focus), S6, None, plain_texts.terms)  # type: ignore[arg-type]  # the draft alone
        for focus in (known, "Kestrana Abernoth")
    ]
    assert [bool(fault) for fault in faults] == [True, False]


def test_years_of_the_corpus_are_never_absent() -> None:
    years = absent_years([Passage("d", "d", "From 1914 to 1918, and in the 1920s.", "Annals of 1911")])
    assert not {1911, 1914, 1918, 1920} & set(years)
    assert {1912, 1921} <= set(years)


def test_topic_is_what_is_said_again_and_again_and_names_are_neither_dates_nor_beginnings() -> None:
    assert topic("the boundary layer . a thin boundary layer of the plate , the plate") == "boundary layer"
    assert topic("of the and") == ""
    said = "In Paris, the Delft Institute met Anna Berg in May 1950, on 3 March 1951."
    assert names(said) == ["Delft Institute", "Anna Berg"]
