"""A small deterministic engine behind a real ``dspy.LM``, and the executor over it."""

import json
from collections import Counter
from collections.abc import Callable, Mapping

import dspy
from dspy import lm15
from dspy.lm15 import Message, Request, Response, TextPart, TokenLogprob, TopLogprob, Usage

from judgec.lm.client import open_lm
from judgec.lm.executor import Executor
from judgec.lm.spec import LMSpec
from judgec.lm.usage import Budget
from judgec.lm.usage import Usage as Meter

Answer = str | Exception | tuple[str, Mapping[str, float]]


def reply(grade: object, *, reason: str = "because", confidence: object = 80) -> str:
    """A reply in the format that the prompt asks for."""
    return (
        f"[[ ## reason ## ]]\n{reason}\n\n[[ ## grade ## ]]\n{grade}\n\n"
        f"[[ ## confidence ## ]]\n{confidence}\n\n[[ ## completed ## ]]\n"
    )


def json_reply(grade: object) -> str:
    """A reply as the second asking wants it."""
    return json.dumps({"reason": "because", "grade": grade, "confidence": 80})


class ScriptedEngine:
    """Answers the last user message with ``script``; the second time it is asked the same, it says so.

    Args:
        script: From the message and how often it was asked before: a reply, an error to raise, or a reply
            with the log-probabilities of the labels at its grade.
    """

    identity = "scripted"

    def __init__(self, script: Callable[[str, int], Answer]) -> None:
        self.asked: Counter[str] = Counter()
        self._script = script

    def complete(self, request: Request) -> Response:
        prompt = request.messages[-1].text or ""
        said = self._script(prompt, self.asked[prompt])
        self.asked[prompt] += 1
        if isinstance(said, Exception):
            raise said
        text, labels = said if isinstance(said, tuple) else (said, None)
        return Response(
            id="1",
            model="scripted",
            message=Message.assistant([TextPart(text)]),
            finish_reason="stop",
            usage=Usage(input_tokens=10, output_tokens=5, total_tokens=15),
            logprobs=None if labels is None else _tokens(text, labels),
            logprobs_complete=labels is not None,
        )

    async def acomplete(self, request: Request) -> Response:
        return self.complete(request)

    async def aclose(self) -> None:
        """Nothing is open."""

    def close(self) -> None:
        """Nothing is open."""


def scripted_lm(engine: ScriptedEngine) -> dspy.LM:
    """The engine as DSPy and the executor see it."""
    return open_lm(LMSpec(model="hosted_vllm/scripted"), journal=None, budget=Budget(), usage=Meter(), backend=engine)


def asking(engine: ScriptedEngine) -> Executor:
    return Executor(scripted_lm(engine))


def bad_request() -> Exception:
    error: Exception = lm15.InvalidRequestError("too long")
    return error


def _tokens(text: str, labels: Mapping[str, float]) -> tuple[TokenLogprob, ...]:
    """The reply as three tokens, the middle one being the grade with its alternatives."""
    start = text.index("[[ ## grade ## ]]\n") + len("[[ ## grade ## ]]\n")
    end = text.index("\n", start)
    top = tuple(TopLogprob(token=label, logprob=value) for label, value in labels.items())
    grade = TokenLogprob(token=text[start:end], logprob=labels[text[start:end]], top=top)
    return (TokenLogprob(token=text[:start], logprob=0.0), grade, TokenLogprob(token=text[end:], logprob=0.0))
