"""A real HTTP server that speaks the batch protocols of OpenAI and Anthropic, with faults, and counts what is paid.

OpenAI: ``POST /v1/files``, ``GET /v1/files/ID/content``, ``DELETE /v1/files/ID``, ``/v1/batches``. Anthropic:
``/v1/messages/batches``. Both serve single calls, too (``/v1/chat/completions``, ``/v1/messages``). A call is paid when
the batch that holds it was created and the policy answers it; a policy's ``Status`` is an error, ``Hang`` expires,
``Reset`` leaves the call out of the results.

In a test::

    with FakeBatches("good") as server:
        ...
        assert (server.created, server.paid_twice) == (1, 0)
"""

import json
import re
import threading
import time
from collections import Counter
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from types import TracebackType
from typing import Any, Literal, Self
from urllib.parse import parse_qs, urlsplit

from tests.service.policies import POLICIES, Policy
from tests.service.replies import Call, Garbage, Hang, Raw, Reset, Status, Text, completion, read_call

JsonObject = dict[str, Any]
Act = Literal["", "lose", "drop"]
"""What becomes of a request: served; served, but its reply is lost; lost before it arrives."""
Hook = Callable[[str], Act | Status | Raw]
"""Told the step (``files.create``, ``batches.create``, ``batches.list``, ...) before a request is served."""
EPOCH = datetime(2026, 1, 1, tzinfo=UTC)  # the server's clock is its own


def serve(_: str) -> Act:
    """Nothing goes wrong."""
    return ""


@dataclass
class Batch:
    """What the server knows of a batch."""

    name: str
    created: datetime
    lines: list[tuple[str, JsonObject]]
    file: str = ""
    metadata: Mapping[str, str] = field(default_factory=dict)
    looks: int = 0
    failed: str = ""
    results: dict[str, list[JsonObject]] = field(default_factory=dict)


class FakeBatches:
    """The server, in threads of its own from entering to leaving.

    Args:
        policy: What becomes of each call, or the name of a policy.
        port: 0 picks a free one.
        looks: How often a batch is looked at until it has ended.
        hook: What goes wrong.
        queue: Prompt characters that the queue takes; a batch beyond fails its validation, as at OpenAI.
        answered: Told each step after its reply was sent.
    """

    def __init__(
        self,
        policy: Policy | str = "good",
        *,
        port: int = 0,
        looks: int = 1,
        hook: Hook = serve,
        queue: int | None = None,
        answered: Callable[[str], None] = lambda _: None,
    ) -> None:
        self.policy = POLICIES[policy] if isinstance(policy, str) else policy
        self.hook, self.looks, self.queue, self.answered = hook, looks, queue, answered
        self.files: dict[str, bytes] = {}
        self.batches: list[Batch] = []
        self.bodies: list[JsonObject] = []
        self.steps: Counter[str] = Counter()
        self.calls = 0
        self.single = 0
        self.keys: set[str] = set()
        self.lock = threading.RLock()
        self._paid: Counter[str] = Counter()
        self._server = _Server(("127.0.0.1", port), _Handler)
        self._server.fake = self  # type: ignore[attr-defined]  # how the handler finds its way back
        self._thread = threading.Thread(target=self._server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True)

    @property
    def base_url(self) -> str:
        """What to give as ``api_base``."""
        return f"http://127.0.0.1:{self._server.server_address[1]}/v1"

    @property
    def created(self) -> int:
        """Batches that exist."""
        return len(self.batches)

    @property
    def paid(self) -> int:
        """Calls that were answered, in batches or alone."""
        return self._paid.total()

    @property
    def paid_twice(self) -> int:
        """Answered calls beyond the first of each distinct request."""
        return sum(count - 1 for count in self._paid.values())

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._server.shutdown()
        self._thread.join(60)
        self._server.server_close()

    def ask(self, body: JsonObject) -> tuple[Call, Any]:
        """One call: what the policy makes of it."""
        self.calls += 1
        self.bodies.append(body)
        call = read_call(self.calls, _as_openai(body))
        outcome = self.policy(call)
        if isinstance(outcome, Text) and call.prompt.outputs:
            self._paid[json.dumps(body, sort_keys=True)] += 1
        return call, outcome

    def add(self, lines: list[tuple[str, JsonObject]], **about: Any) -> Batch:  # the fields of a batch
        """Create a batch; what it answers is decided, and paid, now."""
        at = EPOCH + timedelta(seconds=len(self.batches))
        batch = Batch(f"batch_{len(self.batches) + 1}", at, lines, **about)
        self.batches.append(batch)
        open_ = [one for one in self.batches if one.looks <= self.looks and not one.failed]
        waiting = sum(len(str(body)) for one in open_ for _, body in one.lines)
        if self.queue is not None and waiting > self.queue:
            batch.failed = "token_limit_exceeded"
        return batch


