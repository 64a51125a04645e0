"""Systems under test: over HTTP, a Python function, or judgec's own agents on an index."""

import hashlib
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from pathlib import Path
from typing import Protocol

import httpx
from pydantic import Field

from judgec.errors import UserError
from judgec.lm.executor import Ask, Reply, Request
from judgec.lm.spec import LMSpec
from judgec.rag.agents.answer import Answer
from judgec.rag.agents.bulk import answer_queries
from judgec.rag.agents.external import PythonSystem, System
from judgec.rag.agents.http import HttpSettings, HttpSystem
from judgec.rag.agents.rag import AgentSettings
from judgec.rag.agents.registry import open_agent
from judgec.rag.functions import PYTHON
from judgec.rag.probes.broken import BROKEN, BrokenSystem, index_digest
from judgec.rag.probes.runner import Limits, Running, run_system
from judgec.rag.retrieval.index import Index
from judgec.records.scenario.outcome import SystemReply
from judgec.records.scenario.schema import Question

HTTP_FILES = (".yaml", ".yml", ".toml")
TURN = {"user": "User", "assistant": "Assistant"}


class ProbeSettings(HttpSettings):
    """A system over HTTP with the limits that it is asked under.

    Args:
        rate: Most requests a second; None for no limit.
        retries: How often a failed request is repeated.
        deadline: Seconds after which an answer counts as missing, whatever still arrives.
    """

    rate: float | None = Field(default=None, gt=0)
    retries: int = Field(default=2, ge=0, le=10)
    deadline: float = Field(default=120.0, gt=0)


class ProbedSystem(Protocol):
    """A system under test, with the way to ask it."""

    @property
    def name(self) -> str:
        """For files and tables."""
        ...

    @property
    def identity(self) -> str:
        """Text that tells it from another of this name, for resuming."""
        ...

    def replies(self, questions: Sequence[Question], keep: Callable[[SystemReply], None]) -> list[SystemReply]:
        """Its replies in order; each is handed to ``keep`` as soon as it is there."""
        ...


@dataclass(frozen=True)
class External:
    """A system that answers one question at a time."""

    system: System
    limits: Limits
    running: Running

    @property
    def name(self) -> str:
        """As the file or function is called."""
        return self.system.name

    @property
    def identity(self) -> str:
        """The file's content; the function's name with its module's content."""
        return self.system.identity

    def replies(self, questions: Sequence[Question], keep: Callable[[SystemReply], None]) -> list[SystemReply]:
        """Its replies in order."""
        return run_system(
            self.system, [(one.query_id, asked(one)) for one in questions], self.limits, self.running, keep
        )


@dataclass(frozen=True)
class Agent:
    """One of judgec's agents on an index; its calls are journaled."""

    name: str
    model: LMSpec
    index: Index
    settings: AgentSettings
    ask: Ask

    @property
    def identity(self) -> str:
        """Its settings, its model and what it searches."""
        return f"{self.name} {self.settings} {self.model.model} {self.model.api_base} {index_digest(self.index)}"

    def replies(self, questions: Sequence[Question], keep: Callable[[SystemReply], None]) -> list[SystemReply]:
        """Its replies in order."""
        agent = open_agent(self.name, self.index, self.settings)
        queries = [(one.query_id, asked(one)) for one in questions]
        ask = None if self.model.no_model else self.ask
        replies = [_reply(answer) for answer in answer_queries(agent, self.name, queries, ask=ask)]
        for reply in replies:
            keep(reply)
        return replies


@dataclass(frozen=True)
class Repeated:
    """A system that is asked once more: with the same settings, and nothing taken from an earlier time.

    Args:
        subject: The system.
        take: Which time it is: 2, 3, ...
    """

    subject: ProbedSystem
    take: int

    @property
    def name(self) -> str:
        """The system's."""
        return self.subject.name

    @property
    def identity(self) -> str:
        """The system's, and which time it is."""
        return f"{self.subject.identity} take {self.take}"

    def replies(self, questions: Sequence[Question], keep: Callable[[SystemReply], None]) -> list[SystemReply]:
        """Its replies in order."""
        return self._fresh().replies(questions, keep)

    def _fresh(self) -> ProbedSystem:
        if not isinstance(self.subject, Agent):
            return self.subject
        return replace(self.subject, ask=_Rollout(self.subject.ask, self.take))


@dataclass(frozen=True)
class _Rollout:
    """Sends requests as others than those of an earlier time, whose replies are in the journal."""

    ask: Ask
    rollout: int

    def __call__(self, requests: Iterable[Request], *, total: int | None = None) -> Iterator[Reply]:
        return self.ask((replace(one, rollout=self.rollout) for one in requests), total=total)


def asked(question: Question) -> str:
    """Text that a system is sent: the question, after the conversation before it where there is one."""
    if not question.history:
        return question.query
    turns = [f"{TURN[turn.role]}: {turn.content}" for turn in question.history]
    return "\n".join([*turns, f"{TURN['user']}: {question.query}"])


def open_system(
    name: str,
    index: Index | None,
    settings: AgentSettings,
    model: LMSpec,
    ask: Ask,
    running: Running,
    environ: Mapping[str, str],
) -> ProbedSystem:
    """The system that ``--system`` names.

    Args:
        name: A YAML or TOML file, ``python:module:function``, an agent such as ``rag-bm25``, or ``broken``.
        index: What an agent searches.
        settings: Of an agent.
        model: That answers for an agent.
        ask: The way to it.
        running: Threads and clock.
        environ: Where keys are looked up.

    Raises:
        InputError: When the file is missing or wrong.
        UserError: When there is no such system, or an agent has no index.
    """
    if name.startswith(PYTHON):
        system = PythonSystem(name, Path())
        system.identity = f"{name} {_source(name)}"  # changed code is another system
        return External(system, Limits(), running)
    if name.endswith(HTTP_FILES):
        http = HttpProbe(Path(name), environ)
        return External(http, http.limits, running)
    if name == BROKEN and index is not None:
        return External(BrokenSystem(index), Limits(), running)
    if index is None:
        raise UserError(
            f"--system {name}: judgec's agents search an index, and --index names none. Build one with judgec index, "
            "or give an HTTP system's YAML file or python:module:function."
        )
    open_agent(name, index, settings)  # an unknown name shows before anything is asked
    return Agent(name, model, index, settings, ask)


def _source(reference: str) -> str:
    """A digest of the file that a function stands in; empty for a module without one."""
    file = getattr(sys.modules[reference.removeprefix(PYTHON).partition(":")[0]], "__file__", None)
    return hashlib.sha256(Path(file).read_bytes()).hexdigest()[:16] if file else ""


class HttpProbe(HttpSystem):
    """The HTTP adapter with YAML files, and with limits for probing.

    Raises:
        InputError: When the file is missing or wrong.
        UserError: When a variable is not set.
    """

    def __init__(self, path: Path, environ: Mapping[str, str], transport: httpx.BaseTransport | None = None) -> None:
        super().__init__(path, environ, transport, HttpSettings if path.suffix == ".toml" else ProbeSettings)
        limits = {field.name for field in fields(Limits)}
        self.limits = Limits(**self.settings.model_dump(include=limits))


def _reply(answer: Answer) -> SystemReply:
    return SystemReply(
        query_id=answer.query_id,
        system=answer.agent,
        answer=answer.text,
        contexts=tuple(context.text for context in answer.contexts),
        doc_ids=tuple(context.passage_id for context in answer.contexts),
        error=answer.error,
        seconds=answer.seconds or 0.0,
    )
