"""Cost beside worth: the front by hand, unknown prices, and what a compile reports."""

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from sklearn.metrics import cohen_kappa_score

from judgec.compile.assemble import out_of_fold
from judgec.compile.costs import minus_chosen, with_front
from judgec.compile.dataset import joined
from judgec.compile.finished import SavedJudge
from judgec.compile.settings import Combine, PoolLimit
from judgec.lm.prices import BYTES_PER_TOKEN, TYPICAL_REPLY, price
from judgec.raters.about_judges import AboutJudge
from judgec.raters.recorded import RecordedVerdicts
from judgec.records.cost import JudgeCost
from judgec.records.estimate import Estimate
from judgec.records.ratings import GradePairs, pair
from judgec.report.cost_table import logged
from judgec.report.numbers import number
from judgec.report.page.page import cost_chart
from judgec.stats.agreement.objective import parse_objective
from tests.compile.recorded_world import compiled_in, labels, report_of, world
from tests.compile.recorded_world import verdicts as said_of
from tests.compile.test_cascades import verdicts
from tests.compile.test_own_prompts import TAUGHT, compiled_with
from tests.service.fake_openai import FakeOpenAI
from tests.service.grading_world import teachable


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


def test_a_prompt_that_left_the_race_early_is_not_compared() -> None:
    rows = [
        JudgeCost(name, "prompt", 1.0, usd, Estimate(value=value, n=n), pareto=False, chosen=False, split="dev")
        for name, usd, value, n in (("whole", 2.0, 0.5, 40), ("early", 1.0, 0.6, 6), ("worse", 2.0, 0.4, 40))
    ]
    assert front(*rows) == {"whole"}


def test_judges_of_different_items_are_compared_on_the_items_of_both() -> None:
    """``wide`` was asked about forty easy items, too, and looks better; on the items of both ``narrow`` is."""
    at = np.arange(80)
    expert, hard, unknown = at % 4, at < 40, np.full(80, -1)
    narrow = np.where((at % 8 == 0) | (at == 4), 3, expert)
    wide = np.where(hard & (at % 4 == 0), 3, expert)
    names = {"wide": (wide, at >= 0), "narrow": (narrow, hard)}
    values = (0.0, 1.0, 2.0, 3.0)
    rated = {
        name: GradePairs(
            expert[:, None], said, said.astype(float), unknown[:, None], unknown, at // 4, values, 20
        ).masked(kept)
        for name, (said, kept) in names.items()
    }
    goal = parse_objective("qwk")
    rows = [row(name, goal.value(pairs), 1.0) for name, pairs in rated.items()]
    assert (rows[0].dev.value or 0) > (rows[1].dev.value or 0)
    shipped = [
        replace(one, chosen=one.judge == "narrow", minus_chosen=minus_chosen(one, rated, "narrow", goal))
        for one in rows
    ]
    assert {one.judge for one in with_front(shipped) if one.pareto} == {"narrow"}
    gain = shipped[0].minus_chosen
    assert gain is not None
    by_hand = [cohen_kappa_score(said[:40], expert[:40], weights="quadratic") for said in (wide, narrow)]
    assert gain.value == pytest.approx(by_hand[0] - by_hand[1])
    assert gain.n == 40
    drawn = str(cost_chart(with_front([*shipped, replace(row("dear", 0.1, 2.0), minus_chosen=Estimate(value=-0.5))])))
    assert f"wide: $1.0000, {number((shipped[1].dev.value or 0) + by_hand[0] - by_hand[1], 3)}" in drawn


def test_judges_with_few_items_in_common_are_not_compared() -> None:
    expert, unknown = np.arange(40) % 4, np.full(40, -1)
    columns = expert[:, None], expert, expert.astype(float), unknown[:, None], unknown, expert
    pairs = GradePairs(*columns, (0.0, 1.0, 2.0, 3.0), 4)
    rated = {"one": pairs.masked(np.arange(40) < 25), "other": pairs.masked(np.arange(40) > 15)}
    rows = [row(name, 1.0, 1.0) for name in rated]
    goal = parse_objective("qwk")
    found = [replace(one, minus_chosen=minus_chosen(one, rated, "one", goal)) for one in rows]
    assert found[1].minus_chosen is not None
    assert found[1].minus_chosen.note.startswith("fewer than 15 labels")
    assert [one.pareto for one in with_front(found)] == [True, False]


