"""Panels of recorded judges: worlds in which they beat the best of them, and worlds in which they do not."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from judgec.compile.assemble import Bench
from judgec.compile.calibrate_choice import folds_by_query
from judgec.compile.choose import choose, recorded_candidate
from judgec.compile.dataset import make_dataset
from judgec.compile.finished import SavedJudge
from judgec.compile.pools import _nested, best_pool
from judgec.compile.search.candidates import task_module
from judgec.compile.settings import Combine, PoolLimit
from judgec.compile.winner import difference
from judgec.errors import UserError
from judgec.labels.labels import label_file, read_label_file
from judgec.labels.reading import Datasheet
from judgec.labels.split.memory import read_memory
from judgec.lm.watch import Silent
from judgec.raters.pool import pool
from judgec.raters.programs import page_path
from judgec.raters.recorded import OnWhat, RecordedVerdicts, check_against, read_recorded
from judgec.raters.tree import RecordedLeaf
from judgec.records.judgment import NOT_ASKED
from judgec.records.label import LabelSet
from judgec.records.scale import Scale
from judgec.report.cost_table import SIZES
from judgec.stats.agreement.objective import parse_objective
from judgec.verbs.compilation import Compilation, compiled_report
from judgec.verbs.compile_judge import compile_judge as compile_file
from judgec.verbs.judge import load_judge
from tests.compile.recorded_world import (
    RECORDED,
    SHEET,
    Rows,
    compiled_in,
    labels,
    report_of,
    settings_of,
    table,
    world,
)
from tests.compile.small import unsaved, write
from tests.raters.test_judge import never

ROWS = labels(50, 5)
QWK = parse_objective("qwk")

Noise = Mapping[str, float]
"""Standard deviation of each judge's reading of an item, in grades."""

THREE = {"a": 1.0, "b": 1.05, "c": 1.1}  # each is noisy by itself: together they are not


def verdicts(rows: Rows, noise: Noise, cost: Mapping[str, float | None] | None = None, seed: int = 2) -> Rows:
    """Each judge reads the experts' grade with noise of its own."""
    rng = np.random.default_rng(seed)
    return [
        {
            "item_id": row["item_id"],
            "judge": judge,
            "grade": int(np.clip(np.rint(int(str(row["grade"])) + rng.normal(0, spread)), 0, 3)),
            "cost_usd": None if cost is None else cost[judge],
        }
        for judge, spread in noise.items()
        for row in rows
    ]


def bench_of(label_set: LabelSet, recorded: RecordedVerdicts, home: Path) -> Bench:
    dataset = make_dataset(label_set, 0, memory=read_memory(home, "world"))
    leaves = {name: RecordedLeaf(name=name) for name in recorded.judges}
    module = task_module(label_set)
    return Bench(dataset, never, None, 0, QWK, module, recorded=recorded, leaves=leaves)


def panel_of(home: Path, said: Rows, panel: PoolLimit) -> SavedJudge:
    return compiled_in(home, *world(said), combine=Combine(panel))


@pytest.fixture(scope="module")
def three(tmp_path_factory: pytest.TempPathFactory) -> SavedJudge:
    return panel_of(tmp_path_factory.mktemp("three"), verdicts(ROWS, THREE), PoolLimit())


def page_of(saved: SavedJudge) -> str:
    return page_path(saved.compiled.promotion_test.settings.home, saved.card).read_text(encoding="utf-8")


def qwk(report: Mapping[str, Any], judge: str) -> float:
    return float(report["test"][judge]["qwk"]["value"])


def test_three_noisy_judges_beat_the_best_of_them_on_queries_that_none_of_it_was_fitted_on(three: SavedJudge) -> None:
    report = report_of(three)
    panel = report["panel"]
    assert panel["kind"] == "mean"
    assert [one["members"] for one in panel["curve"] if one["chosen"]] == [3]
    assert {one["judge"] for one in panel["members"]} == set(THREE)
    assert all(one["adds"]["low"] > 0 and one["cost_usd"] is None for one in panel["members"])
    assert qwk(report, "compiled") > qwk(report, "best_alone") + 0.1
    assert qwk(report, "compiled") > qwk(report, "compiled_single") + 0.1
    assert panel["gain"]["low"] > 0
    assert panel["gain"]["value"] == pytest.approx(qwk(report, "compiled") - qwk(report, "compiled_single"))
    both = report["test"]["compiled"]["n"]
    assert both == report["test"]["compiled_single"]["n"] == report["split"]["test"] > 50


