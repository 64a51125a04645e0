"""Kept connections against real servers: kept, closed, silent, dripping, over TLS."""

import asyncio
import contextlib
import gzip
import os
import shutil
import socket
import ssl
import subprocess
import zlib
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import aiohttp
import pytest

from judgec.lm.endpoint.pool import Connections, HttpReply
from tests.service.postgres import free_port

OK = b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok"
AUTHORIZATION = [("Authorization", "Bearer sk-1")]
WIDTH = 20
PACKED = gzip.compress(b"[]")
Serve = Callable[[asyncio.StreamReader, asyncio.StreamWriter], Awaitable[None]]


@dataclass
class To:
    """Connections of which every request goes to one address."""

    connections: Connections
    port: int
    at: str = "http://localhost"

    async def post(self, body: bytes, most: int) -> HttpReply:
        return await self.connections.post(f"{self.at}:{self.port}/v1", AUTHORIZATION, body, most)


def opened(trusted: ssl.SSLContext | None = None, **seconds: float) -> Connections:
    limits = {"connect": 9.0, "silent": 9.0, "whole": 9.0, **seconds}
    return Connections(trusted or ssl.create_default_context(), **limits)


@contextlib.asynccontextmanager
async def served(
    serve: Serve, *, silent: float = 20.0, whole: float = 60.0, tls: Path | None = None, host: str = "localhost"
) -> AsyncIterator[To]:
    """Connections to a server that does this with each of its own."""
    context = trusted = ssl.create_default_context()
    if tls is not None:
        trusted.load_verify_locations(tls / "cert.pem")
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(tls / "cert.pem", tls / "key.pem")
    tasks = set[asyncio.Task[None]]()

    async def one(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task is not None
        tasks.add(task)
        with contextlib.suppress(ConnectionError, asyncio.IncompleteReadError, asyncio.CancelledError):
            await serve(reader, writer)
        writer.close()

    server = await asyncio.start_server(one, host, 0, ssl=context if tls else None)
    port = server.sockets[0].getsockname()[1]
    at = f"[{host}]" if ":" in host else host
    connections = opened(trusted, connect=5.0, silent=silent, whole=whole)
    try:
        yield To(connections, port, f"http{'s' if tls else ''}://{at}")
    finally:
        await connections.aclose()
        server.close()
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks)


def over(
    serve: Serve, *, silent: float = 20.0, tls: Path | None = None, host: str = "localhost"
) -> Callable[[Callable[[To], Awaitable[None]]], None]:
    """Runs what it stands above, at once, over connections to a server that does this."""

    def run(ask: Callable[[To], Awaitable[None]]) -> None:
        async def whole() -> None:
            async with served(serve, silent=silent, tls=tls, host=host) as connections:
                await ask(connections)

        asyncio.run(whole())

    return run


async def request(reader: asyncio.StreamReader) -> bytes:
    """Head and body of a request."""
    head = await reader.readuntil(b"\r\n\r\n")
    length = int(head.lower().split(b"content-length:")[1].split(b"\r\n")[0])
    return head + await reader.readexactly(length)


