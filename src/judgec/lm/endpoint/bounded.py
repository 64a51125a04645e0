"""Connections for DSPy's own clients, as careful as the pool's: no redirects, no endless replies, no odd counts."""

import threading
import time
import zlib
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager, suppress
from contextvars import ContextVar
from dataclasses import dataclass
from socket import SHUT_RDWR
from typing import Any
from urllib.parse import urlsplit

from dspy import lm15
from dspy._vendor.lm15.transports import (
    AsyncTransportResponse,
    StdlibAsyncTransport,
    StdlibTransport,
    TransportResponse,
)

from judgec.lm.endpoint import untrusted
from judgec.lm.endpoint.unpack import Unpacker
from judgec.lm.redaction import clean

REDIRECTS, ERRORS = 300, 400  # the first status of each kind


class TooLongError(Exception):
    """A reply that has more bytes than the tokens that were asked for can have."""


GIVEN_UP = (TooLongError, lm15.TimeoutError, zlib.error)  # what the hooks of clients raise


@dataclass(slots=True)
class Exchanged:
    """One call through these connections.

    Args:
        most: Bytes that its reply may have.
        whole: Seconds that a reply may take in all.
        answered: A reply has come in whole: what fails behind it is the reply's fault.
        too_long: It had more bytes.
        late: It took longer. LiteLLM wraps the errors that say so.
    """

    most: int
    whole: float
    answered: bool = False
    too_long: bool = False
    late: bool = False


_NOW: ContextVar[Exchanged | None] = ContextVar("exchanged", default=None)


@contextmanager
def exchanging(most: int, whole: float) -> Iterator[Exchanged]:
    """Make a call in here whose reply may have ``most`` bytes and take ``whole`` seconds."""
    call = Exchanged(most, whole)
    token = _NOW.set(call)
    try:
        yield call
    finally:
        _NOW.reset(token)


def _now(whole: float) -> Exchanged:
    return _NOW.get() or Exchanged(untrusted.MOST_BODY, whole)


def redirected(status: int, location: str | None) -> Exception:
    """The error for a reply that sends the prompt elsewhere; it says to which host."""
    there = untrusted.name(clean(urlsplit(location or "").netloc.rpartition("@")[2])) or "nowhere"
    raised: Exception = lm15.InvalidRequestError(  # DSPy is untyped
        f"HTTP {status}: redirects to {there}, which is not followed", status=status
    )
    return raised


class _Parts:
    """The body of a reply as it comes in."""

    def __init__(self, call: Exchanged, encoding: str | None = None) -> None:
        self._call = call
        self._unpacker = Unpacker(encoding)
        self._left = call.most
        self._until = time.monotonic() + call.whole
        self._parts: list[bytes] = []

    def check(self, response: Any) -> None:  # DSPy is untyped
        if REDIRECTS <= response.status < ERRORS:
            raise redirected(response.status, response.header("location"))
        codings = [value for name, value in response.headers if name.lower() == "content-encoding"]
        if "," in ",".join(codings):  # the client would unpack every layer of a chunk without end
            raise lm15.ProviderError("the reply is packed more than once", status=response.status)

    def add(self, chunk: bytes) -> None:
        part = self._unpacker.add(chunk, self._left)
        self._left -= len(part)
        if self._left < 0:
            self._call.too_long = True
            raise TooLongError(f"a reply of more than {self._call.most:,} bytes")
        if time.monotonic() > self._until:
            self._call.late = True
            raise lm15.TimeoutError(f"no whole reply in {self._call.whole:g} s")
        self._parts.append(part)

    def body(self, status: int) -> bytes:
        self._unpacker.end()
        self._call.answered = True
        body = b"".join(self._parts)
        return body if status >= ERRORS else untrusted.counted(body)


