"""``compile-judge --dry-run``: what the plan says before the first call, and that a compile keeps to it."""

import json
from pathlib import Path

import pytest

from judgec.lm.watch import Silent
from judgec.stats.agreement.objective import statistics_of
from judgec.verbs.compilation import plan_report
from judgec.verbs.compile_judge import compile_judge, planned
from judgec.verbs.options.compile_judge import CompileJudgeOptions
from tests.compile.small import write
from tests.service import grading_world
from tests.service.fake_openai import FakeOpenAI
from tests.verbs.cli.process import judgec_here

ROWS = grading_world.rows(60, per_query=2)


@pytest.mark.full
def test_dry_run_names_the_most_calls_that_the_folds_make(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "k")
    labels = str(write(tmp_path / "world.jsonl", ROWS))
    with FakeOpenAI("teachable") as server:
        asked = CompileJudgeOptions(
            labels=labels, home=tmp_path, lm="openai/fake", api_base=server.base_url, evidence=False,
            optimizer="labeled", budget=900,
        )  # fmt: skip
        plan = plan_report(*planned(asked, Silent())).data
        assert server.calls == 0
        report = compile_judge.run(asked, Silent()).report
        calls = server.calls
    assert plan["split"] == {"train": 0, "dev": 0, "test": 60, "folds": 5}
    stages = {stage["name"]: stage["calls"] for stage in plan["stages"]}  # type: ignore[attr-defined]  # a list of them
    assert stages["uncompiled judge"] == 60  # once, whatever the number of folds
    assert plan["calls"] == sum(stages.values())
    certain, at_most = dict(plan["certain"]), dict(plan["at_most"])  # type: ignore[call-overload]  # of calls, tokens, usd
    assert (certain["calls"], at_most["calls"]) == (60 + stages["preflight"], plan["calls"])
    assert report["lm_calls"] == calls
    assert 60 < calls <= int(str(plan["calls"])) <= 900
    folds, candidates = report["folds"], report["candidates"]
    assert isinstance(folds, list)
    assert isinstance(candidates, list)
    assert len(folds) == 5
    assert len(candidates) > 1  # the round that refits on all had room for a search, too


@pytest.mark.full
def test_stages_and_the_use_of_the_test_queries_are_said_before_anything_is_asked(tmp_path: Path) -> None:
    write(tmp_path / "t.jsonl", ROWS[:24])
    plans = []
    for _ in range(2):
        plans.append(json.loads(judgec_here(tmp_path, "compile-judge", "t.jsonl", "--dry-run", "--json").stdout))
        done = judgec_here(tmp_path, "compile-judge", "t.jsonl")
    assert [plan["test_use"] for plan in plans] == [1, 2]  # a plan is none
    said = [" ".join(line.split()) for line in done.stderr.splitlines()]
    for stage in ("labels t.jsonl", "split ", "calibrate ", "verify ", "track ", "test use 2 of", "Next: "):
        assert any(line.startswith(stage) for line in said), stage
    version = tmp_path / "programs/t/0002"
    more = json.loads((version / "report.json").read_text())["more_queries"]["sentence"]
    assert more in " ".join(said)
    assert f"{more[0].upper()}{more[1:]}." in (version / "report.html").read_text()
    card = json.loads((version / "card.json").read_text())
    assert (card["cost"]["lm_calls"], card["cost"]["usd"], card["looks"]) == (0, 0.0, 2)


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
