"""Makes several judges' judgments of the same items one: their mean, a linear opinion pool, in plain numpy.

Replies, jurors and members of a panel are pooled alike. Who left an item unscored does not count there. The grade is
the median of the mean distribution, of classes the likeliest (the middle one of the judges' own grades is no better:
benchmarks/README.md); accepts follow from it.

Source: Stone (1961), The opinion pool, Annals of Mathematical Statistics 32(4).
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np

from judgec.raters.decision import DecisionRule, acceptability, nearest_grade
from judgec.raters.pairwise import TIE, most_probable
from judgec.records.judgment import NOT_ASKED, UNSCORED, Judgments
from judgec.records.label import FloatArray, IntArray
from judgec.records.scale import Scale

MEAN = "mean"  # in reports, the one way to pool
ALL_FAILED = "no verdict of any member of the panel that was asked"
Thresholds = Mapping[str, float]
"""A judge's accept thresholds, by those aspects that have one."""


def pool(
    said: Sequence[Judgments],
    scale: Scale,
    thresholds: Sequence[Thresholds] | None = None,
    spread: FloatArray | None = None,
) -> Judgments:
    """Several judgments of the same items as one; a single calibrated one is passed on.

    Args:
        said: One a judge.
        scale: The grades.
        thresholds: Of calibrated judges, one each; None of raw verdicts, which give no confidence. Where every judge
            has one, an item is accepted when its margins over them are at least 0 on average.
        spread: In place of ``mean_distribution``.
    """
    first, shape = said[0], said[0].grade.shape
    if thresholds is not None and len(said) == 1:
        return first
    spread = mean_distribution(said) if spread is None else spread
    scored = np.asarray(~np.isnan(spread).any(axis=(1, 2)))
    grade, confidence, why = np.full(shape, UNSCORED, dtype=np.int64), np.full(shape, np.nan), first.unscored
    grade[scored] = joint_grade(spread[scored], scale)
    if thresholds is None:
        why = tuple(ALL_FAILED if any(asked) else NOT_ASKED for asked in zip(*(one.asked for one in said), strict=True))
    else:
        confidence[scored] = np.take_along_axis(spread[scored], grade[scored][..., None], axis=2)[..., 0]
    found = replace(
        first,
        probabilities=spread,
        grade=grade,
        score=spread @ np.array(scale.values),
        accept=_accept(said, grade, scale, thresholds or [{}] * len(said)),
        confidence=confidence,
        unscored=tuple(None if one else reason for one, reason in zip(scored.tolist(), why, strict=True)),
        flipped=None,
        stated=_mean_stated(said),
    )
    return replace(found, rationale=_reasons(said, found, scale))


def mean_distribution(said: Sequence[Judgments]) -> FloatArray:
    """Mean of the distributions that there are, shape (n_items, n_aspects, n_grades); NaN where nobody gave one."""
    has = np.array([one.scored for one in said])[:, :, None, None]
    total = np.where(has, [one.probabilities for one in said], 0.0).sum(axis=0)
    return np.where(has.any(axis=0), total / np.maximum(has.sum(axis=0), 1), np.nan)


def joint_grade(spread: FloatArray, scale: Scale) -> IntArray:
    """Grade that a joint distribution, shape (..., n_grades), states: its median, of classes the likeliest."""
    if {"a", "b", TIE} <= set(scale.grades):
        return most_probable(spread, scale)
    rows = spread.reshape(-1, spread.shape[-1])
    rule = DecisionRule(name="likeliest" if scale.level == "nominal" else "median")
    return (nearest_grade(rows, scale) if scale.interval else rule.grades(rows, scale)).reshape(spread.shape[:-1])


def _accept(said: Sequence[Judgments], grade: IntArray, scale: Scale, thresholds: Sequence[Thresholds]) -> IntArray:
    accept = np.full(grade.shape, UNSCORED, dtype=np.int64)
    for j, aspect in enumerate(said[0].aspects):
        with_one = [(one, by[aspect]) for one, by in zip(said, thresholds, strict=True) if aspect in by]
        if scale.accept_index is not None and len(with_one) < len(said):
            accept[:, j] = np.where(grade[:, j] != UNSCORED, grade[:, j] >= scale.accept_index, UNSCORED)
        elif with_one:
            votes = np.array([one.scored for one, _ in with_one])
            margins = [acceptability(one.probabilities[:, j], scale) - least for one, least in with_one]
            accepted = np.where(votes, margins, 0.0).sum(axis=0) >= 0
            accept[:, j] = np.where(votes.any(axis=0), accepted, UNSCORED)
    return accept


def _mean_stated(said: Sequence[Judgments]) -> FloatArray | None:
    """Mean of the confidences that were stated; None where nobody was asked."""
    given = [one.stated for one in said if one.stated is not None]
    has = ~np.isnan(given)
    with np.errstate(invalid="ignore"):
        return np.where(has, given, 0.0).sum(axis=0) / has.sum(axis=0) if given else None


def _reasons(said: Sequence[Judgments], joint: Judgments, scale: Scale) -> tuple[str, ...]:
    """The reason of each item: that of the judge nearest to the joint score among those that give one.

    Of classes, and of several aspects, it is that of the first with the joint grade, before one that gives none: a
    reason for another class would explain nothing.
    """
    silent = np.array([[not reason for reason in one.rationale] for one in said])
    if scale.level != "nominal" and len(joint.aspects) == 1:
        away = np.round(np.abs([one.score[:, 0] - joint.score[:, 0] for one in said]), 9)
        off = np.where(silent, away + (1.0 + scale.values[-1] - scale.values[0]), away)
    else:
        off = np.array([(one.grade != joint.grade).any(axis=1) for one in said]) + np.where(silent, 0.5, 0.0)
    chosen = np.where([one.scored for one in said], off, np.inf).argmin(axis=0)
    return tuple(said[one].rationale[row] for row, one in enumerate(chosen.tolist()))


def merged(first: Judgments, second: Judgments, rows: IntArray) -> Judgments:
    """The first judge's judgments, in these rows those of the one behind it.

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
