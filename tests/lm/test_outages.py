"""A bad percent costs itself, an outage is waited for, and a lost service ends with what there is."""

import json
import time
from pathlib import Path

import pytest

from judgec.errors import GateError, ServiceError
from judgec.lm.backend import Retries
from judgec.lm.executor import Executor, Reply
from judgec.lm.journal.journal import Journal
from judgec.lm.max_wait import MaxWait
from judgec.lm.watch import Silent
from judgec.verbs.judge_file import judged
from tests.lm.judging import connected, requests
from tests.service.fake_openai import FakeOpenAI
from tests.service.policies import BROKEN, Policy, good
from tests.service.replies import Call, Outcome, Reset, digest
from tests.verbs.cli.judging import KEY, request, rows, save_judge, write_items

QUICK = Retries(first_seconds=0.002, most_seconds=0.02, jitter=lambda: 1.0)


def poisoned(*numbers: int) -> Policy:
    """Items that always answer 500."""
    bad = {f"tower {number}?" for number in numbers}
    return lambda call: BROKEN if any(one in str(call.body) for one in bad) else good(call)


def ask(server: FakeOpenAI, count: int, *, wait: float = 30, journal: Journal | None = None) -> list[Reply]:
    lm = connected(server.base_url, journal=journal, retries=QUICK, max_wait=MaxWait(wait))
    return list(Executor(lm, in_flight=16).run(requests(count)))


@pytest.mark.parametrize("bad", [(3,), tuple(range(0, 200, 8)), (198, 199), tuple(range(100, 200))])
def test_items_that_always_fail_cost_themselves_wherever_they_stand(bad: tuple[int, ...]) -> None:
    with FakeOpenAI(poisoned(*bad)) as server:
        replies = ask(server, 200)
    assert {reply.key for reply in replies if reply.text is None} == set(bad)


def test_rerun_asks_an_item_that_failed_by_itself_once(tmp_path: Path) -> None:
    bad = tuple(range(0, 60, 6))
    with FakeOpenAI(poisoned(*bad)) as server, Journal(tmp_path / "journal.db") as journal:
        ask(server, 60, journal=journal)
        before = server.calls
        assert sum(reply.text is None for reply in ask(server, 60, journal=journal)) == len(bad)
        assert server.calls - before == len(bad)
    with FakeOpenAI("good") as mended, Journal(tmp_path / "journal.db") as journal:
        replies = ask(mended, 60, journal=journal)
    assert sum(reply.text is None for reply in replies) == 0


@pytest.mark.parametrize("fault", [BROKEN, Reset()])
def test_outage_in_the_middle_costs_no_item(fault: Outcome) -> None:
    down = {"since": 0.0}

    def policy(call: Call) -> Outcome:
        if call.number == 40:
            down["since"] = time.monotonic()
        return fault if call.number >= 40 and time.monotonic() < down["since"] + 0.5 else good(call)

    with FakeOpenAI(policy) as server:
        replies = ask(server, 150)
    assert sum(reply.text is None for reply in replies) == 0


def test_mixed_storm_costs_next_to_no_item() -> None:
    def policy(call: Call) -> Outcome:
        stormy = 40 <= call.number < 400 and digest("storm", str(call.number)) % 10 < 4
        return BROKEN if stormy else good(call)

    with FakeOpenAI(policy) as server:
        replies = ask(server, 150)
    assert sum(reply.text is None for reply in replies) <= 2  # four tries in ten fail: seldom all of one call


def test_service_that_is_lost_leaves_a_file_with_the_rest(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    monkeypatch.setattr("judgec.lm.client.Retries", lambda: QUICK)
    file = write_items(tmp_path / "items.jsonl", 200)
    save_judge(tmp_path)
    ill = True
    with FakeOpenAI(lambda call: BROKEN if ill and call.number > 80 else good(call)) as server:
        found = judged(request(tmp_path, file, server.base_url, max_wait=0.3), Silent())
        with pytest.raises(ServiceError, match="keeps failing"):
            found.require_some()
        said, asked = rows(tmp_path), server.calls
        ill = False
        again = judged(request(tmp_path, file, server.base_url), Silent())
        again.require_some()
        assert server.calls - asked == 121
    reasons = [str(row.get("unscored")) for row in said if row.get("unscored")]
    assert (len(said), len(said) - len(reasons)) == (200, 79)  # the preflight was one
    assert found.report["unscored"] == len(reasons) == found.tally.not_asked
    assert all("keeps failing" in reason for reason in reasons)
    assert again.unscored == 0


@pytest.mark.parametrize(("allowed", "refused"), [(None, False), (0.2, False), (0.05, True)])
def test_max_unscored_decides_where_given(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, allowed: float | None, refused: bool
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    monkeypatch.setattr("judgec.lm.client.Retries", lambda: QUICK)
    file = write_items(tmp_path / "items.jsonl", 40)
    save_judge(tmp_path)
    bad = {json.loads(line)["query"] for line in file.read_text().splitlines()[:4]}
    with FakeOpenAI(lambda call: BROKEN if any(one in str(call.body) for one in bad) else good(call)) as server:
        found = judged(request(tmp_path, file, server.base_url, max_unscored=allowed), Silent())
    assert (found.unscored, found.tally.failed, found.lost) == (4, 4, None)
    if refused:
        with pytest.raises(GateError, match="4 of 40 items"):
            found.require_some()
    else:
        found.require_some()
