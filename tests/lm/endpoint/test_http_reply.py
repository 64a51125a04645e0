"""Replies as bytes: whole, in pieces, of every framing, and what is no reply."""

import asyncio
import gzip
import random
import zlib

import aiohttp
import pytest
from hypothesis import given
from hypothesis import strategies as st

from judgec.lm.endpoint.http_reply import LONGEST_HEAD, BrokenReplyError, HttpReply, ReplyReader

PACKED = gzip.compress(b'{"choices": []}' * 9)
# Every framing of RFC 9112 that a client of POST may meet, the body that each has, and whether more may be asked.
REPLIES = {
    "length": (b"HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello", b"hello", True),
    "no length": (b"HTTP/1.1 200 OK\r\nServer: x\r\n\r\nhello", b"hello", False),
    "empty": (b"HTTP/1.1 500 No\r\nContent-Length: 0\r\n\r\n", b"", True),
    "no reason": (b"HTTP/1.1 429\r\nRetry-After: 3\r\ncontent-length:2 \r\n\r\n{}", b"{}", True),
    "chunks": (
        b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nhel\r\n2;x=y\r\nlo\r\n0\r\n\r\n", b"hello", True,
    ),
    "trailers": (
        b"HTTP/1.1 200 OK\r\nTransfer-Encoding: Chunked\r\n\r\nA\r\n0123456789\r\n0\r\nX: y\r\n\r\n",
        b"0123456789", True,
    ),
    "packed": (
        b"HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\nContent-Length: %d\r\n\r\n%b" % (len(PACKED), PACKED),
        b'{"choices": []}' * 9, True,
    ),
    "packed chunks": (
        b"HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\nTransfer-Encoding: chunked\r\n\r\n%x\r\n%b\r\n0\r\n\r\n"
        % (len(PACKED), PACKED),
        b'{"choices": []}' * 9, True,
    ),
    "packed twice": (
        b"HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\nContent-Length: %d\r\n\r\n%b" % (2 * len(PACKED), 2 * PACKED),
        b'{"choices": []}' * 18, True,
    ),
    "nothing packed": (b"HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\nContent-Length: 0\r\n\r\n", b"", True),
    "closing": (b"HTTP/1.1 200 OK\r\nConnection: Close\r\nContent-Length: 2\r\n\r\nok", b"ok", False),
    "old": (b"HTTP/1.0 200 OK\r\nContent-Length: 2\r\n\r\nok", b"ok", False),
    "old, kept": (b"HTTP/1.0 200 OK\r\nConnection: keep-alive\r\nContent-Length: 2\r\n\r\nok", b"ok", True),
    "interim": (b"HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok", b"ok", True),
    "line feeds": (b"HTTP/1.1 200 OK\nContent-Length: 2\n\nok", b"ok", True),
    "blank lines inside": (b"HTTP/1.1 200 OK\nContent-Length: 8\n\na\r\n\r\nb\n\n", b"a\r\n\r\nb\n\n", True),
    "nothing in headers": (b"HTTP/1.1 200 \r\nA:\r\nContent-Length: 2\r\nB: \r\n\r\nok", b"ok", True),
    "odd header": (b"HTTP/1.1 200 \xc3\xa9\r\nA: \xc3\xa9\x01\r\nContent-Length: 2\r\n\r\nok", b"ok", True),
    "length beside chunks": (
        b"HTTP/1.1 200 OK\r\nContent-Length: 9\r\nTransfer-Encoding: chunked\r\n\r\n2  \r\nok\r\n0\r\n\r\n",
        b"ok", False,
    ),
    "length in trailers": (
        b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nok\r\n0\r\nContent-Length: 9\r\n\r\n",
        b"ok", True,
    ),
    "identity": (b"HTTP/1.1 200 OK\r\nTransfer-Encoding: identity\r\n\r\nok", b"ok", False),
    "more interim": (
        b"HTTP/1.1 102 W\r\nServer: x\r\n\r\nHTTP/1.1 103 X\r\n\r\nHTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok",
        b"ok", True,
    ),
}  # fmt: skip
BROKEN = {
    "garbage": b"\x16\x03\x01\x00\r\n\r\n",
    "another protocol": b"SSH-2.0-x\r\n\r\n",
    "no name": b"HTTP/1.1 200 OK\r\n: 3\r\n\r\n",
    "no colon": b"HTTP/1.1 200 OK\r\nhello\r\n\r\n",
    "negative length": b"HTTP/1.1 200 OK\r\nContent-Length: -1\r\n\r\n",
    "two lengths": b"HTTP/1.1 200 OK\r\nContent-Length: 3\r\nContent-Length: 4\r\n\r\nabcd",
    "huge length": b"HTTP/1.1 200 OK\r\nContent-Length: 99999999999999999999\r\n\r\n",
    "same length twice": b"HTTP/1.1 200 OK\r\nContent-Length: 2, 2\r\n\r\nok",
    "blank before a colon": b"HTTP/1.1 200 OK\r\nX : y\r\n\r\nok",
    "bare line feeds between chunks": b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\nok\n0\n\n",
    "end before the reply": b"HTTP/1.1 100 Continue\r\nConnection: close\r\n\r\nHTTP/1.1 200 OK\r\n\r\n",
    "status of no kind": b"HTTP/1.1 099 OK\r\nContent-Length: 2\r\n\r\nok",
    "huge chunk": b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nfffffffffffffffff\r\n",
    "no chunk": b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nhello\r\n",
    "negative chunk": b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n-3\r\nabc\r\n",
    "other protocol from here": b"HTTP/1.1 101 Switching\r\nUpgrade: x\r\n\r\n",
    "endless head": b"HTTP/1.1 200 OK\r\n" + b"X: y\r\n" * 20_000,
    "endless head before a reply": b"HTTP/1.1 200 OK\r\n" + b"X: y\r\n" * 30_000 + b"Content-Length: 2\r\n\r\nok",
    "endless header": b"HTTP/1.1 200 OK\r\nX: " + b"y" * 2 * LONGEST_HEAD,
    "endless interim replies": b"HTTP/1.1 102 Wait\r\n\r\n" * 4000,
    "endless line": b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n" + b"1" * (LONGEST_HEAD + 1),
    "endless extension": b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n1;" + b"x" * (LONGEST_HEAD + 1),
    "endless trailers": b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n" + b"X: y\r\n" * 20_000,
}
SHORT = {
    "nothing": b"",
    "head": b"HTTP/1.1 200 OK\r\nContent-Le",
    "body of any length": b"HTTP/1.1 200 OK\r\nContent-Length: 9999999999999999999\r\n\r\nhel",
    "body of a length after a blank": b"HTTP/1.1 200 OK\r\nContent-Length : 5\r\n\r\nhel",
    "interim alone": b"HTTP/1.1 100 Continue\r\n\r\n",
    "body": b"HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhel",
    "chunk": b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhel",
    "no last chunk": b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n",
    "no end of trailers": b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n0\r\nX: y\r\n",
}


