"""Two processes do not make the same call; the calls of a dead one are free at once."""

import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from judgec.lm.journal import leases
from judgec.lm.journal.journal import Journal
from judgec.lm.journal.leases import SECONDS, Leases, is_gone, started_at
from tests.lm.journal.test_journal import REPLY, key

CHILD = """
import sys
from pathlib import Path
from judgec.lm.journal.journal import Journal
from judgec.lm.journal.leases import Leases
held = Leases(Journal(Path(sys.argv[1])))
print(len(held.take([bytes([n]) * 32 for n in range(int(sys.argv[2]))])), flush=True)
sys.stdin.read()
"""


@contextmanager
def other(path: Path, calls: int) -> Iterator[subprocess.Popen[str]]:
    """A process that holds so many calls."""
    command = [sys.executable, "-c", CHILD, str(path), str(calls)]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as child:
        assert child.stdout is not None
        assert child.stdout.readline() == f"{calls}\n"
        yield child
        child.kill()


def test_calls_of_a_living_process_are_its_own_and_those_of_a_killed_one_free_at_once(tmp_path: Path) -> None:
    path, calls = tmp_path / "journal.db", [bytes([n]) * 32 for n in range(6)]
    with Journal(path) as journal:
        ours = Leases(journal)
        with other(path, 4) as child:
            assert ours.take(calls) == {*calls[4:]}
            assert ours.take(calls) == {*calls[4:]}
            child.send_signal(signal.SIGKILL)
            assert os.waitid(os.P_PID, child.pid, os.WEXITED | os.WNOWAIT) is not None  # dead, and not reaped yet
            assert ours.take(calls) == {*calls}


def test_calls_of_a_process_that_ended_are_free_whoever_it_is_now(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "journal.db"
    with Journal(path) as journal, other(path, 2):
        began = started_at(os.getppid())
        monkeypatch.setattr(leases, "started_at", lambda _: began + 1)  # somebody else has the number
        assert len(Leases(journal).take([key(n) for n in range(2)])) == 2


def test_calls_of_another_machine_are_free_at_its_deadline(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    now = 1000.0
    with Journal(tmp_path / "journal.db") as journal:
        monkeypatch.setattr(leases, "host", lambda: "elsewhere")
        assert Leases(journal, lambda: now).take([key(1)]) == {key(1)}
        monkeypatch.setattr(leases, "host", lambda: "here")
        ours = Leases(journal, lambda: now)
        assert ours.take([key(1), key(2)]) == {key(2)}
        now += SECONDS - 1
        assert ours.take([key(1)]) == set()
        now += 2
        assert ours.take([key(1)]) == {key(1)}


def test_holder_that_goes_on_says_so_before_its_deadline(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    now = 1000.0
    with Journal(tmp_path / "journal.db") as journal:
        monkeypatch.setattr(leases, "host", lambda: "elsewhere")
        theirs = Leases(journal, lambda: now)
        theirs.take([key(1)])
        now += SECONDS - 1
        theirs.take([key(2)])
        now += SECONDS - 1
        monkeypatch.setattr(leases, "host", lambda: "here")
        assert Leases(journal, lambda: now).take([key(1), key(2)]) == set()


def test_reply_release_and_close_give_calls_back(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def held(journal: Journal) -> set[bytes]:
        return {digest for (digest,) in journal.select("SELECT digest FROM leases")}

    path = tmp_path / "journal.db"
    with Journal(path) as journal:
        ours = Leases(journal)
        ours.take([key(n) for n in range(5)])
        journal.put(key(0), REPLY)
        journal.put_many([(key(1), REPLY)])
        ours.release([key(2)])
        assert held(journal) == {key(3), key(4)}
    with Journal(path) as journal:
        assert held(journal) == set()
        assert journal.select("SELECT * FROM holders") == []


def test_two_leases_of_one_process_do_not_wait_for_each_other(tmp_path: Path) -> None:
    with Journal(tmp_path / "journal.db") as journal, Journal(tmp_path / "journal.db") as again:
        assert Leases(journal).take([key(1)]) == {key(1)}
        assert Leases(again).take([key(1)]) == {key(1)}


def test_this_process_lives_and_one_that_is_no_more_does_not() -> None:
    with subprocess.Popen([sys.executable, "-c", ""]) as gone:
        gone.wait()
    assert started_at(gone.pid) == -1
    assert is_gone(leases.host(), gone.pid, 5)
    assert not is_gone(leases.host(), os.getpid(), started_at(os.getpid()))
    assert is_gone(leases.host(), os.getpid(), started_at(os.getpid()) + 1)
    assert not is_gone("elsewhere", gone.pid, 5)
