"""Cutting documents: nothing lost, nothing too long, overlap from whole pieces."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from judgec.rag.queries.corpus import joined
from judgec.rag.queries.sampling import chunks_of, cut, words
from judgec.records.scenario.schema import PassageCut

TEXTS = st.text(alphabet=st.sampled_from("ab c\n.é漢"), max_size=200)


@pytest.mark.parametrize(
    ("text", "how", "found"),
    [
        ("one\ntwo\nthree\n", PassageCut(size=8, overlap=0), ["one\ntwo", "three"]),
        ("1\n2\n3", PassageCut(size=4, overlap=0), ["1\n2", "3"]),
        ("aaa\nbb\ncccc\nd\n", PassageCut(size=8, overlap=4), ["aaa\nbb", "bb\ncccc", "d"]),  # whole pieces only
        (  # times and decimals stay whole
            "Open 9.30 to 17.45 daily. Costs 3.50 euros.",
            PassageCut(separator=".", size=26, overlap=0),
            ["Open 9.30 to 17.45 daily.", "Costs 3.50 euros."],
        ),
        ("a b c d e f g", PassageCut(size=3, overlap=1, unit="tokens"), ["a b c", "c d e", "e f g"]),
    ],
)
def test_cut_keeps_pieces_whole(text: str, how: PassageCut, found: list[str]) -> None:
    assert cut(text, how) == found


@given(TEXTS, st.integers(1, 30), st.integers(0, 29), st.sampled_from(["\n", ". ", " "]))
def test_cut_loses_no_word_and_keeps_to_the_size(text: str, size: int, overlap: int, separator: str) -> None:
    found = cut(text, PassageCut(separator=separator, size=size, overlap=min(overlap, size - 1)))
    assert all(0 < len(chunk) <= size for chunk in found)
    kept = "".join("".join(found).split())
    rest = iter(kept)
    assert all(character in rest for character in "".join(text.split()))  # in order, with repeats of overlaps


@given(TEXTS, st.integers(1, 10))
def test_cut_without_overlap_is_a_partition(text: str, size: int) -> None:
    found = cut(text, PassageCut(size=size, overlap=0))
    assert "".join("".join(found).split()) == "".join(text.split())


@given(TEXTS, st.integers(2, 12))
def test_cut_by_words_keeps_to_the_size(text: str, size: int) -> None:
    assert all(words(chunk) <= size for chunk in cut(text, PassageCut(size=size, overlap=1, unit="tokens")))


def test_chunks_of_a_document_are_numbered() -> None:
    found = chunks_of("d", "T", "one\ntwo\n", PassageCut(size=4, overlap=0))
    assert [(one.passage_id, one.text) for one in found] == [("d#0", "one"), ("d#1", "two")]
    assert {(one.doc_id, one.title) for one in found} == {("d", "T")}


def test_joined_writes_what_two_passages_share_once() -> None:
    first, second = "The first sentence. The second sentence.", "The second sentence. The third one."
    assert joined([first, second]) == "The first sentence. The second sentence. The third one."
    assert joined(["abc", "xyz"]) == "abc\n\nxyz"
