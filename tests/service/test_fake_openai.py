"""Every way an endpoint can fail, over HTTP and through the client that users get."""

import json
import subprocess
import sys
import urllib.request
from pathlib import Path

import dspy
import pytest
from hypothesis import given
from hypothesis import strategies as st

from judgec.errors import BudgetError, ServiceError
from judgec.lm.backend import Retries
from judgec.lm.client import open_lm, preflight
from judgec.lm.executor import Executor, Reply
from judgec.lm.frozen import freeze
from judgec.lm.journal.journal import Journal
from judgec.lm.logprobs import from_prediction, label_probabilities
from judgec.lm.spec import LMSpec
from judgec.lm.usage import Budget, Usage
from tests.lm.judging import GradeAnswer, item, requests
from tests.service import grading_world, policies
from tests.service.fake_openai import FakeOpenAI
from tests.service.replies import Hang, Reset

KEY = "sk-test-do-not-write-me"
LABELS = ["1", "2", "3", "4", "5"]
FROZEN = freeze(dspy.Predict(GradeAnswer), [item(0)])


def connect(
    server: FakeOpenAI,
    *,
    journal: Journal | None = None,
    budget: Budget | None = None,
    timeout: float = 60.0,
    environ: dict[str, str] | None = None,
    model: str = "openai/gpt-4o-mini",
) -> dspy.LM:
    return open_lm(
        LMSpec.parse(model, api_base=server.base_url, timeout=timeout),
        journal=journal,
        budget=budget or Budget(),
        usage=Usage(),
        retries=Retries(first_seconds=0.01, attempts=8),
        environ=environ or {},
    )


def run(server: FakeOpenAI, count: int, *, timeout: float = 60.0, in_flight: int = 8) -> dict[object, Reply]:
    lm = connect(server, timeout=timeout)
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


def test_malformed_refusing_and_off_scale_replies_come_back_as_they_are() -> None:
    for policy in ("malformed", "refusing", "off_scale"):
        with FakeOpenAI(policy) as server:
            replies = run(server, 5)
            assert server.calls == 5
        assert all(reply.text and grade(reply) is None for reply in replies.values())


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
        preflight(connect(server, timeout=timeout, environ={"OPENAI_API_KEY": KEY}))
    assert KEY not in str(caught.value)
    assert caught.value.exit_code == 3


def test_preflight_of_a_good_endpoint_is_one_small_call() -> None:
    with FakeOpenAI("good") as server:
        preflight(connect(server))
        assert server.calls == 1
        assert server.bodies[0]["max_completion_tokens"] == 16


def test_preflight_where_nobody_listens_names_the_url() -> None:
    with FakeOpenAI("good") as server:
        lm = connect(server)
    with pytest.raises(ServiceError, match=f"nobody answers at {server.base_url}.*check --api-base"):
        preflight(lm)


def test_run_where_nobody_listens_stops_at_once_with_a_service_error() -> None:
    with FakeOpenAI("good") as server:
        lm = connect(server)
    with pytest.raises(ServiceError, match="nobody answers"):
        list(Executor(lm).run(requests(100)))


def test_preflight_without_a_key_names_the_variable() -> None:
    lm = open_lm(LMSpec.parse("openai/gpt-4o-mini"), journal=None, budget=Budget(), usage=Usage(), environ={})
    with pytest.raises(ServiceError, match="Set OPENAI_API_KEY in the environment"):
        preflight(lm)


def test_key_is_sent_to_the_endpoint_and_written_nowhere(tmp_path: Path) -> None:
    path = tmp_path / "journal.db"
    with FakeOpenAI("good") as server, Journal(path) as journal:
        lm = connect(server, journal=journal, environ={"OPENAI_API_KEY": KEY})
        list(Executor(lm).run(requests(3)))
        assert server.keys == {f"Bearer {KEY}"}
        assert KEY not in repr(lm.dump_state() if hasattr(lm.engine, "dump_state") else vars(lm))
    for file in tmp_path.iterdir():
        assert KEY.encode() not in file.read_bytes()


def test_endpoint_without_a_key_of_its_own_is_sent_a_placeholder() -> None:
    with FakeOpenAI("good") as server:
        run(server, 1)
    assert server.keys == {"Bearer none"}


def test_dollar_cap_is_never_passed_by_calls_in_flight(tmp_path: Path) -> None:
    cap = 0.005  # about four worst cases of 2,048 tokens; a real reply costs a twentieth of that
    budget = Budget(usd=cap)
    with FakeOpenAI("good") as server, Journal(tmp_path / "journal.db") as journal:
        lm = connect(server, journal=journal, budget=budget)
        with pytest.raises(BudgetError, match="--max-cost"):
            list(Executor(lm, in_flight=16).run(requests(200)))
        spent = lm.engine.calls.usage.spent
        assert cap / 2 < spent.usd <= cap
        assert spent.calls == server.answered == len(journal)