def test_a_compile_reports_dollars_for_a_thousand_items_that_were_asked(whole: SavedJudge) -> None:
    report = report_of(whole)
    rows = {one["judge"]: one for one in report["costs"]}
    assert set(rows) == {one["judge"] for one in report["candidates"]}
    assert rows["gpt/odd"]["usd_per_1000"] == pytest.approx(10.0)
    assert rows["big/half"]["usd_per_1000"] == pytest.approx(100.0)  # of the half that it was asked about
    assert rows["llama/vague"]["usd_per_1000"] is None
    assert {one["calls_per_item"] for one in rows.values()} == {1.0}
    assert [name for name, one in rows.items() if one["chosen"]] == [report["prompt"]]
    counted = {one["judge"]: one["n"] for one in report["candidates"]}
    assert {name: one["n"] for name, one in rows.items()} == counted
    assert rows[str(report["prompt"])]["minus_chosen"]["value"] == 0.0
    assert rows["gpt/plain"]["minus_chosen"]["high"] < 0.0
    best = max(rows.values(), key=lambda one: one["dev"]["value"])
    assert best["pareto"]
    assert {one["split"] for one in rows.values()} == {"train+dev"}


def test_worth_is_that_of_the_calibrated_grades_out_of_fold(whole: SavedJudge) -> None:
    """Of the judge that ships without evidence, the compile's own out-of-fold judgments say the same."""
    compiled = whole.compiled
    row = next(one for one in compiled.costs if one.chosen)
    part, said = out_of_fold(compiled.judge, joined(compiled.dataset.train, compiled.dataset.dev))
    rated = pair(part.experts, said, compiled.dataset.labels.scale, accept_only=False)
    objective = parse_objective(compiled.promotion_test.settings.objective)
    assert row.dev.value == pytest.approx(objective.value(rated))
    raw = compiled.choice.rated[row.judge]
    assert objective.value(raw.ratings) != pytest.approx(
        row.dev.value or 0.0, abs=0.02
    )  # this judge uses its scale oddly


def test_a_live_compile_reports_list_prices_of_what_it_asked(tmp_path: Path) -> None:
    with FakeOpenAI(teachable) as server:
        compiled = compiled_with(tmp_path, server, {"taught": TAUGHT, "long": TAUGHT + " Think." * 400})
    rows = {row.judge: row for row in compiled.costs}
    assert rows.keys() == compiled.choice.searched.keys()
    assert {row.kind for row in rows.values()} == {"prompt"}
    assert {row.split for row in rows.values()} == {"dev"}
    assert {row.calls_per_item for row in rows.values()} == {1.0}
    extra = (rows["long"].usd_per_1000 or 0.0) - (rows["taught"].usd_per_1000 or 0.0)
    tokens = len(" Think." * 400) / BYTES_PER_TOKEN
    rate = price("openai/gpt-4o-mini")
    assert rate is not None
    assert extra == pytest.approx(1000 * tokens * rate.input, rel=0.05)
    assert [row.judge for row in compiled.costs if row.chosen] == [compiled.shipped.name]


def test_the_table_goes_to_mlflow_as_it_is(whole: SavedJudge) -> None:
    found = logged(whole.compiled.costs)
    assert found["columns"][:4] == ["judge", "kind", "calls_per_item", "usd_per_1000"]
    report = report_of(whole)
    rows = [dict(zip(found["columns"], row, strict=True)) for row in found["data"]]  # type: ignore[call-overload]
    for row, told in zip(rows, report["costs"], strict=True):
        assert row["dev"] == told["dev"].get("value")
        assert row["minus_chosen"] == told["minus_chosen"].get("value")
        same = told.keys() - {"dev", "minus_chosen"}
        assert {key: row[key] for key in same} == {key: told[key] for key in same}


