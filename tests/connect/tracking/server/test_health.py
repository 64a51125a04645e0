"""Asking the store whether it works."""

import sqlite3
import threading
from collections.abc import Iterator
from contextlib import closing
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path

import pytest

from judgec.connect.tracking.server.health import probe
from judgec.connect.tracking.store import TrackingStore, tracking_store
from judgec.errors import ArtifactError, ServiceError


class Version(BaseHTTPRequestHandler):
    def do_GET(self) -> None:
        found = self.path == "/base/version"
        self.send_response(200 if found else 404)
        self.end_headers()
        self.wfile.write(b"3.17.2" if found else b"")

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002 -- the base class names it so
        pass


@pytest.fixture
def port() -> Iterator[int]:
    with HTTPServer(("127.0.0.1", 0), Version) as server:
        thread = threading.Thread(target=server.serve_forever, args=(0.01,))
        thread.start()
        yield server.server_port
        server.shutdown()
        thread.join()


def test_probe_missing_database_is_fine_and_stays_missing(tmp_path: Path) -> None:
    assert "first compile" in probe(tracking_store(tmp_path, None, {}))
    assert list(tmp_path.iterdir()) == []


def test_probe_database_counts_runs_wherever_it_is(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with closing(sqlite3.connect(tmp_path / "m.db")) as database:
        database.executescript("CREATE TABLE runs (id); INSERT INTO runs VALUES (1), (2), (3);")
    monkeypatch.chdir(tmp_path)
    for uri in (f"sqlite:///{tmp_path}/m.db", "sqlite:///m.db"):
        assert probe(TrackingStore(uri, None)) == f"{tmp_path}/m.db, 3 runs"


@pytest.mark.parametrize("content", [b"", b"not a database, but long enough to be read as one" * 9])
def test_probe_foreign_file_says_to_move_it(content: bytes, tmp_path: Path) -> None:
    (tmp_path / "m.db").write_bytes(content)
    with pytest.raises(ArtifactError, match="move it away"):
        probe(TrackingStore(f"sqlite:///{tmp_path}/m.db", None))


def test_probe_locked_database_says_to_close_what_uses_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("judgec.connect.tracking.server.health.TIMEOUT", 0.01)
    with closing(sqlite3.connect(tmp_path / "m.db", isolation_level=None)) as database:
        database.execute("CREATE TABLE runs (id)")
        database.execute("BEGIN IMMEDIATE")
        with pytest.raises(ArtifactError, match=r"locked.*Close what"):
            probe(TrackingStore(f"sqlite:///{tmp_path}/m.db", None))


def test_probe_server_names_its_version_and_no_password_and_a_database_its_port(port: int) -> None:
    seen = probe(TrackingStore(f"http://me:secret@127.0.0.1:{port}/base", None))
    assert seen == f"http://me:***@127.0.0.1:{port}/base, MLflow 3.17.2"
    assert probe(TrackingStore(f"postgresql://127.0.0.1:{port}/x", None)).endswith("accepts connections")


@pytest.mark.parametrize(
    ("uri", "said"),
    [
        *((uri, "correct the tracking URI") for uri in ("http://127.0.0.1:9", "postgresql+psycopg2://127.0.0.1:9/x")),
        ("http://127.0.0.1:PORT", "404"),  # another web server
    ],
)
def test_probe_nobody_there_is_a_service_error(port: int, uri: str, said: str) -> None:
    with pytest.raises(ServiceError, match=said):
        probe(TrackingStore(uri.replace("PORT", str(port)), None))
