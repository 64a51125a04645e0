"""An OpenAI-compatible endpoint that answers at once, or after a fixed time, and reads nothing but the form asked for.

That is the fields of a JSON schema where a request has one (MLflow's judges, ragelo), else DSPy's.
``python benchmarks/instant_server.py --latency 0.05`` prints its URL. Fast enough to never be what a client waits for.
"""

import argparse
import asyncio
import json
import time
from collections.abc import Mapping
from typing import Any

CHOICES = 4


def chat(text: str) -> bytes:
    return packed(
        {
            "id": "chatcmpl-1",
            "object": "chat.completion",
            "created": int(time.time()),
            "model": "instant",
            "choices": [
                {
                    "index": 0,
                    "message": {"role": "assistant", "content": text},
                    "finish_reason": "stop",
                    "logprobs": None,
                }
            ],
            "usage": {"prompt_tokens": 500, "completion_tokens": 30, "total_tokens": 530},
        }
    )


def responses(text: str) -> bytes:
    """The Responses API, which ragelo speaks."""
    content = [{"type": "output_text", "text": text, "annotations": []}]
    return packed(
        {
            "id": "resp_1",
            "object": "response",
            "created_at": int(time.time()),
            "status": "completed",
            "model": "instant",
            "output": [
                {"type": "message", "id": "msg_1", "status": "completed", "role": "assistant", "content": content}
            ],
            "parallel_tool_calls": True,
            "tool_choice": "auto",
            "tools": [],
            "usage": {
                "input_tokens": 500,
                "output_tokens": 30,
                "total_tokens": 530,
                "input_tokens_details": {"cached_tokens": 0},
                "output_tokens_details": {"reasoning_tokens": 0},
            },
        }
    )


def packed(body: dict[str, object]) -> bytes:
    raw = json.dumps(body).encode()
    return b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n%b" % (len(raw), raw)


VERDICTS = [
    chat(
        f"[[ ## reason ## ]]\nas the rules say\n\n[[ ## grade ## ]]\n{grade}\n\n"
        "[[ ## confidence ## ]]\n80\n\n[[ ## completed ## ]]\n"
    )
    for grade in range(1, CHOICES + 1)
]
SAID: Mapping[str, object] = {"integer": 1, "number": 1.0, "boolean": True, "array": [], "object": {}}


def form_asked(body: bytes) -> str | None:
    """An object of the schema that a request names, as JSON; None where it names none."""
    if b'"json_schema"' not in body:
        return None
    asked: Mapping[str, Any] = json.loads(body)  # as the two APIs define it
    form = asked["text"]["format"] if "text" in asked else asked["response_format"]["json_schema"]
    return json.dumps({name: _said(field) for name, field in form["schema"]["properties"].items()})


def _said(field: Mapping[str, Any]) -> object:
    return field["enum"][0] if "enum" in field else SAID.get(field.get("type", ""), "3")


class Connection(asyncio.Protocol):
    """One connection; requests may come in pieces, or several at once."""

    def __init__(self, latency: float) -> None:
        self.latency = latency
        self.waiting = b""

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Asyncio's."""
        assert isinstance(transport, asyncio.Transport)
        self.transport = transport

    def data_received(self, data: bytes) -> None:
        """Asyncio's; answers every request that is complete."""
        self.waiting += data
        while (end := self.waiting.find(b"\r\n\r\n")) >= 0:
            head = self.waiting[:end].lower()
            at = head.find(b"content-length:")
            length = int(head[at + 15 :].split(b"\r", 1)[0]) if at >= 0 else 0
            if len(self.waiting) < end + 4 + length:
                return
            body = self.waiting[end + 4 : end + 4 + length]
            self.waiting = self.waiting[end + 4 + length :]
            said = form_asked(body)
            if said is None:
                reply = VERDICTS[length % CHOICES]
            else:
                reply = responses(said) if b"/responses " in head else chat(said)
            if self.latency:
                asyncio.get_running_loop().call_later(self.latency, self.transport.write, reply)
            else:
                self.transport.write(reply)


async def serve(latency: float) -> None:
    server = await asyncio.get_running_loop().create_server(lambda: Connection(latency), "127.0.0.1", 0, backlog=1024)
    print(f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}/v1", flush=True)
    await server.serve_forever()


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--latency", type=float, default=0.0)
    asyncio.run(serve(parser.parse_args().latency))
