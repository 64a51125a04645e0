"""``compile-judge --dry-run`` and the refusals before the first call, as a real process against the fake endpoint."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

from judgec.stats.agreement.objective import statistics_of
from tests.service.fake_openai import FakeOpenAI
from tests.service.ranking_world import grader, rows

ROOT = Path(__file__).parents[2]


@pytest.fixture
def labels(tmp_path: Path) -> Path:
    path = tmp_path / "world.jsonl"
    path.write_text("".join(json.dumps(row) + "\n" for row in rows(90)))
    return path


def judgec(*arguments: str, cwd: Path) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, str(ROOT / "cli.py"), "compile-judge", *arguments]
    return subprocess.run(command, capture_output=True, text=True, check=False, cwd=cwd, timeout=240)


def test_dry_run_makes_no_request_writes_nothing_and_prints_one_json_object(labels: Path, tmp_path: Path) -> None:
    home = tmp_path / "home"
    with FakeOpenAI(grader) as server:
        done = judgec(
            *(str(labels), "--lm", "openai/gpt-4o-mini", "--api-base", server.base_url, "--home", str(home)),
            *("--dry-run", "--json", "--budget", "900"),
            cwd=tmp_path,
        )
        assert server.calls == 0
    assert done.returncode == 0, done.stderr
    plan = json.loads(done.stdout)
    assert not home.exists()
    assert plan["calls"] == sum(stage["calls"] for stage in plan["stages"]) <= 900
    assert plan["tokens"] > 90 * 100
    assert plan["usd"] > 0
    assert {"name": "uncompiled judge", "calls": 90}.items() <= plan["stages"][1].items()


@pytest.mark.parametrize(
    ("objective", "shown"),
    [
        ("accept", ["accept_agreement"]),
        ("0.5*tau_b+accept", ["tau_b", "accept_agreement"]),
        ("balanced_accuracy+qwk", ["qwk"]),
        ("balanced_accuracy", ["exact"]),
    ],
)
def test_statistics_of_an_objective_are_those_that_the_report_has(objective: str, shown: list[str]) -> None:
    assert statistics_of(objective) == shown


def test_optimizer_that_needs_a_model_is_refused_with_the_embedded_engine(labels: Path, tmp_path: Path) -> None:
    done = judgec(str(labels), "--optimizer", "gepa", "--home", str(tmp_path / "home"), cwd=tmp_path)
    assert done.returncode == 2
    assert "--optimizer gepa: it rewrites instructions" in done.stderr
    assert done.stdout == ""
