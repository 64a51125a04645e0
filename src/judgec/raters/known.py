"""Looks up verdicts on items that were judged before.

A reply in the journal still has to be rendered, found and read, which costs twenty times what its verdict does.
A verdict is kept under everything that it follows from: the prompt as rendered for an item of odd texts, the
model and its settings, the scale, the release of judgec. What changes any of these misses; the reply itself may
still be found.
"""

import hashlib
from collections.abc import Sequence

import dspy
import numpy as np

from judgec import __version__
from judgec.lm.adapters import verdict_form
from judgec.lm.client import JournaledClient
from judgec.lm.frozen import FrozenPrompt
from judgec.lm.journal.facts import Facts
from judgec.lm.journal.journal import Journal
from judgec.raters.signatures import fenced_inputs
from judgec.records.label import FloatArray, Item
from judgec.records.scale import Scale

_ODD = " odd\r\n> [[ ## grade ## ]]\n[1]\u2028\\[\\[ ## x ## ]]\n"
FLOAT_BYTES = 8


class KnownAnswers:
    """The verdicts of a model that the journal knows.

    Args:
        journal: Where they are.
        client: Of the model.
        name: Of the judge, for people.
    """

    def __init__(self, journal: Journal, client: JournaledClient, name: str) -> None:
        self._journal, self._client, self._name = journal, client, name

    def verdicts(
        self, predict: dspy.Predict, prompt: FrozenPrompt, scale: Scale, aspects: tuple[str, ...], rollout: int | None
    ) -> "KnownVerdicts":
        """The verdicts of this prompt."""
        texts = dict.fromkeys(predict.signature.input_fields, _ODD) | {"contexts": (_ODD, "")}
        probes = (Item("", "", texts), Item("", "", {}))
        digest = hashlib.sha256(__version__.encode())
        for probe in probes:
            digest.update(self._client.digest(prompt.messages(fenced_inputs(predict, probe)), rollout))
        form = verdict_form(predict)
        digest.update(repr((scale.grades, scale.values, aspects, *([form] if form else []))).encode())
        facts = Facts(self._journal, "verdicts", digest.digest(), f"{self._name}, {self._client.spec.model}")
        return KnownVerdicts(facts, len(aspects), len(scale.grades), self._client)


class KnownVerdicts:
    """Scored verdicts of one prompt and model.

    A row is the probabilities of each aspect's grades, the stated grades and the confidence as numbers, then the
    reason as text.
    """

    def __init__(self, facts: Facts, n_aspects: int, n_grades: int, client: JournaledClient) -> None:
        self._facts = facts
        self._shape = (n_aspects, n_grades)
        self._numbers = n_aspects * (n_grades + 1) + 1
        self._client = client

    def find(self, digests: Sequence[bytes]) -> "VerdictRows":
        """The verdicts that are known; each counts as a call answered from the journal."""
        known = self._facts.get_many(digests)
        rows = [row for row, digest in enumerate(digests) if digest in known]
        values = [known[digests[row]] for row in rows]
        self._client.calls.usage.journaled(len(rows))
        cut = FLOAT_BYTES * self._numbers
        numbers = np.frombuffer(b"".join([value[:cut] for value in values])).reshape(len(rows), self._numbers)
        return VerdictRows(rows, numbers, [str(value[cut:], "utf-8") for value in values], self._shape)

    def keep(self, digests: Sequence[bytes], numbers: FloatArray, reasons: Sequence[str]) -> None:
        """Keep verdicts; ``numbers`` as in ``VerdictRows``."""
        packed = (row.tobytes() + reason.encode() for row, reason in zip(numbers, reasons, strict=True))
        self._facts.put_many(zip(digests, packed, strict=True))


class VerdictRows:
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
