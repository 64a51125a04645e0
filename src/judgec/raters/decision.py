"""Applies a judge's decision rule: probabilities to a grade, and the confidence in that grade."""

from typing import Literal

import numpy as np

from judgec.records.judgment import UNSCORED, Judgments, expected
from judgec.records.label import FloatArray, IntArray
from judgec.records.record import FiniteRecord
from judgec.records.scale import Scale

RuleName = Literal["raw", "map", "likeliest", "median", "cuts", "nearest"]

HALF_WAY = (
    "the language model are half way between two grades, such as 4.5: each of the two grades gets half of the "
    "probability, and the grade shown is the even one of the two"
)
EVEN = 1e-9  # probabilities closer than this count as equal
EVEN_ODDS = 0.5  # the accept threshold of a judge that none was fitted for
ROUNDED = 1e-9  # by which a score may miss an accepted number
LEAST = 1e-6  # a probability is kept this far from 0 and 1 before its logit is taken


class DecisionRule(FiniteRecord):
    """Rule that gives the grade from the LM's verdict or from the calibrated probabilities.

    ``raw``: the grade that the LM stated. ``map``: cut points on the value of the LM's verdict, which for a single
    verdict is a monotone map of its grades to the experts'. ``likeliest``: the most probable grade. ``median``: the
    first grade at which half of the probability is reached. ``cuts``: cut points on the expected score. ``nearest``:
    the grade nearest to the expected score, of regressions.

    Args:
        name: Which rule.
        cuts: ``map`` and ``cuts``: the least value for each grade above the worst, in scale units, not falling.
    """

    name: RuleName = "nearest"
    cuts: tuple[float, ...] = ()

    def grades(
        self, spread: FloatArray, scale: Scale, verdicts: FloatArray | None = None, stated: IntArray | None = None
    ) -> IntArray:
        """The position of each row's grade, shape (n_items,).

        Args:
            spread: Calibrated probabilities of the grades, shape (n_items, n_grades).
            scale: The grades.
            verdicts: The LM's own probabilities, same shape; ``raw`` and ``map`` read them.
            stated: The positions that the LM stated, shape (n_items,); None takes them from ``verdicts``.
        """
        if self.name in {"raw", "map"}:
            assert verdicts is not None  # the calibrator of such a rule reads the LM
            if self.name == "raw":
                return stated_grades(verdicts, scale) if stated is None else stated
            return above(self.cuts, expected(verdicts, scale.values))
        if self.name == "cuts":
            return above(self.cuts, expected(spread, scale.values))
        if self.name == "median":
            return np.asarray((spread.cumsum(axis=1) >= 0.5 - EVEN).argmax(axis=1), dtype=np.int64)
        if self.name == "likeliest" or scale.level == "nominal":
            return np.asarray(spread.argmax(axis=1), dtype=np.int64)
        return nearest_grade(spread, scale)


class Sureness(FiniteRecord):
    """Probability that the shipped grade is right, from the calibrated probability of that grade.

    Args:
        slope: Of the logit; 0 says the same of every grade.
        intercept: Of the logit.
    """

    slope: float
    intercept: float

    def of(self, probability: FloatArray) -> FloatArray:
        """Probability of being right, same shape; NaN stays NaN."""
        p = np.clip(probability, LEAST, 1.0 - LEAST)
        return np.asarray(1.0 / (1.0 + np.exp(-(self.slope * np.log(p / (1.0 - p)) + self.intercept))))


def above(cuts: tuple[float, ...] | FloatArray, values: FloatArray) -> IntArray:
    """Number of cut points that each value reaches, shape (n_items,)."""
    return np.asarray(np.searchsorted(np.asarray(cuts), values, side="right"), dtype=np.int64)


def nearest_grade(probabilities: FloatArray, scale: Scale) -> IntArray:
    """Position of the grade nearest to the expected score, of two the lower; nominal: the most probable.

    Args:
        probabilities: Shape (n_items, n_grades).
        scale: Its grades.
    """
    if scale.level == "nominal":
        return np.asarray(probabilities.argmax(axis=1), dtype=np.int64)
    values = np.array(scale.values)
    return np.asarray(np.abs(expected(probabilities, values)[:, None] - values).argmin(axis=1), dtype=np.int64)


