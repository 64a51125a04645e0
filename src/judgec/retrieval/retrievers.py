"""Retrieves passages: by words, by vectors, by both; re-ranked if asked; others by entry point."""

from collections.abc import Callable, Mapping, Sequence
from importlib.metadata import entry_points
from typing import Protocol, Self

from judgec.errors import UserError
from judgec.retrieval.fusion import RRF_K, reciprocal_rank_fusion
from judgec.retrieval.index import Index
from judgec.retrieval.passages import Hit, Ranking

POOL = 50  # least depth of each ranking that is fused: with 5 the first five of a hybrid change
ENTRY_POINTS = "judgec.retrievers"


class Retriever(Protocol):
    """Finds passages for queries."""

    @property
    def name(self) -> str:
        """As in the name of an agent."""
        ...

    def search(self, query: str, k: int) -> list[Hit]:
        """At most ``k`` passages, best first; none for a query without a known word."""
        ...

    def search_many(self, queries: Sequence[str], k: int) -> list[list[Hit]]:
        """As ``search`` for each query, together."""
        ...


class Reranker(Protocol):
    """Orders passages that were found anew; it may drop some and must invent none."""

    def __call__(self, query: str, hits: Sequence[Hit]) -> list[Hit]:
        """The hits, best first."""
        ...


class IndexRetriever:
    """A way of ranking an index's passages.

    Args:
        name: ``bm25`` or ``knn``.
        index: Where the passages are.
        rank: Rankings of row ids for queries.
    """

    def __init__(self, name: str, index: Index, rank: Callable[[Index, Sequence[str], int], list[Ranking]]) -> None:
        self.name = name
        self._index = index
        self._rank = rank

    def __deepcopy__(self, memo: dict[int, object]) -> Self:
        """Modules are copied with their retriever; the index stays the same one."""
        return self

    def search(self, query: str, k: int) -> list[Hit]:
        """At most ``k`` passages, best first."""
        return self.search_many([query], k)[0]

    def search_many(self, queries: Sequence[str], k: int) -> list[list[Hit]]:
        """As ``search`` for each query, together."""
        if k < 1:
            raise ValueError(f"k: {k}; at least 1 is valid")
        rankings = [ranking[:k] for ranking in self._rank(self._index, queries, k)]
        found = self._index.fetch(list(dict.fromkeys(row for ranking in rankings for row, _ in ranking)))
        return [[Hit(found[row], score) for row, score in ranking] for ranking in rankings]


class Reranked:
    """A retriever whose first ``pool`` passages are ordered anew.

    Args:
        first: Finds the candidates.
        reranker: Orders them.
        pool: How many it is given.
    """

    def __init__(self, first: Retriever, reranker: Reranker, pool: int = POOL) -> None:
        self.name = f"{first.name}+rerank"
        self._first = first
        self._reranker = reranker
        self._pool = pool

    def __deepcopy__(self, memo: dict[int, object]) -> Self:
        """Modules are copied with their retriever; the index stays the same one."""
        return self

    def search(self, query: str, k: int) -> list[Hit]:
        """At most ``k`` passages, best first."""
        return self.search_many([query], k)[0]

    def search_many(self, queries: Sequence[str], k: int) -> list[list[Hit]]:
        """As ``search`` for each query."""
        pools = self._first.search_many(queries, max(k, self._pool))
        return [self._reranker(query, hits)[:k] for query, hits in zip(queries, pools, strict=True)]


def _bm25(index: Index, queries: Sequence[str], k: int) -> list[Ranking]:
    return index.by_text(queries, k)


def _knn(index: Index, queries: Sequence[str], k: int) -> list[Ranking]:
    return index.by_vector(queries, k)


class HybridRetriever:
    """Ranks an index's passages by words and by vectors, and fuses both by reciprocal rank.

    Args:
        index: Where the passages are.
        rrf_k: The constant of the fusion.
    """

    def __init__(self, index: Index, rrf_k: int = RRF_K) -> None:
        self.name = HYBRID
        self._index = index
        self._rrf_k = rrf_k

    def __deepcopy__(self, memo: dict[int, object]) -> Self:
        """Modules are copied with their retriever; the index stays the same one."""
        return self

    def search(self, query: str, k: int) -> list[Hit]:
        """At most ``k`` passages, best first."""
        return self.search_many([query], k)[0]

    def search_many(self, queries: Sequence[str], k: int) -> list[list[Hit]]:
        """As ``search`` for each query, together; each hit with its ranks in both rankings."""
        if k < 1:
            raise ValueError(f"k: {k}; at least 1 is valid")
        depth = max(k, POOL)
        words, vectors = self._index.by_text(queries, depth), self._index.by_vector(queries, depth)
        both = [
            {"bm25": [row for row, _ in one], "knn": [row for row, _ in other]}
            for one, other in zip(words, vectors, strict=True)
        ]
        rankings = [reciprocal_rank_fusion(pair.values(), self._rrf_k)[:k] for pair in both]
        places = [
            {name: {row: rank for rank, row in enumerate(rows, 1)} for name, rows in pair.items()} for pair in both
        ]
        found = self._index.fetch(list(dict.fromkeys(row for ranking in rankings for row, _ in ranking)))
        return [
            [
                Hit(found[row], score, {name: rank[row] for name, rank in place.items() if row in rank})
                for row, score in ranking
            ]
            for ranking, place in zip(rankings, places, strict=True)
        ]


_RANKINGS: Mapping[str, Callable[[Index, Sequence[str], int], list[Ranking]]] = {"bm25": _bm25, "knn": _knn}
HYBRID = "hybrid"
RETRIEVERS = (*_RANKINGS, HYBRID)  # of the package; plugins bring more


def retriever_names() -> tuple[str, ...]:
    """Every retriever that can be opened here."""
    return (*RETRIEVERS, *sorted(point.name for point in entry_points(group=ENTRY_POINTS)))


def open_retriever(name: str, index: Index, rrf_k: int = RRF_K) -> Retriever:
    """The retriever called ``name`` on an index; a plugin is a callable that is given the index.

    Args:
        name: Of ``retriever_names``.
        index: Where the passages are.
        rrf_k: The constant by which ``hybrid`` fuses.

    Raises:
        UserError: When there is none.
    """
    if name == HYBRID:
        return HybridRetriever(index, rrf_k)
    if name in _RANKINGS:
        return IndexRetriever(name, index, _RANKINGS[name])
    for point in entry_points(group=ENTRY_POINTS):
        if point.name == name:
            made: Retriever = point.load()(index)  # what a plugin returns is its author's promise
            return made
    raise UserError(f"retriever {name!r} is not known; valid are {', '.join(retriever_names())}. Correct the name.")
