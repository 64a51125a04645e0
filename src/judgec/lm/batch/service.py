"""Says what a provider of batches can do, and what its answers mean, whatever it is called."""

import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from importlib import import_module
from typing import Any, Protocol, TypeVar

import orjson
from dspy import lm15

from judgec.lm.backend import LMServiceError, first_line
from judgec.lm.endpoint import untrusted
from judgec.lm.endpoint.bounded import GIVEN_UP, exchanging
from judgec.lm.endpoint.exchange import Completion, Plain
from judgec.lm.endpoint.wire import retry_after
from judgec.lm.max_wait import MaxWait
from judgec.lm.redirects import ElsewhereError
from judgec.lm.spec import LMSpec

JsonObject = Mapping[str, Any]  # parsed JSON; each reader checks what it takes from it
T = TypeVar("T")
NONCE = "judgec"  # the key of OpenAI's metadata
FIRST_WAIT, MOST_WAIT = 1.0, 30.0  # seconds between attempts at a request that may be repeated
MOST_LISTED = 100_000  # batches of an account: a server that lists without end is no provider
READING_SECONDS = 3600.0  # that the results of a batch may take to come
NO_ROOM = {"token_limit_exceeded", "batch_queue_limit"}  # the provider's queue is full
LARGE = 413
OF_THE_HOOKS = (ElsewhereError, *GIVEN_UP)  # some SDKs raise them as they are
BUSY = {408, 409, 429}
UNSURE = {408, 409}
DENIED = {401, 403}
MISSING, BROKEN = 404, 500


@dataclass(frozen=True, slots=True)
class BatchLimits:
    """Limits of a batch.

    Args:
        requests: At most.
        size: Bytes, at most.
    """

    requests: int
    size: int


@dataclass(frozen=True, slots=True)
class Remote:
    """A batch as the provider tells of it.

    Args:
        name: The provider's.
        ended: Nothing more will come.
        why: Why it ended without results, or empty.
        no_room: It was refused for a full queue: nothing of it was asked.
        done: Requests that are finished, as far as the provider says.
        created: By the provider's clock, in seconds since the epoch.
        files: Where the results are.
    """

    name: str
    ended: bool
    why: str = ""
    no_room: bool = False
    done: int = 0
    created: float = 0.0
    files: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Failed:
    """A call that its batch gave no reply to.

    Args:
        error: What the provider says, as DSPy's client would raise it.
    """

    error: lm15.LM15Error

    @property
    def reason(self) -> str:
        """In a line."""
        return f"in a batch: {first_line(self.error)}"


Take = Callable[[str, Completion | Failed], None]
"""Told the ``custom_id`` of a request and what came of it; perhaps more than once, when reading begins anew."""


class RefusedError(Exception):
    """A batch was not created; it is certain.

    Args:
        no_room: There is too much in it, or in the provider's queue.
    """

    def __init__(self, said: str, *, no_room: bool) -> None:
        super().__init__(said)
        self.no_room = no_room


class LostReplyError(Exception):
    """A batch may have been created: the reply to its creation did not come."""


class UnknownBatchError(Exception):
    """The provider knows no batch of that name."""


@dataclass(frozen=True, slots=True)
class BatchSearch:
    """Result of looking for a batch by its nonce.

    Args:
        found: The batch, or None.
        unclear: How many batches may still turn out to be it.
    """

    found: Remote | None
    unclear: int = 0


