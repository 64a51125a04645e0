"""Reads a reply strictly: a grade on the scale, or the reason why there is none.

Formatting is forgiven (``" 4 "``, ``"4.0"``, ``"**4**"``, ``"4 (good)"``). ``4.5`` lies half way between two grades of
the scale 1-5: each gets half of the probability, and the stated grade is the even one. Else a grade is never guessed:
``4.3``, ``4-5``, ``8/10`` and ``4 out of 5`` are off the scale, and so is a grade that its comment takes back
(``refusals.TABLE``). Whatever a reply holds, reading it takes time in proportion to its length.
"""

import json
import math
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from itertools import pairwise

import numpy as np

from judgec.judges.decision import stated_grades
from judgec.judges.refusals import refuses, takes_back
from judgec.judges.signatures import CONFIDENCE, REASONS
from judgec.records.label import FloatArray
from judgec.records.scale import Scale

HEADER = re.compile(r"^[ \t]*\[\[ ## (\w+) ## \]\]", re.MULTILINE)
PROSE = {*REASONS, "completed"}  # what stands there is no verdict
WRAPPING = " \t\r\n\"'`*_"
# "4 (good)", "4: good", "4 - good": a comment holds no digit, so that no second grade hides in it.
COMMENT = re.compile(r"(?P<grade>.+?)\s*(?:\(|:\s|[-–—]\s)\s*(?P<comment>[^\W\d][^\d]*)")
NUMBER = re.compile(r"[-+]?\d{1,30}(\.\d{0,30})?")
# A JSON object on lines of its own, in a fence or not, with nothing beside it that could be another one.
OBJECT_START = re.compile(r"^[ \t]*(?=\{)", re.MULTILINE)
# A string of JSON, closed or not (so that no part of a text is gone through twice), or a comma before a bracket.
STRING_OR_COMMA = re.compile(r'"(?:[^"\\]|\\.)*(?:"|\Z|\\\Z)|,(?=\s*[}\]])', re.DOTALL)
WHOLE = "stop"  # why a reply ended that says all that it was to say
LONGEST = 200  # characters of a grade with a comment; more is an essay
SHOWN = 60  # characters of a bad reply in the reason


OFF_SCALE = "recorded grade off the scale"
UNREAD = ("malformed reply", "off-scale grade", OFF_SCALE)  # how reasons begin of verdicts that are there, and not read


class UnreadableReplyError(Exception):
    """A reply without a verdict; the message becomes the reason of an unscored row."""


@dataclass(frozen=True, slots=True)
class Verdict:
    """One reply.

    Args:
        positions: The stated grade of each aspect, as positions on the scale.
        probabilities: Of each grade, shape (n_aspects, n_grades); rows sum to 1.
        confidence: The stated confidence, 0-1; NaN when none was stated.
        reason: The stated reason.
    """

    positions: tuple[int, ...]
    probabilities: FloatArray
    confidence: float
    reason: str


def read_fields(text: str, parse: Callable[[str], Mapping[str, object]], finish: str = WHOLE) -> Mapping[str, object]:
    """The output fields of a reply: as the prompt's own reader has them, or as they stand where it gives up.

    Args:
        text: The reply.
        parse: Reads the usual form; raises when a reply has another one.
        finish: Why the reply ended. In one that was cut, a field that nothing follows may lack its end.

    Raises:
        UnreadableReplyError: When there is no field in the reply at all, or a field has two different values, or the
            reply was cut within a field that is no prose.
    """
    pieces = HEADER.split(text)
    stated = [(name, value.strip()) for name, value in zip(pieces[1::2], pieces[2::2], strict=True)]
    fields = _once(stated)
    if finish != WHOLE and stated:
        last = stated[-1][0]
        if last == CONFIDENCE:
            del fields[last]
            return fields
        if last not in PROSE:
            raise UnreadableReplyError(f"malformed reply: it was cut ({finish}) before {last} ended")
    try:
        return parse(text)
    except Exception:  # noqa: BLE001  # plugins' parsers raise any type; whatever it was, the reply is read by hand
        given = _json_object(text) if not stated or text.lstrip().startswith("{") else {}
    fields = _once([*given.items(), *fields.items()])
    if not fields:
        if not text.strip():
            raise UnreadableReplyError("empty reply")
        kind = "refusal" if refuses(text) else "malformed reply"
        raise UnreadableReplyError(f"{kind}: {_short(text)}")
    return fields


def _json_object(text: str) -> dict[str, object]:
    """The fields of the one JSON object in a reply; none when there is no other way to read it than to guess.

    A number with a point stays as it is written: 5.00000000000000000001 is not 5.
    """
    start = OBJECT_START.search(text)
    if start is None or "{" in text[: start.start()]:
        return {}
    end = text.rfind("}") + 1
    body = text[start.end() : end]
    if text[end:].strip("` \t\r\n"):
        return {}
    try:
        given = _load(body)
        if given is None:
            given = _load(STRING_OR_COMMA.sub(lambda part: part[0] if part[0] != "," else "", body))
        return {name: value if _plain(value) else str(value) for name, value in (given or {}).items()}
    except RecursionError:
        return {}


