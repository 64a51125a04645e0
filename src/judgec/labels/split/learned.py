"""Finds the items of a file that a judge has learned from."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from judgec.labels.split.queries import queries_of
from judgec.records.label import Item


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
