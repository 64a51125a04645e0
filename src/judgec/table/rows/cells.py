"""Reads one cell: missing, text, a grade, accept or reject."""

import ast
import json
import math
import re
import warnings
from collections.abc import Mapping
from itertools import pairwise

from judgec.records.claim import NUGGETS, OKAY, VITAL, Nugget, as_nugget, written
from judgec.records.scale import Grade

ACCEPT_WORDS = frozenset({"1", "true", "t", "yes", "y", "accept", "accepted", "pass", "passed"})
REJECT_WORDS = frozenset({"0", "false", "f", "no", "n", "reject", "rejected", "fail", "failed"})
MISSING_WORDS = frozenset(
    {"", "na", "n/a", "#n/a", "<na>", "n.a.", "nan", "nat", "null"}
)  # in a label; in a text words

LARGEST = 1e15  # of a grade; above it, floats do not tell whole numbers apart

_NUMBER = re.compile(r"[-+]?\d+(\.\d+)?")
_ANY_NUMBER = re.compile(r"[-+]?(\d{1,30}(\.\d{0,30})?|\.\d{1,30})([eE][-+]?\d{1,3})?")
_STRING = r"""'(?:\\.|[^'\\])*'|"(?:\\.|[^"\\])*\""""
_PIECE = re.compile(rf"{_STRING}|\bNone\b|\bnan\b", re.DOTALL)
_SPACED = re.compile(rf"\[\s*(?:{_PIECE.pattern})(?:\s+(?:{_PIECE.pattern}))*\s*\]", re.DOTALL)
_SENTENCE = re.compile(r"[.!?…]['\")\]]?\s+$")
_LIST = re.compile(r"(?:\[|array\()\s*(?:['\"\[{(]|Document\()")
DOCUMENT_TEXT = ("page_content", "text", "content", "passage", "chunk", "body")  # keys of a document's text
NUGGET_TEXT = ("text", "criterion", "nugget")  # keys of a nugget's words
DOCUMENT_IN = ("document", "node", "doc", "payload", "metadata")  # keys of a document within what was retrieved
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


def as_texts(value: object) -> tuple[tuple[str, ...], int]:
    """Contexts as texts, and how many were no text: a list, one as JSON, Python, numpy or pandas print it, or one text.

    A document (a dict with ``page_content``, ``text`` or ``content``) gives its text.
    """
    found = [(part, text_in(part)) for part in as_parts(value) if not is_missing(part)]
    texts = tuple(as_text(part) if text is None else text for part, text in found)
    return texts, sum(not isinstance(part, str) and (text is None or _is_media(part, text)) for part, text in found)


def _is_media(part: object, text: str) -> bool:
    """True where only the kind of a part is told, as of an image."""
    return isinstance(part, dict) and text == f"[{part.get('type')}]"


def text_in(value: object) -> str | None:
    """The text of a document as retrievers give it; None of anything else."""
    if isinstance(value, dict):
        for key in DOCUMENT_TEXT:
            if isinstance(value.get(key), str):
                return as_text(value[key])
        inner = [found for key in DOCUMENT_IN if (found := text_in(value.get(key))) is not None]
        if inner:
            return inner[0]
        kind = value.get("type")
        return f"[{kind}]" if isinstance(kind, str) and isinstance(value.get(kind), dict | str) else None  # an image
    if isinstance(value, list | tuple) and len(value) > 1 and all(isinstance(one, int | float) for one in value[1:]):
        return text_in(value[0])  # with its scores
    return None


def is_unread_list(value: object) -> bool:
    """True for text that looks like a printed list and cannot be read as one."""
    if not isinstance(value, str):
        return False
    text = value.strip()
    opens = bool(_LIST.match(text)) or (text[:1] == "[" and text[-1:] == "]" and "," in text and "]" not in text[:-1])
    return opens and printed_list(text) is None


def printed_list(text: str) -> list[object] | None:
    """The list that somebody printed: JSON, Python's ``['a', "b"]``, numpy's ``['a' 'b']``, ``array([...])``.

    None where it is none: a passage may begin with a bracket.
    """
    text = text.strip()
    if text.startswith('"['):  # encoded twice
        try:
            inner = json.loads(text)
        except (json.JSONDecodeError, RecursionError):
            return None
        return printed_list(inner) if isinstance(inner, str) else None
    if not text.startswith(("[", "(", "{", "array(", "{'")):
        return None
    try:
        parsed = json.loads(text)
    except (json.JSONDecodeError, RecursionError):
        parsed = _printed(text)
    if isinstance(parsed, dict):
        return [parsed] if text_in(parsed) is not None or _listed_in(parsed) is not None else None
    return parsed if isinstance(parsed, list) else None


def _printed(text: str) -> object:
    if _SPACED.fullmatch(text):
        pieces = _PIECE.findall(text)
        wrapped = all("\n" in gap for gap in _PIECE.split(text)[1:-1]) and _is_one_text(pieces)
        if len(pieces) > 1 and not wrapped:  # Python would join them, which numpy puts side by side
            text = f"[{', '.join(pieces)}]"
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of backslashes in somebody's text
            return _literal(ast.parse(text, mode="eval").body)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None


