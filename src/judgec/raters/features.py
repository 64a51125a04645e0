"""Sources of the features of items: computed, here or in other processes, or looked up in the journal."""

import hashlib
from collections.abc import Callable, Sequence
from concurrent.futures import Future
from typing import Protocol

import numpy as np

from judgec.evidence.model import EvidenceModel, Observed
from judgec.evidence.processes import Processes
from judgec.evidence.reasons.parts import VERSION as PARTS_VERSION
from judgec.lm.journal.facts import Facts
from judgec.lm.journal.journal import Journal
from judgec.raters.pairwise import both_orders, mirrored
from judgec.raters.piece import Piece

FLOAT_BYTES = 8


class FeatureSource(Protocol):
    """A source of the features of items."""

    def begin(
        self, evidence: EvidenceModel, piece: Piece, rows: Sequence[int], *, turned: bool
    ) -> Callable[[], Observed]:
        """Features and parts of items of a piece, or of their mirror images; they may be computed meanwhile."""


class NewFeatures:
    """Computes features when they are needed."""

    def begin(
        self, evidence: EvidenceModel, piece: Piece, rows: Sequence[int], *, turned: bool
    ) -> Callable[[], Observed]:
        """As ``FeatureSource.begin``; of mirror images without parts, which nobody reads."""

        def observe() -> Observed:
            if turned:
                return evidence.transform([mirrored(piece.items[row]) for row in rows]), []
            return evidence.observe([piece.items[row] for row in rows])

        return observe


class KeptFeatures:
    """Looks features up in the journal; those that are not known are computed and kept.

    Args:
        journal: Where they are.
        name: Of the judge, for people.
        processes: Where features are computed besides this process, or None.
    """

    def __init__(self, journal: Journal, name: str, processes: Processes | None = None) -> None:
        self._journal, self._name, self._processes = journal, name, processes
        self._facts: dict[str, Facts] = {}  # by evidence
        self._begun: dict[str, dict[bytes, tuple[Observed | Future[Observed], int]]] = {}  # of pieces that are open

    def begin(
        self, evidence: EvidenceModel, piece: Piece, rows: Sequence[int], *, turned: bool = False
    ) -> Callable[[], Observed]:
        """As ``FeatureSource.begin``.

        A fact is an item's features, then its parts. It is kept under the version of both, so that features of a
        release that knew no parts are not mistaken for it.

        Args:
            evidence: Makes the features.
            piece: The items.
            rows: Which of them, in the order of the result.
            turned: Of their mirror images.
        """
        made_by = evidence.digest
        if made_by not in self._facts:
            digest = hashlib.sha256(f"{made_by} parts {PARTS_VERSION}".encode()).digest()
            said = f"{self._name}, {len(evidence.names)} features"
            self._facts[made_by] = Facts(self._journal, "features", digest, said)
        if turned:
            piece, rows = both_orders(piece), [row + len(piece.item_ids) for row in rows]
        facts, begun = self._facts[made_by], self._begun.setdefault(made_by, {})
        wanted = [piece.digests[row] for row in rows]
        known = facts.get_many(wanted)
        missing = {digest: row for row, digest in zip(rows, wanted, strict=True) if digest not in known}
        new = [digest for digest in missing if digest not in begun]
        if new:
            asked = [piece.items[missing[digest]] for digest in new]
            made = evidence.observe(asked) if self._processes is None else self._processes.observe(evidence, asked)
            begun.update((digest, (made, place)) for place, digest in enumerate(new))
        sources = [(digest, *begun[digest]) for digest in missing]  # new, or of a piece that was opened before

        def observed() -> Observed:
            for digest, made, place in sources:
                features, parts = made.result() if isinstance(made, Future) else made
                known[digest] = features[place].tobytes() + parts[place]
            facts.put_many((digest, known[digest]) for digest in new)
            for digest in new:
                begun.pop(digest, None)
            values, cut = [known[digest] for digest in wanted], FLOAT_BYTES * len(evidence.names)
            numbers = np.frombuffer(b"".join([value[:cut] for value in values]), dtype=np.float64)
            return numbers.reshape(len(values), len(evidence.names)), [value[cut:] for value in values]

        return observed
