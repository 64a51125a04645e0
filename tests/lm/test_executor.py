import asyncio
import gc
import os
import random
import signal
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from weakref import WeakValueDictionary

import dspy
import pytest
from dspy import lm15

from judgec.errors import BudgetError, ServiceError
from judgec.lm.executor import (
    CHUNK,
    COLLECT_EVERY,
    HAND_OVER,
    IN_FLIGHT,
    Executor,
    Progress,
    Reply,
    Request,
    _runs,
    _Window,
)
from judgec.lm.journal.journal import Journal
from judgec.lm.max_wait import MaxWait
from judgec.lm.session import Session
from judgec.lm.spec import LMSpec
from judgec.lm.usage import Budget, Usage
from tests.lm.backends import Scripted, fails
from tests.lm.judging import REPLY, requests
from tests.lm.test_client import make
from tests.service.fake_openai import FakeOpenAI


def test_run_answers_every_request_once_and_again_from_the_journal(tmp_path: Path) -> None:
    backend, usage = Scripted(), Usage()
    with Journal(tmp_path / "journal.db") as journal:
        lm = make(backend, journal=journal, usage=usage)
        first = list(Executor(lm, in_flight=7).run(requests(600)))
        again = list(Executor(lm, in_flight=7).run(requests(600)))
    assert backend.attempts == 600
    assert sorted(reply.key for reply in first) == list(range(600))
    assert [reply.cached for reply in first] == [False] * 600
    assert [(reply.key, reply.text, reply.cached) for reply in again] == [(n, REPLY, True) for n in range(600)]
    assert (usage.spent.calls, usage.spent.journaled) == (600, 600)


def test_run_searches_for_cycles_seldom_and_leaves_the_threshold_as_it_was() -> None:
    seen = set[int]()

    def act(_number: int, _request: object) -> str:
        seen.add(gc.get_threshold()[0])
        return REPLY

    outside = gc.get_threshold()
    gc.set_threshold(700, *outside[1:])  # as Python has it, whatever commands ran in this process
    before = gc.get_threshold()
    try:
        one, other = Executor(make(Scripted(act))).run(requests(9)), Executor(make(Scripted(act))).run(requests(9))
        next(one)
        next(other)
        one.close()
        still = gc.get_threshold()
        list(other)
        assert gc.get_threshold() == before
    finally:
        gc.set_threshold(*outside)
    assert seen == {COLLECT_EVERY}
    assert still == (COLLECT_EVERY, *before[1:])


def test_run_leaves_a_search_for_cycles_off_that_is_off() -> None:
    before = gc.get_threshold()
    gc.set_threshold(0, *before[1:])
    try:
        list(Executor(make(Scripted())).run(requests(3)))
        assert gc.get_threshold() == (0, *before[1:])
    finally:
        gc.set_threshold(*before)


def test_run_gives_failed_calls_back_with_their_reason() -> None:
    def act(number: int, request: object) -> str | Exception:
        return lm15.InvalidRequestError("too long", status=400) if number % 3 == 0 else REPLY

    backend = Scripted(act)
    seen: list[Progress] = []
    replies = list(Executor(make(backend)).run(requests(9), total=9, on_done=seen.append))
    failed = [reply for reply in replies if reply.text is None]
    assert len(failed) == 3
    assert all(reply.error == "InvalidRequestError: too long (HTTP 400)" for reply in failed)
    assert (seen[-1].done, seen[-1].total, seen[-1].unscored, seen[-1].spent.calls) == (9, 9, 3, 6)


def test_run_with_rollouts_asks_the_same_prompt_again(tmp_path: Path) -> None:
    backend = Scripted()
    with Journal(tmp_path / "journal.db") as journal:
        lm = make(backend, journal=journal)
        for rollout in (None, 0, 1, 0, None):
            list(Executor(lm).run(requests(2, rollout=rollout)))
    assert backend.attempts == 6


def test_run_with_equal_requests_pays_for_one(tmp_path: Path) -> None:
    backend = Scripted()
    same = [Request(n, requests(1)[0].messages) for n in range(50)]
    with Journal(tmp_path / "journal.db") as journal:
        replies = list(Executor(make(backend, journal=journal)).run(same))
    assert backend.attempts == 1
    assert sorted(reply.key for reply in replies) == list(range(50))
    assert sum(not reply.cached for reply in replies) == 1