class _Server(ThreadingHTTPServer):
    daemon_threads = True

    def handle_error(self, request: object, client_address: object) -> None:
        """Nothing to report: clients are killed here."""


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    @property
    def fake(self) -> FakeBatches:
        found: FakeBatches = self.server.fake  # type: ignore[attr-defined]  # set above
        return found

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002 - the library's name
        pass

    def do_GET(self) -> None:
        self._serve("GET")

    def do_POST(self) -> None:
        self._serve("POST")

    def do_DELETE(self) -> None:
        self._serve("DELETE")

    def _serve(self, method: str) -> None:
        raw = self.rfile.read(int(self.headers.get("content-length", 0)))
        url = urlsplit(self.path)
        path = url.path.removeprefix("/v1/")
        fitting = ((re.fullmatch(pattern, path), kind, step) for pattern, kind, verb, step in ROUTES if verb == method)
        match, kind, step = next((one for one in fitting if one[0]), (None, None, ""))
        if match is None or kind is None:
            self._send(Status(404, f"no {method} {path}", "not_found_error"))
            return
        fake = self.fake
        act = fake.hook(step)
        if act == "drop":
            self.close_connection = True
            return
        if isinstance(act, Status):
            self._send(act)
            return
        if isinstance(act, Raw):
            self._send_raw(act)
            return
        with fake.lock:
            fake.steps[step] += 1
            fake.keys.add(self.headers.get("x-api-key") or self.headers.get("authorization") or "")
            query = {name: values[0] for name, values in parse_qs(url.query).items()}
            found = kind(fake, match.groups(), query, raw, self.headers)
        if act == "lose":
            self.close_connection = True
            return
        self._send(found)
        fake.answered(step)

    def _send_raw(self, reply: Raw) -> None:
        self.send_response(reply.code)
        length = 1_000_000 if reply.drip_seconds else len(reply.body)
        for name, value in {**reply.headers, "Content-Type": "application/json", "Content-Length": str(length)}.items():
            self.send_header(name, value)
        self.end_headers()
        with suppress(OSError):  # nobody reads it to its end
            self.wfile.write(reply.body)
            while reply.drip_seconds:
                self.wfile.write(b" ")
                time.sleep(reply.drip_seconds)
        self.close_connection = True

    def _send(self, found: JsonObject | bytes | Status) -> None:
        code, headers = 200, {"Content-Type": "application/json"}
        if isinstance(found, Status):
            code, headers = found.code, {**headers, **found.headers}
            error = {"message": found.message, "type": found.kind, "code": found.kind}
            body = json.dumps({"type": "error", "error": error}).encode()
        else:
            body = found if isinstance(found, bytes) else json.dumps(found).encode()
        self.send_response(code)
        for name, value in {**headers, "Content-Length": str(len(body))}.items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(body)


# --------------------------------------------------------------------------------------------------------------- OpenAI


def _upload(fake: FakeBatches, _: tuple[str, ...], __: JsonObject, raw: bytes, headers: Any) -> JsonObject:
    boundary = re.search(r"boundary=(.+)", headers["content-type"])
    assert boundary is not None
    parts = [part.split(b"\r\n\r\n", 1) for part in raw.split(b"--" + boundary[1].encode()) if b"\r\n\r\n" in part]
    (content,) = (body[:-2] for head, body in parts if b"filename=" in head)
    name = f"file-{len(fake.files) + 1}"
    fake.files[name] = content
    return {"id": name, "object": "file", "bytes": len(content), "purpose": "batch", "filename": "x", "created_at": 0}


def _delete(fake: FakeBatches, at: tuple[str, ...], *_: Any) -> JsonObject | Status:
    if fake.files.pop(at[0], None) is None:
        return Status(404, "No such File object", "not_found_error")
    return {"id": at[0], "object": "file", "deleted": True}


def _content(fake: FakeBatches, at: tuple[str, ...], *_: Any) -> bytes | Status:
    found = fake.files.get(at[0])
    return Status(404, "No such File object", "not_found_error") if found is None else found


def _openai_create(fake: FakeBatches, _: tuple[str, ...], __: JsonObject, raw: bytes, ___: Any) -> JsonObject | Status:
    asked = json.loads(raw)
    content = fake.files.get(asked["input_file_id"])
    if content is None:
        return Status(400, "The file does not exist", "invalid_request_error")
    lines = [json.loads(line) for line in content.splitlines()]
    assert {(line["method"], line["url"]) for line in lines} == {("POST", asked["endpoint"])}
    named = [(line["custom_id"], line["body"]) for line in lines]
    assert len({name for name, _ in named}) == len(named)
    batch = fake.add(named, file=asked["input_file_id"], metadata=asked.get("metadata") or {})
    if not batch.failed:
        batch.results = {"output": [], "error": []}
        for name, body in named:
            where, line = _openai_line(fake, name, body)
            if where:
                batch.results[where].append(line)
    return _openai_batch(fake, batch)


