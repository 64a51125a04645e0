import json
import math
import re
import shutil
from collections import Counter
from pathlib import Path

import numpy as np
import pytest

from judgec.errors import ArtifactError, UserError
from judgec.rag.retrieval.build import build_index
from judgec.rag.retrieval.index import open_index
from judgec.rag.retrieval.latent import MODEL_FILE, LatentSemantics
from judgec.rag.retrieval.manifest import location_shown
from judgec.rag.retrieval.passages import Hit
from judgec.rag.retrieval.retrievers import POOL, Reranked, open_retriever
from judgec.rag.retrieval.stores.lance import LanceIndex, top

VOCABULARY = (
    *("amber", "basil", "cedar", "dune", "ember", "flint", "grove", "heron"),
    *("iris", "juniper", "kelp", "lotus", "maple", "nettle", "onyx", "pearl"),
)
NOTHING = ("", "the of and", "*")
HOSTILE = (*NOTHING, '"unclosed', "a AND OR NOT (", "x:y", "C++?", "--; DROP TABLE passages", "a" * 5000, "\0")


@pytest.fixture(scope="module")
def index(tmp_path_factory: pytest.TempPathFactory) -> LanceIndex:
    folder = tmp_path_factory.mktemp("index")
    rng = np.random.default_rng(3)
    with (folder / "p.jsonl").open("w") as file:
        for n in range(120):
            words = rng.choice(VOCABULARY, size=int(rng.integers(3, 30)))
            file.write(json.dumps({"doc_id": f"d{n}", "text": f"{' '.join(words)} unique{n}"}) + "\n")
    build_index([folder / "p.jsonl"], folder / "index")
    return LanceIndex(folder / "index")


def bm25(index: LanceIndex, query: str, k1: float = 1.2, b: float = 0.75) -> dict[str, float]:
    """Lucene's BM25 by hand; the vocabulary has no stems or stop words to lose. Lance keeps the factor k1 + 1."""
    bags = {p.passage_id: Counter(re.findall(r"\w+", p.text.lower())) for p in index.passages()}
    mean = sum(bag.total() for bag in bags.values()) / len(bags)
    scores: dict[str, float] = {}
    for term in query.split():
        df = sum(term in bag for bag in bags.values())
        idf = math.log(1 + (len(bags) - df + 0.5) / (df + 0.5))
        for name, bag in bags.items():
            if tf := bag[term]:
                norm = k1 * (1 - b + b * bag.total() / mean)
                scores[name] = scores.get(name, 0.0) + idf * tf * (k1 + 1) / (tf + norm)
    return scores


def test_full_text_scores_are_bm25_with_pinned_parameters(index: LanceIndex) -> None:
    for query in ("basil cedar", "onyx", "unique7 maple dune"):
        (ranking,) = index.by_text([query], 200)
        found = index.fetch([row for row, _ in ranking])
        wanted = bm25(index, query)
        assert {found[row].passage_id: score for row, score in ranking} == pytest.approx(wanted, rel=1e-4)
        assert bm25(index, query, k1=1.5) != pytest.approx(wanted, rel=1e-2)


def test_vectors_are_ranked_by_cosine(index: LanceIndex) -> None:
    assert isinstance(index.embedder, LatentSemantics)
    passages = list(index.passages())
    matrix = index.embedder.documents([p.text for p in passages])
    query = index.embedder.queries(["heron lotus pearl"])[0]
    (ranking,) = index.by_vector(["heron lotus pearl"], 10)
    found = index.fetch([row for row, _ in ranking])
    wanted = sorted(zip((matrix @ query).tolist(), [p.passage_id for p in passages], strict=True), reverse=True)[:10]
    assert [score for _, score in ranking] == pytest.approx([score for score, _ in wanted], abs=1e-5)
    assert {found[row].passage_id for row, _ in ranking} == {name for _, name in wanted}


@pytest.mark.parametrize("query", HOSTILE)
@pytest.mark.parametrize("name", ["bm25", "knn", "hybrid"])
def test_odd_queries_neither_fail_nor_command(index: LanceIndex, name: str, query: str) -> None:
    hits = open_retriever(name, index).search(query, 5)
    assert len(hits) <= 5
    assert hits == [] or query not in NOTHING


def test_hybrid_fuses_pools_that_are_deeper_than_k(index: LanceIndex) -> None:
    words, vectors = index.by_text(["amber iris"], POOL)[0], index.by_vector(["amber iris"], POOL)[0]
    ranks = [{row: rank for rank, (row, _) in enumerate(ranking, 1)} for ranking in (words, vectors)]
    scores = {row: sum(1 / (60 + r[row]) for r in ranks if row in r) for r in ranks for row in r}
    best = sorted(scores.values(), reverse=True)[:3]
    assert [hit.score for hit in open_retriever("hybrid", index).search("amber iris", 3)] == pytest.approx(best)


