"""Many calls at once, in bounded memory: requests stream in, replies stream out as they finish."""

import asyncio
import gc
import re
import signal
import threading
import time
from collections import deque
from collections.abc import Callable, Coroutine, Generator, Iterable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import islice
from types import FrameType
from typing import NamedTuple, Protocol

import dspy
from dspy import lm15

from judgec.lm.backend import first_line
from judgec.lm.calls import LEASE_POLL_SECONDS, Answered, Calls
from judgec.lm.client import JournaledClient, client_of, preflight
from judgec.lm.endpoint.exchange import Chat, Plain
from judgec.lm.endpoint.untrusted import FILTER_CODES, FILTERED, NO_VALUE
from judgec.lm.functions import NoValueError
from judgec.lm.journal.journal import JournaledReply
from judgec.lm.logprobs import Logprobs, load
from judgec.lm.usage import Spent

IN_FLIGHT = 32
CHUNK = 64  # requests rendered and looked up in the journal at once; replies wait meanwhile
CALM_SECONDS = 1.0  # after the endpoint asked for fewer calls, further requests of that kind are the same one
HAND_OVER = 64  # finished replies that are worth leaving the event loop for
LINGER_SECONDS = 0.02  # the first of them waits no longer than this
QUIET_SECONDS = 20.0  # without a reply after which somebody is told, and told again
TURNS = 3  # of a loop: it looks, hears of the end of a connection, and lets go of it
LANDING_SECONDS = 0.1  # how often an interrupted run looks for calls that wait to be tried again
COLLECT_EVERY = 50_000  # new objects while calls are in flight; Python's own 700 is a search for cycles every few calls
GRACE_SECONDS = 30.0  # how long an interrupted run waits for the calls that are in flight


@dataclass(frozen=True, slots=True)
class Request:
    """One call to make.

    Args:
        key: The caller's name for it; replies carry it back.
        messages: The rendered prompt, ``role`` and ``content`` each.
        rollout: Tells repeated asking of the same prompt apart: 0, 1, 2, ...; None for the only one.
        schema: JSON schema that the reply must meet where the endpoint can see to that, or None.
        to: The juror whose model is asked, of a jury (``lm.router``); empty where there is one model.
        item: The fields of the item that the prompt is about, for a function in the place of a model.
    """

    key: str | int
    messages: Chat
    rollout: int | None = None
    schema: str | None = None
    to: str = ""
    item: Mapping[str, object] | None = None


class Reply(NamedTuple):
    """The outcome of one call.

    Args:
        key: Of the request.
        text: The model's reply, or None when the call failed.
        logprobs: Of the verdict's tokens (``lm.logprobs``), or None when the backend gives none.
        error: Why the call failed in spite of retries, or None.
        input_tokens: Prompt tokens of the call, whenever it was paid.
        output_tokens: Reply tokens.
        usd: What it cost when it was paid, or None when its price is unknown.
        cached: True when it cost nothing now.
        finish: Why the text ended: ``stop``, ``length``, or one of ``untrusted.FAULTS``.
    """

    key: str | int
    text: str | None
    logprobs: Logprobs | None = None
    error: str | None = None
    input_tokens: int = 0
    output_tokens: int = 0
    usd: float | None = None
    cached: bool = False
    finish: str = "stop"


@dataclass(frozen=True, slots=True)
class Progress:
    """Progress of a run.

    Args:
        done: Calls (or what ``of`` says) finished, failed ones included.
        total: Calls in all, or None when nobody knows.
        unscored: Calls that failed.
        spent: What the run's meter shows.
        of: What is counted; ``calls`` cost tokens and dollars, other things do not.
    """

    done: int
    total: int | None
    unscored: int
    spent: Spent
    of: str = "calls"


OnDone = Callable[[Progress], None]
"""Told after each finished call, and after each group of journaled ones."""


class Ask(Protocol):
    """Sends requests to an LM; ``Executor.run`` is one. Replies may come in any order, one a request."""

    def __call__(self, requests: Iterable[Request], *, total: int | None = None) -> Iterator[Reply]:
        """``total`` is how many requests there are.

        ``requests`` may have nothing to give at the moment and something later, when replies have been read: it
        is asked for more as long as there are calls in flight.
        """


