"""Two classic test collections, and how well each retriever does on them."""

import csv
import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import ir_measures
import numpy as np

from judgec.rag.retrieval.build import build_index
from judgec.rag.retrieval.index import open_index
from judgec.rag.retrieval.parsing.chunking import Chunking
from judgec.rag.retrieval.retrievers import open_retriever
from judgec.records.estimate import Estimate
from judgec.stats.agreement.statistic import SHARE, mean
from judgec.stats.intervals.jackknife import difference_interval, interval

DEPTH = 1000  # of a ranking, as in TREC
RETRIEVERS = ("bm25", "knn", "hybrid")
MEASURES = {"vaswani": "AP", "cranfield": "nDCG@10"}


@dataclass(frozen=True, slots=True)
class Quality:
    """A measure on a collection.

    Args:
        measure: As ``ir_measures`` names it; the mean of AP is MAP.
        means: By retriever.
        hybrid_minus: Paired differences of hybrid and each alone.
    """

    measure: str
    means: Mapping[str, Estimate]
    hybrid_minus: Mapping[str, Estimate]


def measured(name: str, data: Path, out: Path) -> Quality:
    """Index a collection in ``out``, run all its queries, measure.

    Args:
        name: ``vaswani`` or ``cranfield``.
        data: Folder of its three files.
        out: Of the index.
    """
    build_index([data / f"{name}_corpus.jsonl"], out, chunking=Chunking(100_000, 0))
    index = open_index(out)
    lines = (data / f"{name}_queries.jsonl").read_text(encoding="utf-8").splitlines()
    queries = {row["query_id"]: row["query"] for row in map(json.loads, lines)}
    with (data / f"{name}_qrels.tsv").open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file, delimiter="\t"))
    qrels = [ir_measures.Qrel(row["query_id"], row["doc_id"], int(row["grade"])) for row in rows]
    judged = sorted({row["query_id"] for row in rows} & queries.keys())
    measure = ir_measures.parse_measure(MEASURES[name])
    values = {}
    for retriever in RETRIEVERS:
        found = open_retriever(retriever, index).search_many([queries[query_id] for query_id in judged], DEPTH)
        run = [
            ir_measures.ScoredDoc(query_id, hit.passage.doc_id, float(DEPTH - rank))
            for query_id, hits in zip(judged, found, strict=True)
            for rank, hit in enumerate(hits)
        ]
        by_query = {metric.query_id: metric.value for metric in ir_measures.iter_calc([measure], qrels, run)}
        values[retriever] = mean(
            np.array([by_query.get(query_id, 0.0) for query_id in judged]), np.arange(len(judged)), bounds=SHARE
        )
    return Quality(
        measure=MEASURES[name],
        means={name: interval(values[name]).estimate(len(judged)) for name in RETRIEVERS},
        hybrid_minus={
            name: difference_interval(values["hybrid"], values[name]).estimate(len(judged)) for name in ("bm25", "knn")
        },
    )
