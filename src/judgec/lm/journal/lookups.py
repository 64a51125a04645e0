"""Replies looked up many at a time, so that the calls that follow need not look for theirs again."""

import threading
from collections.abc import Sequence

from judgec.lm.journal.journal import Journal, JournaledReply


class Lookups:
    """Looks replies up for the calls of one process; what another process writes meanwhile may be missed.

    Args:
        journal: Where.
    """

    def __init__(self, journal: Journal) -> None:
        self._journal = journal
        self._missing: set[bytes] = set()  # looked for in vain, and no call of it has ended since
        self._running: list[set[bytes]] = []  # the same of look-ups that are still reading
        self._lock = threading.Lock()

    def one(self, digest: bytes) -> JournaledReply | None:
        """The reply, or None; the journal is not read for what ``many`` did not find."""
        return None if digest in self._missing else self._journal.get(digest)

    def many(self, digests: Sequence[bytes]) -> dict[bytes, JournaledReply]:
        """Every reply that there is; what there is none of counts as missing until a call of it has ``ended``."""
        unknown = set(digests)
        with self._lock:
            self._running.append(unknown)
        known = self._journal.get_many(digests)
        with self._lock:
            self._running = [other for other in self._running if other is not unknown]
            self._missing |= unknown - known.keys()
        return known

    def ended(self, digest: bytes) -> None:
        """A call has ended: there may be a reply now. Say so before anybody else may make the same call."""
        with self._lock:
            self._missing.discard(digest)
            for unknown in self._running:
                unknown.discard(digest)
