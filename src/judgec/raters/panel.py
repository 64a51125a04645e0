"""A panel: several judges' verdicts on an item as one, in plain numpy.

A member that gave no verdict on an item is left out of the mean; in a stack it is taken to have said what the others
said on average, in logits. So each item needs one verdict, and more of them make it better.
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Literal, Self

import numpy as np
from pydantic import Field, model_validator

from judgec.raters.calibrator import VERDICT_FLOOR, Calibrator, above_cuts
from judgec.raters.decision import DecisionRule, nearest_grade
from judgec.raters.pairwise import TIE, most_probable
from judgec.records.judgment import NOT_ASKED, UNSCORED, Judgments, expected
from judgec.records.label import FloatArray, IntArray
from judgec.records.record import FiniteRecord
from judgec.records.scale import Scale

PanelKind = Literal["mean", "weighted", "stack"]

ALL_FAILED = "no verdict of any member of the panel that was asked"
WHOLE = 1e-6  # weights sum to 1 within it


class Panel(FiniteRecord):
    """Rule that makes the verdicts of several judges one.

    Args:
        kind: ``mean`` and ``weighted``: of the members' distributions; ``stack``: a logistic map of all of them.
        members: The judges.
        weights: ``weighted``: one a member, positive, summing to 1.
        stacks: ``stack``: by aspect the map from ``member_columns`` to probabilities of the grades.
        reasons: Whose reason is the panel's: of the member ``nearest`` to it, as ``reasons_of`` says; panels of earlier
            versions have that of the ``first`` member with its grade.
    """

    kind: PanelKind
    members: tuple[str, ...] = Field(min_length=1)
    weights: tuple[float, ...] = ()
    stacks: dict[str, Calibrator] = Field(default_factory=dict)
    reasons: Literal["first", "nearest"] = "first"

    @model_validator(mode="after")
    def _fits(self) -> Self:
        of_stacks = all(
            one.source == "evidence"
            and len(one.feature_names) == len(self.members) * (1 if one.of_numbers else one.n_grades - 1)
            for one in self.stacks.values()
        )
        sound = (
            len(set(self.members)) == len(self.members)
            and (len(self.weights) == len(self.members)) == (self.kind == "weighted")
            and (self.kind != "weighted" or (min(self.weights) > 0 and abs(sum(self.weights) - 1) < WHOLE))
            and bool(self.stacks) == (self.kind == "stack")
            and of_stacks
        )
        if not sound:
            raise ValueError("panel: parts that do not fit together; the calibration file is damaged.")
        return self

    def verdict(self, said: Sequence[Judgments], scale: Scale) -> Judgments:
        """The members' verdicts on the same items as one.

        Args:
            said: One a member, in the order of ``members``.
            scale: The grades.
        """
        found = together(said, self.spread(said), scale)
        return replace(found, rationale=reasons_of(said, found, scale)) if self.reasons == "nearest" else found

    def spread(self, said: Sequence[Judgments]) -> FloatArray:
        """The joint distribution, shape (n_items, n_aspects, n_grades); NaN where no member gave a verdict."""
        has = np.array([one.scored for one in said])
        given = np.array([one.probabilities for one in said])
        heard = np.logical_or.reduce(has)
        spread = np.full(given.shape[1:], np.nan)
        given, has = given[:, heard], has[:, heard]
        if self.kind != "stack":
            spread[heard] = weighted_mean(given, has, np.array(self.weights or (1.0,) * len(self.members)))
        elif heard.any():
            stacks = [self.stacks[aspect] for aspect in said[0].aspects]
            columns = member_columns(given, has, stacks[0].values)
            spread[heard] = np.stack([one.apply(None, columns[:, j]) for j, one in enumerate(stacks)], axis=1)
        return spread


def together(said: Sequence[Judgments], spread: FloatArray, scale: Scale) -> Judgments:
    """Several judges' verdicts on the same items as one, given their joint distribution.

    The stated grade is the median of the joint distribution, of classes the likeliest. The reason is that of the
    first member who stated it. A flipped pair is half a vote for each side.

    Args:
        said: One a member.
        spread: The joint distribution, shape (n_items, n_aspects, n_grades); NaN where there is none.
        scale: The grades.
    """
    first = said[0]
    scored = np.asarray(~np.isnan(spread).any(axis=(1, 2)))
    grade = np.full(first.grade.shape, UNSCORED, dtype=np.int64)
    grade[scored] = joint_grade(spread[scored], scale)
    why = [ALL_FAILED if any(asked) else NOT_ASKED for asked in zip(*(one.asked for one in said), strict=True)]
    known = (grade != UNSCORED) & (scale.accept_index is not None)
    return Judgments(
        item_ids=first.item_ids,
        aspects=first.aspects,
        probabilities=spread,
        grade=grade,
        score=spread @ np.array(scale.values),
        accept=np.where(known, grade >= (scale.accept_index or 0), UNSCORED).astype(np.int64),
        confidence=np.full(grade.shape, np.nan),
        rationale=_reasons(said, grade),
        unscored=tuple(None if one else reason for one, reason in zip(scored.tolist(), why, strict=True)),
    )


def reasons_of(said: Sequence[Judgments], joint: Judgments, scale: Scale) -> tuple[str, ...]:
    """The reason of each item: that of the member nearest to the joint score among those that give one.

    Of classes, and of several aspects, it is that of the first member with the joint grade, before one that gives none:
    a reason for another class would explain nothing.

    Args:
        said: One a member.
        joint: What they say together.
        scale: The grades.
    """
    silent = np.array([[not reason for reason in one.rationale] for one in said])
    if scale.level != "nominal" and len(joint.aspects) == 1:
        away = np.round(np.abs([one.score[:, 0] - joint.score[:, 0] for one in said]), 9)
        off = np.where(silent, away + (1.0 + scale.values[-1] - scale.values[0]), away)
    else:
        off = np.array([(one.grade != joint.grade).any(axis=1) for one in said]) + np.where(silent, 0.5, 0.0)
    chosen = np.where([one.scored for one in said], off, np.inf).argmin(axis=0)
    return tuple(said[one].rationale[row] for row, one in enumerate(chosen.tolist()))


def weighted_mean(given: FloatArray, has: np.ndarray, weights: FloatArray) -> FloatArray:
    """The mean of the distributions that there are.

    Args:
        given: Shape (n_members, n_items, n_aspects, n_grades); NaN where there is none.
        has: Which there are, shape (n_members, n_items); one an item at least.
        weights: One a member.
    """
    shares = weights[:, None] * has
    total = np.einsum("mi,miag->iag", shares, np.where(has[:, :, None, None], given, 0.0))
    return np.asarray(total / shares.sum(axis=0)[:, None, None])


def member_columns(given: FloatArray, has: np.ndarray, numbers: Sequence[float] = ()) -> FloatArray:
    """Columns of a stack: of each member the logits of P(grade >= j), of numbers its score, member after member.

    Args:
        given: Shape (n_members, n_items, n_aspects, n_grades); NaN where there is none.
        has: Which there are, shape (n_members, n_items); one an item at least.
        numbers: The values of an interval scale.

    Returns:
        Shape (n_items, n_aspects, n_members * (n_grades - 1)), of numbers (n_items, n_aspects, n_members); a
        missing member has the mean of the others.
    """
    members, items, aspects, k = given.shape
    rows = np.where(has[:, :, None, None], given, 1.0 / k).reshape(-1, k)
    if numbers:
        logits = expected(rows, numbers).reshape(members, items, aspects, 1)
    else:
        above = above_cuts(rows).clip(VERDICT_FLOOR, 1.0 - VERDICT_FLOOR)
        logits = np.log(above / (1.0 - above)).reshape(members, items, aspects, k - 1)
    others = weighted_mean(logits, has, np.ones(members))
    filled = np.where(has[:, :, None, None], logits, others)
    return np.asarray(filled.transpose(1, 2, 0, 3).reshape(items, aspects, -1))


def column_names(members: Sequence[str], scale: Scale) -> tuple[str, ...]:
    """Names of ``member_columns``."""
    if scale.interval:
        return tuple(members)
    return tuple(f"{name} >= {grade}" for name in members for grade in scale.grades[1:])


def speakers(said: Mapping[str, Judgments]) -> IntArray:
    """Number of members that gave a verdict on each item, shape (n_items,)."""
    return np.asarray(np.sum([one.scored for one in said.values()], axis=0), dtype=np.int64)


def joint_grade(spread: FloatArray, scale: Scale) -> IntArray:
    """The grade that a joint distribution states: its median, of classes the likeliest.

    Args:
        spread: Shape (..., n_grades).
        scale: The grades.
    """
    if {"a", "b", TIE} <= set(scale.grades):
        return most_probable(spread, scale)
    if scale.interval:
        return nearest_grade(spread.reshape(-1, spread.shape[-1]), scale).reshape(spread.shape[:-1])
    rule = DecisionRule(name="likeliest" if scale.level == "nominal" else "median")
    return rule.grades(spread.reshape(-1, spread.shape[-1]), scale).reshape(spread.shape[:-1])


def _reasons(said: Sequence[Judgments], grade: IntArray) -> tuple[str, ...]:
    reasons = [""] * len(grade)
    for one in reversed(said):
        if any(one.rationale):
            for row in np.flatnonzero((one.grade == grade).all(axis=1) & one.scored):
                reasons[row] = one.rationale[row] or reasons[row]
    return tuple(reasons)
