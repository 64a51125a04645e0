"""Runs the local review server: loopback only, one token, and nothing for pages of other origins.

A page on the internet can make a browser send requests to 127.0.0.1, and by rebinding its own name to 127.0.0.1 can
even read the replies. So a request counts only when ``Host`` is this server's own address (rebinding keeps the
attacker's), ``Origin`` is absent or ours, and the token is in a header, which no foreign page may set without a
preflight that is never answered.
"""

import json
import secrets
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import cache
from http import HTTPStatus
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from importlib.resources import files
from threading import Thread
from urllib.parse import parse_qs, urlsplit
from zlib import crc32

from pydantic import BaseModel, ConfigDict, ValidationError

from judgec.errors import JudgecError, UserError
from judgec.labels.review.desk import Desk, Json
from judgec.labels.review.sheet import Given


def page(nonce: str) -> str:
    """The page.

    Args:
        nonce: Of this reply; the policy lets nothing run and nothing style the page without it.
    """
    return (
        "<!doctype html><html lang=en><head><meta charset=utf-8>"
        "<meta name=viewport content='width=device-width, initial-scale=1'><title>Labels</title>"
        f"<style nonce={nonce}>{_part('css')}</style></head><body>{_part('html')}"
        f"<script nonce={nonce}>{_part('js')}</script></body></html>"
    )


@cache
def _part(kind: str) -> str:
    return files(__package__).joinpath(f"page.{kind}").read_text(encoding="utf-8")


LOOPBACK = "127.0.0.1"
TOKEN_HEADER = "X-Judgec-Token"  # noqa: S105 -- the header's name
MOST_BYTES = 200_000  # of a request's body
PATIENCE = 30  # seconds until a silent connection is closed


class _Given(BaseModel):
    """A person's labels of an item."""

    model_config = ConfigDict(extra="forbid", strict=True)
    grades: dict[str, int]
    rationale: str = ""

    @property
    def given(self) -> Given:
        return Given(self.grades, self.rationale)


class _Label(_Given):
    """The body of ``POST /api/label``."""

    number: int
    item_id: str | None = None
    annotator: str
    known: list[_Given] | None = None


class ReviewServer(ThreadingHTTPServer):
    """Serves one desk.

    Args:
        desk: Where labels go.
        port: To listen on; 0 for any that is free.

    Raises:
        OSError: When the port is taken.
    """

    daemon_threads = True
    allow_reuse_address = True

    def __init__(self, desk: Desk, port: int = 0) -> None:
        super().__init__((LOOPBACK, port), _Handler)
        self.desk, self.token = desk, secrets.token_urlsafe(24)
        names = (LOOPBACK, "localhost")
        self.hosts = frozenset(f"{name}:{self.server_port}" for name in names)
        self.origins = frozenset(f"http://{host}" for host in self.hosts)

    @property
    def url(self) -> str:
        """The address to open; it holds the token."""
        return f"http://{LOOPBACK}:{self.server_port}/?token={self.token}"


