"""The split of labels: quotas, stratified, the same in any order; a remembered query stays."""

import random
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from judgec.errors import UserError
from judgec.labels.split.draw import fold_splits, folds_of, recorded_split, split_labels, split_record
from judgec.labels.split.family import SHARES, SPLITS
from judgec.labels.split.memory import Memory, Version, measured_by
from judgec.labels.split.queries import key_of, queries_of
from judgec.records.label import Item, Label, LabelSet
from judgec.records.scale import Scale
from tests.labels.split.queries import normalized

SCALE = Scale(grades=(0, 1, 2))
Query = tuple[int, int | None, str]  # items, grade, group
QUERIES = st.lists(
    st.tuples(st.integers(1, 4), st.sampled_from([0, 1, 2, None]), st.sampled_from(["a", "b"])), max_size=40
)


def label_set(queries: Sequence[Query], start: int = 0) -> LabelSet:
    """Items of these queries, whose texts are numbered from ``start``."""
    items, labels = [], []
    for number, (n, grade, group) in enumerate(queries, start):
        for i in range(n):
            items.append(Item(f"{number}-{i}", f"q{number}", {"query": f"What is {number}?"}, group=group))
            if grade is not None:
                labels.append(Label(items[-1].item_id, "expert", {"grade": grade}))
    return labelled(items, labels)


def labelled(items: list[Item], labels: list[Label]) -> LabelSet:
    return LabelSet("grade", SCALE, ("grade",), tuple(items), tuple(labels), accept_only=False, digest="")


def sides(labels: LabelSet, memory: Memory | None = None) -> dict[str, str]:
    split = split_labels(labels, memory or Memory())
    return {labels.items[i].item_id: name for name in SPLITS for i in getattr(split, name)}


def version_of(record: Mapping[str, object], task: str, column: str, folds: int = 1) -> Version:
    """The version that left this record."""
    keys, by_id, tested = record["keys"], record["queries" if folds == 1 else "folds"], record["tested"]
    assert isinstance(keys, dict)
    assert isinstance(by_id, dict)
    assert isinstance(tested, list)
    seen = frozenset(keys if folds > 1 else tested)
    return Version("x", 1, task, frozenset({column}), keys, by_id, folds, seen, Path())


def remembers(labels: LabelSet, *, own: bool, memory: Memory | None = None) -> Memory:
    """The memory after a version was compiled on these labels."""
    record = split_record(split_labels(labels, memory or Memory()), labels.items, measured_by(labels, {}), "salt")
    version = version_of(record, "grade", "grade")
    return Memory(own=(version,)) if own else Memory(others=(version,))


def within_one(found: Counter[str], n: int) -> bool:
    return all(abs(found[name] - share * n) < 1 for name, share in zip(SPLITS, SHARES, strict=True))


@given(QUERIES)
def test_quotas_hold_within_one_query_among_labelled_and_among_unlabelled(queries: list[Query]) -> None:
    labels = label_set(queries)
    split = sides(labels)
    known = {label.item_id for label in labels.labels}
    for part in (True, False):
        of = {item.query_id: split[item.item_id] for item in labels.items if (item.item_id in known) is part}
        assert within_one(Counter(of.values()), len(of))


@given(QUERIES, st.randoms(use_true_random=False))
def test_split_depends_on_neither_the_order_of_rows_nor_query_ids(queries: list[Query], chance: random.Random) -> None:
    labels = label_set(queries)
    items, said = list(labels.items), list(labels.labels)
    chance.shuffle(items)
    chance.shuffle(said)
    renamed = [Item(i.item_id, f"another {i.query_id}", {"query": i.text("query")}, group=i.group) for i in items]
    assert sides(labelled(items, said)) == sides(labelled(renamed, said)) == sides(labels)
    digests = [split_labels(one).digests for one in (labels, labelled(items, said))]
    assert digests[0] == digests[1]


@given(QUERIES, QUERIES, st.booleans())
def test_adding_rows_never_moves_a_query_and_the_quotas_hold_of_all(
    old: list[Query], new: list[Query], own: bool
) -> None:
    # Labelled queries alone: those that are labelled later are drawn among others than before.
    known: list[Query] = [(n, grade or 0, group) for n, grade, group in [*old, *new]]
    first, more = label_set(known[: len(old)]), label_set(known)
    before, after = sides(first), sides(more, remembers(first, own=own))
    assert {name: after[name] for name in before} == before
    of = {item.query_id: after[item.item_id] for item in more.items}
    assert within_one(Counter(of.values()), len(old + new))


def test_labels_and_groups_are_spread_over_the_sides() -> None:
    kinds = [(grade, group) for grade in (0, 1, 2) for group in ("a", "b")]
    labels = label_set([(1, grade, group) for grade, group in kinds for _ in range(10)])
    split = sides(labels)
    grade = {label.item_id: label.grades["grade"] for label in labels.labels}
    found = Counter((grade[item.item_id], item.group, split[item.item_id]) for item in labels.items)
    for kind in kinds:
        assert abs(found[*kind, "test"] - 3) <= 1
        assert abs(found[*kind, "train"] - 5) <= 1


