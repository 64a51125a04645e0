"""OpenAI-compatible endpoints over kept connections: a small part of the usual client's cost a call."""

import asyncio
import os
import ssl
import time
import zlib
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from functools import cache
from io import BytesIO
from types import SimpleNamespace
from typing import NamedTuple
from urllib.parse import urlsplit
from urllib.request import getproxies, proxy_bypass
from weakref import WeakKeyDictionary

import aiohttp
import certifi
from aiohttp.tracing import Trace
from dspy import lm15
from dspy.lm15 import LMRouter

from judgec import __version__
from judgec.lm.backend import CONNECT_SECONDS, ClientBackend, UnreadError, native_route, whole_seconds
from judgec.lm.endpoint import untrusted
from judgec.lm.endpoint.bounded import ERRORS, REDIRECTS, redirected
from judgec.lm.endpoint.exchange import Completion, Plain
from judgec.lm.endpoint.unpack import ENCODINGS, Unpacker
from judgec.lm.endpoint.wire import Wire
from judgec.lm.spec import LMSpec

KEEP_SECONDS = 4.0  # an idle connection; common servers (uvicorn) close theirs after 5
LONGEST_LINE = 65_536  # bytes of a line of a reply's head
CLOSED_SECONDS = 0.5  # a kept connection that ends so soon, without a byte, was closed as the request came
UNREAD = (aiohttp.ClientConnectorError, aiohttp.ConnectionTimeoutError, aiohttp.ClientConnectionResetError)
PACE_SECONDS = 0.005  # between new connections: a server that accepts slowly drops what comes at once


class HttpReply(NamedTuple):
    """The reply of an endpoint.

    Args:
        status: 200 and above.
        headers: By their names in lower case.
        body: Unpacked; None when it has more bytes than it may have. That of a redirect is not read.
    """

    status: int
    headers: Mapping[str, str]
    body: bytes | None


@dataclass(slots=True)
class _Place:
    """Of one post: whether it holds a connection, and since when one that had served before."""

    held: bool = False
    reused: float | None = None


class _Pace:
    """The pace of new connections: one every ``PACE_SECONDS``, but at once where one was closed."""

    def __init__(self) -> None:
        self._held = 0  # connections that posts hold
        self._widest = 0  # most of them at once since nobody asked
        self._next = 0.0  # when the next may be opened, by the loop's clock
        self.config = aiohttp.TraceConfig()
        self.config.on_connection_create_start.append(self._opening)
        self.config.on_connection_reuseconn.append(self._reused)

    async def _opening(self, _session: object, context: SimpleNamespace, _about: object) -> None:
        if self._held >= self._widest:
            loop = asyncio.get_running_loop()
            now = loop.time()
            wait, self._next = max(0.0, self._next - now), max(now, self._next) + PACE_SECONDS
            if wait:
                await asyncio.sleep(wait)
        self._hold(context)

    async def _reused(self, _session: object, context: SimpleNamespace, _about: object) -> None:
        context.trace_request_ctx.reused = time.monotonic()
        self._hold(context)

    def _hold(self, context: SimpleNamespace) -> None:
        place: _Place = context.trace_request_ctx
        if not place.held:
            place.held = True
            self._held += 1
            self._widest = max(self._widest, self._held)

    def leave(self, place: _Place) -> None:
        """A post is over."""
        self._held -= place.held
        if not self._held:
            self._widest = 0


class _Connector(aiohttp.TCPConnector):
    """One that hands out no connection on which bytes wait that nobody asked for: they would be read as the reply."""

    async def connect(
        self,
        req: aiohttp.ClientRequest,
        traces: list[Trace],
        timeout: aiohttp.ClientTimeout,  # noqa: ASYNC109 - as the class has it
    ) -> aiohttp.connector.Connection:
        """As the class's."""
        while True:
            found = await super().connect(req, traces, timeout)
            if found.protocol is None or not found.protocol.should_close:
                return found
            found.close()


class Connections:
    """Connections of one event loop, as many as there are requests at once.

    Args:
        trusted: Whom to trust over TLS.
        connect: Seconds that making a connection may take.
        silent: Seconds that may pass without a byte of the reply.
        whole: Seconds that a request may take in all.
    """

    def __init__(self, trusted: ssl.SSLContext, *, connect: float, silent: float, whole: float) -> None:
        self._pace = _Pace()
        self._proxies: dict[str, str | None] = {}
        self._session = aiohttp.ClientSession(
            # As many connections as calls: the executor bounds those.
            connector=_Connector(limit=0, keepalive_timeout=KEEP_SECONDS, ssl=trusted),
            timeout=aiohttp.ClientTimeout(total=whole, sock_connect=connect, sock_read=silent, ceil_threshold=whole),
            cookie_jar=aiohttp.DummyCookieJar(),
            headers={"Accept-Encoding": ENCODINGS, "User-Agent": f"judgec/{__version__}"},
            auto_decompress=False,  # the library's own writes out what it unpacks before anybody can look at its size
            max_line_size=LONGEST_LINE,
            max_field_size=LONGEST_LINE,
            trace_configs=[self._pace.config],
        )

    async def post(self, url: str, headers: Iterable[tuple[str, str]], body: bytes, most: int) -> HttpReply:
        """Send one request.

        Args:
            url: Where to.
            headers: Beside the usual ones.
            body: Of the request.
            most: Bytes that the body of its reply may have, however few they were on the way.

        Raises:
            TimeoutError: When a deadline has passed.
            aiohttp.ClientError: When no connection can be made, it breaks, or what comes is no reply.
            zlib.error: When it is not compressed as it says.
        """
        place = _Place()
        try:
            async with self._session.post(
                url,
                data=BytesIO(body),  # which the library sends in pieces
                headers=headers,
                proxy=self._proxy(url),
                allow_redirects=False,
                trace_request_ctx=place,
            ) as reply:
                return HttpReply(
                    reply.status, {name.lower(): said for name, said in reply.headers.items()}, await _body(reply, most)
                )
        except aiohttp.ServerDisconnectedError as error:  # a reset is none: a server may have read what it resets
            if place.reused is None or time.monotonic() > place.reused + CLOSED_SECONDS:
                raise
            raise aiohttp.ClientConnectionResetError(str(error)) from error
        finally:
            self._pace.leave(place)

    async def aclose(self) -> None:
        """Close them all; posts that wait for a reply fail."""
        await self._session.close()

    def _proxy(self, url: str) -> str | None:
        """As the environment says, looked up once: aiohttp would at every call."""
        if url not in self._proxies:
            parts = urlsplit(url)
            bypassed = proxy_bypass(parts.hostname or "")
            self._proxies[url] = None if bypassed else getproxies().get(parts.scheme)
        return self._proxies[url]