def read(parts: list[bytes], most: int = 1000) -> tuple[HttpReply, bool]:
    reader = ReplyReader()
    reader.begin(most)
    for part in parts:
        if (said := reader.feed(part)) is not None:
            return said, reader.kept
    return reader.end(), reader.kept


def outcome(parts: list[bytes]) -> object:
    """What they are read as, or refused."""
    try:
        return read(parts)[0]
    except (BrokenReplyError, zlib.error) as error:
        return type(error)


@pytest.mark.parametrize("name", REPLIES)
def test_reply_of_every_framing_is_read(name: str) -> None:
    raw, body, kept = REPLIES[name]
    status = 429 if name == "no reason" else 500 if name == "empty" else 200
    said, again = read([raw])
    assert (said.status, said.body, again) == (status, body, kept)


@pytest.mark.parametrize("name", [*REPLIES, *BROKEN, *SHORT])
def test_reply_means_the_same_however_it_comes_in(name: str) -> None:
    raw = REPLIES[name][0] if name in REPLIES else BROKEN.get(name, SHORT.get(name, b""))
    whole = outcome([raw])
    endless = len(raw) > 1000
    for at in range(0, len(raw), len(raw) // 7 if endless else 1):
        assert outcome([raw[:at], raw[at:]]) == whole
    for size in (777, 65_537) if endless else (1, 2, 3, 7, 20):
        assert outcome([raw[at : at + size] for at in range(0, len(raw), size)]) == whole


def test_one_reader_reads_the_replies_of_a_connection_one_after_the_other() -> None:
    reader = ReplyReader()
    for name, (raw, body, kept) in REPLIES.items():
        if kept:
            for size in (1, 10, len(raw)):
                reader.begin(1000)
                for at in range(0, len(raw), size):
                    said = reader.feed(raw[at : at + size])
                assert said == read([raw])[0], name
                assert (said.body, reader.kept) == (body, True), name


async def by_aiohttp(raw: bytes) -> tuple[int, bytes, str | None]:
    async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readuntil(b"\r\n\r\n")
        writer.write(raw)
        writer.close()

    server = await asyncio.start_server(answer, "127.0.0.1", 0)
    url = f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}/"
    async with server, aiohttp.ClientSession(timeout=aiohttp.ClientTimeout(total=5)) as session:  # noqa: SIM117
        async with session.post(url) as reply:
            return reply.status, await reply.read(), reply.headers.get("Retry-After")