def _load(body: str) -> dict[str, object] | None:
    try:
        given = json.loads(body, strict=False, object_pairs_hook=_once, parse_float=str, parse_constant=str)
    except ValueError:
        return None
    return given if isinstance(given, dict) else None


def _plain(value: object) -> bool:
    return value is None or isinstance(value, str | int | float)


def _once(stated: Sequence[tuple[str, object]]) -> dict[str, object]:
    """Each field with its value; of prose, the first one.

    Raises:
        UnreadableReplyError: For two different values: one of them may be a forged verdict that the reason quotes.
    """
    seen: dict[str, object] = {}
    for name, value in stated:
        if name not in PROSE and seen.setdefault(name, value) != value:
            raise UnreadableReplyError(f"malformed reply: {_short(name)} stated twice, differently")
        seen.setdefault(name, value)
    return seen


def read_verdict(
    fields: Mapping[str, object], names: Sequence[str], scale: Scale, distributions: Mapping[str, FloatArray]
) -> Verdict:
    """The verdict in the fields of a reply.

    Args:
        fields: From ``read_fields``.
        names: The grade field of each aspect.
        scale: The judge's scale.
        distributions: From log-probabilities, keyed by grade field, shape (n_grades,). A grade without one
            has probability 1: a stated confidence is none until experts' labels say what it is worth.

    Raises:
        UnreadableReplyError: When a grade is missing or off the scale.
    """
    positions = []
    probabilities = np.zeros((len(names), len(scale.grades)))
    for row, name in enumerate(names):
        if name not in fields:
            raise UnreadableReplyError(f"malformed reply: no {name}; got {', '.join(fields)}")
        position = read_grade(fields[name], scale)
        neighbours = read_between(fields[name], scale) if position is None else None
        if neighbours is not None:
            probabilities[row, list(neighbours)] = 0.5
            positions.append(int(stated_grades(probabilities[row : row + 1], scale)[0]))
            continue
        if position is None:
            raise UnreadableReplyError(f"off-scale grade: {name} {_short(str(fields[name]))!r}")
        positions.append(position)
        if name in distributions:
            probabilities[row] = distributions[name]
        else:
            probabilities[row, position] = 1.0
    return Verdict(
        positions=tuple(positions),
        probabilities=probabilities,
        confidence=read_confidence(fields.get(CONFIDENCE)),
        reason=str(next((fields[name] for name in REASONS if name in fields), "")).strip(),
    )


def read_grade(value: object, scale: Scale) -> int | None:
    """Position of the grade that a value states, or None when it is not on the scale."""
    if isinstance(value, bool):
        return None
    text = str(value).strip(WRAPPING).rstrip(".")
    position = _position(text, scale)
    if position is not None or len(text) > LONGEST or (commented := COMMENT.fullmatch(text)) is None:
        return position
    return None if takes_back(commented["comment"]) else _position(commented["grade"].strip(WRAPPING), scale)


def read_between(value: object, scale: Scale) -> tuple[int, int] | None:
    """Positions of the two neighbouring grades that a number lies exactly half way between, or None."""
    text = str(value).strip(WRAPPING)
    numbers = not any(isinstance(grade, str) for grade in scale.grades)
    if isinstance(value, bool) or not numbers or not re.fullmatch(r"[-+]?\d{1,9}\.\d{1,9}", text):
        return None
    for low, (worse, better) in enumerate(pairwise(scale.values)):
        if float(text) == (worse + better) / 2.0:
            return low, low + 1
    return None


def is_unread(reason: str) -> bool:
    """Whether an unscored row has a verdict that could not be read, rather than none: no refusal and no failure."""
    return reason.startswith(UNREAD)


def read_confidence(value: object) -> float:
    """A stated confidence of 0-100 as 0-1; NaN when it is missing or anything else.

    Between 0 and 1 it may be a percentage or a fraction, so it counts as not stated.
    """
    stated = re.fullmatch(r"\d+(\.\d+)?", str(value).strip(WRAPPING + "%"))
    percent = float(stated.group()) if stated else math.nan
    return percent / 100 if percent == 0 or 1 <= percent <= 100 else math.nan


def _position(text: str, scale: Scale) -> int | None:
    words = [str(grade).casefold() for grade in scale.grades]
    if text.casefold() in words:
        return words.index(text.casefold())
    if any(isinstance(grade, str) for grade in scale.grades) or not NUMBER.fullmatch(text):
        return None
    exact = Decimal(text)  # as a float, 5.00000000000000000001 would be 5
    return next((at for at, value in enumerate(scale.values) if Decimal(repr(value)) == exact), None)


def _short(text: str) -> str:
    line = " ".join(text.split())
    return line if len(line) <= SHOWN else f"{line[: SHOWN - 1]}…"
