"""Items of queries that a judge has learned from."""

import pytest

from judgec.labels.split.learned import LearnedQueries
from judgec.labels.split.queries import key_of
from judgec.records.label import Item

Pairs = list[tuple[str, str]]


def learned(pairs: Pairs, memory: LearnedQueries) -> list[bool]:
    items = [Item(f"i{n}", query_id, {"query": text}) for n, (text, query_id) in enumerate(pairs)]
    return [bool(one) for one in memory.among(items)]


@pytest.mark.parametrize(
    ("pairs", "known", "found"),
    [
        ([("one", "a"), ("ONE ", "b"), ("two", "c")], [("one", "x")], [True, True, False]),  # one text
        ([("one", "a"), ("four", "a"), ("four", "b"), ("three", "c")], [("one", "x")], [True] * 3 + [False]),
        ([("", "a"), ("", "b")], [("", "a")], [True, False]),  # without text the query_id counts
        ([("one", "a"), ("one", "b"), ("one", "c")], [("one", "x")], [False] * 3),  # an instruction
    ],
)
def test_learned_is_what_shares_a_text_or_a_query_id(pairs: Pairs, known: Pairs, found: list[bool]) -> None:
    keys = frozenset(key_of(text, query_id) for text, query_id in known)
    assert learned(pairs, LearnedQueries(keys, keys)) == found


def test_learned_is_what_has_a_query_id_of_the_judge() -> None:
    assert learned([("one", "a"), ("two", "b")], LearnedQueries(ids=frozenset("b"))) == [False, True]


def test_what_was_an_instruction_when_the_judge_was_compiled_stays_one() -> None:
    keys = frozenset([key_of("one", "a", instructed=True)])
    assert learned([("one", "a"), ("one", "b")], LearnedQueries(keys, keys)) == [True, False]


def test_nothing_is_learned_by_a_judge_that_remembers_nothing() -> None:
    assert learned([("one", "a")] * 3, LearnedQueries()) == [False] * 3
    assert learned([], LearnedQueries(ids=frozenset("b"))) == []
