"""Systems that exist already: a Python function, or anything that answers over HTTP."""

import json
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor, as_completed
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from judgec.lm.redaction import clean_error, clean_json
from judgec.rag.agents.answer import Answer, Context, citations
from judgec.rag.functions import python_function

HTTP_FILE = ".toml"


@dataclass(frozen=True, slots=True)
class ExternalReply:
    """The reply of a system: its answer and, if it tells, the passages that it used."""

    text: str
    contexts: tuple[Context, ...] = ()


class SystemFailedError(Exception):
    """The system under test failed; the message says how. Never an answer, and never silence."""


class System(Protocol):
    """A system under test."""

    @property
    def name(self) -> str:
        """The agent's name in files and tables."""
        ...

    @property
    def identity(self) -> str:
        """Text that tells it from another system of this name."""
        ...

    def ask(self, query: str) -> ExternalReply:
        """Its answer.

        Raises:
            SystemFailedError: When it fails.
        """
        ...


class PythonSystem:
    """``python:module:function``: called with the query, returns a text or a dict of ``answer`` and ``contexts``.

    Args:
        reference: As typed.
        folder: Looked in for the module beside the installed ones.

    Raises:
        UserError: When there is no such function.
    """

    def __init__(self, reference: str, folder: Path) -> None:
        self.identity = reference
        self.name = reference.rpartition(":")[2]
        self._function = python_function(reference, folder, "--agents")

    def ask(self, query: str) -> ExternalReply:
        """Its answer.

        Raises:
            SystemFailedError: When the function raises, or returns something else.
        """
        try:
            found = self._function(query)
        except Exception as error:  # somebody else's code: whatever it raises is a failure of the system
            raise SystemFailedError(f"{type(error).__name__}: {clean_error(str(error))[:200]}") from error
        return as_said(clean_json(found))


def as_said(found: object) -> ExternalReply:
    """A text, or a mapping of ``answer`` and optionally ``contexts`` (texts, or mappings of ``text`` and ``id``).

    Raises:
        SystemFailedError: When it is neither.
    """
    if isinstance(found, str):
        return ExternalReply(_writable(found))
    if isinstance(found, Mapping) and isinstance(found.get("answer"), str):
        given = found.get("contexts") or ()
        if isinstance(given, str) or not isinstance(given, Sequence):
            given = (given,)
        return ExternalReply(_writable(found["answer"]), tuple(map(_context, given)))
    raise SystemFailedError(f"no answer in its reply: {json.dumps(found, default=str)[:120]}")


def _context(found: object) -> Context:
    if isinstance(found, Mapping):
        text = found.get("text", found.get("document"))
        if text is None:
            keys = ", ".join(map(str, found))
            raise SystemFailedError(f"a passage without text in its reply: its keys are {keys}; text is needed")
        return Context(_writable(str(text)), _writable(str(found.get("id", found.get("doc_id", "")) or "")))
    return Context("" if found is None else _writable(str(found)))


def _writable(text: str) -> str:
    """JSON can hold halves of surrogate pairs, which no file can: a question mark for each."""
    return text.encode("utf-8", "replace").decode()


def ask_system(
    system: System,
    queries: Sequence[tuple[str, str]],
    *,
    in_flight: int,
    clock: Callable[[], float] = time.perf_counter,
) -> Iterator[Answer]:
    """Its answers as they come, several at once; what fails is an answer with an ``error``.

    Args:
        system: Under test.
        queries: Id and text.
        in_flight: Most at once.
        clock: Monotonic seconds.
    """

    def one(query_id: str, text: str) -> Answer:
        began = clock()
        try:
            said = system.ask(text)
        except SystemFailedError as error:
            return Answer(
                query_id=query_id, agent=system.name, text=None, error=_writable(str(error)), seconds=clock() - began
            )
        seconds = clock() - began
        cited = citations(said.text, said.contexts)
        return Answer(
            query_id=query_id, agent=system.name, text=said.text, contexts=said.contexts, cited=cited, seconds=seconds
        )

    with ThreadPoolExecutor(in_flight) as pool:
        asked: list[Future[Answer]] = [pool.submit(one, *query) for query in queries]
        try:
            yield from (done.result() for done in as_completed(asked))
        finally:
            for waiting in asked:
                waiting.cancel()
