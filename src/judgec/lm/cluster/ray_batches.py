"""A run's calls made elsewhere, many at a time: parcels of calls go out, replies or failures come back.

Journal, budget, retries and everything else stay in the run's own process.
"""

import asyncio
import socket
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

from dspy import lm15
from dspy.lm15 import Config, Request, Response

from judgec.lm.backend import Backend, Speaks, unreachable
from judgec.lm.endpoint.exchange import Completion, Plain

LINGER_SECONDS = 0.005  # how long a parcel waits for more calls


@dataclass(frozen=True, slots=True)
class Failure:
    """An error of the client's as plain data: the original cannot be pickled.

    Args:
        kind: Its class.
        args: What it was made with.
        state: Its attributes.
        unreachable: See ``backend.unreachable``; the chain of causes stays behind.
    """

    kind: type[Exception]
    args: tuple[object, ...]
    state: dict[str, object]
    unreachable: bool

    @classmethod
    def of(cls, error: "lm15.LM15Error") -> "Failure":
        """The error, packed."""
        state: dict[str, object] = {}
        for name, value in vars(error).items():
            if isinstance(value, Mapping):
                state[name] = dict(value)  # a view of headers does not travel
            elif isinstance(value, str | int | float | tuple | None):
                state[name] = value
        return cls(type(error), error.args, state, unreachable(error))

    def unpacked(self) -> Exception:
        """The error again."""
        error = self.kind.__new__(self.kind, *self.args)
        error.args = self.args
        vars(error).update(self.state)
        if self.unreachable:
            error.__cause__ = socket.gaierror("seen by a worker")
        return error


class Worker(Protocol):
    """Where parcels go; ``Attempts`` is one, in this process."""

    async def answer(self, asked: Sequence[Plain]) -> Sequence[Completion | Failure]:
        """One attempt at each call, in order."""
        ...

    async def complete(self, request: Request) -> Response | Failure:
        """One attempt at a call in the client's own form."""
        ...


_RayBatch = list[tuple[Plain, "asyncio.Future[Completion]"]]


class RayBatches:
    """A ``Backend`` whose attempts are made by workers.

    Args:
        workers: At least one; each parcel goes to the one with the fewest.
        size: Most calls in a parcel.
        identity: Of the backend that the workers have.
    """

    local = False

    def __init__(self, workers: Sequence[Worker], size: int, identity: str) -> None:
        self.identity = identity
        self._workers = workers
        self._size = size
        self._load = [0] * len(workers)
        self._waiting: dict[asyncio.AbstractEventLoop, _RayBatch] = {}  # jurors have a loop each
        self._on_the_way: set[asyncio.Task[None]] = set()

    def complete(self, request: Request) -> Response:
        """One attempt, by the first worker."""
        return _unpacked(asyncio.run(self._workers[0].complete(request)))

    async def acomplete(self, request: Request) -> Response:
        """One attempt, by the first worker."""
        return _unpacked(await self._workers[0].complete(request))

    async def say(self, plain: Plain) -> Completion:
        """One attempt, together with others that are asked at about the same time."""
        loop = asyncio.get_running_loop()
        reply: asyncio.Future[Completion] = loop.create_future()
        ray_batch = self._waiting.setdefault(loop, [])
        ray_batch.append((plain, reply))
        if len(ray_batch) >= self._size:
            self._send(loop)
        elif len(ray_batch) == 1:
            loop.call_later(LINGER_SECONDS, self._send, loop)
        return await reply

    async def aclose(self) -> None:
        """Nothing is kept between runs."""
        self._waiting.pop(asyncio.get_running_loop(), None)

    def _send(self, loop: asyncio.AbstractEventLoop) -> None:
        ray_batch = self._waiting.pop(loop, None)
        if ray_batch:
            task = loop.create_task(self._deliver(ray_batch))
            self._on_the_way.add(task)
            task.add_done_callback(self._on_the_way.discard)

    async def _deliver(self, ray_batch: _RayBatch) -> None:
        number = self._load.index(min(self._load))
        self._load[number] += len(ray_batch)
        try:
            replies = await self._workers[number].answer([plain for plain, _ in ray_batch])
        except Exception as error:  # noqa: BLE001 - of the carrier: whoever waits decides
            replies = [Failure.of(lm15.TransportError(f"{type(error).__name__}: {error}"))] * len(ray_batch)
        finally:
            self._load[number] -= len(ray_batch)
        for (_, waiting), reply in zip(ray_batch, replies, strict=True):
            if waiting.done():  # interrupted meanwhile
                continue
            if isinstance(reply, Failure):
                waiting.set_exception(reply.unpacked())
            else:
                waiting.set_result(reply)


def _unpacked(reply: Response | Failure) -> Response:
    if isinstance(reply, Failure):
        raise reply.unpacked()
    return reply


class Attempts:
    """The other end: one attempt at each call, failures as values.

    Args:
        backend: Who answers.
    """

    def __init__(self, backend: Backend) -> None:
        self._backend = backend
        self._speaks = backend if isinstance(backend, Speaks) else None
        self._configs: list[Config] = []

    async def answer(self, asked: Sequence[Plain]) -> list[Completion | Failure]:
        """All at once, in order."""
        return await asyncio.gather(*map(self._say, asked))

    async def complete(self, request: Request) -> Response | Failure:
        """One call in the client's own form."""
        try:
            return await self._backend.acomplete(request)
        except lm15.LM15Error as error:
            return Failure.of(error)

    async def _say(self, plain: Plain) -> Completion | Failure:
        plain = Plain(plain.model, plain.messages, self._same(plain.config))
        try:
            if self._speaks:
                return await self._speaks.say(plain)
            return Completion.of(await self._backend.acomplete(plain.request()))
        except lm15.LM15Error as error:
            return Failure.of(error)

    def _same(self, config: Config) -> Config:
        """One object for equal settings, as the backend wants it: every parcel brings a copy."""
        for known in self._configs:
            if known == config:
                return known
        self._configs = [*self._configs[-7:], config]
        return config
