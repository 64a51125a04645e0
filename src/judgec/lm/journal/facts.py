"""Keeps what follows from something fixed: a judge's verdicts, the features of an evidence model, calls that fail."""

import time
from collections.abc import Callable, Iterable, Sequence
from typing import Literal

from judgec.lm.journal.journal import LOOKUP_CHUNK, Journal

Kind = Literal["verdicts", "features", "failures"]
_APPEND = """
    INSERT INTO facts (owner, item, value) SELECT ?1, ?2, ?3
    WHERE (SELECT value FROM facts WHERE owner = ?1 AND item = ?2 ORDER BY seq DESC LIMIT 1) IS NOT ?3
"""


class Facts:
    """One fixed thing's facts, keyed by item.

    Args:
        journal: Where they are kept.
        kind: What they are.
        digest: Of everything that they follow from, the item apart: another digest finds nothing of these.
        name: For people: the judge, the features.
        clock: Seconds since the epoch.
    """

    def __init__(
        self, journal: Journal, kind: Kind, digest: bytes, name: str, clock: Callable[[], float] = time.time
    ) -> None:
        self._journal = journal
        journal.change(
            "INSERT OR IGNORE INTO owners (digest, kind, name, made) VALUES (?, ?, ?, ?)",
            [(digest, kind, name, clock())],
        )
        ((self._owner,),) = journal.select("SELECT id FROM owners WHERE digest = ?", (digest,))

    def get_many(self, items: Sequence[bytes]) -> dict[bytes, bytes]:
        """The newest fact of every item that has one.

        Args:
            items: Digests of items.
        """
        found: dict[bytes, bytes] = {}
        for start in range(0, len(items), LOOKUP_CHUNK):
            chunk = items[start : start + LOOKUP_CHUNK]
            marks = ",".join("?" * len(chunk))
            newest = f"SELECT MAX(seq) FROM facts WHERE owner = ? AND item IN ({marks}) GROUP BY item"  # noqa: S608 - marks only
            query = f"SELECT item, value FROM facts WHERE seq IN ({newest})"  # noqa: S608 - as above
            found.update(self._journal.select(query, (self._owner, *chunk)))
        return found

    def put_many(self, facts: Iterable[tuple[bytes, bytes]]) -> None:
        """Append facts in one commit, but those that are known as they are; they are durable when this returns."""
        rows = [(self._owner, item, value) for item, value in facts]
        if rows:
            self._journal.change(_APPEND, rows)
