"""Endpoints that refuse a schema or log-probabilities, over HTTP."""

from dataclasses import replace
from pathlib import Path

import pytest

from judgec.errors import ServiceError
from judgec.lm.client import client_of, open_lm, preflight
from judgec.lm.executor import Executor, Reply
from judgec.lm.journal.journal import Journal
from judgec.lm.max_wait import MaxWait
from judgec.lm.spec import LMSpec
from judgec.lm.usage import Budget, Usage
from tests.lm.judging import requests
from tests.service import policies
from tests.service.fake_openai import FakeOpenAI
from tests.service.replies import Call, Outcome, Status

SCHEMA = '{"type": "object", "properties": {"grade": {"type": "integer", "enum": [1, 2]}}}'


def asked(server: FakeOpenAI, count: int, schema: str | None) -> list[Reply]:
    spec = LMSpec.parse("openai/x", api_base=server.base_url)
    lm = open_lm(spec, journal=None, budget=Budget(), usage=Usage(), environ={"OPENAI_API_KEY": "k"})
    made = [replace(request, schema=schema) for request in requests(count)]
    return list(Executor(lm, in_flight=1).run(made))


def test_schema_that_the_endpoint_takes_is_sent() -> None:
    with FakeOpenAI("good") as server:
        replies = asked(server, 1, SCHEMA)
        sent = server.bodies[0]["response_format"]
    assert replies[0].text is not None
    assert isinstance(sent, dict)
    assert sent["type"] == "json_schema"
    assert sent["json_schema"]["strict"] is True
    assert sent["json_schema"]["schema"]["properties"]["grade"]["enum"] == [1, 2]


@pytest.mark.parametrize(
    ("policy", "parameter"),
    [
        (policies.without("response_format"), "response_format"),
        (policies.without("response_format", "guided decoding is off"), "response_format"),
        (policies.without("logprobs", "top_logprobs is not supported"), "logprobs"),
    ],
)
def test_parameter_that_is_refused_by_name_is_left_out_from_then_on(policy: policies.Policy, parameter: str) -> None:
    with FakeOpenAI(policy) as server:
        replies = asked(server, 4, SCHEMA)
        with_it = [parameter in body for body in server.bodies]
    assert all(reply.text is not None for reply in replies)
    assert with_it == [True, False, False, False, False]
    assert sum(reply.logprobs is not None for reply in replies) == (0 if parameter == "logprobs" else 4)


def test_schema_that_is_refused_without_a_name_is_left_out_for_that_call() -> None:
    with FakeOpenAI(policies.without("response_format", "bad request")) as server:
        replies = asked(server, 2, SCHEMA)
        with_it = ["response_format" in body for body in server.bodies]
    assert all(reply.text is not None for reply in replies)
    assert with_it == [True, False, True, False]


def test_bad_request_for_another_reason_fails_once() -> None:
    with FakeOpenAI(policies.always(Status(400, "no such thing"))) as server:
        (reply,) = asked(server, 1, None)
        calls = server.calls
    assert reply.text is None
    assert calls == 1


def reasoning(call: Call) -> Outcome:
    """Refuses what reasoning models do, whatever the model's name: one setting an answer."""
    body = call.body
    if body.get("temperature", 1) != 1:
        return Status(
            400, "Unsupported value: 'temperature' does not support 0.0 with this model.", "unsupported_value"
        )
    if "max_tokens" in body:
        said = "Unsupported parameter: 'max_tokens' is not supported. Use 'max_completion_tokens' instead."
        return Status(400, said, "unsupported_parameter")
    if body.get("logprobs"):
        return Status(403, "You are not allowed to request logprobs from this model", "invalid_request_error")
    return policies.good(call)


