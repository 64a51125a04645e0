"""A call from the journal, from an equal call in flight, or paid for: once, within the budget, with retries.

The steps are written once, as a generator that asks for what takes time (an attempt, a wait, another call's
reply); a thread and a coroutine each have a small driver that does what is asked.
"""

import asyncio
import threading
import time
from collections.abc import Callable, Generator
from concurrent.futures import Future, wait
from dataclasses import dataclass
from typing import TypeAlias, TypeVar

from dspy import lm15
from dspy.lm15 import Request, Response
from dspy.lm15 import Usage as TokenUsage

from judgec.errors import BudgetError
from judgec.lm import logprobs
from judgec.lm.backend import (
    Backend,
    LMBudgetError,
    LMServiceError,
    Remedy,
    Retries,
    billed_tokens,
    may_have_been_billed,
    prompt_tokens,
    remedy,
    service_error,
    unreachable,
)
from judgec.lm.prices import price
from judgec.lm.spec import LMSpec
from judgec.lm.usage import Budget, Usage
from judgec.store.journal import Journal, JournaledReply

MARGIN = 1.5  # a prompt may have this many times the tokens that its length suggests
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


class _AbandonedError(Exception):
    """The caller was interrupted, not the call: whoever waits for it makes it again."""


_Ask: TypeAlias = Request | _Wait | _Join
_Result = TypeVar("_Result")
_Stop = TypeVar("_Stop", LMServiceError, LMBudgetError)


