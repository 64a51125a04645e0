"""A compiled judge's prompt on another model: found by its text, not worse by a margin, with both costs."""

import shutil
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

import judgec
from judgec.errors import UserError
from tests.compile.recorded_world import Rows, labels, verdicts
from tests.compile.small import write
from tests.service import grading_world
from tests.service.fake_openai import FakeOpenAI

CHEAP = {"mini/odd": 0.001, "mini/off": 0.001}


@pytest.fixture(scope="module")
def first_home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Holds ``grader``, compiled from the verdicts of ``gpt/odd``, whose prompt is known."""
    home = tmp_path_factory.mktemp("home")
    found = compiled(home, "gpt/odd", start=None)
    assert found["prompt"] == "gpt/odd"
    return home


@pytest.fixture
def home(first_home: Path, tmp_path: Path) -> Path:
    """The same for each test, whatever others compile."""
    return Path(shutil.copytree(first_home, tmp_path / "home"))


def said() -> Rows:
    """``mini/odd`` says nearly what ``gpt/odd`` says and has its prompt; ``mini/off`` has it and is bad."""
    rows = verdicts(labels(), seed=2)
    prompt = {"prompt": "Grade {document} as gpt/odd does."}
    odd = [one for one in rows if one["judge"] == "gpt/odd"]
    mini = [{**one, **prompt, "judge": "mini/odd", "model": "mini", "cost_usd": 0.001} for one in odd]
    off = [{**one, "judge": "mini/off", "grade": 0 if i % 2 else 3} for i, one in enumerate(mini)]
    return [*rows, *mini, *off]


def compiled(home: Path, judges: str, **more: Any) -> Mapping[str, Any]:  # Any: options, and a report
    import pandas as pd

    return judgec.compile_judge(
        pd.DataFrame(labels()),
        name="grader",
        verdicts=pd.DataFrame(said()),
        judges=judges,
        objective="qwk",
        evidence=False,
        home=home,
        progress=False,
        **more,
    ).report


def test_a_judge_with_the_same_prompt_that_is_hardly_worse_and_cheaper_ships(home: Path) -> None:
    report = compiled(home, "mini/odd", start="grader@latest", margin=0.05)
    assert report["prompt"] == "mini/odd"
    assert report["difference"]["to"] == "champion"
    moved = report["retarget"]
    assert moved["from"] == "grader@1"
    assert moved["margin"] == 0.05
    assert moved["non_inferior"]
    assert report["promoted"]
    assert "at most .05 worse" in report["reason"]
    assert moved["difference"] == {**report["difference"]["objective"]}


def test_a_judge_that_loses_more_than_the_margin_stays_challenger(home: Path) -> None:
    report = compiled(home, "mini/off", start="grader@1", margin=0.05)
    assert not report["retarget"]["non_inferior"]
    assert not report["promoted"]


def test_costs_of_both_are_those_of_a_thousand_items(home: Path) -> None:
    costs = compiled(home, "mini/*", start="grader@1", baseline="mini/odd", margin=0.0)["retarget"]["cost_per_1000"]
    assert costs["to"] is None  # of two judges it is not known beforehand whose
    one = compiled(home, "mini/odd", start="grader@1", margin=0.0)["retarget"]["cost_per_1000"]
    assert one["to"] == pytest.approx(1.0)


def test_another_prompt_or_question_cannot_be_carried_over(home: Path) -> None:
    with pytest.raises(UserError, match="has its prompt"):
        compiled(home, "llama/*", start="grader@1")
    with pytest.raises(UserError, match=r"--margin 0\.1: says how much --from may lose"):
        compiled(home, "mini/odd", margin=0.1)
    with pytest.raises(UserError, match="--from and --panel"):
        compiled(home, "mini/odd", start="grader@1", panel="all")
    with pytest.raises(UserError, match="no judge"):
        compiled(home, "mini/odd", start="nobody")


@pytest.mark.full
def test_a_live_prompt_is_asked_of_another_model(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "k")
    labelled = str(write(tmp_path / "labels.jsonl", grading_world.rows(60)))
    with FakeOpenAI(grading_world.teachable) as server:
        options: dict[str, Any] = {  # Any: options of several types
            "home": tmp_path,
            "progress": False,
            "api_base": server.base_url,
            "optimizer": "labeled",
            "folds": 1,
        }
        first = judgec.compile_judge(labelled, lm="openai/fake", name="w", accept_at="4", **options)
        before = server.calls
        moved = judgec.compile_judge(start="w@latest", lm="openai/cheap", accept_at="4", margin=0.05, **options)
        assert {body["model"] for body in server.bodies[before:]} == {"cheap"}  # the first one is not asked again
    report: Mapping[str, Any] = moved.report  # Any: JSON
    assert moved.saved.card.name == "w"
    assert moved.saved.card.settings["from"] == first.name
    assert report["retarget"]["cost_per_1000"] == {"from": None, "to": None}  # models without a price
    assert report["difference"]["to"] in {"champion", first.name}
    assert moved.report["objective"] == first.report["objective"]
    with pytest.raises(UserError, match="was compiled for openai/cheap already"):
        judgec.compile_judge(start=moved.name, lm="openai/cheap", accept_at="4", **options)