def test_run_over_budget_hands_over_what_is_finished_then_stops(tmp_path: Path) -> None:
    backend = Scripted()
    done: list[Reply] = []
    with Journal(tmp_path / "journal.db") as journal:
        run = Executor(make(backend, journal=journal, budget=Budget(calls=10)), in_flight=4).run(requests(40))
        with pytest.raises(BudgetError):  # noqa: PT012 - what came before the error is kept
            for reply in run:
                done.append(reply)  # noqa: PERF402 - likewise
        assert len(journal) == len(done) == 10
    assert backend.attempts == 10


def test_run_with_a_refused_key_stops_after_the_calls_in_flight() -> None:
    backend = Scripted(fails(99, lm15.AuthError("wrong key", status=401)))
    with pytest.raises(ServiceError, match="refused the key"):
        list(Executor(make(backend), in_flight=3).run(requests(50)))
    assert backend.attempts <= 3


def test_run_reads_requests_only_as_they_are_needed(tmp_path: Path) -> None:
    read = 0

    def endless() -> Iterator[Request]:
        nonlocal read
        messages = requests(1)[0].messages
        while True:
            read += 1
            yield Request(read, [*messages[:-1], {"role": "user", "content": str(read)}])

    backend = Scripted()
    run = Executor(make(backend), in_flight=8).run(endless())
    assert len([next(run) for _ in range(1000)]) == 1000
    run.close()
    assert read <= 1000 + 2 * 256


def test_run_left_early_journals_what_was_in_flight(tmp_path: Path) -> None:
    backend = Scripted()
    with Journal(tmp_path / "journal.db") as journal:
        run = Executor(make(backend, journal=journal), in_flight=16).run(requests(100))
        next(run)
        run.close()
        assert len(journal) == backend.attempts < 100


def test_run_interrupted_by_ctrl_c_journals_what_was_in_flight_and_resumes(tmp_path: Path) -> None:
    def act(number: int, request: object) -> str | Exception:
        if number == 30:
            os.kill(os.getpid(), signal.SIGINT)
        return REPLY

    backend = Scripted(act)
    with Journal(tmp_path / "journal.db") as journal:
        lm = make(backend, journal=journal)
        with pytest.raises(KeyboardInterrupt):
            list(Executor(lm, in_flight=8).run(requests(200)))
        assert 30 <= len(journal) == backend.attempts < 200
        assert len(list(Executor(lm, in_flight=8).run(requests(200)))) == 200
    assert backend.attempts == 200


def _interrupt() -> None:
    os.kill(os.getpid(), signal.SIGINT)


def test_ctrl_c_when_a_step_is_done_lets_the_callback_finish_and_is_raised_after_it() -> None:
    through: list[str] = []

    def callback() -> None:
        _interrupt()
        through.append("to the end")

    async def step() -> list[Reply]:
        asyncio.get_running_loop().call_soon(callback)  # runs when the step is done and the loop not yet at rest
        return []

    async def after() -> list[Reply]:
        await asyncio.sleep(0)
        return [Reply(key=1, text=REPLY)]

    with asyncio.Runner() as runner, _runs(runner) as run:
        with pytest.raises(KeyboardInterrupt):
            run(step())
        assert through == ["to the end"]
        assert len(run(after())) == 1  # the loop works on, for what is in flight
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler


def test_ctrl_c_as_a_loop_is_about_to_start_is_no_cancelled_error(monkeypatch: pytest.MonkeyPatch) -> None:
    installed = signal.signal

    def signal_then_interrupt(signum: int, handler: Callable[..., object]) -> object:
        before = installed(signum, handler)
        if handler is not signal.default_int_handler:
            _interrupt()
        return before

    async def step() -> list[Reply]:
        await asyncio.sleep(3600)
        return []

    with asyncio.Runner() as runner, _runs(runner) as run:
        monkeypatch.setattr(signal, "signal", signal_then_interrupt)
        with pytest.raises(KeyboardInterrupt):
            run(step())
        monkeypatch.undo()


def test_ctrl_c_twice_while_a_step_runs_is_one_interrupt_and_a_cancelled_step_stays_one() -> None:
    async def step() -> list[Reply]:
        _interrupt()
        _interrupt()
        await asyncio.sleep(3600)
        return []

    async def cancelled() -> list[Reply]:
        raise asyncio.CancelledError

    with asyncio.Runner() as runner, _runs(runner) as run:
        with pytest.raises(KeyboardInterrupt):
            run(step())
        with pytest.raises(asyncio.CancelledError):
            run(cancelled())


