"""Answers a call from the journal, from an equal call in flight, or by paying: once, within the budget, with retries.

The steps are written once, as a generator that asks for what takes time (an attempt, a wait, another call's
reply); a thread and a coroutine each have a small driver that does what is asked.
"""

import asyncio
import math
import threading
import time
from collections.abc import Callable, Generator
from concurrent.futures import Future
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple, TypeAlias, TypeVar, cast

from dspy import lm15
from dspy.lm15 import Request, Response

from judgec.errors import ArtifactError, BudgetError
from judgec.lm.backend import (
    Backend,
    LMBudgetError,
    LMServiceError,
    Remedy,
    Retries,
    Speaks,
    first_line,
    may_have_been_billed,
    remedy,
    service_error,
    unreachable,
    whole_seconds,
)
from judgec.lm.endpoint.exchange import Bill, Completion, Plain
from judgec.lm.endpoint.features import Features
from judgec.lm.health import Health, Tries
from judgec.lm.journal.facts import Facts
from judgec.lm.journal.journal import Journal, JournaledReply
from judgec.lm.journal.leases import Leases
from judgec.lm.journal.lookups import Lookups
from judgec.lm.journal.together import Together
from judgec.lm.max_wait import MaxWait, MaxWaitError
from judgec.lm.spec import LMSpec
from judgec.lm.usage import Budget, Usage

LEASE_POLL_SECONDS = 0.25  # how often a call that another process makes is looked for
POLL_SECONDS = 0.005  # how often a call asks again for room that calls in flight hold
PROBE_ATTEMPTS = 2  # of the first call of a run: the user is waiting
LOOK_COUNTS = 0.5  # of the attempts of a call: two looks that are answered, and it is the call that fails
FAILURES = b"calls that fail by themselves"
UNREACHABLE_ATTEMPTS = 3  # attempts when nobody listens: a server may be restarting


@dataclass(frozen=True, slots=True)
class _Wait:
    seconds: float


@dataclass(frozen=True, slots=True)
class _Join:
    flight: Future[JournaledReply] | Future[bool]


class _Keep(NamedTuple):
    """Make a reply durable."""

    digest: bytes
    reply: JournaledReply


class _AbandonedError(Exception):
    """The caller was interrupted, not the call: whoever waits for it makes it again."""


_Ask: TypeAlias = Request | Plain | _Wait | _Join | _Keep
_Answer: TypeAlias = Response | Completion | None
_Result = TypeVar("_Result")
_Stop = TypeVar("_Stop", LMServiceError, LMBudgetError)


class Answered(NamedTuple):
    """A reply, and whether it was there already (in the journal, or on its way to somebody else)."""

    reply: JournaledReply
    cached: bool