def test_report_and_page_have_the_panels_among_the_candidates(three: SavedJudge) -> None:
    report = report_of(three)
    rows = {row["judge"]: row for row in report["candidates"]}
    assert report["prompt"] == "mean of 3"
    assert [name for name, row in rows.items() if row["chosen"]] == [report["prompt"]]
    n = report["split"]["train"] + report["split"]["dev"]
    assert any(f"on {n} of {n} items" in note for note in report["notes"])
    assert "Panel (mean)" in page_of(three)
    assert "== a: recorded verdicts" in page_of(three)
    assert "best single judge, compiled" in page_of(three)


@pytest.mark.parametrize("panel", [PoolLimit(), PoolLimit(few=True)], ids=["pool", "auto"])
def test_copies_of_one_judge_are_no_panel(tmp_path: Path, panel: PoolLimit) -> None:
    """Three times the same opinion is one opinion: no gain, and the single judge ships."""
    copies = [{**one, "judge": name} for name in "abc" for one in verdicts(ROWS, {"a": 1.0})]
    report = report_of(panel_of(tmp_path, copies, panel))
    found = report["panel"]
    assert found["kind"] == "single"
    assert [one["judge"] for one in found["members"]] == [found["incumbent"]] == [report["prompt"]]
    assert found["gain"]["value"] == 0
    assert any(note.startswith("panel: ") for note in report["notes"])
    assert [one["members"] for one in found["curve"] if one["chosen"]] == [1]


@pytest.mark.parametrize("noise", [{"a": 1.0, "b": 1.05}, {"a": 0.4, "b": 2.0}], ids=["panel", "single"])
def test_the_order_of_judges_and_rows_decides_nothing(tmp_path: Path, noise: Noise) -> None:
    rows = labels(30, 4)
    said = verdicts(rows, noise)
    orders = [said, [said[i] for i in np.random.default_rng(0).permutation(len(said))][::-1]]
    found = []
    for number, order in enumerate(orders):
        label_set, recorded = world(order, rows)
        settings = settings_of(tmp_path / str(number), recorded, combine=Combine(PoolLimit()))
        compiled = unsaved(label_set, settings)
        found.append((compiled.shipped.name, compiled.judge.saved()))
    assert found[0] == found[1]


def guesses(seed: int, judges: int) -> Rows:
    rng = np.random.default_rng(seed)
    return [
        {"item_id": row["item_id"], "judge": f"guess{n}", "grade": int(rng.integers(0, 4))}
        for n in range(judges)
        for row in ROWS
    ]


def test_judges_that_only_guess_do_not_displace_a_good_one(tmp_path: Path) -> None:
    report = report_of(panel_of(tmp_path, [*verdicts(ROWS, {"good": 0.5}), *guesses(5, 3)], PoolLimit()))
    assert qwk(report, "compiled") > qwk(report, "best_alone") - 0.03
    worth = {one["members"]: one["objective"]["value"] for one in report["panel"]["curve"]}
    assert worth[3] < worth[1] - 0.05  # what shipping a mean of more would have cost


def test_a_saved_panel_judges_new_items_from_its_members_verdicts(three: SavedJudge) -> None:
    home = three.compiled.promotion_test.settings.home
    fresh: Rows = [{**row, "item_id": f"new {row['item_id']}"} for row in labels(20, 5)]
    said = verdicts(fresh, THREE, seed=9)
    unlabelled = pd.DataFrame(fresh)[["item_id", "query", "document"]]
    graded = load_judge("world@latest", home=home, verdicts=pd.DataFrame(said))(unlabelled)
    compiled = three.compiled.judge
    recorded = read_recorded(table(said, "verdicts"), OnWhat.of_card(three.card))
    items = label_file(table(fresh), SHEET).labels.items
    ids = [item.item_id for item in items]
    expected = compiled.graded(items, pool([recorded.judgments(one, ids) for one in THREE], three.card.scale))
    assert graded["grade"].tolist() == [SHEET.scale.grades[i] for i in expected.grade.ravel()]  # type: ignore[union-attr]
    assert graded["score"].tolist() == pytest.approx(expected.score.ravel().tolist())
    truth = np.array([row["grade"] for row in fresh], dtype=int)
    one = np.array([row["grade"] for row in said[: len(fresh)]], dtype=int)
    assert np.abs(graded["grade"].to_numpy(dtype=int) - truth).mean() < np.abs(one - truth).mean()
    some = [one for one in said if one["judge"] != "b" or one["item_id"] == "new q0-d0"]
    some = [one for one in some if one["item_id"] != "new q3-d4"]
    partly = load_judge("world@latest", home=home, verdicts=pd.DataFrame(some))(unlabelled[:20])
    assert partly["unscored"].isna().tolist() == [True] * 19 + [False]
    assert partly["unscored"].iloc[-1] == NOT_ASKED
    without = pd.DataFrame([one for one in some if one["judge"] != "b"])
    with pytest.raises(UserError, match=r"judge b; it has a, c\."):
        load_judge("world@latest", home=home, verdicts=without)(unlabelled)


