"""Groups items into queries: what no split may separate, and the key that a query has in every file.

Pairs that are each other's mirror image belong to one query, whatever the file calls it.
"""

import hashlib
import unicodedata
from collections import Counter
from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from judgec.records.label import Item, LabelSet
from judgec.records.tasks.registry import compares

INSTRUCTED = 3  # fewest query_ids of a text that may be an instruction ("Summarize the article.") and no question


@dataclass(frozen=True, slots=True)
class Queries:
    """Items by query. Items with one query_id, and items with one query text, are of one query.

    Args:
        of: The number of each item's query, in the order of the items.
        key_of: Each item's own key.
        keys: By number, all keys of the query: one a different text. Numbers follow the sorted keys, so that the order
            of the items has no part in them.
        ids: By number, all query_ids of the query.
    """

    of: tuple[int, ...]
    key_of: tuple[str, ...]
    keys: tuple[tuple[str, ...], ...]
    ids: tuple[tuple[str, ...], ...]

    def __len__(self) -> int:
        return len(self.keys)


def key_of(text: str, query_id: str, *, instructed: bool = False) -> str:
    """Key of a query, whatever a file or a judge is called: the hash of its normalized text.

    A query without text is known by its query_id, and one whose text is the same instruction for all by both.
    """
    known_by = text if text and not instructed else f"{text}\0{query_id}"
    return hashlib.sha256(known_by.encode()).hexdigest()[:16]


def queries_of(items: Sequence[Item], known: Collection[str] = ()) -> Queries:
    """The queries of the items.

    A text that more than half of at least three query_ids share tells no query from another: it is taken for an
    instruction, and the query_ids count.

    Args:
        items: All of a file.
        known: Keys from earlier files: what was an instruction there stays one.
    """
    known_texts: dict[str, str] = {}
    texts = [known_texts.get(said) or known_texts.setdefault(said, _plain(said)) for said in map(_query, items)]
    pairs = [(text, item.query_id) for item, text in zip(items, texts, strict=True)]
    different = dict.fromkeys(pairs)
    n_ids = len({query_id for _, query_id in different})
    ids = Counter(text for text, _ in different)
    instructions = {text for text, count in ids.items() if count >= INSTRUCTED and 2 * count > n_ids}
    if known:
        instructions |= {text for text, query_id in different if key_of(text, query_id, instructed=True) in known}
    key_by_pair = {pair: key_of(*pair, instructed=pair[0] in instructions) for pair in different}
    keys = tuple(key_by_pair[pair] for pair in pairs)
    place = {key: i for i, key in enumerate(sorted(set(keys)))}
    parent = list(range(len(place)))  # the least of those that belong together is their root

    def root(key: int) -> int:
        while parent[key] != key:
            parent[key] = parent[parent[key]]
            key = parent[key]
        return key

    key_of_id: dict[str, int] = {}
    for (_, query_id), key in key_by_pair.items():
        low, high = sorted((root(place[key]), root(key_of_id.setdefault(query_id, place[key]))))
        parent[high] = low
    roots = [root(key) for key in parent]
    number = {key: i for i, key in enumerate(sorted(set(roots)))}
    number_of = {key: number[roots[at]] for key, at in place.items()}
    by_key: list[list[str]] = [[] for _ in number]
    for key in place:
        by_key[number_of[key]].append(key)
    by_id: list[list[str]] = [[] for _ in number]
    for query_id, at in key_of_id.items():
        by_id[number[roots[at]]].append(query_id)
    return Queries(
        of=tuple(map(number_of.__getitem__, keys)),
        key_of=keys,
        keys=tuple(map(tuple, by_key)),
        ids=tuple(tuple(sorted(names)) for names in by_id),
    )


def _query(item: Item) -> str:
    return item.text("query")


def _plain(text: str) -> str:
    return " ".join(unicodedata.normalize("NFKC", text).casefold().split())


@dataclass(frozen=True, slots=True)
class LearnedQueries:
    """The queries that a judge has learned from.

    Args:
        keys: Theirs.
        known: The keys of all queries that it was compiled on; what was an instruction there stays one.
        ids: Their query_ids.
    """

    keys: frozenset[str] = frozenset()
    known: frozenset[str] = frozenset()
    ids: frozenset[str] = frozenset()

    def among(self, items: Sequence[Item]) -> NDArray[np.bool_]:
        """Of each item of a whole file whether the judge has learned from its query, shape (n_items,)."""
        if not (self.keys or self.ids):
            return np.zeros(len(items), dtype=np.bool_)
        queries = queries_of(items, self.known)
        pairs = zip(queries.keys, queries.ids, strict=True)
        learned = [not (self.keys.isdisjoint(keys) and self.ids.isdisjoint(ids)) for keys, ids in pairs]
        return np.array(learned, dtype=np.bool_)[list(queries.of)]


def with_swapped_together(labels: LabelSet) -> LabelSet:
    """The labels with one query id for all pairs that are equal or mirrored, so that no split separates them.

    Only comparisons change, and only where such pairs have different query ids: all queries that they connect
    take the first of their ids in sorted order.
    """
    if not compares(labels.task):
        return labels
    joint = _joint_queries(labels.items)
    items = tuple(replace(item, query_id=joint[item.query_id]) for item in labels.items)
    return labels if items == labels.items else replace(labels, items=items)


def _joint_queries(items: Sequence[Item]) -> dict[str, str]:
    """The id that stands for each query id."""
    parent = {item.query_id: item.query_id for item in items}

    def root(name: str) -> str:
        while parent[name] != name:
            parent[name] = parent[parent[name]]
            name = parent[name]
        return name

    first: dict[tuple[object, ...], str] = {}
    for item in items:
        sides = ((item.texts(f"conversation_{side}"), item.text(f"answer_{side}")) for side in "ab")
        pair = (item.text("query"), item.texts("conversation"), *sorted(sides))
        low, high = sorted((root(item.query_id), root(first.setdefault(pair, item.query_id))))
        parent[high] = low
    return {name: root(name) for name in parent}
