"""Raw verdicts on some items, filled in as the replies come."""

from dataclasses import dataclass
from typing import Self

import numpy as np

from judgec.raters.replies.fields import Verdict
from judgec.records.judgment import UNSCORED, Judgments, expected
from judgec.records.label import FloatArray, IntArray
from judgec.records.scale import Scale

NO_REPLY = "no reply"


@dataclass(slots=True)
class Columns:
    """Verdicts as columns.

    Args:
        probabilities: Shape (n_items, n_aspects, n_grades).
        grade: Stated positions, shape (n_items, n_aspects).
        confidence: Stated, 0-1, shape (n_items,).
        reasons: One an item.
        faults: Why there is no verdict, or None, one an item.
    """

    probabilities: FloatArray
    grade: IntArray
    confidence: FloatArray
    reasons: list[str]
    faults: list[str | None]

    @classmethod
    def empty(cls, items: int, aspects: int, grades: int) -> Self:
        """Nothing is known yet."""
        return cls(
            probabilities=np.full((items, aspects, grades), np.nan),
            grade=np.full((items, aspects), UNSCORED, dtype=np.int64),
            confidence=np.full(items, np.nan),
            reasons=[""] * items,
            faults=[NO_REPLY] * items,
        )

    def put(self, row: int, verdict: Verdict) -> None:
        """A verdict on one item."""
        self.probabilities[row] = verdict.probabilities
        self.grade[row] = verdict.positions
        self.confidence[row] = verdict.confidence
        self.reasons[row] = verdict.reason
        self.faults[row] = None

    def judgments(self, scale: Scale, aspects: tuple[str, ...], item_ids: tuple[str, ...]) -> Judgments:
        """As the record; items without a verdict are unscored."""
        known = self.grade != UNSCORED if scale.accept_index is not None else np.zeros(self.grade.shape, dtype=bool)
        accepted = self.grade >= (scale.accept_index or 0)
        return Judgments(
            item_ids=item_ids,
            aspects=aspects,
            probabilities=self.probabilities,
            grade=self.grade,
            score=expected(self.probabilities, scale.values),
            accept=np.where(known, accepted, UNSCORED).astype(np.int64),
            confidence=np.repeat(self.confidence[:, None], len(aspects), axis=1),
            rationale=tuple(self.reasons),
            unscored=tuple(self.faults),
        )
