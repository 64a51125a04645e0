"""Workers on a Ray cluster, as actors of Ray Core.

Actors start again (``max_restarts``) and parcels are asked again (``max_task_retries``) for ever, so that a dead worker
or node costs the parcels that it had, and nothing else. Workers find API keys in the environment of their own node: no
key ever travels.
"""

import asyncio
import math
import os
import socket
import sys
from collections import deque
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, redirect_stdout
from dataclasses import dataclass
from typing import Any, Protocol, TypeVar

from dspy import lm15
from dspy.lm15 import Config, Request, Response

from judgec.errors import ServiceError, UserError
from judgec.lm.backend import Backend, Speaks, unreachable
from judgec.lm.client import open_backend
from judgec.lm.cluster.budget_share import BudgetShare, BudgetShares
from judgec.lm.endpoint.exchange import Completion, Plain
from judgec.lm.spec import LMSpec

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
    """A worker that takes parcels; ``Attempts`` is one, in this process."""

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


IN_FLIGHT = 256  # calls at once, all workers together
SMALLEST, LARGEST = 50, 200  # calls in a parcel: below, Ray's own cost shows; above, a death costs much
START_SECONDS = 120.0
NOBODY_SECONDS = 30.0  # without a result: then it is looked whether there is still a node
MOST_DEATHS = 10  # of workers over one job: more are no accident
A = TypeVar("A")
J = TypeVar("J")
R = TypeVar("R")


