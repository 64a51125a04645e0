import multiprocessing
import os
import signal
import sqlite3
import subprocess
import sys
from contextlib import closing
from pathlib import Path

import pytest

from judgec.errors import ArtifactError
from judgec.lm.journal.journal import SCHEMA, Journal, JournaledReply

REPLY = JournaledReply("openai/m", "m-2", "[[ ## grade ## ]]\n4 \u2603", "stop", "[]", 12, 3, 0.5, 1e9)


def key(number: int) -> bytes:
    return number.to_bytes(32, "big")


def test_get_after_put_returns_every_field_unchanged(tmp_path: Path) -> None:
    with Journal(tmp_path / "deep" / "journal.db") as journal:
        journal.put(key(1), REPLY)
        assert journal.get(key(1)) == REPLY
        assert journal.get(key(2)) is None


def test_get_after_second_put_returns_the_newest_and_keeps_both_rows(tmp_path: Path) -> None:
    newer = REPLY._replace(text="newer", usd=None, logprobs=None)
    with Journal(tmp_path / "journal.db") as journal:
        journal.put(key(1), REPLY)
        journal.put(key(1), newer)
        assert journal.get(key(1)) == newer
        assert journal.get_many([key(1)]) == {key(1): newer}
        assert len(journal) == 2


def test_get_many_of_more_than_one_chunk_finds_exactly_what_is_there(tmp_path: Path) -> None:
    with Journal(tmp_path / "journal.db") as journal:
        journal.put_many((key(n), REPLY._replace(text=str(n))) for n in range(0, 1500, 3))
        found = journal.get_many([key(n) for n in range(1500)])
    assert {k: reply.text for k, reply in found.items()} == {key(n): str(n) for n in range(0, 1500, 3)}


def test_put_many_that_fails_midway_writes_nothing(tmp_path: Path) -> None:
    def broken() -> object:
        yield key(1), REPLY
        raise ValueError("midway")

    with Journal(tmp_path / "journal.db") as journal:
        with pytest.raises(ValueError, match="midway"):
            journal.put_many(broken())  # type: ignore[arg-type]  # breaks on purpose
        assert len(journal) == 0


def test_open_again_finds_what_was_written(tmp_path: Path) -> None:
    path = tmp_path / "journal.db"
    with Journal(path) as journal:
        journal.put(key(7), REPLY)
    with Journal(path) as journal:
        assert journal.get(key(7)) == REPLY


def another_programs() -> bytes:
    with closing(sqlite3.connect(":memory:")) as other:
        other.execute("CREATE TABLE runs (id INTEGER)")
        return other.serialize()


@pytest.mark.parametrize(
    ("content", "says"),
    [
        (b"item_id,grade\n1,2\n" * 100, "not a judgec journal"),
        (another_programs(), "not a judgec journal"),
        (b"SQLite format 3\0" + b"\xff" * 5000, "cannot be used"),
    ],
    ids=["foreign", "of another program", "damaged"],
)
def test_open_foreign_or_damaged_file_is_refused_untouched(tmp_path: Path, content: bytes, says: str) -> None:
    path = tmp_path / "journal.db"
    path.write_bytes(content)
    with pytest.raises(ArtifactError, match=says):
        Journal(path)
    assert path.read_bytes() == content


def test_open_newer_schema_is_refused_and_says_upgrade(tmp_path: Path) -> None:
    path = tmp_path / "journal.db"
    Journal(path).close()
    with closing(sqlite3.connect(path)) as newer, newer:
        newer.execute(f"PRAGMA user_version = {SCHEMA + 1}")
    newer.close()
    with pytest.raises(ArtifactError, match=f"schema {SCHEMA + 1}.*Upgrade judgec"):
        Journal(path)


def test_open_older_schema_is_brought_up_to_date_with_its_replies(tmp_path: Path) -> None:
    path = tmp_path / "journal.db"
    with Journal(path) as journal:
        journal.put(key(1), REPLY)
    with closing(sqlite3.connect(path)) as old, old:  # what the first release wrote
        for table in ("facts", "owners", "leases", "holders", "batches", "batch_calls"):
            old.execute(f"DROP TABLE {table}")
        old.execute("PRAGMA user_version = 1")
    old.close()
    with Journal(path) as journal:
        assert journal.get(key(1)) == REPLY
        assert journal.select("SELECT COUNT(*) FROM facts") == [(0,)]


def test_get_from_pages_damaged_later_raises_artifact_error(tmp_path: Path) -> None:
    path = tmp_path / "journal.db"
    with Journal(path) as journal:
        journal.put_many((key(n), REPLY._replace(text="x" * 500)) for n in range(200))
    with path.open("r+b") as file:
        file.seek(4096)
        file.write(b"\x55" * (path.stat().st_size - 4096))
    with pytest.raises(ArtifactError, match="Move it"), Journal(path) as journal:
        journal.get_many([key(n) for n in range(200)])


def _write(path: Path, first: int, count: int) -> None:
    with Journal(path) as journal:
        for number in range(first, first + count):
            journal.put(key(number), REPLY._replace(text=str(number)))


def test_put_from_three_processes_at_once_loses_nothing(tmp_path: Path) -> None:
    path = tmp_path / "journal.db"  # they also race to create it
    context = multiprocessing.get_context("spawn")
    writers = [context.Process(target=_write, args=(path, 1000 * n, 150)) for n in range(3)]
    for writer in writers:
        writer.start()
    for writer in writers:
        writer.join(60)
    assert [writer.exitcode for writer in writers] == [0, 0, 0]
    with Journal(path) as journal:
        assert len(journal) == 450
        assert journal.get(key(2149)) == REPLY._replace(text="2149")


_KILLED = """
import sys
from dataclasses import replace
from pathlib import Path
from judgec.lm.journal.journal import Journal
from tests.lm.journal.test_journal import REPLY, key
journal = Journal(Path(sys.argv[1]))
number = 0
while True:
    journal.put(key(number), REPLY._replace(text=str(number)))
    print(number, flush=True)
    number += 1
"""


def test_put_that_was_reported_survives_kill_9(tmp_path: Path) -> None:
    path = tmp_path / "journal.db"
    child = subprocess.Popen([sys.executable, "-c", _KILLED, str(path)], stdout=subprocess.PIPE, text=True)
    assert child.stdout is not None
    reported = [int(child.stdout.readline()) for _ in range(200)]
    os.kill(child.pid, signal.SIGKILL)
    reported += [int(line) for line in child.stdout if line.endswith("\n")]
    child.wait()
    child.stdout.close()
    with Journal(path) as journal:
        assert all(journal.get(key(n)) == REPLY._replace(text=str(n)) for n in reported)
        assert len(reported) <= len(journal) <= len(reported) + 1  # the one in flight
