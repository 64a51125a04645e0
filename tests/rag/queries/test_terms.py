"""Is a question answered anywhere in a corpus."""

from judgec.rag.queries.terms import TermIndex, content, words_in
from judgec.rag.retrieval.passages import Passage

INDEX = TermIndex(
    [
        Passage("a", "a", "The Fenn 25 transmitter has a housing of steel.", "Fenn 25"),
        Passage("b", "b", "The carbon footprint of shipping is published every year.", "Policy"),
    ]
)


def test_answered_needs_what_is_asked_and_of_what_in_one_passage() -> None:
    assert INDEX.answered(content("housing"), content("Fenn 25 transmitter"))
    assert not INDEX.answered(content("carbon footprint"), content("Fenn 25 transmitter"))
    assert INDEX.answered(content("carbon footprint"), content("shipping"))
    assert not INDEX.answered(content("price in euros"), content("Fenn 25"))


def test_answered_without_a_focus_counts_as_answered() -> None:
    assert INDEX.answered(content(""), content("Fenn 25"))


def test_best_ranks_by_shared_weight() -> None:
    assert INDEX.best(content("carbon footprint of the Fenn"), 2) == [1, 0]
    assert INDEX.best(content("zebra"), 2) == []


def test_words_in_gives_words_as_written() -> None:
    assert words_in("What are the running costs?", content("costs running")) == "running costs"
