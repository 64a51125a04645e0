from dataclasses import replace

import ir_measures
import pytest

from judgec.tournament.files.entries import Entries
from judgec.tournament.pooling import Relevance, given
from judgec.tournament.retrieval import measures, retrieval_table
from tests.stats.known import known

ENTRIES = Entries(
    queries={"q1": "?", "q2": "?", "q3": "?"},
    answers={(f"q{k}", agent): "." for k in (1, 2, 3) for agent in ("x", "y")},
    retrieved={
        ("q1", "x"): ("a", "b", "c"),
        ("q2", "x"): ("c", "b", "a"),
        ("q3", "x"): ("a",),
        ("q1", "y"): ("c", "a", "b"),
        ("q2", "y"): ("b", "a", "c"),
    },
)
GRADES = {("q1", "a"): 2, ("q1", "b"): 1, ("q2", "a"): 2, ("q2", "c"): 1, ("q3", "z"): 2}


def test_retrieval_means_are_those_worked_out_by_hand() -> None:
    table = known(retrieval_table(ENTRIES, given(GRADES)))
    x, y = table.by_agent["x"], table.by_agent["y"]
    # x at >= 1: first relevant at 1, 1, never; at >= 2: at 1, 3, never. y has no ranking of q3.
    assert x["MRR(rel=1)@5"].value == pytest.approx((1 + 1 + 0) / 3)
    assert x["MRR(rel=2)@5"].value == pytest.approx((1 + 1 / 3 + 0) / 3)
    assert y["MRR(rel=1)@5"].value == pytest.approx((1 / 2 + 1 / 2) / 2)
    assert x["P(rel=1)@5"].value == pytest.approx((2 / 5 + 2 / 5 + 0) / 3)
    assert x["MAP(rel=2)"].value == pytest.approx((1 + 1 / 3 + 0) / 3)
    # q1: (2 + 1/log2(3)) / the same = 1; q2: (1 + 2/2) / (2 + 1/log2(3)); q3: 0.
    assert x["nDCG@5"].value == pytest.approx((1 + 2 / (2 + 0.63093) + 0) / 3, abs=1e-4)
    assert (x["nDCG@5"].n, y["nDCG@5"].n) == (3, 2)
    pair = next(row for row in table.differences if row[2] == "MRR(rel=1)@5")
    assert pair[:2] == ("x", "y")
    assert pair[3].value == pytest.approx(0.5)  # on q1 and q2, which both have
    assert any("1 of 3 queries" in note for note in table.notes)


def test_nothing_retrieved_counts_0_where_a_relevant_document_is_known() -> None:
    entries = replace(ENTRIES, retrieved={**ENTRIES.retrieved, ("q3", "y"): ()})
    table = known(retrieval_table(entries, given(GRADES)))
    y = table.by_agent["y"]
    assert {found.n for found in y.values()} == {3}
    assert y["MRR(rel=1)@5"].value == pytest.approx((1 / 2 + 1 / 2 + 0) / 3)
    assert y["MRR(rel=2)@5"].value == pytest.approx((1 / 2 + 1 / 2 + 0) / 3)
    assert y["MAP(rel=1)"].value == pytest.approx((7 / 12 + 7 / 12 + 0) / 3)  # (1/2 + 2/3) / 2 each
    # q1: 2/log2(3) + 1/2 of 2 + 1/log2(3); q2: 2/log2(3) + 1/log2(4) of the same.
    assert y["nDCG@5"].value == pytest.approx(2 * (2 * 0.63093 + 1 / 2) / (2 + 0.63093) / 3, abs=1e-4)
    pair = next(row for row in table.differences if row[2] == "MRR(rel=1)@5")
    assert pair[3].value == pytest.approx((1 / 2 + 1 / 2 + 0) / 3)
    assert pair[3].n == 3
    unknown = known(retrieval_table(entries, given({**GRADES, ("q3", "z"): 0})))
    assert (unknown.by_agent["x"]["nDCG@5"].n, unknown.by_agent["y"]["nDCG@5"].n) == (3, 2)


def test_nothing_retrieved_is_a_relevant_document_missed_also_where_only_another_agents_pool_has_it() -> None:
    entries = replace(ENTRIES, retrieved={**ENTRIES.retrieved, ("q3", "x"): ("z",), ("q3", "y"): ()})
    relevance = Relevance(grades=GRADES, reasons={}, unscored={}, judged=True, best=2)
    table = known(retrieval_table(entries, relevance))
    assert (table.by_agent["x"]["MRR(rel=2)@5"].n, table.by_agent["y"]["MRR(rel=2)@5"].n) == (3, 3)
    assert table.by_agent["y"]["MRR(rel=2)@5"].value == pytest.approx((1 / 2 + 1 / 2 + 0) / 3)


def test_means_with_nothing_retrieved_are_those_of_ir_measures_over_all_queries_of_the_qrels() -> None:
    entries = replace(ENTRIES, retrieved={**ENTRIES.retrieved, ("q3", "y"): ()})
    qrels = {q: {d: grade for (other, d), grade in GRADES.items() if other == q} for q, _ in GRADES}
    run = {
        q: {d: -float(k) for k, d in enumerate(ids)} for (q, agent), ids in ENTRIES.retrieved.items() if agent == "y"
    }
    names = measures(2)
    theirs = ir_measures.calc_aggregate([ir_measures.parse_measure(name) for name in names], qrels, run)
    ours = known(retrieval_table(entries, given(GRADES))).by_agent["y"]
    for name in names:
        assert ours[name].value == pytest.approx(theirs[ir_measures.parse_measure(name)])


def test_documents_without_a_judgment_take_their_query_out_instead_of_counting_as_irrelevant() -> None:
    relevance = Relevance(grades=GRADES, reasons={}, unscored={("q1", "c"): "no reply"}, judged=True, best=2)
    table = known(retrieval_table(ENTRIES, relevance))
    assert table.by_agent["x"]["MRR(rel=1)@5"].n == 2
    assert table.by_agent["x"]["MRR(rel=1)@5"].value == pytest.approx(0.5)


def test_without_rankings_there_is_no_table_and_binary_grades_have_one_threshold() -> None:
    assert retrieval_table(Entries({"q": "?"}, {("q", "x"): "."}), given(GRADES)) is None
    assert measures(1, 10) == ("MRR(rel=1)@10", "P(rel=1)@10", "nDCG@10", "MAP(rel=1)")


def test_judge_of_three_grades_has_both_thresholds_even_where_no_document_is_very_relevant() -> None:
    relevance = Relevance(grades={("q1", "a"): 1, ("q2", "a"): 0}, reasons={}, unscored={}, judged=True, best=2)
    table = known(retrieval_table(ENTRIES, relevance))
    assert table.by_agent["x"]["MRR(rel=2)@5"].value == 0.0
    assert table.by_agent["x"]["MAP(rel=1)"].value == pytest.approx(1 / 2)


def test_qrels_that_know_none_of_the_queries_give_no_value_and_say_why() -> None:
    found = known(retrieval_table(ENTRIES, given({("other", "a"): 1}))).by_agent["x"]["nDCG@5"]
    assert found.value is None
    assert "no query" in found.note


def test_note_on_ungraded_documents_counts_down_to_the_cutoff() -> None:
    # Of the first documents of the five rankings, a c a c b, only q1's a and q2's c have a grade.
    table = known(retrieval_table(ENTRIES, given(GRADES), cutoff=1))
    assert table.notes[-1].startswith("2 of 5 documents ")
