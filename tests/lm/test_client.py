import asyncio
import copy
import sys
import threading
import time
from pathlib import Path

import dspy
import pytest
from dspy import lm15

from judgec.errors import BudgetError, ServiceError, UserError
from judgec.lm.backend import Backend, Retries
from judgec.lm.client import JournaledClient, client_of, open_lm
from judgec.lm.journal.journal import Journal
from judgec.lm.max_wait import MaxWait
from judgec.lm.spec import LMSpec
from judgec.lm.usage import Budget, Usage
from tests.lm.backends import Scripted, fails
from tests.lm.judging import REPLY, GradeAnswer, item, requests

FAST = Retries(first_seconds=0.0, attempts=4)


def make(
    backend: Backend,
    *,
    model: str = "hosted_vllm/scripted",
    journal: Journal | None = None,
    budget: Budget | None = None,
    usage: Usage | None = None,
    max_wait: MaxWait | None = None,
    retries: Retries = FAST,
) -> dspy.LM:
    """An LM on a scripted backend."""
    return open_lm(
        LMSpec.parse(model),
        journal=journal,
        budget=budget or Budget(),
        usage=usage or Usage(),
        backend=backend,
        retries=retries,
        max_wait=max_wait,
    )


def judge(lm: dspy.LM, number: int, **config: object) -> dspy.Prediction:
    with dspy.context(lm=lm, adapter=dspy.ChatAdapter(use_json_adapter_fallback=False)):
        return dspy.Predict(GradeAnswer)(**item(number), config=config)


def test_call_made_twice_is_paid_once_and_marked_free(tmp_path: Path) -> None:
    backend, usage = Scripted(), Usage()
    with Journal(tmp_path / "journal.db") as journal:
        lm = make(backend, journal=journal, usage=usage)
        with dspy.track_usage() as first:
            assert judge(lm, 1).grade == 4
        with dspy.track_usage() as second:
            assert judge(lm, 1).grade == 4
    assert backend.attempts == 1
    assert (usage.spent.calls, usage.spent.journaled, usage.spent.tokens) == (1, 1, 110)
    assert first.get_total_tokens()["hosted_vllm/scripted"]["prompt_tokens"] == 100
    assert not second.get_total_tokens().get("hosted_vllm/scripted")


def test_call_by_coroutine_shares_the_journal_with_threads_and_executor(tmp_path: Path) -> None:
    backend = Scripted()
    with Journal(tmp_path / "journal.db") as journal:
        lm = make(backend, journal=journal)
        judge(lm, 1)

        async def again() -> dspy.Prediction:
            with dspy.context(lm=lm):
                return await dspy.Predict(GradeAnswer).acall(**item(1))

        assert asyncio.run(again()).grade == 4
        assert journal.get(client_of(lm).digest(requests(2)[1].messages)) is not None
    assert backend.attempts == 1


@pytest.mark.parametrize(
    "change",
    [{"rollout_id": 1, "temperature": 1.0}, {"temperature": 0.5}, {"max_tokens": 99}, {"seed": 3}],
)
def test_call_with_another_rollout_or_setting_misses(tmp_path: Path, change: dict[str, object]) -> None:
    backend = Scripted()
    with Journal(tmp_path / "journal.db") as journal:
        lm = make(backend, journal=journal)
        for _ in range(2):
            judge(lm, 1)
            judge(lm, 1, **change)
            judge(lm.copy(**change), 1)
    assert backend.attempts == 2


def test_call_with_distinct_rollouts_is_distinct(tmp_path: Path) -> None:
    backend = Scripted()
    with Journal(tmp_path / "journal.db") as journal:
        lm = make(backend, journal=journal)
        for rollout in (0, 1, 2, 0, 1, 2):
            judge(lm, 1, rollout_id=rollout, temperature=1.0)
    assert backend.attempts == 3


def test_digest_depends_on_each_part_and_on_where_a_turn_ends() -> None:
    client = client_of(make(Scripted()))
    user, system = {"role": "user", "content": "ab"}, {"role": "system", "content": "s"}
    other = make(Scripted())
    digests = [
        client.digest([user]),
        client.digest([system, user]),
        client.digest([user], rollout=0),
        client.digest([user], rollout=1),
        client.digest([{"role": "assistant", "content": "ab"}]),
        client.digest([{"role": "user", "content": "a"}, {"role": "user", "content": "b"}]),
        client.digest([{"role": "user", "content": "a|user|1|b"}]),
    ]
    assert len(set(digests)) == len(digests)
    assert client.digest([system, user]) == client.digest_of(client.plain([system, user]).request())
    assert client_of(other).digest([user]) == digests[0]


