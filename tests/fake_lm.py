"""A cheap, deterministic language model for tests: ``FAKE`` wherever a model is named, in this process.

It grades by the words that an answer shares with its reference and contexts, and misreads items by their text alone; it
is too generous until demonstrations show how experts grade, and misreads less then. ``conftest`` opens it in the place
of an endpoint.
"""

import json
import math
import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from unittest.mock import patch

from dspy.lm15 import Message, Request, Response, TextPart, TokenLogprob, TopLogprob, Usage

from judgec.lm import client
from judgec.lm.backend import Backend
from judgec.lm.endpoint.exchange import system_text
from judgec.lm.spec import LMSpec
from tests.prompts import Fields, Output, PromptParts, read_prompt, unquote
from tests.service.replies import digest

FAKE = "hosted_vllm/fake"
NOISE, TAUGHT_NOISE = 0.5, 0.2  # width of what it misreads, of the whole scale
GENEROUS = 0.25  # added before a demonstration shows better
SHARPNESS = 2.5  # how fast belief falls with each grade


class FakeLM:
    """Answers judge prompts in the adapter's format with the log-probabilities of the grades."""

    identity = "fake"

    def complete(self, request: Request) -> Response:
        """Answer one prompt; one that asks for no grade (a preflight) gets one word."""
        turns = [(message.role, message.text or "") for message in request.messages]
        prompt = read_prompt(system_text(request), turns)
        tokens = list(_reply(prompt)) if prompt.outputs else [TokenLogprob(token="ready", logprob=0.0)]
        text = "".join(one.token for one in tokens)
        return Response(
            id=None,
            model="fake",
            message=Message.assistant([TextPart(text)]),
            finish_reason="stop",
            usage=Usage(input_tokens=sum(len(said) for _, said in turns) // 4, output_tokens=len(text) // 4),
            logprobs=None if request.config.logprobs is None else tuple(tokens),
        )

    async def acomplete(self, request: Request) -> Response:
        """As ``complete``; there is nothing to wait for."""
        return self.complete(request)

    async def aclose(self) -> None:
        """Nothing is held."""


@contextmanager
def serving_fake() -> Iterator[None]:
    """For as long as the block lasts ``FAKE`` can be asked."""
    real = client.open_backend

    def opened(spec: LMSpec, environ: Mapping[str, str] | None = None) -> Backend:
        return FakeLM() if spec.model == FAKE else real(spec, environ)

    with patch.object(client, "open_backend", opened):
        yield


def _reply(prompt: PromptParts) -> Iterator[TokenLogprob]:
    """The reply as tokens; a grade is one, with its alternatives."""
    for number, output in enumerate(prompt.outputs):
        chances = _chances(prompt, output) if output.labels else {}
        value = max(chances, key=lambda label: chances[label]) if chances else _filler(output)
        before, after = f"[[ ## {output.name} ## ]]\n", "\n\n"
        if prompt.wants_json:
            quote = '"' if output.kind == "str" or "'" in output.kind else ""
            before, after = f'{"," if number else "{"}\n  "{output.name}": {quote}', quote
            value = value if chances or not quote else json.dumps(value)[1:-1]
        top = tuple(TopLogprob(token=one, logprob=math.log(p)) for one, p in chances.items())
        yield TokenLogprob(token=before, logprob=0.0)
        yield TokenLogprob(token=value, logprob=math.log(chances.get(value, 1.0)), top=top)
        yield TokenLogprob(token=after, logprob=0.0)
    yield TokenLogprob(token="\n}" if prompt.wants_json else "[[ ## completed ## ]]\n", logprob=0.0)


def _filler(output: Output) -> str:
    return {"int": "80", "float": "0.8"}.get(output.kind, "by the words that it shares")


def _chances(prompt: PromptParts, output: Output) -> dict[str, float]:
    """The probability of each label, the likeliest first."""
    top = len(output.labels) - 1
    shown = [demo for demo in prompt.demonstrations if demo.outputs.get(output.name) in output.labels]
    if {"answer_a", "answer_b"} <= prompt.inputs.keys():  # labels are a, b and ties
        lead = _score(prompt.inputs, "answer_a", bool(shown)) - _score(prompt.inputs, "answer_b", bool(shown))
        distances = [3 * (1 - lead), 3 * (1 + lead), *[2 + 2 * abs(lead)] * (top - 1)]
    else:
        score = _score(prompt.inputs, "answer", bool(shown))
        known = [
            output.labels.index(demo.outputs[output.name]) / top - _shared(demo.inputs, "answer") for demo in shown
        ]
        middle = min(max(score + (sum(known) / len(known) if known else GENEROUS), 0.0), 1.0) * top
        distances = [abs(position - middle) for position in range(top + 1)]
    weights = [math.exp(-SHARPNESS * distance) for distance in distances]
    ranked = sorted(zip(output.labels, weights, strict=True), key=lambda pair: -pair[1])
    return {label: max(weight / sum(weights), 1e-6) for label, weight in ranked}


def _score(inputs: Fields, answer: str, taught: bool) -> float:
    misread = digest(*(inputs.get(name, "") for name in ("query", "document", answer))) % 1000 / 1000 - 0.5
    return _shared(inputs, answer) + misread * (TAUGHT_NOISE if taught else NOISE)


def _shared(inputs: Fields, answer: str) -> float:
    """Mean share of the reference, of the answer and of the question that stand in answer, contexts and document."""
    said, asked = _words(inputs, answer), _words(inputs, "query")
    pairs = (
        (_words(inputs, "reference"), said),
        (said, _words(inputs, "contexts")),
        (asked, _words(inputs, "document")),
    )
    shares = [len(part & whole) / len(part) for part, whole in pairs if part and whole]
    return sum(shares) / len(shares) if shares else 0.0


def _words(inputs: Fields, name: str) -> set[str]:
    texts: Sequence[str] = unquote(inputs.get(name, ""))
    return set(re.findall(r"\w+", " ".join(texts).lower()))
