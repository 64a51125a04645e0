"""Pairwise judges: each pair is asked in both orders, and a verdict that flips with the order is a tie.

The calibrated judge is symmetric: what it says of (a, b) is the mirror image of what it says of (b, a).
"""

from dataclasses import replace
from hashlib import sha256

import dspy
import numpy as np

from judgec.raters.piece import DIGEST_BYTES, Piece
from judgec.records.judgment import UNSCORED, Judgments, expected
from judgec.records.label import FloatArray, IntArray, Item
from judgec.records.scale import Scale

SIDES = {
    f"{what}_{side}": f"{what}_{other}"
    for what in ("answer", "agent", "conversation")
    for side, other in (("a", "b"), ("b", "a"))
}
TIE = "tie"
EXCHANGED = " [answers exchanged:] "  # between the reasons of both orders
MIRRORED = b"mirrored "  # before the digest of a pair: that of its mirror image


def is_pairwise(module: dspy.Module) -> bool:
    """True when the judge compares two answers."""
    return all({"answer_a", "answer_b"} <= set(predict.signature.input_fields) for predict in module.predictors())


def mirrored(item: Item) -> Item:
    """The same pair with the answers, and the agents, in the other order."""
    inputs = {SIDES.get(name, name): text for name, text in item.inputs.items()}
    shown = {} if item.pool is None else {SIDES[name]: text for name, text in item.pool.answers.items()}
    return replace(item, inputs=inputs, pool=item.pool and replace(item.pool, answers=shown))


def both_orders(piece: Piece) -> Piece:
    """A piece with every pair again, mirrored, behind them all."""
    return Piece(
        item_ids=piece.item_ids * 2,
        digests=(*piece.digests, *(sha256(MIRRORED + digest).digest()[:DIGEST_BYTES] for digest in piece.digests)),
        items=[*piece.items, *map(mirrored, piece.items)],
    )


def joined(found: Judgments, scale: Scale) -> Judgments:
    """Raw verdicts on pairs and, behind them all, on their mirror images, as ``prompt.verdicts`` says."""
    n = len(found.item_ids) // 2
    return _joined(found.subset(range(n)), mirror(found.subset(range(n, 2 * n)), scale), scale)


def mirror(judgments: Judgments, scale: Scale) -> Judgments:
    """Judgments of the mirrored items: a and b change places; a tie stays one."""
    places = places_mirrored(scale)
    return replace(
        judgments,
        probabilities=judgments.probabilities[..., places],
        grade=np.where(judgments.grade == UNSCORED, UNSCORED, places[judgments.grade]),
        score=expected(judgments.probabilities[..., places], scale.values),
    )


def symmetric(
    forward: Judgments, turned: Judgments, raw: Judgments | None, scale: Scale, *, stated: bool = False
) -> Judgments:
    """The mean of what a calibrated judge says of the pairs and, turned round, of their mirror images.

    A pair whose raw verdict flipped is a tie. So is one whose two sides are exactly as probable.

    Args:
        forward: The calibrated judgments of the pairs.
        turned: Those of the mirrored pairs, from their mirrored verdicts.
        raw: The pairs' raw verdicts, or None for a judge that reads the evidence alone.
        scale: The judge's scale.
        stated: The raw verdict is the grade.
    """
    spread = (forward.probabilities + mirror(turned, scale).probabilities) / 2.0
    scored = forward.scored[:, None] & np.ones_like(forward.grade, dtype=bool)
    flipped = None if raw is None else raw.flipped
    grade = raw.grade if stated and raw is not None else most_probable(spread, scale)
    if flipped is not None:
        grade = np.where(flipped[:, None], scale.position(TIE), grade)
    confidence = np.take_along_axis(spread, grade[..., None], axis=-1)[..., 0]
    return replace(
        forward,
        probabilities=spread,
        grade=np.where(scored, grade, UNSCORED),
        score=expected(spread, scale.values),
        confidence=np.where(scored, confidence, np.nan),
        flipped=flipped,
    )


def most_probable(spread: FloatArray, scale: Scale) -> IntArray:
    """The most probable class of each row; a tie where a and b are exactly as probable as each other."""
    places = places_mirrored(scale)
    best = np.nan_to_num(spread).argmax(axis=-1)
    other = np.take_along_axis(spread, places[best][..., None], axis=-1)[..., 0]
    chosen = np.take_along_axis(spread, best[..., None], axis=-1)[..., 0]
    return np.where((places[best] != best) & (chosen == other), scale.position(TIE), best)


def places_mirrored(scale: Scale) -> IntArray:
    """Place of each class in the mirror."""
    a, b = scale.position("a"), scale.position("b")
    places = np.arange(len(scale.grades))
    places[[a, b]] = b, a
    return places


def _joined(one: Judgments, other: Judgments, scale: Scale) -> Judgments:
    """Both orders as one verdict; ``other`` is already turned round."""
    scored = one.scored & other.scored
    differ = (one.grade != other.grade).any(axis=1) & scored
    spread = np.where(scored[:, None, None], (one.probabilities + other.probabilities) / 2.0, np.nan)
    grade = np.where(one.grade == other.grade, one.grade, scale.position(TIE))
    pairs = zip(one.unscored, other.unscored, strict=True)
    reasons = zip(one.rationale, other.rationale, strict=True)
    return replace(
        one,
        probabilities=spread,
        grade=np.where(scored[:, None], grade, UNSCORED),
        score=expected(spread, scale.values),
        accept=np.full_like(one.accept, UNSCORED),
        confidence=np.where(scored[:, None], (one.confidence + other.confidence) / 2.0, np.nan),
        rationale=tuple(f"{first}{EXCHANGED}{second}" if second else first for first, second in reasons),
        unscored=tuple(first or (second and f"{second} (answers exchanged)") for first, second in pairs),
        flipped=differ,
    )