@pytest.mark.parametrize(
    ("one", "two"),
    [
        (LMSpec.parse("openai/a"), LMSpec.parse("openai/b")),
        (LMSpec.parse("openai/a"), LMSpec.parse("openai/a", api_base="http://127.0.0.1:1/v1")),
        (LMSpec.parse("openai/a"), LMSpec.parse("openai/a", temperature=0.1)),
        (LMSpec.parse("openai/a"), LMSpec.parse("openai/a", extra={"top_p": 0.5})),
    ],
)
def test_digest_of_another_model_endpoint_or_setting_differs(one: LMSpec, two: LMSpec) -> None:
    digests = []
    for spec in (one, two):
        lm = open_lm(spec, journal=None, budget=Budget(), usage=Usage(), environ={})
        digests.append(client_of(lm).digest([{"role": "user", "content": "x"}]))
    assert digests[0] != digests[1]


def test_equal_calls_in_flight_are_one_call(tmp_path: Path) -> None:
    backend, usage = Scripted(), Usage()
    backend.gate = threading.Event()
    with Journal(tmp_path / "journal.db") as journal:
        lm = make(backend, journal=journal, usage=usage)
        threads = [threading.Thread(target=judge, args=(lm, 1)) for _ in range(8)]
        for thread in threads:
            thread.start()
        backend.gate.set()
        for thread in threads:
            thread.join(60)
    assert backend.attempts == 1
    assert usage.spent.calls == 1
    assert usage.spent.shared + usage.spent.journaled == 7


@pytest.mark.parametrize(
    "error",
    [
        lm15.RateLimitError("slow down", status=429),
        lm15.ServerError("oops", status=500),
        lm15.TimeoutError("late"),
        lm15.TransportError("reset"),
        lm15.ProviderError("not JSON", status=200),
    ],
    ids=lambda error: type(error).__name__,
)
def test_call_that_fails_for_a_while_is_repeated(error: lm15.LM15Error) -> None:
    backend = Scripted(fails(3, error))
    assert judge(make(backend), 1).grade == 4
    assert backend.attempts == 4


def test_call_that_keeps_failing_while_others_succeed_fails_alone() -> None:
    oops = lm15.ServerError("oops", status=500)
    backend = Scripted(lambda number, request: oops if "tower 1?" in str(request.messages) else REPLY)
    lm = make(backend)
    with pytest.raises(dspy.utils.exceptions.LMServerError):
        judge(lm, 1)
    assert backend.attempts == 8  # 4 tries and 2 more, and 2 looks at whether the model answers at all
    assert judge(lm, 2).grade == 4
    assert client_of(lm).calls.stopped is None


def test_call_with_a_bad_request_is_not_repeated_and_hurts_no_other() -> None:
    backend = Scripted(fails(1, lm15.InvalidRequestError("too long", status=400)))
    lm = make(backend)
    with pytest.raises(dspy.utils.exceptions.LMInvalidRequestError):
        judge(lm, 1)
    assert judge(lm, 2).grade == 4
    assert backend.attempts == 2


@pytest.mark.parametrize(
    ("error", "says"),
    [
        (lm15.AuthError("wrong", status=401, env_keys=("X_KEY",)), "refused the key .*Check X_KEY"),
        (lm15.NotConfiguredError("none", env_keys=("X_KEY",)), "Set X_KEY in the environment"),
        (lm15.UnsupportedModelError("no such model", status=404), "Check the model's name"),
        (lm15.RateLimitError("quota", status=429, provider_code="insufficient_quota"), "billing"),
    ],
    ids=lambda value: type(value).__name__ if isinstance(value, Exception) else "",
)
def test_call_that_can_never_succeed_stops_everything_at_once(error: lm15.LM15Error, says: str) -> None:
    backend = Scripted(fails(99, error))
    lm = make(backend)
    with pytest.raises(ServiceError, match=says):
        judge(lm, 1)
    with pytest.raises(ServiceError, match=says):  # also for an optimizer that swallowed the first
        judge(lm, 2)
    assert backend.attempts == 1
    assert client_of(lm).calls.stopped is not None


def test_service_that_answers_nothing_is_waited_for_and_then_stops_the_run() -> None:
    backend = Scripted(fails(sys.maxsize, lm15.ServerError("oops", status=503)))
    lm = make(backend, max_wait=MaxWait(0.2))
    began = time.monotonic()
    with pytest.raises(ServiceError, match="keeps failing"):
        judge(lm, 0)
    assert time.monotonic() - began >= 0.2
    tried = backend.attempts
    with pytest.raises(ServiceError, match="keeps failing"):
        judge(lm, 1)
    assert backend.attempts == tried


