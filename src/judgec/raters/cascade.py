"""A cascade: a cheap judge first, and a strong one where the first is not sure."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Self

import numpy as np
from numpy.typing import NDArray
from pydantic import Field, model_validator

from judgec.raters.calibrator import Calibrator
from judgec.records.judgment import Judgments
from judgec.records.label import FloatArray, IntArray
from judgec.records.record import FiniteRecord
from judgec.records.scale import Scale

EVIDENCE = "evidence"  # as the cheap judge: the judge that asks nobody


class Cascade(FiniteRecord):
    """Two judges in their order, and the rule for asking the second.

    Args:
        cheap: The judge that is asked about every item, or ``evidence``, which asks nobody.
        dear: The strong judge, which is asked where the cheap one's confidence is below ``below``, or it decided
            nothing.
        below: A probability.
        calibrators: The cheap judge's, one an aspect; the strong one's are those of the whole judge.
    """

    cheap: str
    dear: str
    below: float = Field(ge=0, le=1)
    calibrators: dict[str, Calibrator] = Field(default_factory=dict)

    @model_validator(mode="after")
    def _fits(self) -> Self:
        if self.cheap == self.dear or (self.cheap == EVIDENCE and not self.calibrators):
            raise ValueError("cascade: parts that do not fit together; the calibration file is damaged.")
        return self

    @property
    def name(self) -> str:
        """Its name among judges."""
        return f"{self.cheap} > {self.dear}"

    @property
    def members(self) -> tuple[str, ...]:
        """The judges whose verdicts are needed."""
        return (self.dear,) if self.cheap == EVIDENCE else (self.cheap, self.dear)

    def verdict(self, said: Sequence[Judgments], _: Scale) -> Judgments:
        """The strong judge's verdicts, beside those of the cheap one, which come first.

        Args:
            said: One a member, in the order of ``members``.
        """
        return said[0] if len(said) == 1 else replace(said[1], first=said[0])

    def escalates(self, judged: Judgments) -> NDArray[np.bool_]:
        """Items that the strong judge is asked about, from the cheap one's calibrated judgments, shape (n_items,)."""
        return least_confidence(judged) < self.below


def least_confidence(judged: Judgments) -> FloatArray:
    """The least confidence over the aspects, shape (n_items,); -infinity where nothing was decided.

    Args:
        judged: Calibrated judgments, of pairs after both orders were brought together.
    """
    return np.where(judged.scored, judged.confidence.min(axis=1), -np.inf)


def merged(first: Judgments, second: Judgments, rows: IntArray) -> Judgments:
    """The cheap judge's judgments, in these rows the strong one's.

    Args:
        first: Of all items.
        second: Of the items in ``rows``, in this order.
        rows: Positions in ``first``.
    """

    def filled(name: str) -> FloatArray:
        whole = getattr(first, name).copy()
        whole[rows] = getattr(second, name)
        return np.asarray(whole)

    flipped = None
    if first.flipped is not None and second.flipped is not None:
        flipped = first.flipped.copy()
        flipped[rows] = second.flipped
    stated = None
    if first.stated is not None or second.stated is not None:
        stated = np.full(len(first.item_ids), np.nan) if first.stated is None else first.stated.copy()
        stated[rows] = np.nan if second.stated is None else second.stated
    reasons, unscored = np.array(first.rationale, dtype=object), np.array(first.unscored, dtype=object)
    reasons[rows], unscored[rows] = second.rationale, second.unscored
    details = first.details
    if details is not None and second.details is not None:
        later = dict(zip(rows.tolist(), second.details, strict=True))
        details = tuple(later.get(row, one) for row, one in enumerate(details))
    escalated = np.zeros(len(first.item_ids), dtype=bool)
    escalated[rows] = True
    return replace(
        first,
        probabilities=filled("probabilities"),
        grade=filled("grade").astype(np.int64),
        score=filled("score"),
        accept=filled("accept").astype(np.int64),
        confidence=filled("confidence"),
        rationale=tuple(reasons.tolist()),
        unscored=tuple(unscored.tolist()),
        flipped=flipped,
        first=None,
        escalated=escalated,
        stated=stated,
        details=details,
    )
