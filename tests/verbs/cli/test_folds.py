"""``judgec compile-judge`` on thirty queries as a user runs it: folds, their price, the sentences."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from judgec.lm.watch import Silent
from judgec.verbs.compilation import plan_report
from judgec.verbs.compile_judge import compile_judge, planned
from judgec.verbs.options.compile_judge import CompileJudgeOptions
from tests.compile.small import write
from tests.service import grading_world
from tests.service.fake_openai import FakeOpenAI
from tests.verbs.cli.process import judgec

ROWS = grading_world.rows(60, per_query=2)
Json = dict[str, Any]  # a report


@pytest.fixture(scope="module")
def server() -> Iterator[FakeOpenAI]:
    with FakeOpenAI("teachable") as running:
        yield running


def request(home: Path, server: FakeOpenAI, **options: object) -> CompileJudgeOptions:
    labels = write(home / "world.jsonl", ROWS)
    given: Json = {
        "lm": "openai/fake",
        "api_base": server.base_url,
        "evidence": False,
        "optimizer": "labeled",
        **options,
    }
    return CompileJudgeOptions(labels=str(labels), home=home, **given)


@pytest.mark.full
def test_compile_without_a_model_of_thirty_queries_tests_all_of_them_and_says_what_more_would_show(
    tmp_path: Path,
) -> None:
    write(tmp_path / "world.jsonl", ROWS)
    done = judgec(tmp_path, "compile-judge", "world.jsonl")
    first, second = (tmp_path / "programs" / name / "0001" for name in ("world", "b"))
    report = json.loads((first / "report.json").read_text())
    assert report["split"] == {"train": 0, "dev": 0, "test": 60, "folds": 5}
    sentence = report["more_queries"]["sentence"]
    assert "a difference of .08" in sentence
    assert f"{sentence[0].upper()}{sentence[1:]}." in (first / "report.html").read_text()
    assert sentence in done.stderr
    judgec(tmp_path, "compile-judge", "world.jsonl", "--name", "b", "--json")
    assert json.loads((second / "card.json").read_text())["looks"] == 2
    split = [json.loads((folder / "split.json").read_text())["folds"] for folder in (first, second)]
    assert split[0] == split[1]


def test_single_split_of_thirty_queries_warns(tmp_path: Path, server: FakeOpenAI) -> None:
    report = compile_judge.run(
        request(tmp_path, server, lm="embedded", optimizer="auto", evidence=True, api_base=None, folds=1), Silent()
    ).report
    assert report["split"] == {"train": 30, "dev": 12, "test": 18}
    notes = report["notes"]
    assert isinstance(notes, list)
    assert any("9 test queries, below 10 no judge is promoted" in note for note in notes)


@pytest.mark.full
@pytest.mark.parametrize("budget", [None, 900])
def test_dry_run_names_the_most_calls_that_the_folds_make(
    tmp_path: Path, server: FakeOpenAI, monkeypatch: pytest.MonkeyPatch, budget: int | None
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "k")
    asked = request(tmp_path, server, budget=budget)
    before = server.calls
    plan = plan_report(*planned(asked, Silent())).data
    assert server.calls == before
    assert plan["split"] == {"train": 0, "dev": 0, "test": 60, "folds": 5}
    stages = {stage["name"]: stage["calls"] for stage in plan["stages"]}  # type: ignore[attr-defined]  # a list of them
    assert stages["uncompiled judge"] == 60  # once, whatever the number of folds
    assert plan["calls"] == sum(stages.values())
    report = compile_judge.run(asked, Silent()).report
    calls = server.calls - before
    assert report["lm_calls"] == calls
    assert 60 < calls <= int(str(plan["calls"]))
    if budget is not None:
        assert calls <= budget
    more = report["more_queries"]
    assert isinstance(more, dict)
    assert more["sentence"].endswith("would show a difference of .08") is bool(more["queries"])
    folds, candidates = report["folds"], report["candidates"]
    assert isinstance(folds, list)
    assert isinstance(candidates, list)
    assert len(folds) == 5
    assert len(candidates) > 1  # the round that refits on all had room for a search, too
