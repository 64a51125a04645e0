"""OpenAI-compatible endpoints over kept connections: a small part of the usual client's cost a call."""

import asyncio
import os
import ssl
import time
import zlib
from collections.abc import Callable, Mapping
from functools import cache
from weakref import WeakKeyDictionary

import aiohttp
import certifi
from dspy import lm15
from dspy.lm15 import LMRouter

from judgec.lm.backend import CONNECT_SECONDS, ClientBackend, native_route, whole_seconds
from judgec.lm.endpoint import untrusted
from judgec.lm.endpoint.bounded import ERRORS, REDIRECTS, redirected
from judgec.lm.endpoint.connections import Connections
from judgec.lm.endpoint.exchange import Completion, Plain
from judgec.lm.endpoint.wire import Wire
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
        self._kept: WeakKeyDictionary[asyncio.AbstractEventLoop, Connections] = WeakKeyDictionary()

    async def say(self, plain: Plain) -> Completion:
        """One attempt on this event loop."""
        url, headers, body = self._wire.encode(plain)
        asked = plain.config.max_tokens or self._spec.reply_tokens
        most = untrusted.most_bytes(asked, int(plain.config.logprobs or 0))
        try:
            reply = await self._connections().post(url, headers, body, most)
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
