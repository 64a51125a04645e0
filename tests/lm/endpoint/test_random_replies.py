"""Random valid replies: the same however they are cut, and what aiohttp reads from the same bytes."""

import asyncio
import gzip
import random
import ssl
import zlib

import aiohttp
import pytest

from judgec.lm.endpoint.connections import Connections, target_of
from judgec.lm.endpoint.http_reply import HttpReply, ReplyReader

MOST = 100_000
STATUSES = [200, 200, 200, 201, 400, 401, 404, 413, 429, 500, 503, 529]
NAMES = [
    "Date",
    "Server",
    "X-Request-Id",
    "x-ratelimit-remaining",
    "Retry-After",
    "Set-Cookie",
    "Vary",
    "CF-RAY",
    "X_y!",
]
VALUES = ["", "x", "Wed, 25 Nov 2026 16:39:18 GMT", "a=b; c", '"q;,\\""', "é", "\t padded \t", "1", "x" * 300]
TEXTS = [b"", b"ok", b'{"choices": [{"index": 0}]}' * 9, b"\r\n\r\n0\r\n\r\nHTTP/1.1 200 OK\r\n\r\n", bytes(range(256))]


def random_reply(draw: random.Random) -> bytes:
    """A reply of any framing, encoding and number of headers, as servers may send it to a POST."""
    body = draw.choice([*TEXTS, draw.randbytes(draw.randint(1, 2000))])
    headers = [(draw.choice(NAMES), draw.choice(VALUES)) for _ in range(draw.randint(0, 12))]
    if packed := draw.choice(["", "", "gzip", "deflate"]):
        body = gzip.compress(body) if packed == "gzip" else zlib.compress(body)
        headers.append(("Content-Encoding", packed))
    framing = draw.choice(["length", "length", "chunks", "end"])
    if framing == "length":
        headers.append((draw.choice(["Content-Length", "content-length"]), str(len(body))))
    elif framing == "chunks":
        headers.append(("Transfer-Encoding", draw.choice(["chunked", "Chunked"])))
        body = chunked(body, draw)
    if draw.random() < 0.2:
        headers.append(("Connection", draw.choice(["close", "keep-alive", "Keep-Alive"])))
    draw.shuffle(headers)
    interim = b"HTTP/1.1 100 Continue\r\n\r\n" if draw.random() < 0.1 else b""
    version = "1.0" if framing == "end" and draw.random() < 0.5 else "1.1"
    first = f"HTTP/{version} {draw.choice(STATUSES)}{draw.choice(['', ' ', ' OK', ' Too Many Requests'])}"
    lines = [f"{name}:{draw.choice(['', ' ', '  '])}{value}" for name, value in headers]
    return interim + "\r\n".join([first, *lines, "", ""]).encode("latin-1") + body


def chunked(body: bytes, draw: random.Random) -> bytes:
    parts, at = b"", 0
    while at < len(body):
        part = body[at : at + draw.choice([1, 7, 100, 5000])]
        at += len(part)
        size = f"{len(part):0{draw.choice([1, 4])}x}{draw.choice(['', '', ';x=y', ';x'])}"
        parts += (size.upper() if draw.random() < 0.5 else size).encode() + b"\r\n" + part + b"\r\n"
    return parts + b"0\r\n" + draw.choice([b"", b"", b"X-Sum: 9\r\n"]) + b"\r\n"


def cut(raw: bytes, draw: random.Random) -> list[bytes]:
    ends = sorted(draw.randint(0, len(raw)) for _ in range(draw.randint(0, 3)))
    return [raw[a:b] for a, b in zip([0, *ends], [*ends, len(raw)], strict=True) if b > a]


def read(parts: list[bytes]) -> HttpReply:
    reader = ReplyReader()
    reader.begin(MOST)
    for part in parts:
        if (said := reader.feed(part)) is not None:
            return said
    return reader.end()


def test_random_reply_means_the_same_wherever_it_is_cut() -> None:
    draw = random.Random(1)
    for _ in range(40):
        raw = random_reply(draw)
        whole = read([raw])
        assert read([raw[at : at + 1] for at in range(len(raw))]) == whole
        for at in range(1, len(raw)):
            assert read([raw[:at], raw[at:]]) == whole


@pytest.mark.full
def test_two_thousand_random_replies_over_a_socket_are_what_aiohttp_reads() -> None:
    draw = random.Random(2)
    assert not asyncio.run(read_otherwise([cut(random_reply(draw), draw) for _ in range(2000)]))


def test_random_replies_over_a_socket_are_what_aiohttp_reads() -> None:
    draw = random.Random(3)
    assert not asyncio.run(read_otherwise([cut(random_reply(draw), draw) for _ in range(100)]))


async def read_otherwise(replies: list[list[bytes]]) -> list[bytes]:
    """The replies that ours, aiohttp and the parser alone do not read alike; each is sent twice, in these pieces."""
    found: list[bytes] = []

    async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        head = await reader.readuntil(b"\r\n\r\n")
        number = int(await reader.readexactly(int(head.lower().split(b"content-length:")[1].split(b"\r\n")[0])))
        for piece in replies[number]:
            writer.write(piece)
            await asyncio.sleep(0)
        writer.close()

    server = await asyncio.start_server(answer, "127.0.0.1", 0)
    url = f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}/v1"
    target = target_of(url, [])
    assert target is not None
    ours = Connections(target, ssl.create_default_context(), connect=20.0, silent=20.0, whole=20.0)
    async with server, aiohttp.ClientSession(connector=aiohttp.TCPConnector(force_close=True)) as session:
        for number, pieces in enumerate(replies):
            said = await ours.post(b"%d" % number, MOST)
            async with session.post(url, data=b"%d" % number) as reply:
                headers: dict[str, str] = {}
                for name, value in reply.raw_headers:
                    key, text = name.decode("latin-1").lower(), value.strip().decode("latin-1")
                    headers[key] = f"{headers[key]}, {text}" if key in headers else text
                theirs = HttpReply(reply.status, headers, await reply.read())
            if not said == theirs == read(pieces):
                found.append(b"".join(pieces))
        await ours.aclose()
    return found
