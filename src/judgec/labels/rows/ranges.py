"""The range of a judge's numbers, where it is not the scale's: 0-1 of a metric beside grades 1-5.

A column is looked at as a whole, before any cell of it is read as a grade: the 1.0 of a metric is its best value, and
the worst grade of 1-5.
"""

import math
import re
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from judgec.errors import UserError
from judgec.records.label import FloatArray

MARK = "#range="  # behind the name of a column or file: AI score#range=0..1
MOST_OFF = 0.05  # share of numbers off the scale; a column with more of them has another range
LEAST_OFF = 2  # numbers: a single one is a slip in whatever short a column
LEAST_NUMBERS = 20  # so many numbers tell that a judge never goes higher
BEYOND = 0.2  # share of the labels above a judge's best number; a strict judge leaves fewer out altogether
USUAL_TOPS = (1, 2, 3, 4, 5, 6, 7, 10, 20, 100)
ROUNDED = 1e-9  # of a range: what floating point may be off at its ends


@dataclass(frozen=True, slots=True)
class Range:
    """From the number that means worst to the one that means best; the first may be the larger."""

    worst: float
    best: float

    def __str__(self) -> str:
        return f"{self.worst:g}..{self.best:g}"

    @classmethod
    def parse(cls, text: str, where: str) -> "Range":
        """``0..1``, or ``5..1`` where low is good.

        Raises:
            UserError: Anything else.
        """
        found = re.fullmatch(r"\s*([-+]?\d+(?:\.\d+)?)\s*\.\.\s*([-+]?\d+(?:\.\d+)?)\s*", text)
        if found is None or float(found[1]) == float(found[2]):
            raise UserError(
                f"{where}: range {text!r}; two different numbers, the worst first, as in {MARK}0..1 are valid. "
                "Correct it."
            )
        return cls(float(found[1]), float(found[2]))

    def onto(self, numbers: FloatArray, low: float, high: float) -> FloatArray:
        """The numbers on a scale from ``low`` to ``high``, linearly; NaN outside the range."""
        share = (np.asarray(numbers, dtype=np.float64) - self.worst) / (self.best - self.worst)
        inside = (share >= -ROUNDED) & (share <= 1 + ROUNDED)
        return np.asarray(np.where(inside, low + share.clip(0.0, 1.0) * (high - low), np.nan))


def interval_scale(text: str) -> dict[str, object]:
    """The scale that ``--scale 1..5`` declares: an interval scale from its worst to its best number.

    Raises:
        UserError: It is no range, or the higher number stands first.
    """
    found = Range.parse(text, "--scale")
    if found.worst > found.best:
        raise UserError(f"--scale {text}: the higher number stands first; the worst first is valid. Turn it round.")
    return {"level": "interval", "grades": [int(end) if end == int(end) else end for end in (found.worst, found.best)]}


def with_range(named: str) -> tuple[str, Range | None]:
    """``NAME#range=0..1`` as the name and the range; without one as it is.

    Raises:
        UserError: No range behind the mark.
    """
    name, mark, text = named.rpartition(MARK)
    return (name, Range.parse(text, named)) if mark else (named, None)


def other_range(
    numbers: FloatArray, counts: FloatArray, off: FloatArray, values: Sequence[float], shares: Sequence[float]
) -> Range | None:
    """The range that a judge's numbers seem to have where it is not that of the scale, else None.

    It is another one where more than a few numbers are off the scale; and where the numbers stand in the lower half of
    the scale, as 0-1 and 1-3 do on 0-5 and 1-5, while many labels are above all of them.

    Args:
        numbers: Different numbers of the judge.
        counts: How often it gave each.
        off: 1 for those that are off the scale, else 0.
        values: What the grades of the scale stand for; none where they are words.
        shares: How large a share of the labels has each grade.
    """
    total, strange = float(counts.sum()), float((counts * off).sum())
    if strange >= LEAST_OFF and strange > MOST_OFF * total:
        return usual_range(numbers)
    kept = np.sort(numbers[off == 0])
    if not len(values) or not len(shares) or total < LEAST_NUMBERS or len(kept) < 2:
        return None
    found = usual_range(kept)
    steps = len(kept) > 2 and bool((kept == np.floor(kept)).all()) and kept[0] <= 1
    if not steps and found != Range(0.0, 1.0):
        return None
    above = sum(share for value, share in zip(values, shares, strict=True) if value > found.best)
    narrow = found.best - found.worst <= (values[-1] - values[0]) / 2
    return found if narrow and above >= BEYOND else None


def usual_range(numbers: FloatArray) -> Range:
    """The narrowest range that people use which holds all of these: 0-1, 1-3, 0-4, 1-10, 0-100, -1 to 1."""
    low, high = float(numbers.min()), float(numbers.max())
    whole = bool((numbers == np.floor(numbers)).all())
    top = float(next((one for one in USUAL_TOPS if high <= one), math.ceil(high)))
    if low < 0:
        return Range(-1.0, 1.0) if low >= -1 and high <= 1 else Range(math.floor(low), max(top, math.floor(low) + 1.0))
    bottom = 0.0 if low < 1 or top <= 1 or (top >= 20 or (not whole and top == 1)) else 1.0
    return Range(bottom, top)