@pytest.mark.parametrize("name", [name for name in REPLIES if not name.startswith(("line", "blank lines", "length "))])
def test_reply_is_what_aiohttp_reads(name: str) -> None:
    """As a second implementation; it refuses a length beside chunks, and some heads with bare line feeds."""
    raw = REPLIES[name][0]
    said, _ = read([raw])
    assert asyncio.run(by_aiohttp(raw)) == (said.status, said.body, said.headers.get("retry-after"))


@pytest.mark.parametrize("name", BROKEN)
def test_what_is_no_reply_is_refused_at_once(name: str) -> None:
    with pytest.raises(BrokenReplyError):
        ReplyReader().feed(BROKEN[name])


@pytest.mark.parametrize("name", SHORT)
def test_reply_that_is_not_complete_when_the_connection_ends_is_none(name: str) -> None:
    with pytest.raises(BrokenReplyError, match="closed before"):
        read([SHORT[name]])


def test_more_than_a_body_may_have_is_not_kept() -> None:
    for framing in (b"Content-Length: 5", b"Server: x", b"Transfer-Encoding: chunked"):
        body = b"5\r\nhello\r\n0\r\n\r\n" if b"chunked" in framing else b"hello"
        raw = b"HTTP/1.1 200 OK\r\n%b\r\n\r\n%b" % (framing, body)
        assert read([raw], 5)[0].body == b"hello"
        assert read([raw], 4) == (HttpReply(200, read([raw])[0].headers, None), False)
    bomb = gzip.compress(b" " * 5_000_000)
    raw = b"HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\nContent-Length: %d\r\n\r\n%b" % (len(bomb), bomb)
    assert read([raw])[0].body is None


def test_compressed_body_that_ends_early_is_broken() -> None:
    raw = b"HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\nContent-Length: 9\r\n\r\n%b" % PACKED[:9]
    with pytest.raises(zlib.error):
        read([raw])


def test_bytes_behind_a_compressed_body_are_refused_and_not_collected() -> None:
    begun = b"HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\n\r\n%b" % PACKED
    for surplus in (b"x" * 20, bytes(20)):
        with pytest.raises(zlib.error):
            read([begun + surplus])
    empty = gzip.compress(b"")  # any number of which is nothing
    assert read([begun, *[empty * 100] * 20])[0].body == b'{"choices": []}' * 9


def test_body_of_a_redirect_is_not_read() -> None:
    raw = b"HTTP/1.1 307 Go\r\nLocation: http://x/Y\r\nContent-Length: 99\r\n\r\n"
    said, kept = read([raw])
    assert (said.status, said.headers["location"], said.body, kept) == (307, "http://x/Y", b"", False)


def test_bytes_behind_a_reply_cost_the_connection() -> None:
    for name in ("length", "chunks"):
        for surplus in (b"x", b"HTTP/1.1 200 OK", REPLIES["no length"][0], b"HTTP/1.1 101 Go\r\nUpgrade: x\r\n\r\n"):
            said, kept = read([REPLIES[name][0] + surplus])
            assert (said.body, kept) == (b"hello", False)


@given(st.binary(max_size=300), st.integers(0, 2**32))
def test_bytes_of_any_kind_are_read_or_refused(noise: bytes, seed: int) -> None:
    """Noise, and real replies with noise in them; whatever they are read as does not depend on how they come in."""
    draw = random.Random(seed)
    raw = draw.choice([raw for raw, _, _ in REPLIES.values()])
    at = draw.randint(0, len(raw))
    raw = raw[:at] + noise + raw[at + draw.randint(0, 3) :]
    assert outcome([raw]) == outcome([raw[i : i + 1] for i in range(len(raw))])
