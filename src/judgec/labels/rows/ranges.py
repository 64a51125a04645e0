"""The range of a judge's numbers, where it is not the scale's: 0-1 of a metric beside grades 1-5. It is declared."""

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from judgec.errors import UserError
from judgec.records.label import FloatArray
from judgec.records.scale import Grade
from judgec.table.rows.cells import as_grade

MARK = "#range="  # behind the name of a column or file: AI score#range=0..1
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


def as_judges(value: object, where: str = "--judges") -> dict[str, str]:
    """The range of each judge by its name, empty where its numbers are on the scale.

    Args:
        value: ``A,B=0..1`` as it is typed; names; or a mapping of names to ``"0..1"``, ``(0, 1)``, ``""`` or None.
        where: What messages call it.

    Raises:
        UserError: A range that is none, or a name twice.
    """
    if isinstance(value, Mapping):
        pairs = [(str(name), _range_text(one)) for name, one in value.items()]
    else:
        names = value.split(",") if isinstance(value, str) else value if isinstance(value, Iterable) else [value]
        parts = [str(one).strip().rpartition("=") for one in names]
        pairs = [(name, text) if mark and ".." in text else (f"{name}{mark}{text}", "") for name, mark, text in parts]
    found: dict[str, str] = {}
    for name, text in pairs:
        if name in found:
            raise UserError(f"{where}: {name} twice; once is valid. Drop one.")
        found[name] = str(Range.parse(text, f"{where} {name}")) if text else ""
    found.pop("", None)
    return found


def _range_text(value: object) -> str:
    if value is None or isinstance(value, str):
        return value or ""
    return "..".join(map(str, value)) if isinstance(value, Iterable) else str(value)


def ranges_of(judges: Mapping[str, str]) -> dict[str, Range]:
    """The ranges that are declared, by judge."""
    return {name: Range.parse(text, name) for name, text in judges.items() if text}


def scale_of_grades(grades: Sequence[str]) -> dict[str, object] | None:
    """The scale that ``--grades`` declares, worst first: ``1..5``, ``5..1``, or each grade; None where it is not given.

    Numbers that do not rise are words, whose order is theirs.

    Raises:
        UserError: A range whose ends are no whole numbers.
    """
    if len(grades) != 1:
        listed = [text if (grade := as_grade(text)) is None else grade for text in grades]
        numbers = [grade for grade in listed if not isinstance(grade, str)]
        falling = len(numbers) == len(listed) and numbers != sorted(numbers)
        return {"grades": list(grades) if falling else listed} if grades else None
    ends = Range.parse(grades[0], "--grades")
    if int(ends.worst) != ends.worst or int(ends.best) != ends.best:
        raise UserError(f"--grades {grades[0]}: whole numbers are valid; --scale {grades[0]} declares any numbers.")
    return {"grades": list(_between(int(ends.worst), int(ends.best)))}


def grades_to(best: Grade | None, seen: Iterable[int]) -> tuple[Grade, ...] | None:
    """The whole numbers from the lowest to the highest seen, worst first; None where ``best`` is neither of these."""
    ends = sorted({*seen})
    if len(ends) < 2 or best not in (ends[0], ends[-1]):
        return None
    return _between(ends[0], ends[-1]) if best == ends[-1] else _between(ends[-1], ends[0])


def _between(worst: int, best: int) -> tuple[Grade, ...]:
    """The whole numbers of a scale, worst first; where the lowest is best they are words, whose order is theirs."""
    return tuple(range(worst, best + 1)) if worst < best else tuple(map(str, range(worst, best - 1, -1)))