class Calls:
    """Every call of one model.

    Args:
        spec: The model.
        backend: Who answers.
        journal: Where finished calls are kept, or None to keep none.
        budget: The caps; several models may share one.
        usage: What was spent; several models may share one.
        retries: How failed attempts are repeated.
        max_wait: How long a call waits for an endpoint that asks for time.
        clock: Seconds since the epoch, for the journal.
    """

    def __init__(
        self,
        spec: LMSpec,
        backend: Backend,
        *,
        journal: Journal | None,
        budget: Budget,
        usage: Usage,
        retries: Retries,
        max_wait: MaxWait | None = None,
        clock: Callable[[], float] = time.time,
    ) -> None:
        self.backend = backend
        self.usage = usage
        self.stopped: LMServiceError | LMBudgetError | None = None
        self.pausing: set[asyncio.Task[object] | None] = set()  # between two attempts: nothing is in flight
        self._spec = spec
        self.journal = journal
        self._together = None if journal is None else Together(journal)
        self._lookups = None if journal is None else Lookups(journal)
        self.leases = None if journal is None else Leases(journal, clock)
        self.budget = budget
        self._retries = retries
        self._max_wait = max_wait or MaxWait()
        self._clock = clock
        self._bill = Bill(spec)
        self.features = Features(spec, self._max_wait.say)
        self.smallest: Callable[[], Plain] | None = None  # a question that shows whether the model answers at all
        self.health = Health()
        self._flights: dict[bytes, Future[JournaledReply] | None] = {}  # None while only one waits
        self._lock = threading.Lock()

    @property
    def backend(self) -> Backend:
        """The backend that answers; it may be changed between calls."""
        return self._backend

    @backend.setter
    def backend(self, backend: Backend) -> None:
        self._backend = backend
        self._speaks = backend if isinstance(backend, Speaks) else None

    def call(self, request: Request | Plain, digest: bytes) -> Answered:
        """The reply to ``request``, driven by this thread.

        Raises:
            ServiceError: When no call can succeed until the user changes something.
            BudgetError: When the call does not fit the caps.
            lm15.LM15Error: When this call failed in spite of retries.
        """
        return self._drive(self._steps(request, digest, _ignore))

    async def acall(self, request: Request | Plain, digest: bytes, on_throttled: Callable[[], None]) -> Answered:
        """As ``call``, by a coroutine; ``on_throttled`` is told when the endpoint asks for fewer calls."""
        steps = self._steps(request, digest, on_throttled)
        try:
            ask = next(steps)
            while True:
                try:
                    done = await self._ado(ask)
                except BaseException as error:  # noqa: BLE001 - thrown into the steps, which decide
                    ask = steps.throw(error)
                else:
                    ask = steps.send(done)
        except StopIteration as end:
            return cast("Answered", end.value)  # what the steps return, which StopIteration does not know

    def preflight(self, request: Request | Plain, digest: bytes | None) -> None:
        """Make the first call of a run: the user is waiting, so that a service that is ill is not waited for long.

        Args:
            request: A small one.
            digest: Under which it is journaled; None makes it whatever the journal says, with few retries, and keeps
                nothing of it but the bill.

        Raises:
            ServiceError, BudgetError, lm15.LM15Error: As ``call``.
        """
        if digest is None:
            self._drive(self._paid(request, None, _ignore, PROBE_ATTEMPTS))
        elif self._drive(self._steps(request, digest, _ignore, first=True)).cached:
            self.features.taken(request)

    def journaled(self, digest: bytes) -> Answered | None:
        """The reply in the journal, charged to the budget, or None."""
        reply = None if self._lookups is None else self._lookups.one(digest)
        return None if reply is None else self.charge(digest, reply)

    def journaled_many(self, digests: list[bytes]) -> dict[bytes, JournaledReply]:
        """Every reply that the journal has; each is to be passed to ``charge`` before it is used."""
        return {} if self._lookups is None else self._lookups.many(digests)

    def take(self, digests: list[bytes]) -> tuple[set[bytes], dict[bytes, JournaledReply]]:
        """Take calls before they are made, so that no other process makes them, too.

        Returns: Those that are ours to make, and the replies to others that have come in since they were looked up,
            each to be passed to ``charge``. Another process makes the rest.
        """
        if self.leases is None or self.journal is None or not digests:
            return set(digests), {}
        known = self.journal.get_many(list(taken := self.leases.take(digests)))
        theirs = [digest for digest in digests if digest not in taken]
        self.leases.release(known)
        known |= self.journal.get_many(theirs)
        for digest in known:
            self.ended(digest)
        return taken - known.keys(), known

    def quiet(self, seconds: float, waiting: int) -> None:
        """Nothing has come back for a while; told whoever looks on."""
        if waiting:
            calls = "a call waits" if waiting == 1 else f"{waiting} calls wait"
            self._max_wait.say(f"no reply for {seconds:.0f} s, {calls} ({self._spec.asked_at})")

    def give_back(self, digests: list[bytes]) -> None:
        """Calls that were taken and will not be made."""
        if self.leases is not None:
            self.leases.release(digests)

    def ended(self, digest: bytes) -> None:
        """There may be a reply now."""
        if self._lookups is not None:
            self._lookups.ended(digest)

    def charge(self, digest: bytes, reply: JournaledReply) -> Answered:
        """Count a reply from the journal.

        Raises:
            BudgetError: When an uninterrupted run would have stopped here.
        """
        try:
            self.budget.charge_journaled(digest, reply.usd)
        except BudgetError as error:
            raise self._stop(LMBudgetError(str(error))) from None
        self.usage.journaled()
        return Answered(reply, cached=True)

    def reserve(self, most_usd: float) -> bool:
        """Hold room for one call: ``Budget.reserve``.

        Raises:
            BudgetError: When the call does not fit the caps.
        """
        try:
            return self.budget.reserve(most_usd)
        except BudgetError as error:
            raise self._stop(LMBudgetError(str(error))) from None

    def _drive(self, steps: Generator[_Ask, _Answer, _Result]) -> _Result:
        try:
            ask = next(steps)
            while True:
                try:
                    done = self._do(ask)
                except BaseException as error:  # noqa: BLE001 - thrown into the steps, which decide
                    ask = steps.throw(error)
                else:
                    ask = steps.send(done)
        except StopIteration as end:
            return cast("_Result", end.value)  # what the steps return, which StopIteration does not know

    def _do(self, ask: _Ask) -> _Answer:
        if isinstance(ask, Request | Plain):
            return self.backend.complete(ask.request() if isinstance(ask, Plain) else ask)
        if isinstance(ask, _Wait):
            time.sleep(ask.seconds)
        elif isinstance(ask, _Join):
            ask.flight.exception()  # waits
        elif self.journal is not None:
            self.journal.put(ask.digest, ask.reply)
        return None

    async def _ado(self, ask: _Ask) -> _Answer:
        if isinstance(ask, Plain):
            return await (self._speaks.say(ask) if self._speaks else self.backend.acomplete(ask.request()))
        if isinstance(ask, Request):
            return await self.backend.acomplete(ask)
        if isinstance(ask, _Wait):
            self.pausing.add(task := asyncio.current_task())
            try:
                await asyncio.sleep(ask.seconds)
            finally:
                self.pausing.discard(task)
        elif isinstance(ask, _Keep):
            if self._together is not None:
                await self._together.put(ask.digest, ask.reply)
        else:
            (landed,), _ = await asyncio.wait([asyncio.wrap_future(ask.flight)])
            landed.exception()  # looked at here, so that asyncio does not report it as lost
        return None

    def _steps(
        self, request: Request | Plain, digest: bytes, on_throttled: Callable[[], None], *, first: bool = False
    ) -> Generator[_Ask, _Answer, Answered]:
        while True:
            flight: Future[JournaledReply] | None = None
            with self._lock:
                if digest not in self._flights:
                    self._flights[digest] = None
                elif (flight := self._flights[digest]) is None:
                    flight = self._flights[digest] = Future()
                    flight.set_running_or_notify_cancel()  # so that no one who waits can cancel it
            if flight is None:
                return (yield from self._lead(request, digest, on_throttled, first=first))
            yield _Join(flight)
            if not isinstance(flight.exception(), _AbandonedError):
                self.usage.shared()
                return Answered(flight.result(), cached=True)

    def _lead(
        self, request: Request | Plain, digest: bytes, on_throttled: Callable[[], None], *, first: bool
    ) -> Generator[_Ask, _Answer, Answered]:
        """Make the call for everybody who asks the same meanwhile."""
        fault: BaseException | None = None
        answered: Answered | None = None
        try:
            answered = self.journaled(digest)
            while answered is None and not self._ours(digest):
                self.ended(digest)  # it may be there by now
                if (answered := self.journaled(digest)) is None:
                    yield _Wait(LEASE_POLL_SECONDS)
            if answered is None:
                most = self._retries.attempts
                paid = yield from self._paid(request, digest, on_throttled, most, first=first)
                answered = Answered(paid, cached=False)
        except BaseException as error:
            fault = error if isinstance(error, Exception) else _AbandonedError()
            raise
        else:
            return answered
        finally:
            self.ended(digest)  # before anybody else may make the call
            self._let_go(digest, paid=answered is not None)
            with self._lock:
                waited_for = self._flights.pop(digest)
            if waited_for is not None and fault is not None:
                waited_for.set_exception(fault)
            elif waited_for is not None and answered is not None:
                waited_for.set_result(answered.reply)

    def _ours(self, digest: bytes) -> bool:
        """True if this process holds a call now, and nobody has made it meanwhile."""
        return self.leases is None or digest in self.leases.held or bool(self.take([digest])[0])

    def _let_go(self, digest: bytes, *, paid: bool) -> None:
        if self.leases is None:
            return
        if paid:
            self.leases.held.discard(digest)  # the commit of its reply has given it back
            return
        try:
            self.leases.release([digest])
        except ArtifactError:  # the fault of the call says more
            self.leases.held.discard(digest)

    def _paid(
        self,
        request: Request | Plain,
        digest: bytes | None,
        on_throttled: Callable[[], None],
        attempts: int,
        *,
        first: bool = True,
    ) -> Generator[_Ask, _Answer, JournaledReply]:
        """Pay for a call; without a digest it is not journaled."""
        most = self._bill.most(request)
        tries = Tries(self.health.ended, time.monotonic())
        while True:
            if isinstance(self.stopped, LMServiceError):
                raise LMServiceError(str(self.stopped))
            while not self.reserve(most):
                yield _Wait(POLL_SECONDS)
            request = self.features.fit(request)
            began = time.monotonic()
            try:
                response = yield request
            except lm15.LM15Error as error:
                self._give_back(error, digest, most)
                if (plainer := self.features.give_up(request, error)) is not None:
                    request = plainer
                    continue
                tries.worked += time.monotonic() - began
                if isinstance(error, lm15.RateLimitError):
                    on_throttled()
                waiting = self._failed_first if first else self._failed
                wait = yield from waiting(error, tries, attempts, digest)
                self._max_wait.tell(wait, self._clock(), first_line(error))
                tries.waited += wait
                yield _Wait(wait)
            except BaseException:
                self.budget.settle(digest, most, None)  # interrupted in flight: it may be billed
                raise
            else:
                reply = self._bought(request, digest, response, most)
                if self.journal is not None and digest is not None:
                    yield _Keep(digest, reply)
                return reply

    def _bought(self, request: Request | Plain, digest: bytes | None, response: _Answer, most: float) -> JournaledReply:
        """The reply to a call that was made, counted: whatever becomes of it now, it is paid."""
        if response is None:
            raise TypeError("a request was answered with nothing")
        reply = self._bill.record(request, response, self._clock())
        self.budget.settle(digest, most, reply.usd)
        self.usage.paid(reply.input_tokens, reply.output_tokens, reply.usd)
        self.features.taken(request)
        self.health.well()
        return reply

    def _failed_first(
        self, error: lm15.LM15Error, tries: Tries, attempts: int, _digest: bytes | None
    ) -> Generator[_Ask, _Answer, float]:
        """As ``_failed``, for the first call of a run, which shows whether the model can be reached at all."""
        yield from ()
        what, nobody = remedy(error), unreachable(error)
        tries.failed += 1
        judged, wait = self._patient(error, tries)
        if what is Remedy.STOP or (nobody and tries.failed >= min(attempts, UNREACHABLE_ATTEMPTS)):
            raise self._stop(service_error(error, self._spec)) from error
        over = tries.failed >= attempts or tries.worked >= whole_seconds(self._spec)
        if what is Remedy.GIVE_UP or isinstance(judged, MaxWaitError) or over:
            raise judged
        return wait

    def _failed(
        self, error: lm15.LM15Error, tries: Tries, attempts: int, digest: bytes | None
    ) -> Generator[_Ask, _Answer, float]:
        """Seconds to wait before the next try.

        Raises:
            lm15.LM15Error: It is the call that fails, and others do not.
            LMServiceError: No call can succeed any more.
        """
        what = remedy(error)
        if what is Remedy.STOP:
            raise self._stop(service_error(error, self._spec)) from error
        if what is Remedy.GIVE_UP:  # it is this call, however many follow that are like it
            raise error
        before = tries.began
        now = time.monotonic()
        self.health.badly(now)
        well = tries.fail(self.health.ended, now)
        judged, wait = self._patient(error, tries)
        over = isinstance(judged, MaxWaitError) or tries.worked >= whole_seconds(self._spec)
        if unreachable(error) and not self.health.answered and tries.failed >= min(attempts, UNREACHABLE_ATTEMPTS):
            raise self._stop(service_error(error, self._spec)) from error
        if tries.failed == 1 and self._failed_before(digest, error):
            raise judged
        lost = self.health.ill_for(now) >= self._max_wait.seconds
        if not (over or lost or tries.failed >= attempts):
            return wait
        if tries.own < attempts and not well:
            if not (yield from self._alive(before)):
                if over or lost:
                    raise self._stop(service_error(judged, self._spec)) from error
                return wait
            tries.own += math.ceil(LOOK_COUNTS * attempts)
            wait = min(wait, self._retries.first_seconds)  # the service is well: there is nothing to wait for
        if over or tries.own >= attempts:
            self._remember_failed(digest, error)
            raise judged
        return wait

    def _patient(self, error: lm15.LM15Error, tries: Tries) -> tuple[lm15.LM15Error, float]:
        """The error, or that the call would have to wait too long; and how long it should wait."""
        wait = self._max_wait.fit(self._retries.wait(error, tries.failed), tries.waited, error.retry_after)
        return self._max_wait.check(error, tries.waited, wait, first_line(error)), wait

    def _alive(self, since: float) -> Generator[_Ask, _Answer, bool]:
        """Asks the model the smallest question, after ``since``, to see if it answers; all share one call."""
        if self.smallest is None:
            return True
        look, ours = self.health.look(since, time.monotonic())
        if not ours:
            yield _Join(look.alive)
            return look.alive.result()
        alive = False
        try:
            alive = yield from self._asked_smallest(self.features.fit(self.smallest()))
        finally:
            look.alive.set_result(alive)
        return alive

    def _asked_smallest(self, request: Request | Plain) -> Generator[_Ask, _Answer, bool]:
        most = self._bill.most(request)
        if not self.budget.spare(most):
            return True  # the caps end the run soon: what fails until then costs itself alone
        try:
            response = yield request
        except lm15.LM15Error as error:
            self._give_back(error, None, most)
            self.health.badly(time.monotonic())
            return False
        except BaseException:
            self.budget.settle(None, most, None)
            raise
        self._bought(request, None, response, most)
        return True

    def _failed_before(self, digest: bytes | None, error: lm15.LM15Error) -> bool:
        """True if an earlier run gave this call up for the same reason: then one try shows that nothing has changed."""
        if self._failures is None or digest is None:
            return False
        return self._failures.get_many([digest]).get(digest) == _kind_of(error)

    def _remember_failed(self, digest: bytes | None, error: lm15.LM15Error) -> None:
        if self._failures is not None and digest is not None and not isinstance(error, lm15.RateLimitError):
            self._failures.put_many([(digest, _kind_of(error))])

    @cached_property
    def _failures(self) -> Facts | None:
        """Calls that earlier runs gave up."""
        known = self.journal
        return None if known is None else Facts(known, "failures", FAILURES, FAILURES.decode(), self._clock)

    def _give_back(self, error: lm15.LM15Error, digest: bytes | None, most: float) -> None:
        if may_have_been_billed(error):
            self.budget.settle(digest, most, None)
            self.usage.paid(0, 0, None)
        else:
            self.budget.release(most)

    def _stop(self, error: _Stop) -> _Stop:
        """Remember why nothing more is asked: an optimizer may swallow the exception."""
        self.stopped = error
        return error


def _kind_of(error: lm15.LM15Error) -> bytes:
    """The part that two failures have in common; their texts name the request."""
    return f"{type(error).__name__} {error.status} {error.provider_code}".encode()


def _ignore() -> None:
    """A thread has nothing to slow down but itself, and the wait does that."""
