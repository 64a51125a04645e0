"""Endpoints that refuse a schema or log-probabilities, over HTTP."""

from dataclasses import replace

import pytest

from judgec.lm.door import door_of, open_lm
from judgec.lm.executor import Executor, Reply
from judgec.lm.spec import LMSpec
from judgec.lm.usage import Budget, Usage
from tests.lm.judging import requests
from tests.service import policies
from tests.service.fake_openai import FakeOpenAI
from tests.service.replies import Status

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


def test_schema_is_part_of_the_key() -> None:
    lm = open_lm(LMSpec.parse("embedded"), journal=None, budget=Budget(), usage=Usage())
    door, (request,) = door_of(lm), requests(1)
    keys = {door.digest(request.messages, None, schema) for schema in (None, SCHEMA, SCHEMA.replace("2", "3"))}
    assert len(keys) == 3
    assert door.digest(request.messages, None, SCHEMA) == door.digest_of(door.plain(request.messages, SCHEMA).request())