def test_bulk_judging_reuses_what_a_dspy_program_paid_for(tmp_path: Path) -> None:
    with FakeOpenAI("good") as server, Journal(tmp_path / "journal.db") as journal:
        lm = connect(server, journal=journal)
        with dspy.context(lm=lm):
            said = dspy.Predict(GradeAnswer)(**item(1))
        (reply,) = Executor(lm).run(requests(2)[1:])
        assert server.calls == 1
    assert (reply.cached, grade(reply)) == (True, said.grade)
    assert from_prediction(said.logprobs) == reply.logprobs


def test_json_adapter_is_answered_in_json() -> None:
    with FakeOpenAI("good") as server, dspy.context(lm=connect(server), adapter=dspy.JSONAdapter()):
        said = dspy.Predict(GradeAnswer)(**item(1))
    assert said.grade in range(1, 6)
    assert label_probabilities(from_prediction(said.logprobs), "grade", LABELS) is not None


def test_run_after_a_crash_pays_for_nothing_twice(tmp_path: Path) -> None:
    with FakeOpenAI(policies.every(7, Reset())) as server:
        for stop in (5, 20, 40):
            with Journal(tmp_path / "journal.db") as journal:
                answers = Executor(connect(server, journal=journal)).run(requests(40))
                for _ in range(stop):
                    next(answers)
                answers.close()
        assert server.answered == 40
        assert server.paid_twice == 0


def ask_world(policy: str, rows: list[dict[str, object]], demos: list[dspy.Example], hint: str = "") -> list[int]:
    predict = dspy.Predict(GradeAnswer.with_instructions(f"Grade the answer. {hint}"))
    predict.demos = demos
    frozen = freeze(predict, [])
    made = [
        type(requests(1)[0])(n, frozen.messages({k: str(row[k]) for k in ("query", "answer", "contexts")}))
        for n, row in enumerate(rows)
    ]
    with FakeOpenAI(policy) as server:
        replies = {reply.key: grade(reply) for reply in Executor(connect(server)).run(made)}
    return [replies[n] or 0 for n in range(len(rows))]


def _right(grades: list[int], rows: list[dict[str, object]]) -> float:
    return sum(g == row["grade"] for g, row in zip(grades, rows, strict=True)) / len(rows)


def test_teachable_world_learns_from_demonstrations_and_from_instructions_and_stubborn_never() -> None:
    rows = grading_world.rows(45, seed=3)
    shown = [
        dspy.Example(**{name: str(row[name]) for name in ("query", "answer", "contexts")}, grade=row["grade"])
        for row in grading_world.rows(6, seed=4)
    ]
    hint = f"{grading_world.KEY_PHRASE.capitalize()}, and {grading_world.MILD_PHRASE}."
    assert _right(ask_world("teachable", rows, []), rows) < 0.5
    assert _right(ask_world("teachable", rows, shown), rows) > 0.85
    assert _right(ask_world("teachable", rows, [], hint), rows) > 0.85
    stubborn = ask_world("stubborn", rows, [])
    assert ask_world("stubborn", rows, shown, hint) == stubborn
    assert _right(stubborn, rows) < 0.5


@given(st.integers(0, 10_000))
def test_world_rows_follow_the_rule_and_lengths_say_nothing(seed: int) -> None:
    rows = grading_world.rows(12, seed=seed)
    assert all(grading_world.expert_grade(str(row["answer"])) == row["grade"] for row in rows)
    assert len({len(str(row["answer"]).split()) for row in rows}) <= 2


def test_server_of_its_own_process_serves_and_counts() -> None:
    command = [sys.executable, "-m", "tests.service.fake_openai", "--policy", "good"]
    child = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
    try:
        assert child.stdout is not None
        url = child.stdout.readline().strip()
        lm = open_lm(LMSpec.parse("openai/x", api_base=url), journal=None, budget=Budget(), usage=Usage(), environ={})
        assert len(list(Executor(lm).run(requests(5)))) == 5
        with urllib.request.urlopen(url.removesuffix("/v1") + "/stats") as stats:  # noqa: S310 - loopback
            assert json.load(stats) == {"calls": 5, "answered": 5, "paid_twice": 0}
    finally:
        child.terminate()
        child.wait(60)
        if child.stdout is not None:
            child.stdout.close()
