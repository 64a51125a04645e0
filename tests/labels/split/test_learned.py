"""Items of queries that a judge has learned from, found in parts, against the queries of the whole file."""

from hypothesis import example, given
from hypothesis import strategies as st

from judgec.labels.split.learned import LearnedItems, LearnedQueries
from judgec.labels.split.queries import key_of, normalized, queries_of
from judgec.records.label import Item

TEXTS = ["", "one", "TWO", "two ", "three", "four"]
IDS = ["a", "b", "c", "d", "e"]
ITEMS = st.lists(st.tuples(st.sampled_from(TEXTS), st.sampled_from(IDS)), max_size=12)


def items_of(pairs: list[tuple[str, str]]) -> list[Item]:
    return [Item(f"i{n}", query_id, {"query": text}) for n, (text, query_id) in enumerate(pairs)]


def expected(items: list[Item], memory: LearnedQueries) -> list[bool]:
    queries = queries_of(items, memory.known)
    known = {i for i, keys in enumerate(queries.keys) if not memory.keys.isdisjoint(keys)}
    known |= {i for item, i in zip(items, queries.of, strict=True) if item.query_id in memory.ids}
    return [i in known for i in queries.of]


@given(ITEMS, ITEMS, st.lists(st.booleans(), min_size=12, max_size=12), st.integers(0, 12))
@example([("one", "a"), ("one", "b"), ("one", "c"), ("two", "d")], [("one", "a")], [True] * 12, 2)
@example([("one", "a"), ("four", "a"), ("four", "b"), ("three", "b")], [("one", "e")], [True] * 12, 1)
def test_learned_in_parts_is_what_the_whole_file_says(
    pairs: list[tuple[str, str]], before: list[tuple[str, str]], learned: list[bool], cut: int
) -> None:
    items, earlier = items_of(pairs), items_of(before)
    keys = [
        key_of(normalized(item), item.query_id, instructed=has)
        for item, has in zip(earlier, reversed(learned), strict=False)
    ]
    memory = LearnedQueries(
        keys=frozenset(key for key, has in zip(keys, learned, strict=False) if has),
        known=frozenset(keys),
        ids=frozenset(item.query_id for item, has in zip(earlier[:1], learned, strict=False) if has),
    )
    found = LearnedItems(memory)
    found.meet(items[:cut])
    found.meet(items[cut:])
    assert found.found().tolist() == expected(items, memory)


def test_nothing_is_learned_by_a_judge_that_remembers_nothing() -> None:
    found = LearnedItems(LearnedQueries())
    found.meet(items_of([("one", "a")] * 3))
    assert found.found().tolist() == [False] * 3
