"""vRAG-Eval's test bed: PDFs, chunks of 1,000 characters with 25 % overlap, an HNSW graph over squared L2, top 3."""

from pathlib import Path

import numpy as np
import pytest

import judgec
from judgec.errors import UserError
from judgec.retrieval.stores.lance import LanceIndex
from tests.retrieval.parsing.files import pdf

WORDS = [f"{a}{b}{c}" for a in "bdfgklmnprst" for b in "aeiou" for c in "kmnprst"]


@pytest.fixture(scope="module")
def manuals(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder, chance = tmp_path_factory.mktemp("manuals"), np.random.default_rng(3)
    for number in range(12):
        theme = chance.choice(WORDS, 30)
        pages = [" ".join(chance.choice(theme, 160)) for _ in range(4)]
        pdf(folder / f"m{number:02}.pdf", pages, f"Manual {number}")
    return folder


@pytest.fixture(scope="module")
def built(manuals: Path, tmp_path_factory: pytest.TempPathFactory) -> judgec.CorpusIndex:
    out = tmp_path_factory.mktemp("index") / "hnsw"
    return judgec.index(manuals, out=out, chunk="1000/250", metric="l2", ann="hnsw", progress=False)


def test_graph_finds_what_numpy_finds_with_squared_distances(built: judgec.CorpusIndex) -> None:
    index = LanceIndex(built.path)
    assert index.manifest.approximate == "hnsw"
    held = index.vectors().astype(np.float64)
    ids = [passage.passage_id for passage in index.passages()]
    queries = np.random.default_rng(0).normal(size=(30, held.shape[1])).astype(np.float32) * held.std()
    queries += held[:30].astype(np.float32)
    found, shared = index.nearest(queries, 3), 0
    for query, ranking in zip(queries.astype(np.float64), found, strict=True):
        distance = ((held - query) ** 2).sum(axis=1)
        nearest = np.argsort(distance)[:3]
        names = {ids[i]: distance[i] for i in nearest}
        shown = {index.fetch([row])[row].passage_id: score for row, score in ranking}
        shared += len(names.keys() & shown.keys())
        assert all(-shown[name] == pytest.approx(names[name], rel=1e-3) for name in names.keys() & shown.keys())
    assert shared >= 0.95 * 90
    exact = [[row for row, _ in one] for one in index.nearest_of_all(queries, 3)]
    assert exact == [[row for row, _ in one] for one in index.nearest(queries, 3, exact=True)]
    assert index.nearest(queries, 3) == LanceIndex(built.path).nearest(queries, 3)


def test_index_says_how_well_and_how_fast_it_searches(built: judgec.CorpusIndex, manuals: Path, tmp_path: Path) -> None:
    search = built.report["search"]
    assert isinstance(search, dict)
    assert (search["metric"], search["ann"], search["k"]) == ("l2", "hnsw", 3)
    assert search["recall"] >= 0.95
    assert 0 < search["milliseconds"] < 1000
    plain = judgec.index(manuals, out=tmp_path / "plain", progress=False)
    search = plain.report["search"]
    assert isinstance(search, dict)
    assert (search["metric"], search["ann"], search["recall"]) == ("cosine", "exact", 1.0)


def test_index_keeps_the_metric_it_was_built_with(built: judgec.CorpusIndex, manuals: Path) -> None:
    with pytest.raises(UserError, match=r"--metric cosine: the index in .* was built with l2; one index has one"):
        judgec.index(manuals, out=built.path, metric="cosine", progress=False)
    again = judgec.index(manuals, out=built.path, progress=False)
    assert again.build.unchanged == 12
    assert again.build.manifest.metric == "l2"


def test_published_vectors_are_compared_by_cosine(manuals: Path, tmp_path: Path) -> None:
    with pytest.raises(UserError, match=r"--postgres and --metric l2"):
        judgec.index(manuals, out=tmp_path / "x", metric="l2", postgres="postgresql://h/d", progress=False)
    assert not (tmp_path / "x").exists()