class Cluster:
    """A Ray cluster: one that runs, or a small one on this machine that ends with the run.

    Args:
        address: Of the cluster (``auto``, ``host:6379``, ``ray://host:10001``), or None to start one here.

    Raises:
        UserError: When Ray is not installed.
        ServiceError: When no cluster answers at the address.
    """

    def __init__(self, address: str | None = None) -> None:
        os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")  # Ray has no parameter for this
        os.environ.setdefault("RAY_ACCEL_ENV_VAR_OVERRIDE_ON_ZERO", "0")  # and warns without this one
        try:
            import ray
        except ImportError:
            raise UserError(
                "--engine ray: Ray is not installed; the extra 'ray' brings it. Run pip install 'judgec[ray]'."
            ) from None
        self._ray: Any = ray  # no types without the extra
        self._opened = ExitStack()
        if ray.is_initialized():
            return
        self._opened.enter_context(redirect_stdout(sys.stderr))  # Ray tells of dead workers on stdout, which is ours
        try:
            ray.init(address=address or "local", log_to_driver=False, logging_level="ERROR")
        except (ConnectionError, RuntimeError, ValueError, TimeoutError) as error:
            self._opened.close()
            raise ServiceError(
                f"--ray-address {address}: no Ray cluster answers ({str(error).splitlines()[0]}). "
                "Start one with 'ray start --head', or leave the option out."
            ) from error
        self._opened.callback(ray.shutdown)

    def workers(self, spec: LMSpec, in_flight: int = IN_FLIGHT) -> RayBatches:
        """Workers on all nodes, each with a client of its own, as a ``Backend``.

        Args:
            spec: The model.
            in_flight: Most calls at once, all workers together.

        Raises:
            ServiceError: When they do not start.
        """
        count = max(1, min(self.processors, math.ceil(in_flight / SMALLEST)))
        remote = self._ray.remote(_Actor).options(
            max_restarts=-1,
            max_task_retries=-1,
            max_concurrency=LARGEST,
            scheduling_strategy="SPREAD",
        )
        actors = [remote.remote(spec) for _ in range(count)]
        try:
            self._ray.get([actor.ready.remote() for actor in actors], timeout=START_SECONDS)
        except self._ray.exceptions.RayError as error:
            raise ServiceError(
                f"--engine ray: no worker started within {START_SECONDS:g} s ({str(error).splitlines()[0]}). "
                "judgec must be installed on every node: see 'ray status'."
            ) from error
        size = max(1, min(LARGEST, in_flight // count))
        return RayBatches([_Remote(actor) for actor in actors], size, open_backend(spec).identity)

    def each(
        self, act: Callable[[A, J], R], shared: A, jobs: Sequence[J], *, at_once: int | None = None
    ) -> Iterator[R]:
        """Do something with each of several jobs, on all nodes, and give the results as they come.

        Args:
            act: A function of a module; exceptions of its own it returns as values.
            shared: What all jobs need; it travels once to each node.
            jobs: What it is done with; the ones to come wait here, so that few travel ahead.
            at_once: Most jobs at once; None for one a processor.

        Raises:
            ServiceError: When a worker died again and again over one job, or no node is left.
        """
        remote = self._ray.remote(act).options(num_cpus=1, max_retries=MOST_DEATHS, scheduling_strategy="SPREAD")
        kept, waiting = self._ray.put(shared), deque(jobs)
        most, running = at_once or self.processors, list[Any]()
        try:
            while waiting or running:
                while waiting and len(running) < most:
                    running.append(remote.remote(kept, waiting.popleft()))
                done, running = self._ray.wait(running, num_returns=1, timeout=NOBODY_SECONDS)
                if not (done or self._ray.cluster_resources().get("CPU")):  # else it would wait for ever
                    raise ServiceError(
                        f"--engine ray: the cluster has had no processor for up to {NOBODY_SECONDS:g} s; a node that "
                        "works is needed. Look at 'ray status'."
                    )
                for one in done:
                    yield self._ray.get(one)
        except self._ray.exceptions.RayError as error:
            raise ServiceError(
                f"--engine ray: a worker was lost {MOST_DEATHS + 1} times over one shard "
                f"({str(error).splitlines()[0]}); workers that stay are needed. Look at the memory of the nodes."
            ) from error
        finally:
            for one in running:
                self._ray.cancel(one, force=True)

    @property
    def processors(self) -> int:
        """Of all nodes."""
        return max(1, int(self._ray.cluster_resources().get("CPU", 1)))

    def shares(self, calls: int | None, usd: float | None, workers: int) -> "RemoteShares | None":
        """The caps of all workers, in a place that all reach; None where nothing is capped."""
        if calls is None and usd is None:
            return None
        actor = self._ray.remote(BudgetShares).options(num_cpus=0).remote(calls, usd, workers)
        return RemoteShares(actor)

    def close(self) -> None:
        """Leave the cluster; one that was started here ends."""
        self._opened.close()


class RemoteShares:
    """The way to a ``BudgetShares`` elsewhere; it travels.

    Args:
        actor: Ray's handle.
    """

    def __init__(self, actor: Any) -> None:  # Ray's handle
        self._actor = actor

    def take(self, usd: float) -> BudgetShare:
        """As ``BudgetShares.take``."""
        import ray

        part: BudgetShare = ray.get(self._actor.take.remote(usd))
        return part

    def give(self, part: BudgetShare) -> None:
        """As ``BudgetShares.give``."""
        import ray

        ray.get(self._actor.give.remote(part))


class _Actor:
    """``Attempts`` with a client that is opened where it runs."""

    def __init__(self, spec: LMSpec) -> None:
        self._attempts = Attempts(open_backend(spec))

    async def ready(self) -> bool:
        return True

    async def answer(self, asked: Sequence[Plain]) -> list[Completion | Failure]:
        return await self._attempts.answer(asked)

    async def complete(self, request: Request) -> Response | Failure:
        return await self._attempts.complete(request)


class _Remote:
    """An actor as a ``Worker``."""

    def __init__(self, actor: Any) -> None:  # Ray's handle
        self._actor = actor

    async def answer(self, asked: Sequence[Plain]) -> list[Completion | Failure]:
        replies: list[Completion | Failure] = await self._actor.answer.remote(asked)
        return replies

    async def complete(self, request: Request) -> Response | Failure:
        reply: Response | Failure = await self._actor.complete.remote(request)
        return reply
