"""Pools of queries: duplicates, near-duplicates, stratified samples."""

import random
import string

import pytest
from hypothesis import given
from hypothesis import strategies as st

from judgec.rag.queries.pool import SIMILAR, Near, deduplicate, jaccard, shingles, stratified

WORDS = st.lists(
    st.sampled_from(["pump", "valve", "sensor", "how", "long", "may", "it", "run"]), min_size=1, max_size=8
)


def test_jaccard_of_two_hand_worked_texts() -> None:
    # " ab cd " has ( ab ), (ab c), (b cd), ( cd ); " ab ce " shares the first two of four.
    assert jaccard(shingles("ab cd"), shingles("ab ce")) == pytest.approx(2 / 6)


def test_deduplicate_drops_repeats_whatever_their_case_and_punctuation() -> None:
    found = deduplicate(["How long?", "how LONG", "How wide is the pipe?"], ["a", "a", "a"])
    assert found.kept == (0, 2)
    assert found.dropped == {"a": {"duplicate": 1}}


def test_deduplicate_drops_near_repeats_but_not_another_figure() -> None:
    texts = [
        "What is the accuracy of the Fenn 25 pressure transmitter?",
        "What is the accuracy of the Fenn 25 pressure transmitters?",
        "What is the accuracy of the Fenn 20 pressure transmitter?",
    ]
    found = deduplicate(texts, ["a", "b", "b"])
    assert found.kept == (0, 2)
    assert found.dropped["b"] == {"near-duplicate": 1}


def test_deduplicate_drops_what_the_experts_asked_already() -> None:
    assert deduplicate(["How long is it?"], ["a"], ["how long is it"]).kept == ()


def test_deduplicate_lets_strata_take_turns() -> None:
    found = deduplicate(["x one", "same text here", "same text here", "y two"], ["a", "a", "b", "b"])
    assert found.kept == (0, 2, 3)  # b's first comes before a's second


@given(st.lists(WORDS, max_size=25))
def test_near_finds_what_comparing_all_pairs_finds(lists: list[list[str]]) -> None:
    near, kept = Near(), list[str]()
    for text in (" ".join(words) for words in lists):
        expected = any(jaccard(shingles(text), shingles(other)) >= SIMILAR for other in kept)
        assert near.seen(text) is expected
        if not expected:
            near.add(text)
            kept.append(text)


@given(
    st.lists(st.sampled_from("abc"), max_size=40),
    st.dictionaries(st.sampled_from("abc"), st.integers(1, 20)),
    st.integers(0, 9),
)
def test_stratified_gives_each_its_share_or_says_what_is_missing(
    strata: list[str], sizes: dict[str, int], seed: int
) -> None:
    chosen, missing = stratified(strata, sizes, seed)
    for name, size in sizes.items():
        assert len(chosen[name]) + missing.get(name, 0) == size
        assert len(set(chosen[name])) == len(chosen[name])
        assert all(strata[place] == name for place in chosen[name])
    assert stratified(strata, sizes, seed) == (chosen, missing)


def test_near_keeps_hundreds_of_different_texts() -> None:
    rng = random.Random(0)
    near = Near()
    looked = 0
    for _ in range(500):
        text = " ".join("".join(rng.choices(string.ascii_lowercase, k=6)) for _ in range(12))
        looked += not near.seen(text)
        near.add(text)
    assert looked == 500