async def _body(reply: aiohttp.ClientResponse, most: int) -> bytes | None:
    if REDIRECTS <= reply.status < ERRORS:
        return b""
    unpacker = Unpacker(reply.headers.get("Content-Encoding"))
    parts: list[bytes] = []
    async for chunk in reply.content.iter_any():
        part = unpacker.add(chunk, most)
        most -= len(part)
        if most < 0:
            return None
        parts.append(part)
    unpacker.end()
    return b"".join(parts)


def open_endpoint(spec: LMSpec, environ: Mapping[str, str] | None = None) -> ClientBackend:
    """The pooled client where the model is served by OpenAI's protocol, else DSPy's own."""
    route, config = native_route(spec, environ)
    if route is not None:
        try:
            client = LMRouter(config).lm(route)
        except lm15.LM15Error:  # no key: DSPy's client says so at the first call
            return ClientBackend(spec, environ)
        if type(client) is lm15.OpenAIChatLM:
            return PooledBackend(spec, environ, Wire(client, route.partition(":")[2]))
    return ClientBackend(spec, environ)


class PooledBackend(ClientBackend):
    """Plain requests share a pool on their event loop; an optimizer's own calls use DSPy's client.

    Args:
        spec: The model.
        environ: The environment, or None for the process's own.
        wire: Reads and writes the endpoint's protocol.
        now: Seconds since the epoch, for Retry-After dates.
    """

    def __init__(
        self, spec: LMSpec, environ: Mapping[str, str] | None, wire: Wire, now: Callable[[], float] = time.time
    ) -> None:
        super().__init__(spec, environ)
        self._wire = wire
        self._now = now
        self._kept: WeakKeyDictionary[asyncio.AbstractEventLoop, Connections] = WeakKeyDictionary()

    async def say(self, plain: Plain) -> Completion:
        """One attempt on this event loop."""
        url, headers, body = self._wire.encode(plain)
        asked = plain.config.max_tokens or self._spec.reply_tokens
        most = untrusted.most_bytes(asked, int(plain.config.logprobs or 0))
        try:
            reply = await self._connections().post(url, headers, body, most)
        except UNREAD as error:
            raise UnreadError(f"{type(error).__name__}: {error}") from error
        except TimeoutError as error:
            seconds, whole = self._spec.timeout, whole_seconds(self._spec)
            raise lm15.TimeoutError(f"no byte for {seconds:g} s, or no whole reply in {whole:g} s") from error
        except (aiohttp.ClientError, OSError, zlib.error) as error:
            raise lm15.TransportError(f"{type(error).__name__}: {error}") from error
        if reply.status >= ERRORS:
            raise self._wire.refuse(reply.status, reply.headers, reply.body or b"", self._now)
        if reply.status >= REDIRECTS:  # it would carry the prompt to a host that nobody named
            raise redirected(reply.status, reply.headers.get("location"))
        return self._wire.faulty(untrusted.TOO_LONG, asked) if reply.body is None else self._wire.decode(reply.body)

    async def aclose(self) -> None:
        """Close the connections of the running loop."""
        await super().aclose()
        kept = self._kept.pop(asyncio.get_running_loop(), None)
        if kept is not None:
            await kept.aclose()

    def _connections(self) -> Connections:
        loop = asyncio.get_running_loop()
        kept = self._kept.get(loop)
        if kept is None:
            limits = {"connect": CONNECT_SECONDS, "silent": self._spec.timeout, "whole": whole_seconds(self._spec)}
            kept = self._kept[loop] = Connections(_trusted(), **limits)
        return kept


def _trusted() -> ssl.SSLContext:
    return _trusting(os.environ.get("SSL_CERT_FILE"), os.environ.get("SSL_CERT_DIR"))


@cache
def _trusting(_file: str | None, _folder: str | None) -> ssl.SSLContext:
    """Whom to trust: what the system and these variables say, and what certifi adds; read once, it takes 40 ms."""
    trusted = ssl.create_default_context()
    trusted.load_verify_locations(certifi.where())
    return trusted
