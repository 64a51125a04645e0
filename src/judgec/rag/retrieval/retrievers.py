"""Retrieves passages: by words, by vectors, by both; re-ranked if asked; others by entry point."""

from collections.abc import Callable, Sequence
from functools import partial
from importlib.metadata import entry_points
from typing import Protocol, Self, TypeAlias

from judgec.errors import UserError
from judgec.rag.retrieval.fusion import RRF_K, reciprocal_rank_fusion
from judgec.rag.retrieval.index import Index
from judgec.rag.retrieval.passages import Hit, Ranking

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


_Rank: TypeAlias = Callable[[Index, Sequence[str], int], list[Ranking]]


class IndexRetriever:
    """A way of ranking an index's passages.

    Args:
        name: ``bm25``, ``knn`` or ``hybrid``.
        index: Where the passages are.
        rank: Ranks rows of the index for queries, at least as many as asked for where there are so many.
    """

    def __init__(self, name: str, index: Index, rank: _Rank) -> None:
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
        best = [ranking[:k] for ranking in self._rank(self._index, queries, k)]
        found = self._index.fetch(list(dict.fromkeys(row for ranking in best for row, _ in ranking)))
        return [[Hit(found[row], score) for row, score in ranking] for ranking in best]


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


def _hybrid(index: Index, queries: Sequence[str], k: int, rrf_k: int) -> list[Ranking]:
    """By words and by vectors, both fused by reciprocal rank."""
    depth = max(k, POOL)
    both = zip(index.by_text(queries, depth), index.by_vector(queries, depth), strict=True)
    return [reciprocal_rank_fusion([[row for row, _ in ranking] for ranking in pair], rrf_k) for pair in both]


RETRIEVERS = ("bm25", "knn", "hybrid")  # of the package; plugins bring more


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
    ways: list[_Rank] = [_bm25, _knn, partial(_hybrid, rrf_k=rrf_k)]
    if name in RETRIEVERS:
        return IndexRetriever(name, index, ways[RETRIEVERS.index(name)])
    for point in entry_points(group=ENTRY_POINTS):
        if point.name == name:
            made: Retriever = point.load()(index)  # what a plugin returns is its author's promise
            return made
    raise UserError(f"retriever {name!r} is not known; valid are {', '.join(retriever_names())}. Correct the name.")