class Executor:
    """Runs calls through the client of ``lm``.

    Args:
        lm: From ``open_lm``.
        in_flight: Most calls at once; fewer while the endpoint asks for fewer.
        keeps: Whether its connections stay open for the next run, until ``close``.
        clock: Monotonic seconds.
    """

    def __init__(
        self,
        lm: dspy.LM,
        *,
        in_flight: int = IN_FLIGHT,
        keeps: bool = False,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self.lm = lm
        self._client = client_of(lm)
        self._window = _Window(in_flight, clock)
        self._loops = _Loops(self._client.calls, keeps=keeps)

    def close(self) -> None:
        """Close the connections that are kept."""
        self._loops.close()

    def preflight(self) -> None:
        """One tiny call, so that a missing key shows before anything else is done.

        Raises:
            ServiceError: When the model cannot be reached, with what to do.
        """
        preflight(self.lm, keep=True)

    def run(
        self, requests: Iterable[Request], *, total: int | None = None, on_done: OnDone | None = None
    ) -> Generator[Reply, None, None]:
        """Make the calls; replies come in the order in which they finish, each durable in the journal by
        then.

        Stopping early, by an exception or by leaving the iterator, waits for the calls in flight, so that
        what was paid for is journaled.

        Args:
            requests: Read as needed, a few hundred ahead at most.
            total: How many there are, for ``on_done``.
            on_done: Progress.

        Raises:
            ServiceError: When no call can succeed; what is finished is journaled.
            BudgetError: When the next call does not fit the caps; likewise.
        """
        done = unscored = 0
        groups = self._groups(requests)
        try:
            for group in groups:
                done += len(group)
                unscored += len([reply for reply in group if reply.text is None])
                if on_done is not None:
                    on_done(Progress(done, total, unscored, self._client.calls.usage.spent))
                yield from group
        finally:
            groups.close()

    def _groups(self, requests: Iterable[Request]) -> Generator[list[Reply], None, None]:
        flight = _Flight(self._client, self._window)
        source = iter(requests)
        waiting: deque[tuple[Request, bytes]] = deque()
        elsewhere = Elsewhere(self._client.calls, self._window.clock)
        with _seldom_collected, self._loops.one() as run:
            try:
                while True:
                    while len(waiting) < self._window.most and (chunk := list(islice(source, CHUNK))):
                        hits, misses = self.look_up(chunk)
                        hits += elsewhere.sort(misses, waiting)
                        if hits:
                            yield hits
                    if hits := elsewhere.look(waiting):
                        yield hits
                    if not waiting and not flight.busy:
                        if not elsewhere.calls:
                            return
                        time.sleep(LEASE_POLL_SECONDS)
                        continue
                    with _at_interrupt(flight.interrupt):
                        group = run(flight.advance(waiting))
                    if flight.interrupted:
                        raise KeyboardInterrupt
                    if group:
                        yield group
            finally:
                with _at_interrupt(flight.hurry):
                    run(flight.land())
                self._client.calls.give_back([digest for _, digest in waiting])

    def look_up(self, chunk: list[Request]) -> tuple[list[Reply], list[tuple[Request, bytes]]]:
        """The replies that the journal has, and the calls that it has none of, with their keys."""
        digests = [self._client.digest(request.messages, request.rollout, request.schema) for request in chunk]
        known = self._client.calls.journaled_many(digests)
        hits, misses = [], []
        for request, digest in zip(chunk, digests, strict=True):
            if (reply := known.get(digest)) is None:
                misses.append((request, digest))
            else:
                hits.append(reply_of(request, self._client.calls.charge(digest, reply)))
        return hits, misses


class Elsewhere:
    """Calls that other processes are making: their replies are looked for now and then.

    Args:
        client: Of all calls of the model.
        clock: Monotonic seconds.
    """

    def __init__(self, client: Calls, clock: Callable[[], float]) -> None:
        self.calls: list[tuple[Request, bytes]] = []
        self._client = client
        self._clock = clock
        self._looked = float("-inf")

    def sort(self, misses: list[tuple[Request, bytes]], waiting: deque[tuple[Request, bytes]]) -> list[Reply]:
        """Put calls that are ours to those that wait, and keep the others; returns what has come meanwhile."""
        ours, known = self._client.take([digest for _, digest in misses])
        waiting.extend(one for one in misses if one[1] in ours)
        hits = [reply_of(request, self._client.charge(one, known[one])) for request, one in misses if one in known]
        self.calls += [one for one in misses if one[1] not in ours and one[1] not in known]
        return hits

    def look(self, waiting: deque[tuple[Request, bytes]]) -> list[Reply]:
        """As ``sort``, of those that are kept, once in a while."""
        if not self.calls or self._clock() < self._looked + LEASE_POLL_SECONDS:
            return []
        self._looked = self._clock()
        calls, self.calls = self.calls, []
        return self.sort(calls, waiting)


class _Window:
    """Number of calls that may be in flight: halved when the endpoint throttles, regained one by one.

    Source: additive increase, multiplicative decrease; Chiu and Jain (1989).
    """

    def __init__(self, most: int, clock: Callable[[], float]) -> None:
        self.most = most
        self._size = float(most)
        self.clock = clock
        self._calm_until = float("-inf")

    @property
    def size(self) -> int:
        return max(1, int(self._size))

    def throttled(self) -> None:
        now = self.clock()
        if now >= self._calm_until:
            self._size = max(1.0, self._size / 2)
            self._calm_until = now + CALM_SECONDS

    def succeeded(self) -> None:
        self._size = min(float(self.most), self._size + 1 / self._size)


class _Flight:
    """The calls in flight on one event loop."""

    def __init__(self, client: JournaledClient, window: _Window) -> None:
        self._tasks: set[asyncio.Task[None]] = set()
        self._client = client
        self._window = window
        self._finished: list[Reply] = []
        self._fatal: BaseException | None = None
        self._due = False
        self._landing = False
        self._landed: asyncio.Event = asyncio.Event()
        self._loop: asyncio.AbstractEventLoop | None = None
        self._silence: asyncio.TimerHandle | None = None  # until somebody is told that no reply comes
        self._hurried = False
        self.interrupted = False

    @property
    def busy(self) -> bool:
        """True while there is something to hand over, or will be."""
        return bool(self._tasks or self._finished or self._fatal)

    async def advance(self, waiting: deque[tuple[Request, bytes]]) -> list[Reply]:
        """Start what fits, wait until some are finished, start more in their place, and hand those over.

        Entering and leaving a loop costs more than a call, so that replies are handed over in groups; a group
        is never waited for longer than ``LINGER_SECONDS``, nor past the last of the ``waiting`` calls.
        """
        self._start(waiting)
        loop = self._loop = asyncio.get_running_loop()
        linger: asyncio.TimerHandle | None = None
        self._silence = loop.call_later(QUIET_SECONDS, self._quiet, loop.time())
        while self._tasks and not (self._due or self.interrupted) and len(self._finished) < HAND_OVER:
            if linger is None and self._finished:
                linger = loop.call_later(LINGER_SECONDS, self._hand_over)
            if self._finished and not waiting:
                break
            self._landed.clear()
            await self._landed.wait()
            self._start(waiting)
        if linger is not None:
            linger.cancel()
        if self._silence is not None:
            self._silence.cancel()
        self._due = False
        if self._fatal is not None and not self._finished:  # nothing is in flight any more
            raise self._fatal
        finished, self._finished = self._finished, []
        return finished

    def _quiet(self, since: float) -> None:
        """Say that nothing comes, again and again."""
        loop = asyncio.get_running_loop()
        self._client.calls.quiet(loop.time() - since, len(self._tasks - self._client.calls.pausing))
        self._silence = loop.call_later(QUIET_SECONDS, self._quiet, since)

    def _hand_over(self) -> None:
        self._due = True
        self._landed.set()

    def interrupt(self) -> None:
        """End ``advance`` soon; called by a signal's handler, in the main thread."""
        self._hurried, self.interrupted = self.interrupted, True
        if self._loop is not None:
            self._loop.call_soon_threadsafe(self._landed.set)  # the loop may be waiting for a reply

    def hurry(self) -> None:
        """End ``land`` soon, whatever is in flight; called by a signal's handler."""
        self._hurried = True

    async def land(self) -> list[Reply]:
        """Wait for the calls in flight; what they return is journaled, if nobody reads it now.

        A call that waits to be tried again is not in flight.
        """
        self._landing = True
        loop = asyncio.get_running_loop()
        until = loop.time() + GRACE_SECONDS
        while self._tasks and loop.time() < until and not self._hurried:
            for task in self._tasks & self._client.calls.pausing:
                task.cancel()
            await asyncio.wait(self._tasks, timeout=LANDING_SECONDS)
        late = [task for task in self._tasks if task.cancel()]
        await asyncio.gather(*late, return_exceptions=True)
        return self._finished

    def _start(self, waiting: deque[tuple[Request, bytes]]) -> None:
        missing = min(self._window.size - len(self._tasks), len(waiting))
        for _ in range(missing if self._fatal is None else 0):
            task = asyncio.get_running_loop().create_task(self._work(waiting))
            self._tasks.add(task)

    async def _work(self, waiting: deque[tuple[Request, bytes]]) -> None:
        """One call after the other, while there are any and the window is this wide."""
        try:
            while waiting and not self._landing and self._fatal is None and len(self._tasks) <= self._window.size:
                await self._call(*waiting.popleft())
                self._landed.set()
        finally:
            self._tasks.discard(asyncio.current_task())
            self._landed.set()

    async def _call(self, request: Request, digest: bytes) -> None:
        try:
            answered = await self._client.acall(lambda: self._made(request, digest), self._window.throttled)
        except lm15.LM15Error as error:
            self._finished.append(failed_reply(request, error))
        except Exception as error:  # noqa: BLE001 - the end of the run, raised where it is read
            self._fatal = error
        else:
            self._finished.append(reply_of(request, answered))
            self._window.succeeded()

    def _made(self, request: Request, digest: bytes) -> tuple[Plain, bytes]:
        """The call as it is made now, and its key: settings may have been refused since it was looked up."""
        client = self._client
        if client.refused:
            now = client.digest(request.messages, request.rollout, request.schema)
            if now != digest:
                client.calls.give_back([digest])
                digest = now
        return client.plain(request.messages, request.schema, request.item), digest


class _SeldomCollected:
    """Python looks for cycles less often while somebody is inside: calls make many objects, and few cycles.

    The first who enters changes the threshold of the process, the last who leaves puts it back.
    """

    def __init__(self) -> None:
        self._inside = 0
        self._before = gc.get_threshold()
        self._lock = threading.Lock()

    def __enter__(self) -> None:
        with self._lock:
            if not self._inside:
                self._before = gc.get_threshold()
                if 0 < self._before[0] < COLLECT_EVERY:  # 0: somebody has switched it off
                    gc.set_threshold(COLLECT_EVERY, *self._before[1:])
            self._inside += 1

    def __exit__(self, *_error: object) -> None:
        with self._lock:
            self._inside -= 1
            if not self._inside:
                gc.set_threshold(*self._before)


_seldom_collected = _SeldomCollected()


@contextmanager
def _at_interrupt(act: Callable[[], None]) -> Iterator[None]:
    """Do this at Ctrl-C, in place of an exception in the middle of a loop, which asyncio would print.

    A handler that somebody else has put there stays.
    """
    usual = signal.getsignal(signal.SIGINT) is signal.default_int_handler
    if not usual or threading.current_thread() is not threading.main_thread():
        yield
        return
    signal.signal(signal.SIGINT, lambda *_: act())
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, signal.default_int_handler)


