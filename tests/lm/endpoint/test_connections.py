"""Kept connections against real servers: kept, closed, silent, dripping, over TLS."""

import asyncio
import contextlib
import os
import shutil
import socket
import ssl
import subprocess
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from pathlib import Path

import pytest

from judgec.lm.endpoint.connections import Address, Connections, target_of
from judgec.lm.endpoint.http_reply import BrokenReplyError

OK = b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok"
Serve = Callable[[asyncio.StreamReader, asyncio.StreamWriter], Awaitable[None]]


@contextlib.asynccontextmanager
async def served(
    serve: Serve, *, silent: float = 20.0, whole: float = 60.0, tls: Path | None = None, host: str = "localhost"
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

    server = await asyncio.start_server(one, host, 0, ssl=context if tls else None)
    port = server.sockets[0].getsockname()[1]
    at = f"[{host}]" if ":" in host else host
    target = target_of(f"http{'s' if tls else ''}://{at}:{port}/v1", [("Authorization", "Bearer sk-1")])
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
    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        while True:
            await request(reader)
            writer.write(OK)

    async def ask() -> None:
        async with served(serve, tls=certificate) as connections:
            for _ in range(3):
                assert (await connections.post(b"{}", 10)).body == b"ok"
            target = connections._target
            stranger = Connections(target, ssl.create_default_context(), connect=5.0, silent=5.0, whole=5.0)
            with pytest.raises(ssl.SSLCertVerificationError):
                await stranger.post(b"{}", 10)
            await stranger.aclose()

    asyncio.run(ask())


@pytest.mark.parametrize("notified", [True, False])
def test_tls_connection_that_ends_behind_a_reply_ends_a_body_and_is_not_used_again(
    certificate: Path, notified: bool
) -> None:
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

    async def ask() -> None:
        async with served(serve, tls=certificate) as connections:
            for _ in range(3):
                assert (await connections.post(b"{}", 10)).body == b"ok"
                await asyncio.sleep(0.02)

    asyncio.run(ask())
    assert not turn


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


async def nothing(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    """A server that takes what comes and says nothing."""
    await reader.read()


def test_server_that_says_it_closes_the_connection_is_asked_over_a_new_one() -> None:
    opened: list[None] = []

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        opened.append(None)
        await request(reader)
        writer.write(OK.replace(b"\r\n\r\n", b"\r\nConnection: close\r\n\r\n"))

    async def ask() -> None:
        async with served(serve) as connections:
            for _ in range(20):
                assert (await connections.post(b"", 10)).body == b"ok"

    asyncio.run(ask())
    assert len(opened) == 20


@pytest.mark.parametrize("late", [False, True])
def test_bytes_behind_a_reply_are_never_read_as_the_next_one(late: bool) -> None:
    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await request(reader)
        if late:
            writer.write(OK)
            await asyncio.sleep(0.02)
            writer.write(OK.replace(b"ok", b"no"))
        else:
            writer.write(OK + OK.replace(b"ok", b"no"))
        await reader.read()

    async def ask() -> None:
        async with served(serve) as connections:
            for _ in range(3):
                assert (await connections.post(b"", 10)).body == b"ok"
                await asyncio.sleep(0.05)

    asyncio.run(ask())


def test_refusal_up_to_the_end_of_the_connection_keeps_its_status_and_headers() -> None:
    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await request(reader)
        writer.write(b"HTTP/1.1 429 Slow down\r\nRetry-After: 7\r\n\r\n{")
        await writer.drain()
        await asyncio.sleep(0.01)
        writer.write(b"}")

    async def ask() -> None:
        async with served(serve) as connections:
            said = await connections.post(b"{}", 10)
            assert (said.status, said.headers["retry-after"], said.body) == (429, "7", b"{}")

    asyncio.run(ask())


@pytest.mark.parametrize("length", [0, 20_000_000])
def test_server_that_answers_before_it_has_read_the_request_is_heard_and_not_asked_there_again(length: int) -> None:
    opened: list[None] = []

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        opened.append(None)
        await reader.readuntil(b"\r\n\r\n")
        writer.write(OK.replace(b"200", b"413"))
        await asyncio.sleep(0.1)  # without reading more

    async def ask() -> None:
        async with served(serve) as connections:
            for _ in range(2):
                assert (await connections.post(b"x" * length, 10)).status == 413
                await asyncio.sleep(0.15)

    asyncio.run(ask())
    assert len(opened) == 2


def test_server_that_ends_its_side_alone_is_not_asked_there_again() -> None:
    opened: list[None] = []

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        opened.append(None)
        await request(reader)
        writer.write(OK)
        writer.write_eof()
        assert await reader.read() == b""  # ours is closed then

    async def ask() -> None:
        async with served(serve) as connections:
            for _ in range(5):
                assert (await connections.post(b"", 10)).body == b"ok"
                await asyncio.sleep(0.01)

    asyncio.run(ask())
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

    async def ask() -> None:
        async with served(serve) as connections:
            assert (await connections.post(b"1", 10)).body == b"ok"
            with pytest.raises((BrokenReplyError, OSError)):
                await connections.post(b"2", 10)
            assert (await connections.post(b"3", 10)).body == b"ok"

    asyncio.run(ask())
    assert [body[-1:] for body in asked] == [b"1", b"3"]


def addresses(*ports: tuple[str, int]) -> "asyncio.Future[list[Address]]":
    found: asyncio.Future[list[Address]] = asyncio.get_running_loop().create_future()
    kinds = {True: socket.AF_INET6, False: socket.AF_INET}
    found.set_result([(kinds[":" in host], socket.SOCK_STREAM, 6, "", (host, port)) for host, port in ports])
    return found


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


def closed_port() -> tuple[str, int]:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return ("127.0.0.1", probe.getsockname()[1])


async def answering(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    while True:
        await request(reader)
        writer.write(OK)


def test_address_that_is_dead_or_refuses_is_passed_over_for_the_next() -> None:
    async def ask() -> None:
        async with served(answering, host="127.0.0.1") as connections:
            alive = ("127.0.0.1", connections._target.port)
            with deaf() as silent:
                for first in (silent, closed_port()):
                    connections._looked_up = asyncio.get_running_loop().time()
                    connections._addresses = addresses(first, alive)
                    calls = [connections.post(b"", 10) for _ in range(3)]
                    assert [said.body for said in await asyncio.gather(*calls)] == [b"ok"] * 3
                    for kept in list(connections._open):
                        kept.close()

    asyncio.run(ask())


def test_address_that_never_accepts_ends_at_the_deadline_of_connecting() -> None:
    async def ask() -> None:
        loop = asyncio.get_running_loop()
        with deaf() as (host, port):
            target = target_of(f"http://{host}:{port}/v1", [])
            assert target is not None
            connections = Connections(target, ssl.create_default_context(), connect=0.2, silent=9.0, whole=9.0)
            began = loop.time()
            with pytest.raises(TimeoutError):
                await connections.post(b"", 10)
            assert 0.19 < loop.time() - began < 5
            call = asyncio.create_task(connections.post(b"", 10))
            await asyncio.sleep(0.05)
            call.cancel()  # while it connects
            with pytest.raises(asyncio.CancelledError):
                await call
            await connections.aclose()

    asyncio.run(ask())


def test_host_without_an_address_and_port_without_a_server_fail_as_such_each_time() -> None:
    async def ask() -> None:
        for url, kind in (
            ("http://no-such-host.invalid/v1", socket.gaierror),
            (f"http://127.0.0.1:{closed_port()[1]}/v1", ConnectionRefusedError),
        ):
            target = target_of(url, [])
            assert target is not None
            connections = Connections(target, ssl.create_default_context(), connect=9.0, silent=9.0, whole=9.0)
            for _ in range(2):
                for said in await asyncio.gather(
                    *(connections.post(b"", 10) for _ in range(3)), return_exceptions=True
                ):
                    assert isinstance(said, kind), said
            call = asyncio.create_task(connections.post(b"", 10))
            await asyncio.sleep(0)
            call.cancel()  # while the host is looked up
            with pytest.raises((asyncio.CancelledError, OSError)):
                await call
            await connections.aclose()

    asyncio.run(ask())


@pytest.mark.skipif(not socket.has_ipv6 or not Path("/proc/net/if_inet6").exists(), reason="no IPv6 here")
def test_server_that_listens_on_ipv6_is_asked() -> None:
    async def ask() -> None:
        async with served(answering, host="::1") as connections:
            for _ in range(3):
                assert (await connections.post(b"", 10)).body == b"ok"
            assert (await connections._found())[0][0] == socket.AF_INET6

    asyncio.run(ask())


def test_tls_handshake_that_hangs_ends_at_the_deadline_of_connecting_and_when_cancelled() -> None:
    async def ask() -> None:
        async with served(nothing) as plain:
            target = target_of(f"https://localhost:{plain._target.port}/v1", [])
            assert target is not None
            connections = Connections(target, ssl.create_default_context(), connect=0.2, silent=9.0, whole=9.0)
            with pytest.raises(TimeoutError):
                await connections.post(b"", 10)
            call = asyncio.create_task(connections.post(b"", 10))
            await asyncio.sleep(0.05)
            call.cancel()
            with pytest.raises(asyncio.CancelledError):
                await call
            assert not connections._open
            await connections.aclose()

    asyncio.run(ask())


def test_calls_in_flight_fail_when_the_connections_are_closed() -> None:
    async def ask() -> None:
        async with served(nothing) as connections:
            calls = [asyncio.create_task(connections.post(b"", 10)) for _ in range(3)]
            await asyncio.sleep(0.05)
            await connections.aclose()
            for said in await asyncio.wait_for(asyncio.gather(*calls, return_exceptions=True), 5):
                assert isinstance(said, BrokenReplyError)

    asyncio.run(ask())
