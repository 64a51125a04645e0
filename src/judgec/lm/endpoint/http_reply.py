"""Reads the replies of one HTTP/1.1 connection, of any server, in bounded memory: bytes in, status and body out.

Only what a client of one request at a time needs: a body by its length, in chunks or up to the end of the connection;
interim replies are skipped. Source: RFC 9112.
"""

import re
import zlib
from collections.abc import Mapping
from typing import NamedTuple

ENCODINGS = "gzip, deflate"  # what ``Body`` undoes
PACKED = {"gzip", "x-gzip", "deflate"}
EITHER = 32 + zlib.MAX_WBITS  # zlib finds out which of the two it is
LONGEST_HEAD = 65_536  # bytes of a reply's head, of its trailers, or of a line before a chunk
SWITCHING = 101  # an interim reply that none of ours asks for
NO_CONTENT = 204
REDIRECTS, ERRORS = 300, 400  # the first status of each kind

_HEAD_END = re.compile(rb"\n\r?\n")  # lines may end in a bare line feed
_STATUS = re.compile(r"HTTP/1\.([01]) ([1-9]\d\d)(?: .*)?")
_CHUNK = re.compile(rb"[ \t]*([0-9A-Fa-f]{1,15})[ \t]*(?:;.*)?")


class BrokenReplyError(Exception):
    """What came over the connection is no HTTP reply, or ends within one."""


class HttpReply(NamedTuple):
    """What an endpoint sent.

    Args:
        status: 200 and above.
        headers: By their names in lower case; of a repeated one all values, with commas.
        body: Unpacked; None when it has more bytes than it may have. That of a redirect is not read.
    """

    status: int
    headers: Mapping[str, str]
    body: bytes | None


class Body:
    """A body as it comes in, unpacked; never more of it than it may have.

    Args:
        most: Bytes that it may have, however few they were on the way.
        encoding: The header ``Content-Encoding``.
    """

    def __init__(self, most: int, encoding: str | None) -> None:
        packed = encoding is not None and encoding.strip().lower() in PACKED
        self._unpack = zlib.decompressobj(EITHER) if packed else None
        self._left = most
        self._parts: list[bytes] = []

    def add(self, part: bytes) -> bool:
        """The next bytes; False when there are too many now.

        Raises:
            zlib.error: When they are not compressed as the header says.
        """
        if self._unpack is not None:
            part = self._unpack.decompress(part, self._left + 1)
        self._left -= len(part)
        if part:
            self._parts.append(part)
        return self._left >= 0

    def whole(self) -> bytes:
        """All of it.

        Raises:
            zlib.error: When the compressed data have no end.
        """
        if self._unpack is not None and not self._unpack.eof:
            raise zlib.error("the reply ends within its compressed data")
        return self._parts[0] if len(self._parts) == 1 else b"".join(self._parts)


