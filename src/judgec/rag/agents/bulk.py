"""Asks one agent many queries, a wave of model calls at a time, in the order of the queries."""

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

import dspy
from dspy.lm15 import Request as Asked
from dspy.lm15 import Response

from judgec.lm.backend import Backend
from judgec.lm.client import client_of
from judgec.lm.endpoint.exchange import Completion
from judgec.lm.executor import Ask, Reply, Request
from judgec.lm.frozen import FrozenPrompt, freeze
from judgec.rag.agents.answer import Answer, citations
from judgec.rag.agents.rag import RAG, AgentResult, AgentSettings, Call, Steps
from judgec.rag.rules.answering import reply_by_rule
from judgec.raters.asking import ask_rows, text_of
from judgec.raters.replies import UnreadableReplyError, read_fields
from judgec.records.citation import SQUARE

CHECKED = 4  # prompts that are compared with DSPy's adapter's


class Stopwatch:
    """A backend that notes how long each call took, by its prompt; ``None`` for prompts that were not asked here.

    Args:
        backend: Who answers.
        clock: Monotonic seconds.
    """

    def __init__(self, backend: Backend, clock: Callable[[], float] = time.perf_counter) -> None:
        self.identity = backend.identity
        self._backend = backend
        self._clock = clock
        self._seconds: dict[int, float] = {}

    def of(self, messages: Sequence[Mapping[str, str]]) -> float | None:
        """Seconds of the last attempt at this prompt."""
        return self._seconds.get(hash(messages[-1]["content"]))

    def complete(self, request: Asked) -> Response | Completion:
        """One attempt, timed."""
        began = self._clock()
        response = self._backend.complete(request)
        self._note(request, began)
        return response

    async def acomplete(self, request: Asked) -> Response | Completion:
        """One attempt, timed."""
        began = self._clock()
        response = await self._backend.acomplete(request)
        self._note(request, began)
        return response

    async def aclose(self) -> None:
        """Close what belongs to this event loop."""
        await self._backend.aclose()

    def _note(self, request: Asked, began: float) -> None:
        self._seconds[hash(request.messages[-1].text or "")] = self._clock() - began


def timed(lm: dspy.LM) -> Stopwatch:
    """Put a stopwatch before the model of ``lm``, from ``open_lm``."""
    calls = client_of(lm).calls
    if not isinstance(calls.backend, Stopwatch):
        calls.backend = Stopwatch(calls.backend)
    return calls.backend


@dataclass(slots=True)
class _Work:
    """One query on its way."""

    steps: Steps
    call: Call | None = None
    draft: AgentResult | None = None
    error: str | None = None
    seconds: float | None = 0.0
    input_tokens: int = 0
    output_tokens: int = 0
    usd: float | None = 0.0
    messages: Sequence[Mapping[str, str]] = field(default_factory=tuple)

    def go_on(self, fields: Mapping[str, object] | None, clock: Callable[[], float]) -> None:
        """Let the agent work until it asks the next question, or is done."""
        began = clock()
        try:
            self.call = next(self.steps) if fields is None else self.steps.send(fields)
        except StopIteration as end:
            self.call, self.draft = None, end.value
        if self.seconds is not None:
            self.seconds += clock() - began

    def go_on_by_rule(self, settings: AgentSettings, clock: Callable[[], float]) -> None:
        """The same where no model is asked."""
        assert self.call is not None  # the caller has looked
        began, predictor = clock(), self.call.predictor
        try:
            fields = reply_by_rule(predictor, self.call.inputs, settings)
        except KeyError:
            self.error, self.call = f"no rule writes what {predictor} asks for; name a model with --lm", None
            return
        self.seconds = (self.seconds or 0.0) + clock() - began
        self.go_on(fields, clock)

    def charge(self, reply: Reply, seconds: float | None) -> None:
        self.input_tokens += reply.input_tokens
        self.output_tokens += reply.output_tokens
        self.usd = None if self.usd is None or reply.usd is None else self.usd + reply.usd
        self.seconds = None if self.seconds is None or seconds is None else self.seconds + seconds


def answer_queries(
    agent: RAG,
    name: str,
    queries: Sequence[tuple[str, str]],
    *,
    ask: Ask | None,
    stopwatch: Stopwatch | None = None,
    clock: Callable[[], float] = time.perf_counter,
) -> list[Answer]:
    """The agent's answers, one a query, in order; one that could not be had says why.

    Args:
        agent: The module; its predictors are rendered, never called.
        name: The agent's.
        queries: Id and text.
        ask: Sends requests; None where no model is named, and rules write.
        stopwatch: From ``timed``; without one seconds are None.
        clock: Monotonic seconds.

    Raises:
        ServiceError: When the LM cannot be reached at all; finished calls are in the journal.
    """
    works = [_Work(agent.steps(text)) for _, text in queries]
    for work in works:
        work.go_on(None, clock)
    while any(work.call is not None for work in works):
        _wave(agent, works, ask, stopwatch, clock)
    form = SQUARE if agent.settings.citations else ""
    return [_answer(query_id, name, form, work) for (query_id, _), work in zip(queries, works, strict=True)]


def _wave(
    agent: RAG, works: Sequence[_Work], ask: Ask | None, stopwatch: Stopwatch | None, clock: Callable[[], float]
) -> None:
    """Ask what every unfinished query asks now."""
    calls = {row: work.call for row, work in enumerate(works) if work.call is not None}
    if ask is None:
        for row in calls:
            works[row].go_on_by_rule(agent.settings, clock)
        return
    prompts: dict[str, FrozenPrompt] = {}
    for name in dict.fromkeys(call.predictor for call in calls.values()):
        sample = [call.inputs for call in calls.values() if call.predictor == name][:CHECKED]
        prompts[name] = freeze(getattr(agent, name), sample)

    def request(row: int, attempt: int) -> Request:
        works[row].messages = prompts[calls[row].predictor].messages(calls[row].inputs)
        return Request(row, works[row].messages, attempt or None)

    def take(row: int, reply: Reply) -> None:
        work = works[row]
        work.charge(reply, None if stopwatch is None else stopwatch.of(work.messages))
        work.go_on(_fields(text_of(reply), prompts[calls[row].predictor], agent, calls[row]), clock)

    for row, fault in ask_rows(list(calls), ask, request, take).items():
        works[row].error, works[row].call = fault, None


def _fields(text: str, prompt: FrozenPrompt, agent: RAG, call: Call) -> Mapping[str, object]:
    """The fields of a reply; a plain text without any header is the answer itself."""
    outputs = tuple(getattr(agent, call.predictor).signature.output_fields)
    fields: Mapping[str, object] = prompt.usual(text) or read_fields(text)
    if not str(fields.get(outputs[-1]) or "").strip():
        raise UnreadableReplyError(f"malformed reply: no {outputs[-1]}")
    return fields


def _answer(query_id: str, name: str, form: str, work: _Work) -> Answer:
    draft = work.draft
    contexts = draft.contexts if draft is not None else ()
    return Answer(
        query_id=query_id,
        agent=name,
        text=None if draft is None else draft.text,
        contexts=contexts,
        cited=() if draft is None else citations(draft.text, contexts),
        citation_form=form,
        searched=() if draft is None else draft.searched,
        decision="" if draft is None else draft.decision,
        seconds=work.seconds,
        input_tokens=work.input_tokens,
        output_tokens=work.output_tokens,
        usd=work.usd,
        error=work.error if draft is None else None,
    )
