"""Kept connections against real servers: kept, closed, silent, dripping, over TLS."""

import asyncio
import contextlib
import shutil
import ssl
import subprocess
from collections.abc import AsyncIterator, Awaitable, Callable
from pathlib import Path

import pytest

from judgec.lm.endpoint.connections import Connections, target_of
from judgec.lm.endpoint.http_reply import BrokenReplyError

OK = b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok"
Serve = Callable[[asyncio.StreamReader, asyncio.StreamWriter], Awaitable[None]]


@contextlib.asynccontextmanager
async def served(
    serve: Serve, *, silent: float = 20.0, whole: float = 60.0, tls: Path | None = None
) -> AsyncIterator[Connections]:
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

    server = await asyncio.start_server(one, "localhost", 0, ssl=context if tls else None)
    port = server.sockets[0].getsockname()[1]
    target = target_of(f"http{'s' if tls else ''}://localhost:{port}/v1", [("Authorization", "Bearer sk-1")])
    assert target is not None
    connections = Connections(target, trusted, connect=5.0, silent=silent, whole=whole)
    try:
        yield connections
    finally:
        await connections.aclose()
        server.close()
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks)


async def request(reader: asyncio.StreamReader) -> bytes:
    """Head and body of a request."""
    head = await reader.readuntil(b"\r\n\r\n")
    length = int(head.lower().split(b"content-length:")[1].split(b"\r\n")[0])
    return head + await reader.readexactly(length)


def test_request_is_written_as_http_says_and_the_connection_serves_the_next() -> None:
    seen: list[bytes] = []
    opened: list[None] = []

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        opened.append(None)
        while True:
            seen.append(await request(reader))
            writer.write(OK)

    async def ask() -> None:
        async with served(serve) as connections:
            for body in (b"", b"{}", b"x" * 3_000_000):
                said = await connections.post(body, 10)
                assert (said.status, said.body) == (200, b"ok")
            await asyncio.gather(*(connections.post(b"", 10) for _ in range(3)))

    asyncio.run(ask())
    assert len(opened) == 3
    assert len(seen) == 6
    first, *headers = seen[1].decode().split("\r\n")
    assert first == "POST /v1 HTTP/1.1"
    assert headers[0].startswith("Host: localhost:")
    assert headers[1:] == ["Authorization: Bearer sk-1", "Content-Length: 2", "", "{}"]
    assert seen[2].endswith(b"x" * 3_000_000)


def test_connection_that_the_server_closed_while_it_was_idle_is_not_used_again() -> None:
    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await request(reader)
        writer.write(OK)  # which does not say that it closes the connection now

    async def ask() -> None:
        async with served(serve) as connections:
            for _ in range(5):
                assert (await connections.post(b"", 10)).body == b"ok"
                await asyncio.sleep(0.01)  # for the end of the connection to arrive

    asyncio.run(ask())


@pytest.mark.parametrize("sent", [b"", OK[:-1], b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nab"])
def test_connection_that_ends_within_a_reply_breaks_its_call_alone(sent: bytes) -> None:
    turn: list[bytes] = [sent, OK]

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await request(reader)
        writer.write(turn.pop(0))

    async def ask() -> None:
        async with served(serve) as connections:
            with pytest.raises(BrokenReplyError):
                await connections.post(b"", 10)
            assert (await connections.post(b"", 10)).body == b"ok"

    asyncio.run(ask())


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

    async def ask() -> None:
        async with served(serve) as connections:
            await connections.post(b"", 10)
            slow = asyncio.create_task(connections.post(b"slow", 10))
            await asyncio.sleep(0.05)
            slow.cancel()
            with pytest.raises(asyncio.CancelledError):
                await slow
            for _ in range(3):
                await connections.post(b"", 10)

    asyncio.run(ask())
    assert len(opened) == 2


@pytest.mark.skipif(shutil.which("openssl") is None, reason="makes the certificate")
def test_tls_is_spoken_with_whom_is_trusted_alone(tmp_path: Path) -> None:
    command = ["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "1", "-subj", "/CN=localhost"]
    files = ["-keyout", str(tmp_path / "key.pem"), "-out", str(tmp_path / "cert.pem")]
    subprocess.run([*command, "-addext", "subjectAltName=DNS:localhost", *files], check=True, capture_output=True)

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        while True:
            await request(reader)
            writer.write(OK)

    async def ask() -> None:
        async with served(serve, tls=tmp_path) as connections:
            for _ in range(3):
                assert (await connections.post(b"{}", 10)).body == b"ok"
            target = connections._target
            stranger = Connections(target, ssl.create_default_context(), connect=5.0, silent=5.0, whole=5.0)
            with pytest.raises(ssl.SSLCertVerificationError):
                await stranger.post(b"{}", 10)
            await stranger.aclose()

    asyncio.run(ask())


@pytest.mark.parametrize(
    "url", ["http://user:word@host/v1", "ftp://host/v1", "http://höst/v1", "http://host/v 1", "http://host/\r\nX: y"]
)
def test_unusual_url_is_left_to_a_general_client(url: str) -> None:
    assert target_of(url, []) is None


@pytest.mark.parametrize("header", [("X", "a\r\nb"), ("X\n", "a"), ("X: y", "a"), ("X", "\u2028")])
def test_header_that_would_be_another_is_left_to_a_general_client(header: tuple[str, str]) -> None:
    assert target_of("http://host/v1", [header]) is None
    assert target_of("http://host/v1", [("X", "y")]) is not None


def test_place_names_host_and_port_as_a_server_expects() -> None:
    for url, host, at in [
        ("https://api.openai.com/v1", ("api.openai.com", 443), b"Host: api.openai.com\r\n"),
        ("http://[::1]:8000/v1", ("::1", 8000), b"Host: [::1]:8000\r\n"),
        ("http://localhost", ("localhost", 80), b"POST / HTTP/1.1\r\nHost: localhost\r\n"),
    ]:
        target = target_of(url, [])
        assert target is not None
        assert (target.host, target.port) == host
        assert at in target.head