def _is_one_text(pieces: list[str]) -> bool:
    """True for lines of one text as ``pprint`` wraps it: each as full as one width allows, not each a sentence."""
    texts = [one[1:-1] for one in pieces]
    if not all(one.endswith(" ") for one in texts[:-1]) or all(_SENTENCE.search(one) for one in texts[:-1]):
        return False
    fuller = [len(one) + len(after.split(" ")[0]) for one, after in pairwise(texts)]
    return max(map(len, texts)) < min(fuller, default=0) + 2  # brackets take a place or two of the first and last


def _literal(node: ast.expr) -> object:
    """The value of a printed expression; nothing is run.

    Raises:
        ValueError: It is none.
    """
    if isinstance(node, ast.Constant):
        return node.value
    if isinstance(node, ast.List | ast.Tuple | ast.Set):
        return [_literal(one) for one in node.elts]
    if isinstance(node, ast.Dict):
        pairs = zip(node.keys, node.values, strict=True)
        return {str(_literal(key)): _literal(value) for key, value in pairs if key is not None}
    if isinstance(node, ast.Name) and node.id.lower() in {"nan", "null", "true", "false", "object", "none"}:
        return {"true": True, "false": False}.get(node.id.lower())
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub) and isinstance(node.operand, ast.Constant):
        number = node.operand.value
        if isinstance(number, int | float):
            return -number
    if isinstance(node, ast.Call):
        if node.args:  # array([...], dtype=object), Series([...]), list([...])
            return _literal(node.args[0])
        return {one.arg: _literal(one.value) for one in node.keywords if one.arg}  # Document(page_content=..., ...)
    raise ValueError(ast.dump(node))


def as_parts(value: object) -> list[object]:
    """The content of a cell: the elements of a list, else itself."""
    if isinstance(value, str):
        found = printed_list(value)
        if found is None or (value.lstrip()[:1] == "(" and not all(isinstance(one, str) for one in found)):
            return [value]
        nested = len(found) == 1 and isinstance(found[0], list) and all(isinstance(one, str) for one in found[0])
        value = found[0] if nested or (len(found) == 1 and isinstance(found[0], dict)) else found
    if isinstance(value, dict) and text_in(value) is None:
        value = _listed_in(value) or [value]
    if hasattr(value, "tolist"):  # an array in a DataFrame
        value = value.tolist()
    return list(value) if isinstance(value, list | tuple) else [value]


def _listed_in(value: Mapping[str, object]) -> list[object] | None:
    """The only list of texts or documents in an object, such as ``{"chunks": [...]}``."""
    lists = [
        one
        for one in value.values()
        if isinstance(one, list) and one and all(isinstance(each, str) or text_in(each) is not None for each in one)
    ]
    return lists[0] if len(lists) == 1 else None


def as_nuggets(value: object) -> tuple[tuple[str, ...], int]:
    """Nuggets as texts that say how important each is, and how many were neither text nor object.

    A list of texts (``vital: ...``, ``okay: ...``, ``+3: ...``; without a word vital) or of objects with ``text`` and
    ``importance``, as TREC's nuggetizer writes them, or ``criterion`` and ``points``, as HealthBench does; a JSON list;
    or one text with a nugget a line. What people found of an object is not read: it would tell a judge.

    Raises:
        ValueError: An object without a text, of another importance, or whose weight is no number.
    """
    if isinstance(value, str) and not value.lstrip().startswith("["):
        value = value.splitlines()
    parts = [part for part in as_parts(value) if not is_missing(part)]
    odd = sum(not isinstance(part, str | dict) for part in parts)
    return tuple(written(_nugget(as_text(part))) for part in parts), odd


def _nugget(text: str) -> Nugget:
    if not text.startswith("{"):
        return as_nugget(text)
    try:
        given = json.loads(text)
    except json.JSONDecodeError:
        return as_nugget(text)
    said = next((given[name] for name in NUGGET_TEXT if given.get(name)), None)
    importance = given.get("importance") or VITAL
    points = next((given[name] for name in ("weight", "points") if given.get(name) is not None), None)
    weight = None if points is None else as_number(points)
    faults = {
        f"importance {importance!r}": importance not in {VITAL, OKAY},
        f"weight {points!r}": weight is None and points is not None,
        f"text {said!r}": not isinstance(said, str) or not said.strip(),
    }
    if seen := next((fault for fault, applies in faults.items() if applies), ""):
        raise ValueError(
            f"{NUGGETS}: {seen}; a text that is {VITAL} or {OKAY} is needed, or one with a number as its weight. "
            "Mend the nugget, or drop it."
        )
    return Nugget(str(said).strip(), importance, weight)


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


def is_accept_word(grade: Grade) -> bool:
    """True when a word says accept or reject; numbers are grades, not words."""
    return isinstance(grade, str) and grade.lower() in ACCEPT_WORDS | REJECT_WORDS


def as_accept(grade: Grade) -> bool | None:
    """Accept or reject, or None when ``grade`` says neither."""
    word = str(grade).lower()
    if word in ACCEPT_WORDS:
        return True
    return False if word in REJECT_WORDS else None
