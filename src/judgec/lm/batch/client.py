"""Hands the calls of one model in as batches, looks after these, and brings their replies into the journal."""

import threading
import time
import uuid
from collections import deque
from collections.abc import Callable, Collection, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime

from dspy import lm15

from judgec.lm.backend import LMServiceError
from judgec.lm.batch.service import (
    LARGE,
    BatchService,
    Failed,
    LostReplyError,
    RefusedError,
    Remote,
    UnknownBatchError,
    position_in,
)
from judgec.lm.calls import Calls
from judgec.lm.endpoint import untrusted
from judgec.lm.endpoint.exchange import Bill, Completion, Plain, prompt_tokens
from judgec.lm.journal.batches import BatchedCall, Batches, IntendedBatch
from judgec.lm.journal.journal import Journal
from judgec.lm.journal.leases import Leases
from judgec.lm.prices import BATCH_SHARE
from judgec.lm.spec import LMSpec

SETTLE_SECONDS = 30.0  # a creation that was sent longer ago has arrived, or never will
FIRST_LOOK, MOST_LOOK, SLOWER = 0.5, 60.0, 1.5  # seconds until a batch is looked at again, and how they grow
SAID_SECONDS = 30.0  # between two lines about the same batch
KEPT_DAYS = 30  # OpenAI keeps files that long, Anthropic results 29 days
DAY = 86_400.0
COMMIT = 256  # replies a commit
MOST_LOST = 3  # creations in a row whose replies are lost
MOST_ALTERNATIVES = 20  # log-probabilities a token that anybody can ask for
ATTEMPTS = 2  # a call that failed in a batch is asked in another one


@dataclass(slots=True)
class _Pile:
    """Calls that travel together."""

    calls: list[BatchedCall] = field(default_factory=list)
    bodies: list[bytes] = field(default_factory=list)
    held: dict[bytes, float] = field(default_factory=dict)  # dollars, of calls that the caps hold room for
    size: int = 0
    tokens: int = 0


@dataclass(slots=True)
class _Handed:
    """A batch that was created and is not read yet."""

    intended: IntendedBatch
    remote: Remote
    held: dict[bytes, float]
    due: float
    wait: float = FIRST_LOOK
    said: float = float("-inf")


@dataclass(frozen=True, slots=True)
class Fault:
    """The reason why a call failed.

    Args:
        attempt: The number of the batch that it was in, from 1.
        failed: The reason.
    """

    attempt: int
    failed: Failed


