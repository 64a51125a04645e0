"""Items of queries that a judge has learned from, and pairs that are each other's mirror image."""

import pytest

from judgec.labels.split.queries import LearnedQueries, key_of, with_swapped_together
from judgec.records.label import Item, LabelSet, Task
from judgec.records.tasks.preference import PREFERENCE_SCALE

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


def labels(*rows: tuple[str, str, str, str], task: Task = "preference") -> LabelSet:
    items = tuple(
        Item(f"i{k}", query_id, {"query": query, "answer_a": a, "answer_b": b})
        for k, (query_id, query, a, b) in enumerate(rows)
    )
    return LabelSet(task, PREFERENCE_SCALE, ("grade",), items, (), False, "digest")


def queries(found: LabelSet) -> list[str]:
    return [item.query_id for item in found.items]


def test_mirrored_copies_and_all_that_they_connect_share_one_query() -> None:
    rows = [("r3", "xy"), ("r2", "yx"), ("r2", "uv"), ("r1", "vu"), ("r0", "xz")]
    found = with_swapped_together(labels(*((query_id, "?", *sides) for query_id, sides in rows)))
    assert queries(found) == ["r1", "r1", "r1", "r1", "r0"]


def test_pairs_of_other_questions_and_other_tasks_keep_their_queries() -> None:
    apart = labels(("r1", "?", "x", "y"), ("r2", "!", "y", "x"))
    graded = labels(("r1", "?", "x", "y"), ("r2", "?", "y", "x"), task="grade")
    for one in (apart, graded):
        assert with_swapped_together(one) is one


def test_same_words_in_other_conversations_are_no_copies() -> None:
    """ "Which colour?" - "Red." after an order of another chair is another question."""
    items = []
    for k, (before, a, b) in enumerate(
        [("a red chair", "x", "y"), ("a blue chair", "x", "y"), ("a blue chair", "y", "x")]
    ):
        said: dict[str, str | tuple[str, ...]] = {
            "query": "?",
            "answer_a": a,
            "answer_b": b,
            "conversation_a": (before,),
            "conversation_b": (before,),
        }
        items.append(Item(f"i{k}", f"r{k}", said))
    found = with_swapped_together(LabelSet("preference", PREFERENCE_SCALE, ("grade",), tuple(items), (), False, ""))
    assert queries(found) == ["r0", "r1", "r1"]
