"""Replies that no model writes: every field of every wrong kind, and what makes a careless reader slow."""

import json
import random
from collections.abc import Iterator

from tests.service.replies import JsonObject

GOOD = "[[ ## reason ## ]]\nfine\n\n[[ ## grade ## ]]\n4\n\n[[ ## confidence ## ]]\n80\n\n[[ ## completed ## ]]"
ODD: tuple[object, ...] = (
    None, True, False, 0, -1, 1, "100", "many", "", 1.5, -0.0, 1e308, float("inf"), float("nan"), 10**30, -(10**19),
    [], [[]], {}, {"": {}}, [None], ["x", 5], {"tokens": "many"}, "\ud800", "\x00", "x" * 5000, [{}] * 50,
)  # fmt: skip
PATHS: tuple[tuple[str | int, ...], ...] = (
    (), ("choices",), ("choices", 0), ("choices", 0, "message"), ("choices", 0, "message", "content"),
    ("choices", 0, "message", "refusal"), ("choices", 0, "message", "tool_calls"), ("choices", 0, "message", "role"),
    ("choices", 0, "finish_reason"), ("choices", 0, "logprobs"), ("choices", 0, "logprobs", "content"),
    ("choices", 0, "logprobs", "content", 0), ("choices", 0, "logprobs", "content", 5, "token"),
    ("choices", 0, "logprobs", "content", 5, "logprob"), ("choices", 0, "logprobs", "content", 5, "top_logprobs"),
    ("choices", 0, "logprobs", "content", 5, "top_logprobs", 0),
    ("choices", 0, "logprobs", "content", 5, "top_logprobs", 0, "token"),
    ("choices", 0, "logprobs", "content", 5, "top_logprobs", 0, "logprob"),
    ("usage",), ("usage", "prompt_tokens"), ("usage", "completion_tokens"), ("usage", "total_tokens"),
    ("usage", "prompt_tokens_details"), ("usage", "prompt_tokens_details", "cached_tokens"),
    ("usage", "completion_tokens_details"), ("usage", "completion_tokens_details", "reasoning_tokens"),
    ("model",), ("id",), ("created",), ("object",), ("error",), ("system_fingerprint",), ("service_tier",),
)  # fmt: skip
# Pieces whose repetition makes parsers backtrack, repair or nest.
SLOW = (
    '{"', '{"a":', "[", "{", '"', '\\"', "{'", '{"grade":', '{"grade":5,', ",", ", ", '"a":', "[[ ## grade ## ]]\n",
    "[[ ## ", "[[ ## a", "\n", "\n ", "`", "```json\n", "}", "{}", "5 - ", "4 (", "4: a", "\u2028", "I can't ", "\\u00",
    "\ud83d", "é", "-", "9", "0.", "<think>",
)  # fmt: skip


def body(text: object = GOOD) -> JsonObject:
    """A good reply in full, log-probabilities included."""
    pieces = ["[[", " ##", " grade", " ##", " ]]\n", "4", "\n"]
    top = [{"token": "4", "logprob": -0.1, "bytes": [52]}, {"token": "5", "logprob": -2.0, "bytes": [53]}]
    content = [{"token": piece, "logprob": -0.1, "bytes": None, "top_logprobs": list(top)} for piece in pieces]
    message = {"role": "assistant", "content": text}
    choice = {"index": 0, "message": message, "finish_reason": "stop", "logprobs": {"content": content}}
    usage: JsonObject = {"prompt_tokens": 10, "completion_tokens": 5, "total_tokens": 15}
    usage |= {"prompt_tokens_details": {"cached_tokens": 2}, "completion_tokens_details": {"reasoning_tokens": 0}}
    about = {"id": "x", "object": "chat.completion", "created": 0, "model": "x"}
    return {**about, "choices": [choice], "usage": usage}


def replaced(path: tuple[str | int, ...], value: object) -> object:
    """A good reply in which one field has another value."""
    whole: object = body()
    if not path:
        return value
    *way, last = path
    place = whole
    for step in way:
        place = place[step]  # type: ignore[index]  # a path of ``PATHS``
    place[last] = value  # type: ignore[index]  # as above
    return whole


def shapes(count: int, seed: int = 0, size: int = 20_000) -> Iterator[bytes]:
    """Bodies: first each field with each odd value, then slow texts, cut bodies and noise."""
    draw = random.Random(seed)
    fields = [(path, value) for path in PATHS for value in ODD]
    for number in range(count):
        if number < len(fields):
            yield _bytes(replaced(*fields[number]))
            continue
        pieces = draw.choices(SLOW, k=draw.randint(1, 3))
        unit = "".join(pieces)
        text = (unit * (1 + draw.randint(1, size) // len(unit))) + draw.choice(["", GOOD, '"}', "}" * 50])
        if draw.random() < 0.5:
            text = draw.choice(["{", "", "[[ ## grade ## ]]\n", '{"reason": "', GOOD, "4 - "]) + text
        whole = body(text)
        if draw.random() < 0.3:
            whole["choices"][0]["logprobs"] = {  # type: ignore[index]  # as ``body`` makes it
                "content": [{"token": unit, "logprob": -0.1, "top_logprobs": [{"token": "5", "logprob": -1}]}] * 500
            }
        raw = _bytes(whole)
        kind = draw.random()
        if kind < 0.1:
            raw = raw[: draw.randint(0, len(raw))]
        elif kind < 0.15:
            raw = draw.randbytes(draw.randint(0, 2000))
        elif kind < 0.2:
            raw = unit.encode("utf-8", "replace") * 4000
        yield raw


def _bytes(value: object) -> bytes:
    return json.dumps(value).encode()
