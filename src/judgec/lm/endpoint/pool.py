"""OpenAI-compatible endpoints over kept connections: a small part of the usual client's cost a call."""

import asyncio
import os
import ssl
import time
import zlib
from collections.abc import Callable, Mapping
from functools import cache
from urllib.parse import urlsplit
from urllib.request import getproxies, proxy_bypass
from weakref import WeakKeyDictionary

import aiohttp
import certifi
from dspy import lm15
from dspy.lm15 import LMRouter

from judgec import __version__
from judgec.lm.backend import CONNECT_SECONDS, ClientBackend, native_route, whole_seconds
from judgec.lm.endpoint import untrusted
from judgec.lm.endpoint.bounded import redirected
from judgec.lm.endpoint.connections import KEEP_SECONDS, Connections, target_of
from judgec.lm.endpoint.exchange import Completion, Plain
from judgec.lm.endpoint.http_reply import ERRORS, REDIRECTS, Body, BrokenReplyError, HttpReply
from judgec.lm.endpoint.unpack import ENCODINGS
from judgec.lm.endpoint.wire import Headers, Wire
from judgec.lm.spec import LMSpec


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
        self._kept: WeakKeyDictionary[asyncio.AbstractEventLoop, dict[tuple[str, Headers], Connections | None]] = (
            WeakKeyDictionary()
        )
        self._sessions: WeakKeyDictionary[asyncio.AbstractEventLoop, aiohttp.ClientSession] = WeakKeyDictionary()
        self._proxies: dict[str, str | None] = {}

    async def say(self, plain: Plain) -> Completion:
        """One attempt on this event loop."""
        url, headers, body = self._wire.encode(plain)
        asked = plain.config.max_tokens or self._spec.reply_tokens
        most = untrusted.most_bytes(asked, int(plain.config.logprobs or 0))
        try:
            kept = self._connections(url, headers)
            reply = await (self._post(url, headers, body, most) if kept is None else kept.post(body, most))
        except TimeoutError as error:
            seconds, whole = self._spec.timeout, whole_seconds(self._spec)
            raise lm15.TimeoutError(f"no byte for {seconds:g} s, or no whole reply in {whole:g} s") from error
        except (aiohttp.ClientError, BrokenReplyError, OSError, zlib.error) as error:
            raise lm15.TransportError(f"{type(error).__name__}: {error}") from error
        if reply.status >= ERRORS:
            raise self._wire.refuse(reply.status, reply.headers, reply.body or b"", self._now)
        if reply.status >= REDIRECTS:  # it would carry the prompt to a host that nobody named
            raise redirected(reply.status, reply.headers.get("location"))
        return self._wire.faulty(untrusted.TOO_LONG, asked) if reply.body is None else self._wire.decode(reply.body)

    async def aclose(self) -> None:
        """Close the connections of the running loop."""
        await super().aclose()
        loop = asyncio.get_running_loop()
        for kept in self._kept.pop(loop, {}).values():
            if kept is not None:
                await kept.aclose()
        session = self._sessions.pop(loop, None)
        if session is not None:
            await session.close()

    def _connections(self, url: str, headers: Headers) -> Connections | None:
        """Where a request goes; None when it takes a general client, through a proxy say."""
        loop = asyncio.get_running_loop()
        opened = self._kept.get(loop)
        if opened is None:
            opened = self._kept[loop] = {}
        if (url, headers) not in opened:
            usual = [("Accept", "*/*"), ("Accept-Encoding", ENCODINGS), ("User-Agent", f"judgec/{__version__}")]
            target = target_of(url, [*usual, *headers]) if self._proxy(url) is None else None
            limits = {"connect": CONNECT_SECONDS, "silent": self._spec.timeout, "whole": whole_seconds(self._spec)}
            opened[url, headers] = None if target is None else Connections(target, _trusted(), **limits)
        return opened[url, headers]

    async def _post(self, url: str, headers: Headers, body: bytes, most: int) -> HttpReply:
        """The same by a general client."""
        session = self._sessions.get(asyncio.get_running_loop()) or self._open()
        proxy = self._proxy(url)
        async with session.post(url, data=body, headers=headers, proxy=proxy, allow_redirects=False) as reply:
            said = {name.lower(): value for name, value in reply.headers.items()}
            held = Body(most, said.get("content-encoding"))
            if REDIRECTS <= reply.status < ERRORS:
                return HttpReply(reply.status, said, b"")
            async for part in reply.content.iter_any():
                if not held.add(part):
                    return HttpReply(reply.status, said, None)
            return HttpReply(reply.status, said, held.whole())

    def _open(self) -> aiohttp.ClientSession:
        session = aiohttp.ClientSession(
            # As many connections as calls: the executor bounds those.
            connector=aiohttp.TCPConnector(limit=0, keepalive_timeout=KEEP_SECONDS, ssl=_trusted()),
            timeout=aiohttp.ClientTimeout(
                total=whole_seconds(self._spec), sock_connect=CONNECT_SECONDS, sock_read=self._spec.timeout
            ),
            cookie_jar=aiohttp.DummyCookieJar(),
            headers={"Accept-Encoding": ENCODINGS},
            auto_decompress=False,  # the library's own writes out what it unpacks before anybody can look at its size
        )
        self._sessions[asyncio.get_running_loop()] = session
        return session

    def _proxy(self, url: str) -> str | None:
        """As the environment says, looked up once: aiohttp would at every call."""
        if url not in self._proxies:
            parts = urlsplit(url)
            bypassed = proxy_bypass(parts.hostname or "")
            self._proxies[url] = None if bypassed else getproxies().get(parts.scheme)
        return self._proxies[url]


def _trusted() -> ssl.SSLContext:
    return _trusting(os.environ.get("SSL_CERT_FILE"), os.environ.get("SSL_CERT_DIR"))


@cache
def _trusting(_file: str | None, _folder: str | None) -> ssl.SSLContext:
    """Whom to trust: what the system and these variables say, and what certifi adds; read once, it takes 40 ms."""
    trusted = ssl.create_default_context()
    trusted.load_verify_locations(certifi.where())
    return trusted
