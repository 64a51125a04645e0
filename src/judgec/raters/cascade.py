"""A cascade: a cheap judge first, a strong one where it is expected to save enough of the decision's loss.

What the cheap judge's decision is expected to cost follows from its calibrated distribution of the experts' grade and
from the grade and accept that its decision rule gave: the squared distance for objectives that count it, the chance
of another grade for those that count hits, the chance of the other outcome for accepts. A high loss alone does not say
that the strong judge would do better: where experts differ, both are wrong. What it would save is predicted from what
the cheap judge said, by a ridge regression that was fitted on items that both had judged.
"""

from collections.abc import Sequence
from dataclasses import replace
from typing import Literal, Self

import numpy as np
from numpy.typing import NDArray
from pydantic import Field, model_validator

from judgec.raters.calibrator import Calibrator
from judgec.records.judgment import UNSCORED, Judgments
from judgec.records.label import FloatArray, IntArray
from judgec.records.record import FiniteRecord
from judgec.records.scale import Scale

EVIDENCE = "evidence"  # as the cheap judge: the judge that asks nobody
LossKind = Literal["squared", "miss", "accept"]
Losses = Sequence[tuple[float, LossKind]]
"""Weight and kind of each term of a loss."""


class Cascade(FiniteRecord):
    """Two judges in their order, and the rule for asking the second.

    Args:
        cheap: The judge that is asked about every item, or ``evidence``, which asks nobody.
        dear: The strong judge, which is asked where the expected saving is above ``threshold``.
        threshold: Expected saving from which on the strong judge is asked.
        losses: Weight and kind of each term of the loss, from the objective.
        intercept: Of the expected saving.
        weights: Of ``said_columns``, for the expected saving.
        calibrators: The cheap judge's, one an aspect; the strong one's are those of the whole judge.
    """

    cheap: str
    dear: str
    threshold: float
    losses: tuple[tuple[float, LossKind], ...] = Field(min_length=1)
    intercept: float = 0.0
    weights: tuple[float, ...] = Field(min_length=1)
    calibrators: dict[str, Calibrator] = Field(default_factory=dict)

    @model_validator(mode="after")
    def _fits(self) -> Self:
        if self.cheap == self.strong or (self.cheap == EVIDENCE and not self.calibrators):
            raise ValueError("cascade: parts that do not fit together; the calibration file is damaged.")
        return self

    @property
    def strong(self) -> str:
        """The second judge; files call it dear."""
        return self.dear

    @property
    def name(self) -> str:
        """Its name among judges."""
        return f"{self.cheap} > {self.strong}"

    @property
    def members(self) -> tuple[str, ...]:
        """The judges whose verdicts are needed."""
        return (self.strong,) if self.cheap == EVIDENCE else (self.cheap, self.strong)

    def verdict(self, said: Sequence[Judgments], _: Scale) -> Judgments:
        """The strong judge's verdicts, beside those of the cheap one, which come first.

        Args:
            said: One a member, in the order of ``members``.
        """
        return said[0] if len(said) == 1 else replace(said[1], first=said[0])

    def saving(self, judged: Judgments, scale: Scale) -> FloatArray:
        """Part of the loss that the strong judge is expected to save, shape (n_items,).

        Args:
            judged: The cheap judge's calibrated judgments.
            scale: The grades.

        Returns:
            Infinity where the cheap judge decided nothing.
        """
        columns = said_columns(judged, scale, self.losses)
        expected = self.intercept + columns @ np.array(self.weights)
        return np.where(judged.scored, expected, np.inf)

    def escalates(self, judged: Judgments, scale: Scale) -> NDArray[np.bool_]:
        """Items that the strong judge is asked about, shape (n_items,); unscored ones are among them."""
        return self.saving(judged, scale) > self.threshold


def said_columns(judged: Judgments, scale: Scale, losses: Losses) -> FloatArray:
    """Columns that predict the saving: the cheap judge's probabilities, expected loss and grades.

    Args:
        judged: Calibrated judgments.
        scale: The grades.
        losses: Weight and kind of each term.

    Returns:
        Shape (n_items, 2 * n_aspects * n_grades + 1); 0 where nothing was decided.
    """
    n, k = len(judged.item_ids), len(scale.grades)
    loss = expected_loss(judged, scale, losses)
    grades = np.eye(k)[np.maximum(judged.grade, 0)]
    parts = [judged.probabilities.reshape(n, -1), loss[:, None], grades.reshape(n, -1)]
    return np.where(judged.scored[:, None], np.concatenate(parts, axis=1), 0.0)


def expected_loss(judged: Judgments, scale: Scale, losses: Losses) -> FloatArray:
    """Expected cost of the decision on each item, the mean of its aspects, shape (n_items,).

    Args:
        judged: Calibrated judgments.
        scale: The grades.
        losses: Weight and kind of each term; each term is 0 (certainly right) to 1.

    Returns:
        Infinity where nothing was decided.
    """
    total = np.zeros(judged.grade.shape)
    with np.errstate(invalid="ignore"):
        for weight, kind in losses:
            total += weight * _term(kind, judged, scale)
    mean = total.mean(axis=1)
    return np.where(judged.scored & ~np.isnan(mean), mean, np.inf)


def _term(kind: LossKind, judged: Judgments, scale: Scale) -> FloatArray:
    grade = np.maximum(judged.grade, 0)
    if kind == "miss":
        return np.asarray(1.0 - np.take_along_axis(judged.probabilities, grade[:, :, None], axis=2)[:, :, 0])
    values = np.array(scale.values)
    if kind == "squared":
        apart = (values[None, None, :] - values[grade][:, :, None]) / (values[-1] - values[0])
        return np.asarray((judged.probabilities * apart**2).sum(axis=2))
    if scale.accept_index is not None:
        chance = judged.probabilities[:, :, scale.accept_index :].sum(axis=2)
    else:  # experts said accept or reject apart from their grades
        chance = (judged.probabilities @ values - values[0]) / (values[-1] - values[0])
    known = judged.accept != UNSCORED
    return np.where(known, np.where(judged.accept == 1, 1.0 - chance, chance), 0.5)


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
