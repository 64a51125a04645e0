"""Kept connections to one server, for one event loop: a request out, its reply in, within its deadlines.

A general client (aiohttp) has sessions, cookies, redirects, streams and a timer for each limit of each request, at five
times the processor time; bulk judging needs none of them. A connection has one timer, which is set anew only when it
goes off, and a reply that comes in one piece is read in one step.
"""

import asyncio
import re
import socket
import ssl
from collections import deque
from dataclasses import dataclass

import aiohappyeyeballs

from judgec.lm.endpoint.http_reply import HttpReply, ReplyReader

KEEP_SECONDS = 4.0  # an idle connection; common servers (uvicorn) close theirs after 5
FRESH_SECONDS = 10.0  # an address that was looked up
NEXT_ADDRESS_SECONDS = 0.25  # RFC 8305: when the next of several addresses is tried
# What is sent as it stands; any other URL (credentials, other alphabets) is for a general client.
_URL = re.compile(
    r"(https?)://([A-Za-z0-9._-]+|\[[0-9A-Fa-f:.]+\])(?::(\d{1,5}))?((?:/[A-Za-z0-9._~%/+:@!$&'()*,;=-]*)?)"
)
_TEXT = re.compile(r"[\t\x20-\x7e\xa0-\xff]*")  # of a header
_PORTS = {"http": 80, "https": 443}

Address = tuple[int, int, int, str, tuple[str, int] | tuple[str, int, int, int] | tuple[int, bytes]]


@dataclass(frozen=True, slots=True)
class HttpTarget:
    """Where requests go.

    Args:
        secure: Whether over TLS.
        host: A name or an address, without brackets.
        port: Its port.
        head: What every request begins with, up to the length of its body.
    """

    secure: bool
    host: str
    port: int
    head: bytes


def target_of(url: str, headers: list[tuple[str, str]]) -> HttpTarget | None:
    """Where ``url`` is, with these headers of every request; None when it takes a general client to say."""
    found = _URL.fullmatch(url)
    if found is None or not all(_TEXT.fullmatch(name + value) and ":" not in name for name, value in headers):
        return None
    scheme, host, port, path = found.groups()
    number = int(port or _PORTS[scheme])
    at = host if number == _PORTS[scheme] else f"{host}:{number}"
    lines = [f"POST {path or '/'} HTTP/1.1", f"Host: {at}", *(f"{name}: {value}" for name, value in headers)]
    head = "\r\n".join([*lines, "Content-Length: "]).encode("latin-1")
    return HttpTarget(scheme == "https", host.strip("[]"), number, head)


class Connections:
    """Connections that are kept between requests, as many as there are requests at once.

    Args:
        target: Where all of them go.
        trusted: Whom to trust over TLS.
        connect: Seconds that making a connection may take.
        silent: Seconds that may pass without a byte of the reply.
        whole: Seconds that a request may take in all.
    """

    def __init__(
        self, target: HttpTarget, trusted: ssl.SSLContext, *, connect: float, silent: float, whole: float
    ) -> None:
        self._target = target
        self._tls = trusted if target.secure else None
        self._connect = min(connect, whole)
        self._silent = silent
        self._whole = whole
        self._loop = asyncio.get_running_loop()
        self._open: set[_Connection] = set()
        self._idle: deque[_Connection] = deque()  # the one that was used last comes last
        self._addresses: asyncio.Future[list[Address]] | None = None
        self._looked_up = float("-inf")

    async def post(self, body: bytes, most: int) -> HttpReply:
        """Send one request.

        Args:
            body: Of the request.
            most: Bytes that the body of its reply may have.

        Raises:
            TimeoutError: When a deadline has passed.
            OSError: When no connection can be made, or it breaks.
            BrokenReplyError: When the reply is none.
            zlib.error: When it is not compressed as it says.
        """
        begun = self._loop.time()
        connection = self._kept(begun) or await self._connected()
        reply = connection.ask(b"%b%d\r\n\r\n%b" % (self._target.head, len(body), body), most, begun)
        try:
            return await reply
        finally:
            if connection.usable:
                self._idle.append(connection)
            else:
                connection.close()

    async def aclose(self) -> None:
        """Close them all."""
        for connection in list(self._open):
            connection.close()
        self._idle.clear()
        await asyncio.sleep(0)  # transports close at the loop's next turn

    def _kept(self, now: float) -> "_Connection | None":
        idle = self._idle
        while idle and idle[0].since < now - KEEP_SECONDS:
            idle.popleft().close()
        while idle:
            if (last := idle.pop()).usable:
                return last
        return None

    async def _connected(self) -> "_Connection":
        async with asyncio.timeout(self._connect):
            target = self._target
            found = await aiohappyeyeballs.start_connection(
                await self._found(), happy_eyeballs_delay=NEXT_ADDRESS_SECONDS, interleave=1, loop=self._loop
            )
            try:
                found.setsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE, 1)
                _, connection = await self._loop.create_connection(
                    lambda: _Connection(self._open, self._silent, self._whole),
                    sock=found,
                    ssl=self._tls,
                    server_hostname=target.host if target.secure else None,
                )
            except BaseException:
                found.close()
                raise
        return connection

    async def _found(self) -> list[Address]:
        """The addresses of the server, looked up once for all who ask at the same time."""
        now = self._loop.time()
        if self._addresses is None or now > self._looked_up + FRESH_SECONDS:
            self._looked_up = now
            self._addresses = self._loop.create_task(self._look_up())
        addresses = self._addresses
        try:
            return await asyncio.shield(addresses)  # who is cancelled takes nobody along
        except OSError:
            if self._addresses is addresses:
                self._addresses = None
            raise

    async def _look_up(self) -> list[Address]:
        return [*await self._loop.getaddrinfo(self._target.host, self._target.port, type=socket.SOCK_STREAM)]