def stated_grades(verdicts: FloatArray, scale: Scale) -> IntArray:
    """The grade that a verdict distribution states: the likeliest; between two equal neighbours the even one.

    Of two grades that are equally likely neighbours on a scale of whole numbers, the even number is taken (4.5 is
    rounded to 4, as 3.5 is); of others, the worse.

    Args:
        verdicts: Probabilities, shape (n_items, n_grades).
        scale: Its grades.
    """
    best = np.asarray(verdicts.argmax(axis=1), dtype=np.int64)
    if scale.level == "nominal":
        return best
    rows = np.flatnonzero(between_grades(verdicts))
    values = np.array(scale.values)
    odd = values[best[rows]] % 2 == 1
    best[rows[odd]] += 1
    return best


def acceptability(probabilities: FloatArray, scale: Scale) -> FloatArray:
    """Acceptability of each item, 0-1: what accept thresholds are fitted on and compared with.

    The probability of an accepted grade where the scale says which grades are; else (the experts said accept
    or reject apart from their grades) the expected score, as a share of the way from the worst to the best.

    Args:
        probabilities: Shape (n_items, n_grades).
        scale: Its grades.
    """
    if scale.accept_index is not None:
        return np.asarray(probabilities[:, scale.accept_index :].sum(axis=1))
    values = np.array(scale.values)
    return np.asarray((expected(probabilities, values) - values[0]) / (values[-1] - values[0]))


def accepted(probabilities: FloatArray, scale: Scale, threshold: float | None = None) -> IntArray:
    """1 accepted, 0 rejected, -1 when nobody said which grades are accepted and no threshold was fitted.

    Args:
        probabilities: Shape (n_items, n_grades).
        scale: Its grades.
        threshold: The least ``acceptability`` that is accepted; None means even odds.
    """
    if scale.accept_index is None and threshold is None:
        return np.full(len(probabilities), UNSCORED, dtype=np.int64)
    if threshold is None and scale.interval and scale.accept_index is not None:
        least = scale.values[scale.accept_index] - ROUNDED
        return (expected(probabilities, scale.values) >= least).astype(np.int64)
    return (acceptability(probabilities, scale) >= (EVEN_ODDS if threshold is None else threshold)).astype(np.int64)


def disagreements(judgments: Judgments, scale: Scale) -> int:
    """Number of grades that say accept where the fitted threshold says reject, or the other way round."""
    if scale.accept_index is None:
        return 0
    by_grade = judgments.grade >= scale.accept_index
    return int(((judgments.accept != UNSCORED) & (by_grade != (judgments.accept == 1))).sum())


def half_way(raw: Judgments, scale: Scale) -> int:
    """Number of raw verdicts half way between two grades, such as a 4.5: each of the two has exactly one half.

    Args:
        raw: Verdicts as they were read, before orders or replies are brought together; unscored ones count for none.
        scale: The grades; between classes and words nothing lies half way.
    """
    if scale.level == "nominal" or any(isinstance(grade, str) for grade in scale.grades):
        return 0
    halves = np.abs(raw.probabilities - 0.5) < EVEN
    return int((halves[..., 1:] & halves[..., :-1]).sum())


def spread_of(numbers: FloatArray, values: FloatArray) -> FloatArray:
    """Numbers on an interval scale as distributions of the two values beside them, so that each mean is the number.

    Args:
        numbers: Shape (n_items,); outside the scale its nearest end counts.
        values: The values of the scale, rising, shape (n_grades,).
    """
    numbers = np.clip(numbers, values[0], values[-1])
    low = np.clip(np.searchsorted(values, numbers, side="right") - 1, 0, len(values) - 2)
    share = (numbers - values[low]) / (values[low + 1] - values[low])
    out, rows = np.zeros((len(numbers), len(values))), np.arange(len(numbers))
    out[rows, low], out[rows, low + 1] = 1.0 - share, share
    return out


def between_grades(verdicts: FloatArray) -> np.ndarray[tuple[int], np.dtype[np.bool_]]:
    """Rows in which two neighbouring grades share the highest probability, shape (n_items,): a 4.5 on 1-5."""
    best = verdicts.argmax(axis=1)
    nth = np.arange(len(verdicts))
    other = np.minimum(best + 1, verdicts.shape[1] - 1)
    return np.asarray((other > best) & (np.abs(verdicts[nth, best] - verdicts[nth, other]) < EVEN))
