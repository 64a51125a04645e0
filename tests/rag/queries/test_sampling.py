"""Draws: seeded, spread over documents, without repeats while there is anything new."""

from itertools import islice
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError

from judgec.errors import UserError
from judgec.rag.queries.sampling import SampledDocument, draws
from judgec.rag.queries.scenarios import SHIPPED
from judgec.rag.queries.scenarios.reading import read_scenario
from judgec.records.scenario.schema import ChunkSampling, Scenario

S1, S4, S5 = (read_scenario(SHIPPED / f"{name}.yaml") for name in ("S1", "S4", "S5"))
PLAIN = S1.model_copy(update={"chunk_sampling": ChunkSampling()})


def world(sizes: list[int]) -> list[SampledDocument]:
    return [
        SampledDocument(f"d{n}", f"T{n}", "".join(f"line {n}.{k} of the text\n" for k in range(size)))
        for n, size in enumerate(sizes)
    ]


def small(scenario: Scenario) -> Scenario:
    chunking = scenario.chunking.model_copy(update={"size": 25, "overlap": 0})
    return scenario.model_copy(
        update={"chunking": chunking, "chunk_sampling": scenario.chunk_sampling.model_copy(update={"filter": "none"})}
    )


@given(st.lists(st.integers(1, 5), min_size=1, max_size=8), st.integers(0, 5))
def test_draws_take_every_document_once_before_any_twice(sizes: list[int], seed: int) -> None:
    documents = world(sizes)
    found = list(draws(documents, small(PLAIN), seed))
    first = [draw.chunks[0].doc_id for draw in found[: len(sizes)]]
    assert sorted(first) == sorted(document.doc_id for document in documents)
    fresh = [draw.chunks[0].passage_id for draw in found[: sum(sizes)]]
    assert len({draw.key for draw in found}) == len(found)
    assert len(set(fresh[: len(sizes)])) == len(sizes)


@given(st.integers(0, 100))
def test_draws_depend_on_the_seed_and_nothing_else(seed: int) -> None:
    documents = world([3, 2, 4])
    assert list(draws(documents, small(S4), seed)) == list(draws(documents[::-1], small(S4), seed))
    assert list(draws(documents, small(S4), seed)) != list(draws(documents, small(S4), seed + 1))


def test_draws_of_one_document_stay_in_it_and_of_several_do_not() -> None:
    documents = world([4, 4, 4, 4])
    for draw in draws(documents, small(S4), 0):
        assert len({chunk.doc_id for chunk in draw.chunks}) == 1
        assert len({chunk.passage_id for chunk in draw.chunks}) == 3
    for draw in draws(documents, small(S5), 0):
        assert len({chunk.doc_id for chunk in draw.chunks}) == 3


def test_draws_cut_a_short_document_finer_rather_than_leave_it_out() -> None:
    document = SampledDocument("d", "T", "\n".join(f"Fact {k} is here." for k in range(9)))
    found = next(iter(draws([document], S4, 0)))
    assert len({chunk.passage_id for chunk in found.chunks}) == 3


def test_draws_of_an_empty_corpus_are_none() -> None:
    assert not list(draws([], S1, 0))
    assert not list(draws([SampledDocument("d", "T", "no figure here")], S1, 0))


def sampled(documents: str = "random", chunks: str = "random", **changed: int) -> Scenario:
    scenario = small(PLAIN)
    return scenario.model_copy(
        update={
            "document_sampling": scenario.document_sampling.model_copy(update={"strategy": documents, **changed}),
            "chunk_sampling": scenario.chunk_sampling.model_copy(update={"strategy": chunks}),
        }
    )


def taken(scenario: Scenario, documents: list[SampledDocument], n: int, seed: int = 0) -> list[str]:
    return [draw.chunks[0].passage_id for draw in islice(draws(documents, scenario, seed), n)]


def test_draws_that_iterate_take_documents_and_chunks_as_they_stand() -> None:
    documents = world([2, 2, 2])[::-1]
    found = taken(sampled("iterate", "iterate"), documents, 6)
    assert found == taken(sampled("iterate", "iterate"), documents, 6, seed=5)
    assert [one[:2] for one in found] == ["d2", "d1", "d0", "d2", "d1", "d0"]
    assert found[:3] == sorted(found[:3], reverse=True)
    texts = [draw.chunks[0].text for draw in islice(draws(documents, sampled("iterate", "iterate"), 0), 2)]
    assert texts == ["line 2.0 of the text", "line 1.0 of the text"]


@given(st.integers(0, 50))
def test_stratified_draws_take_one_document_of_each_folder_before_a_second_of_any(seed: int) -> None:
    documents = [SampledDocument(f"{folder}/{n}", "", "a line\n") for folder in ("big", "mid", "one") for n in range(9)]
    few = [one for one in documents if one.doc_id[:3] == "big" or int(one.doc_id[-1]) < 2]
    found = [one.partition("/")[0] for one in taken(sampled("stratified"), few, 6, seed)]
    assert sorted(found[:3]) == sorted(found[3:]) == ["big", "mid", "one"]
    assert sorted(taken(sampled("stratified"), few, len(few), seed)) == sorted(taken(sampled(), few, len(few), seed))


@given(st.integers(0, 50))
def test_stratified_draws_of_one_folder_and_of_one_document_go_by_length_and_place(seed: int) -> None:
    documents = world([1, 2, 3, 10, 11, 12, 30, 31, 32])
    found = [
        int(one.partition("#")[0].removeprefix("d")) // 3 for one in taken(sampled("stratified"), documents, 6, seed)
    ]
    assert sorted(found[:3]) == sorted(found[3:]) == [0, 1, 2]
    whole, each = (
        [chunk.text for draw in islice(draws(world([9]), sampled(chunks=how), seed), n) for chunk in draw.chunks]
        for how, n in (("iterate", 9), ("stratified", 3))
    )
    assert sorted(whole.index(text) // 3 for text in each) == [0, 1, 2]


def test_draws_by_a_function_of_the_user_take_what_it_returns(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "strategies_of_mine.py").write_text(
        "def longest(documents, rng):\n    return sorted(documents, key=lambda one: -len(one.text))[:2]\n"
        "def last(chunks, rng):\n    return chunks[-1:]\n"
        "def strange(documents, rng):\n    return ['a name']\n"
        "def broken(documents, rng):\n    return documents.nothing\n"
    )
    monkeypatch.chdir(tmp_path)
    mine = sampled("python:strategies_of_mine:longest", "python:strategies_of_mine:last")
    found = list(islice(draws(world([1, 5, 3]), mine, 0), 2))
    assert [draw.chunks[0].text for draw in found] == ["line 1.4 of the text", "line 2.2 of the text"]
    for name, said in (("strange", "it returned 'a name'"), ("broken", "AttributeError"), ("none", "no such function")):
        with pytest.raises(UserError, match=f"strategy python:strategies_of_mine:{name}: {said}"):
            next(iter(draws(world([1]), sampled(f"python:strategies_of_mine:{name}"), 0)))


def test_strategy_that_is_none_is_refused_with_those_that_are() -> None:
    with pytest.raises(ValidationError, match=r"'best' is not valid; .*stratified"):
        ChunkSampling(strategy="best")
