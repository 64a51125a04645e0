"""Every way an endpoint can fail, over HTTP and through the client that users get."""

from pathlib import Path

import dspy
import pytest

from judgec.errors import BudgetError, ServiceError
from judgec.lm.client import open_lm, preflight
from judgec.lm.executor import Executor, Reply
from judgec.lm.frozen import freeze
from judgec.lm.journal.journal import Journal
from judgec.lm.logprobs import label_probabilities
from judgec.lm.spec import LMSpec
from judgec.lm.usage import Budget, Usage
from tests.lm.judging import GradeAnswer, connected, item, requests
from tests.service import policies
from tests.service.fake_openai import FakeOpenAI
from tests.service.replies import Hang

KEY = "sk-test-do-not-write-me"
MODEL = "openai/gpt-4o-mini"
LABELS = ["1", "2", "3", "4", "5"]
FROZEN = freeze(dspy.Predict(GradeAnswer), [item(0)])


def run(server: FakeOpenAI, count: int, *, timeout: float = 60.0, in_flight: int = 8) -> dict[object, Reply]:
    lm = connected(server.base_url, model=MODEL, timeout=timeout, environ={})
    return {reply.key: reply for reply in Executor(lm, in_flight=in_flight).run(requests(count))}


def grade(reply: Reply) -> int | None:
    if reply.text is None:
        return None
    try:
        return int(str(FROZEN.parse(reply.text)["grade"]))
    except ValueError:
        return None


@pytest.fixture(scope="module")
def truth() -> dict[object, int | None]:
    """What the endpoint says when nothing goes wrong."""
    with FakeOpenAI("good") as server:
        return {key: grade(reply) for key, reply in run(server, 40).items()}


def test_good_endpoint_grades_everything_once_with_log_probabilities(truth: dict[object, int | None]) -> None:
    with FakeOpenAI("good") as server:
        replies = run(server, 40)
    assert set(truth.values()) == {1, 2, 3, 4, 5}
    assert server.calls == 40
    for reply in replies.values():
        spread = label_probabilities(reply.logprobs, "grade", LABELS)
        assert spread is not None
        assert spread.index(max(spread)) + 1 == grade(reply)
        assert max(spread) < 0.9
    body = server.bodies[0]
    assert (body["temperature"], body["logprobs"], body["top_logprobs"]) == (0.0, True, 8)
    assert server.most_in_flight <= 8


@pytest.mark.parametrize("policy", ["rate_limited", "flaky", "resetting", "garbage"])
def test_passing_faults_change_no_grade(policy: str, truth: dict[object, int | None]) -> None:
    with FakeOpenAI(policy) as server:
        assert {key: grade(reply) for key, reply in run(server, 40).items()} == truth
        assert server.calls > 40
        assert server.answered == 40


def test_silence_is_given_up_and_asked_again(truth: dict[object, int | None]) -> None:
    with FakeOpenAI(policies.first(3, Hang())) as server:
        assert {k: grade(r) for k, r in run(server, 12, timeout=0.5).items()} == {k: truth[k] for k in range(12)}
        assert server.calls - server.answered == 3  # a busy machine may be late with an answer, and be asked again


def test_storm_leaves_every_item_scored_rightly_or_unscored_with_a_reason() -> None:
    with FakeOpenAI("good") as server:
        truth = {key: grade(reply) for key, reply in run(server, 220).items()}
    with FakeOpenAI("storm") as server:
        found = run(server, 220, in_flight=16)
    assert len(found) == 220
    scored = {key: grade(reply) for key, reply in found.items() if grade(reply) is not None}
    assert len(scored) > 180
    assert all(value == truth[key] for key, value in scored.items())
    assert all(reply.error for reply in found.values() if reply.text is None)


@pytest.mark.parametrize(
    ("policy", "says"),
    [
        ("bad_key", "refused the key .*Check OPENAI_API_KEY"),
        ("unknown_model", "Check the model's name and --api-base"),
        ("no_quota", "Check the account's billing"),
        ("always_broken", "HTTP 500.*Try again later"),
        ("always_rate_limited", "HTTP 429.*Try again later"),
        ("hanging", "timed out.*Try again later"),
    ],
)
def test_preflight_says_what_is_wrong_and_what_to_do(policy: str, says: str) -> None:
    timeout = 0.2 if policy == "hanging" else 60.0
    with FakeOpenAI(policy) as server, pytest.raises(ServiceError, match=says) as caught:
        preflight(connected(server.base_url, model=MODEL, timeout=timeout, environ={"OPENAI_API_KEY": KEY}))
    assert KEY not in str(caught.value)
    assert caught.value.exit_code == 3


def test_preflight_of_a_good_endpoint_is_one_small_call() -> None:
    with FakeOpenAI("good") as server:
        preflight(connected(server.base_url))
        assert server.calls == 1
        assert server.bodies[0]["max_completion_tokens"] == 16


def test_preflight_and_run_where_nobody_listens_stop_at_once_and_name_the_url() -> None:
    with FakeOpenAI("good") as server:
        lm = connected(server.base_url)
    for act in (preflight, lambda lm: list(Executor(lm).run(requests(100)))):
        with pytest.raises(ServiceError, match=f"nobody answers at {server.base_url}.*check --api-base"):
            act(lm)


def test_preflight_without_a_key_names_the_variable() -> None:
    lm = open_lm(LMSpec.parse("openai/gpt-4o-mini"), journal=None, budget=Budget(), usage=Usage(), environ={})
    with pytest.raises(ServiceError, match="Set OPENAI_API_KEY"):
        preflight(lm)


def test_endpoint_without_a_key_of_its_own_is_sent_a_placeholder() -> None:
    with FakeOpenAI("good") as server:
        run(server, 1)
    assert server.keys == {"Bearer none"}


def test_dollar_cap_is_never_passed_by_calls_in_flight(tmp_path: Path) -> None:
    cap = 0.005  # about four worst cases of 2,048 tokens; a real reply costs a twentieth of that
    budget = Budget(usd=cap)
    with FakeOpenAI("good") as server, Journal(tmp_path / "journal.db") as journal:
        lm = connected(server.base_url, model=MODEL, journal=journal, budget=budget)
        with pytest.raises(BudgetError, match="--max-cost"):
            list(Executor(lm, in_flight=16).run(requests(200)))
        spent = lm.engine.calls.usage.spent
        assert cap / 2 < spent.usd <= cap
        assert spent.calls == server.answered == len(journal)
