"""Runs calls as batches: requests stream in, replies stream out hours later, at half the price."""

import time
from collections import deque
from collections.abc import Callable, Generator, Iterable, Mapping
from dataclasses import dataclass
from itertools import islice

import dspy
from dspy import lm15
from dspy.lm15 import LMRouter

from judgec.errors import UserError
from judgec.lm.backend import LMBudgetError, native_route, service_error
from judgec.lm.batch.client import ATTEMPTS, BatchClient, Fault
from judgec.lm.batch.service import BatchService
from judgec.lm.calls import Answered
from judgec.lm.client import client_of
from judgec.lm.endpoint.exchange import Plain
from judgec.lm.endpoint.features import SettingRefusedError
from judgec.lm.executor import CHUNK, Elsewhere, Executor, Reply, Request, failed_reply, reply_of
from judgec.lm.max_wait import MaxWait
from judgec.lm.spec import LMSpec

IDLE_SECONDS = 0.5  # after which requests are looked for again, and whether anybody still waits
SERVED = ("openai", "anthropic")


@dataclass(slots=True)
class _Awaited:
    """A call of this run, and who asked for it."""

    requests: list[Request]
    plain: Plain
    attempt: int = 1


class BatchExecutor(Executor):
    """As ``Executor``, by batches of one provider.

    Args:
        lm: From ``open_lm``, with a journal.
        client: Of its model.
        clock: Monotonic seconds.
    """

    def __init__(self, lm: dspy.LM, client: BatchClient, *, clock: Callable[[], float] = time.monotonic) -> None:
        super().__init__(lm, clock=clock)
        self.client = client
        self.clock = clock

    def preflight(self) -> None:
        """Look whether the provider can be reached, for nothing.

        Raises:
            ServiceError: When it cannot.
        """
        self.client.check()

    def _groups(self, requests: Iterable[Request]) -> Generator[list[Reply], None, None]:
        self.client.begin()
        run = _Run(self, iter(requests))
        try:
            while True:
                if group := run.take_in():
                    yield group
                self.client.submit()
                if group := run.landed():
                    yield group
                elif run.over():
                    return
                else:
                    self.client.wait(IDLE_SECONDS)
        except KeyboardInterrupt as stopped:
            if said := self.client.standing():
                stopped.add_note(said)
            raise
        finally:
            self.client.withdraw(run.awaited)


class _Run:
    """The calls of one run."""

    def __init__(self, executor: BatchExecutor, source: Iterable[Request]) -> None:
        self.awaited: dict[bytes, _Awaited] = {}
        self._executor, self._source = executor, iter(source)
        self._lm, self._client = client_of(executor.lm), executor.client
        self._elsewhere = Elsewhere(self._lm.calls, executor.clock)
        self._held: deque[tuple[Request, bytes]] = deque()  # the caps have no room for them at the moment
        self._stopped: LMBudgetError | None = None

    def take_in(self) -> list[Reply]:
        """Take requests as long as there are any and they fit the caps; returns what is known."""
        found: list[Reply] = []
        ours, self._held = self._held, deque()
        try:
            found += self._elsewhere.look(ours)
            while self._stopped is None:
                found += self._ask(ours)
                if self._held or not (chunk := list(islice(self._source, CHUNK))):
                    break
                hits, misses = self._executor.look_up(chunk)
                found += hits + self._elsewhere.sort(misses, ours)
        except LMBudgetError as error:
            self._stopped = error
        if self._stopped is not None:
            self._lm.calls.give_back([digest for _, digest in (*ours, *self._held) if digest not in self.awaited])
            self._held.clear()
        return found

    def _ask(self, ours: deque[tuple[Request, bytes]]) -> list[Reply]:
        """Put calls into the next batch; returns those that cannot be sent."""
        failed: list[Reply] = []
        while ours:
            request, digest = ours[0]
            if digest in self.awaited:
                self.awaited[digest].requests.append(request)
            else:
                calls = self._lm.calls
                plain = calls.features.fit(self._lm.plain(request.messages, request.schema))
                assert isinstance(plain, Plain)  # as it was
                try:
                    if not self._client.flying(digest) and not self._client.add(digest, plain, 1):
                        self._held.extend(ours)
                        ours.clear()
                        return failed
                except lm15.LM15Error as error:
                    failed.append(failed_reply(request, error))
                else:
                    self.awaited[digest] = _Awaited([request], plain)
            ours.popleft()
        return failed

    def landed(self) -> list[Reply]:
        """The replies that have come, and the calls that have failed for good; other failed ones are asked again."""
        down = [digest for digest in self.awaited if not self._client.flying(digest)]
        if not down:
            return []
        known = self._lm.calls.journaled_many(down)
        found: list[Reply] = []
        for digest in down:
            one = self.awaited[digest]
            if digest in known:
                del self.awaited[digest]
                first, *others = one.requests
                found.append(reply_of(first, Answered(known[digest], cached=False)))
                found += [reply_of(other, Answered(known[digest], cached=True)) for other in others]
                for _ in others:
                    self._lm.calls.usage.shared()
                continue
            fault = self._client.faults.get(digest)
            if (reason := self._again(digest, one, fault)) is not None:
                del self.awaited[digest]
                found += [Reply(request.key, None, error=reason) for request in one.requests]
        return found

    def _again(self, digest: bytes, one: _Awaited, fault: Fault | None) -> str | None:
        """Ask once more; returns why that is of no use, or None."""
        if fault is not None:
            if fault.attempt >= ATTEMPTS:
                return fault.failed.reason
            features = self._lm.calls.features
            try:
                plainer = features.give_up(one.plain, fault.failed.error)
            except SettingRefusedError:
                plainer = features.fit(one.plain)
            one.plain, one.attempt = plainer if isinstance(plainer, Plain) else one.plain, fault.attempt + 1
        try:
            self._client.add(digest, one.plain, one.attempt)  # without room it is tried again
        except LMBudgetError as error:
            self._stopped = error
            return str(error).partition(";")[0] if fault is None else fault.failed.reason
        return None

    def over(self) -> bool:
        """True if nothing more will come.

        Raises:
            BudgetError: That is so because the caps are reached.
        """
        if self.awaited or self._held:
            return False
        if self._stopped is not None:
            raise self._stopped
        return not self._elsewhere.calls


def require_batches(spec: LMSpec) -> None:
    """A model, or each model of a jury, can be asked in batches, or needs none because nobody is asked.

    Raises:
        UserError: One cannot.
    """
    for one in spec.members.values() or (spec,):
        if one.provider not in SERVED and not one.in_process and one.recorded is None:
            raise UserError(
                f"--batch: {one.model} has no batches that judgec knows; models of {' and '.join(SERVED)} are valid. "
                "Leave --batch out."
            )


def open_service(spec: LMSpec, max_wait: MaxWait, environ: Mapping[str, str] | None) -> BatchService:
    """The batches of the provider of a model.

    Raises:
        UserError: It has none, or their SDK is not installed.
        ServiceError: There is no key.
    """
    require_batches(spec)
    route, config = native_route(spec, environ)
    try:
        client = LMRouter(config).lm(route)
    except lm15.LM15Error as error:
        raise service_error(error, spec) from None
    model = str(route).partition(":")[2]
    if spec.provider == "anthropic":
        from judgec.lm.batch.anthropic_batches import AnthropicBatches

        return AnthropicBatches(spec, client, model, max_wait)
    from judgec.lm.batch.openai_batches import OpenAIBatches  # the SDK takes a second to import

    return OpenAIBatches(spec, client, model, max_wait)
