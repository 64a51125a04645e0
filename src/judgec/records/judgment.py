"""A judge's grades of many items, as columns."""

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import repeat

import numpy as np
from numpy.typing import NDArray

from judgec.records.label import FloatArray, IntArray
from judgec.records.scale import Scale

UNSCORED = -1  # in integer arrays of grades and accepts
NOT_ASKED = "not asked"  # the reason of an item that a recorded judge has no row for: in none of its statistics


@dataclass(frozen=True, slots=True)
class Judgments:
    """Judgments of a judge on ``item_ids``, row by row; raw (the LM's verdict) or calibrated.

    A row that could not be judged has grade -1, accept -1, NaN numbers and a reason in ``unscored``.

    Args:
        item_ids: The items, shape (n_items,).
        aspects: As in the label set.
        probabilities: Of each grade, shape (n_items, n_aspects, n_grades); rows sum to 1, or are NaN.
        grade: Grade positions, shape (n_items, n_aspects).
        score: Expected grade value in scale units, same shape.
        accept: 1 / 0, -1 when unscored or when no threshold is known, same shape.
        confidence: 0-1, same shape: the LM's stated confidence in a raw verdict (NaN when not stated), the
            calibrated probability of the returned grade otherwise.
        rationale: The reason given, one an item.
        unscored: Why an item has no grade, or None, one an item.
        flipped: True where the verdict changed with the order of the two answers, shape (n_items,); None for
            judges of single items and where only one order was asked.
        first: Of raw verdicts for a cascade, those of its cheap judge, which is asked first.
        escalated: Of a cascade's judgments, True where its strong judge was asked, shape (n_items,).
        stated: Of calibrated judgments the confidence that the LM stated, 0-1, shape (n_items,), NaN where it stated
            none; None where no LM was asked.
        details: Of tasks whose rows have further columns, theirs by name, one mapping an item; else None.
    """

    item_ids: tuple[str, ...]
    aspects: tuple[str, ...]
    probabilities: FloatArray
    grade: IntArray
    score: FloatArray
    accept: IntArray
    confidence: FloatArray
    rationale: tuple[str, ...]
    unscored: tuple[str | None, ...]
    flipped: NDArray[np.bool_] | None = None
    first: "Judgments | None" = None
    escalated: NDArray[np.bool_] | None = None
    stated: FloatArray | None = None
    details: tuple[Mapping[str, object], ...] | None = None

    @classmethod
    def blank(
        cls, item_ids: Sequence[str], aspects: Sequence[str], n_grades: int, reason: str | None = None
    ) -> "Judgments":
        """Arrays to fill in: nothing is known of any item yet, for one reason or for none."""
        n, shape = len(item_ids), (len(item_ids), len(aspects))
        return cls(
            item_ids=tuple(item_ids),
            aspects=tuple(aspects),
            probabilities=np.full((*shape, n_grades), np.nan),
            grade=np.full(shape, UNSCORED, dtype=np.int64),
            score=np.full(shape, np.nan),
            accept=np.full(shape, UNSCORED, dtype=np.int64),
            confidence=np.full(shape, np.nan),
            rationale=("",) * n,
            unscored=(reason,) * n,
        )

    @property
    def scored(self) -> np.ndarray[tuple[int], np.dtype[np.bool_]]:
        """True where the item was judged, shape (n_items,)."""
        return np.array([reason is None for reason in self.unscored], dtype=bool)

    @property
    def asked(self) -> np.ndarray[tuple[int], np.dtype[np.bool_]]:
        """False where the judge was never asked about the item, shape (n_items,)."""
        return np.array([reason != NOT_ASKED for reason in self.unscored], dtype=bool)

    def subset(self, rows: Sequence[int]) -> "Judgments":
        """The judgments of the items at these positions, in this order."""
        at = np.array(rows, dtype=np.int64)
        return Judgments(
            item_ids=tuple(self.item_ids[i] for i in rows),
            aspects=self.aspects,
            probabilities=self.probabilities[at],
            grade=self.grade[at],
            score=self.score[at],
            accept=self.accept[at],
            confidence=self.confidence[at],
            rationale=tuple(self.rationale[i] for i in rows),
            unscored=tuple(self.unscored[i] for i in rows),
            flipped=None if self.flipped is None else self.flipped[at],
            first=None if self.first is None else self.first.subset(rows),
            escalated=None if self.escalated is None else self.escalated[at],
            stated=None if self.stated is None else self.stated[at],
            details=None if self.details is None else tuple(self.details[i] for i in rows),
        )

    def without(self, reasons: Mapping[int, str]) -> "Judgments":
        """The same with these rows unscored, each with why."""
        if not reasons:
            return self
        rows = np.array(list(reasons), dtype=np.int64)
        values = {
            name: getattr(self, name).copy() for name in ("probabilities", "grade", "score", "accept", "confidence")
        }
        for name, column in values.items():
            column[rows] = UNSCORED if name in {"grade", "accept"} else np.nan
        return replace(
            self,
            **values,
            rationale=tuple("" if row in reasons else text for row, text in enumerate(self.rationale)),
            unscored=tuple(reasons.get(row, reason) for row, reason in enumerate(self.unscored)),
        )

    def rows(self, scale: Scale) -> Iterator[dict[str, object]]:
        """The judgments as JSON-ready rows, in item order.

        One aspect gives ``grade``, ``score``, ``accept``, ``probabilities``, ``confidence``; several give
        ``grades``, ``scores``, ``accepts``, ``probabilities``, ``confidences`` keyed by aspect. ``stated_confidence``
        is one an item, and so are ``details``. Numbers of an interval scale have no probabilities: None.
        """
        stated = np.full(len(self.item_ids), np.nan) if self.stated is None else self.stated
        labels = [str(grade) for grade in scale.grades]
        columns = zip(
            self.item_ids,
            self.grade.tolist(),
            self.score.tolist(),
            self.accept.tolist(),
            self.probabilities.tolist(),
            self.confidence.tolist(),
            stated.tolist(),
            self.rationale,
            self.unscored,
            self.details or repeat(_NO_DETAILS, len(self.item_ids)),
            strict=True,
        )
        for item_id, grades, scores, accepts, probabilities, confidences, said, rationale, unscored, more in columns:
            cells: list[dict[str, object]] = [
                {
                    "grade": scale.stated(grade, score),
                    "score": score,
                    "accept": None if accept == UNSCORED else accept == 1,
                    "probabilities": None if scale.interval else dict(zip(labels, spread, strict=True)),
                    "confidence": None if math.isnan(confidence) else confidence,
                }
                if unscored is None and grade != UNSCORED
                else dict.fromkeys(_PLURALS)
                for grade, score, accept, spread, confidence in zip(
                    grades, scores, accepts, probabilities, confidences, strict=True
                )
            ]
            whole = {
                "rationale": rationale,
                "unscored": unscored,
                "stated_confidence": None if math.isnan(said) else said,
            }
            yield {"item_id": item_id, **self._values(cells), **whole, **more}

    def _values(self, cells: list[dict[str, object]]) -> dict[str, object]:
        if len(cells) == 1:
            return cells[0]
        keyed = dict(zip(self.aspects, cells, strict=True))
        return {plural: {aspect: cell[name] for aspect, cell in keyed.items()} for name, plural in _PLURALS.items()}