_Run = Callable[[Coroutine[None, None, list[Reply]]], list[Reply]]


class _Loops:
    """Event loops with the connections of a model: each run has one to itself, and the next one may go on with it.

    Args:
        calls: Of the model.
        keeps: Whether they are kept between runs.
    """

    def __init__(self, calls: Calls, *, keeps: bool) -> None:
        self._calls = calls
        self._keeps = keeps
        self._idle: list[asyncio.Runner] = []

    @contextmanager
    def one(self) -> Iterator[_Run]:
        """Runs coroutines on a loop; in another thread where one runs already (a notebook)."""
        runner, whole = self._idle.pop() if self._idle else asyncio.Runner(), False
        try:
            with _runs(runner) as run:
                if self._keeps:
                    run(_looked_around())
                yield run
            whole = True
        except GeneratorExit:  # who reads the replies has enough, and the calls in flight have landed
            whole = True
            raise
        finally:
            if whole and self._keeps:
                self._idle.append(runner)
            else:
                self._close(runner)

    def close(self) -> None:
        """Close those that are kept."""
        while self._idle:
            self._close(self._idle.pop())

    def _close(self, runner: asyncio.Runner) -> None:
        async def closed() -> list[Reply]:
            await self._calls.backend.aclose()
            return []

        with _runs(runner, last=True) as run:
            run(closed())


