"""A compile whose passes over whole parts go in batches: fewer waits than steps, half the price, the same judge."""

from pathlib import Path

import pytest

from judgec.compile.planned import plan_judge
from judgec.lm.batch import client
from tests.compile.small import changed, compiled_on
from tests.compile.test_budget import LABELS, settings_at
from tests.service.fake_batches import FakeBatches
from tests.service.ranking_world import grader

NOWHERE = "http://127.0.0.1:9/v1"


def test_plan_in_batches_halves_the_passes_and_counts_the_waits(tmp_path: Path) -> None:
    settings = settings_at(NOWHERE, tmp_path)
    usual = plan_judge(LABELS, settings).plan.whole
    half = plan_judge(LABELS, changed(settings, batch=True)).plan.whole
    prices = {stage.name: stage.most.usd or 0.0 for stage in half.stages}
    for stage in usual.stages:
        share = 0.5 if stage.name in {"uncompiled judge", "winner"} else 1.0
        assert prices[stage.name] == pytest.approx(share * (stage.most.usd or 0.0))
    assert [stage.most.calls for stage in half.stages] == [stage.most.calls for stage in usual.stages]
    folds = plan_judge(LABELS, changed(settings, batch=True, folds=3)).plan.whole
    assert (usual.waits, half.waits, folds.waits) == (0, 2, 1 + 3 + 1)  # once for all, and once a round


@pytest.mark.full
def test_compile_in_batches_makes_the_same_judge(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-nobody")
    monkeypatch.setattr(client, "FIRST_LOOK", 0.01)
    with FakeBatches(grader) as server:
        one = compiled_on(LABELS, settings_at(server.base_url, tmp_path / "usual"))
        assert (server.created, server.single) == (0, one.spent.calls)
        settings = settings_at(server.base_url, tmp_path / "batched", batch=True)
        other = compiled_on(LABELS, settings)
        in_batches = sum(len(batch.lines) for batch in server.batches)
        single = server.single - one.spent.calls
    assert server.created <= plan_judge(LABELS, settings).plan.whole.waits
    assert in_batches >= 75
    assert other.spent.calls == in_batches + single
    assert other.spent.usd < one.spent.usd
    assert other.compiled.judge.saved() == one.compiled.judge.saved()
