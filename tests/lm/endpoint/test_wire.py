"""The fast reader and writer of OpenAI's protocol against DSPy's native client, which is the second implementation."""

import json
from collections.abc import Mapping
from dataclasses import replace
from email.utils import formatdate
from typing import Any

import pytest
from dspy import lm15
from dspy.lm15 import LMRouter
from hypothesis import given
from hypothesis import strategies as st

from judgec.lm.backend import Remedy, native_route, remedy
from judgec.lm.client import JournaledClient, client_of, open_lm
from judgec.lm.endpoint.exchange import Completion, Plain
from judgec.lm.endpoint.wire import Wire, retry_after
from judgec.lm.spec import LMSpec
from judgec.lm.usage import Budget, Usage

SYSTEM = {"role": "system", "content": "You grade."}
USER = {"role": "user", "content": "Grade this: \u2603 \U0001f600 \x00"}
ASSISTANT = {"role": "assistant", "content": "4"}
MODELS = [
    *("openai/gpt-4o-mini", "openai/o3-mini", "hosted_vllm/meta/llama", "deepseek/deepseek-chat", "groq/llama"),
    *("ollama_chat/qwen2.5:7b-instruct-q4_K_M", "openai/ft:gpt-4o-mini:me"),
]


def wired(model: str, environ: Mapping[str, str] | None = None) -> tuple[Wire, Any, JournaledClient]:
    """The wire, DSPy's client (untyped) and the journaled of a model."""
    spec = LMSpec.parse(model, api_base="http://127.0.0.1:1/v1")
    route, config = native_route(spec, environ or {})
    assert route is not None
    client = LMRouter(config).lm(route)
    lm = open_lm(spec, journal=None, budget=Budget(), usage=Usage(), environ=environ or {})
    return Wire(client, route.partition(":")[2]), client, client_of(lm)


def whole(client: Any, plain: Plain, model: str) -> Any:  # DSPy's request, untyped
    return client.build_request(replace(plain.request(), model=model.partition("/")[2]), stream=False)


@pytest.mark.parametrize(
    ("model", "route"),
    [
        ("ollama_chat/llama3", "ollama:llama3"),
        ("ollama_chat/qwen2.5:7b-instruct-q4_K_M", "ollama:qwen2.5:7b-instruct-q4_K_M"),
        ("openai/ft:gpt-4o-mini:me", "openai-chat:ft:gpt-4o-mini:me"),
        ("hosted_vllm/org/model:q4", "vllm:org/model:q4"),
        ("bedrock/anthropic.claude:0", None),  # by LiteLLM, as without a colon
    ],
)
def test_native_route_keeps_the_colon_of_a_models_name(model: str, route: str | None) -> None:
    assert native_route(LMSpec.parse(model), {})[0] == route


@pytest.mark.parametrize("model", MODELS)
@pytest.mark.parametrize("chat", [[USER], [SYSTEM, USER], [SYSTEM, USER, ASSISTANT, USER]])
@pytest.mark.parametrize("schema", [None, '{"type": "object", "properties": {}}'])
def test_encode_sends_what_dspys_client_sends(model: str, chat: list[dict[str, str]], schema: str | None) -> None:
    wire, client, journaled = wired(model, {"OPENAI_API_KEY": "sk-1", "DEEPSEEK_API_KEY": "sk-2"})
    plain = journaled.plain(chat, schema)
    theirs = whole(client, plain, model)
    for _ in range(2):  # learned, then from the template
        url, headers, body = wire.encode(plain)
        assert (url, list(headers)) == (theirs.url, theirs.headers)
        assert json.loads(body) == json.loads(theirs.body)


@given(st.text(), st.text())
def test_encode_of_any_text_is_dspys_or_refused(system: str, user: str) -> None:
    chat = [{"role": "system", "content": system or "-"}, {"role": "user", "content": user}]
    plain = _DOOR.plain(chat)
    try:
        (system + user).encode()
    except UnicodeEncodeError:
        with pytest.raises(lm15.InvalidRequestError, match="not valid Unicode"):
            _WIRE.encode(plain)
    else:
        assert json.loads(_WIRE.encode(plain)[2]) == json.loads(whole(_CLIENT, plain, "openai/x").body)


_WIRE, _CLIENT, _DOOR = wired("openai/x")


