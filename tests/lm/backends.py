"""A scripted backend in this process, for what a network would only blur."""

import asyncio
import threading
from collections.abc import Callable

from dspy import lm15
from dspy.lm15 import Message, Request, Response, TextPart, Usage

from tests.lm.judging import REPLY

Act = Callable[[int, Request], str | Exception]


class Scripted:
    """Answers as ``act`` says, given the number of the attempt (from 1) and the request."""

    identity = ""

    def __init__(self, act: Act = lambda number, request: REPLY) -> None:
        self.act = act
        self.attempts = 0
        self.gate: threading.Event | None = None
        self._lock = threading.Lock()

    def complete(self, request: Request) -> Response:
        with self._lock:
            self.attempts += 1
            number = self.attempts
        if self.gate is not None:
            assert self.gate.wait(60)
        said = self.act(number, request)
        if isinstance(said, Exception):
            raise said
        return Response(
            id=None,
            model="served",
            message=Message.assistant([TextPart(said)]),
            finish_reason="stop",
            usage=Usage(input_tokens=100, output_tokens=10),
        )

    async def acomplete(self, request: Request) -> Response:
        await asyncio.sleep(0)
        return self.complete(request)

    async def aclose(self) -> None:
        pass


def fails(times: int, error: lm15.LM15Error) -> Act:
    """The first ``times`` attempts fail."""
    return lambda number, request: error if number <= times else REPLY
