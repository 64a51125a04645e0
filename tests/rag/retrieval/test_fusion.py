import pytest
from hypothesis import given
from hypothesis import strategies as st

from judgec.rag.retrieval.fusion import RRF_K, reciprocal_rank_fusion

RANKINGS = st.lists(st.lists(st.integers(0, 12), unique=True, max_size=8), max_size=5)


def reference(rankings: list[list[int]], k: int) -> dict[int, float]:
    """The formula of the paper, document by document: sum over rankings r of 1 / (k + r(d))."""
    documents = {d for ranking in rankings for d in ranking}
    return {d: sum(1 / (k + ranking.index(d) + 1) for ranking in rankings if d in ranking) for d in documents}


def test_two_rankings_give_hand_worked_scores() -> None:
    # a: 1/61 + 1/62, b: 1/62, c: 1/63 + 1/61
    found = reciprocal_rank_fusion([["a", "b", "c"], ["c", "a"]])
    assert [key for key, _ in found] == ["a", "c", "b"]
    assert dict(found) == pytest.approx({"a": 1 / 61 + 1 / 62, "b": 1 / 62, "c": 1 / 63 + 1 / 61})


@given(RANKINGS, st.integers(0, 100))
def test_any_rankings_equal_the_reference(rankings: list[list[int]], k: int) -> None:
    found = reciprocal_rank_fusion(rankings, k)
    assert dict(found) == pytest.approx(reference(rankings, k))
    assert [score for _, score in found] == sorted((score for _, score in found), reverse=True)


def test_equal_scores_keep_the_order_of_first_sight() -> None:
    assert [key for key, _ in reciprocal_rank_fusion([["b", "a"], ["a", "b"]])] == ["b", "a"]


def test_repeated_key_counts_once_at_its_best_rank() -> None:
    assert reciprocal_rank_fusion([["a", "a", "b"]]) == [("a", 1 / (RRF_K + 1)), ("b", 1 / (RRF_K + 2))]


def test_nothing_ranked_gives_nothing_and_a_negative_k_is_refused() -> None:
    assert reciprocal_rank_fusion([]) == reciprocal_rank_fusion([[], []]) == []
    with pytest.raises(ValueError, match="at least 0"):
        reciprocal_rank_fusion([["a"]], -1)