def expected(probabilities: FloatArray, values: FloatArray | Sequence[float]) -> FloatArray:
    """Expected value of each row, shape ``probabilities.shape[:-1]``; a row's does not depend on the rows beside it.

    A matrix product would round a single row otherwise than the same row among others.
    """
    terms = [probabilities[..., k] * value for k, value in enumerate(values)]
    return np.asarray(sum(terms[1:], start=terms[0]))


def concatenate(pieces: Sequence[Judgments]) -> Judgments:
    """Several judgments of the same judge as one, rows in order."""
    first = pieces[0]
    firsts = [piece.first for piece in pieces if piece.first is not None]
    asked = [piece.escalated for piece in pieces if piece.escalated is not None]
    details = [piece.details for piece in pieces if piece.details is not None]
    stated = [np.full(len(piece.item_ids), np.nan) if piece.stated is None else piece.stated for piece in pieces]
    return Judgments(
        item_ids=tuple(i for piece in pieces for i in piece.item_ids),
        aspects=first.aspects,
        probabilities=np.concatenate([piece.probabilities for piece in pieces]),
        grade=np.concatenate([piece.grade for piece in pieces]),
        score=np.concatenate([piece.score for piece in pieces]),
        accept=np.concatenate([piece.accept for piece in pieces]),
        confidence=np.concatenate([piece.confidence for piece in pieces]),
        rationale=tuple(text for piece in pieces for text in piece.rationale),
        unscored=tuple(reason for piece in pieces for reason in piece.unscored),
        flipped=_flips(pieces),
        first=concatenate(firsts) if len(firsts) == len(pieces) else None,
        escalated=np.concatenate(asked) if len(asked) == len(pieces) else None,
        stated=None if all(piece.stated is None for piece in pieces) else np.concatenate(stated),
        details=tuple(one for some in details for one in some) if len(details) == len(pieces) else None,
    )


def _flips(pieces: Sequence[Judgments]) -> NDArray[np.bool_] | None:
    """What flipped; of items that nobody was asked about nothing did."""
    asked = [piece for piece in pieces if piece.asked.any()] or pieces
    known = {id(piece): piece.flipped for piece in asked if piece.flipped is not None}
    if len(known) < len(asked):
        return None
    return np.concatenate([known.get(id(piece), np.zeros(len(piece.item_ids), dtype=bool)) for piece in pieces])


_NO_DETAILS: Mapping[str, object] = {}
_PLURALS = {
    "grade": "grades",
    "score": "scores",
    "accept": "accepts",
    "probabilities": "probabilities",
    "confidence": "confidences",
}
