"""Says which process makes which call, so that two processes on the same items pay for each call once.

A process takes the calls that it is about to make, many in one commit; a reply that is written gives its call back in
the same commit. What another process holds is waited for in the journal. A holder that died is known by its process
identifier and start time, on its own machine, and its calls are free at once; elsewhere they are at its deadline.
"""

import os
import socket
import time
from collections.abc import Callable, Collection, Iterable, Sequence
from functools import cache
from pathlib import Path

from judgec.lm.journal.journal import LOOKUP_CHUNK, Journal

SECONDS = 900.0  # a holder says that often at least that it lives; no call takes longer
RENEWED = 60.0  # seconds after which it says so again


class Leases:
    """The calls that this process is making through one journal.

    Args:
        journal: Where.
        clock: Seconds since the epoch.
    """

    def __init__(self, journal: Journal, clock: Callable[[], float] = time.time) -> None:
        self.held: set[bytes] = set()
        self._journal = journal
        self._clock = clock
        self._holder: int | None = None
        self._renewed = float("-inf")
        journal.at_close(self._leave)

    def take(self, digests: Collection[bytes]) -> set[bytes]:
        """Take calls; those that nobody else holds are held now. Look for their replies once more before they are made.

        Args:
            digests: Of calls.
        """
        with self._journal.transaction():
            holder, others = self._live(), self._others()
            wanted = [digest for digest in digests if digest not in self.held]
            self._journal.within("INSERT OR IGNORE INTO leases (digest, holder) VALUES (?, ?)", wanted, holder)
            theirs = self._of(others, wanted) if others else set()
        granted = set(digests) - theirs
        self.held |= granted
        return granted

    def release(self, digests: Iterable[bytes]) -> None:
        """Give calls back that were not made, or failed."""
        ours = [digest for digest in digests if digest in self.held]
        self.held.difference_update(ours)
        if ours:
            self._journal.change("DELETE FROM leases WHERE digest = ?", [(digest,) for digest in ours])

    def living(self) -> tuple[int, set[int]]:
        """Inside of a ``transaction``: this holder, and all that are not known to be dead, this one among them."""
        holder = self._live()
        self._others()
        return holder, {one for (one,) in self._journal.select("SELECT id FROM holders")}

    def _others(self) -> list[int]:
        """Holders of other processes; what dead ones held is free."""
        others: list[int] = []  # of other processes: this one shares what it asks by itself
        for other, where, pid, started, deadline in self._journal.select(
            "SELECT id, host, pid, started, deadline FROM holders WHERE id <> ?", (self._holder or 0,)
        ):
            if is_gone(where, pid, started) or deadline < self._clock():
                self._forget(other)
            elif (where, pid) != (host(), os.getpid()):
                others.append(other)
        return others

    def _of(self, holders: Sequence[int], digests: Sequence[bytes]) -> set[bytes]:
        found: set[bytes] = set()
        for start in range(0, len(digests), LOOKUP_CHUNK):
            chunk = digests[start : start + LOOKUP_CHUNK]
            query = f"SELECT digest, holder FROM leases WHERE digest IN ({','.join('?' * len(chunk))})"  # noqa: S608 - marks only
            found.update(digest for digest, holder in self._journal.select(query, chunk) if holder in holders)
        return found

    def _live(self) -> int:
        """Our row, with a deadline that is far enough."""
        now = self._clock()
        if self._holder is None:
            row = (host(), os.getpid(), started_at(os.getpid()), now + SECONDS)
            self._holder = self._journal.insert(
                "INSERT INTO holders (host, pid, started, deadline) VALUES (?, ?, ?, ?)", row
            )
            self._renewed = now
        elif now - self._renewed > RENEWED:
            again = (self._holder, host(), os.getpid(), started_at(os.getpid()), now + SECONDS)
            self._journal.insert("INSERT OR REPLACE INTO holders VALUES (?, ?, ?, ?, ?)", again)
            self._renewed = now
        return self._holder

    def _forget(self, holder: int) -> None:
        self._journal.insert("DELETE FROM leases WHERE holder = ?", (holder,))
        self._journal.insert("DELETE FROM holders WHERE id = ?", (holder,))

    def _leave(self) -> None:
        if self._holder is not None:
            with self._journal.transaction():
                self._forget(self._holder)


@cache
def host() -> str:
    """Name that tells apart the machines, and the containers, in which a process identifier means something."""
    try:
        space = Path("/proc/self/ns/pid").stat().st_ino
        boot = Path("/proc/sys/kernel/random/boot_id").read_text(encoding="ascii").strip()
    except OSError:
        return socket.gethostname()
    return f"{socket.gethostname()} {boot} {space}"


def started_at(pid: int) -> int:
    """Start time of a process, in the kernel's ticks; 0 where it is not known, -1 where there is no such process."""
    try:
        said = Path(f"/proc/{pid}/stat").read_text(encoding="utf-8", errors="replace")
        state, *rest = said.rpartition(")")[2].split()  # a name may hold anything
        return -1 if state in "ZX" else int(rest[18])
    except OSError:
        pass
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return -1
    except OSError:
        return 0
    return 0


def is_gone(where: str, pid: int, started: int) -> bool:
    """True if a holder is known to be dead: a process of this machine that is no more, or another one by now."""
    if where != host():
        return False
    return (now := started_at(pid)) < 0 or now != started