async def answering(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    while True:
        await request(reader)
        writer.write(OK)


def test_request_is_written_as_http_says_and_the_connection_serves_the_next() -> None:
    seen: list[bytes] = []
    opened: list[None] = []

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        opened.append(None)
        while True:
            seen.append(await request(reader))
            writer.write(OK)

    @over(serve)
    async def _(connections: To) -> None:
        for body in (b"", b"{}", b"x" * 3_000_000):
            said = await connections.post(body, 10)
            assert (said.status, said.body) == (200, b"ok")
        await asyncio.gather(*(connections.post(b"", 10) for _ in range(3)))

    assert len(opened) == 3
    assert len(seen) == 6
    first, *headers = seen[1].decode().split("\r\n")
    assert first == "POST /v1 HTTP/1.1"
    assert headers[0].startswith("Host: localhost:")
    assert {"Authorization: Bearer sk-1", "Content-Length: 2", "Accept-Encoding: gzip, deflate"} < set(headers)
    assert headers[-2:] == ["", "{}"]
    assert seen[2].endswith(b"x" * 3_000_000)


def test_connection_that_the_server_closed_while_it_was_idle_is_not_used_again() -> None:
    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await request(reader)
        writer.write(OK)  # which does not say that it closes the connection now

    @over(serve)
    async def _(connections: To) -> None:
        for _ in range(5):
            assert (await connections.post(b"", 10)).body == b"ok"
            await asyncio.sleep(0.01)  # for the end of the connection to arrive


@pytest.mark.parametrize("sent", [b"", OK[:-1], b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nab"])
def test_connection_that_ends_within_a_reply_breaks_its_call_alone(sent: bytes) -> None:
    turn: list[bytes] = [sent, OK]

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await request(reader)
        writer.write(turn.pop(0))

    @over(serve)
    async def _(connections: To) -> None:
        with pytest.raises(aiohttp.ClientError):
            await connections.post(b"", 10)
        assert (await connections.post(b"", 10)).body == b"ok"


def test_silence_and_dripping_end_at_their_deadlines_and_a_kept_connection_has_new_ones() -> None:
    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        for _ in range(3):
            await request(reader)
            await asyncio.sleep(0.15)
            writer.write(OK)
        await request(reader)
        writer.write(OK[:-2])
        await reader.read()

    async def drip(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await request(reader)
        writer.write(b"HTTP/1.1 200 OK\r\n\r\n")
        while True:
            writer.write(b"x")
            await asyncio.sleep(0.05)

    async def ask() -> None:
        loop = asyncio.get_running_loop()
        async with served(serve, silent=0.4) as connections:
            for _ in range(3):  # longer than the limit in all
                assert (await connections.post(b"", 10)).body == b"ok"
            began = loop.time()
            with pytest.raises(TimeoutError):
                await connections.post(b"", 10)
            assert 0.39 < loop.time() - began < 10
        async with served(drip, silent=0.4, whole=0.6) as connections:
            began = loop.time()
            with pytest.raises(TimeoutError):
                await connections.post(b"", 1000)
            assert 0.59 < loop.time() - began < 10

    asyncio.run(ask())


def test_call_that_is_cancelled_takes_its_connection_along_and_no_other() -> None:
    opened: list[None] = []

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        opened.append(None)
        while True:
            if (await request(reader)).endswith(b"slow"):
                await asyncio.sleep(0.2)
            writer.write(OK)

    @over(serve)
    async def _(connections: To) -> None:
        await connections.post(b"", 10)
        slow = asyncio.create_task(connections.post(b"slow", 10))
        await asyncio.sleep(0.05)
        slow.cancel()
        with pytest.raises(asyncio.CancelledError):
            await slow
        for _ in range(3):
            await connections.post(b"", 10)

    assert len(opened) == 2


@pytest.fixture(scope="module")
def certificate(tmp_path_factory: pytest.TempPathFactory) -> Path:
    if shutil.which("openssl") is None:
        pytest.skip("openssl makes the certificate")
    folder = tmp_path_factory.mktemp("tls")
    command = ["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "1", "-subj", "/CN=localhost"]
    files = ["-keyout", str(folder / "key.pem"), "-out", str(folder / "cert.pem")]
    subprocess.run([*command, "-addext", "subjectAltName=DNS:localhost", *files], check=True, capture_output=True)
    return folder


def test_tls_is_spoken_with_whom_is_trusted_alone(certificate: Path) -> None:
    @over(answering, tls=certificate)
    async def _(connections: To) -> None:
        for _ in range(3):
            assert (await connections.post(b"{}", 10)).body == b"ok"
        stranger = To(opened(), connections.port, connections.at)
        with pytest.raises(aiohttp.ClientConnectorCertificateError):
            await stranger.post(b"{}", 10)
        await stranger.connections.aclose()


@pytest.mark.parametrize("notified", [True, False])
def test_tls_connection_that_ends_behind_a_reply_is_not_used_again(certificate: Path, notified: bool) -> None:
    """With close_notify or by the end of TCP alone, as many servers do; JSON that was cut is found when it is read."""
    turn = [b"HTTP/1.1 200 OK\r\n\r\nok", OK, OK]

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await request(reader)
        writer.write(turn.pop(0))
        await writer.drain()
        if not notified:
            with socket.socket(fileno=os.dup(writer.get_extra_info("socket").fileno())) as sent:
                sent.shutdown(socket.SHUT_WR)
            await reader.read()

    @over(serve, tls=certificate)
    async def _(connections: To) -> None:
        for _ in range(3):
            assert (await connections.post(b"{}", 10)).body == b"ok"
            await asyncio.sleep(0.02)

    assert not turn


async def nothing(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    """A server that takes what comes and says nothing."""
    await reader.read()


def test_server_that_says_it_closes_the_connection_is_asked_over_a_new_one() -> None:
    opened: list[None] = []

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        opened.append(None)
        await request(reader)
        writer.write(OK.replace(b"\r\n\r\n", b"\r\nConnection: close\r\n\r\n"))

    @over(serve)
    async def _(connections: To) -> None:
        for _ in range(20):
            assert (await connections.post(b"", 10)).body == b"ok"

    assert len(opened) == 20


@pytest.mark.parametrize("late", [False, True])
def test_bytes_behind_a_reply_are_never_read_as_the_next_one(late: bool) -> None:
    written = asyncio.Event()

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await request(reader)
        if late:
            writer.write(OK)
            await asyncio.sleep(0.02)
            writer.write(OK.replace(b"ok", b"no"))
        else:
            writer.write(OK + OK.replace(b"ok", b"no"))
        written.set()
        await reader.read()

    @over(serve)
    async def _(connections: To) -> None:
        for _ in range(3):
            assert (await connections.post(b"", 10)).body == b"ok"
            await written.wait()
            written.clear()
            await asyncio.sleep(0.05)


def test_refusal_up_to_the_end_of_the_connection_keeps_its_status_and_headers() -> None:
    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await request(reader)
        writer.write(b"HTTP/1.1 429 Slow down\r\nRetry-After: 7\r\n\r\n{")
        await writer.drain()
        await asyncio.sleep(0.01)
        writer.write(b"}")

    @over(serve)
    async def _(connections: To) -> None:
        said = await connections.post(b"{}", 10)
        assert (said.status, said.headers["retry-after"], said.body) == (429, "7", b"{}")


@pytest.mark.parametrize("length", [0, 20_000_000])
def test_server_that_answers_before_it_has_read_the_request_is_heard_and_not_asked_there_again(length: int) -> None:
    opened: list[None] = []

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        opened.append(None)
        await reader.readuntil(b"\r\n\r\n")
        writer.write(OK.replace(b"200", b"413"))
        await asyncio.sleep(0.1)  # without reading more

    @over(serve)
    async def _(connections: To) -> None:
        for _ in range(2):
            assert (await connections.post(b"x" * length, 10)).status == 413
            await asyncio.sleep(0.15)

    assert len(opened) == 2


def test_server_that_ends_its_side_alone_is_not_asked_there_again() -> None:
    opened: list[None] = []

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        opened.append(None)
        await request(reader)
        writer.write(OK)
        writer.write_eof()
        assert await reader.read() == b""  # ours is closed then

    @over(serve)
    async def _(connections: To) -> None:
        for _ in range(5):
            assert (await connections.post(b"", 10)).body == b"ok"
            await asyncio.sleep(0.01)

    assert len(opened) == 5


def test_server_that_closes_an_idle_connection_as_it_is_used_fails_that_call_alone() -> None:
    """Whether the server has read the request nobody can know; it is for the executor to ask again, and to count."""
    asked: list[bytes] = []

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        asked.append(await request(reader))
        writer.write(OK)
        await reader.readexactly(1)  # the next request comes: too late
        transport = writer.transport
        transport.abort()

    @over(serve)
    async def _(connections: To) -> None:
        assert (await connections.post(b"1", 10)).body == b"ok"
        with pytest.raises(aiohttp.ClientError):
            await connections.post(b"2", 10)
        assert (await connections.post(b"3", 10)).body == b"ok"

    assert [body[-1:] for body in asked] == [b"1", b"3"]


@contextlib.contextmanager
def deaf() -> Iterator[tuple[str, int]]:
    """An address that never accepts a connection: its backlog is full."""
    with contextlib.ExitStack() as opened:
        listening = opened.enter_context(socket.socket())
        listening.bind(("127.0.0.1", 0))
        listening.listen(0)
        for _ in range(4):
            waiting = opened.enter_context(socket.socket())
            waiting.setblocking(False)
            with contextlib.suppress(BlockingIOError):
                waiting.connect(listening.getsockname())
        yield listening.getsockname()


def test_address_that_never_accepts_ends_at_the_deadline_of_connecting() -> None:
    async def ask() -> None:
        loop = asyncio.get_running_loop()
        with deaf() as (_, port):
            to = To(opened(connect=0.2), port, "http://127.0.0.1")
            began = loop.time()
            with pytest.raises(TimeoutError):
                await to.post(b"", 10)
            assert 0.19 < loop.time() - began < 5
            call = asyncio.create_task(to.post(b"", 10))
            await asyncio.sleep(0.05)
            call.cancel()  # while it connects
            with pytest.raises(asyncio.CancelledError):
                await call
            await to.connections.aclose()

    asyncio.run(ask())


def test_host_without_an_address_and_port_without_a_server_fail_as_such_each_time() -> None:
    async def ask() -> None:
        for at, port in (("http://no-such-host.invalid", 80), ("http://127.0.0.1", free_port())):
            to = To(opened(), port, at)
            for _ in range(2):
                for said in await asyncio.gather(*(to.post(b"", 10) for _ in range(3)), return_exceptions=True):
                    assert isinstance(said, aiohttp.ClientConnectorError), said
            await to.connections.aclose()

    asyncio.run(ask())


@pytest.mark.skipif(not socket.has_ipv6 or not Path("/proc/net/if_inet6").exists(), reason="no IPv6 here")
def test_server_that_listens_on_ipv6_is_asked() -> None:
    @over(answering, host="::1")
    async def _(connections: To) -> None:
        for _ in range(3):
            assert (await connections.post(b"", 10)).body == b"ok"


def test_tls_handshake_that_hangs_ends_at_the_deadline_and_when_cancelled() -> None:
    async def ask() -> None:
        async with served(nothing) as plain:
            to = To(opened(whole=0.3), plain.port, "https://localhost")
            with pytest.raises(TimeoutError):
                await to.post(b"", 10)
            call = asyncio.create_task(to.post(b"", 10))
            await asyncio.sleep(0.05)
            call.cancel()
            with pytest.raises(asyncio.CancelledError):
                await call
            await to.connections.aclose()

    asyncio.run(ask())


def test_calls_in_flight_fail_when_the_connections_are_closed() -> None:
    @over(nothing)
    async def _(to: To) -> None:
        calls = [asyncio.create_task(to.post(b"", 10)) for _ in range(3)]
        await asyncio.sleep(0.05)
        await to.connections.aclose()
        for said in await asyncio.wait_for(asyncio.gather(*calls, return_exceptions=True), 5):
            assert isinstance(said, aiohttp.ClientError)


FRAMED = {
    "no length": (b"HTTP/1.1 200 OK\r\nServer: x\r\n\r\nhello", b"hello"),
    "chunks": (b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nhel\r\n2;x=y\r\nlo\r\n0\r\n\r\n", b"hello"),
    "interim": (b"HTTP/1.1 100 Continue\r\n\r\n" + OK, b"ok"),
    "old": (b"HTTP/1.0 200 OK\r\nContent-Length: 2\r\n\r\nok", b"ok"),
    "packed twice": (
        b"HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\nContent-Length: %d\r\n\r\n%b" % (2 * len(PACKED), 2 * PACKED),
        b"[][]",
    ),
    "long header": (OK.replace(b"200 OK", b"200 OK\r\nX: " + b"y" * 40_000), b"ok"),
    "too much": (b"HTTP/1.1 200 OK\r\nContent-Length: 200\r\n\r\n" + b"x" * 200, None),
    "redirect": (b"HTTP/1.1 307 Go\r\nLocation: http://x/Y\r\nContent-Length: 2\r\n\r\nok", b""),
}
BROKEN = {
    "garbage": b"\x16\x03\x01\x00\r\n\r\n",
    "two lengths": b"HTTP/1.1 200 OK\r\nContent-Length: 3\r\nContent-Length: 4\r\n\r\nabcd",
    "negative chunk": b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n-3\r\nabc\r\n",
    "endless head": b"HTTP/1.1 200 OK\r\n" + b"X: y\r\n" * 200_000,
    "endless header": b"HTTP/1.1 200 OK\r\nX: " + b"y" * 200_000,
    "endless trailers": b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n" + b"X: y\r\n" * 20_000,
    "no end of what is packed": b"HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\nContent-Length: 9\r\n\r\n" + PACKED[:9],
}


ENDING = {"no length", "old", "no end of what is packed"}  # with the connection


@pytest.mark.parametrize("name", [*FRAMED, *BROKEN])
def test_reply_of_every_framing_is_read_and_what_is_none_is_refused(name: str) -> None:
    raw, body = FRAMED.get(name, (BROKEN.get(name, b""), b""))

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        while True:
            await request(reader)
            writer.write(raw)
            await writer.drain()
            if name in ENDING:
                break

    @over(serve)
    async def _(connections: To) -> None:
        for _ in range(2):
            if name in FRAMED:
                assert (await connections.post(b"", 100)).body == body
            else:
                with pytest.raises((aiohttp.ClientError, zlib.error)):
                    await connections.post(b"", 100)


def test_new_connections_are_paced_and_those_that_replace_closed_ones_are_not(monkeypatch: pytest.MonkeyPatch) -> None:
    """So that a server which accepts slowly drops none of them."""
    came: list[None] = []
    waits: list[float] = []
    slept = asyncio.sleep

    async def counted(seconds: float) -> None:
        waits.append(seconds)
        await slept(0)

    async def ask() -> None:
        full, waiting = asyncio.Event(), list(range(200))

        async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            came.append(None)
            await request(reader)
            if len(came) == WIDTH:
                full.set()
            await full.wait()
            writer.write(OK.replace(b"HTTP/1.1", b"HTTP/1.0"))

        async with served(serve) as connections:

            async def work() -> None:
                while waiting:
                    waiting.pop()
                    await connections.post(b"", 10)

            monkeypatch.setattr("judgec.lm.endpoint.pool.PACE_SECONDS", 1000.0)
            monkeypatch.setattr("judgec.lm.endpoint.pool.asyncio.sleep", counted)
            await asyncio.gather(*(work() for _ in range(WIDTH)))

    asyncio.run(ask())
    assert len(came) == 200
    assert [round(wait, -3) for wait in waits] == [1000.0 * turn for turn in range(1, WIDTH)]