class _Connection(asyncio.Protocol):
    """One connection; one request at a time."""

    def __init__(self, opened: "set[_Connection]", silent: float, whole: float) -> None:
        self.since = 0.0  # when the last byte came
        self._opened = opened
        self._silent = silent
        self._whole = whole
        self._loop = asyncio.get_running_loop()
        self._transport: asyncio.Transport | None = None
        self._reader: ReplyReader | None = None
        self._reply: asyncio.Future[HttpReply] | None = None
        self._begun = 0.0
        self._timer: asyncio.TimerHandle | None = None

    @property
    def usable(self) -> bool:
        """Whether another request may be sent."""
        return self._reader is None and self._transport is not None

    def ask(self, request: bytes, most: int, begun: float) -> "asyncio.Future[HttpReply]":
        """Send a request; the reply is the future's result.

        Args:
            request: Head and body.
            most: Bytes that the reply's body may have.
            begun: When its deadline began, by the loop's clock.
        """
        self._reply = reply = self._loop.create_future()
        self._reader = ReplyReader(most)
        self._begun, self.since = begun, self._loop.time()
        if self._timer is None:
            self._timer = self._loop.call_at(self._deadline(), self._look)
        if self._transport is None:
            reply.set_exception(ConnectionResetError("the server has closed the connection"))
        else:
            self._transport.write(request)
        return reply

    def close(self) -> None:
        """Close the connection, whatever is on its way."""
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
        if self._transport is not None:
            self._transport.abort()
            self._transport = None

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Asyncio's."""
        self._transport = transport  # type: ignore[assignment]  # that of a stream
        self._opened.add(self)

    def connection_lost(self, exc: Exception | None) -> None:
        """Asyncio's."""
        self._transport = None
        self._opened.discard(self)
        if self._reader is not None:
            self._ended(exc)
        self.close()

    def eof_received(self) -> None:
        """Asyncio's."""
        if self._reader is not None:
            self._ended(None)
        self.close()

    def data_received(self, data: bytes) -> None:
        """Asyncio's."""
        reader, reply = self._reader, self._reply
        if reader is None or reply is None:  # nothing was asked
            self.close()
            return
        self.since = self._loop.time()
        try:
            said = reader.feed(data)
        except Exception as error:  # noqa: BLE001 - raised where the reply is waited for
            self._fail(error)
            return
        if said is not None:
            self._reader = None
            if not reply.done():
                reply.set_result(said)
            if not reader.kept or self._transport is None or self._transport.get_write_buffer_size():
                self.close()

    def _ended(self, error: Exception | None) -> None:
        """No more bytes come."""
        reader, reply = self._reader, self._reply
        if reader is None or reply is None:
            return
        if error is not None:
            self._fail(error)
            return
        try:
            said = reader.end()
        except Exception as broken:  # noqa: BLE001 - as above
            self._fail(broken)
        else:
            self._reader = None
            if not reply.done():
                reply.set_result(said)

    def _fail(self, error: Exception) -> None:
        self._reader = None
        if self._reply is not None and not self._reply.done():
            self._reply.set_exception(error)
        self.close()

    def _deadline(self) -> float:
        return min(self._begun + self._whole, self.since + self._silent)

    def _look(self) -> None:
        """Give the reply up if its time is over, or look again when it will be."""
        self._timer = None
        if self._reader is None or self._transport is None:
            return
        now = self._loop.time()
        if self._transport.get_write_buffer_size():  # the server may not speak before it has read the request
            self.since = now
        if now >= self._deadline():
            self._fail(TimeoutError())
        else:
            self._timer = self._loop.call_at(self._deadline(), self._look)
