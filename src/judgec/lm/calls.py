"""Answers a call from the journal, from an equal call in flight, or by paying: once, within the budget, with retries.

The steps are written once, as a generator that asks for what takes time (an attempt, a wait, another call's
reply); a thread and a coroutine each have a small driver that does what is asked.
"""

import asyncio
import threading
import time
from collections.abc import Callable, Generator
from concurrent.futures import Future, wait
from dataclasses import dataclass
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
from judgec.lm.patience import ImpatientError, Patience
from judgec.lm.spec import LMSpec
from judgec.lm.usage import Budget, Usage
from judgec.store.journal.journal import Journal, JournaledReply
from judgec.store.journal.leases import Leases
from judgec.store.journal.lookups import Lookups
from judgec.store.journal.together import Together

LEASE_POLL_SECONDS = 0.25  # how often a call that another process makes is looked for
POLL_SECONDS = 0.005  # how often a call asks again for room that calls in flight hold
MOST_FAILURES = 20  # calls in a row that fail in spite of retries before the endpoint counts as down
PROBE_ATTEMPTS = 2  # of the first call of a run: the user is waiting
UNREACHABLE_ATTEMPTS = 3  # attempts when nobody listens: a server may be restarting


@dataclass(frozen=True, slots=True)
class _Wait:
    seconds: float


@dataclass(frozen=True, slots=True)
class _Join:
    flight: Future[JournaledReply]


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
        patience: How long a call waits for an endpoint that asks for time.
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
        patience: Patience | None = None,
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
        self.leases = None if journal is None or backend.local else Leases(journal, clock)
        self.budget = budget
        self._retries = retries
        self._patience = patience or Patience()
        self._clock = clock
        self._bill = Bill(spec)
        self.features = Features()
        self._flights: dict[bytes, Future[JournaledReply] | None] = {}  # None while only one waits
        self._failures = 0
        self._answered = False
        self._lock = threading.Lock()

    @property
    def backend(self) -> Backend:
        """Who answers; it may be changed between calls."""
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

    def probe(self, request: Request | Plain) -> None:
        """Make a call whatever the journal says, with few retries, and keep nothing of it but the bill.

        Raises:
            ServiceError, BudgetError, lm15.LM15Error: As ``call``.
        """
        self._drive(self._paid(request, None, _ignore, PROBE_ATTEMPTS))

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
            wait([ask.flight])
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
        self, request: Request | Plain, digest: bytes, on_throttled: Callable[[], None]
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
                return (yield from self._lead(request, digest, on_throttled))
            yield _Join(flight)
            if not isinstance(flight.exception(), _AbandonedError):
                self.usage.shared()
                return Answered(flight.result(), cached=True)

    def _lead(
        self, request: Request | Plain, digest: bytes, on_throttled: Callable[[], None]
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
                paid = yield from self._paid(request, digest, on_throttled, self._retries.attempts)
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
        """Whether this process holds a call now, and nobody has made it meanwhile."""
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
        self, request: Request | Plain, digest: bytes | None, on_throttled: Callable[[], None], attempts: int
    ) -> Generator[_Ask, _Answer, JournaledReply]:
        """Pay for a call; without a digest it is not journaled."""
        most = self._bill.most(request)
        failed, waited, worked = 0, 0.0, 0.0  # seconds between attempts, and of attempts that failed
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
                failed += 1
                if isinstance(error, lm15.RateLimitError):
                    on_throttled()
                worked += time.monotonic() - began
                why = first_line(error)
                wait = self._patience.fit(self._retries.wait(error, failed), waited, error.retry_after)
                judged = self._patience.check(error, waited, wait, why)
                if not self._again(judged, failed, attempts if worked < whole_seconds(self._spec) else failed):
                    raise judged  # noqa: B904 - it says what the other one said
                self._patience.tell(wait, self._clock(), why)
                waited += wait
                yield _Wait(wait)
            except BaseException:
                self.budget.settle(digest, most, None)  # interrupted in flight: it may be billed
                raise
            else:
                if response is None:
                    raise TypeError("a request was answered with nothing")
                reply = self._bill.record(request, response, self._clock())
                self.budget.settle(digest, most, reply.usd)  # first: whatever becomes of it now, it is paid
                self.usage.paid(reply.input_tokens, reply.output_tokens, reply.usd)
                if self.journal is not None and digest is not None:
                    yield _Keep(digest, reply)
                self._failures, self._answered = 0, True
                return reply

    def _again(self, error: lm15.LM15Error, failed: int, attempts: int) -> bool:
        """Whether to try again.

        Raises:
            LMServiceError: When no call can succeed any more.
        """
        what = remedy(error)
        if what is Remedy.STOP:
            raise self._stop(service_error(error, self._spec)) from error
        nobody = unreachable(error)
        most = min(attempts, UNREACHABLE_ATTEMPTS) if nobody else attempts
        if what is Remedy.RETRY and failed < most and not isinstance(error, ImpatientError):
            return True
        if what is Remedy.GIVE_UP and (self._answered or self.backend.local):
            return False  # the endpoint is well: it is this call, however many follow that are like it
        self._failures += 1
        if nobody or self._failures >= MOST_FAILURES:
            raise self._stop(service_error(error, self._spec)) from error
        return False

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


def _ignore() -> None:
    """A thread has nothing to slow down but itself, and the wait does that."""