class BatchService(Protocol):
    """A provider of batches; every method talks to it anew and raises ``LMServiceError`` when it fails for good."""

    @property
    def name(self) -> str:
        """``openai`` or ``anthropic``."""

    @property
    def limits(self) -> BatchLimits:
        """Of one batch."""

    def encode(self, plain: Plain) -> bytes:
        """The body of a request, as JSON."""

    def size(self, body: bytes) -> int:
        """Bytes that a request takes in a batch."""

    def newest(self) -> float:
        """Time when the newest batch was created, by the provider's clock; 0 when there is none."""

    def upload(self, nonce: str, bodies: Sequence[bytes]) -> str:
        """Send the requests ahead; returns the provider's name of the file, or nothing where none is needed.

        Raises:
            RefusedError: They are too large.
        """

    def create(self, nonce: str, file: str, bodies: Sequence[bytes]) -> Remote:
        """Create a batch, once.

        Raises:
            RefusedError: There is none.
            LostReplyError: There may be one.
        """

    def look(self, name: str) -> Remote:
        """Looks at the progress of a batch.

        Raises:
            UnknownBatchError: There is none of that name.
        """

    def results(self, remote: Remote, most: int, take: Take) -> None:
        """Reports the results of its requests, in any order, some perhaps missing.

        Args:
            remote: One that has ended.
            most: Bytes of a reply, at most.
            take: Told of each.
        """

    def find(self, nonce: str, since: float, known: set[str]) -> BatchSearch:
        """Look for a batch of that nonce.

        Args:
            nonce: Ours.
            since: What ``newest`` said before.
            known: Names that stand for other batches of ours.
        """

    def forbid(self, file: str) -> None:
        """See to it that no batch can be created from an uploaded file any more."""

    def close(self) -> None:
        """Close the connections."""


def custom_id(nonce: str, position: int) -> str:
    """The name of a request in a batch: at most 64 letters, digits and hyphens."""
    return f"{nonce}-{position}"


def position_in(nonce: str, name: str, count: int) -> int | None:
    """Position of the request that a ``custom_id`` names in a batch; None when it is none of these."""
    whose, _, number = name.rpartition("-")
    if whose != nonce or not (number.isascii() and number.isdigit()) or len(number) > len(str(count)):
        return None
    return int(number) if int(number) < count else None


class Talk:
    """Makes requests through an SDK and says what its failures mean.

    Args:
        spec: The model.
        broken: The SDK's exceptions without a reply.
        refused: Its exceptions with one, which have ``status_code``, ``code``, ``message`` and ``response``.
        max_wait: How long an endpoint may ask to wait, or stay away.
        sleep: Waits.
        clock: Seconds since the epoch.
    """

    def __init__(
        self,
        spec: LMSpec,
        broken: tuple[type[Exception], ...],
        refused: type[Exception],
        max_wait: MaxWait,
        sleep: Callable[[float], None] = time.sleep,
        clock: Callable[[], float] = time.time,
    ) -> None:
        self._spec = spec
        self._broken, self._refused = (*broken, *OF_THE_HOOKS), refused
        self._max_wait, self._sleep, self._clock = max_wait, sleep, clock

    def again(self, ask: Callable[[], T], *, streamed: bool = False) -> T:
        """The answer to what may be asked any number of times.

        Args:
            ask: Asks.
            streamed: It reads the reply piece by piece, and sees to its size and time.

        Raises:
            LMServiceError: It keeps failing, or no answer can come.
            UnknownBatchError: There is no such thing.
            RefusedError: It is too large.
        """
        waited, wait = 0.0, FIRST_WAIT
        while True:
            try:
                if streamed:
                    return ask()
                with exchanging(untrusted.MOST_BODY, self._spec.timeout):
                    return ask()
            except (*self._broken, self._refused) as error:
                asked = self._asked_to_wait(error)
                seconds = wait if asked is None else max(wait, asked)
                if waited + seconds > self._max_wait.seconds or not self._passes(error):
                    raise self._final(error) from None
                said = self.said(error)
            self._max_wait.tell(seconds, self._clock(), said)
            self._sleep(seconds)
            waited, wait = waited + seconds, min(2 * wait, MOST_WAIT)

    def once(self, create: Callable[[], T]) -> T:
        """The answer to a creation.

        Raises:
            RefusedError, LostReplyError: As ``BatchService.create``.
            LMServiceError: Nothing can be created.
        """
        waited, wait = 0.0, FIRST_WAIT
        while True:
            try:
                with exchanging(untrusted.MOST_BODY, self._spec.timeout):
                    return create()
            except self._broken as error:
                raise LostReplyError(self.said(error)) from None
            except self._refused as error:
                status, code = _status(error), _code(error)
                if status >= BROKEN or status in UNSURE:
                    raise LostReplyError(self.said(error)) from None
                if status == LARGE or code in NO_ROOM:
                    raise RefusedError(self.said(error), no_room=True) from None
                asked = self._asked_to_wait(error)
                seconds = wait if asked is None else max(wait, asked)
                if status not in BUSY or not self._passes(error) or waited + seconds > self._max_wait.seconds:
                    raise self._final(error) from None
                said = self.said(error)
            self._max_wait.tell(seconds, self._clock(), said)
            self._sleep(seconds)
            waited, wait = waited + seconds, min(2 * wait, MOST_WAIT)

    def said(self, error: Exception) -> str:
        """The error in a line; never with a key."""
        status = _status(error)
        return f"{f'HTTP {status}: ' if status else ''}{first_line(_elsewhere(error) or error.__cause__ or error)}"

    def _passes(self, error: Exception) -> bool:
        """True if the same may succeed later."""
        status = _status(error)
        if _elsewhere(error) is not None or _code(error) in {"insufficient_quota", "billing_hard_limit_reached"}:
            return False
        return not status or status >= BROKEN or status in BUSY

    def _asked_to_wait(self, error: Exception) -> float | None:
        response = getattr(error, "response", None)
        return None if response is None else retry_after(response.headers, self._clock)

    def _final(self, error: Exception) -> Exception:
        where = f"--lm {self._spec.model} --batch"
        endpoint = self._spec.api_base or f"the {self._spec.provider} API"
        status, said = _status(error), self.said(error)
        if status == MISSING:
            return UnknownBatchError(said)
        if status == LARGE:
            return RefusedError(said, no_room=True)
        if status in DENIED:
            return LMServiceError(f"{where}: {endpoint} refused the key ({said}). Check the key in the environment.")
        if self._passes(error):
            advice = "What was submitted stays: the same command picks it up. Try again later."
        else:
            advice = "Check the account, or leave --batch out."
        return LMServiceError(f"{where}: {endpoint} fails ({said}). {advice}")


