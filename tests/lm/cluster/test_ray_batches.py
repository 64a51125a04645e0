"""Parcels of calls, with workers in this process: what Ray carries, without Ray."""

import pickle
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from dspy import lm15
from dspy.lm15 import Request as Asked
from dspy.lm15 import Response

from judgec.errors import ServiceError
from judgec.lm.backend import Retries, unreachable
from judgec.lm.client import open_lm, preflight
from judgec.lm.cluster.ray import Attempts, Failure, RayBatches
from judgec.lm.endpoint.exchange import Completion, Plain
from judgec.lm.executor import Executor
from judgec.lm.journal.journal import Journal
from judgec.lm.spec import LMSpec
from judgec.lm.usage import Budget, Usage
from tests.lm.backends import Scripted, fails
from tests.lm.judging import REPLY, requests

SPEC = LMSpec(model="openai/fake", api_base="http://127.0.0.1:1/v1")


_loads = pickle.loads


class Carried:
    """A worker behind a wire: everything is pickled both ways; some parcels are lost."""

    def __init__(self, backend: Scripted, lost: int = 0) -> None:
        self.attempts = Attempts(backend)
        self.ray_batches: list[int] = []
        self.lost = lost

    async def answer(self, asked: Sequence[Plain]) -> list[Completion | Failure]:
        self.ray_batches.append(len(asked))
        if len(self.ray_batches) <= self.lost:
            raise OSError("the worker is gone")
        replies: list[Completion | Failure] = _loads(
            pickle.dumps(await self.attempts.answer(_loads(pickle.dumps(asked))))
        )
        return replies

    async def complete(self, request: Asked) -> Response | Failure:
        reply: Response | Failure = _loads(pickle.dumps(await self.attempts.complete(request)))
        return reply


def executor(
    workers: Sequence[Carried], *, size: int, in_flight: int, journal: Journal | None, usage: Usage
) -> Executor:
    lm = open_lm(
        SPEC,
        journal=journal,
        budget=Budget(),
        usage=usage,
        backend=RayBatches(workers, size, SPEC.api_base or ""),
        retries=Retries(first_seconds=0.001, most_seconds=0.001),
    )
    return Executor(lm, in_flight=in_flight)


def test_calls_travel_in_full_parcels_to_every_worker_and_are_the_same_calls_to_the_journal(tmp_path: Path) -> None:
    backend, usage = Scripted(), Usage()
    workers = [Carried(backend), Carried(backend)]
    with Journal(tmp_path / "j.db") as journal:
        run = executor(workers, size=50, in_flight=200, journal=journal, usage=usage).run
        replies = list(run(requests(600)))
        here = open_lm(SPEC, journal=journal, budget=Budget(), usage=usage)  # nobody listens there
        assert all(reply.cached for reply in Executor(here).run(requests(600)))
    assert sorted(int(reply.key) for reply in replies) == list(range(600))
    assert {reply.text for reply in replies} == {REPLY}
    assert (backend.attempts, usage.spent.calls) == (600, 600)
    assert all(sum(worker.ray_batches) >= 100 for worker in workers)
    assert max(size for worker in workers for size in worker.ray_batches) == 50


def test_runs_side_by_side_keep_their_parcels_apart() -> None:
    """Jurors share a model and its workers, each on an event loop of its own."""
    backend = Scripted()
    shared = executor([Carried(backend)], size=7, in_flight=20, journal=None, usage=Usage())

    def run(rollout: int) -> list[int]:
        return sorted(int(reply.key) for reply in shared.run(requests(150, rollout=rollout)) if reply.text == REPLY)

    with ThreadPoolExecutor(3) as threads:
        assert list(threads.map(run, range(3))) == [list(range(150))] * 3
    assert backend.attempts == 450


def test_lost_parcel_is_asked_again_by_whoever_asked() -> None:
    backend = Scripted()
    replies = list(
        executor([Carried(backend, lost=2)], size=10, in_flight=10, journal=None, usage=Usage()).run(requests(10))
    )
    assert [reply.error for reply in replies] == [None] * 10
    assert backend.attempts == 10


def test_failures_of_one_call_stay_its_own_and_are_retried_here() -> None:
    limited = lm15.RateLimitError("slow down", status=429)
    limited.retry_after = 0.001
    backend = Scripted(fails(3, limited))
    workers = [Carried(backend)]
    replies = list(executor(workers, size=20, in_flight=20, journal=None, usage=Usage()).run(requests(20)))
    assert [reply.error for reply in replies] == [None] * 20
    assert backend.attempts == 23


def test_preflight_is_made_by_a_worker_and_says_what_the_worker_saw() -> None:
    backend = Scripted()
    lm = executor([Carried(backend)], size=5, in_flight=5, journal=None, usage=Usage()).lm
    preflight(lm)
    assert backend.attempts == 1
    error = lm15.TransportError("cannot connect")
    error.__cause__ = ConnectionRefusedError()
    backend.act = lambda number, request: error
    with pytest.raises(ServiceError, match="nobody answers"):
        preflight(lm)


@pytest.mark.parametrize(
    "error",
    [
        lm15.RateLimitError("slow down", status=429, provider_code="insufficient_quota", retry_after=2.5),
        lm15.AuthError("no", status=401),
        lm15.ProviderError("not JSON", status=200, rate_limit_headers={"x": ["y"]}),
        lm15.TransportError("broken"),
    ],
)
def test_failure_unpacks_as_the_error_it_was(error: Exception) -> None:
    again = _loads(pickle.dumps(Failure.of(error))).unpacked()
    assert type(again) is type(error)
    assert str(again) == str(error)
    for name in ("status", "provider_code", "retry_after", "env_keys"):
        assert getattr(again, name, None) == getattr(error, name, None)
    assert not unreachable(again)
