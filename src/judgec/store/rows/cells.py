"""Reads one cell: missing, text, a grade, accept or reject."""

import json
import math
import re
from collections.abc import Iterable

from judgec.records.claim import NUGGETS, OKAY, VITAL, Nugget, as_nugget, written
from judgec.records.scale import Grade

ACCEPT_WORDS = frozenset({"1", "true", "t", "yes", "y", "accept", "accepted", "pass", "passed", "correct"})
REJECT_WORDS = frozenset({"0", "false", "f", "no", "n", "reject", "rejected", "fail", "failed", "incorrect"})
MISSING_WORDS = frozenset({"", "na", "n/a", "nan", "null"})  # in a label; in a text they are words
DASHES = frozenset({"-", "–", "—"})  # a blank label, where "+" is none

LARGEST = 1e15  # of a grade; above it, floats do not tell whole numbers apart

_NUMBER = re.compile(r"[-+]?\d+(\.\d+)?")
_ANY_NUMBER = re.compile(r"[-+]?(\d{1,30}(\.\d{0,30})?|\.\d{1,30})([eE][-+]?\d{1,3})?")
_WITH_COMMA = re.compile(r"[-+]?\d+,\d+")
_WHOLE = re.compile(r"[-+]?\d+")
_SURROGATES = re.compile("[\ud800-\udfff]")  # JSON can escape half a character; UTF-8 cannot store it


def is_missing(value: object) -> bool:
    """True for None, NaN, blank text, an empty list."""
    if isinstance(value, str):
        return not value or value.isspace()
    return value is None or value == [] or (isinstance(value, float) and math.isnan(value))


def as_text(value: object) -> str:
    """Any value as text: booleans as JSON writes them, bytes decoded, lists and objects as JSON."""
    if isinstance(value, str):
        if value.isascii():
            return value
        try:
            value.encode()  # far faster than searching
        except UnicodeEncodeError:
            return _SURROGATES.sub("\ufffd", value)
        return value
    if isinstance(value, bytes):
        return value.decode("utf-8", "replace")
    if isinstance(value, bool | list | dict):
        return as_text(json.dumps(value, ensure_ascii=False, default=str))
    return str(value)


def as_id(value: object) -> str:
    """An identifier: trimmed; 7.0, which Parquet makes of a column of numbers with gaps, is 7."""
    if isinstance(value, float) and value.is_integer():
        return str(int(value))
    return as_text(value).strip()


def as_parts(value: object) -> list[object]:
    """What a list holds, a JSON list too; anything else is the one part."""
    if isinstance(value, str) and value.lstrip().startswith("["):
        try:
            parsed = json.loads(value)
        except json.JSONDecodeError:
            parsed = None  # a passage that happens to begin with a bracket
        value = parsed if isinstance(parsed, list) else value
    return list(value) if isinstance(value, list | tuple) else [value]


def as_texts(value: object) -> tuple[tuple[str, ...], int]:
    """Contexts as texts, and how many were no text: a list, a JSON list, or one text."""
    present = [part for part in as_parts(value) if not is_missing(part)]
    return tuple(map(as_text, present)), sum([not isinstance(part, str) for part in present])


def as_nuggets(value: object) -> tuple[tuple[str, ...], int]:
    """Nuggets as texts that say how important each is, and how many were neither text nor object.

    A list of texts (``vital: ...``, ``okay: ...``; without a word vital) or of objects with ``text`` and
    ``importance``, as TREC's nuggetizer writes them; a JSON list; or one text with a nugget a line.

    Raises:
        ValueError: An object without a text, or of another importance.
    """
    if isinstance(value, str) and not value.lstrip().startswith("["):
        value = value.splitlines()
    texts, count = as_texts(value)
    return tuple(written(_nugget(text)) for text in texts), count - sum(text.startswith("{") for text in texts)


def _nugget(text: str) -> Nugget:
    if not text.startswith("{"):
        return as_nugget(text)
    try:
        given = json.loads(text)
    except json.JSONDecodeError:
        return as_nugget(text)
    said, importance = given.get("text"), given.get("importance") or VITAL
    if importance not in {VITAL, OKAY} or not isinstance(said, str) or not said.strip():
        seen = f"importance {importance!r}" if importance not in {VITAL, OKAY} else f"text {said!r}"
        raise ValueError(f"{NUGGETS}: {seen}; a text that is {VITAL} or {OKAY} is needed. Mend the nugget, or drop it.")
    return Nugget(said.strip(), importance)


def as_grade(value: object) -> Grade | None:
    """A grade: "3", 3.0 and "3.0" are 3; words are trimmed; None when missing."""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, int | float):
        if isinstance(value, float) and math.isnan(value):
            return None
        if abs(value) > LARGEST:
            return str(value)  # a word: no scale has such a grade
        return int(value) if isinstance(value, int) or value.is_integer() else value
    text = "" if value is None else as_text(value).strip()
    if text.lower() in MISSING_WORDS:
        return None
    if _NUMBER.fullmatch(text):
        return as_grade(float(text))
    return text


def as_number(value: object) -> float | None:
    """A finite number, also written as text; None for anything else, true and false among it."""
    if isinstance(value, bool) or value is None:
        return None
    if isinstance(value, int | float):
        return float(value) if math.isfinite(value) else None
    text = str(value).strip()
    number = float(text) if _ANY_NUMBER.fullmatch(text) else math.nan
    return number if math.isfinite(number) else None


def with_points(values: Iterable[object]) -> list[object]:
    """A column's cells with a point where a decimal comma was, as long as its texts are nothing but such numbers.

    ``0,75`` beside ``1,00`` and ``2`` is a number; beside any other text, as in a list of grades, it stays as it is.
    """
    cells = list(values)
    texts = {text for cell in cells if isinstance(cell, str) and (text := cell.strip()).lower() not in MISSING_WORDS}
    commas = {text for text in texts if _WITH_COMMA.fullmatch(text)}
    if not commas or not all(_WHOLE.fullmatch(text) for text in texts - commas):
        return cells
    return [cell.strip().replace(",", ".") if isinstance(cell, str) else cell for cell in cells]


def is_accept_word(grade: Grade) -> bool:
    """True when a word says accept or reject; numbers are grades, not words."""
    return isinstance(grade, str) and grade.lower() in ACCEPT_WORDS | REJECT_WORDS


def as_accept(grade: Grade) -> bool | None:
    """Accept or reject, or None when ``grade`` says neither."""
    word = str(grade).lower()
    if word in ACCEPT_WORDS:
        return True
    return False if word in REJECT_WORDS else None