def completion(**changes: object) -> dict[str, object]:
    choice = {"index": 0, "message": {"role": "assistant", "content": "4"}, "finish_reason": "stop", "logprobs": None}
    usage = {"prompt_tokens": 7, "completion_tokens": 2, "prompt_tokens_details": {"cached_tokens": 3}}
    return {"id": "c", "model": "m-1", "choices": [choice | changes], "usage": usage}


TOKENS = [
    {"token": '{"grade": ', "logprob": -0.1, "top_logprobs": []},
    {"token": "4", "logprob": -0.5, "top_logprobs": [{"token": "4", "logprob": -0.5}, {"token": "3", "logprob": -1.2}]},
    {"token": "}", "logprob": -0.2, "top_logprobs": [{"token": "}", "logprob": -0.2}]},
]


@pytest.mark.parametrize(
    "body",
    [
        completion(),
        completion(finish_reason="length"),
        completion(finish_reason="content_filter"),
        completion(message={"role": "assistant", "content": None, "refusal": "No."}),
        completion(message={"role": "assistant", "content": "", "reasoning_content": "Hm."}),
        completion(message={"role": "assistant", "content": [{"type": "text", "text": "4"}]}),
        completion(message={"content": '{"grade": 4}'}, logprobs={"content": TOKENS}),
        completion() | {"usage": None},
        {"model": "m-1", "choices": [], "usage": {"completion_tokens_details": {"reasoning_tokens": 9}}},
    ],
)
def test_decode_says_what_dspys_reader_says(body: dict[str, object]) -> None:
    theirs = Completion.of(lm15.response_from_openai_chat(body, model="x"))
    ours = _WIRE.decode(json.dumps(body).encode())
    assert ours == theirs


@pytest.mark.parametrize("body", [b"<html>", b"", b"[]", b"null", b'{"choice": 3}', b'{"error": {"message": "odd"}}'])
def test_decode_of_anything_else_is_a_provider_error(body: bytes) -> None:
    with pytest.raises(lm15.ProviderError):
        _WIRE.decode(body)


def test_decode_of_half_a_character_replaces_it() -> None:
    said = _WIRE.decode(b'{"model": "m", "choices": [{"message": {"content": "4 \\ud83d"}, "finish_reason": "stop"}]}')
    assert said.text == "4 ?"


@pytest.mark.parametrize(
    ("status", "headers", "kind", "what", "seconds"),
    [
        (429, {"retry-after": "7"}, lm15.RateLimitError, Remedy.RETRY, 7.0),
        (429, {"retry-after-ms": "250", "retry-after": "7"}, lm15.RateLimitError, Remedy.RETRY, 0.25),
        (409, {}, lm15.ServerError, Remedy.RETRY, None),
        (408, {}, lm15.TimeoutError, Remedy.RETRY, None),
        (500, {}, lm15.ServerError, Remedy.RETRY, None),
        (503, {"x-should-retry": "false"}, lm15.ServerError, Remedy.GIVE_UP, None),
        (400, {"x-should-retry": "true"}, lm15.InvalidRequestError, Remedy.RETRY, None),
        (400, {}, lm15.InvalidRequestError, Remedy.GIVE_UP, None),
        (422, {}, lm15.InvalidRequestError, Remedy.GIVE_UP, None),
        (401, {"x-should-retry": "true"}, lm15.AuthError, Remedy.STOP, None),
        (403, {}, lm15.AuthError, Remedy.STOP, None),
        (404, {}, lm15.InvalidRequestError, Remedy.STOP, None),
    ],
)
def test_refuse_means_what_the_openai_package_makes_of_it(
    status: int, headers: dict[str, str], kind: type[Exception], what: Remedy, seconds: float | None
) -> None:
    error = _WIRE.refuse(status, headers, b'{"error": {"message": "no", "code": "c"}}', lambda: 0.0)
    assert isinstance(error, kind)
    assert remedy(error) is what
    assert getattr(error, "retry_after", None) == seconds
    assert str(status) in str(error)


@pytest.mark.parametrize(
    ("headers", "seconds"),
    [
        ({}, None),
        ({"retry-after": "1.5"}, 1.5),
        ({"retry-after": "-1"}, None),
        ({"retry-after": "inf"}, None),
        ({"retry-after": "soon"}, None),
        ({"retry-after": formatdate(1_000_030)}, 30.0),
        ({"retry-after": formatdate(999_000)}, 0.0),
        ({"retry-after-ms": "x", "retry-after": "2"}, 2.0),
    ],
)
def test_retry_after_in_every_form(headers: dict[str, str], seconds: float | None) -> None:
    assert retry_after(headers, lambda: 1_000_000.0) == seconds