class ReplyReader:
    """One reply.

    Args:
        most: Bytes that its body may have.
    """

    kept = False  # whether the connection may serve another request, once the reply is there
    _held = b""  # of a head, a line or a trailer that is not complete
    _status = 0
    _body: Body | None = None
    _left: int | None = None  # bytes of the body, or of the chunk, to come; None: until the connection ends
    _chunked = _trailing = False

    def __init__(self, most: int) -> None:
        self._most = most
        self._headers: dict[str, str] = {}

    def feed(self, data: bytes) -> HttpReply | None:
        """The next bytes of the connection; the reply when it is there.

        Raises:
            BrokenReplyError: When they are no HTTP.
            zlib.error: When the body is not compressed as its head says.
        """
        if self._body is None:
            return self._head(self._held + data if self._held else data)
        return self._chunks(data) if self._chunked else self._more(data)

    def end(self) -> HttpReply:
        """The reply when no more bytes come.

        Raises:
            BrokenReplyError: When it is not complete.
            zlib.error: As ``feed``.
        """
        if self._body is None or self._chunked or self._left is not None:
            raise BrokenReplyError("the connection was closed before the reply was complete")
        return self._done(self._body)

    def _head(self, data: bytes) -> HttpReply | None:
        while True:
            found = _HEAD_END.search(data)
            if found is None:
                self._held = _bounded(data)
                return None
            end, start = found.span()
            self._read_head(_bounded(data[:end]).decode("latin-1"))
            if self._status >= 200:
                break
            if self._status == SWITCHING:
                raise BrokenReplyError("the server switches to another protocol")
            data = data[start:]
        self._held = b""
        headers = self._headers
        self._body = body = Body(self._most, headers.get("content-encoding"))
        if REDIRECTS <= self._status < ERRORS or self._status == NO_CONTENT:
            self.kept = False
            return HttpReply(self._status, headers, b"")
        encoding = headers.get("transfer-encoding")
        if encoding is None:
            length = headers.get("content-length")
            self._left = None if length is None else _length(length)
        elif encoding.lower().rpartition(",")[2].strip() == "chunked":
            self._chunked, self._left = True, 0
            self.kept = self.kept and "content-length" not in headers  # RFC 9112, 6.3: somebody may be misled
            return self._chunks(data[start:])
        self.kept = self.kept and self._left is not None
        if self._left == len(data) - start:  # nearly always all of it
            return self._done(body) if body.add(data[start:]) else self._too_long()
        return self._more(data[start:])

    def _read_head(self, head: str) -> None:
        first, *lines = head.split("\n")
        status = _STATUS.fullmatch(first.rstrip("\r"))
        if status is None:
            raise BrokenReplyError("the reply does not begin like one of HTTP/1.1")
        headers: dict[str, str] = {}
        name = ""
        for line in lines:
            if line[:1] in " \t" and name:  # a long value goes on
                headers[name] += f" {line.strip()}"
                continue
            name, colon, value = line.partition(":")
            name = name.strip().lower()
            if not (colon and name):
                raise BrokenReplyError("a header of the reply has no name or no value")
            value = value.strip()
            headers[name] = f"{headers[name]}, {value}" if name in headers else value
        said = headers.get("connection", "").lower()
        self.kept = "close" not in said and (status[1] == "1" or "keep-alive" in said)
        self._status, self._headers = int(status[2]), headers

    def _more(self, data: bytes) -> HttpReply | None:
        """Of a body by its length, or up to the end of the connection."""
        body = self._of_body()
        if self._left is not None:
            if len(data) > self._left:
                data, self.kept = data[: self._left], False
            self._left -= len(data)
        if not body.add(data):
            return self._too_long()
        return self._done(body) if self._left == 0 else None

    def _chunks(self, data: bytes) -> HttpReply | None:
        body, at = self._of_body(), 0
        data, self._held = self._held + data, b""
        while True:
            if self._left:
                part = data[at : at + self._left]
                at, self._left = at + len(part), self._left - len(part)
                if not body.add(part):
                    return self._too_long()
                if self._left or at == len(data):
                    return None
            end = data.find(b"\n", at)
            if end < 0:
                self._held = _bounded(data[at:])
                return None
            line, at = data[at:end].rstrip(b"\r"), end + 1
            if self._trailing and not line:
                self.kept = self.kept and at == len(data)
                return self._done(body)
            if self._trailing or not line:  # a trailer, or what ends the data of a chunk
                continue
            size = _CHUNK.fullmatch(line)
            if size is None:
                raise BrokenReplyError("a chunk of the reply has no size")
            self._left = int(size[1], 16)
            self._trailing = not self._left

    def _of_body(self) -> Body:
        if self._body is None:
            raise BrokenReplyError("a body without a head")
        return self._body

    def _done(self, body: Body) -> HttpReply:
        return HttpReply(self._status, self._headers, body.whole())

    def _too_long(self) -> HttpReply:
        self.kept = False
        return HttpReply(self._status, self._headers, None)


def _bounded(data: bytes) -> bytes:
    """Raises:
    BrokenReplyError: When a head or a line is longer than any server's.
    """
    if len(data) > LONGEST_HEAD:
        raise BrokenReplyError("the head of the reply is too long")
    return data


def _length(said: str) -> int:
    if said.isascii() and said.isdigit() and len(said) <= 18:
        return int(said)
    lengths = {length.strip() for length in said.split(",")}
    length = lengths.pop()
    if lengths or not (length.isascii() and length.isdigit()) or len(length) > 18:
        raise BrokenReplyError("the reply has no readable length")
    return int(length)
