"""A real process is killed at every step of its talk with a batch endpoint: nothing is lost, nothing is paid twice."""

from importlib.util import find_spec
from pathlib import Path

import pytest

from judgec.lm.journal.journal import Journal
from tests.service.batch_kills import Killer, KillPoint, every_step
from tests.service.fake_batches import FakeBatches
from tests.service.policies import BROKEN, first
from tests.verbs.cli.judging import KEY, rows, save_judge, write_items

LACKING = pytest.mark.skipif(find_spec("anthropic") is None, reason="NOT TESTED: anthropic is not installed")
MODELS = ["openai/fake", pytest.param("anthropic/fake", marks=LACKING)]


@pytest.fixture(autouse=True)
def keys(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    monkeypatch.setenv("ANTHROPIC_API_KEY", KEY)


def survives(home: Path, model: str, points: list[KillPoint], items: int, *, quick: bool) -> int:
    """Kill the same command at each point, then let it end; returns how often it was killed."""
    file = write_items(home / "items.jsonl", items)
    save_judge(home, lm={"model": model, "temperature": 0.0})
    killer = Killer()
    # Some calls fail at first, so that there is a second batch.
    with FakeBatches(first(5, BROKEN), hook=killer.hook, answered=killer.answered) as server:
        typed = [
            "judge",
            str(file),
            "--judge",
            "mine",
            "--home",
            str(home),
            "--out",
            str(home / "out.jsonl"),
            "--batch",
        ]
        for point in [*points, None]:
            code = killer.run([*typed, "--api-base", server.base_url], point, quick=quick)
        assert code == 0
        assert (server.paid, server.paid_twice, server.single) == (items, 0, 0)
    with Journal(home / ".judgec" / "journal.db") as journal:
        assert journal.select("SELECT COUNT(*), COUNT(DISTINCT digest) FROM replies") == [(items, items)]
        assert journal.select("SELECT COUNT(*) FROM batches WHERE state IN ('intended', 'created')") == [(0,)]
        assert journal.select("SELECT COUNT(*) FROM leases") == [(0,)]
    assert [row["unscored"] for row in rows(home)] == [None] * items
    return killer.kills


@pytest.mark.full
@pytest.mark.parametrize("model", MODELS)
def test_judge_killed_as_a_batch_is_created_and_read_pays_once(tmp_path: Path, model: str) -> None:
    points = [KillPoint("batches.create", "before"), KillPoint("batches.create", "after")]
    points += [KillPoint("batches.retrieve", "answered"), KillPoint("files.content", "answered")]
    assert survives(tmp_path, model, points, 30, quick=True) >= 3


@pytest.mark.soak
@pytest.mark.parametrize("model", MODELS)
def test_judge_killed_at_every_step_pays_once(tmp_path: Path, model: str) -> None:
    points = every_step(uploads=model.startswith("openai"))
    killed = survives(tmp_path, model, points, 30, quick=False)
    print(f"{model}: killed {killed} times of {len(points)}")
    assert killed >= len(points) - 3  # what is answered before the kill may be finished before death comes
