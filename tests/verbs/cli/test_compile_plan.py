"""``compile-judge --dry-run`` and the refusals before the first call, as a real process against the fake endpoint."""

import json
from pathlib import Path

import pytest

from judgec.stats.agreement.objective import statistics_of
from tests.service.fake_openai import FakeOpenAI
from tests.service.ranking_world import grader, rows
from tests.verbs.cli.process import judgec


@pytest.fixture
def labels(tmp_path: Path) -> Path:
    path = tmp_path / "world.jsonl"
    path.write_text("".join(json.dumps(row) + "\n" for row in rows(90)))
    return path


def test_dry_run_makes_no_request_writes_nothing_and_prints_one_json_object(labels: Path, tmp_path: Path) -> None:
    home = tmp_path / "home"
    with FakeOpenAI(grader) as server:
        done = judgec(
            tmp_path,
            *(
                "compile-judge",
                labels,
                "--lm",
                "openai/gpt-4o-mini",
                "--api-base",
                server.base_url,
                "--home",
                str(home),
            ),
            *("--dry-run", "--json", "--budget", "900"),
        )
        assert server.calls == 0
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


def test_optimizer_is_refused_without_a_model(labels: Path, tmp_path: Path) -> None:
    done = judgec(tmp_path, "compile-judge", labels, "--optimizer", "gepa", "--home", tmp_path / "home", code=2)
    assert done.returncode == 2
    assert "--optimizer gepa: no model is named" in done.stderr
    assert done.stdout == ""