def _openai_line(fake: FakeBatches, name: str, body: JsonObject) -> tuple[str, JsonObject]:
    call, outcome = fake.ask(body)
    line: JsonObject = {"id": f"batch_req_{call.number}", "custom_id": name, "response": None, "error": None}
    if isinstance(outcome, Reset):
        return "", line
    if isinstance(outcome, Hang):
        message = "This request could not be executed before the completion window expired."
        return "error", {**line, "error": {"code": "batch_expired", "message": message}}
    if isinstance(outcome, Status):
        error = {"error": {"message": outcome.message, "type": outcome.kind, "code": outcome.kind}}
        return "error", {**line, "response": {"status_code": outcome.code, "request_id": "r", "body": error}}
    reply: Any = "<html>gateway</html>" if isinstance(outcome, Garbage) else None
    if isinstance(outcome, Raw):
        reply = json.loads(outcome.body)
    if isinstance(outcome, Text):
        reply = completion(call, outcome)
    return "output", {**line, "response": {"status_code": 200, "request_id": "r", "body": reply}}


def _openai_batch(fake: FakeBatches, batch: Batch) -> JsonObject:
    ended = batch.looks > fake.looks or bool(batch.failed)
    files: dict[str, str | None] = {}
    for where, lines in batch.results.items():
        name = f"{batch.name}-{where}"
        if ended and lines:
            fake.files[name] = "".join(json.dumps(line) + "\n" for line in lines).encode()
        files[where] = name if ended and lines else None
    expired = any((line["error"] or {}).get("code") == "batch_expired" for line in batch.results.get("error", []))
    status = "failed" if batch.failed else "expired" if ended and expired else "completed" if ended else "in_progress"
    error = {"code": batch.failed, "message": "Enqueued token limit reached", "line": None, "param": None}
    about: JsonObject = {
        "id": batch.name,
        "object": "batch",
        "endpoint": "/v1/chat/completions",
        "completion_window": "24h",
    }
    about |= {"created_at": int(batch.created.timestamp()), "input_file_id": batch.file, "metadata": batch.metadata}
    about |= {"output_file_id": files.get("output"), "error_file_id": files.get("error"), "status": status}
    about["errors"] = {"object": "list", "data": [error]} if batch.failed else None
    return {**about, "request_counts": {"total": len(batch.lines), "completed": 0, "failed": 0}}


def _openai_list(fake: FakeBatches, _: tuple[str, ...], query: JsonObject, *__: Any) -> JsonObject:
    listed = [batch for batch in reversed(fake.batches) if batch.file]
    page, more = _page(listed, query.get("after"), query)
    data = [_openai_batch(fake, batch) for batch in page]
    last = page[-1].name if page else None
    return {"object": "list", "data": data, "first_id": None, "last_id": last, "has_more": more}


# ------------------------------------------------------------------------------------------------------------ Anthropic


def _as_openai(body: JsonObject) -> JsonObject:
    def text(content: Any) -> str:
        return content if isinstance(content, str) else "".join(block["text"] for block in content)

    system = [{"role": "system", "content": text(body["system"])}] if "system" in body else []
    turns = [{"role": turn["role"], "content": text(turn["content"])} for turn in body.get("messages", [])]
    return {**body, "messages": [*system, *turns]}


def _message(call: Call, outcome: Text) -> JsonObject:
    usage = {"input_tokens": 50, "output_tokens": 10, "cache_read_input_tokens": 0, "cache_creation_input_tokens": 0}
    if "cache_control" in json.dumps(call.body):
        usage |= {"cache_read_input_tokens": 100, "cache_creation_input_tokens": 20}
    about: JsonObject = {
        "id": f"msg_{call.number}",
        "type": "message",
        "role": "assistant",
        "model": call.body["model"],
    }
    return {**about, "content": [{"type": "text", "text": outcome.text}], "stop_reason": "end_turn", "usage": usage}


