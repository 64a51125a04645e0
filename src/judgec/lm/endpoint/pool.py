"""OpenAI-compatible endpoints over one pool of kept connections: a tenth of the usual client's cost a call."""

import asyncio
import ssl
import time
from collections.abc import Callable, Mapping
from urllib.parse import urlsplit
from urllib.request import getproxies, proxy_bypass
from weakref import WeakKeyDictionary

import aiohttp
import certifi
from dspy import lm15
from dspy.lm15 import LMRouter

from judgec.lm.backend import CONNECT_SECONDS, ClientBackend, native_route
from judgec.lm.endpoint.exchange import Completion, Plain
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
        try:
            async with pool.post(url, data=body, headers=headers, proxy=self._proxy(url)) as reply:
                said = await reply.read()
        except TimeoutError as error:
            raise lm15.TimeoutError(f"no byte for {self._spec.timeout:g} s") from error
        except (aiohttp.ClientError, OSError) as error:
            raise lm15.TransportError(f"{type(error).__name__}: {error}") from error
        if reply.status >= 400:
            raise self._wire.refuse(reply.status, reply.headers, said, self._now)
        return self._wire.decode(said)

    async def aclose(self) -> None:
        """Close the connections of the running loop."""
        await super().aclose()
        pool = self._pools.pop(asyncio.get_running_loop(), None)
        if pool is not None:
            await pool.close()

    def _open(self) -> aiohttp.ClientSession:
        trusted = ssl.create_default_context()  # what the system and SSL_CERT_FILE say, and what certifi adds
        trusted.load_verify_locations(certifi.where())
        pool = aiohttp.ClientSession(
            # As many connections as calls: the executor bounds those.
            connector=aiohttp.TCPConnector(limit=0, keepalive_timeout=KEEP_SECONDS, ssl=trusted),
            timeout=aiohttp.ClientTimeout(total=None, sock_connect=CONNECT_SECONDS, sock_read=self._spec.timeout),
            cookie_jar=aiohttp.DummyCookieJar(),
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
