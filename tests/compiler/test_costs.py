"""Cost beside worth: the front by hand, unknown prices, and what a compile reports."""

from pathlib import Path

import pytest

from judgec.compiler.costs import with_front
from judgec.records.cost import JudgeCost
from judgec.records.estimate import Estimate
from tests.compiler.test_recorded import compiled_in, world


def row(name: str, value: float | None, usd: float | None, calls: float = 1.0) -> JudgeCost:
    return JudgeCost(name, "recorded", calls, usd, Estimate(value=value), pareto=False, chosen=False)


def front(*rows: JudgeCost) -> set[str]:
    return {one.judge for one in with_front(rows) if one.pareto}


def test_the_front_is_who_no_other_judge_beats_at_the_price() -> None:
    dear, cheap = row("dear", 0.7, 9.0), row("cheap", 0.5, 1.0)
    assert front(dear, cheap, row("worse", 0.4, 2.0), row("dearer", 0.7, 10.0)) == {"dear", "cheap"}
    assert front(cheap, row("twin", 0.5, 1.0)) == {"cheap", "twin"}
    assert front(cheap, row("undefined", None, 0.0)) == {"cheap"}


def test_where_a_price_is_unknown_all_are_compared_by_calls() -> None:
    known, unknown = row("known", 0.5, 0.1), row("unknown", 0.6, None)
    assert front(known, unknown) == {"unknown"}
    assert front(known, row("panel", 0.6, None, calls=3.0)) == {"known", "panel"}


def test_a_compile_reports_dollars_for_a_thousand_items_that_were_asked(tmp_path: Path) -> None:
    saved = compiled_in(tmp_path, *world())
    report = dict(saved.report)
    rows = {one["judge"]: one for one in report["costs"]}  # type: ignore[attr-defined]  # a list of rows
    assert set(rows) == {one["judge"] for one in report["candidates"]}  # type: ignore[attr-defined]  # the same
    assert rows["gpt/odd"]["usd_per_1000"] == pytest.approx(10.0)
    assert rows["big/half"]["usd_per_1000"] == pytest.approx(100.0)  # of the half that it was asked about
    assert rows["llama/vague"]["usd_per_1000"] is None
    assert {one["calls_per_item"] for one in rows.values()} == {1.0}
    assert [name for name, one in rows.items() if one["chosen"]] == [report["prompt"]]
    best = max(rows.values(), key=lambda one: one["dev"]["value"])
    assert best["pareto"]
    assert {one["split"] for one in rows.values()} == {"train+dev"}
