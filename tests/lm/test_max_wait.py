"""How long a call waits for an endpoint that asks for time, and who is told."""

import re
import time
from datetime import UTC, datetime

import pytest

from judgec.errors import ServiceError
from judgec.lm.backend import Retries
from judgec.lm.executor import Executor, Reply
from judgec.lm.max_wait import MaxWait
from tests.lm.judging import connected, requests
from tests.service import policies
from tests.service.fake_openai import FakeOpenAI
from tests.service.policies import Policy
from tests.service.replies import Raw, Status, Text

CALM = Retries(first_seconds=0.01, jitter=lambda: 0.0)


def busy(after: str, code: int = 429) -> Status:
    return Status(code, "slow down", "rate_limit_exceeded", {"Retry-After": after})


def ask(policy: Policy, max_wait: MaxWait, calls: int = 6, retries: Retries = CALM) -> list[Reply]:
    with FakeOpenAI(policy) as server:
        lm = connected(server.base_url, retries=retries, max_wait=max_wait)
        return list(Executor(lm, in_flight=2).run(requests(calls)))


@pytest.mark.parametrize("after", ["86400", "1e308", "Thu, 31 Dec 2099 23:59:59 GMT", "301"])
@pytest.mark.parametrize("code", [429, 503])
def test_wait_beyond_the_cap_fails_its_call_at_once_with_the_reason(after: str, code: int) -> None:
    began = time.monotonic()
    replies = ask(policies.every(3, busy(after, code)), MaxWait())
    assert time.monotonic() - began < 30
    bad = [reply for reply in replies if reply.text is None]
    assert len(bad) == 2
    assert all(re.search(r"[\de.+]+ s; --max-wait is 300 s .*slow down", str(one.error)) for one in bad)


@pytest.mark.parametrize("after", ["nan", "-5", "inf", "soon", "", "Thu, 31 Dec 99999 23:59:59 GMT", "1, 2"])
def test_wait_that_makes_no_sense_is_as_none(after: str) -> None:
    assert all(reply.text is not None for reply in ask(policies.every(3, busy(after)), MaxWait()))


def test_wait_as_long_as_the_cap_is_waited_for_however_waits_are_spread() -> None:
    spread = Retries(first_seconds=0.01, jitter=lambda: 1.0)
    replies = ask(policies.every(3, busy("0.3")), MaxWait(0.3), retries=spread)
    assert all(reply.text is not None for reply in replies)


def test_call_whose_replies_drip_ends_at_the_deadline_of_one_and_is_not_paid_again() -> None:
    drip = policies.always(Raw(b"", drip_seconds=0.02))
    with FakeOpenAI(lambda call: drip(call) if call.prompt.outputs else Text("ready")) as server:
        (reply,) = Executor(connected(server.base_url, timeout=0.1, retries=CALM)).run(requests(1))
        assert "in 0.5 s" in str(reply.error)
        assert server.calls - 1 <= 1  # and one that asks whether the model is there


def test_waits_of_one_call_count_together() -> None:
    said: list[str] = []
    with pytest.raises(ServiceError, match=r"--max-wait is 0\.12 s"):
        ask(policies.always(busy("0.05")), MaxWait(0.12, said.append), calls=40)
    assert said == []  # nobody reads a line about a blink


def test_endpoint_that_asks_every_call_to_wait_too_long_ends_the_run() -> None:
    with pytest.raises(ServiceError, match=r"86400 s; --max-wait is 300 s"):
        ask(policies.always(busy("86400")), MaxWait(), calls=60)


def test_tell_says_until_when_once_for_all_calls_that_wait_alike() -> None:
    said: list[str] = []
    max_wait = MaxWait(say=said.append)
    now = datetime(2026, 3, 1, 12, 0, 0, tzinfo=UTC).timestamp()
    for second in range(10):  # each of many calls is told the same end
        max_wait.tell(60.0 - second, now + second, "slow down")
    max_wait.tell(120.0, now + 5, "slow down")
    max_wait.tell(4.9, now + 500, "slow down")
    until = [datetime.fromtimestamp(now + end, UTC).astimezone() for end in (60, 125)]
    assert len(said) == 2
    for line, seconds, end in zip(said, (60, 120), until, strict=True):
        assert all(part in line for part in (f" {seconds} s ", f"{end:%H:%M:%S}", "(slow down)"))