class _Handler(BaseHTTPRequestHandler):
    server: ReviewServer
    server_version, sys_version = "judgec", ""
    protocol_version = "HTTP/1.1"
    timeout = PATIENCE

    def do_GET(self) -> None:
        """The page, the form, an item, what an annotator said."""
        url = urlsplit(self.path)
        asked = {name: values[-1] for name, values in parse_qs(url.query).items()}
        desk = self.server.desk
        if url.path == "/":
            if self._allowed(asked.get("token", "")):
                nonce = secrets.token_urlsafe(12)
                self._send(HTTPStatus.OK, page(nonce).encode(), "text/html; charset=utf-8", nonce)
            return
        routes: dict[str, Callable[[], Json]] = {
            "/api/about": desk.about,
            "/api/labels": lambda: desk.labels(asked.get("annotator", "")),
            "/api/item": lambda: desk.item(_number(asked.get("number", "")), asked.get("annotator", "")),
        }
        self._answer(routes.get(url.path))

    def do_POST(self) -> None:
        """Save a label."""
        self._answer(self._save if self.path == "/api/label" else None, posted=True)

    def _save(self) -> Json:
        length = self.headers.get("Content-Length", "")
        if not length.isdecimal() or int(length) > MOST_BYTES:
            self.close_connection = True
            raise UserError(
                f"request of {length or 'unknown'} bytes; up to {MOST_BYTES} are valid. Shorten the reason."
            )
        try:
            label = _Label.model_validate_json(self.rfile.read(int(length)))
        except ValidationError as error:
            raise UserError(
                f"request: {error.errors()[0]['msg']}; a label was expected. Load the page again."
            ) from error
        known = None if label.known is None else [one.given for one in label.known]
        return self.server.desk.save(label.number, label.annotator, label.given, item_id=label.item_id, known=known)

    def _answer(self, make: Callable[[], Json] | None, *, posted: bool = False) -> None:
        if not self._allowed(self.headers.get(TOKEN_HEADER, "")):
            return
        kind = self.headers.get("Content-Type", "").partition(";")[0].strip()
        if make is None or (posted and kind != "application/json"):
            self.close_connection = posted
            self._refuse(HTTPStatus.NOT_FOUND if make is None else HTTPStatus.UNSUPPORTED_MEDIA_TYPE)
            return
        try:
            status, reply = HTTPStatus.OK, make()
        except JudgecError as error:
            status, reply = HTTPStatus.BAD_REQUEST, {"error": str(error)}
        except OSError as error:
            status, reply = HTTPStatus.INTERNAL_SERVER_ERROR, {"error": f"not saved: {error}"}
        self._send(status, json.dumps(reply, ensure_ascii=False).encode("utf-8", "replace"), "application/json")

    def _allowed(self, token: str) -> bool:
        """True if the request is from our own page; otherwise it has been refused."""
        origin = self.headers.get("Origin")
        site = self.headers.get("Sec-Fetch-Site", "same-origin")
        ours = self.headers.get("Host") in self.server.hosts and (origin is None or origin in self.server.origins)
        known = secrets.compare_digest(token.encode(), self.server.token.encode())
        if ours and known and site in {"same-origin", "none"}:
            return True
        self.close_connection = True  # a body may follow, which is not read
        self._refuse(HTTPStatus.FORBIDDEN)
        return False

    def _refuse(self, status: HTTPStatus) -> None:
        self._send(status, f"{status.value} {status.phrase}\n".encode(), "text/plain; charset=utf-8")

    def _send(self, status: HTTPStatus, body: bytes, kind: str, nonce: str = "") -> None:
        script = f"script-src 'nonce-{nonce}'; connect-src 'self'; style-src 'nonce-{nonce}'; " if nonce else ""
        self.send_response(status)
        for name, value in {
            "Content-Type": kind,
            "Content-Length": str(len(body)),
            "Content-Security-Policy": f"default-src 'none'; {script}base-uri 'none'; form-action 'none'; "
            "frame-ancestors 'none'",
            "Cross-Origin-Opener-Policy": "same-origin",
            "Cross-Origin-Resource-Policy": "same-origin",
            "Referrer-Policy": "no-referrer",
            "X-Content-Type-Options": "nosniff",
            "Cache-Control": "no-store",
        }.items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002 -- the base class calls it so
        """Nothing is logged: request lines hold the token."""


@contextmanager
def serving(desk: Desk, port: int = 0) -> Iterator[ReviewServer]:
    """A server that runs in a thread of its own until the block ends.

    Without a port it takes one that belongs to the file, where that is free: what a browser keeps for a page (a reason
    without a grade, a grade that the server did not hear) it keeps by port.

    Raises:
        UserError: When the port is taken.
    """
    try:
        server = ReviewServer(desk, port or _own_port(desk))
    except OSError as error:
        if port:
            raise UserError(f"--port {port}: {error.strerror}; a free port is needed. Leave --port out.") from error
        server = ReviewServer(desk)
    thread = Thread(target=server.serve_forever, kwargs={"poll_interval": 0.1}, daemon=True)
    thread.start()
    try:
        yield server
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


def _own_port(desk: Desk) -> int:
    """The port of a file, between 20000 and 32767: below those that systems give to clients."""
    return 20_000 + crc32(str(desk.path.resolve()).encode()) % 12_768


def _number(text: str) -> int:
    if not text.isdecimal() or len(text) > 9:
        raise UserError(f"item {text!r}: a number is needed. Load the page again.")
    return int(text)
