"""The embedded evidence engine: an in-context learner behind ``dspy.LM``, with no weights and no language
model.

It is given nothing but the prompt. From it, it reads the grades that are allowed, the item and the
demonstrations, computes evidence for each, and answers in the adapter's format with a reason, a confidence
and the log-probabilities of the grades, the way an OpenAI-compatible endpoint would.
"""

import json
import math
from collections.abc import Iterator, Sequence
from functools import lru_cache

import numpy as np
from dspy.lm15 import (
    InvalidRequestError,
    Message,
    Request,
    Response,
    TextPart,
    TokenLogprob,
    TopLogprob,
    Usage,
)
from scipy.special import ndtr

from judgec.evidence.prompt_features import QUICK_INTERCEPT, QUICK_NAMES, QUICK_PRIOR, quick_features
from judgec.lm.embedded.learner import LinearScore, learn
from judgec.lm.embedded.prompt import Demonstration, Fields, Output, PromptParts, read_prompt, unquote
from judgec.lm.embedded.prose import write_prose
from judgec.lm.endpoint.exchange import system_text
from judgec.lm.prices import BYTES_PER_TOKEN
from judgec.records.label import FloatArray

VERSION = 2  # raise it when the same prompt would get another reply
SHOWN = 3  # pieces of evidence named in the reason
PAIR_SCALE = 1.0  # a difference of 1 between two answers' scores is a sure win
TIE_SHARE, TIE_WEIGHT = 0.15, 8.0  # share of ties expected, and how many demonstrations that is worth
LEAST = 1e-6  # no grade is impossible: log-probabilities stay finite

_SLOPES: FloatArray = np.array(QUICK_PRIOR)
_LABEL = {
    "context_support": "the contexts support {:.0%} of what the answer adds",
    "reference_recall": "the answer gives {:.0%} of the reference",
    "reference_f1": "its wording overlaps the reference by {:.0%}",
    "question_coverage": "it covers {:.0%} of the question",
    "document_support": "the document contains {:.0%} of the query",
}


