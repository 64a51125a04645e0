"""DSPy's own clients (Anthropic's models, optimizers of all models), and LiteLLM's, are as careful as the pool."""

import asyncio
import gzip
import json
import tracemalloc
from collections.abc import Callable
from contextlib import suppress

import pytest
from dspy import lm15
from dspy.lm15 import Config, Response

from judgec.lm.backend import ClientBackend, whole_seconds
from judgec.lm.endpoint import untrusted
from judgec.lm.endpoint.exchange import Bill, Completion, Plain
from judgec.lm.journal.journal import JournaledReply
from judgec.lm.spec import LMSpec
from tests.service import hostile
from tests.service.fake_openai import FakeOpenAI
from tests.service.replies import Call, JsonObject, Outcome, Raw

MODELS = ("anthropic/claude-3-haiku-20240307", "openai/gpt-4o-mini")
LITELLM = "azure/x"  # none of DSPy's own clients serves it
WAYS = ("thread", "loop")
pytestmark = pytest.mark.filterwarnings("ignore:coroutine 'Logging:RuntimeWarning")  # LiteLLM's, of a loop that ended
ASKED = Plain("x", [{"role": "user", "content": "Grade this."}], Config(max_tokens=100))


def message() -> JsonObject:
    """A good reply of Anthropic's."""
    usage: JsonObject = {"input_tokens": 10, "output_tokens": 5, "cache_read_input_tokens": 2, "service_tier": "batch"}
    content = [{"type": "text", "text": hostile.GOOD}]
    return {
        "id": "m",
        "type": "message",
        "role": "assistant",
        "model": "claude",
        "content": content,
        "stop_reason": "end_turn",
        "usage": usage,
    }


@pytest.fixture(autouse=True)
def _azure(monkeypatch: pytest.MonkeyPatch) -> None:
    for name, value in {"AZURE_API_KEY": "sk-3", "AZURE_API_VERSION": "1"}.items():
        monkeypatch.setenv(name, value)


def good(model: str) -> JsonObject:
    return message() if model.startswith("anthropic") else hostile.body()


def asked(backend: ClientBackend, way: str, model: str) -> Response | Completion:
    request = ASKED._replace(model=model).request()
    if way == "thread":
        return backend.complete(request)

    async def once() -> Response | Completion:
        try:
            return await backend.acomplete(request)
        finally:
            await backend.aclose()

    return asyncio.run(once())


def answered(model: str, way: str, outcome: Callable[[Call], Outcome], timeout: float = 30.0) -> JournaledReply:
    """What the journal keeps of a call."""
    with FakeOpenAI(outcome) as server:
        url = server.base_url.removesuffix("/v1") if model.startswith("anthropic") else server.base_url
        spec = LMSpec.parse(model, api_base=url, timeout=timeout)
        return Bill(spec).record(ASKED, asked(ClientBackend(spec, {}), way, model), 0.0)


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("model", [*MODELS, LITELLM])
def test_count_of_tokens_that_is_none_counts_as_not_given(model: str, way: str) -> None:
    name = "input_tokens" if model.startswith("anthropic") else "prompt_tokens"
    values: tuple[object, ...] = ("many", "100", True, -5, 1.5, [], {}, [None])
    for odd in values:
        whole = good(model)
        whole["usage"][name] = odd  # type: ignore[index]  # as made above
        reply = answered(model, way, lambda _, body=whole: Raw(json.dumps(body).encode()))  # type: ignore[misc]  # bound
        assert (reply.text, reply.finish) == (hostile.GOOD, "stop"), odd
        assert reply.input_tokens < 100


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("model", MODELS)
def test_reply_of_any_shape_is_a_reply_or_an_error_of_its_call(model: str, way: str) -> None:
    shapes: list[object] = [
        {**good(model), "usage": "none"},
        {**good(model), "content": 5, "choices": 5},
        {**good(model), "content": [5], "choices": [5]},
        {**good(model), "content": [{"type": "text", "text": {}}], "choices": [{"message": 3}]},
        {**good(model), "id": float("inf"), "usage": {"cache_creation": "x", "prompt_tokens_details": 4}},
    ]
    with FakeOpenAI(lambda call: Raw(json.dumps(shapes[(call.number - 1) % len(shapes)]).encode())) as server:
        url = server.base_url.removesuffix("/v1") if model.startswith("anthropic") else server.base_url
        spec = LMSpec.parse(model, api_base=url)
        backend, bill = ClientBackend(spec, {}), Bill(spec)
        for _ in shapes:
            try:
                reply = bill.record(ASKED, asked(backend, way, model), 0.0)
            except lm15.LM15Error:
                continue
            assert reply.finish in {"stop", "length", *untrusted.FAULTS}


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("model", MODELS)
def test_redirect_is_no_reply_and_says_where_it_points(model: str, way: str) -> None:
    there = Raw(b"{}", {"Location": "http://elsewhere.invalid/v1"}, code=307)
    with pytest.raises(lm15.InvalidRequestError, match=r"307: redirects to elsewhere\.invalid"):
        answered(model, way, lambda _: there)


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("model", [*MODELS, LITELLM])
def test_reply_longer_than_what_was_asked_for_is_read_no_further(model: str, way: str) -> None:
    bomb = gzip.compress(json.dumps({**good(model), "more": " " * 20_000_000}).encode())
    reply = answered(model, way, lambda _: Raw(bomb, {"Content-Encoding": "gzip"}))
    assert (reply.text, reply.finish, reply.output_tokens) == ("", untrusted.TOO_LONG, 100)


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("model", [*MODELS, LITELLM])
def test_reply_that_is_packed_twice_is_not_unpacked_without_end(model: str, way: str) -> None:
    bomb = gzip.compress(gzip.compress(json.dumps({**good(model), "more": " " * 150_000_000}).encode()))
    tracemalloc.start()
    try:
        with suppress(lm15.LM15Error):  # an error of its call, or a fault of its reply
            assert not answered(model, way, lambda _: Raw(bomb, {"Content-Encoding": "gzip, gzip"})).text
        _, most = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert most < 50_000_000


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("model", [*MODELS, LITELLM])
def test_drip_ends_at_the_deadline_of_the_call(model: str, way: str) -> None:
    seconds = whole_seconds(LMSpec.parse(model, timeout=0.2))
    with pytest.raises(lm15.TimeoutError, match=f"no whole reply in {seconds:g} s"):
        answered(model, way, lambda _: Raw(b"{", drip_seconds=0.02), timeout=0.2)


def test_body_keeps_what_is_no_count_of_tokens() -> None:
    body = json.dumps(message()).encode()
    assert untrusted.counted(body) is body
    assert untrusted.counted(b"<html>") == b"<html>"
    odd = {"usage": {"input_tokens": "1", "output_tokens": 3, "service_tier": "x", "prompt_tokens_details": 5}}
    assert json.loads(untrusted.counted(json.dumps(odd).encode())) == {
        "usage": {"output_tokens": 3, "service_tier": "x"}
    }
