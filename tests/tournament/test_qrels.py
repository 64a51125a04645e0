"""Qrels joined to rankings: every mean below is worked out by hand."""

from collections.abc import Mapping

import pytest

from judgec.errors import InputError
from judgec.tournament.files.entries import Entries
from judgec.tournament.pooling import Cell, Relevance, Showing, by_document
from judgec.tournament.retrieval import retrieval_table

MRR = "MRR(rel=1)@5"


def entries(own_ids: Mapping[str, str] | None = None, **rankings: tuple[tuple[str, ...], ...]) -> Entries:
    """Query q0, q1, ... of each agent's rankings."""
    n = max(map(len, rankings.values()))
    return Entries(
        queries={f"q{k}": "?" for k in range(n)},
        answers={(f"q{k}", agent): "." for agent in rankings for k in range(n)},
        documents={d: f"text of {d}" for each in rankings.values() for ranking in each for d in ranking},
        retrieved={(f"q{k}", agent): ranking for agent, each in rankings.items() for k, ranking in enumerate(each)},
        own_ids=own_ids or {},
    )


def table(found: Relevance, given: Entries, agent: str) -> Mapping[str, float | None]:
    table = retrieval_table(given, found)
    assert table is not None
    return {name: estimate.value for name, estimate in table.by_agent[agent].items()}


def test_chunks_count_as_their_document_once_at_the_best_rank() -> None:
    given = entries(
        x=(("7#1", "7#3", "51#2", "51#1", "8"), ("9#4", "9#1", "51#1")),
        y=(("51#1", "51#2", "7#1"), ("3", "9#2", "3#1")),
    )
    qrels = {("q0", "51"): 1, ("q0", "7"): 0, ("q1", "9"): 1, ("q1", "3"): 0}
    found = by_document(qrels, given, "qrels.tsv")
    x, y = table(found, given, "x"), table(found, given, "y")
    assert x[MRR] == pytest.approx((1 / 2 + 1) / 2)  # documents 7, 51, 8; then 9, 51
    assert y[MRR] == pytest.approx((1 + 1 / 2) / 2)  # 51, 7; then 3, 9
    assert x["P(rel=1)@5"] == pytest.approx((1 / 5 + 1 / 5) / 2)  # each relevant document once, whatever its chunks
    assert x["nDCG@5"] == pytest.approx((0.6309297 + 1) / 2)  # 1/log2(3), then at the top


def test_second_chunk_of_a_document_takes_no_place_from_the_next_document_at_the_cutoff() -> None:
    given = entries(x=(("7#1", "7#2", "7#3", "7#4", "7#5", "51#1"),), y=(("51#1",),))
    found = by_document({("q0", "51"): 1}, given, "qrels.tsv")
    assert table(found, given, "x")[MRR] == pytest.approx(1 / 2)


def test_qrels_that_name_passages_are_measured_by_passage() -> None:
    given = entries(x=(("51#1", "51#3", "51#2", "7"),), y=(("51#2",),))
    found = by_document({("q0", "51#2"): 2, ("q0", "51#1"): 0, ("q0", "7"): 1}, given, "qrels.tsv")
    assert table(found, given, "x")["MRR(rel=2)@5"] == pytest.approx(1 / 3)
    assert not found.graded_as


def test_id_of_a_document_that_ends_like_a_chunk_is_left_alone_where_the_qrels_know_it() -> None:
    given = entries(x=(("page#2", "other#1"),), y=(("other#1", "page#2"),))
    found = by_document({("q0", "page#2"): 1, ("q0", "other"): 0, ("q0", "page"): 0}, given, "qrels.tsv")
    assert table(found, given, "y")[MRR] == pytest.approx(1 / 2)


def test_two_texts_of_one_id_are_graded_under_the_id_that_their_files_gave() -> None:
    given = entries(own_ids={"0a1b": "51#1", "q0/d3": "d3"}, x=(("7", "0a1b", "q0/d3"),), y=(("51#1", "7"),))
    found = by_document({("q0", "51"): 1, ("q0", "7"): 0, ("q0", "d3"): 0}, given, "qrels.tsv")
    assert table(found, given, "x")[MRR] == pytest.approx(1 / 2)


@pytest.mark.parametrize(
    ("qrels", "shown"),
    [
        ({("q0", "cran-51"): 1, ("q0", "cran-7"): 0}, ("'cran-51'", "'7#1'")),  # nothing matches
        ({("q0", "51.txt"): 1, ("q0", "8"): 0}, ("'51.txt'", "'7#1'")),
        ({("q0", "d51"): 1, ("q0", "d7"): 1, ("q0", "x8"): 0}, ("'d51'", "'7#1'")),
    ],
)
def test_ids_of_another_form_are_an_error_that_names_both_forms(qrels: dict[Cell, int], shown: tuple[str, str]) -> None:
    given = entries(x=(("7#1", "51#2", "51#1"),), y=(("51#2",),))
    with pytest.raises(InputError) as caught:
        by_document(qrels, given, "qrels.tsv")
    assert all(form in str(caught.value) for form in ("qrels.tsv", *shown))


def test_one_agent_with_ids_of_another_form_is_an_error_though_the_others_match() -> None:
    given = entries(x=(("7", "51"),) * 3, y=(("0123456789abcdef", "51"), ("0123456789abcde0",), ("0123456789abcde1",)))
    qrels = {(f"q{k}", d): 1 for k in range(3) for d in ("7", "51")}
    with pytest.raises(InputError, match=r"of 'y'.*'51'.*'0123456789abcdef'"):
        by_document(qrels, given, "qrels.tsv")


def test_sparse_qrels_with_ids_that_look_alike_are_no_error_and_say_how_many_are_graded() -> None:
    given = entries(x=(("1", "2", "3", "4", "5"), ("6", "7", "8", "9", "10")), y=(("11", "12"), ("13", "14")))
    found = by_document({("q0", "3"): 1, ("q1", "99"): 1}, given, "qrels.tsv")
    assert table(found, given, "x")[MRR] == pytest.approx((1 / 3 + 0) / 2)
    assert table(found, given, "y")[MRR] == 0.0


def test_showing_hides_the_chunks_of_an_irrelevant_document() -> None:
    given = entries(x=(("7#1", "51#2"),), y=(("51#1",),))
    found = by_document({("q0", "51"): 2, ("q0", "7"): 0}, given, "qrels.tsv")
    shown = Showing(given, found, annotations=False).documents("q0", ("x", "y"))
    assert [one.text for one in shown.values()] == ["text of 51#1", "text of 51#2"]