class EmbeddedEngine:
    """Answers judge prompts from evidence; deterministic, in about a millisecond."""

    local = True
    identity = f"evidence-engine-{VERSION}"

    def complete(self, request: Request) -> Response:
        """Answer one prompt.

        Raises:
            InvalidRequestError: When the prompt asks for what the engine cannot write.
        """
        turns = [(message.role, message.text or "") for message in request.messages]
        system = system_text(request)
        prompt = read_prompt(system, turns)
        if any(output.labels for output in prompt.outputs):
            pieces = list(_write(prompt))
        elif (prose := write_prose(system, prompt)) is not None:
            pieces = list(_written(prompt, prose))
        else:
            raise InvalidRequestError(
                "the embedded evidence engine answers only prompts that ask for one of several grades, for search "
                "queries, for grades of passages or for an answer from them; name a language model with --lm or "
                "--reflection-lm"
            )
        text = "".join(piece for piece, _ in pieces)
        size = len(system) + sum(len(turn) for _, turn in turns)
        return Response(
            id=None,
            model="embedded",
            message=Message.assistant([TextPart(text)]),
            finish_reason="stop",
            usage=Usage(input_tokens=size // BYTES_PER_TOKEN, output_tokens=len(text) // BYTES_PER_TOKEN),
            logprobs=None if request.config.logprobs is None else _tokens(pieces),
        )

    async def acomplete(self, request: Request) -> Response:
        """As ``complete``; there is nothing to wait for."""
        return self.complete(request)

    async def aclose(self) -> None:
        """Nothing is held."""


Spread = dict[str, float]


def _write(prompt: PromptParts) -> Iterator[tuple[str, Spread | None]]:
    """The reply in pieces; a grade comes with the probability of each label."""
    verdicts = {output.name: _judge(prompt, output) for output in prompt.outputs if output.labels}
    sure = min(max(spread.values()) for spread in verdicts.values())
    reason = _reason(prompt)
    for number, output in enumerate(prompt.outputs):
        spread = verdicts.get(output.name)
        if spread is not None:
            value = max(spread, key=lambda label: spread[label])
        elif output.kind in {"int", "float"}:
            value = str(round(100 * sure)) if output.kind == "int" else f"{sure:.2f}"
        else:
            value = reason
        if prompt.wants_json:
            quote = '"' if output.kind == "str" or "'" in output.kind else ""
            yield ("{" if number == 0 else ",") + f'\n  "{output.name}": {quote}', None
            yield (value if spread or not quote else json.dumps(value)[1:-1]), spread
            yield quote, None
        else:
            yield f"[[ ## {output.name} ## ]]\n", None
            yield value, spread
            yield "\n\n", None
    yield ("\n}" if prompt.wants_json else "[[ ## completed ## ]]\n"), None


def _written(prompt: PromptParts, prose: dict[str, str]) -> Iterator[tuple[str, Spread | None]]:
    """The reply that gives these fields."""
    if prompt.wants_json:
        yield json.dumps(prose, ensure_ascii=False), None
        return
    for name, text in prose.items():
        yield f"[[ ## {name} ## ]]\n{text}\n\n", None
    yield "[[ ## completed ## ]]\n", None


def _judge(prompt: PromptParts, output: Output) -> Spread:
    shown = tuple(demo for demo in prompt.demonstrations if output.name in demo.outputs)
    if {"answer_a", "answer_b"} <= prompt.inputs.keys():
        return _compare(prompt.inputs, shown, output)
    return _grade(prompt.inputs, shown, output)


def _grade(inputs: Fields, shown: tuple[Demonstration, ...], output: Output) -> Spread:
    top = len(output.labels) - 1
    learned = _learn_grades(_frozen(shown, output), output.labels)
    middle = min(max(learned.score(_features(inputs, "answer")), 0.0), 1.0) * top
    edges = (np.arange(top) + 0.5 - middle) / max(learned.error * top, 0.2)
    below = np.concatenate([[0.0], ndtr(edges), [1.0]])
    return _spread(output.labels, np.diff(below))


def _compare(inputs: Fields, shown: tuple[Demonstration, ...], output: Output) -> Spread:
    first, second = output.labels[0], output.labels[1]
    learned, ties = _learn_pairs(_frozen(shown, output), output.labels)
    lead = learned.score(_features(inputs, "answer_a") - _features(inputs, "answer_b"))
    if len(output.labels) == 2:
        ties = 0.0
    # Answers of equal score tie with the share of ties; a lead of one standard error makes a tie unlikely.
    margin = learned.error * (ties + 0.5 * ties**2) * 1.7
    chances = {
        first: float(ndtr((lead - margin) / learned.error)),
        second: float(ndtr((-lead - margin) / learned.error)),
    }
    rest = max(1.0 - sum(chances.values()), 0.0)
    others = output.labels[2:]
    return _spread(output.labels, np.array([*chances.values(), *[rest / len(others)] * len(others)]))


def _spread(labels: Sequence[str], chances: FloatArray) -> Spread:
    chances = np.maximum(chances, LEAST)
    return dict(zip(labels, (float(p) for p in chances / chances.sum()), strict=True))


_Shown = tuple[tuple[tuple[tuple[str, str], ...], str], ...]


def _frozen(shown: tuple[Demonstration, ...], output: Output) -> _Shown:
    """Demonstrations as a key: what was learned from them is kept for the next item with the same prompt."""
    return tuple((tuple(demo.inputs.items()), demo.outputs[output.name]) for demo in shown)


@lru_cache(maxsize=512)
def _learn_grades(shown: _Shown, labels: tuple[str, ...]) -> LinearScore:
    known = [(dict(inputs), labels.index(grade)) for inputs, grade in shown if grade in labels]
    features = [_features(inputs, "answer") for inputs, _ in known]
    targets = np.array([position for _, position in known], dtype=float) / (len(labels) - 1)
    return learn(np.array(features).reshape(len(known), len(QUICK_NAMES)), targets, QUICK_INTERCEPT, _SLOPES)


@lru_cache(maxsize=512)
def _learn_pairs(shown: _Shown, labels: tuple[str, ...]) -> tuple[LinearScore, float]:
    win = {labels[0]: PAIR_SCALE, labels[1]: -PAIR_SCALE}
    known = [(dict(inputs), win.get(choice, 0.0)) for inputs, choice in shown if choice in labels]
    features = [_features(inputs, "answer_a") - _features(inputs, "answer_b") for inputs, _ in known]
    matrix = np.array(features).reshape(len(known), len(QUICK_NAMES))
    targets = np.array([target for _, target in known], dtype=float)
    ties = (TIE_SHARE * TIE_WEIGHT + float(np.sum(targets == 0))) / (TIE_WEIGHT + len(known))
    return learn(matrix, targets, 0.0, _SLOPES, centred=True), ties


def _features(inputs: Fields, answer: str) -> FloatArray:
    def text(*names: str) -> str:
        return "\n\n".join(next((unquote(inputs[name]) for name in names if name in inputs), ()))

    contexts = next((unquote(inputs[name]) for name in ("contexts", "context", "passages") if name in inputs), ())
    return np.array(
        quick_features(
            text("query", "question"),
            text(answer, "response"),
            text("reference"),
            contexts,
            text("document", "passage"),
        )
    )


def _reason(prompt: PromptParts) -> str:
    pair = {"answer_a", "answer_b"} <= prompt.inputs.keys()
    said = []
    for name in ("answer_a", "answer_b") if pair else ("answer",):
        values = dict(zip(QUICK_NAMES, _features(prompt.inputs, name), strict=True))
        notes = [phrase.format(values[key]) for key, phrase in _LABEL.items() if values[key] > 0]
        if values["empty"]:
            notes = ["there is no answer"]
        elif values["refusal"] >= 0.5:
            notes = ["it declines to answer", *notes]
        if values["number_conflict"]:
            notes = ["its numbers differ from the reference's", *notes]
        lead = f"{name.replace('_', ' ')}: " if pair else ""
        said.append(lead + ("; ".join(notes[:SHOWN]) or "no evidence either way"))
    shown = len(prompt.demonstrations)
    learnt = f" Learned from {shown} demonstrations." if shown else ""
    return f"Evidence only: {'. '.join(said)}.{learnt}"


def _tokens(pieces: Sequence[tuple[str, Spread | None]]) -> tuple[TokenLogprob, ...]:
    tokens = []
    for text, spread in pieces:
        if not text:
            continue
        ranked = sorted((spread or {}).items(), key=lambda pair: -pair[1])
        tokens.append(
            TokenLogprob(
                token=text,
                logprob=math.log(spread[text]) if spread else 0.0,
                top=tuple(TopLogprob(token=label, logprob=math.log(chance)) for label, chance in ranked),
            )
        )
    return tuple(tokens)