class BoundedTransport(StdlibTransport):  # type: ignore[misc]  # DSPy is untyped
    """For calls in a thread.

    Args:
        whole: Seconds that a reply may take in all.
        limits: As of the class that it extends.
    """

    def __init__(self, whole: float, **limits: float) -> None:
        super().__init__(**limits)
        self._whole = whole

    def stream(self, request: Any) -> Any:  # DSPy is untyped
        """The reply, read."""
        parts = _Parts(_now(self._whole))
        with super().stream(request) as response:
            parts.check(response)
            for part in response:
                parts.add(part)
        return TransportResponse(**_about(response), chunks=iter([parts.body(response.status)]), release=_done)

    def _read_head(self, conn: Any, *, read_timeout: float) -> Any:  # DSPy is untyped
        # Each byte renews the time that a read may take; this is the time of all of them.
        late = threading.Timer(self._whole, conn.sock.shutdown, (SHUT_RDWR,))
        late.daemon = True
        late.start()
        try:
            return super()._read_head(conn, read_timeout=read_timeout)
        finally:
            late.cancel()


class BoundedAsyncTransport(StdlibAsyncTransport):  # type: ignore[misc]  # DSPy is untyped
    """For calls on an event loop.

    Args:
        whole: Seconds that a reply may take in all.
        limits: As of the class that it extends.
    """

    def __init__(self, whole: float, **limits: float) -> None:
        super().__init__(**limits)
        self._whole = whole

    @asynccontextmanager
    async def stream(self, request: Any) -> AsyncIterator[Any]:  # DSPy is untyped
        """The reply, read."""
        parts = _Parts(_now(self._whole))
        async with super().stream(request) as response:
            parts.check(response)
            async for part in response:
                parts.add(part)
        yield AsyncTransportResponse(**_about(response), chunks=_one(parts.body(response.status)), release=_adone)


def _about(response: Any) -> dict[str, Any]:  # DSPy is untyped
    return {name: getattr(response, name) for name in ("status", "reason", "headers", "http_version")}


def _done(body_consumed: bool) -> None:  # as the client calls it
    """The connection has been given back already."""


async def _adone(body_consumed: bool) -> None:  # as the client calls it
    """As ``_done``."""


async def _one(body: bytes) -> AsyncIterator[bytes]:
    yield body


def read_within(response: Any) -> None:  # of the HTTP libraries of LiteLLM and the SDKs, which are no dependencies
    """Read the reply to a call of ours, of a client that is used in a thread; a hook of such clients."""
    if (call := _NOW.get()) is not None and not response.is_stream_consumed:  # as a transport without a network gives
        parts = _Parts(call, response.headers.get("content-encoding"))
        for part in response.iter_raw():  # the library would unpack a chunk, or what is packed twice, without end
            parts.add(part)
        _keep(response, parts)


async def aread_within(response: Any) -> None:  # as above
    """The same on an event loop."""
    if (call := _NOW.get()) is not None:
        parts = _Parts(call, response.headers.get("content-encoding"))
        async for part in response.aiter_raw():
            parts.add(part)
        _keep(response, parts)


class Deadline:
    """Ends requests whose replies do not come in whole in time, however steadily they drip; hooks of an SDK's client.

    Args:
        whole: Seconds from the last byte of a request to the last of its reply; to the head where nobody reads
            the reply ``exchanging``, as of files.
    """

    def __init__(self, whole: float) -> None:
        self._whole = whole

    def begin(self, request: Any) -> None:  # as above
        """Before a request."""
        request.headers["Connection"] = "close"  # a connection of its own, which can be ended
        request.extensions["trace"] = _Watched(self._whole)

    def end(self, response: Any) -> None:  # as above
        """At the head of its reply."""
        try:
            read_within(response)
        finally:
            response.request.extensions["trace"].stop()


class _Watched:
    """Told by the library what it does with one request; a request that fails leaves a timer that ends nothing."""

    def __init__(self, whole: float) -> None:
        self._socket: Any = None  # plain, or of TLS
        self._late = threading.Timer(whole, self._cut)
        self._late.daemon = True

    def __call__(self, event: str, about: dict[str, Any]) -> None:
        opened: Any = about.get("return_value")  # as above
        if hasattr(opened, "get_extra_info"):
            self._socket = opened.get_extra_info("socket")
        elif event.endswith("send_request_body.complete"):
            self._late.start()

    def stop(self) -> None:
        self._late.cancel()

    def _cut(self) -> None:
        with suppress(OSError):  # it is closed already
            self._socket.shutdown(SHUT_RDWR)


def _keep(response: Any, parts: _Parts) -> None:  # as above
    response._content = parts.body(response.status_code)  # noqa: SLF001 - where its read() keeps what it has read
