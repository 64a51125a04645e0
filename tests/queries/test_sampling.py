"""Draws: seeded, spread over documents, without repeats while there is anything new."""

from hypothesis import given
from hypothesis import strategies as st

from judgec.queries.sampling import SampledDocument, draws
from judgec.queries.scenarios import SHIPPED
from judgec.records.scenario.schema import ChunkSampling, Scenario
from judgec.store.scenarios.reading import read_scenario

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
