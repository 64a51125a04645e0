"""vRAG-Eval's test bed: PDFs, chunks of 1,000 characters with 25 % overlap, an HNSW graph over squared L2, top 3."""

import asyncio
import shutil
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import judgec
from judgec.errors import ArtifactError, UserError
from judgec.rag.retrieval.stores import lance
from judgec.rag.retrieval.stores.lance import LanceIndex
from judgec.rag.retrieval.stores.mapped import NAMES
from tests.rag.retrieval.parsing.files import pdf

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


def test_index_says_how_it_searches(built: judgec.CorpusIndex, manuals: Path, tmp_path: Path) -> None:
    assert built.report["search"] == {"metric": "l2", "ann": "hnsw"}
    plain = judgec.index(manuals, out=tmp_path / "plain", progress=False)
    assert plain.report["search"] == {"metric": "cosine", "ann": "exact"}


def test_index_keeps_the_metric_it_was_built_with(built: judgec.CorpusIndex, manuals: Path) -> None:
    with pytest.raises(UserError, match=r"--metric cosine: .* with l2"):
        judgec.index(manuals, out=built.path, metric="cosine", progress=False)
    again = judgec.index(manuals, out=built.path, progress=False)
    assert again.build.unchanged == 12
    assert again.build.manifest.metric == "l2"


def test_published_vectors_are_compared_by_cosine(manuals: Path, tmp_path: Path) -> None:
    with pytest.raises(UserError, match=r"--postgres and --metric l2"):
        judgec.index(manuals, out=tmp_path / "x", metric="l2", postgres="postgresql://h/d", progress=False)
    assert not (tmp_path / "x").exists()


def test_mapped_files_say_what_the_table_says(
    built: judgec.CorpusIndex, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("judgec.rag.retrieval.stores.lance.IN_MEMORY", 1)
    old = tmp_path / "old"
    shutil.copytree(built.path, old)
    for pattern in NAMES:
        (path,) = old.glob(pattern.format("*"))
        path.unlink()
    index, older = LanceIndex(built.path), LanceIndex(old)  # of before there were such files
    queries = index.vectors()[::7] + np.float32(0.01)
    for found, expected in zip(index.nearest(queries, 3), older.nearest(queries, 3), strict=True):
        assert [row for row, _ in found] == [row for row, _ in expected]
        assert [score for _, score in found] == pytest.approx([score for _, score in expected], abs=1e-4)
        rows = [row for row, _ in found]
        assert index.fetch(rows) == older.fetch(rows)
        assert len(index.fetch(rows)) == 3


def test_mapped_files_belong_to_the_version_of_the_table_and_damage_is_refused(manuals: Path, tmp_path: Path) -> None:
    sources, out = tmp_path / "manuals", tmp_path / "index"
    shutil.copytree(manuals, sources)
    judgec.index(sources, out=out, ann="hnsw", progress=False)
    pdf(sources / "new.pdf", ["what a valve is for"], "New")
    version = judgec.index(sources, out=out, progress=False).build.manifest.table_version
    names = [pattern.format(version) for pattern in NAMES]
    assert sorted(path.name for path in out.iterdir() if path.suffix in {".npy", ".arrow"}) == sorted(names)
    for name in names:
        path = out / name
        whole = path.read_bytes()
        path.write_bytes(whole[: len(whole) // 2])
        with pytest.raises(ArtifactError, match=r"rows.*again"):
            LanceIndex(out).nearest(np.ones((1, 2), np.float32), 1)
        path.write_bytes(whole)
    judgec.index(sources, out=tmp_path / "exact", ann="exact", progress=False)
    assert not list((tmp_path / "exact").glob("vectors-*"))


def test_a_large_batch_is_searched_a_few_at_a_time(built: judgec.CorpusIndex, monkeypatch: pytest.MonkeyPatch) -> None:
    running, most, found = 0, 0, lance._found

    async def counted(search: Any) -> object:
        nonlocal running, most
        running += 1
        most = max(most, running)
        await asyncio.sleep(0)
        result = await found(search)
        running -= 1
        return result

    monkeypatch.setattr(lance, "_found", counted)
    index = LanceIndex(built.path)
    queries = np.random.default_rng(0).normal(size=(50, index.manifest.dimensions)).astype(np.float32)
    assert len(index.nearest(queries, 3, exact=True)) == 50
    assert most == lance.SIDE_BY_SIDE
