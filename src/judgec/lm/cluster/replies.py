"""The journal of one shard: a SQLite file on the worker's own disk, its replies as objects beside the judged shards.

Objects cannot be appended to: replies go out in batches, each an object of its own, and a run that comes after a killed
one reads them all first. What is paid again is at most the last batch and what was in flight.
"""

import json
import secrets
import threading
import time
from collections.abc import Iterable
from pathlib import Path

from judgec.lm.journal.journal import Journal, JournaledReply
from judgec.table.shards.manifest import REPLIES
from judgec.table.shards.place import ShardPlace

BATCH = 256  # replies of an object
SECONDS = 2.0  # that a reply may wait for others, as long as replies come


class ShardJournal(Journal):
    """A ``Journal`` whose replies are kept at a place too.

    Args:
        path: The SQLite file.
        place: Where judged shards go.
        shard: Which.
    """

    def __init__(self, path: Path, place: ShardPlace, shard: str) -> None:
        super().__init__(path)
        self._place, self._folder = place, f"{REPLIES}/{shard}"
        self._out = threading.RLock()
        self._waiting: list[tuple[bytes, JournaledReply]] = []
        self._sent = time.monotonic()
        self._number = 0
        try:
            for one in ShardPlace(place.of(self._folder)).files():
                lines = place.read(f"{self._folder}/{one.name}").splitlines()
                super().put_many(map(_reply, lines))
                self._number = int(one.name.partition("-")[0])
        except BaseException:
            super().close()
            raise

    def put_many(self, replies: Iterable[tuple[bytes, JournaledReply]]) -> None:
        """As ``Journal.put_many``; durable beyond this machine a moment later."""
        kept = list(replies)
        super().put_many(kept)
        with self._out:
            self._waiting += kept
            if len(self._waiting) >= BATCH or time.monotonic() - self._sent > SECONDS:
                self._send()

    def close(self) -> None:
        """Send what waits, and close the file."""
        try:
            with self._out:
                self._send()
        finally:
            super().close()

    def _send(self) -> None:
        if self._waiting:
            self._number += 1
            # A name of its own: a worker that was taken for dead may still be writing.
            name = f"{self._number:08}-{secrets.token_hex(4)}.jsonl"
            self._place.write(f"{self._folder}/{name}", b"".join(map(_line, self._waiting)))
            self._waiting = []
        self._sent = time.monotonic()


def _line(row: tuple[bytes, JournaledReply]) -> bytes:
    digest, reply = row
    return json.dumps([digest.hex(), reply]).encode() + b"\n"


def _reply(line: bytes) -> tuple[bytes, JournaledReply]:
    digest, fields = json.loads(line)
    return bytes.fromhex(digest), JournaledReply(*fields)