def test_run_left_early_does_not_wait_for_calls_that_were_told_to_wait(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("judgec.lm.executor.GRACE_SECONDS", 240.0)  # so long that a busy machine is told from waiting

    def act(number: int, request: object) -> str | Exception:
        slow: Exception = lm15.RateLimitError("slow", status=429, retry_after=250.0)
        return slow if number % 2 else REPLY

    backend, budget = Scripted(act), Budget(calls=100)
    with Journal(tmp_path / "journal.db") as journal:
        lm = make(backend, journal=journal, budget=budget)
        run = Executor(lm, in_flight=6).run(requests(100))
        next(run)
        before = time.monotonic()
        run.close()
        assert time.monotonic() - before < 120
        assert len(journal) == backend.attempts // 2 == budget.used[0]
        backend.act = lambda number, request: REPLY
        assert len(list(Executor(lm).run(requests(100)))) == 100  # the calls that were left hold no budget


def test_kept_connections_serve_the_next_run_and_closed_ones_fail_no_call(tmp_path: Path) -> None:
    with FakeOpenAI("good", latency=0.01) as server:
        spec = LMSpec.parse("openai/fake", api_base=server.base_url)
        with Session(spec, tmp_path, in_flight=8, environ={"OPENAI_API_KEY": "sk-1"}) as session:
            for number in range(4):
                asked = requests(20 * (number + 1))[20 * number :]
                assert [reply.error for reply in session.ask(asked)] == [None] * 20
            assert server.connections <= 8
            server.away(0)  # all are closed while nobody looks
            assert [reply.error for reply in session.ask(requests(100)[80:])] == [None] * 20
        assert (server.calls, session.spent.calls) == (100, 100)
        assert server.connections <= 16


def test_run_inside_a_running_loop_works_as_in_a_notebook() -> None:
    async def cell() -> int:
        return len(list(Executor(make(Scripted())).run(requests(20))))

    assert asyncio.run(cell()) == 20


def test_run_prompt_that_is_no_unicode_is_one_failed_call() -> None:
    bad = Request("bad", [{"role": "user", "content": "\ud800"}])
    replies = {reply.key: reply for reply in Executor(make(Scripted())).run([*requests(3), bad])}
    assert len(replies) == 4
    assert "not valid Unicode" in str(replies["bad"].error)
    assert [replies[n].text for n in range(3)] == [REPLY] * 3


def test_run_memory_does_not_grow_with_the_number_of_requests(tmp_path: Path) -> None:
    """Counts what is alive, of new calls and of journaled ones: peaks of memory depend on how replies are grouped."""

    class Tracked(Request):  # with a __dict__, and so with weak references
        pass

    messages, count = requests(1)[0].messages, 2400
    alive = WeakValueDictionary[int, Request]()
    most_requests = most_replies = 0

    def source() -> Iterator[Request]:
        nonlocal most_requests
        for number in range(count):
            alive[number] = request = Tracked(number, [*messages[:-1], {"role": "user", "content": str(number)}])
            most_requests = max(most_requests, len(alive))
            yield request

    backend = Scripted()
    with Journal(tmp_path / "journal.db") as journal:
        executor = Executor(make(backend, journal=journal))
        gc.freeze()  # what other tests have left is not looked at
        try:
            for cached in (False, True):
                for done, reply in enumerate(executor.run(source()), 1):
                    assert reply.cached == cached
                    if done % 400 == 0:
                        most_replies = max(most_replies, sum(type(thing) is Reply for thing in gc.get_objects()))
        finally:
            gc.unfreeze()
    assert backend.attempts == count
    assert most_requests <= IN_FLIGHT + 3 * CHUNK  # in flight, waiting, and the last chunk that was read
    assert most_replies <= IN_FLIGHT + HAND_OVER + CHUNK


def test_run_in_flight_never_passes_the_limit() -> None:
    class Counting(Scripted):
        now = most = 0

        async def acomplete(self, request: dspy.lm15.Request) -> dspy.lm15.Response:
            self.now += 1
            self.most = max(self.most, self.now)
            await asyncio.sleep(0)
            self.now -= 1
            return self.complete(request)

    backend = Counting()
    list(Executor(make(backend), in_flight=5).run(requests(60)))
    assert backend.most == 5


def test_run_asks_its_source_again_as_long_as_replies_come_in(tmp_path: Path) -> None:
    """A source that has nothing at the moment, and something when replies have been read."""
    queue, made = requests(12), 0

    class Source:
        def __iter__(self) -> Iterator[Request]:
            return self

        def __next__(self) -> Request:
            nonlocal made
            if made >= len(queue) or made > len(seen) + 2:
                raise StopIteration
            made += 1
            return queue[made - 1]

    backend = Scripted()
    seen: list[int] = []
    executor = Executor(make(backend), in_flight=4)
    while made < len(queue):  # it may end whenever nothing is in flight
        for reply in executor.run(Source()):
            seen.append(int(reply.key))  # noqa: PERF401 - the source looks at it meanwhile
    assert sorted(seen) == list(range(12))
    assert backend.attempts == 12


def test_run_slow_call_does_not_hold_up_the_replies_of_others() -> None:
    class Slow(Scripted):
        released: asyncio.Event

        async def acomplete(self, request: dspy.lm15.Request) -> dspy.lm15.Response:
            reply = self.complete(request)
            if self.attempts == 1:
                self.released = asyncio.Event()
                await self.released.wait()
            elif self.attempts == 20:
                self.released.set()
            await asyncio.sleep(0)
            return reply

    keys = [reply.key for reply in Executor(make(Slow()), in_flight=3).run(requests(30))]
    assert sorted(keys, key=int) == list(range(30))
    assert keys.index(0) >= 15


def test_somebody_is_told_when_no_reply_comes(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("judgec.lm.executor.QUIET_SECONDS", 0.02)
    told: list[str] = []

    class Mute(Scripted):
        twice = asyncio.Event()

        async def acomplete(self, request: dspy.lm15.Request) -> dspy.lm15.Response:
            await self.twice.wait()
            return self.complete(request)

    def say(text: str) -> None:
        told.append(text)
        if len(told) > 1:
            Mute.twice.set()

    lm = make(Mute(), max_wait=MaxWait(say=say))
    assert len(list(Executor(lm, in_flight=4).run(requests(4)))) == 4
    assert told[:2] == ["no reply for 0 s, 4 calls wait (hosted_vllm/scripted at localhost:8000)"] * 2


def test_window_halves_once_per_storm_and_recovers() -> None:
    now = 0.0
    window = _Window(32, lambda: now)
    for _ in range(10):  # ten replies of one storm
        window.throttled()
    assert window.size == 16
    now = 2.0
    window.throttled()
    assert window.size == 8
    for _ in range(8 + 9):  # a call more for each window of successes
        window.succeeded()
    assert 9 <= window.size <= 10
    for _ in range(2000):
        window.succeeded()
    assert window.size == 32


def test_threads_and_executor_at_once_pay_each_call_once(tmp_path: Path) -> None:
    backend = Scripted()
    with Journal(tmp_path / "journal.db") as journal:
        lm = make(backend, journal=journal)
        runs = [threading.Thread(target=lambda: list(Executor(lm).run(requests(120)))) for _ in range(3)]
        for run in runs:
            run.start()
        for run in runs:
            run.join(120)
    assert backend.attempts == 120


def test_threads_and_executors_with_twins_that_fail_pay_for_no_reply_twice(tmp_path: Path) -> None:
    chance, paid, asked = random.Random(0), Counter[str](), requests(60)

    def act(number: int, request: lm15.Request) -> str | Exception:
        failed: Exception = lm15.InvalidRequestError("too long", status=400)
        if chance.random() < 0.2:
            return failed
        paid[request.messages[-1].text or ""] += 1
        return REPLY

    def ask(lm: dspy.LM, seed: int) -> None:
        chosen = random.Random(seed).choices(asked, k=240)
        run = Executor(lm, in_flight=1 + 7 * seed).run(chosen)
        for count, _ in enumerate(run, 1):
            if seed == 1 and count == 100:
                run.close()

    backend, budget = Scripted(act), Budget(calls=1000)
    with Journal(tmp_path / "journal.db") as journal:
        lm = make(backend, journal=journal, budget=budget)
        runs = [threading.Thread(target=ask, args=(lm, seed)) for seed in range(5)]
        for run in runs:
            run.start()
        for run in runs:
            run.join(120)
        assert journal.select("SELECT COUNT(*), COUNT(DISTINCT digest) FROM replies") == [(60, 60)]
    assert set(paid.values()) == {1}
    assert budget.used[0] == len(paid) == 60
