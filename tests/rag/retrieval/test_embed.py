"""Hosted embeddings through the real client, from a server on the loopback."""

import asyncio
import json
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from importlib.util import find_spec
from pathlib import Path
from shutil import copytree

import numpy as np
import pytest

from judgec.errors import ArtifactError, ServiceError, UserError
from judgec.rag.retrieval.build import build_index
from judgec.rag.retrieval.embed import open_embedder
from judgec.rag.retrieval.index import open_index

WORDS = ("amber", "basil", "cedar", "dune")
MODEL = "openai/fake-embedding"


class Embeddings(BaseHTTPRequestHandler):
    """Counts of four words and a constant; ``status`` and ``width`` of the server change what it does."""

    def do_POST(self) -> None:
        given = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        server = self.server
        assert isinstance(server, Server)
        server.texts += given["input"]
        rows = [[float(text.count(word)) for word in WORDS] + [0.1] * (server.width - 4) for text in given["input"]]
        data = [{"object": "embedding", "index": n, "embedding": row} for n, row in enumerate(rows)]
        usage = {"prompt_tokens": 1, "total_tokens": 1}
        body = json.dumps({"object": "list", "model": "fake", "data": data, "usage": usage}).encode()
        self.send_response(server.status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002 - as in the parent
        """Nothing is shown."""


class Server(ThreadingHTTPServer):
    """Remembers the texts that it embedded."""

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), Embeddings)
        self.texts: list[str] = []
        self.status = 200
        self.width = 5

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server_port}/v1"


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch) -> Iterator[Server]:
    monkeypatch.setenv("OPENAI_API_KEY", "test")
    loop = asyncio.new_event_loop()
    asyncio.set_event_loop(loop)  # LiteLLM asks for one, and would make one that nobody closes
    with Server() as made:
        thread = threading.Thread(target=made.serve_forever, args=(0.01,), daemon=True)
        thread.start()
        yield made
        made.shutdown()
        thread.join()
    asyncio.set_event_loop(None)
    loop.close()


def written(folder: Path, **texts: str) -> list[Path]:
    for name, text in texts.items():
        (folder / f"{name}.md").write_text(text)
    return sorted(folder.glob("*.md"))


def test_hosted_vectors_are_stored_once_and_ranked_by_cosine(server: Server, tmp_path: Path) -> None:
    out = tmp_path / "index"
    build_index(written(tmp_path, a="amber amber", b="basil amber", c="dune"), out, embedder=MODEL, api_base=server.url)
    assert sorted(server.texts) == ["amber amber", "basil amber", "dune"]
    build_index(written(tmp_path, c="cedar dune"), out, api_base=server.url)
    assert server.texts[3:] == ["cedar dune"]  # what is embedded is not paid again
    index = open_index(out, api_base=server.url)
    (ranking,) = index.by_vector(["amber"], 3)
    found = index.fetch([row for row, _ in ranking])
    assert [found[row].passage_id for row, _ in ranking] == ["a.md", "b.md", "c.md"]
    query, best = np.array([1, 0, 0, 0, 0.1]), np.array([2, 0, 0, 0, 0.1])
    cosine = query @ best / np.linalg.norm(query) / np.linalg.norm(best)
    assert ranking[0][1] == pytest.approx(cosine, abs=1e-4)


def test_service_that_fails_and_model_that_changed_are_told_apart(server: Server, tmp_path: Path) -> None:
    build_index(written(tmp_path, a="amber"), tmp_path / "index", embedder=MODEL, api_base=server.url)
    server.width = 7
    with pytest.raises(ArtifactError, match="belongs to another embedder"):
        open_index(tmp_path / "index", api_base=server.url).by_vector(["amber"], 1)
    server.status = 400
    with pytest.raises(ServiceError, match="Check the model's name"):
        open_index(tmp_path / "index", api_base=server.url).by_vector(["amber"], 1)


def test_embedder_that_names_nothing_or_is_not_installed_says_what_to_do() -> None:
    with pytest.raises(UserError, match="lsa, provider/model"):
        open_embedder("fancy")
    if find_spec("sentence_transformers") is not None:
        pytest.skip("sentence-transformers is installed, so nothing says how to install it")
    with pytest.raises(UserError, match=r"judgec\[sentence-transformers\]"):
        open_embedder("sentence-transformers/intfloat/multilingual-e5-base")


@pytest.fixture(scope="module")
def local_model(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A model that needs no download: the mean of its words' one-hot vectors."""
    missing = "sentence-transformers 6 is not installed"
    transformers = pytest.importorskip("sentence_transformers", reason=missing)
    modules = pytest.importorskip("sentence_transformers.sentence_transformer.modules", reason=missing)
    from tokenizers import Tokenizer
    from tokenizers.models import WordLevel
    from tokenizers.pre_tokenizers import Whitespace

    words = ("[UNK]", *WORDS, "query", "passage")
    tokenizer = Tokenizer(WordLevel({word: place for place, word in enumerate(words)}, unk_token="[UNK]"))
    tokenizer.pre_tokenizer = Whitespace()
    weights = np.eye(len(words), dtype=np.float32)
    weights[0] = 0.1
    folder = tmp_path_factory.mktemp("se5model") / "words"  # e5 in a folder's name above the model makes it no E5
    embedding = modules.StaticEmbedding(tokenizer, weights)
    transformers.SentenceTransformer(modules=[embedding], device="cpu").save(str(folder))
    return folder


@pytest.mark.full
def test_local_model_embeds_an_index_and_ranks_it_by_cosine(local_model: Path, tmp_path: Path) -> None:
    out, name = tmp_path / "index", f"sentence-transformers/{local_model}"
    build_index(written(tmp_path, a="amber amber", b="basil amber", c="dune"), out, embedder=name)
    index = open_index(out, embedder=name)
    ranking, other = index.by_vector(["amber", "cedar dune"], 3)
    found = index.fetch([row for row, _ in ranking])
    assert [found[row].passage_id for row, _ in ranking] == ["a.md", "b.md", "c.md"]
    assert [score for _, score in ranking] == pytest.approx([1.0, 0.5**0.5, 0.0], abs=1e-4)
    assert other[0][1] == pytest.approx(0.5**0.5, abs=1e-4)


@pytest.mark.full
def test_e5_models_are_given_their_prefixes_and_others_none(local_model: Path, tmp_path: Path) -> None:
    plain = open_embedder(f"sentence-transformers/{local_model}")
    assert plain.queries(["amber"]).tolist() == plain.documents(["amber"]).tolist() == [[0, 1, 0, 0, 0, 0, 0]]
    folder = tmp_path / "multilingual-e5-tiny"
    copytree(local_model, folder)
    prefixed = open_embedder(f"sentence-transformers/{folder}")
    query, document = prefixed.queries(["amber"])[0], prefixed.documents(["amber"])[0]
    assert query[5] > 0.5 > query[6]  # "query: amber"
    assert document[6] > 0.5 > document[5]
    assert np.linalg.norm(query) == pytest.approx(1.0, abs=1e-6)


@pytest.mark.full
@pytest.mark.usefixtures("local_model")  # or there is no package to load it with
def test_local_model_that_is_not_there_says_what_to_do(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    with pytest.raises(UserError, match="cannot be loaded"):
        open_embedder(f"sentence-transformers/{tmp_path / 'none'}")
