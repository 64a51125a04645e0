"""Finds the items of a file that a judge has learned from while the file is read, in a few bytes an item."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from judgec.labels.split.queries import INSTRUCTED, key_of, normalized
from judgec.records.label import Item

MIX = np.uint64(0x9E3779B97F4A7C15)  # any odd number: makes one hash of two


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


class LearnedItems:
    """Finds the items of a judge's queries: queries are told apart as by ``queries_of`` of the whole file.

    Args:
        memory: The judge's.
    """

    def __init__(self, memory: LearnedQueries) -> None:
        self._memory = memory
        self._count = 0
        self._hashes: list[NDArray[np.uint64]] = []  # of text and query_id, shape (2, n)
        self._facts: list[NDArray[np.bool_]] = []  # shape (5, n): see ``meet``

    def meet(self, items: Sequence[Item]) -> None:
        """Further items of the file."""
        self._count += len(items)
        memory = self._memory
        if not (memory.keys or memory.ids):
            return
        hashes = np.empty((2, len(items)), dtype=np.int64)
        facts = np.empty((5, len(items)), dtype=np.bool_)
        for i, item in enumerate(items):
            text, query_id = normalized(item), item.query_id
            instructed = key_of(text, query_id, instructed=True)
            hashes[:, i] = hash(text), hash(query_id)
            facts[:, i] = (
                not text,
                key_of(text, query_id) in memory.keys,
                instructed in memory.keys,
                instructed in memory.known,
                query_id in memory.ids,
            )
        self._hashes.append(hashes.view(np.uint64))
        self._facts.append(facts)

    def found(self) -> NDArray[np.bool_]:
        """Of each item whether the judge has learned from its query, shape (n_items,)."""
        if not self._hashes:
            return np.zeros(self._count, dtype=np.bool_)
        texts, ids = np.concatenate(self._hashes, axis=1)
        blank, by_text, by_both, known, by_id = np.concatenate(self._facts, axis=1)
        _, text = np.unique(texts, return_inverse=True)
        names, query_id = np.unique(ids, return_inverse=True)
        shared = np.bincount(np.unique(text * len(names) + query_id) // len(names))  # query_ids of each text
        instruction = (shared >= INSTRUCTED) & (2 * shared > len(names))
        instruction[text[known]] = True
        both = instruction[text] | blank  # known by text and query_id
        with np.errstate(over="ignore"):
            _, key = np.unique(np.where(both, texts * MIX ^ ids, texts), return_inverse=True)
        learned: NDArray[np.bool_] = np.where(both, by_both, by_text) | by_id
        while True:  # items of one key, and items of one query_id, are of one query
            keys, queries = np.zeros(len(learned), dtype=np.bool_), np.zeros(len(names), dtype=np.bool_)
            keys[key[learned]] = queries[query_id[learned]] = True
            more = keys[key] | queries[query_id]
            if (more == learned).all():
                return learned
            learned = more
