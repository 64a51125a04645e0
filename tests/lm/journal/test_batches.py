"""Batches in the journal: what a process leaves behind is taken over when it is dead, and only then."""

from pathlib import Path

import pytest

from judgec.lm.journal import leases
from judgec.lm.journal.batches import BatchedCall, Batches
from judgec.lm.journal.journal import Journal
from judgec.lm.journal.leases import Leases

CALLS = tuple(BatchedCall(bytes([n]) * 32, 1, 100 + n, 50) for n in range(3))


def batches(journal: Journal, model: str = "openai/m") -> Batches:
    return Batches(journal, Leases(journal, lambda: 1000.0), "openai", "http://here", model)


def test_take_over_of_a_living_process_finds_nothing(tmp_path: Path) -> None:
    with Journal(tmp_path / "j.db") as journal, Journal(tmp_path / "j.db") as other:
        batches(journal).intend("n", CALLS, made=1.0, since=2.0)
        assert batches(other).take_over() == []


def test_take_over_of_a_dead_process_finds_all_that_it_knew(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with Journal(tmp_path / "j.db") as journal, Journal(tmp_path / "j.db") as other:
        mine = batches(journal)
        row = mine.intend("n", CALLS, made=1.0, since=2.0).row
        mine.sending(row, "file-1", 3.0)
        theirs = batches(other)
        monkeypatch.setattr(leases, "is_gone", lambda *_: True)
        (found,) = theirs.take_over()
        assert (found.nonce, found.made, found.since, found.sent, found.file) == ("n", 1.0, 2.0, 3.0, "file-1")
        assert (found.remote, found.calls, found.tokens) == (None, CALLS, 303)
        monkeypatch.undo()
        assert theirs.take_over() == []  # it is theirs now, and they live


def test_take_over_leaves_what_is_read_or_void_or_anothers(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with Journal(tmp_path / "j.db") as journal, Journal(tmp_path / "j.db") as other:
        mine = batches(journal)
        for end in (mine.read, mine.void):
            row = mine.intend(str(end), CALLS, made=1.0, since=0.0).row
            mine.created(row, f"batch_{row}")
            end(row)
        batches(journal, "openai/else").intend("n", CALLS, made=1.0, since=0.0)
        assert mine.known() == {"batch_1", "batch_2"}
        assert journal.select("SELECT COUNT(*) FROM batch_calls") == [(3,)]
        monkeypatch.setattr(leases, "is_gone", lambda *_: True)
        assert batches(other).take_over() == []
