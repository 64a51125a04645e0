"""Log-probabilities of a reply, cut down to what a verdict needs, in one form for every backend.

A reply is a run of spans that together spell its text. The first tokens of each field's value keep their
alternatives; everything between them is merged into one span, whose log-probability is the sum (that of the
run). A reply of a hundred tokens with eight alternatives each is 100 kB of JSON; this form is a few hundred
bytes.
"""

import json
import math
import re
from bisect import bisect_left
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, NamedTuple

from dspy.lm15 import TokenLogprob, TopLogprob

from judgec.lm.endpoint import untrusted

LOWEST = -9999.0  # what OpenAI reports for "impossible"; JSON has no minus infinity
LEAST_MASS = 0.5  # share of the alternatives that must be grades before they count as a verdict

# Where a field's value begins: after a ChatAdapter header, or after a JSON key.
_VALUE = re.compile(r'(?:\[\[ ## (\w+) ## \]\]|"(\w+)"\s*:)[\s"]*')


class Span(NamedTuple):
    """One token, or a run of them without alternatives.

    Args:
        text: What it spells.
        logprob: Its natural log-probability; the sum over a run.
        top: The alternatives with theirs, most likely first; empty for a run.
    """

    text: str
    logprob: float
    top: tuple[tuple[str, float], ...] = ()


Logprobs = tuple[Span, ...]


def condense(tokens: Iterable[TokenLogprob] | None) -> Logprobs | None:
    """The tokens of a reply as spans, or None when no value in it has alternatives."""
    given = list(tokens or ())
    return _condense(
        [(token.token, token.logprob) for token in given], lambda i: [(t.token, t.logprob) for t in given[i].top]
    )


def condense_entries(entries: Sequence[Mapping[str, Any]]) -> Logprobs | None:
    """The same from OpenAI's JSON, ``choices[0].logprobs.content``; None, too, when it is not of that form."""
    if not entries:
        return None
    try:
        return _condense(
            [(entry["token"], entry["logprob"]) for entry in entries],
            lambda i: [(t["token"], t["logprob"]) for t in entries[i].get("top_logprobs") or ()],
        )
    except (KeyError, TypeError, ValueError, AttributeError):
        return None


def _condense(
    tokens: Sequence[tuple[str, float]], alternatives: Callable[[int], Iterable[tuple[str, float]]]
) -> Logprobs | None:
    """None when a token is no text or a log-probability is none."""
    try:
        return _spans([(_text(spelled), untrusted.logprob(own, LOWEST)) for spelled, own in tokens], alternatives)
    except ValueError:
        return None


def _spans(
    tokens: Sequence[tuple[str, float]], alternatives: Callable[[int], Iterable[tuple[str, float]]]
) -> Logprobs | None:
    starts = [match.end() for match in _VALUE.finditer("".join(text for text, _ in tokens))]
    kept: list[Span] = []
    run: list[str] = []  # of tokens without alternatives
    run_logprob = 0.0
    position = following = 0  # in the text; in ``starts``
    for number, (text, own) in enumerate(tokens):
        position += len(text)
        before, following = following, bisect_left(starts, position, lo=following)
        top = (
            ()
            if following == before
            else tuple((_text(t), untrusted.logprob(p, LOWEST)) for t, p in alternatives(number))
        )
        if following == before or not top:
            run.append(text)
            run_logprob += own
            continue
        if run:
            kept.append(Span("".join(run), run_logprob))
            run, run_logprob = [], 0.0
        kept.append(Span(text, own, top))
    if run:
        kept.append(Span("".join(run), run_logprob))
    return tuple(kept) if any(span.top for span in kept) else None


def _text(value: object) -> str:
    if not isinstance(value, str):
        raise ValueError("no token")  # noqa: TRY004 - read as data, not as an argument
    return untrusted.text(value)


def label_probabilities(
    logprobs: Logprobs | None, field: str, labels: Sequence[str], *, after: int = 0
) -> tuple[float, ...] | None:
    """Probabilities that the model gives the labels of one output field.

    Read at the first token of the value: an alternative counts for the label that it spells or begins.
    Alternatives that are no label are left out and the rest is normalized.

    Args:
        logprobs: Of the whole reply.
        field: Name of the output field.
        labels: What it may hold, as written.
        after: Characters of the reply that are reasoning.

    Returns:
        One probability a label, summing to 1, or None when it cannot be read: no log-probabilities, no such
        field, a first token that two labels share (``0`` of 0 and 0.5), or less than half of the mass on
        labels.
    """
    if not logprobs:
        return None
    text = "".join(span.text for span in logprobs)
    start = next((m.end() for m in _VALUE.finditer(text, after) if field in m.groups()), None)
    if start is None:
        return None
    position = 0
    for span in logprobs:
        end = position + len(span.text)
        if position <= start < end:
            return _spread(span, labels)
        position = end
    return None


def dump(logprobs: Logprobs | None) -> str | None:
    """As JSON for the journal."""
    return None if logprobs is None else json.dumps(logprobs, ensure_ascii=False, separators=(",", ":"))


def load(text: str | None) -> Logprobs | None:
    """From the journal's JSON."""
    if text is None:
        return None
    return tuple(
        Span(spelled, logprob, tuple((token, p) for token, p in top)) for spelled, logprob, top in json.loads(text)
    )


def to_tokens(logprobs: Logprobs | None) -> tuple[TokenLogprob, ...] | None:
    """As DSPy's response type, one entry a span."""
    if logprobs is None:
        return None
    return tuple(
        TokenLogprob(
            token=span.text,
            logprob=span.logprob,
            top=tuple(TopLogprob(token=token, logprob=p) for token, p in span.top),
        )
        for span in logprobs
    )


def _spread(span: Span, labels: Sequence[str]) -> tuple[float, ...] | None:
    mass = dict.fromkeys(labels, 0.0)
    for token, logprob in span.top:
        beginning = token.strip(' \t\r\n"')
        meant = [label for label in labels if beginning and label.startswith(beginning)]
        if len(meant) > 1:
            # "1" of 1 and 10 spells the 1: digits come in one token; "0" of 0 and 0.5 does not.
            exact = [label for label in meant if label == beginning]
            if not exact or any(not label[len(beginning) :][:1].isdigit() for label in meant if label != beginning):
                return None
            meant = exact
        for label in meant:
            mass[label] += math.exp(logprob)
    whole = sum(mass.values())
    if whole < LEAST_MASS:
        return None
    return tuple(mass[label] / whole for label in labels)
