"""Reads the verdicts of judges that were saved with the evidence engine, which stood in for a model before 2026-11-27.

Only such a judge opens it: its calibrator was fitted on what the engine said, so that it has to say the same again. The
engine reads the grades that are allowed, the item and the demonstrations from the prompt, computes evidence for each,
learns from the demonstrations, and answers in the adapter's format with the log-probabilities of the grades.
"""

import ast
import json
import math
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from math import log1p

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

from judgec.evidence.answer_features import read_answer, refuses
from judgec.evidence.overlap import contains_run, f1, gram_orders, lcs, ratio, soft_support, support
from judgec.evidence.reference_features import alternatives
from judgec.evidence.text import FUNCTION_STEMS, Library, StemmedText
from judgec.lm.endpoint.exchange import system_text
from judgec.lm.prices import BYTES_PER_TOKEN
from judgec.records.label import FloatArray

QUICK_NAMES = (
    "context_support",
    "context_bigrams",
    "context_worst_sentence",
    "reference_recall",
    "reference_f1",
    "reference_contained",
    "number_conflict",
    "refusal",
    "refusal_unwarranted",
    "empty",
    "question_coverage",
    "document_support",
    "document_lcs",
    "length",
)
"""What each position of ``quick_features`` holds, all within 0..1."""

QUICK_PRIOR = (0.9, 0.2, 0.2, 0.7, 0.0, 0.2, -0.1, -0.2, -0.3, -0.5, 0.0, 1.0, 0.3, 0.0)
"""Prior mean of the slopes of a linear score on 0..1: support and reference recall carry it."""

QUICK_INTERCEPT = -0.2
"""Prior mean of the intercept: ``QUICK_INTERCEPT + features @ QUICK_PRIOR`` is the score without
demonstrations.

0 is bad and 1 good; it passes 1 where contexts and reference both agree. Clipping it before ranking
would make ties of the best answers and so flatter tau-b.
"""

FUNCTION_WORD_WEIGHT = 0.1  # of a content word: without a corpus there is no IDF

_library = Library()


@lru_cache(maxsize=20_000)
def quick_features(
    query: str, answer: str, reference: str = "", contexts: tuple[str, ...] = (), document: str = ""
) -> tuple[float, ...]:
    """Features of one item as in ``QUICK_NAMES``, without a fitted model; memoized.

    Args:
        query: The question, or empty.
        answer: The answer under judgment, or empty (relevance has none).
        reference: Reference answer, alternatives split by `` | ``; empty when there is none.
        contexts: Retrieved texts; an empty tuple when there are none.
        document: The document of a relevance item, or empty.

    Returns:
        One number in 0..1 a name; features of a missing field are 0.
    """
    question, reply = _library.read(query), _library.read(answer)
    new = [stem for stem in reply.stems if stem not in question.vocabulary]
    refusal = read_answer(answer, _library).refusal
    answerable = bool(reference.strip()) and not any(refuses(line) for line, _ in _library.read(reference).lines)
    return (
        *_context_part(new, reply, contexts),
        *_reference_part(question, reply, reference),
        refusal,
        refusal if answerable else 0.0,
        0.0 if reply.stems or document else 1.0,
        support(question.content, reply.vocabulary, _weight, 0.0),
        *_document_part(question, document),
        min(1.0, log1p(len(reply.stems)) / log1p(500)),
    )


def _weight(stem: str) -> float:
    return FUNCTION_WORD_WEIGHT if stem in FUNCTION_STEMS else 1.0


def _context_part(new: list[str], reply: StemmedText, contexts: tuple[str, ...]) -> tuple[float, float, float]:
    if not contexts or not reply.stems:
        return 0.0, 0.0, 0.0
    passage = _library.read(contexts)
    pairs = gram_orders(reply.stems, passage)[1:]
    shared = ratio(sum([order >= 2 for order in pairs]), len(pairs))
    worst = min(support(sentence, passage.vocabulary, _weight, 1.0) for sentence in reply.sentences)
    return support(new, passage.vocabulary, _weight, 1.0), shared, worst


def _reference_part(question: StemmedText, reply: StemmedText, reference: str) -> tuple[float, float, float, float]:
    best = (0.0, 0.0, 0.0, 0.0)
    for wanted in map(_library.read, alternatives(reference)) if reply.stems else ():
        if not wanted.stems:
            continue
        new = [stem for stem in wanted.stems if stem not in question.vocabulary] or wanted.stems
        common = lcs(wanted.stems, reply)
        conflict = wanted.numbers and reply.numbers and not any(reply.gives(n, wanted) for n in wanted.numbers)
        best = max(
            best,
            (
                soft_support(new, reply, _weight, 0.0),
                f1(ratio(common, len(reply.stems)), ratio(common, len(wanted.stems))),
                1.0 if contains_run(wanted.stems, reply) or contains_run(reply.stems, wanted) else 0.0,
                1.0 if conflict else 0.0,
            ),
        )
    return best