def test_the_best_of_many_that_guess_is_worth_little_where_it_was_not_chosen(tmp_path: Path) -> None:
    label_set, recorded = world(guesses(3, 12))
    bench = bench_of(label_set, recorded, tmp_path)
    choice = choose(bench, [recorded_candidate(bench, name) for name in recorded.judges])
    fold = folds_by_query(bench.learned.experts.cluster, bench.seed)
    assert fold is not None
    best = choice.best.graded
    assert best is not None
    assert QWK.value(_nested(bench, choice.rated, choice.uncompiled.name, fold)) < QWK.value(best) - 0.05


def members(said: Rows, home: Path, limit: PoolLimit, rows: Rows | None = None, sheet: Datasheet = SHEET) -> set[str]:
    label_set, recorded = world(said, rows, sheet)
    bench = bench_of(label_set, recorded, home)
    choice = choose(bench, [recorded_candidate(bench, name) for name in recorded.judges])
    found = best_pool(bench, choice.rated, choice.best.name, choice.uncompiled.name, limit, Silent())
    return set(found.members)


def test_a_pool_stops_at_its_limit_and_where_nobody_adds(tmp_path: Path) -> None:
    said = verdicts(ROWS, {"a": 1.0, "b": 1.0, "c": 1.0, "d": 1.0, "guess": 50.0})
    assert len(members(said, tmp_path, PoolLimit(3))) == 3
    assert "guess" not in members(said, tmp_path, PoolLimit(4))


def test_three_join_where_two_are_no_better_than_one(tmp_path: Path) -> None:
    """Three that accept or reject and are right in seven of ten: two cannot outvote each other, three can."""
    rng = np.random.default_rng(4)
    rows: Rows = [
        {"item_id": f"q{q}-{d}", "query_id": f"q{q}", "query": f"{q}", "answer": f"{d} {q}"}
        | {"accept": bool(rng.random() < 0.5)}
        for q in range(80)
        for d in range(4)
    ]  # fmt: skip
    said: Rows = [
        {"item_id": row["item_id"], "judge": name, "grade": int(bool(row["accept"]) == (rng.random() < 0.7))}
        for name in "abc"
        for row in rows
    ]
    assert members(said, tmp_path, PoolLimit(), rows, Datasheet(task="grade")) == {*"abc"}
    assert len(members(said, tmp_path, PoolLimit(2), rows, Datasheet(task="grade"))) == 1


@pytest.fixture(scope="module")
def enough(tmp_path_factory: pytest.TempPathFactory) -> SavedJudge:
    """Three noisy judges, and three that say what each of these says: twelve, of which three are enough."""
    said = [
        {**one, "judge": f"{one['judge']}{copy}", "cost_usd": 0.001}
        for copy in range(4)
        for one in verdicts(ROWS, THREE)
    ]
    return panel_of(tmp_path_factory.mktemp("enough"), said, PoolLimit(few=True))


def test_auto_ships_as_few_judges_as_are_enough(enough: SavedJudge, three: SavedJudge) -> None:
    panel = report_of(enough)["panel"]
    assert {one["judge"][0] for one in panel["members"]} == set(THREE)
    assert len(panel["members"]) <= 5
    assert qwk(report_of(enough), "compiled") > qwk(report_of(three), "compiled") - 0.03


