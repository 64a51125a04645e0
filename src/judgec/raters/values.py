"""Reads values: cells of recorded verdicts, and what functions return."""

import json
from collections.abc import Mapping

import numpy as np

from judgec.labels.rows.ranges import Range
from judgec.raters.decision import spread_of, stated_grades
from judgec.raters.replies.fields import Verdict, read_grade
from judgec.raters.replies.said import UnreadableReplyError, short
from judgec.records.label import FloatArray
from judgec.records.scale import ACCEPT_SCALE, Scale
from judgec.table.rows.cells import as_accept, as_grade, as_number

OFF = "off-scale grade"  # how the reason of a value begins that is none of the scale
ROUNDED = 0.01  # by which probabilities may miss 1


def read_value(
    value: object, scale: Scale, within: Range | None = None, *, accept_only: bool = False
) -> FloatArray | None:
    """The distribution that a value states; None off the scale.

    A grade is certain; a number between two grades is shared between them, so that its mean is kept.

    Args:
        value: Of a cell, or of a function.
        scale: The grades.
        within: From the worst to the best number, where numbers are not grades.
        accept_only: Words of accept and reject are valid, and nothing else.
    """
    number = as_number(value)
    spread = np.zeros(len(scale.grades))
    if within is not None:
        inside = within.onto(np.array([np.nan if number is None else number]), scale.values[0], scale.values[-1])[0]
        return None if np.isnan(inside) else _shared(float(inside), scale)
    if accept_only:
        word = as_grade(value)
        accept = None if word is None else as_accept(word)
        if accept is None:
            return None
        spread[int(accept)] = 1.0
        return spread
    position = read_grade(value, scale)  # a cell may hold the whole reply
    if position is not None:
        spread[position] = 1.0
        return spread
    ordered = scale.level != "nominal" and not any(isinstance(grade, str) for grade in scale.grades)
    if not ordered or number is None or not scale.values[0] <= number <= scale.values[-1]:
        return None
    return _shared(number, scale)


def read_function(text: str, aspects: tuple[str, ...], scale: Scale) -> Verdict:
    """The verdict of a function (``lm.functions``).

    Args:
        text: JSON of value, reason and range, as ``FunctionBackend`` writes it.
        aspects: What is graded; of several, the value is a mapping by aspect.
        scale: The grades.

    Raises:
        UnreadableReplyError: The value is off the scale, no distribution, or lacks an aspect.
    """
    said = json.loads(text)
    value, reason = said["value"], said["reason"]
    within = None if said["range"] is None else Range(*said["range"])
    if len(aspects) > 1 and not (isinstance(value, dict) and set(aspects) <= value.keys()):
        raise UnreadableReplyError(f"{OFF}: {short(str(value))}; {', '.join(aspects)} are needed", final=True)
    rows = []
    for aspect in aspects:
        given = value[aspect] if len(aspects) > 1 else value
        row = _distribution(given, scale) if isinstance(given, dict) else _value(given, scale, within)
        if row is None:
            raise UnreadableReplyError(f"{OFF}: {short(str(given))}", final=True)
        rows.append(row)
    probabilities = np.array(rows)
    positions = tuple(stated_grades(probabilities, scale).tolist())
    return Verdict(positions, probabilities, float("nan"), reason)


def _value(value: object, scale: Scale, within: Range | None) -> FloatArray | None:
    if isinstance(value, bool) and within is not None:
        value = int(value)
    elif isinstance(value, bool) and len(scale.grades) == 2 and scale.level != "nominal":
        value = scale.grades[value]
    return read_value(value, scale, within, accept_only=scale.grades == ACCEPT_SCALE.grades)


def _distribution(given: Mapping[str, object], scale: Scale) -> FloatArray | None:
    """Probabilities by grade, summing to 1 after rounding; None where they are no such thing."""
    spread = np.zeros(len(scale.grades))
    for name, share in given.items():
        position = read_grade(name, scale)  # "1.0", too: the key of a float
        if position is None or not isinstance(share, int | float):
            return None
        spread[position] += share
    total = float(spread.sum())
    return spread / total if (spread >= 0).all() and np.isfinite(total) and abs(total - 1.0) <= ROUNDED else None


def _shared(number: float, scale: Scale) -> FloatArray:
    """A number within the scale shared between the two neighbouring grades, so that its mean is kept."""
    spread: FloatArray = spread_of(np.array([number]), np.array(scale.values))[0]
    return spread