def _document_part(question: StemmedText, document: str) -> tuple[float, float]:
    if not document:
        return 0.0, 0.0
    passage = _library.read(document)
    asked = list(question.content) or question.stems
    return support(asked, passage.vocabulary, _weight, 0.0), ratio(lcs(question.stems, passage), len(question.stems))


_SECTION = re.compile(r"Your (input|output) fields are:\n(.*?)(?=\nYour output|\nAll interactions|\Z)", re.DOTALL)
_FIELD = re.compile(r"^\d+\. `(\w+)` \((.+?)\):(.*)$", re.MULTILINE)
_HEADER = re.compile(r"^\[\[ ## (\w+) ## \]\][ \t]*", re.MULTILINE)
_RANGE = re.compile(r"(-?\d+)\s*(?:-|–|to|\.\.)\s*(\d+)")
_REQUIREMENTS = re.compile(r"\n\nRespond with (?:the corresponding output fields|a JSON object)[^\n]*\Z")
_NUMBERED = re.compile(r"\[\d+\]")
_QUOTE = "> "
MOST_GRADES = 25  # a wider range is no scale but a number (a confidence, a year)

Fields = Mapping[str, str]


@dataclass(frozen=True, slots=True)
class Output:
    """One field that the prompt asks for.

    Args:
        name: As written.
        labels: The values that it may have, worst first, as written; empty for free text and numbers.
        kind: The type as written: ``str``, ``int``, ``float``, ``Literal[...]``.
    """

    name: str
    labels: tuple[str, ...]
    kind: str


@dataclass(frozen=True, slots=True)
class Demonstration:
    """A worked example in the prompt: input fields and output fields as texts."""

    inputs: Fields
    outputs: Fields


@dataclass(frozen=True, slots=True)
class PromptParts:
    """A judge prompt, read.

    Args:
        inputs: The item's fields.
        outputs: What is asked for, in order.
        demonstrations: In the prompt's order.
        wants_json: True when the reply must be a JSON object.
    """

    inputs: Fields
    outputs: tuple[Output, ...]
    demonstrations: tuple[Demonstration, ...]
    wants_json: bool


def read_prompt(system: str, turns: Sequence[tuple[str, str]]) -> PromptParts:
    """Read a prompt.

    Args:
        system: The system message.
        turns: Role and text of every other message; the last one is the item.
    """
    names, outputs = _read_fields(system)
    pairs = zip(turns[:-1:2], turns[1:-1:2], strict=False)
    shown = tuple(
        _demonstration(user, reply, names, tuple(output.name for output in outputs)) for (_, user), (_, reply) in pairs
    )
    last = turns[-1][1] if turns else ""
    wants_json = "Respond with a JSON object" in last.rpartition("\n\n")[2]
    return PromptParts(_fields(_REQUIREMENTS.sub("", last), names), outputs, shown, wants_json)


def unquote(block: str) -> tuple[str, ...]:
    """The text or texts in one field, whatever way they are written."""
    block = block.strip("\n")
    if block.startswith("[") and not block.startswith("[["):
        try:
            listed = json.loads(block)
        except ValueError:
            pass
        else:
            return tuple(map(str, listed)) if isinstance(listed, list) else (block,)
    lines = block.split("\n")
    if not any(line.startswith(_QUOTE) for line in lines):
        empty = not block or (block.startswith("(the ") and block.endswith(" empty)"))
        return () if empty else (block,)
    texts: list[list[str]] = []
    inside = False
    for line in lines:
        quoted = line.startswith(_QUOTE) or line == _QUOTE.rstrip()
        if not quoted and _NUMBERED.fullmatch(line):
            inside = False
            continue
        if not inside:
            texts.append([])
        inside = True
        texts[-1].append(line[len(_QUOTE) :] if quoted else line)
    return tuple("\n".join(text) for text in texts)


@lru_cache(maxsize=256)
def _read_fields(system: str) -> tuple[tuple[str, ...], tuple[Output, ...]]:
    sections = {kind: _FIELD.findall(body) for kind, body in _SECTION.findall(system)}
    outputs = tuple(Output(name, _labels(kind, desc), kind) for name, kind, desc in sections.get("output", ()))
    return tuple(name for name, _, _ in sections.get("input", ())), outputs


