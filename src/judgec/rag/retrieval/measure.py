"""Measures how well and how fast an index finds the nearest vectors: against comparing all of them."""

import time
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from judgec.rag.retrieval.stores.lance import LanceIndex

QUERIES = 50  # that are tried
K = 3  # passages a query: what vRAG-Eval's test bed takes
PASSAGES = 10_000  # from which the vectors of queries are drawn


@dataclass(frozen=True, slots=True)
class VectorSearch:
    """Method of the vector search, measured on the index itself.

    Args:
        metric: ``cosine`` or ``l2``.
        ann: ``ivf``, ``hnsw``, or ``exact``.
        recall: Share of the nearest ``K`` passages that are found; 1 where all are compared.
        milliseconds: Median of a query alone, once vectors or index are loaded.
        queries: How many were tried: points half way between two passages.
    """

    metric: str
    ann: str
    recall: float
    milliseconds: float
    queries: int

    def to_json(self) -> dict[str, object]:
        """For ``index --json``."""
        return {
            "metric": self.metric,
            "ann": self.ann,
            "k": K,
            "recall": self.recall,
            "milliseconds": self.milliseconds,
            "queries": self.queries,
        }


def measure_search(index: "LanceIndex", seed: int = 0) -> VectorSearch:
    """Try some searches.

    Args:
        index: With two passages at least.
        seed: Of the queries.
    """
    chance = np.random.default_rng(seed)
    held = index.some_vectors(PASSAGES)
    pairs = chance.integers(0, len(held), (min(QUERIES, len(held)), 2))
    queries = (held[pairs[:, 0]] + held[pairs[:, 1]]) / 2.0
    kind = index.manifest.approximate
    search = index.nearest if kind else index.nearest_of_all
    search(queries[:1], K)  # loads what is needed
    took, found = [], []
    for query in queries:
        begun = time.perf_counter()
        (ranking,) = search(query[None], K)
        took.append(time.perf_counter() - begun)
        found.append({row for row, _ in ranking})
    recall = 1.0
    if kind:
        exact = [{row for row, _ in ranking} for ranking in index.nearest(queries, K, exact=True)]
        recall = sum(len(a & b) for a, b in zip(found, exact, strict=True)) / max(1, sum(map(len, exact)))
    return VectorSearch(index.manifest.metric, kind or "exact", recall, 1000 * float(np.median(took)), len(queries))
