"""Reads JSON in a reply as models write it: in prose, with comments, single quotation marks, a comma too many."""

import json
import re
from collections.abc import Iterable, Iterator
from typing import TypeVar

from judgec.raters.replies.said import UnreadableReplyError

Found = TypeVar("Found")
MOST_PLACES = 300  # where a verdict may be stated, of one form

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


def pairs_of(body: str, *, nested: bool = False) -> list[tuple[str, object]]:
    """Names and values of an object, a name as often as it stands there; of a broken one what stands between its marks.

    Args:
        body: It, with its brackets.
        nested: Of the objects in it, too; else they are texts: whose grade stands there, nobody knows.
    """
    try:
        given = _load(body)
        if given is None:
            bare = LINE_COMMENT.sub(lambda part: part[0] if part[0][0] == '"' else "", body)
            given = _load(LAST_COMMA.sub(lambda part: part[0] if part[0] != "," else "", bare))
    except RecursionError:
        return []
    if given is not None:
        return list(_pairs(given, nested=nested))
    return [(found[1], found[2].strip("\"'")) for found in LOOSE_PAIR.finditer(body)]


def _pairs(given: object, *, nested: bool) -> Iterator[tuple[str, object]]:
    for name, value in given if isinstance(given, tuple) else ():
        inside = [one for one in (value if isinstance(value, list) else [value]) if isinstance(one, tuple)]
        if nested and inside:
            yield from (pair for one in inside for pair in _pairs(one, nested=nested))
        else:
            yield name, value if isinstance(value, str | int | float | None) else str(value)


def _load(body: str) -> tuple[tuple[str, object], ...] | None:
    """A number with a point stays as it is written: 5.00000000000000000001 is not 5."""
    try:
        given = json.loads(body, strict=False, object_pairs_hook=tuple, parse_float=str, parse_constant=str)
    except ValueError:
        return None
    return given if isinstance(given, tuple) else None
