"""Cascades of recorded judges: a cheap judge that knows when it guesses, and one that does not."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from sklearn.metrics import cohen_kappa_score

from judgec.compile.cascades import thresholds
from judgec.compile.finished import SavedJudge
from judgec.compile.settings import Combine
from judgec.errors import ArtifactError, UserError
from judgec.labels.reading import Datasheet
from judgec.raters.judge import load_judge as load_compiled
from judgec.raters.programs import load
from judgec.raters.tree import Cascade
from judgec.records.judgment import NOT_ASKED
from judgec.records.scale import Scale
from judgec.verbs.compile_judge import compile_judge as compile_file
from judgec.verbs.judge import load_judge
from judgec.verbs.judge_file import judge_file
from tests.compile.recorded_world import Rows, compiled_in, labels, report_of, world
from tests.compile.small import write
from tests.compile.test_panels import qwk

ROWS = labels(60, 5)
SHEET = 'task = "relevance"\n[scale]\nname = "relevance"\ngrades = [0, 1, 2, 3]\naccept_at = 2\n'


def row_of(item: object, judge: str, grade: int, sure: float, cost: float) -> dict[str, object]:
    spread = {f"p_{g}": sure if g == grade else (1 - sure) / 3 for g in range(4)}
    return {"item_id": item, "judge": judge, "grade": grade, "cost_usd": cost, **spread}


def verdicts(rows: Rows, *, knows: bool, seed: int = 3) -> Rows:
    """``dear`` is nearly always right; ``cheap`` guesses half of the items, and says so where it ``knows``."""
    rng = np.random.default_rng(seed)
    made: Rows = []
    for row in rows:
        grade, hard = int(str(row["grade"])), bool(rng.random() < 0.5)
        guess = int(rng.integers(0, 4))
        sure = 0.28 if hard and knows else 0.95
        made.append(row_of(row["item_id"], "cheap", guess if hard else grade, sure, 0.001))
        miss = rng.random() < 0.15
        made.append(row_of(row["item_id"], "dear", int(rng.integers(0, 4)) if miss else grade, 0.95, 0.1))
    return made


def cascaded(
    home: Path, said: Rows, rows: Rows, cascade: tuple[str, str] | None = ("cheap", "dear"), **changes: Any
) -> SavedJudge:
    return compiled_in(home, *world(said, rows), combine=Combine(cascade=cascade), **changes)


@pytest.fixture(scope="module")
def shipped(tmp_path_factory: pytest.TempPathFactory) -> SavedJudge:
    rows = labels(120, 5)
    return cascaded(tmp_path_factory.mktemp("shipped"), verdicts(rows, knows=True), rows)


@pytest.fixture
def home(shipped: SavedJudge) -> Path:
    return shipped.compiled.promotion_test.settings.home


def found_in(saved: SavedJudge) -> dict[str, Any]:
    return dict(report_of(saved)["cascade"])


def test_a_cheap_judge_that_knows_when_it_guesses_saves_half_of_the_dear_calls(shipped: SavedJudge) -> None:
    found, report = found_in(shipped), report_of(shipped)
    assert found["shipped"], found["reason"]
    assert 0.4 < found["share"] < 0.65
    n = report["split"]["test"]
    assert found["calls_saved"] == n - round(found["share"] * n)
    assert found["cost_per_1000"] == pytest.approx(1000 * (0.001 + found["share"] * 0.1))
    assert found["minus_dear"]["low"] > -0.02
    assert found["minus_dear"]["value"] == pytest.approx(qwk(report, "compiled") - qwk(report, "compiled_single"))
    assert report["prompt"] == "cheap > dear"
    rows = {row["judge"]: row for row in report["costs"]}
    assert rows["cheap > dear"]["kind"] == "cascade"
    assert rows["cheap > dear"]["chosen"]
    assert rows["cheap > dear"]["calls_per_item"] == pytest.approx(1 + found["share"], abs=0.1)


def test_escalation_is_better_than_as_many_dear_calls_at_random(shipped: SavedJudge) -> None:
    compiled = shipped.compiled
    recorded = compiled.promotion_test.settings.candidates.recorded
    assert recorded is not None
    test, tree = compiled.dataset.test, compiled.judge.rater
    assert isinstance(tree, Cascade)
    raw = recorded.judgments("cheap", [item.item_id for item in test.items])
    cheap = replace(compiled.judge, tree=tree.first).graded(test.items, raw).grade[:, 0]
    dear = compiled.verification.judgments["compiled_single"].grade[:, 0]
    expert, escalated = test.experts.target[:, 0, 0], compiled.verification.judgments["compiled"].escalated
    assert escalated is not None
    rng = np.random.default_rng(11)
    draws = [np.where(rng.permutation(escalated), dear, cheap) for _ in range(400)]
    at_random = np.mean([cohen_kappa_score(expert, one, weights="quadratic") for one in draws])
    cascade = cohen_kappa_score(expert, np.where(escalated, dear, cheap), weights="quadratic")
    assert cascade - at_random > 0.1


def test_a_saved_cascade_asks_the_dear_judge_only_where_it_must(home: Path, tmp_path: Path) -> None:
    fresh: Rows = [{**row, "item_id": f"new {row['item_id']}"} for row in labels(20, 5)]
    said = verdicts(fresh, knows=True, seed=8)
    items = pd.DataFrame(fresh)[["item_id", "query", "document"]]

    def judged_by(rows: Rows) -> pd.DataFrame:
        return load_judge("world@latest", home=home, verdicts=pd.DataFrame(rows))(items)

    whole = judged_by(said)
    unsure = {row["item_id"] for row in said if row["judge"] == "cheap" and float(str(row["p_0"])) in {0.24, 0.28}}
    assert 30 < len(unsure) < 70
    needed = [row for row in said if row["judge"] == "cheap" or row["item_id"] in unsure]
    assert judged_by(needed)["grade"].equals(whole["grade"])
    never = [row for row in said if row["judge"] == "cheap" or row["item_id"] == next(iter(unsure))]
    assert (judged_by(never)["unscored"] == NOT_ASKED).sum() == len(unsure) - 1
    with pytest.raises(UserError, match="judge cheap"):
        judged_by([row for row in said if row["judge"] == "dear"])
    lm, file = f"recorded:{write(tmp_path / 'v.jsonl', said)}", write(tmp_path / "items.jsonl", fresh)
    done = judge_file(file, judge="world@latest", home=home, lm=lm, out=tmp_path / "out.jsonl").report
    assert done["escalated"] == len(unsure)
    assert f"needed on {len(unsure)} of 100" in str(done["notes"])


def test_a_damaged_cascade_is_refused(home: Path) -> None:
    program = load(home, "world@latest")
    with pytest.raises(ArtifactError, match=r"cascade\.below"):
        load_compiled(replace(program, tree={**program.tree, "below": 1.5}))


def test_numbers_without_a_confidence_make_no_cascade(tmp_path: Path) -> None:
    sheet = Datasheet(task="relevance", scale=Scale(level="interval", grades=(0, 3)))
    with pytest.raises(UserError, match="--cascade cheap,dear: labels on an interval scale"):
        compiled_in(
            tmp_path, *world(verdicts(ROWS, knows=True), ROWS, sheet), combine=Combine(cascade=("cheap", "dear")),
            objective="tau_b",
        )  # fmt: skip


def test_a_cheap_judge_that_does_not_know_when_it_guesses_makes_no_cascade(tmp_path: Path) -> None:
    said = verdicts(ROWS, knows=False)
    saved = cascaded(tmp_path / "cascade", said, ROWS)
    found, report = found_in(saved), report_of(saved)
    assert not found["shipped"]
    assert found["reason"].startswith("none ships: ")
    assert any(note.startswith("cascade: none ships") for note in report["notes"])
    plain = report_of(cascaded(tmp_path / "plain", said, ROWS, None))
    assert report["prompt"] == plain["prompt"] == "dear"
    assert report["test"]["compiled"] == plain["test"]["compiled"]
    assert "cascade" not in plain


def test_evidence_may_come_first_and_nobody_is_asked_for_it(tmp_path: Path) -> None:
    """These texts say nothing about the grade, so that no cascade ships; the dear judge is the only one that costs."""
    saved = cascaded(tmp_path, verdicts(ROWS, knows=True), ROWS, ("evidence", "dear"), evidence=True)
    found = found_in(saved)
    assert not found["shipped"]
    assert found["cost_per_1000"] == pytest.approx(1000 * found["share"] * 0.1)
    rows = {one["judge"]: one for one in report_of(saved)["costs"]}
    alone = rows["evidence alone"]
    assert (alone["kind"], alone["usd_per_1000"], alone["calls_per_item"]) == ("evidence", 0.0, 0.0)
    assert alone["dev"]["value"] < 0.3


def test_in_folds_each_round_has_a_cascade_of_its_own(tmp_path: Path) -> None:
    saved = cascaded(tmp_path, verdicts(ROWS, knows=True), ROWS, folds=3)
    found, test = found_in(saved), report_of(saved)["test"]
    assert found["shipped"], found["reason"]
    assert test["compiled"]["n"] == test["compiled_single"]["n"] == len(ROWS)
    assert found["calls_saved"] == len(ROWS) - round(found["share"] * len(ROWS))


@pytest.mark.parametrize("folds", [1, pytest.param(3, marks=pytest.mark.full)])
def test_a_strong_judge_whose_verdicts_say_nothing_does_not_ship(tmp_path: Path, folds: int) -> None:
    """Its calibrator reads evidence alone."""
    rows = [{**row, "answer": " ".join(["certainly"] * (1 + 3 * int(str(row["grade"]))))} for row in ROWS[:180]]
    rng = np.random.default_rng(5)
    said = [
        row_of(row["item_id"], judge, grade, 0.95, cost)
        for row in rows
        for judge, grade, cost in (("cheap", int(rng.integers(0, 4)), 0.001), ("dear", 1, 0.1))
    ]
    assert not found_in(cascaded(tmp_path, said, rows, folds=folds, evidence=True))["shipped"]


def test_items_that_one_judge_was_not_asked_about_are_compared_by_neither(tmp_path: Path) -> None:
    rows = labels(120, 5)
    said = [
        one
        for one in verdicts(rows, knows=True)
        if one["judge"] == "cheap" or int(str(one["item_id"]).partition("-")[0][1:]) % 3
    ]
    saved = cascaded(tmp_path, said, rows)
    found, compiled = found_in(saved), saved.compiled
    both = sum(int(item.item_id.partition("-")[0][1:]) % 3 > 0 for item in compiled.dataset.test.items)
    assert found["calls_saved"] == both - round(found["share"] * both)
    assert found["shipped"], found["reason"]
    assert compiled.verification.agreements["compiled"].n == both < len(compiled.dataset.test)


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"cascade": ("cheap",)}, "two different judges"),
        ({"cascade": ("cheap", "cheap")}, "two different judges"),
        ({"cascade": ("cheap", "evidence")}, "two different judges"),
        ({"cascade": ("cheap", "nobody")}, "no verdicts of judge nobody"),
        ({"cascade": ("evidence", "dear"), "evidence": False}, "--no-evidence"),
        ({"cascade": ("cheap", "dear"), "panel": "all"}, "--panel"),
        ({"cascade": ("cheap", "dear"), "lm": "embedded"}, "with a model that is asked"),
        ({"cascade": ("evidence", "embedded"), "lm": "embedded"}, "with a model that is asked"),
        ({"cascade": ("openai/a", "openai/b"), "lm": "openai/b"}, "with a model that is asked"),
    ],
)
def test_options_that_make_no_cascade_are_refused(tmp_path: Path, options: dict[str, Any], said: str) -> None:
    rows = labels(12, 5)
    file = write(tmp_path / "labels.jsonl", rows)
    (tmp_path / "labels.datasheet.toml").write_text(SHEET, encoding="utf-8")
    recorded = write(tmp_path / "v.jsonl", verdicts(rows, knows=True))
    with pytest.raises(UserError, match=said):
        compile_file(file, **{"lm": f"recorded:{recorded}", "home": tmp_path, **options})


def test_thresholds_lie_in_gaps() -> None:
    sure = 1 - np.repeat([0.1, 0.2, 0.9], [50, 30, 20]) - np.tile([0.0, 0.001], 50)
    found = thresholds(sure)
    assert found == sorted(found)
    assert any(0.11 < one < 0.79 for one in found)
    assert any(0.81 < one < 0.89 for one in found)
    assert thresholds(np.array([-np.inf, 0.5])) == [0.5]