def _anthropic_create(fake: FakeBatches, _: tuple[str, ...], __: JsonObject, raw: bytes, ___: Any) -> JsonObject:
    lines = [(one["custom_id"], one["params"]) for one in json.loads(raw)["requests"]]
    assert all(re.fullmatch(r"[A-Za-z0-9_-]{1,64}", name) for name, _ in lines)
    assert len({name for name, _ in lines}) == len(lines)
    batch = fake.add(lines)
    batch.results = {"output": []}
    for name, body in lines:
        call, outcome = fake.ask(body)
        result: JsonObject
        if isinstance(outcome, Text):
            result = {"type": "succeeded", "message": _message(call, outcome)}
        elif isinstance(outcome, Hang):
            result = {"type": "expired"}
        elif isinstance(outcome, Status):
            error = {"type": outcome.kind, "message": outcome.message}
            result = {"type": "errored", "error": {"type": "error", "error": error, "request_id": "r"}}
        elif isinstance(outcome, Reset):
            continue
        else:
            result = {"type": "succeeded", "message": {"content": 7}}
        batch.results["output"].append({"custom_id": name, "result": result})
    return _anthropic_batch(fake, batch)


def _anthropic_batch(fake: FakeBatches, batch: Batch) -> JsonObject:
    ended = batch.looks > fake.looks
    counts = dict.fromkeys(("processing", "succeeded", "errored", "canceled", "expired"), 0)
    counts["succeeded" if ended else "processing"] = len(batch.lines)
    at, last = batch.created.isoformat(), (batch.created + timedelta(days=1)).isoformat()
    about: JsonObject = {
        "id": batch.name,
        "type": "message_batch",
        "processing_status": "ended" if ended else "in_progress",
    }
    about |= {"created_at": at, "expires_at": last, "ended_at": at if ended else None}
    about |= {"archived_at": None, "cancel_initiated_at": None, "request_counts": counts}
    return {**about, "results_url": f"{fake.base_url}/messages/batches/{batch.name}/results" if ended else None}


def _anthropic_list(fake: FakeBatches, _: tuple[str, ...], query: JsonObject, *__: Any) -> JsonObject:
    listed = [batch for batch in reversed(fake.batches) if not batch.file]
    for batch in listed:
        batch.looks += 1  # whoever waits for batches of others only lists them
    page, more = _page(listed, query.get("after_id"), query)
    first, last = (page[0].name, page[-1].name) if page else (None, None)
    data = [_anthropic_batch(fake, batch) for batch in page]
    return {"data": data, "has_more": more, "first_id": first, "last_id": last}


def _anthropic_results(fake: FakeBatches, at: tuple[str, ...], *_: Any) -> bytes | Status:
    batch = next((one for one in fake.batches if one.name == at[0]), None)
    if batch is None or batch.looks <= fake.looks:
        return Status(404, "no results", "not_found_error")
    return "".join(json.dumps(line) + "\n" for line in batch.results["output"]).encode()


def _single(said: Callable[[Call, Text], JsonObject]) -> Callable[..., JsonObject | Status]:
    """A call by itself."""

    def call(fake: FakeBatches, _: tuple[str, ...], __: JsonObject, raw: bytes, ___: Any) -> JsonObject | Status:
        fake.single += 1
        asked, outcome = fake.ask(json.loads(raw))
        return said(asked, outcome) if isinstance(outcome, Text) else outcome

    return call


def _look(fake: FakeBatches, at: tuple[str, ...], *_: Any) -> JsonObject | Status:
    batch = next((one for one in fake.batches if one.name == at[0]), None)
    if batch is None:
        return Status(404, f"No batch found with id '{at[0]}'", "not_found_error")
    batch.looks += 1
    return _openai_batch(fake, batch) if batch.file else _anthropic_batch(fake, batch)


def _page(named: list[Batch], after: str | None, query: JsonObject) -> tuple[list[Batch], bool]:
    """Short, so that there are several; and whether there are more."""
    begin = [batch.name for batch in named].index(after) + 1 if after else 0
    page = named[begin : begin + min(int(query.get("limit", 20)), 2)]
    return page, begin + len(page) < len(named)


ROUTES: tuple[tuple[str, Callable[..., Any], str, str], ...] = (
    (r"files", _upload, "POST", "files.create"),
    (r"files/([\w-]+)", _delete, "DELETE", "files.delete"),
    (r"files/([\w-]+)/content", _content, "GET", "files.content"),
    (r"batches", _openai_create, "POST", "batches.create"),
    (r"batches", _openai_list, "GET", "batches.list"),
    (r"batches/([\w-]+)", _look, "GET", "batches.retrieve"),
    (r"chat/completions", _single(completion), "POST", "call"),
    (r"messages/batches", _anthropic_create, "POST", "batches.create"),
    (r"messages/batches", _anthropic_list, "GET", "batches.list"),
    (r"messages/batches/([\w-]+)", _look, "GET", "batches.retrieve"),
    (r"messages/batches/([\w-]+)/results", _anthropic_results, "GET", "files.content"),
    (r"messages", _single(_message), "POST", "call"),
)
