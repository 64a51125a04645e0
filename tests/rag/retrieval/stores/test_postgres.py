"""The index in PostgreSQL with pgvector, run for real: the suite starts a server of its own."""

from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

from judgec.errors import ServiceError, UserError
from judgec.rag.agents.answer import REFUSAL
from judgec.rag.retrieval.build import build_index
from judgec.rag.retrieval.index import Index, open_index
from judgec.rag.retrieval.retrievers import open_retriever
from judgec.rag.retrieval.stores.postgres import publish
from tests.service.postgres import postgres

SENSORS = Path(__file__).parents[4] / "trainsets" / "sensors"
QUERIES = (
    "How do I test an Aerie CO2-10 with gas?",
    "Fenn 25 supply voltage",
    "Which Caldo probe suits a heat meter?",
    "grounding rings",
)
pytestmark = pytest.mark.full


@pytest.fixture(scope="module")
def server() -> Iterator[str]:
    """The URL of a server that lives as long as the module's tests."""
    with postgres() as url:
        yield url


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp("pg") / "index"
    build_index([SENSORS / "catalogue"], out)
    return out


def ranked(index: Index, name: str, query: str, k: int) -> list[tuple[str, float]]:
    return [(hit.passage.passage_id, hit.score) for hit in open_retriever(name, index).search(query, k)]


def test_published_index_ranks_like_the_embedded_one(server: str, folder: Path) -> None:
    publish(folder, server)
    there, here = open_index(server), open_index(folder)
    assert len(there) == len(here)
    assert list(there.passages()) == list(here.passages())
    for query in QUERIES:
        vectors = dict(ranked(there, "knn", query, 10))
        assert vectors == pytest.approx(dict(ranked(here, "knn", query, 10)), abs=1e-4)
        one, other = (dict(ranked(index, "bm25", query, 10)) for index in (there, here))
        assert len(set(one) & set(other)) >= 8  # two analysers of English: stems and stop words differ a little
        assert next(iter(one)) == next(iter(other))
        shared = [name for name in one if name in other]
        assert np.corrcoef([one[name] for name in shared], [other[name] for name in shared])[0, 1] > 0.9


@pytest.mark.parametrize(
    "query", ["", "the of and", "'; DROP SCHEMA judgec_index CASCADE; --", "a & | ! ( :*", "\0", "%s :k"]
)
def test_odd_queries_neither_fail_nor_command(server: str, folder: Path, query: str) -> None:
    publish(folder, server)
    index = open_index(server)
    for name in ("bm25", "knn", "hybrid"):
        assert len(open_retriever(name, index).search(query, 5)) <= 5
    assert len(open_retriever("bm25", index).search("Fenn", 5)) == 5


def test_publishing_again_replaces_the_index(server: str, folder: Path, tmp_path: Path) -> None:
    publish(folder, server)
    (tmp_path / "a.md").write_text(f"One passage, with a 'quote', a \\N and a comma.\n{REFUSAL}")
    build_index([tmp_path / "a.md"], tmp_path / "index")
    publish(tmp_path / "index", server)
    assert [passage.passage_id for passage in open_index(server).passages()] == ["a.md"]
    assert "\\N and a comma" in next(iter(open_index(server).passages())).text


def test_missing_index_and_missing_server_say_so_without_the_password(server: str) -> None:
    with pytest.raises(UserError, match="judgec index") as fault:
        open_index(server.replace("/postgres", "/template1"))
    assert "secret" not in str(fault.value)
    with pytest.raises(ServiceError, match="cannot be reached") as failure:
        open_index("postgresql://me:secret@127.0.0.1:1/db")
    assert "secret" not in str(failure.value)