class BatchClient:
    """All batches of one model; several runs may share it, in several threads.

    Args:
        spec: The model.
        service: The provider.
        calls: Of the model; with a journal.
        say: Told what is waited for.
        clock: Seconds since the epoch.
        monotonic: Seconds that never jump.
        sleep: Waits.

    Raises:
        TypeError: There is no journal: what is forgotten would be paid twice.
    """

    def __init__(
        self,
        spec: LMSpec,
        service: BatchService,
        calls: Calls,
        say: Callable[[str], None],
        *,
        clock: Callable[[], float] = time.time,
        monotonic: Callable[[], float] = time.monotonic,
        sleep: Callable[[float], None] = time.sleep,
    ) -> None:
        if calls.journal is None or calls.leases is None:
            raise TypeError("batches need a journal")
        self.faults: dict[bytes, Fault] = {}
        self._spec, self._service, self._calls, self._say = spec, service, calls, say
        self._journal: Journal = calls.journal
        self._leases: Leases = calls.leases
        self._batches = Batches(calls.journal, calls.leases, service.name, calls.backend.identity, spec.model)
        self._bill = Bill(spec, BATCH_SHARE)
        self._clock, self._monotonic, self._sleep = clock, monotonic, sleep
        self._open = _Pile()
        self._ready: deque[_Pile] = deque()
        self._handed: list[_Handed] = []
        self._unsure: list[IntendedBatch] = []  # intended by this process, and nothing more is known of them
        self._flying: set[bytes] = set()
        self._room = float("inf")  # prompt tokens that the provider's queue takes at once
        self._lost = 0
        self._lock = threading.RLock()

    def check(self) -> None:
        """Ask the provider something that costs nothing.

        Raises:
            LMServiceError: The key is refused, or nobody answers.
        """
        with self._missing_endpoint():
            self._service.newest()

    def begin(self) -> None:
        """Pick up the batches of processes that died, and find out what became of those that were perhaps created.

        Raises:
            LMServiceError: The provider does not say.
        """
        with self._lock:
            self._unsure += self._batches.take_over()
            for one in self._unsure:
                digests = [call.digest for call in one.calls]
                self._flying.update(digests)
                self._leases.take(digests)
            for one in sorted(self._unsure, key=lambda each: each.remote is None):
                remote = Remote(one.remote, ended=False) if one.remote else self._resolve(one)
                if remote is None:
                    self._fly_no_more(one.calls)
                    continue
                self._hand_over(one, remote, {})
                when = datetime.fromtimestamp(one.made, UTC).astimezone()
                self._say(f"batch {remote.name}: {len(one.calls):,} calls of {when:%d %B, %H:%M} are picked up")

    def flying(self, digest: bytes) -> bool:
        """True if a call is in a batch, or will be in the next one."""
        return digest in self._flying

    def add(self, digest: bytes, plain: Plain, attempt: int) -> bool:
        """Put a call into the next batch.

        Returns: False when calls in flight hold what the caps allow, so that the caller should wait.

        Raises:
            LMBudgetError: The call does not fit the caps.
            lm15.InvalidRequestError: It cannot be sent.
        """
        body = self._service.encode(plain)
        prompt, reply = round(prompt_tokens(plain)), self._bill.reply_tokens(plain)
        most, size, limits = self._bill.at_most(prompt, reply), self._service.size(body), self._service.limits
        with self._lock:
            if not self._calls.reserve(most):
                return False
            pile = self._open
            full = len(pile.calls) >= limits.requests or pile.size + size > limits.size
            if pile.calls and (full or pile.tokens + prompt > self._room):
                self.submit()
                pile = self._open
            pile.calls.append(BatchedCall(digest, attempt, prompt, reply))
            pile.bodies.append(body)
            pile.held[digest] = most
            pile.size += size
            pile.tokens += prompt
            self.faults.pop(digest, None)
            self._flying.add(digest)
        return True

    def submit(self) -> None:
        """Hand in what was added, as far as the provider's queue has room; the rest later.

        Raises:
            LMServiceError: Nothing can be handed in.
        """
        with self._lock:
            if self._open.calls:
                self._ready.append(self._open)
                self._open = _Pile()
            while self._ready:
                queued = sum(one.intended.tokens for one in self._handed)
                if self._handed and queued + self._ready[0].tokens > self._room:
                    return
                self._send(self._ready.popleft())

    def wait(self, most: float) -> None:
        """Wait a little, then look at the batches whose time has come, and read those that have ended.

        Args:
            most: Seconds.

        Raises:
            LMServiceError: The provider does not answer any more; everything stays as it is.
        """
        now = self._monotonic()
        due = min((one.due for one in self._handed), default=now + most)
        self._sleep(min(most, max(0.0, due - now)))
        with self._lock:
            self._leases.take(())  # says that this process lives
            for one in [one for one in self._handed if one.due <= self._monotonic()]:
                self._look(one)
            self.submit()

    def withdraw(self, digests: Collection[bytes]) -> None:
        """Take calls back that nobody waits for any more and that were not handed in."""
        with self._lock:
            gone = set(digests)
            for pile in (self._open, *self._ready):
                kept = [at for at, call in enumerate(pile.calls) if call.digest not in gone]
                taken = [call for call in pile.calls if call.digest in gone]
                pile.bodies = [pile.bodies[at] for at in kept]
                pile.calls = [pile.calls[at] for at in kept]
                pile.tokens = sum(call.prompt_tokens for call in pile.calls)
                pile.size = sum(map(self._service.size, pile.bodies))
                self._give_back(taken, pile.held)
            self._ready = deque(pile for pile in self._ready if pile.calls)
            self._calls.give_back([digest for digest in digests if digest not in self._flying])

    def standing(self) -> str:
        """One line on what is still to come; empty when nothing is."""
        calls = sum(len(one.intended.calls) for one in self._handed) + sum(len(one.calls) for one in self._unsure)
        if not calls:
            return ""
        return f"{calls:,} calls are in batches of {self._spec.model}; the same command reads them"

    def close(self) -> None:
        """Close the connections; batches stay where they are."""
        self._service.close()

    def _send(self, pile: _Pile) -> None:
        nonce = uuid.uuid4().hex
        with self._missing_endpoint():
            since = self._service.newest()
        one = self._batches.intend(nonce, pile.calls, made=self._clock(), since=since)
        self._unsure.append(one)
        try:
            with self._missing_endpoint():
                file = self._service.upload(nonce, pile.bodies)
                one = self._sending(one, file)
                remote: Remote | None = self._service.create(nonce, file, pile.bodies)
        except RefusedError as error:
            self._void(one)
            self._make_room(pile.calls, error)
            self._give_back(pile.calls, pile.held)
            return
        except LostReplyError as error:
            self._lost += 1
            self._say(f"the reply to the creation of a batch was lost ({error}); looking for the batch")
            remote = self._resolve(one)
        except LMServiceError:
            self._void(one)  # it was refused: nothing was created
            raise
        if remote is None:
            self._give_back(pile.calls, pile.held)
            if self._lost >= MOST_LOST:
                raise LMServiceError(
                    f"--lm {self._spec.model} --batch: {self._lost} batches in a row were not created. Try again later."
                )
            return
        self._lost = 0
        self._hand_over(one, remote, pile.held)
        self._say(f"batch {remote.name}: {len(pile.calls):,} calls are submitted; replies come within 24 hours")

    def _sending(self, one: IntendedBatch, file: str) -> IntendedBatch:
        now = self._clock()
        self._batches.sending(one.row, file, now)
        self._unsure.remove(one)
        one = replace(one, file=file, sent=now)
        self._unsure.append(one)
        return one

    def _hand_over(self, one: IntendedBatch, remote: Remote, held: dict[bytes, float]) -> None:
        self._batches.created(one.row, remote.name)
        self._handed.append(_Handed(one, remote, held, self._monotonic() + FIRST_LOOK))
        self._unsure.remove(one)

    def _void(self, one: IntendedBatch) -> None:
        self._batches.void(one.row)
        self._unsure.remove(one)

    def _resolve(self, one: IntendedBatch) -> Remote | None:
        """The batch that was perhaps created; None when it certainly was not, and will not be."""
        if one.sent is None:
            self._void(one)
            return None
        began, wait, forbidden = self._monotonic(), FIRST_LOOK, False
        until = began + min(SETTLE_SECONDS, max(0.0, one.sent + SETTLE_SECONDS - self._clock()))
        while True:
            with self._missing_endpoint():
                search = self._service.find(one.nonce, one.since, self._batches.known())
            if search.found is not None:
                return search.found
            self._leases.take(())
            if search.unclear:
                self._say(
                    f"{search.unclear} batches of the account must end before it is known whether "
                    f"{len(one.calls):,} calls were submitted: the reply to that was lost"
                )
                self._sleep(wait)
                wait = min(MOST_LOOK, wait * SLOWER)
            elif self._monotonic() < until:
                self._sleep(min(1.0, until - self._monotonic()))
            elif forbidden:
                self._void(one)
                return None
            else:
                self._service.forbid(one.file)
                forbidden = True

    def _look(self, one: _Handed) -> None:
        try:
            one.remote = remote = self._service.look(one.remote.name)
        except UnknownBatchError as error:
            self._forget_old(one, error)
            return
        now, calls = self._monotonic(), one.intended.calls
        one.wait = min(MOST_LOOK, one.wait * SLOWER)
        one.due = now + one.wait
        if not remote.ended:
            if now > one.said + SAID_SECONDS:
                one.said = now
                self._say(f"batch {remote.name}: {remote.done:,} of {len(calls):,} calls are done")
        elif remote.no_room:
            self._handed.remove(one)
            self._batches.void(one.intended.row)
            self._make_room(calls, RefusedError(remote.why, no_room=True))
            self._give_back(calls, one.held)
        else:
            self._read(one)

    def _read(self, one: _Handed) -> None:
        reading = _ResultReader(self, one)
        if not one.remote.why:
            longest = max(call.reply_tokens for call in one.intended.calls)
            most = untrusted.most_bytes(longest, MOST_ALTERNATIVES)
            try:
                self._service.results(one.remote, most, reading.take)
            except UnknownBatchError as error:
                self._forget_old(one, error)
                return
        reading.end()
        self._handed.remove(one)
        self._batches.read(one.intended.row)
        unanswered = [call for call in one.intended.calls if call.digest in self._flying]
        self._give_back(unanswered, one.held)
        read = len(one.intended.calls) - len(unanswered)
        self._say(f"batch {one.remote.name}: {read:,} of {len(one.intended.calls):,} replies are read")

    def keep(self, one: _Handed, replies: Sequence[tuple[BatchedCall, Completion]]) -> None:
        """Journal replies, in one commit; those that are there already are left as they are."""
        known = self._journal.get_many([call.digest for call, _ in replies])
        new = [
            (call.digest, self._bill.of(said, call.prompt_tokens, call.reply_tokens, self._clock()))
            for call, said in replies
            if call.digest not in known
        ]
        self._journal.put_many(new)
        for digest, reply in new:
            if digest in one.held:
                self._calls.budget.settle(digest, one.held.pop(digest), reply.usd)
            else:
                self._calls.budget.paid_before(digest, reply.usd)
            self._calls.usage.paid(reply.input_tokens, reply.output_tokens, reply.usd)
        self._fly_no_more([call for call, _ in replies])

    def _forget_old(self, one: _Handed, error: Exception) -> None:
        """Forgets batches that the provider keeps no longer; their calls are asked anew.

        Raises:
            LMServiceError: It is too young for that.
        """
        when = datetime.fromtimestamp(one.intended.made, UTC).astimezone()
        if self._clock() < one.intended.made + KEPT_DAYS * DAY:
            raise LMServiceError(
                f"--lm {self._spec.model} --batch: batch {one.remote.name} of {when:%d %B, %H:%M} is not known there "
                f"({error}). Use the key of the account that it was submitted with."
            )
        self._say(f"batch {one.remote.name} of {when:%d %B} is no longer kept there: its calls are asked again")
        self._handed.remove(one)
        self._batches.void(one.intended.row)
        self._give_back(one.intended.calls, one.held)

    def _make_room(self, calls: Sequence[BatchedCall], error: RefusedError) -> None:
        """Send less at once from now on; the calls are added anew by whoever waits for them."""
        queued = sum(one.intended.tokens for one in self._handed)
        tokens = sum(call.prompt_tokens for call in calls)
        if queued:
            self._room = min(self._room, max(queued, tokens))
        elif len(calls) > 1:
            self._room = min(self._room, tokens) // 2
        else:
            self.faults[calls[0].digest] = Fault(ATTEMPTS, Failed(lm15.InvalidRequestError(str(error), status=LARGE)))
        self._say(f"there is no room for {len(calls):,} calls at once ({error}); they are submitted in smaller batches")

    def _give_back(self, calls: Sequence[BatchedCall], held: dict[bytes, float]) -> None:
        """Calls that were not made: the caps have their room again."""
        for call in calls:
            if call.digest in held:
                self._calls.budget.release(held.pop(call.digest))
        self._fly_no_more(calls)

    def _fly_no_more(self, calls: Sequence[BatchedCall]) -> None:
        for call in calls:
            self._calls.ended(call.digest)
            self._leases.held.discard(call.digest)
            self._flying.discard(call.digest)

    @contextmanager
    def _missing_endpoint(self) -> Iterator[None]:
        try:
            yield
        except UnknownBatchError as error:
            endpoint = self._spec.api_base or f"the {self._spec.provider} API"
            raise LMServiceError(
                f"--lm {self._spec.model} --batch: {endpoint} has no batches ({error}). Leave --batch out."
            ) from None


class _ResultReader:
    """The results of one batch on their way into the journal."""

    def __init__(self, client: BatchClient, one: _Handed) -> None:
        self._client, self._one = client, one
        self._calls, self._nonce = one.intended.calls, one.intended.nonce
        self._seen: set[int] = set()
        self._failed: dict[int, Failed] = {}
        self._new: list[tuple[BatchedCall, Completion]] = []

    def take(self, name: str, said: Completion | Failed) -> None:
        """The first reply to a call counts."""
        at = position_in(self._nonce, name, len(self._calls))
        if at is None or at in self._seen:
            return
        if isinstance(said, Failed):
            self._failed[at] = said
            return
        self._seen.add(at)
        self._new.append((self._calls[at], said))
        if len(self._new) >= COMMIT:
            self._keep()

    def end(self) -> None:
        """Everything was read: what has no reply has failed."""
        self._keep()
        for at, call in enumerate(self._calls):
            if at not in self._seen:
                why = self._one.remote.why or "no result of it came"
                failed = self._failed.get(at) or Failed(lm15.ServerError(why))
                self._client.faults[call.digest] = Fault(call.attempt, failed)

    def _keep(self) -> None:
        self._client.keep(self._one, self._new)
        self._new = []
