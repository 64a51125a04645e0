"""Ends of replies that hold no verdict: each is a reason of its own, and asked again only where that can help."""

import json
from collections.abc import Iterable, Iterator

import pytest
from dspy import lm15

from judgec.lm.executor import Reply, Request, failed_reply
from judgec.raters.asking import ask_rows, text_of
from judgec.raters.replies import UnreadableReplyError
from tests.lm.endpoint.test_wire import completion, wired

CALL = {"id": "1", "type": "function", "function": {"name": "x", "arguments": "{}"}}


@pytest.mark.parametrize(
    ("message", "finish", "reason", "asked"),
    [
        ({"content": None, "refusal": "I can't help with that."}, "stop", "refusal: I can't help with that.", 1),
        ({"content": ""}, "content_filter", "content filter", 1),
        ({"content": "Score: 4"}, "content_filter", "content filter: Score: 4", 1),
        ({"content": None, "tool_calls": [CALL]}, "tool_calls", "tool call", 2),
    ],
)
def test_reply_without_a_text_of_the_models_own_is_a_reason(
    message: dict[str, object], finish: str, reason: str, asked: int
) -> None:
    wire, _, _ = wired("openai/x")
    body = completion(message={"role": "assistant", **message}, finish_reason=finish)
    said = wire.decode(json.dumps(body).encode())
    seen = []

    def ask(requests: Iterable[Request], *, total: int | None = None) -> Iterator[Reply]:
        seen.append(total)
        yield Reply(0, said.text, finish=said.finish)

    def take(_: int, reply: Reply) -> None:
        text_of(reply)

    faults = ask_rows([0], ask, lambda row, _: Request(row, []), take)
    assert faults == {0: reason}
    assert len(seen) == asked


def test_request_that_a_content_filter_refuses_is_no_service_error() -> None:
    error = lm15.InvalidRequestError("The response was filtered", status=400, provider_code="content_filter")
    with pytest.raises(UnreadableReplyError, match="content filter") as caught:
        text_of(failed_reply(Request(0, []), error))
    assert caught.value.final