@dataclass(frozen=True, slots=True)
class Answered:
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
        clock: Callable[[], float] = time.time,
    ) -> None:
        self.backend = backend
        self.usage = usage
        self.stopped: LMServiceError | LMBudgetError | None = None
        self._spec = spec
        self._journal = journal
        self._budget = budget
        self._retries = retries
        self._clock = clock
        self._price = price(spec.model)
        self._flights: dict[bytes, Future[JournaledReply]] = {}
        self._failures = 0
        self._lock = threading.Lock()

    def call(self, request: Request, digest: bytes) -> Answered:
        """The reply to ``request``, driven by this thread.

        Raises:
            ServiceError: When no call can succeed until the user changes something.
            BudgetError: When the call does not fit the caps.
            lm15.LM15Error: When this call failed in spite of retries.
        """
        return self._drive(self._steps(request, digest, _ignore))

    async def acall(self, request: Request, digest: bytes, on_throttled: Callable[[], None]) -> Answered:
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
            answered: Answered = end.value  # what the steps return, which StopIteration does not know
            return answered

    def probe(self, request: Request) -> None:
        """Make a call whatever the journal says, with few retries, and keep nothing of it but the bill.

        Raises:
            ServiceError, BudgetError, lm15.LM15Error: As ``call``.
        """
        self._drive(self._paid(request, None, _ignore, PROBE_ATTEMPTS))

    def journaled(self, digest: bytes) -> Answered | None:
        """The reply in the journal, charged to the budget, or None."""
        reply = None if self._journal is None else self._journal.get(digest)
        return None if reply is None else self.charge(digest, reply)

    def journaled_many(self, digests: list[bytes]) -> dict[bytes, JournaledReply]:
        """Every reply that the journal has; each is to be passed to ``charge`` before it is used."""
        return {} if self._journal is None else self._journal.get_many(digests)

    def charge(self, digest: bytes, reply: JournaledReply) -> Answered:
        """Count a reply from the journal.

        Raises:
            BudgetError: When an uninterrupted run would have stopped here.
        """
        try:
            self._budget.charge_journaled(digest, reply.usd)
        except BudgetError as error:
            raise self._stop(LMBudgetError(str(error))) from None
        self.usage.journaled()
        return Answered(reply, cached=True)

    def _drive(self, steps: Generator[_Ask, Response | None, _Result]) -> _Result:
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
            result: _Result = end.value  # what the steps return, which StopIteration does not know
            return result

    def _do(self, ask: _Ask) -> Response | None:
        if isinstance(ask, Request):
            return self.backend.complete(ask)
        if isinstance(ask, _Wait):
            time.sleep(ask.seconds)
        else:
            wait([ask.flight])
        return None

    async def _ado(self, ask: _Ask) -> Response | None:
        if isinstance(ask, Request):
            return await self.backend.acomplete(ask)
        if isinstance(ask, _Wait):
            await asyncio.sleep(ask.seconds)
        else:
            (landed,), _ = await asyncio.wait([asyncio.wrap_future(ask.flight)])
            landed.exception()  # looked at here, so that asyncio does not report it as lost
        return None

    def _steps(
        self, request: Request, digest: bytes, on_throttled: Callable[[], None]
    ) -> Generator[_Ask, Response | None, Answered]:
        while True:
            with self._lock:
                flight = self._flights.get(digest)
                leading = flight is None
                if flight is None:
                    flight = self._flights[digest] = Future()
                    flight.set_running_or_notify_cancel()  # so that no one who waits can cancel it
            if not leading:
                yield _Join(flight)
                if isinstance(flight.exception(), _AbandonedError):
                    continue
                self.usage.shared()
                return Answered(flight.result(), cached=True)
            try:
                answered = self.journaled(digest)
                if answered is None:
                    paid = yield from self._paid(request, digest, on_throttled, self._retries.attempts)
                    answered = Answered(paid, cached=False)
            except BaseException as error:
                flight.set_exception(error if isinstance(error, Exception) else _AbandonedError())
                raise
            else:
                flight.set_result(answered.reply)
                return answered
            finally:
                with self._lock:
                    del self._flights[digest]

    def _paid(
        self, request: Request, digest: bytes | None, on_throttled: Callable[[], None], attempts: int
    ) -> Generator[_Ask, Response | None, JournaledReply]:
        """Pay for a call; without a digest it is not journaled."""
        most = self._most_usd(request)
        failed = 0
        while True:
            if isinstance(self.stopped, LMServiceError):
                raise LMServiceError(str(self.stopped))
            try:
                while not self._budget.reserve(most):
                    yield _Wait(POLL_SECONDS)
            except BudgetError as error:
                raise self._stop(LMBudgetError(str(error))) from None
            try:
                response = yield request
            except lm15.LM15Error as error:
                self._give_back(error, digest, most)
                failed += 1
                if isinstance(error, lm15.RateLimitError):
                    on_throttled()
                if not self._again(error, failed, attempts):
                    raise
                yield _Wait(self._retries.wait(error, failed))
            except BaseException:
                self._budget.settle(digest, most, None)  # interrupted in flight: it may be billed
                raise
            else:
                if response is None:
                    raise TypeError("a request was answered with nothing")
                return self._finish(request, response, digest, most)

    def _again(self, error: lm15.LM15Error, failed: int, attempts: int) -> bool:
        """Whether to try again.

        Raises:
            LMServiceError: When no call can succeed any more.
        """
        what = remedy(error)
        if what is Remedy.STOP:
            raise self._stop(service_error(error, self._spec)) from error
        nobody = unreachable(error)
        if what is Remedy.RETRY and failed < (min(attempts, UNREACHABLE_ATTEMPTS) if nobody else attempts):
            return True
        self._failures += 1
        if nobody or self._failures >= MOST_FAILURES:
            raise self._stop(service_error(error, self._spec)) from error
        return False

    def _give_back(self, error: lm15.LM15Error, digest: bytes | None, most: float) -> None:
        if may_have_been_billed(error):
            self._budget.settle(digest, most, None)
            self.usage.paid(0, 0, None)
        else:
            self._budget.release(most)

    def _finish(self, request: Request, response: Response, digest: bytes | None, most: float) -> JournaledReply:
        asked, said = billed_tokens(self._spec, request, response)
        usd = self._usd(response.usage, asked, said)
        spans = logprobs.condense(response.logprobs)
        reply = JournaledReply(
            model=self._spec.model,
            served_by=response.model,
            text=response.text or "",
            finish=response.finish_reason,
            logprobs=logprobs.dump(spans),
            input_tokens=asked,
            output_tokens=said,
            usd=usd,
            finished=self._clock(),
        )
        if self._journal is not None and digest is not None:
            self._journal.put(digest, reply)
        self._budget.settle(digest, most, usd)
        self.usage.paid(asked, said, usd)
        self._failures = 0
        return reply

    def _stop(self, error: _Stop) -> _Stop:
        """Remember why nothing more is asked: an optimizer may swallow the exception."""
        self.stopped = error
        return error

    def _most_usd(self, request: Request) -> float:
        if self._price is None:
            return 0.0
        reply = request.config.max_tokens or self._spec.reply_tokens
        return prompt_tokens(request) * MARGIN * self._price.input + reply * self._price.output

    def _usd(self, usage: TokenUsage, asked: int, said: int) -> float | None:
        rate = self._price
        if rate is None:
            return None
        cached = min(usage.cache_read_tokens or 0, asked)
        return (asked - cached) * rate.input + cached * rate.cached + said * rate.output


def _ignore() -> None:
    """A thread has nothing to slow down but itself, and the wait does that."""
