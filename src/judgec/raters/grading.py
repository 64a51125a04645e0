"""Grades that follow from raw verdicts and evidence: calibrated, decided, of pairs the same whatever stood first."""

from collections.abc import Callable, Mapping
from dataclasses import replace

import numpy as np

from judgec.evidence.model import EvidenceModel, Observed
from judgec.raters.calibrator import Calibrator, Trace
from judgec.raters.checks import details_of, no_details, told_of
from judgec.raters.decision import accepted
from judgec.raters.pairwise import mirror, symmetric
from judgec.raters.piece import Piece
from judgec.raters.reasons import SeenScores
from judgec.raters.run import Run
from judgec.records.judgment import UNSCORED, Judgments
from judgec.records.label import FloatArray, IntArray
from judgec.records.scale import Scale

Observe = Callable[[IntArray, bool], Observed]
"""Features and parts of the items in these rows, or of their mirror images."""


def graded(
    by: Mapping[str, Calibrator],
    evidence: EvidenceModel | None,
    piece: Piece,
    raw: Judgments | None,
    run: Run,
    observe: Observe,
) -> Judgments:
    """Judgments from raw verdicts and evidence.

    Args:
        by: The calibrator of each aspect; an aspect without one keeps its verdict.
        evidence: Makes the features; None where no calibrator reads any.
        piece: What is judged.
        raw: The verdicts; None where evidence alone decides.
        run: What is rated with.
        observe: Gives the evidence.
    """
    rows: IntArray = np.arange(len(piece.item_ids)) if raw is None else np.flatnonzero(raw.scored)
    reads = evidence is not None and any(one.source != "lm" for one in by.values())
    features, parts = observe(rows, False) if reads else (None, None)
    told = _told(evidence, raw, rows, features, piece, run.checks)
    traces = {aspect: Trace() for aspect in by}
    judged, seen = _calibrated(by, run, piece, raw, (features, told), traces), SeenScores(parts, traces)
    if run.pairs:
        mirrors = None if raw is None else mirror(raw, run.scale)
        turned = {aspect: Trace() for aspect in by}
        mirrored_features = observe(rows, True)[0] if reads else None
        other = _calibrated(by, run, piece, mirrors, (mirrored_features, mirrored_features), turned)
        judged, seen = either_way(judged, other, raw, by, run.scale), SeenScores(parts, traces, turned)
    details = _details(judged, raw, piece, run.checks)
    reasons = run.reasons(by)
    return replace(
        judged, rationale=judged.rationale if reasons is None else reasons.of(judged, raw, seen), details=details
    )


def either_way(
    judged: Judgments, turned: Judgments, raw: Judgments | None, by: Mapping[str, Calibrator], scale: Scale
) -> Judgments:
    """Calibrated judgments of pairs that are the same whichever answer stands first: a flipped verdict is a tie.

    Args:
        judged: Of the pairs.
        turned: Of their mirror images.
        raw: The pairs' raw verdicts; None where evidence alone decides.
        by: The calibrators, of the one aspect that pairs have.
        scale: The grades.
    """
    calibrator = by.get(judged.aspects[0])
    stated = calibrator is not None and calibrator.rule.name == "raw"
    found = symmetric(judged, turned, raw, scale, stated=stated)
    return found if calibrator is None else replace(found, confidence=calibrator.sure(found.confidence))


def _details(
    judged: Judgments, raw: Judgments | None, piece: Piece, checks: str
) -> tuple[Mapping[str, object], ...] | None:
    """The further columns of each row, where answers are checked piece by piece."""
    if not checks:
        return None
    rows = np.flatnonzero(judged.scored).tolist()
    said = ["" if raw is None else raw.rationale[row] for row in rows]
    found = dict(zip(rows, details_of(checks, [piece.items[row] for row in rows], said), strict=True))
    return tuple(found.get(row) or no_details(checks) for row in range(len(judged.item_ids)))


def _told(
    evidence: EvidenceModel | None,
    raw: Judgments | None,
    rows: IntArray,
    features: FloatArray | None,
    piece: Piece,
    checks: str,
) -> FloatArray | None:
    """Features with what the model said of the claims; the same object where it said nothing of any."""
    if features is None or raw is None or evidence is None or not evidence.reads_told or not checks:
        return features
    said = [raw.rationale[row] for row in rows.tolist()]
    return evidence.telling(features, told_of(checks, [piece.items[row] for row in rows.tolist()], said))


def _calibrated(
    by: Mapping[str, Calibrator],
    run: Run,
    piece: Piece,
    raw: Judgments | None,
    features: tuple[FloatArray | None, FloatArray | None],
    traces: Mapping[str, Trace],
) -> Judgments:
    """``features`` are those of the scored items, in order, without and with what a model said of claims."""
    alone, told = features
    scale, values = run.scale, np.array(run.scale.values)
    scored = np.ones(len(piece.item_ids), dtype=bool) if raw is None else raw.scored
    result = Judgments.blank(piece.item_ids, run.aspects, len(values))
    if raw is not None:
        result = replace(result, rationale=raw.rationale, unscored=raw.unscored, stated=raw.confidence[:, 0])
    for j, aspect in enumerate(run.aspects):
        calibrator = by.get(aspect)
        if calibrator is None:
            assert raw is not None  # evidence alone has a calibrator for each aspect
            for name in ("probabilities", "grade", "score", "accept", "confidence"):
                getattr(result, name)[:, j] = getattr(raw, name)[:, j]
            continue
        verdicts = None if raw is None else raw.probabilities[scored, j]
        spread = calibrator.apply(verdicts, alone if calibrator.source == "evidence" else told, traces[aspect])
        stated = None if raw is None else raw.grade[scored, j]
        grade = calibrator.rule.grades(spread, scale, verdicts, stated)
        result.probabilities[scored, j] = spread
        result.grade[scored, j] = grade
        result.score[scored, j] = calibrator.score(spread, verdicts, values)
        if not scale.interval:  # a number is never exactly right
            result.confidence[scored, j] = calibrator.sure(spread[np.arange(len(spread)), grade])
        result.accept[scored, j] = decided(spread, grade, scale, calibrator)
    return result


def decided(spread: FloatArray, grade: IntArray, scale: Scale, calibrator: Calibrator) -> IntArray:
    """Accept or reject, shape (n_items,): as the grade says, or by the threshold of a judge that was fitted one.

    Args:
        spread: Calibrated probabilities, shape (n_items, n_grades).
        grade: The shipped positions, shape (n_items,).
        scale: The grades.
        calibrator: What made them.
    """
    if scale.interval or calibrator.accept_threshold is not None:
        return accepted(spread, scale, calibrator.accept_threshold)
    if scale.accept_index is None:
        return np.full(len(grade), UNSCORED, dtype=np.int64)
    return (grade >= scale.accept_index).astype(np.int64)
