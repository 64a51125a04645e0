"""Reads the replies of one HTTP/1.1 connection, of any server, in bounded memory: bytes in, status and body out.

httptools (llhttp, the parser of Node.js) reads HTTP. Here is what bulk judging makes of it: interim replies are
skipped, bodies unpacked, and nothing may be longer than it should.
"""

from collections.abc import Mapping
from typing import NamedTuple

from httptools import HttpParserCallbackError, HttpParserError, HttpParserUpgrade, HttpResponseParser

from judgec.lm.endpoint.unpack import Unpacker

LONGEST_HEAD = 65_536  # bytes of a reply's head, of its trailers, or of a line before a chunk
INTERIM = {100, *range(102, 200)}  # 101 switches to another protocol, which none of ours asks for
OK, NO_CONTENT = 200, 204
REDIRECTS, ERRORS = 300, 400  # the first status of each kind
# What aiohttp lets pass as well (odd bytes in values, bare line feeds, blanks behind the size of a chunk), and a length
# beside chunks, which does not count.
LENIENT = {
    "lenient_headers": True,
    "lenient_optional_cr_before_lf": True,
    "lenient_spaces_after_chunk_size": True,
    "lenient_chunked_length": True,
}


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
        self._unpacker = Unpacker(encoding)
        self._left = most
        self._parts: list[bytes] = []

    def add(self, part: bytes) -> bool:
        """The next bytes; False when there are too many now.

        Raises:
            zlib.error: When they are not compressed as the header says.
        """
        if part := self._unpacker.add(part, self._left):
            self._left -= len(part)
            self._parts.append(part)
        return self._left >= 0

    def whole(self) -> bytes:
        """All of it.

        Raises:
            zlib.error: When the compressed data have no end.
        """
        self._unpacker.end()
        return self._parts[0] if len(self._parts) == 1 else b"".join(self._parts)


class ReplyReader:
    """The replies of one connection, one after the other: ``begin``, then ``feed`` until the reply is there."""

    def __init__(self) -> None:
        self.kept = False  # whether the connection may serve another request, once the reply is there
        self._parser = HttpResponseParser(self)
        self._parser.set_dangerous_leniencies(**LENIENT)
        self.begin(0)

    def begin(self, most: int) -> None:
        """Before the first and every other reply.

        Args:
            most: Bytes that its body may have.
        """
        self.kept = False
        self._most = most
        self._aside = 0  # bytes that came since the last ones of a body
        self._headers: dict[str, str] = {}
        self._body: Body | None = None
        self._reply: HttpReply | None = None

    def feed(self, data: bytes) -> HttpReply | None:
        """The next bytes of the connection; the reply when it is there.

        Raises:
            BrokenReplyError: When they are no HTTP.
            zlib.error: When the body is not compressed as its head says.
        """
        for at in range(0, len(data), LONGEST_HEAD):
            part = data[at : at + LONGEST_HEAD]
            self._aside += len(part)
            try:
                self._parser.feed_data(part)
            except (HttpParserError, HttpParserUpgrade) as error:
                if self._reply is None:
                    raise _cause(error) from None
                self.kept = False  # what comes behind it is no reply
                break
            if self._reply is None and self._aside > LONGEST_HEAD:
                raise BrokenReplyError("the head of the reply is too long")
        return self._reply

    def end(self) -> HttpReply:
        """The reply when no more bytes come.

        Raises:
            BrokenReplyError: When it is not complete.
            zlib.error: As ``feed``.
        """
        headers = self._headers
        framed = "content-length" in headers or "chunked" in headers.get("transfer-encoding", "").lower()
        if self._body is None or framed:
            raise BrokenReplyError("the connection was closed before the reply was complete")
        return HttpReply(self._parser.get_status_code(), headers, self._body.whole())

    def on_message_begin(self) -> None:
        """The parser's, as those below; behind a reply come bytes that nobody asked for."""
        if self._reply is not None:
            self.kept = False

    def on_header(self, name: bytes, value: bytes) -> None:
        """Of the head or, behind a body, of trailers."""
        if self._body is None:
            key, said = name.strip().lower().decode("latin-1"), value.strip().decode("latin-1")
            headers = self._headers
            headers[key] = f"{headers[key]}, {said}" if key in headers else said

    def on_headers_complete(self) -> None:
        """The end of a head."""
        status = self._parser.get_status_code()
        if self._body is not None or status in INTERIM:
            return
        if status < OK:
            raise BrokenReplyError(f"status {status} of the reply is none that was asked for")
        self._body = Body(self._most, self._headers.get("content-encoding"))
        if REDIRECTS <= status < ERRORS or status == NO_CONTENT:
            self._reply = HttpReply(status, self._headers, b"")

    def on_body(self, part: bytes) -> None:
        """Some of a body."""
        self._aside = 0
        if self._reply is None and self._body is not None and not self._body.add(part):
            self._reply = HttpReply(self._parser.get_status_code(), self._headers, None)

    def on_message_complete(self) -> None:
        """The end of a reply."""
        if self._body is None:
            self._headers = {}
        elif self._reply is None:
            self._reply = HttpReply(self._parser.get_status_code(), self._headers, self._body.whole())
            both = "content-length" in self._headers and "transfer-encoding" in self._headers
            self.kept = self._parser.should_keep_alive() and not both  # RFC 9112, 6.3: somebody may be misled


def _cause(error: Exception) -> BaseException:
    """What a method of the reader raised while the parser ran, which is its error's context, or what the parser saw."""
    if isinstance(error, HttpParserCallbackError) and error.__context__ is not None:
        return error.__context__
    return BrokenReplyError(f"the reply is no HTTP/1.1: {error}")