def test_the_curve_says_what_each_size_costs_and_is_worth(enough: SavedJudge) -> None:
    curve = report_of(enough)["panel"]["curve"]
    assert [one["members"] for one in curve] == [1, 2, 3, 5, 8, 12]
    assert [one["calls_per_item"] for one in curve] == [1, 2, 3, 5, 8, 12]
    assert [one["usd_per_1000"] for one in curve] == pytest.approx([1, 2, 3, 5, 8, 12])
    worth = [one["objective"]["value"] for one in curve]
    assert worth[2] > worth[0] + 0.05
    assert all(0 < one["objective"]["standard_error"] < 0.1 for one in curve)
    (chosen,) = (one for one in curve if one["chosen"])
    for one in curve:
        below = one["below_best"]
        near = below["value"] <= below["standard_error"]
        assert near == (one["members"] == chosen["members"]) or one["members"] > chosen["members"]
    assert f"panel of {chosen['members']} ships" in page_of(enough)
    screen = compiled_report(Compilation(enough, enough.report, enough.compiled.promotion_test.settings))
    titles = {"all": [one.title for one in screen.full or ()], "few": [one.title for one in screen.tables]}
    assert SIZES in titles["all"]
    assert SIZES not in titles["few"]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"panel": "1"}, "--panel 1: no size; .* a whole number from 2"),
        ({"panel": "auto:3"}, "--panel auto:3: no size"),
        ({"panel": "most"}, "--panel most: no size"),
        ({"panel": 1.5}, "--panel 1.5: no size"),
        ({"panel": "auto", "judges": ()}, "--panel auto: .* recorded judges"),
        ({"panel": "all", "judges": ()}, "--panel all: .* recorded judges"),
    ],
)
def test_panels_that_cannot_be_are_refused(tmp_path: Path, options: dict[str, Any], message: str) -> None:
    rows = [{**row, "verdict": row["grade"], "other": 3 - int(str(row["grade"]))} for row in ROWS[:60]]
    given = {"judges": ("verdict", "other"), "task": "relevance", "best": 3, "home": tmp_path} | options
    with pytest.raises(UserError, match=message):
        compile_file(write(tmp_path / "labels.jsonl", rows), **given)


@pytest.mark.soak
@pytest.mark.parametrize(("model", "least"), [("llama3.2", 0.53), ("mistral", 0.53), ("gpt-4o", None)])
def test_a_panel_of_all_real_prompts_reaches_what_was_measured(tmp_path: Path, model: str, least: float | None) -> None:
    stem = RECORDED / "trecdl20_relevance"
    if not RECORDED.exists():
        pytest.skip(f"{RECORDED} is absent: panels of real judges are NOT checked")
    label_set = read_label_file(f"{stem}.jsonl").labels
    recorded = check_against(read_recorded(f"{stem}.verdicts.parquet", OnWhat.of(label_set), f"{model}/*"), label_set)
    saved = compiled_in(tmp_path, label_set, recorded, combine=Combine(PoolLimit()), folds=5)
    if least is not None:
        assert qwk(report_of(saved), "compiled") >= least
        return
    ratings = saved.compiled.verification.ratings
    against = difference(ratings["compiled"], ratings["best_alone"], QWK)
    assert against.high is not None
    assert against.high >= 0  # not shown to be worse; 0 where the best prompt ships alone


@pytest.mark.full
def test_a_panel_that_gains_nothing_beside_evidence_does_not_ship(tmp_path: Path) -> None:
    """Evidence that knows the grade leaves nothing for a second opinion to add."""
    rows: Rows = [
        {
            "item_id": f"q{q}-{d}",
            "query_id": f"q{q}",
            "query": f"What does part {q} do?",
            "reference": f"Part {q} measures flow, heat and weight.",
            "answer": f"Part {q} measures flow, heat and weight." if d % 2 else "Nobody can say.",
            "grade": 1 + 4 * (d % 2),
        }
        for q in range(30)
        for d in range(4)
    ]
    rng = np.random.default_rng(6)
    said: Rows = [
        {"item_id": row["item_id"], "judge": name, "grade": row["grade"] if rng.random() < 0.75 else 3}
        for name in "abc"
        for row in rows
    ]
    sheet = Datasheet(task="grade", scale=Scale(grades=(1, 2, 3, 4, 5), accept_at=4))
    label_set, recorded = world(said, rows, sheet)
    compiled = unsaved(label_set, settings_of(tmp_path, recorded, combine=Combine(PoolLimit()), evidence=True))
    panel = compiled.combined["panel"]
    assert isinstance(panel, dict)
    assert panel["kind"] == "single"
    assert any("both use evidence" in note for note in compiled.notes)