def test_service_that_comes_back_in_time_costs_no_call() -> None:
    backend = Scripted(fails(30, lm15.TransportError("reset")))
    lm = make(backend, max_wait=MaxWait(60), retries=Retries(4, first_seconds=1e-4, most_seconds=1e-3))
    assert judge(lm, 0).grade == 4


def test_any_number_of_bad_requests_after_an_answer_does_not_stop_the_run() -> None:
    bad = lm15.InvalidRequestError("too long", status=400)
    lm = make(Scripted(lambda number, request: REPLY if number == 1 else bad))
    assert judge(lm, 0).grade == 4
    for number in range(1, 30):
        with pytest.raises(dspy.utils.exceptions.LMInvalidRequestError):
            judge(lm, number)
    assert client_of(lm).calls.stopped is None


def test_budget_of_calls_is_never_passed_and_passes_dspy_unchanged(tmp_path: Path) -> None:
    backend = Scripted()
    with Journal(tmp_path / "journal.db") as journal:
        lm = make(backend, journal=journal, budget=Budget(calls=3))
        for number in (0, 1, 2, 1, 0):
            judge(lm, number)
        with pytest.raises(BudgetError, match="--budget: 3 calls made"):
            judge(lm, 3)
        assert backend.attempts == 3


def test_budget_resumed_from_the_journal_stops_where_an_uninterrupted_run_does(tmp_path: Path) -> None:
    backend = Scripted()
    with Journal(tmp_path / "journal.db") as journal:
        killed = make(backend, journal=journal, budget=Budget(calls=5))
        for number in range(3):
            judge(killed, number)
        resumed = make(backend, journal=journal, budget=Budget(calls=5))
        for number in range(5):
            judge(resumed, number)
        with pytest.raises(BudgetError):
            judge(resumed, 5)
    assert backend.attempts == 5


def test_call_cancelled_while_its_reply_is_written_holds_no_budget(tmp_path: Path) -> None:
    async def cancelled(client: JournaledClient, journal: Journal) -> list[object]:
        calls = [(client.plain(one.messages), client.digest(one.messages)) for one in requests(3)]
        tasks = [asyncio.create_task(client.calls.acall(*call, lambda: None)) for call in calls[:2]]
        for _ in range(2):  # asked, answered
            await asyncio.sleep(0)
        assert journal.select("SELECT COUNT(*) FROM replies") == [(0,)]
        tasks[0].cancel()
        said: list[object] = await asyncio.gather(*tasks, return_exceptions=True)
        return [*said, await asyncio.wait_for(client.calls.acall(*calls[2], lambda: None), 10)]

    with Journal(tmp_path / "journal.db") as journal:
        budget, usage = Budget(calls=3), Usage()
        said = asyncio.run(cancelled(client_of(make(Scripted(), journal=journal, budget=budget, usage=usage)), journal))
        assert [type(one).__name__ for one in said] == ["CancelledError", "Answered", "Answered"]
        assert len(journal) == 3
    assert budget.used[0] == usage.spent.calls == 3


def test_refused_attempts_cost_no_budget_but_lost_ones_do() -> None:
    refused = Scripted(fails(2, lm15.RateLimitError("slow down", status=429)))
    assert judge(make(refused, budget=Budget(calls=1)), 1).grade == 4
    lost = Scripted(fails(2, lm15.TransportError("reset after the request was sent")))
    with pytest.raises(BudgetError):
        judge(make(lost, budget=Budget(calls=2)), 1)


def test_open_lm_with_a_dollar_cap_and_no_list_price_is_refused() -> None:
    with pytest.raises(UserError, match="no list price for openai/private"):
        open_lm(LMSpec.parse("openai/private"), journal=None, budget=Budget(usd=1.0), usage=Usage())


def test_lm_that_is_copied_with_its_program_keeps_its_door() -> None:
    lm = make(Scripted())
    assert copy.deepcopy(lm).engine is lm.engine
    assert isinstance(lm.copy(temperature=1.0).engine, JournaledClient)
    with pytest.raises(TypeError):
        client_of(dspy.LM("openai/x"))


def test_retries_wait_doubles_within_its_jitter_and_honours_retry_after() -> None:
    error = lm15.ServerError("oops")
    low, high = Retries(jitter=lambda: 0.0), Retries(jitter=lambda: 1.0)
    assert [low.wait(error, n) for n in (1, 2, 3, 9)] == [0.5, 1.0, 2.0, 15.0]
    assert [high.wait(error, n) for n in (1, 2, 3, 9)] == [1.0, 2.0, 4.0, 30.0]
    assert low.wait(lm15.RateLimitError("slow down", retry_after=7.0), 1) == 7.0
    assert low.wait(lm15.RateLimitError("slow down", retry_after=600.0), 1) == 600.0