@pytest.mark.parametrize("model", ["openai/our-alias", "hosted_vllm/our-alias"])
def test_model_that_refuses_settings_under_any_name_is_asked_alike_from_the_first_item(
    model: str, tmp_path: Path
) -> None:
    said: list[str] = []
    with FakeOpenAI(reasoning) as server, Journal(tmp_path / "journal.db") as journal:
        spec = LMSpec.parse(model, api_base=server.base_url)

        def opened(one: LMSpec) -> Executor:
            shared = {"journal": journal, "budget": Budget(), "usage": Usage(), "environ": {"OPENAI_API_KEY": "k"}}
            return Executor(open_lm(one, max_wait=MaxWait(say=said.append), **shared), in_flight=4)  # type: ignore[arg-type]

        first = opened(spec)
        first.preflight()
        before = len(server.bodies)
        assert all(reply.text is not None for reply in first.run(requests(9)))
        assert len(server.bodies) - before == 9  # nothing was refused any more
        for body in server.bodies[before:]:
            assert (body["max_completion_tokens"], {"temperature", "max_tokens", "logprobs"} & body.keys()) == (
                16_000,
                set(),
            )
        settled = client_of(first.lm).spec
        card = settled.describe()
        refused = {"temperature", "logprobs"} | ({"max_tokens"} if model.startswith("hosted") else set())
        assert set(settled.without) == refused == {line.split(" refuses ")[1].split()[0] for line in said}
        assert (card["temperature"], "logprobs" in card) == ("model default", False)
        again = opened(LMSpec.from_card(card, api_base=server.base_url))  # asked alike, so that the journal answers
        asked = len(server.bodies)
        again.preflight()
        assert all(reply.cached for reply in again.run(requests(9)))
        assert len(server.bodies) == asked
        anew = opened(spec)  # finds out once more, for nothing, and then has the journal
        anew.preflight()
        assert all(reply.cached for reply in anew.run(requests(9)))
        assert server.answered == 10


def test_refusal_in_mid_run_is_found_by_every_call_and_keyed_as_it_was_asked(tmp_path: Path) -> None:
    with FakeOpenAI(reasoning) as server, Journal(tmp_path / "journal.db") as journal:
        for _ in range(2):
            spec = LMSpec.parse("openai/x", api_base=server.base_url)
            lm = open_lm(spec, journal=journal, budget=Budget(), usage=Usage(), environ={"OPENAI_API_KEY": "k"})
            assert all(reply.text is not None for reply in Executor(lm, in_flight=8).run(requests(30)))  # no preflight
        assert server.answered == 30


def test_complaint_about_a_setting_that_was_taken_before_is_about_the_item() -> None:
    def policy(call: Call) -> Outcome:
        return Status(400, "the prompt says: temperature") if "tower 2?" in str(call.body) else policies.good(call)

    with FakeOpenAI(policy) as server:
        replies = asked(server, 4, None)
        assert ["temperature" in body for body in server.bodies] == [True] * 4
    assert [reply.key for reply in replies if reply.text is None] == [2]


def test_model_that_is_refused_for_another_reason_quotes_the_server() -> None:
    with FakeOpenAI(policies.always(Status(400, "model is in maintenance mode"))) as server:
        spec = LMSpec.parse("openai/x", api_base=server.base_url)
        lm = open_lm(spec, journal=None, budget=Budget(), usage=Usage(), environ={"OPENAI_API_KEY": "k"})
        with pytest.raises(ServiceError, match="model is in maintenance mode"):
            preflight(lm)


def test_schema_is_part_of_the_key() -> None:
    lm = open_lm(LMSpec.parse("openai/x"), journal=None, budget=Budget(), usage=Usage())
    journaled, (request,) = client_of(lm), requests(1)
    keys = {journaled.digest(request.messages, None, schema) for schema in (None, SCHEMA, SCHEMA.replace("2", "3"))}
    assert len(keys) == 3
    assert journaled.digest(request.messages, None, SCHEMA) == journaled.digest_of(
        journaled.plain(request.messages, SCHEMA).request()
    )
