"""OpenAI-compatible endpoints over one pool of kept connections: a tenth of the usual client's cost a call."""

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

from judgec.lm.backend import CONNECT_SECONDS, ClientBackend, native_route, whole_seconds
from judgec.lm.endpoint import untrusted
from judgec.lm.endpoint.bounded import ERRORS, REDIRECTS, redirected
from judgec.lm.endpoint.exchange import Completion, Plain
from judgec.lm.endpoint.unpack import ENCODINGS, Unpacker
from judgec.lm.endpoint.wire import Wire
from judgec.lm.spec import LMSpec

KEEP_SECONDS = 4.0  # an idle connection; common servers (uvicorn) close theirs after 5


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
        self._pools: WeakKeyDictionary[asyncio.AbstractEventLoop, aiohttp.ClientSession] = WeakKeyDictionary()
        self._proxies: dict[str, str | None] = {}

    async def say(self, plain: Plain) -> Completion:
        """One attempt on this event loop."""
        pool = self._pools.get(asyncio.get_running_loop()) or self._open()
        url, headers, body = self._wire.encode(plain)
        asked = plain.config.max_tokens or self._spec.reply_tokens
        most = untrusted.most_bytes(asked, int(plain.config.logprobs or 0))
        try:
            # A redirect would carry the prompt to a host that nobody named.
            async with pool.post(
                url, data=body, headers=headers, proxy=self._proxy(url), allow_redirects=False
            ) as reply:
                said = b"" if REDIRECTS <= reply.status < ERRORS else await _read(reply, most)
        except TimeoutError as error:
            seconds, whole = self._spec.timeout, whole_seconds(self._spec)
            raise lm15.TimeoutError(f"no byte for {seconds:g} s, or no whole reply in {whole:g} s") from error
        except (aiohttp.ClientError, OSError, zlib.error) as error:
            raise lm15.TransportError(f"{type(error).__name__}: {error}") from error
        if REDIRECTS <= reply.status < ERRORS:
            raise redirected(reply.status, reply.headers.get("location"))
        if reply.status >= ERRORS:
            raise self._wire.refuse(reply.status, reply.headers, said or b"", self._now)
        return self._wire.faulty(untrusted.TOO_LONG, asked) if said is None else self._wire.decode(said)

    async def aclose(self) -> None:
        """Close the connections of the running loop."""
        await super().aclose()
        pool = self._pools.pop(asyncio.get_running_loop(), None)
        if pool is not None:
            await pool.close()

    def _open(self) -> aiohttp.ClientSession:
        trusted = _trusted(os.environ.get("SSL_CERT_FILE"), os.environ.get("SSL_CERT_DIR"))
        pool = aiohttp.ClientSession(
            # As many connections as calls: the executor bounds those.
            connector=aiohttp.TCPConnector(limit=0, keepalive_timeout=KEEP_SECONDS, ssl=trusted),
            timeout=aiohttp.ClientTimeout(
                total=whole_seconds(self._spec), sock_connect=CONNECT_SECONDS, sock_read=self._spec.timeout
            ),
            cookie_jar=aiohttp.DummyCookieJar(),
            headers={"Accept-Encoding": ENCODINGS},
            auto_decompress=False,  # the library's own writes out what it unpacks before anybody can look at its size
        )
        self._pools[asyncio.get_running_loop()] = pool
        return pool

    def _proxy(self, url: str) -> str | None:
        """As the environment says, looked up once: aiohttp would at every call."""
        if url not in self._proxies:
            parts = urlsplit(url)
            bypassed = proxy_bypass(parts.hostname or "")
            self._proxies[url] = None if bypassed else getproxies().get(parts.scheme)
        return self._proxies[url]


@cache
def _trusted(_file: str | None, _folder: str | None) -> ssl.SSLContext:
    """Whom to trust: what the system and these variables say, and what certifi adds; read once, it takes 40 ms."""
    trusted = ssl.create_default_context()
    trusted.load_verify_locations(certifi.where())
    return trusted


async def _read(reply: aiohttp.ClientResponse, most: int) -> bytes | None:
    """The body, unpacked; None when it has more than ``most`` bytes, however few they were on the way."""
    unpacker = Unpacker(reply.headers.get("Content-Encoding"))
    parts: list[bytes] = []
    left = most
    async for chunk in reply.content.iter_any():
        part = unpacker.add(chunk, left)
        left -= len(part)
        if left < 0:
            return None
        parts.append(part)
    unpacker.end()
    return b"".join(parts)