def _labels(kind: str, desc: str) -> tuple[str, ...]:
    if kind.startswith("Literal["):
        try:
            values = ast.literal_eval(f"({kind.removeprefix('Literal[').removesuffix(']')},)")
        except (SyntaxError, ValueError):
            return ()
        return tuple(map(str, values))
    found = _RANGE.search(desc)
    if kind == "int" and found:
        low, high = map(int, found.groups())
        if 0 < high - low < MOST_GRADES:
            return tuple(map(str, range(low, high + 1)))
    return ()


@lru_cache(maxsize=4096)
def _demonstration(user: str, reply: str, names: tuple[str, ...], asked: tuple[str, ...]) -> Demonstration:
    return Demonstration(_fields(_REQUIREMENTS.sub("", user), names), _reply_fields(reply, asked))


def _reply_fields(reply: str, asked: tuple[str, ...]) -> Fields:
    if reply.lstrip().startswith("{"):
        try:
            given = json.loads(reply)
        except ValueError:
            return {}
        return {name: str(given[name]) for name in asked if name in given}
    return _fields(reply, (*asked, "completed"))


def _fields(text: str, names: Sequence[str]) -> Fields:
    """The text under each header; the first header of a name counts, as in DSPy's adapter."""
    found = [match for match in _HEADER.finditer(text) if match.group(1) in names]
    fields: dict[str, str] = {}
    ends = [match.start() for match in found[1:]] + [len(text)]
    for match, end in zip(found, ends, strict=False):
        fields.setdefault(match.group(1), text[match.end() : end].strip())
    return fields


# Relative price of moving away from the prior, by parameter; the slopes are priced so that a dozen
# demonstrations hardly move them.
INTERCEPT_PRICE, SCALE_PRICE, SLOPE_PRICE = 0.3, 1.0, 12.0
STRENGTHS = (0.1, 0.3, 1.0, 3.0, 10.0, 100.0)
PRIOR_ERROR = 0.27  # standard error of the prior score on 0..1, and how many demonstrations it is worth
PRIOR_ERROR_WEIGHT = 8.0


@dataclass(frozen=True)
class LinearScore:
    """A linear score on 0..1.

    Args:
        intercept: Score of an item whose features are all 0.
        slopes: Weight of each feature, shape (n_features,).
        error: Standard error of the score, from leave-one-out.
    """

    intercept: float
    slopes: FloatArray
    error: float

    def score(self, features: FloatArray) -> float:
        """The score of one item; not clipped."""
        return self.intercept + float(features @ self.slopes)


def learn(
    features: FloatArray, targets: FloatArray, intercept: float, slopes: FloatArray, *, centred: bool = False
) -> LinearScore:
    """Fit the score to demonstrations.

    Args:
        features: Shape (n_demonstrations, n_features); there may be none.
        targets: Their grades on 0..1, worst 0; shape (n_demonstrations,).
        intercept: Prior mean of the intercept.
        slopes: Prior mean of the slopes.
        centred: True keeps the intercept at its prior (differences of two answers have none).

    Source: Hoerl and Kennard (1970) for ridge; Allen (1974), PRESS, for the closed form of leave-one-out.
    """
    count = len(targets)
    if count == 0:
        return LinearScore(intercept, slopes, PRIOR_ERROR)
    prior = features @ slopes
    level = np.zeros((count, 0)) if centred else np.ones((count, 1))
    design = np.hstack([level, prior[:, None], features])
    price = np.array([INTERCEPT_PRICE] * level.shape[1] + [SCALE_PRICE] + [SLOPE_PRICE] * features.shape[1])
    wanted = targets - intercept - prior  # what the prior gets wrong
    best_error, best_strength = np.inf, STRENGTHS[-1]
    # The dual form inverts a matrix of demonstrations, not of features: there are fewer of them.
    gram = (design / price) @ design.T
    for strength in STRENGTHS:
        inverse = np.linalg.inv(gram + strength * np.eye(count))
        left_out = (inverse @ wanted) / np.diag(inverse)
        error = float(left_out @ left_out)
        if error < best_error:
            best_error, best_strength = error, strength
    weights = np.linalg.solve(gram + best_strength * np.eye(count), wanted)
    moved = (design / price).T @ weights
    start = level.shape[1]
    squares = best_error + PRIOR_ERROR_WEIGHT * PRIOR_ERROR**2
    return LinearScore(
        intercept=intercept + float(moved[:start].sum()),
        slopes=slopes * (1.0 + moved[start]) + moved[start + 1 :],
        error=float(np.sqrt(squares / (count + PRIOR_ERROR_WEIGHT))),
    )


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


class SavedEngine:
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
        if not any(output.labels for output in prompt.outputs):
            raise InvalidRequestError("a judge that was saved without a model gives grades alone; name one with --lm")
        pieces = list(_write(prompt))
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