@pytest.mark.parametrize("name", ["bm25", "knn", "hybrid"])
def test_many_queries_together_find_what_each_finds_alone(index: LanceIndex, name: str) -> None:
    retriever = open_retriever(name, index)
    queries = ["amber", "kelp onyx", "the", "unique3 grove"]
    together, alone = retriever.search_many(queries, 4), [retriever.search(query, 4) for query in queries]
    assert [[hit.passage for hit in hits] for hits in together] == [[hit.passage for hit in hits] for hits in alone]
    for one, other in zip(together, alone, strict=True):
        assert [hit.score for hit in one] == pytest.approx([hit.score for hit in other], abs=2e-5)


def test_reranker_orders_a_pool_anew(index: LanceIndex) -> None:
    shortest = Reranked(
        open_retriever("bm25", index), lambda _, hits: sorted(hits, key=lambda hit: len(hit.passage.text)), pool=20
    )
    (pool,) = open_retriever("bm25", index).search_many(["maple"], 20)
    wanted: list[Hit] = sorted(pool, key=lambda hit: len(hit.passage.text))[:3]
    assert shortest.search("maple", 3) == wanted
    assert shortest.name == "bm25+rerank"


def test_top_breaks_ties_by_row_and_takes_no_more_than_there_are() -> None:
    scores = np.array([0.1, 0.5, 0.5, 0.3], np.float32)
    rows = np.array([7, 9, 8, 6])
    assert [row for row, _ in top(rows, scores, 3)] == [8, 9, 6]
    assert len(top(rows, scores, 10)) == 4


def test_unknown_retriever_names_the_known(index: LanceIndex) -> None:
    with pytest.raises(UserError, match="bm25, knn, hybrid"):
        open_retriever("colbert", index)


def copied(index: LanceIndex, tmp_path: Path) -> Path:
    folder = tmp_path / "copy"
    shutil.copytree(index.folder, folder)
    return folder


def test_folder_without_index_says_how_to_build_one(tmp_path: Path) -> None:
    with pytest.raises(UserError, match="judgec index"):
        open_index(tmp_path)


def test_index_of_another_format_is_refused_with_what_to_do(index: LanceIndex, tmp_path: Path) -> None:
    folder = copied(index, tmp_path)
    manifest = json.loads((folder / "index.json").read_text())
    (folder / "index.json").write_text(json.dumps({**manifest, "format": 99, "novelty": True}))
    with pytest.raises(ArtifactError, match=r"format 99.*again"):
        open_index(folder)


def test_index_of_another_embedder_is_refused(index: LanceIndex, tmp_path: Path) -> None:
    with pytest.raises(UserError, match="made with lsa"):
        open_index(index.folder, embedder="openai/text-embedding-3-small")
    folder = copied(index, tmp_path)
    other = LatentSemantics(["amber"], np.ones(1, np.float32), np.ones((1, 3), np.float32))
    (folder / MODEL_FILE).write_bytes(other.dump())
    with pytest.raises(ArtifactError, match="belongs to another embedder"):
        LanceIndex(folder).by_vector(["amber"], 3)


@pytest.mark.parametrize("damage", ["index.json", MODEL_FILE, "passages.lance", "passages.lance/data"])
def test_damaged_index_is_an_artifact_error(index: LanceIndex, tmp_path: Path, damage: str) -> None:
    folder = copied(index, tmp_path)
    if damage.startswith("passages.lance"):
        shutil.rmtree(folder / damage)
    else:
        (folder / damage).write_bytes(b"{}")
    with pytest.raises(ArtifactError):
        LanceIndex(folder).by_vector(["amber"], 3)


def test_password_of_a_location_is_not_shown() -> None:
    assert location_shown("postgresql://me:se:cret@host:1/db") == "postgresql://me:***@host:1/db"
    assert location_shown("some/folder") == "some/folder"


def test_large_index_finds_what_the_exact_one_finds(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    rng = np.random.default_rng(5)
    with (tmp_path / "p.jsonl").open("w") as file:
        for n in range(1500):
            text = f"{' '.join(rng.choice(VOCABULARY, size=12))} number{n}"
            file.write(json.dumps({"doc_id": f"d{n}", "text": text}) + "\n")
    build_index([tmp_path / "p.jsonl"], tmp_path / "exact")
    for module in ("judgec.rag.retrieval.stores.lance", "judgec.rag.retrieval.manifest"):
        monkeypatch.setattr(f"{module}.IN_MEMORY", 1000)
    build_index([tmp_path / "p.jsonl"], tmp_path / "large")
    large = open_index(tmp_path / "large")
    queries = ["amber basil kelp", "onyx onyx pearl number7", "the of", "heron"]
    found = {name: open_retriever(name, large).search_many(queries, 10) for name in ("bm25", "knn", "hybrid")}
    monkeypatch.undo()
    exact = open_index(tmp_path / "exact")
    wanted = {name: open_retriever(name, exact).search_many(queries, 10) for name in ("bm25", "knn", "hybrid")}
    for kind, least in {"bm25": 1.0, "knn": 0.8, "hybrid": 0.8}.items():
        large_, exact_ = (
            {(n, hit.passage.passage_id) for n, hits in enumerate(lists[kind]) for hit in hits}
            for lists in (found, wanted)
        )
        assert len(large_ & exact_) >= least * len(exact_)
    assert found["knn"][2] == []
