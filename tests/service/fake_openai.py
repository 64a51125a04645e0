"""A real HTTP server that speaks OpenAI's chat completions, for driving the real client through every fault.

In a test::

    with FakeOpenAI(policies.every(3, policies.TOO_MANY)) as server:
        spec = LMSpec.parse("openai/fake", api_base=server.base_url)
        ...
        assert server.calls == 12
"""

import asyncio
import contextlib
import json
import socket
import struct
import threading
from collections import Counter
from types import TracebackType
from typing import Self

from tests.service.policies import POLICIES, Policy
from tests.service.replies import Garbage, Hang, Raw, Reset, Status, Text, completion, embeddings, read_call

JsonObject = dict[str, object]


class FakeOpenAI:
    """The server, in a thread of its own from entering to leaving.

    Args:
        policy: What to do with each call, or the name of a policy.
        port: 0 picks a free one.
        latency: Seconds before each reply.
        queue: Connections that may wait to be accepted.
        http: The version of HTTP; 1.0 closes a connection after each reply.
        served: Replies on a connection; it is closed as the next request comes, which nobody reads. None: no end.
    """

    def __init__(
        self,
        policy: Policy | str,
        *,
        port: int = 0,
        latency: float = 0.0,
        queue: int = 100,
        http: str = "1.1",
        served: int | None = None,
    ) -> None:
        self.policy = POLICIES[policy] if isinstance(policy, str) else policy
        self.connections = 0
        self.calls = 0
        self.answered = 0
        self.in_flight = 0
        self.most_in_flight = 0
        self.keys: set[str] = set()
        self.bodies: list[JsonObject] = []
        self._port = port
        self._latency = latency
        self._queue, self._http, self._served = queue, http, served
        self._seen: Counter[str] = Counter()
        self._ready = threading.Event()
        self._thread = threading.Thread(target=lambda: asyncio.run(self._serve()), daemon=True)

    @property
    def base_url(self) -> str:
        """What to give as ``api_base``."""
        return f"http://127.0.0.1:{self._port}/v1"

    @property
    def paid_twice(self) -> int:
        """Answered calls beyond the first of each distinct request body."""
        return sum(count - 1 for count in self._seen.values())

    def __enter__(self) -> Self:
        self._thread.start()
        if not self._ready.wait(60):
            raise RuntimeError("the fake server did not start")
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._loop.call_soon_threadsafe(self._stop.set)
        self._thread.join(60)

    async def _serve(self) -> None:
        self._loop = asyncio.get_running_loop()
        self._stop = asyncio.Event()
        self._open: set[asyncio.Task[None]] = set()
        await self._listen()
        self._ready.set()
        await self._stop.wait()
        await self._leave()

    async def _listen(self) -> None:
        self._server = await asyncio.start_server(
            self._connect, "127.0.0.1", self._port, limit=1 << 24, backlog=self._queue
        )
        self._port = self._server.sockets[0].getsockname()[1]

    async def _leave(self) -> None:
        self._server.close()
        for task in self._open:
            task.cancel()
        await asyncio.gather(*self._open, return_exceptions=True)

    def away(self, seconds: float) -> None:
        """Refuse connections for a while, those that are open included."""

        async def gone() -> None:
            await self._leave()
            await asyncio.sleep(seconds)
            await self._listen()

        asyncio.run_coroutine_threadsafe(gone(), self._loop).result()

    async def _connect(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task is not None
        self._open.add(task)
        self.connections += 1
        try:
            with contextlib.suppress(asyncio.IncompleteReadError, ConnectionError, asyncio.CancelledError):
                served = 0
                while served != self._served and await self._one(reader, writer):
                    served += 1
                if served == self._served:
                    await reader.readexactly(1)
                    writer.transport.abort()  # with the rest unread: a reset
        finally:
            self._open.discard(task)
            writer.close()

    async def _one(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> bool:
        """Serve one request; False when the connection is to end."""
        head = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1")
        start, *lines = head.split("\r\n")
        headers = {name.lower(): value.strip() for name, _, value in (line.partition(":") for line in lines)}
        body = await reader.readexactly(int(headers.get("content-length", 0)))
        if start.split(" ")[1].endswith("/embeddings"):
            return await self._send(writer, 200, json.dumps(embeddings(json.loads(body))).encode())
        self.in_flight += 1
        self.most_in_flight = max(self.most_in_flight, self.in_flight)
        try:
            return await self._post(writer, headers, body)
        finally:
            self.in_flight -= 1

    async def _post(self, writer: asyncio.StreamWriter, headers: dict[str, str], raw: bytes) -> bool:
        self.calls += 1
        self.keys.add(headers.get("authorization", ""))
        body: JsonObject = json.loads(raw)
        self.bodies.append(body)
        call = read_call(self.calls, body)
        outcome = self.policy(call)
        if self._latency:
            await asyncio.sleep(self._latency)
        if isinstance(outcome, Hang):
            await self._stop.wait()
            return False
        if isinstance(outcome, Reset):
            raw_socket = writer.get_extra_info("socket")
            raw_socket.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
            writer.transport.abort()
            return False
        if isinstance(outcome, Raw):
            return await self._raw(writer, outcome)
        if isinstance(outcome, Garbage):
            return await self._send(writer, 200, b"<html>gateway</html>")
        if isinstance(outcome, Status):
            error = {"error": {"message": outcome.message, "type": outcome.kind, "code": outcome.kind}}
            return await self._send(writer, outcome.code, json.dumps(error).encode(), dict(outcome.headers))
        assert isinstance(outcome, Text)
        self.answered += 1
        if call.prompt.outputs:  # a preflight is asked again by every run
            self._seen[json.dumps(body, sort_keys=True)] += 1
        return await self._send(writer, 200, json.dumps(completion(call, outcome)).encode())

    async def _raw(self, writer: asyncio.StreamWriter, reply: Raw) -> bool:
        self.answered += reply.code == 200
        if not reply.drip_seconds:
            return await self._send(writer, reply.code, reply.body, dict(reply.headers))
        writer.write(b"HTTP/1.1 200 -\r\nContent-Length: 1000000\r\n\r\n")
        while not self._stop.is_set():
            writer.write(b" ")
            await writer.drain()
            await asyncio.sleep(reply.drip_seconds)
        return False

    async def _send(
        self, writer: asyncio.StreamWriter, code: int, body: bytes, headers: dict[str, str] | None = None
    ) -> bool:
        lines = {"Content-Type": "application/json", "Content-Length": str(len(body)), **(headers or {})}
        head = "".join(f"{name}: {value}\r\n" for name, value in lines.items())
        writer.write(f"HTTP/{self._http} {code} -\r\n{head}\r\n".encode() + body)
        await writer.drain()
        return self._http != "1.0"
