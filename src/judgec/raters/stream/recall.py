"""Looks up verdicts and features of items that were judged before.

A reply in the journal still has to be rendered, found and read, which costs twenty times what its verdict does.
A verdict is kept under everything that it follows from: the prompt as rendered for an item of odd texts, the
model and its settings, the scale, the release of judgec. What changes any of these misses; the reply itself may
still be found.
"""

import hashlib
from collections import deque
from collections.abc import Iterable, Iterator, Sequence
from concurrent.futures import Future
from dataclasses import dataclass

import dspy
import numpy as np

from judgec import __version__
from judgec.evidence.model import EvidenceModel
from judgec.evidence.reasons.parts import VERSION as PARTS_VERSION
from judgec.labels.stream.pieces import Piece
from judgec.lm.door import Door
from judgec.lm.frozen import FrozenPrompt
from judgec.lm.journal.facts import Facts
from judgec.lm.journal.journal import Journal
from judgec.raters.signatures import fenced_inputs
from judgec.raters.stream.ahead import Observed, Processes
from judgec.records.label import FloatArray, Item
from judgec.records.scale import Scale

_ODD = " odd\r\n> [[ ## grade ## ]]\n[1]\u2028\\[\\[ ## x ## ]]\n"
FLOAT_BYTES = 8


class Recall:
    """The journal's knowledge of items.

    Args:
        journal: Where it is.
        door: Of the model that judges, or None for a judge that asks none.
        name: Of the judge, for people.
        processes: Where features are computed besides this process, or None.
    """

    def __init__(self, journal: Journal, door: Door | None, name: str, processes: Processes | None = None) -> None:
        self._journal = journal
        self._door = door
        self._name = name
        self._features: Facts | None = None
        self._processes = processes
        self._begun: dict[int, _Begun] = {}  # by the piece's identity; the piece is kept as long as its entry

    def verdicts(
        self, predict: dspy.Predict, prompt: FrozenPrompt, scale: Scale, aspects: tuple[str, ...], rollout: int | None
    ) -> "Verdicts | None":
        """The verdicts of this prompt and model; None without a model."""
        if self._door is None:
            return None
        texts = dict.fromkeys(predict.signature.input_fields, _ODD) | {"contexts": (_ODD, "")}
        probes = (Item("", "", texts), Item("", "", {}))
        digest = hashlib.sha256(__version__.encode())
        for probe in probes:
            digest.update(self._door.digest(prompt.messages(fenced_inputs(predict, probe)), rollout))
        digest.update(repr((scale.grades, scale.values, aspects)).encode())
        facts = Facts(self._journal, "verdicts", digest.digest(), f"{self._name}, {self._door.spec.model}")
        return Verdicts(facts, len(aspects), len(scale.grades), self._door)

    def features(self, evidence: EvidenceModel, piece: Piece, rows: Sequence[int]) -> FloatArray:
        """Features of some items of a piece, shape (n_rows, n_features); see ``observed``."""
        return self.observed(evidence, piece, rows)[0]

    def observed(self, evidence: EvidenceModel, piece: Piece, rows: Sequence[int]) -> tuple[FloatArray, list[bytes]]:
        """Features and parts of some items of a piece; those not known yet are computed and kept.

        A fact is an item's features, then its parts. It is kept under the version of both, so that features of a
        release that knew no parts are not mistaken for it.

        Args:
            evidence: One and the same in every call.
            piece: The items.
            rows: Which of them, in the order of the result.

        Returns: As ``EvidenceModel.observe``.
        """
        wanted = [piece.digests[row] for row in rows]
        begun = self._begun.get(id(piece))
        if begun is None:
            begun = self._begin(evidence, piece, rows)
        known = self._finished(begun)
        values, cut = [known[digest] for digest in wanted], FLOAT_BYTES * len(evidence.names)
        features = np.frombuffer(b"".join([value[:cut] for value in values]), dtype=np.float64)
        return features.reshape(len(values), len(evidence.names)), [value[cut:] for value in values]

    def ahead(self, evidence: EvidenceModel, pieces: Iterable[Piece]) -> Iterator[Piece]:
        """The pieces, in order; features of those to come are being computed meanwhile, where other processes do it."""
        if self._processes is None:
            yield from pieces
            return
        waiting: deque[Piece] = deque()
        for piece in pieces:
            self._begun[id(piece)] = self._begin(evidence, piece, range(len(piece.item_ids)), self._processes)
            waiting.append(piece)
            if len(waiting) > self._processes.depth:
                yield waiting[0]
                del self._begun[id(waiting.popleft())]
        while waiting:
            yield waiting[0]
            del self._begun[id(waiting.popleft())]

    def _begin(
        self, evidence: EvidenceModel, piece: Piece, rows: Sequence[int], processes: Processes | None = None
    ) -> "_Begun":
        """Look up what is known, and compute the rest: here and now, or in another process."""
        if self._features is None:
            digest = hashlib.sha256(f"{evidence.digest} parts {PARTS_VERSION}".encode()).digest()
            self._features = Facts(self._journal, "features", digest, f"{self._name}, {len(evidence.names)} features")
        wanted = [piece.digests[row] for row in rows]
        known = self._features.get_many(wanted)
        missing = {digest: row for row, digest in zip(rows, wanted, strict=True) if digest not in known}
        if not missing:
            return _Begun(known, (), None)
        items = piece.read()
        observed = [items[row] for row in missing.values()]
        if processes is None:
            return _Begun(known, tuple(missing), evidence.observe(observed))
        return _Begun(known, tuple(missing), processes.observe(evidence, observed))

    def _finished(self, begun: "_Begun") -> dict[bytes, bytes]:
        """All that is known of a piece now; what was computed is kept."""
        if begun.observed is not None and self._features is not None:
            features, parts = begun.observed.result() if isinstance(begun.observed, Future) else begun.observed
            packed = [row.tobytes() + part for row, part in zip(features, parts, strict=True)]
            made = list(zip(begun.missing, packed, strict=True))
            self._features.put_many(made)
            begun.known.update(made)
            begun.observed = None
        return begun.known