def test_query_is_known_by_its_text_and_by_its_id_where_it_has_none() -> None:
    one, other = (Item("1", "x", {"query": text}) for text in ("What  is it?", " WHAT is\nit? "))
    keys = [
        key_of(normalized(item), item.query_id) for item in (one, other, Item("1", "x", {"query": "What is that?"}))
    ]
    assert keys[0] == keys[1] != keys[2]
    assert key_of("", "x") != key_of("", "y")


def test_items_of_one_text_and_items_of_one_id_are_of_one_query() -> None:
    texts = [("a", "one"), ("b", "One"), ("b", "two"), ("c", "three"), ("d", "four"), ("e", "five"), ("f", "six")]
    found = queries_of([Item(str(i), name, {"query": text}) for i, (name, text) in enumerate(texts)])
    assert len(found) == 5
    assert len(set(found.of[:3])) == 1


def test_text_that_is_the_same_instruction_for_all_tells_no_query_from_another() -> None:
    items = [Item(str(i), f"article {i}", {"query": "Summarize the article."}) for i in range(10)]
    labels = labelled(items, [Label(item.item_id, "e", {"grade": 1}) for item in items])
    before = sides(labels)
    assert Counter(before.values()) == {"train": 5, "test": 3, "dev": 2}
    others = [Item(f"o{i}", f"other {i}", {"query": f"What is {i}?"}) for i in range(40)]
    more = labelled([*items, *others], [Label(item.item_id, "e", {"grade": 1}) for item in (*items, *others)])
    for own in (True, False):  # where they are few among others they are an instruction still
        after = sides(more, remembers(labels, own=own))
        assert {name: after[name] for name in before} == before


def test_split_comes_back_from_its_record() -> None:
    labels = label_set([(2, i % 3, "a") for i in range(20)])
    split = split_labels(labels)
    record = split_record(split, labels.items, measured_by(labels, {}), "salt")
    again = recorded_split(labels, record)
    assert (again.train, again.dev, again.test, again.digests) == (split.train, split.dev, split.test, split.digests)
    assert record["labels"] == {"task": "grade", "columns": ["grade"]}


@given(QUERIES.filter(lambda queries: len(queries) >= 5))
def test_folds_test_every_query_once_and_are_equal_within_one(queries: list[Query]) -> None:
    labels = label_set([(n, grade or 0, group) for n, grade, group in queries])
    pooled, folds, whole = fold_splits(labels, 5)
    everything = set(range(len(labels.items)))
    assert set(pooled.test) == everything
    assert sorted(i for fold in folds for i in fold.test) == sorted(everything)
    sizes = [len({labels.items[i].query_id for i in fold.test}) for fold in folds]
    assert max(sizes) - min(sizes) <= 1
    for split in (*folds, whole):
        assert {*split.train, *split.dev, *split.test} == everything
        parts = [{labels.items[i].query_id for i in part} for part in (split.train, split.dev, split.test)]
        learned = len(parts[0]) + len(parts[1])
        assert learned + len(parts[2]) == len(queries)
        assert abs(len(parts[0]) - learned * 5 / 7) < 1
    assert not whole.test


def test_folds_stay_where_they_were_when_rows_are_added_under_any_name() -> None:
    first, more = (label_set([(2, i % 3, "a") for i in range(n)]) for n in (20, 35))
    split = fold_splits(first, 5)[0]
    version = version_of(split_record(split, first.items, measured_by(first, {}), "salt"), "grade", "grade", folds=5)
    for memory in (Memory(own=(version,)), Memory(others=(version,))):
        after = fold_splits(more, 5, memory)[0]
        assert after.fold_of[: len(first.items)] == split.fold_of
        assert Counter(after.fold_of) == dict.fromkeys(range(1, 6), 14)
    # A single split has no sides from folds, and the other way round.
    assert split_labels(first, Memory(others=(version,))).digests == split_labels(first).digests


@pytest.mark.parametrize(("free", "single_from"), [(False, 40), (True, 150)])
def test_folds_are_five_below_so_many_queries_and_a_family_keeps_its_mode(*, free: bool, single_from: int) -> None:
    below, above = (label_set([(1, i % 3, "a") for i in range(n)]) for n in (single_from - 1, single_from))
    fresh, own = Memory(), remembers(below, own=True)
    assert [folds_of(below, memory, None, free=free) for memory in (fresh, own)] == [5, 1]
    assert folds_of(above, fresh, None, free=free) == 1


def test_folds_that_are_asked_for_are_made_where_the_family_and_the_queries_allow_them() -> None:
    few = label_set([(1, i % 3, "a") for i in range(39)])
    fresh, own = Memory(), remembers(few, own=True)
    assert [folds_of(few, fresh, asked, free=True) for asked in (1, 7)] == [1, 7]
    with pytest.raises(UserError, match=r"--folds 5: x .* --folds 1"):
        folds_of(few, own, 5, free=True)
    for wrong in (0, -1, 40):
        with pytest.raises(UserError, match=f"--folds {wrong}: 39 labelled queries"):
            folds_of(few, fresh, wrong, free=True)
