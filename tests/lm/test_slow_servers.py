"""Servers whose queue of connections to accept is short, as that of Python's own and of many small ones."""

import json
import threading
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest

from judgec.lm.executor import Executor
from tests.lm.judging import connected, requests
from tests.service.hostile import body

BODY = json.dumps(body()).encode()
ITEMS, IN_FLIGHT = 500, 128
MOST_SECONDS = 50  # 1 to 3 where nothing else runs; 109 when all connections are opened at once


class _Handler(BaseHTTPRequestHandler):
    def do_POST(self) -> None:
        self.rfile.read(int(self.headers["Content-Length"]))
        time.sleep(0.05)
        self.send_response(200)
        self.send_header("Content-Length", str(len(BODY)))
        self.end_headers()
        self.wfile.write(BODY)

    def log_message(self, *_: object) -> None:
        """Nothing."""


class _Server(ThreadingHTTPServer):
    request_queue_size = 5
    daemon_threads = True


@pytest.mark.full
@pytest.mark.parametrize("version", ["HTTP/1.0", "HTTP/1.1"])
def test_server_that_accepts_slowly_is_asked_at_its_pace(version: str) -> None:
    handler = type("Handler", (_Handler,), {"protocol_version": version})
    with _Server(("127.0.0.1", 0), handler) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        lm = connected(f"http://127.0.0.1:{server.server_port}/v1")
        began = time.monotonic()
        replies = list(Executor(lm, in_flight=IN_FLIGHT).run(requests(ITEMS)))
        took = time.monotonic() - began
        server.shutdown()
    assert len([reply for reply in replies if reply.text is not None]) == ITEMS
    assert took < MOST_SECONDS
