"""The command killed at random moments, again and again, ends as if nothing had happened."""

import contextlib
import json
import os
import random
import sqlite3
import subprocess
import sys
import time
from contextlib import closing
from pathlib import Path

import pytest

from tests.service.fake_openai import FakeOpenAI
from tests.service.ranking_world import grader, rows

ROOT = Path(__file__).parents[2]
LATENCY = 0.02  # seconds a reply, so that calls are in flight when the process dies
THIS_RUN = ("lm_calls", "cost_usd", "seconds", "mlflow_run_id")


def start(labels: Path, server: FakeOpenAI, home: Path) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [
            *(sys.executable, str(ROOT / "cli.py"), "compile-judge", str(labels), "--json", "--home", str(home)),
            *("--lm", "openai/fake", "--api-base", server.base_url, "--budget", "900", "--name", "killed"),
        ],
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
        env={**os.environ, "MLFLOW_TRACKING_URI": f"sqlite:///{home.parent}/mlflow.db"},
    )


def report(process: subprocess.Popen[str]) -> dict[str, object]:
    out, _ = process.communicate(timeout=600)
    assert process.returncode == 0
    said: dict[str, object] = json.loads(out)
    return {key: value for key, value in said.items() if key not in THIS_RUN}


def wait_for_calls(process: subprocess.Popen[str], server: FakeOpenAI, answered: int) -> None:
    """Until the server has answered so many calls, or the process has ended."""
    while server.answered < answered and process.poll() is None:
        try:
            process.wait(timeout=0.005)
        except subprocess.TimeoutExpired:
            continue


def journaled(home: Path) -> tuple[int, int]:
    """Rows in the journal, and how many different calls they are."""
    path = home / ".judgec" / "journal.db"
    if not path.is_file():
        return 0, 0
    with closing(sqlite3.connect(path)) as db, db:
        found: tuple[int, int] = db.execute("SELECT COUNT(*), COUNT(DISTINCT digest) FROM replies").fetchone()
    return found


def content(home: Path) -> dict[str, object]:
    """What a family holds, without times and costs, and the seal over these."""
    family = home / "programs" / "killed"
    timed = {"card.json", "report.json", "manifest.json"}
    files = sorted(path for path in family.rglob("*.json") if path.name not in timed)
    return {str(path.relative_to(family)): json.loads(path.read_text()) for path in files}


@pytest.mark.parametrize(
    ("homes", "kills"), [pytest.param(1, 3, marks=pytest.mark.full), pytest.param(5, 4, marks=pytest.mark.soak)]
)
def test_command_killed_at_random_moments_ends_the_same_and_pays_no_finished_call_twice(
    tmp_path: Path, homes: int, kills: int
) -> None:
    labels = tmp_path / "world.jsonl"
    labels.write_text("".join(json.dumps(row) + "\n" for row in rows(120, seed=3)))
    (tmp_path / "world.datasheet.toml").write_text('task = "grade"\n[scale]\ngrades = [1, 2, 3, 4, 5]\naccept_at = 4\n')
    with FakeOpenAI(grader, latency=LATENCY) as server:
        whole = report(start(labels, server, tmp_path / "whole" / "home"))
        calls, bodies = server.answered, len(server._seen)
        kept, _ = journaled(tmp_path / "whole" / "home")
        assert kept >= bodies  # preflights are journaled too; the server does not count them among the bodies
        assert server.paid_twice == 0
        expected = content(tmp_path / "whole" / "home")
        port = server.base_url.rsplit(":", 1)[1].split("/")[0]
    chance = random.Random(0)
    for number in range(homes):
        home = tmp_path / str(number) / "home"
        with FakeOpenAI(grader, latency=LATENCY, port=int(port)) as server:
            lost = 0
            for moment in sorted(chance.uniform(0, 1.1) for _ in range(kills)):  # some after the last call
                process = start(labels, server, home)
                wait_for_calls(process, server, int(min(moment, 1) * calls))
                if moment > 1:
                    with contextlib.suppress(subprocess.TimeoutExpired):
                        process.wait(timeout=30 * (moment - 1))
                process.kill()
                process.communicate()
                while server.in_flight:  # it still answers what a dead client asked
                    time.sleep(0.005)
                lost = server.answered - journaled(home)[0]  # answered, but not finished
            assert report(start(labels, server, home)) == whole
            rows_, distinct = journaled(home)
            assert rows_ == distinct == kept
            assert len(server._seen) == bodies
            assert server.paid_twice <= lost
            assert server.answered == calls + server.paid_twice
        assert content(home) == expected
