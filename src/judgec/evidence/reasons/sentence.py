"""Writes the sentence that says what decided, from the topics that moved a score most, for and against."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from judgec.evidence.reasons.parts import said, speaks
from judgec.evidence.reasons.phrases import ASIDE, EITHER, GOOD, MERIT, PLAIN
from judgec.records.label import FloatArray, IntArray

CERTAIN = 1e6  # put before every contribution: faults and merits that are always named
UNLIKELY = -1e6  # put behind: facts of the right side that moved the score to the other one
LAST = 1e-9  # of what an answer has of its own: after every contribution
WORTH = 0.1  # of the largest contribution to an item: a smaller one is not worth a phrase
LEADING, OTHER = 2, 1  # phrases of the grade's own side, and of the other one
MOST_LEADING, MOST_OTHER = 3, 2  # with faults or merits that are always named
SIMILAR = "the grades of labelled items that look like it"


@dataclass(frozen=True, slots=True)
class Wording:
    """The words for the two sides, and the text where no phrase tells why."""

    up: str
    down: str
    similar: str = SIMILAR


OF_GRADES = Wording("In its favour: ", "Against it: ")
OF_PAIRS = Wording("For answer a: ", "For answer b: ")


def sentences_of(
    packed: Sequence[bytes], moved: FloatArray, upward: NDArray[np.bool_], wording: Wording = OF_GRADES
) -> list[str]:
    """A sentence an item.

    Args:
        packed: The items' parts.
        moved: What each topic added to the score, against an item of average features; shape (n_items, n_topics).
        upward: Whether the sentence begins with what speaks for a high score, shape (n_items,).
        wording: Names of the sides.
    """
    if not packed:
        return []
    codes = speaks(packed)
    up, down = _ranked(codes, moved), _ranked(-codes, -moved, plain=-PLAIN)
    first, second = (np.where(upward[:, None], a, b) for a, b in ((up, down), (down, up)))
    order, keep = _chosen(first, LEADING, MOST_LEADING)
    keep |= (np.arange(MOST_LEADING) == 0) & (np.take_along_axis(first, order[:, :1], axis=1) > 2 * UNLIKELY)
    leading = np.where(keep, order, -1)
    # What is said already is not said again on the other side.
    np.put_along_axis(second, order, np.where(keep, -np.inf, np.take_along_axis(second, order, axis=1)), axis=1)
    order, keep = _chosen(np.where(second == LAST, -np.inf, second), OTHER, MOST_OTHER)
    others = np.where(keep, order, -1)
    names = (wording.down, wording.up)
    out = []
    for item, top, lead, other in zip(packed, upward.tolist(), leading.tolist(), others.tolist(), strict=True):
        lines = said(item)
        text = names[top] + ("; ".join([lines[i] for i in lead if i >= 0]) or wording.similar)
        rest = "; ".join([lines[i] for i in other if i >= 0])
        out.append(f"{text}. {names[not top]}{rest}." if rest else f"{text}.")
    return out


def _ranked(codes: NDArray[np.int8], moved: FloatArray, plain: int = PLAIN) -> FloatArray:
    """Rank of each phrase as speaking for a high score; -inf where it does not at all."""
    least = WORTH * np.abs(moved).max(axis=1, keepdims=True)
    helps = (moved > 0) & (moved >= least)
    either = (codes == EITHER) | (codes == plain)
    rank = np.where(helps & (either | (codes == GOOD)), moved, -np.inf)
    rank = np.where(((codes == GOOD) | (codes == plain)) & ~helps, UNLIKELY + moved, rank)
    rank = np.where(codes == ASIDE, LAST, rank)
    sure = (codes == MERIT) | ((codes == plain) & (moved > 0))
    return np.where(sure, CERTAIN + moved, rank)


def _chosen(rank: FloatArray, usual: int, most: int) -> tuple[IntArray, NDArray[np.bool_]]:
    """The topics that deserve most to be named, the first one first, and which of them are."""
    order: IntArray = np.argsort(-rank, axis=1, kind="stable")[:, :most]
    ranks = np.take_along_axis(rank, order, axis=1)
    keep = (ranks > CERTAIN / 2) | ((ranks > 0) & (np.arange(most) < usual)) | (ranks == LAST)
    return order, keep