async def _looked_around() -> list[Reply]:
    """Let a loop that stood still see which connections were closed meanwhile."""
    for _ in range(TURNS):
        await asyncio.sleep(0)
    return []


@contextmanager
def _runs(runner: asyncio.Runner, *, last: bool = False) -> Iterator[_Run]:
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        try:
            yield lambda step: _interruptible(runner, step)
        finally:
            if last:
                runner.close()
    else:
        with ThreadPoolExecutor(1) as pool:
            yield lambda step: pool.submit(runner.run, step).result()
            if last:
                pool.submit(runner.close).result()


def _interruptible(runner: asyncio.Runner, step: Coroutine[None, None, list[Reply]]) -> list[Reply]:
    """Run a step; Ctrl-C cancels it, and is raised when the loop has come to rest.

    asyncio's own handler raises KeyboardInterrupt in the middle of whatever callback runs when the step itself is done
    already, which leaves the calls in flight broken, and CancelledError in place of it when the signal comes while the
    loop is about to start.
    """
    own = signal.getsignal(signal.SIGINT) is signal.default_int_handler
    if not own or threading.current_thread() is not threading.main_thread():
        return runner.run(step)
    loop = runner.get_loop()
    task, interrupted = loop.create_task(step), False

    def interrupt(_signum: int, _frame: FrameType | None) -> None:
        nonlocal interrupted
        interrupted = True
        loop.call_soon_threadsafe(task.cancel)  # not here: this runs in the middle of any callback

    signal.signal(signal.SIGINT, interrupt)
    try:
        found = loop.run_until_complete(task)
    except asyncio.CancelledError:
        if interrupted:
            raise KeyboardInterrupt from None
        raise
    finally:
        signal.signal(signal.SIGINT, signal.default_int_handler)
    if interrupted:
        raise KeyboardInterrupt  # as the step ended: what it returned is in the journal
    return found


def reply_of(request: Request, answered: Answered) -> Reply:
    """The reply of a finished call."""
    reply: JournaledReply = answered.reply
    return Reply(
        key=request.key,
        text=reply.text,
        logprobs=load(reply.logprobs),
        input_tokens=reply.input_tokens,
        output_tokens=reply.output_tokens,
        usd=reply.usd,
        cached=answered.cached,
        finish=reply.finish,
    )


def failed_reply(request: Request, error: lm15.LM15Error) -> Reply:
    """The reply of a call that failed for good."""
    if isinstance(error, NoValueError):
        return Reply(key=request.key, text=None, error=first_line(error), finish=NO_VALUE)
    codes = {str(error.provider_code), *re.findall(r"\w+", str(error))}
    finish = FILTERED if codes & FILTER_CODES else "error"
    return Reply(key=request.key, text=None, error=f"{type(error).__name__}: {first_line(error)}", finish=finish)
