import re
from itertools import pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from judgec.errors import UserError
from judgec.rag.retrieval.parsing.chunking import PRESETS, Chunking
from judgec.rag.retrieval.parsing.document import Section


def split(text: str, chunking: Chunking) -> list[str]:
    return [chunk.text for chunk in chunking.split([Section(text)])]


@pytest.mark.parametrize("preset", PRESETS)
def test_presets_are_read_and_written_back(preset: str) -> None:
    assert Chunking.parse(str(Chunking.parse(preset))) == Chunking.parse(preset)


@pytest.mark.parametrize("text", ["", "abc", "10/2", "100/60", "100/-1", "1000/250/3"])
def test_chunking_that_cannot_be_is_refused_with_examples(text: str) -> None:
    with pytest.raises(UserError, match=r"--chunk.*valid"):
        Chunking.parse(text)


def test_short_document_is_one_chunk() -> None:
    assert split("One line.\n\nAnother.", Chunking(100, 20)) == ["One line.\n\nAnother."]


def test_breaks_fall_between_paragraphs_before_sentences() -> None:
    first, second = "Alpha beta gamma. " * 3, "Delta epsilon zeta. " * 3
    chunks = split(f"{first.strip()}\n\n{second.strip()}", Chunking(80, 0))
    assert chunks == [first.strip(), second.strip()]


def test_overlap_repeats_the_end_of_the_chunk_before() -> None:
    sentences = [f"Sentence number {n} here." for n in range(12)]
    chunks = split(" ".join(sentences), Chunking(100, 50))
    assert len(chunks) > 2
    for before, after in pairwise(chunks):
        shared = [sentence for sentence in sentences if sentence in before and sentence in after]
        assert shared
        assert sum(map(len, shared)) <= 50


def test_chunk_knows_the_section_and_page_it_begins_in() -> None:
    sections = [Section("x" * 60, "One", 1), Section("y" * 60, "Two", 2)]
    assert [(c.section, c.page) for c in Chunking(70, 0).split(sections)] == [("One", 1), ("Two", 2)]


def test_new_section_repeats_nothing_of_the_one_before_but_a_page_does() -> None:
    sentence = "Word word word word. "
    headed = [Section(sentence * 4, "One"), Section(sentence.upper() * 4, "Two")]
    paged = [Section(sentence * 4, page=1), Section(sentence.upper() * 4, page=2)]
    assert [c.text.isupper() for c in Chunking(90, 40).split(headed)] == [False, True]
    assert [c.page for c in Chunking(90, 40).split(paged)][:2] == [1, 1]


def test_short_sections_share_a_chunk() -> None:
    sections = [Section("# A\nshort", "A"), Section("# B\nshort", "B")]
    assert [c.text for c in Chunking(100, 0).split(sections)] == ["# A\nshort\n\n# B\nshort"]


def test_tokens_are_counted_in_pieces_of_words() -> None:
    text = " ".join(["internationalization"] * 30)  # 20 letters: four tokens each
    chunks = split(text, Chunking.parse("40t"))
    assert [len(chunk.split()) for chunk in chunks] == [10, 10, 10]


@settings(max_examples=150)
@given(
    st.lists(st.sampled_from([" ", ". ", "\n", "\n\n", "! "]), max_size=150), st.integers(20, 120), st.floats(0, 0.5)
)
def test_any_text_is_covered_in_order_by_chunks_of_bounded_size(gaps: list[str], size: int, share: float) -> None:
    words = [f"w{n}" for n in range(len(gaps))]  # each once, so that its place is known
    overlap = int(size * share)
    chunks = split("".join(map("".join, zip(words, gaps, strict=True))), Chunking(size, overlap))
    assert all(0 < len(chunk) <= size for chunk in chunks)
    held = [re.findall(r"w\d+", chunk) for chunk in chunks]
    assert all(one == words[words.index(one[0]) : words.index(one[-1]) + 1] for one in held)
    assert sorted({word for one in held for word in one}) == sorted(words)
    for before, after in pairwise(held):
        shared = [word for word in before if word in after]
        assert shared == before[len(before) - len(shared) :]
        assert len(" ".join(shared)) <= max(overlap, 0)


def test_word_longer_than_a_chunk_is_cut() -> None:
    assert "".join(split("x" * 50, Chunking(20, 0))) == "x" * 50