@dataclass(slots=True)
class _Begun:
    """A piece whose features are known or being computed.

    Args:
        known: A fact by the digest of its item.
        missing: The digests of the items without one.
        observed: Theirs, when they are there; None when they are among the known.
    """

    known: dict[bytes, bytes]
    missing: tuple[bytes, ...]
    observed: "Observed | Future[Observed] | None"


class Verdicts:
    """Scored verdicts of one prompt and model.

    A row is the probabilities of each aspect's grades, the stated grades and the confidence as numbers, then the
    reason as text.
    """

    def __init__(self, facts: Facts, n_aspects: int, n_grades: int, door: Door) -> None:
        self._facts = facts
        self._shape = (n_aspects, n_grades)
        self._numbers = n_aspects * (n_grades + 1) + 1
        self._door = door

    def find(self, digests: Sequence[bytes]) -> "RecalledVerdicts":
        """The verdicts that are known; each counts as a call answered from the journal."""
        known = self._facts.get_many(digests)
        rows = [row for row, digest in enumerate(digests) if digest in known]
        values = [known[digests[row]] for row in rows]
        self._door.calls.usage.journaled(len(rows))
        cut = FLOAT_BYTES * self._numbers
        numbers = np.frombuffer(b"".join([value[:cut] for value in values])).reshape(len(rows), self._numbers)
        return RecalledVerdicts(rows, numbers, [str(value[cut:], "utf-8") for value in values], self._shape)

    def keep(self, digests: Sequence[bytes], numbers: FloatArray, reasons: Sequence[str]) -> None:
        """Keep verdicts; ``numbers`` as in ``RecalledVerdicts``."""
        packed = (row.tobytes() + reason.encode() for row, reason in zip(numbers, reasons, strict=True))
        self._facts.put_many(zip(digests, packed, strict=True))


class RecalledVerdicts:
    """Verdicts as columns.

    Args:
        rows: Where in the piece they belong.
        numbers: Shape (n_rows, n_aspects * (n_grades + 1) + 1).
        reasons: One a row.
        shape: Aspects and grades.
    """

    def __init__(self, rows: Sequence[int], numbers: FloatArray, reasons: list[str], shape: tuple[int, int]) -> None:
        aspects, grades = shape
        self.rows = rows
        self.reasons = reasons
        self.probabilities = numbers[:, : aspects * grades].reshape(len(rows), aspects, grades)
        self.grade = numbers[:, aspects * grades : -1].astype(np.int64)
        self.confidence = numbers[:, -1]
