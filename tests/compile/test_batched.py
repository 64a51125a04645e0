"""A compile whose passes over whole parts go in batches: fewer waits than steps, half the price, the same judge."""

from dataclasses import replace
from pathlib import Path

import pytest

from judgec.compile.compile import Compiled, compile_judge, plan_judge
from judgec.compile.settings import CompileSettings, reflection_spec
from judgec.lm.batch import client
from judgec.lm.session import Batched, Session
from judgec.lm.spec import LMSpec
from judgec.lm.usage import Spent
from judgec.lm.watch import Silent
from judgec.raters.programs import dump_module
from tests.compile.search.world import labels
from tests.service.fake_batches import FakeBatches
from tests.service.ranking_world import grader

LABELS = labels(75, seed=5)


def settings_for(url: str, home: Path, **changes: object) -> CompileSettings:
    spec = LMSpec.parse("openai/gpt-4o-mini", api_base=url)
    settings = CompileSettings(
        name="batched",
        home=home,
        lm=spec,
        reflection=reflection_spec(spec, None)[0],
        optimizer="labeled",
        evidence=False,
        resamples=100,
        folds=1,
    )
    return replace(settings, **changes)  # type: ignore[arg-type]  # the tests' own names


def compiled(settings: CompileSettings) -> tuple[Compiled, Spent]:
    batch: Batched = "passes" if settings.batch else "nothing"
    with Session(settings.lm, settings.home, reflection=settings.reflection, batch=batch) as session:
        return compile_judge(LABELS, settings, session, Silent()), session.spent


def test_plan_in_batches_halves_the_passes_and_counts_the_waits(tmp_path: Path) -> None:
    settings = settings_for("http://127.0.0.1:9/v1", tmp_path)
    _, usual = plan_judge(LABELS, settings)
    _, half = plan_judge(LABELS, replace(settings, batch=True))
    prices = {stage.name: stage.most.usd or 0.0 for stage in half.stages}
    for stage in usual.stages:
        share = 0.5 if stage.name in {"uncompiled judge", "winner"} else 1.0
        assert prices[stage.name] == pytest.approx(share * (stage.most.usd or 0.0))
    assert [stage.most.calls for stage in half.stages] == [stage.most.calls for stage in usual.stages]
    assert (usual.waits, half.waits) == (0, 2)


def test_plan_of_folds_in_batches_waits_once_for_all_and_once_a_round(tmp_path: Path) -> None:
    settings = settings_for("http://127.0.0.1:9/v1", tmp_path, batch=True, folds=3)
    _, plan = plan_judge(LABELS, settings)
    assert plan.waits == 1 + 3 + 1


def test_compile_in_batches_makes_the_same_judge(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-nobody")
    monkeypatch.setattr(client, "FIRST_LOOK", 0.01)
    with FakeBatches(grader) as server:
        one, usual = compiled(settings_for(server.base_url, tmp_path / "usual"))
        assert (server.created, server.single) == (0, usual.calls)
        settings = settings_for(server.base_url, tmp_path / "batched", batch=True)
        other, half = compiled(settings)
        in_batches = sum(len(batch.lines) for batch in server.batches)
        single = server.single - usual.calls
    assert server.created <= plan_judge(LABELS, settings)[1].waits
    assert in_batches >= 75
    assert (half.calls, half.usd < usual.usd) == (in_batches + single, True)
    assert dump_module(other.judge.module) == dump_module(one.judge.module)
    assert other.judge.calibration() == one.judge.calibration()