def test_the_drawing_names_the_front_and_says_every_price() -> None:
    rows = with_front(
        [
            row("dear", 0.7, 9.0),
            row("cheap", 0.5, 0.01),
            replace(row("worse", 0.4, 2.0), chosen=True),
            row("x", None, 1),
        ]
    )
    drawn = str(cost_chart(rows))
    assert 'on the front: cheap, dear"' in drawn
    assert drawn.count('class="dot"') == 2
    assert drawn.count('class="ring"') == drawn.count('class="ring ships"') == 1
    assert "<title>worse: $2.0000, .400</title>" in drawn
    assert ">cheap</text>" in drawn
    assert "US dollars for 1,000 items" in drawn
    assert cost_chart([row("a", 0.5, 1.0), row("b", 0.6, 1.0)]) == ""  # nothing to compare
    assert cost_chart([]) == ""
    assert "calls an item" in str(cost_chart([row("a", 0.5, None), row("b", 0.6, 0.0, calls=0.0)]))


def test_names_of_judges_cannot_break_the_drawing() -> None:
    drawn = str(cost_chart(with_front([row('<b>"', 0.5, 1.0), row("b", 0.6, 2.0)])))
    assert "<b>" not in drawn
    assert "&lt;b&gt;" in drawn


def bare(recorded: RecordedVerdicts, models: Mapping[str, str], *turns: tuple[str, str]) -> RecordedVerdicts:
    """The verdicts without costs, of judges with these models and this prompt."""
    known = {name: AboutJudge(model, "Grade.", messages={"": turns}) for name, model in models.items()}
    made = {
        name: replace(one, about=known[name], cost=np.full(len(one.cost), np.nan))
        for name, one in recorded.recordings.items()
    }
    return replace(recorded, recordings=made)


def test_recorded_judge_without_costs_has_the_list_price_of_its_prompt(tmp_path: Path) -> None:
    models = {"gpt/odd": "openai/gpt-4o", "gpt/clear": "openai/gpt-4o-mini", "gpt/plain": "unheard-of/model"}
    said = [one for one in said_of(labels()) if one["judge"] in models]
    label_set, recorded = world(said, labels())
    turns = ("system", "You grade."), ("user", "Grade {document} for {query}.")
    free = bare(recorded, models, *turns)
    costs = {one["judge"]: one["usd_per_1000"] for one in report_of(compiled_in(tmp_path, label_set, free))["costs"]}
    rate = price("openai/gpt-4o-mini")
    assert rate is not None
    sent = len("You grade.") + len("Grade document 0 of 0 for question 0.")
    least = 1000 * (sent / BYTES_PER_TOKEN * rate.input + TYPICAL_REPLY * rate.output)
    assert costs["gpt/clear"] == pytest.approx(least, rel=0.1)
    assert costs["gpt/odd"] > 10 * costs["gpt/clear"]
    assert costs["gpt/plain"] is None


def test_a_panel_has_the_list_prices_of_its_members_whether_it_ships_or_not(tmp_path: Path) -> None:
    label_set, recorded = world(verdicts(labels(30, 5), knows=True), labels(30, 5))
    models = dict(zip(recorded.judges, ("openai/gpt-4o", "openai/gpt-4o-mini"), strict=True))
    free = bare(recorded, models, ("user", "Grade {document} for {query}."))
    done = compiled_in(tmp_path, label_set, free, combine=Combine(PoolLimit()))
    costs = {one.judge: one for one in done.compiled.costs}
    single = sum(costs[name].usd_per_1000 or 0.0 for name in models)
    panels = [one for one in costs.values() if one.kind == "panel" and one.calls_per_item == 2.0]
    assert panels
    assert [one.usd_per_1000 for one in panels] == pytest.approx([single] * len(panels))
