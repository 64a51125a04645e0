"""How fast and how good retrieval is, against bm25s and exact numpy in the same run.

    python -m benchmarks.retrieval [--sizes 13644 100000] [--million] [--data ../shared/data/labels] [--write]
                                   [--folder FOLDER]

Texts are synthetic: words by Zipf's law, about 55 a passage. Each size is measured in a process of its own, so that its
peak memory is its own. Latencies are medians over 200 queries of eight words of some passage, one at a time; recall is
that of knn's best ten against comparing all vectors. ``--folder`` keeps corpora and indexes, and takes those that are
there (index seconds are then unknown). ``--write`` puts the tables into benchmarks/README.md.
"""

import argparse
import json
import resource
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory

import bm25s
import numpy as np

from benchmarks.collections_quality import MEASURES, RETRIEVERS, measured
from benchmarks.figures import all_done, table, write
from judgec.rag.retrieval.build import build_index
from judgec.rag.retrieval.fusion import reciprocal_rank_fusion
from judgec.rag.retrieval.latent import Matrix
from judgec.rag.retrieval.retrievers import open_retriever
from judgec.rag.retrieval.stores.lance import LanceIndex, top
from judgec.records.estimate import Estimate

SIZES = (13_644, 100_000)  # chunks of the paper's corpus; a large one
MILLION = 1_000_000
VOCABULARY = 60_000
LENGTH = 55
QUERIES = 200
TOP = 10  # of which recall is measured
DEPTH = 5


def passages(size: int, seed: int = 0) -> Iterator[str]:
    """Synthetic passages: words by Zipf's law with a few topics, so that there is something latent to find."""
    rng = np.random.default_rng(seed)
    words = np.array([f"{''.join(rng.choice(list('bcdfglmnprstv'), 3))}{n:x}" for n in range(VOCABULARY)])
    chances = 1.0 / np.arange(1, VOCABULARY + 1) ** 1.07
    chances /= chances.sum()
    topics = [rng.permutation(VOCABULARY) for _ in range(64)]
    for start in range(0, size, 1000):
        drawn = rng.choice(VOCABULARY, size=(min(1000, size - start), LENGTH), p=chances)
        for row in drawn:
            topic = topics[int(rng.integers(64))]
            yield " ".join(words[np.where(rng.random(LENGTH) < 0.4, topic[row], row)])


def median_ms(call: Callable[[str], object], queries: Sequence[str]) -> tuple[float, float]:
    """Median and 95th percentile of one call, in milliseconds."""
    for query in queries[:5]:
        call(query)
    times = []
    for query in queries:
        began = time.perf_counter()
        call(query)
        times.append(1e3 * (time.perf_counter() - began))
    return float(np.median(times)), float(np.percentile(times, 95))


def cpu_ms(call: Callable[[str], object], queries: Sequence[str]) -> float:
    """Processor time of one call, in milliseconds: what other load on the machine changes least."""
    began = time.process_time()
    for query in queries:
        call(query)
    return 1e3 * (time.process_time() - began) / len(queries)


def recall(index: LanceIndex, queries: Sequence[str]) -> float:
    """Share of the ``TOP`` nearest passages that the approximate index finds; 1 where all are compared."""
    vectors = index.embedder.queries(queries)
    if not index.manifest.approximate:
        return 1.0
    pairs = zip(index.nearest(vectors, TOP), index.nearest(vectors, TOP, exact=True), strict=True)
    shared = [len(dict(found).keys() & dict(wanted).keys()) / max(1, len(wanted)) for found, wanted in pairs]
    return float(np.mean(shared))


def measure(size: int, kept: Path | None, *, baseline: bool) -> dict[str, float]:
    """One size: index time, latencies, memory; and the same of bm25s with exact numpy."""
    with TemporaryDirectory(prefix="judgec-bench-") as temporary:
        folder = Path(temporary) if kept is None else kept / str(size)
        folder.mkdir(exist_ok=True, parents=True)
        corpus, out = folder / "corpus.jsonl", folder / "index"
        found = {}
        if not out.is_dir():
            with corpus.open("w", encoding="utf-8") as file:
                file.writelines(
                    json.dumps({"doc_id": str(n), "text": text}) + "\n" for n, text in enumerate(passages(size))
                )
            began = time.perf_counter()
            build_index([corpus], out)
            found["index s"] = time.perf_counter() - began
        rng = np.random.default_rng(1)
        index = LanceIndex(out)
        rows = rng.choice(size, QUERIES, replace=False)
        texts = [passage.text for passage in index.passages()]
        queries = [" ".join(rng.choice(texts[row].split(), 8, replace=False)) for row in rows]
        for name in ("bm25", "knn", "hybrid"):
            retriever = open_retriever(name, index)
            found[f"{name} ms"], found[f"{name} p95 ms"] = median_ms(partial(retriever.search, k=DEPTH), queries)
            found[f"{name} CPU ms"] = cpu_ms(partial(retriever.search, k=DEPTH), queries)
            five = [queries[start : start + 5] for start in range(0, QUERIES, 5)]
            began = time.perf_counter()
            for group in five:
                retriever.search_many(group, DEPTH)
            together = 1e3 * (time.perf_counter() - began) / len(five)
            began = time.perf_counter()
            for query in queries:
                retriever.search(query, DEPTH)
            found[f"{name} five/one"] = together / (1e3 * (time.perf_counter() - began) / len(queries))
        found["recall"] = recall(index, queries)
        found["peak MB"] = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
        found["disk MB"] = sum(path.stat().st_size for path in out.rglob("*") if path.is_file()) / 2**20
        if baseline:
            found |= plain(texts, index.vectors(), queries, index)
    return found


