"""Turns the fields of a reply into values of a known type, sign and size: whoever answers may send anything.

A field that is not what it should be counts as not given. A reply that holds nothing to read is kept all the same,
under one of ``FAULTS`` in place of the reason why it ended: it was paid for, and a rerun must not ask for ever.
"""

import math

import orjson

BAD_SHAPE = "malformed"
TOO_LONG = "too_long"
REFUSED, FILTERED, CALLS_TOOL = "refusal", "content_filter", "tool_call"
NO_VALUE = "no_value"  # of a Python function
FAULTS = {
    REFUSED: "refusal",
    FILTERED: "content filter",
    CALLS_TOOL: "tool call",
    NO_VALUE: "function error",
    BAD_SHAPE: "malformed reply: not a chat completion",
    TOO_LONG: "malformed reply: longer than the tokens that were asked for",
}
FILTER_CODES = {"content_filter", "content_policy_violation", "ResponsibleAIPolicyViolation"}  # of HTTP errors
SETTLED = {REFUSED, FILTERED, NO_VALUE}  # the same question again would end in the same way
MOST_TOKENS = 10_000_000  # beyond every context window: a count that nobody can have billed
LONGEST_NAME = 200  # characters of a model's name
CERTAIN = 1e-3  # servers round log-probabilities up to a little over 0
TEXT_A_TOKEN = 16  # characters a token, at the most over a whole reply; English has 4
JSON_A_TOKEN = 6 * TEXT_A_TOKEN  # every character may come as \\uXXXX
JSON_AN_ALTERNATIVE = 256  # bytes: a token, its bytes as numbers, its log-probability
JSON_AROUND = 65_536  # bytes of a reply that are none of its tokens
MOST_BODY = 1 << 24  # bytes of a reply to what is no call of ours


def count(value: object) -> int | None:
    """A number of tokens; None when it is anything else."""
    return value if type(value) is int and 0 <= value <= MOST_TOKENS else None


def counted(body: bytes) -> bytes:
    """The body of a reply without those counts of tokens that are none; any other body as it is."""
    try:
        whole = orjson.loads(body) if b'"usage"' in body else None
    except orjson.JSONDecodeError:
        return body
    if not isinstance(whole, dict) or "usage" not in whole:
        return body
    usage = _counts(whole["usage"])
    return body if usage == whole["usage"] else orjson.dumps({**whole, "usage": usage})


def _counts(usage: object) -> dict[str, object]:
    given = usage.items() if isinstance(usage, dict) else ()
    inner = {name: _counts(value) if isinstance(value, dict) else value for name, value in given}
    return {name: value for name, value in inner.items() if _fits(name, value)}


def _fits(name: str, value: object) -> bool:
    if name.endswith("tokens"):
        return count(value) is not None
    return isinstance(value, dict) or "details" not in name


def seconds(value: object) -> float | None:
    """A length of time; None when it is anything else."""
    number = isinstance(value, int | float) and not isinstance(value, bool)
    return float(value) if number and 0 <= value < float("inf") else None  # type: ignore[arg-type,operator]  # a number


def text(value: object) -> str:
    """Valid Unicode; empty when it is no text."""
    if not isinstance(value, str):
        return ""
    return value if value.isascii() else value.encode("utf-8", "replace").decode()


def name(value: object) -> str:
    """A text of at most ``LONGEST_NAME`` characters."""
    return text(value)[:LONGEST_NAME]


def logprob(value: object, lowest: float) -> float:
    """A natural log-probability, at least ``lowest``.

    Raises:
        ValueError: When it is none.
    """
    if type(value) not in {int, float} or math.isnan(value) or value > CERTAIN:  # type: ignore[arg-type,operator]  # a number, by the first condition
        raise ValueError("no log-probability")
    return min(max(float(max(value, lowest)), lowest), 0.0)  # type: ignore[call-overload]  # as above


def most_text(tokens: int) -> int:
    """Characters that a reply of so many tokens can have."""
    return JSON_AROUND // 16 + TEXT_A_TOKEN * tokens


def most_bytes(tokens: int, alternatives: int) -> int:
    """Bytes that the body of a reply can have, with so many alternatives a token, or 0 without log-probabilities."""
    beside = JSON_AN_ALTERNATIVE * (alternatives + 1) if alternatives else 0
    return JSON_AROUND + tokens * (JSON_A_TOKEN + beside)
