"""Questions without an answer, on documents that have nothing but text: no titles, no tables, often no capitals."""

import json
import random
import re
from pathlib import Path

import numpy as np
import pytest

from judgec.rag.queries.corpus import Corpus, open_corpus
from judgec.rag.queries.scenarios import SHIPPED
from judgec.rag.queries.scenarios.building import Built, build
from judgec.rag.queries.scenarios.drafts import Draft, check
from judgec.rag.queries.scenarios.reading import read_scenario
from judgec.rag.queries.terms import content
from judgec.rag.retrieval.passages import Passage
from judgec.rag.rules.unanswerable import absent_years, names, topic
from judgec.rag.rules.writer import RuleWriter
from judgec.records.scenario.schema import Question
from judgec.stats.intervals.proportion import share
from tests.verbs.cli.process import ROOT

SHARED = ROOT.parent / "shared" / "data"
SUBJECTS = ("boundary layer", "wing flutter", "heat transfer", "shock wave", "jet noise", "panel buckling")
ASKING = set(
    re.findall(r"\w+", "what which who why how was is are did does do the a an of in on for and to with about by it")
)
INVENTED = re.compile(r"\b[A-Z][a-z]+ [A-Z][a-z]+\b")


def s6(corpus: Corpus, n: int = 20, seed: int = 0) -> Built:
    scenario = read_scenario(SHIPPED / "S6.yaml")
    return build(scenario, corpus.documents, RuleWriter(corpus.passages), corpus.terms, n=n, seed=seed)


def plain_texts(folder: Path) -> Corpus:
    """A hundred text files; those of even number without a capital letter."""
    rng = random.Random(7)
    for number in range(100):
        subject, year = SUBJECTS[number % len(SUBJECTS)], rng.randrange(1900, 1960)
        text = (
            f"The {subject} was measured by Anna Berg in {year} on {number + 3} models . A second study of the "
            f"{subject} by the Delft Institute followed in {year + 4} , with {number + 9} probes of brass ."
        )
        (folder / f"{number}.txt").write_text(text if number % 2 else text.lower(), encoding="utf-8")
    return open_corpus(str(folder))


def nowhere(question: Question, corpus: Corpus) -> bool:
    """Whether a year or a name of the question stands in no document, by looking at the texts themselves."""
    whole = "\n".join(f"{one.title}\n{one.text}" for one in corpus.documents)
    words = {word.casefold() for word in re.findall(r"\w+", whole)}
    years = re.findall(r"\b\d{4}\b", question.query)
    people = [name for name in INVENTED.findall(question.query) if not set(name.casefold().split()) & words]
    return any(year not in whole for year in years) or bool(people)


def test_plain_text_files_give_as_many_questions_as_asked_for_and_nothing_answers_them(tmp_path: Path) -> None:
    corpus = plain_texts(tmp_path)
    found = s6(corpus)
    assert len(found.questions) == 20
    assert all(one.must_refuse and not one.reference for one in found.questions)
    assert all(nowhere(one, corpus) for one in found.questions)
    assert {bool(re.search(r"\d{4}", one.query)) for one in found.questions} == {True, False}  # years, and people
    assert s6(corpus).questions == found.questions
    assert s6(corpus, seed=1).questions != found.questions


def real_texts(name: str, folder: Path) -> Corpus:
    """119 text files: passages of a real corpus, without their titles; or the catalogue that ships, with them."""
    if name == "catalogue":
        return open_corpus(str(ROOT / "trainsets" / "sensors" / "catalogue"))
    source = {"clapnq": "clapnq_passages/clapnq_dev_answerable.jsonl", "cranfield": "labels/cranfield_corpus.jsonl"}
    if not (SHARED / source[name]).is_file():
        pytest.skip(f"{SHARED / source[name]} is not here")
    with (SHARED / source[name]).open(encoding="utf-8") as lines:
        rows = [json.loads(line) for _, line in zip(range(119), lines, strict=False)]
    for number, row in enumerate(rows):
        text = row["text"] if "text" in row else row["passages"][0]["text"]
        (folder / f"{number}.txt").write_text(text, encoding="utf-8")
    return open_corpus(str(folder))


def found_by_search(question: Question, corpus: Corpus) -> bool:
    """Whether a document holds three of four words of a question, its years and its longest words among them.

    Plain string search, which knows nothing of how the question was made: no focus, no subject, no stems. What the
    document's title says is what the question is about, not what it asks for.
    """
    words = {word.casefold() for word in re.findall(r"[\w-]+", question.query)} - ASKING
    return any(holds(words, one.title.casefold(), one.text.casefold()) for one in corpus.documents)


def holds(words: set[str], title: str, text: str) -> bool:
    asked = {word for word in words if word not in title}
    needed = [word for word in asked if re.fullmatch(r"\d{4}", word)] + sorted(asked, key=len)[-2:]
    return sum(word in text for word in asked) >= 0.75 * len(asked) and all(word in text for word in needed)


@pytest.mark.parametrize("name", ["clapnq", "cranfield", "catalogue"])
def test_false_rate_of_unanswerable_questions_is_below_five_percent_by_search(name: str, tmp_path: Path) -> None:
    corpus = real_texts(name, tmp_path)
    found = s6(corpus, n=100)
    false = sum(found_by_search(one, corpus) for one in found.questions)
    assert len(found.questions) == 100
    assert len(s6(corpus, n=10).questions) == 10
    assert len({one.source for one in found.questions}) >= 40
    high = share(np.array([int(n < false) for n in range(100)]), np.arange(100)).high
    assert high is not None
    assert high < 0.05, false  # 0 of 100
    if name != "catalogue":
        assert all(nowhere(one, corpus) for one in found.questions)


def test_search_finds_a_question_that_the_documents_answer(tmp_path: Path) -> None:
    corpus = plain_texts(tmp_path)
    subject, year = re.findall(r"The ([\w ]+?) was measured by Anna Berg in (\d{4})", corpus.documents[1].text)[0]
    asked = Question(query_id="1", query=f"Who measured the {subject} in {year}?")
    assert found_by_search(asked, corpus)
    assert not found_by_search(asked.model_copy(update={"query": f"Who measured the {subject} in 2044?"}), corpus)


def test_question_is_dropped_when_a_search_finds_what_it_asks_for(tmp_path: Path) -> None:
    corpus = plain_texts(tmp_path)
    scenario = read_scenario(SHIPPED / "S6.yaml")
    known = re.findall(r"\b19\d\d\b", corpus.documents[0].text)[0]
    assert all(word in corpus.terms for word in content(known))
    draw = None  # ``check`` looks at the draft alone
    there = check(Draft("?", "", focus=known), scenario, draw, corpus.terms)  # type: ignore[arg-type]  # see above
    assert there == "the documents may answer it"
    assert not check(Draft("?", "", focus="Kestrana Abernoth"), scenario, draw, corpus.terms)  # type: ignore[arg-type]  # see above


def test_years_of_the_corpus_are_never_absent() -> None:
    years = absent_years([Passage("d", "d", "From 1914 to 1918, and in the 1920s.", "Annals of 1911")])
    assert not {1911, 1914, 1918, 1920} & set(years)
    assert {1912, 1921} <= set(years)


def test_topic_is_what_is_said_again_and_again_and_names_are_neither_dates_nor_beginnings() -> None:
    assert topic("the boundary layer . a thin boundary layer of the plate , the plate") == "boundary layer"
    assert topic("of the and") == ""
    assert names("In Paris, the Delft Institute met Anna Berg in May 1950, on 3 March 1951.") == [
        "Delft Institute",
        "Anna Berg",
    ]