def plain(texts: list[str], matrix: Matrix, queries: Sequence[str], index: LanceIndex) -> dict[str, float]:
    """The same by bm25s and a matrix product; vectors are judgec's own, so their making is not counted."""
    began = time.perf_counter()
    ranker = bm25s.BM25(method="lucene", k1=1.2, b=0.75)
    ranker.index(bm25s.tokenize(texts, stopwords="en", show_progress=False), show_progress=False)
    found = {"plain index s": time.perf_counter() - began}
    rows = np.arange(len(texts))

    def words(query: str, k: int = 50) -> list[int]:
        tokens = bm25s.tokenize([query], stopwords="en", show_progress=False)
        return [int(row) for row in ranker.retrieve(tokens, k=k, show_progress=False, n_threads=0)[0][0]]

    def vectors(query: str, k: int = 50) -> list[int]:
        return [row for row, _ in top(rows, matrix @ index.embedder.queries([query])[0], k)]

    def hybrid(query: str) -> list[tuple[int, float]]:
        return reciprocal_rank_fusion([words(query), vectors(query)])[:DEPTH]

    for name, call in (("bm25", words), ("knn", vectors), ("hybrid", hybrid)):
        found[f"plain {name} ms"], _ = median_ms(call, queries)
        all_done(f"{name} beside judgec", sum(len(call(query)) >= DEPTH for query in queries), len(queries))
    return found


def speed(by_size: dict[int, dict[str, float]]) -> str:
    """The speed table."""
    head: tuple[str, ...] = (
        "chunks",
        "index s (bm25s)",
        "bm25 (bm25s)",
        "knn (numpy)",
        "hybrid (both)",
        "CPU ms",
        "recall",
        "p95",
    )
    head = (*head, "five / one", "MB", "disk")
    rows = []
    for size, found in by_size.items():
        seconds = f"{found['index s']:.1f}" if "index s" in found else "-"
        cells = [f"{size:,}", f"{seconds}{_beside(found, 'plain index s', 1)}"]
        cells += [
            f"{found[f'{name} ms']:.2f}{_beside(found, f'plain {name} ms', 2)}" for name in ("bm25", "knn", "hybrid")
        ]
        five = ", ".join(f"{found[f'{name} five/one']:.2f}" for name in ("bm25", "knn", "hybrid"))
        cells += [", ".join(f"{found[f'{name} CPU ms']:.1f}" for name in ("bm25", "knn", "hybrid"))]
        cells += [
            f"{found['recall']:.3f}",
            f"{found['hybrid p95 ms']:.2f}",
            five,
            f"{found['peak MB']:.0f}",
            f"{found['disk MB']:.0f}",
        ]
        rows.append(cells)
    return "\n".join(table(head, rows))


def quality(data: Path) -> str:
    """The quality table."""
    rows = []
    for name in MEASURES:
        with TemporaryDirectory(prefix="judgec-bench-") as folder:
            found = measured(name, data, Path(folder, "index"))
        cells = [name, "MAP" if found.measure == "AP" else found.measure]
        cells += [_estimate(found.means[retriever]) for retriever in RETRIEVERS]
        cells += [_estimate(found.hybrid_minus[retriever], signed=True) for retriever in ("bm25", "knn")]
        rows.append(cells)
    return "\n".join(table(("collection", "measure", *RETRIEVERS, "hybrid - bm25", "hybrid - knn"), rows))


def _beside(found: dict[str, float], name: str, digits: int) -> str:
    return f" ({found[name]:.{digits}f})" if name in found else ""


def _estimate(found: Estimate, *, signed: bool = False) -> str:
    sign = "+" if signed else ""
    return f"{found.value or 0:{sign}.3f} [{found.low or 0:{sign}.3f}, {found.high or 0:{sign}.3f}]"


def main() -> None:
    """Measure, print, and write if asked."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--sizes", type=int, nargs="*", default=list(SIZES))
    parser.add_argument("--million", action="store_true")
    parser.add_argument("--data", type=Path)
    parser.add_argument("--folder", type=Path)
    parser.add_argument("--write", action="store_true")
    parser.add_argument("--one", type=int, help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.one is not None:
        print(json.dumps(measure(given.one, given.folder, baseline=given.one < MILLION)))
        return
    by_size, kept = {}, [] if given.folder is None else ["--folder", str(given.folder)]
    for size in [*given.sizes, *([MILLION] if given.million else [])]:
        done = subprocess.run(
            [sys.executable, "-m", "benchmarks.retrieval", "--one", str(size), *kept],
            capture_output=True,
            text=True,
            check=True,
        )
        by_size[size] = json.loads(done.stdout.splitlines()[-1])
    parts = [speed(by_size)] if by_size else []
    if given.data is not None:
        parts.append(quality(given.data))
    text = "\n\n".join(parts)
    print(text)
    if given.write:
        write("retrieval", text)


if __name__ == "__main__":
    main()
