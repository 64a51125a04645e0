"""Raw verdicts on some items, filled in as the replies come."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Self

import numpy as np

from judgec.judges.replies import Verdict
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


def mean_of(samples: Sequence[Judgments], scale: Scale) -> Judgments:
    """Several raw judgments of the same items as one: the mean of the distributions of those that are scored."""
    if len(samples) == 1:
        return samples[0]
    scored = np.array([one.scored for one in samples])
    items, aspects, grades = samples[0].probabilities.shape
    result = Columns.empty(items, aspects, grades)
    for row in range(items):
        said = [one for one, has in zip(samples, scored[:, row], strict=True) if has]
        if not said:
            result.faults[row] = samples[-1].unscored[row]
            continue
        result.probabilities[row] = sum(one.probabilities[row] for one in said) / len(said)
        only = said[0].grade[row]
        result.grade[row] = only if len(said) == 1 else result.probabilities[row].argmax(axis=1)
        stated = [one.confidence[row, 0] for one in said if not np.isnan(one.confidence[row, 0])]
        result.confidence[row] = sum(stated) / len(stated) if stated else np.nan
        result.reasons[row], result.faults[row] = said[0].rationale[row], None
    return result.judgments(scale, samples[0].aspects, samples[0].item_ids)