def transport_error(client: type) -> type[Exception]:
    """The exception that the HTTP library of an SDK raises when a connection breaks in the middle of a reply.

    Args:
        client: The SDK's own subclass of that library's client.
    """
    library = import_module(client.__mro__[1].__module__.partition(".")[0])
    found: type[Exception] = library.HTTPError
    return found


def _elsewhere(error: BaseException | None) -> ElsewhereError | None:
    while error is not None and not isinstance(error, ElsewhereError):
        error = error.__cause__ or error.__context__
    return error


def _status(error: Exception) -> int:
    status = getattr(error, "status_code", 0)
    return status if isinstance(status, int) else 0


def _code(error: Exception) -> str:
    """The code of the error object in a reply."""
    body = getattr(error, "body", None)
    inner = body.get("error", body) if isinstance(body, dict) else None
    code = inner.get("code") if isinstance(inner, dict) else None
    return code if isinstance(code, str) else ""


def json_lines(chunks: Iterable[bytes], most: int, clock: Callable[[], float] = time.monotonic) -> Iterator[JsonObject]:
    """The objects of a file of JSON lines; what is no object, or longer than it may be, is left out.

    Args:
        chunks: Of the file.
        most: Bytes of a line.
        clock: Monotonic seconds.

    Raises:
        ValueError: The file takes too long to come.
    """
    began, rest, skipping = clock(), bytearray(), False
    for chunk in chunks:
        if clock() > began + READING_SECONDS:
            raise ValueError(f"the results took longer than {READING_SECONDS:g} s")
        *lines, last = bytes(chunk).split(b"\n")
        for line in lines:
            rest += line
            if not skipping and len(rest) <= most and (found := _object(bytes(rest))) is not None:
                yield found
            rest, skipping = bytearray(), False
        rest += last
        if len(rest) > most:
            rest, skipping = bytearray(), True
    if not skipping and (found := _object(bytes(rest))) is not None:
        yield found


def _object(line: bytes) -> JsonObject | None:
    try:
        found = orjson.loads(line) if line.strip() else None
    except orjson.JSONDecodeError:
        return None
    return found if isinstance(found, dict) else None


def seconds_of(value: object) -> float:
    """A moment of the provider's clock; 0 when it is none."""
    return untrusted.seconds(value) or 0.0
