"""Which two compiles the printed link compares."""

import json
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest

from judgec.connect.tracking.server.ui import compare_url, runs_url


def run(run_id: str, task: str, program: str | None = None) -> dict[str, object]:
    params = {"lm": "m", "task": task} | ({} if program is None else {"program": program})
    return {
        "info": {"run_id": run_id},
        "data": {"params": [{"key": key, "value": value} for key, value in params.items()]},
    }


RUNS: list[dict[str, object]] = []  # newest first, as the server gives them


class _Store(BaseHTTPRequestHandler):
    def do_GET(self) -> None:
        self.reply({"experiment": {"experiment_id": "7"}})

    def do_POST(self) -> None:
        self.rfile.read(int(self.headers["Content-Length"]))
        self.reply({"runs": RUNS})

    def reply(self, content: object) -> None:
        body = json.dumps(content).encode()
        self.send_response(200)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_: object) -> None:
        """Nothing on the screen of the tests."""


@pytest.fixture
def server() -> Iterator[str]:
    with ThreadingHTTPServer(("127.0.0.1", 0), _Store) as opened:
        thread = threading.Thread(target=opened.serve_forever, args=(0.01,))
        thread.start()
        yield f"http://127.0.0.1:{opened.server_port}"
        opened.shutdown()
        thread.join()


@pytest.mark.parametrize(
    ("runs", "compared"),
    [
        ([("c", "grade"), ("b", "agent"), ("a", "grade")], "%5B%22a%22%2C%20%22c%22%5D"),
        ([("d", "agent"), ("c", "grade"), ("b", "grade")], "%5B%22b%22%2C%20%22c%22%5D"),
        ([("c", "grade"), ("b", "agent")], None),
        (
            [("d", "grade", "x"), ("c", "grade", "y"), ("b", "grade", "x"), ("a", "grade", "x")],
            "%5B%22a%22%2C%20%22b%22%2C%20%22d%22%5D",
        ),
        ([("c", "grade", "x"), ("b", "grade", "y"), ("a", "grade", "y")], "%5B%22b%22%2C%20%22c%22%5D"),
        ([("c", "grade")], None),
        ([], None),
    ],
)
def test_versions_of_the_newest_family_or_else_the_newest_two_of_one_task_are_compared(
    server: str, runs: list[tuple[str, ...]], compared: str | None
) -> None:
    RUNS[:] = [run(*one) for one in runs]
    assert runs_url(server) == f"{server}/#/experiments/7/runs?workflowType=machine_learning"
    url = compare_url(server)
    assert url == (None if compared is None else f"{server}/#/compare-runs?runs={compared}&experiments=%5B%227%22%5D")
