"""Reads JSON in a reply as models write it: in prose, with comments, single quotation marks, a comma too many."""

import json
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import TypeVar

from judgec.raters.replies.said import UnreadableReplyError

Found = TypeVar("Found")
MOST_PLACES = 300  # where a verdict may be stated, of one form

HOLDERS = {"value", "score", "grade", "rating"}  # fields that hold what the object around them is called

_STRING = r'"(?:[^"\\]|\\.)*(?:"|\Z|\\\Z)'
BRACE = re.compile(rf"{_STRING}|[{{}}]", re.DOTALL)
LINE_COMMENT = re.compile(rf"{_STRING}|//[^\n]*", re.DOTALL)
LAST_COMMA = re.compile(rf"{_STRING}|,(?=\s*[}}\]])", re.DOTALL)
LOOSE_PAIR = re.compile(
    r"""["'](\w{1,40})["']\s{0,5}:\s{0,5}"""
    r"""("(?:[^"\\\n]|\\.){0,200}"|'[^'\n]{0,200}'|[-+]?[\d.]{1,40}|true|false|null)(?=\s{0,5}[,}\n/])"""
)


def few(found: Iterable[Found]) -> Iterator[Found]:
    """Places where a verdict may be stated, no more than anybody writes: who repeats itself for ever says nothing.

    Raises:
        UnreadableReplyError: There are more.
    """
    for n, one in enumerate(found):
        if n >= MOST_PLACES:
            raise UnreadableReplyError(f"malformed reply: more than {MOST_PLACES:,} verdicts")
        yield one


def objects_in(text: str) -> Iterator[tuple[int, int]]:
    """Begin and end of each outermost object; one that is not closed ends with the last bracket."""
    if "{" not in text:
        return
    depth, start = 0, 0
    for found in BRACE.finditer(text, text.index("{")):
        if found[0] == "{":
            start = found.start() if not depth else start
            depth += 1
        elif found[0] == "}" and depth:
            depth -= 1
            if not depth:
                yield start, found.end()
    if depth and (last := text.rfind("}")) > start:
        yield start, last + 1


def pairs_of(body: str) -> list[tuple[str, object]]:
    """Names and values of an object, of objects in it, too; of one that is broken what stands between its marks."""
    try:
        given = _load(body)
        if given is None:
            bare = LINE_COMMENT.sub(lambda part: part[0] if part[0][0] == '"' else "", body)
            given = _load(LAST_COMMA.sub(lambda part: part[0] if part[0] != "," else "", bare))
    except RecursionError:
        return []
    if given is not None:
        return list(_flat(given))
    return [(found[1], found[2].strip("\"'")) for found in LOOSE_PAIR.finditer(body)]


@dataclass(frozen=True, slots=True)
class _Object:
    """Every pair of a JSON object: a name may stand in it twice."""

    pairs: list[tuple[str, object]]


def _flat(given: _Object, outer: str = "") -> Iterator[tuple[str, object]]:
    """``{"score": {"value": 3}}`` names a score, ``{"clarity": {"score": 3}}`` a clarity_score."""
    for name, value in given.pairs:
        inside = value if isinstance(value, list) else [value]
        if any(isinstance(one, _Object) for one in inside):
            for one in inside:
                yield from _flat(one, name) if isinstance(one, _Object) else ()
        else:
            held = outer if name.casefold() == "value" else f"{outer}_{name}"
            named = held if outer and name.casefold() in HOLDERS else name
            yield named, value if isinstance(value, str | int | float) or value is None else str(value)


def _load(body: str) -> _Object | None:
    """A number with a point stays as it is written: 5.00000000000000000001 is not 5."""
    try:
        given = json.loads(body, strict=False, object_pairs_hook=_Object, parse_float=str, parse_constant=str)
    except ValueError:
        return None
    return given if isinstance(given, _Object) else None
