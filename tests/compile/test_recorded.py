"""Compiling from recorded judges: who is chosen, who is compared with whom, on which items."""

import shutil
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

import judgec
from judgec.compile.dataset import make_dataset
from judgec.compile.finished import SavedJudge
from judgec.compile.promote import decide
from judgec.compile.replacement import replacement
from judgec.compile.verify import majority
from judgec.errors import InputError, UserError
from judgec.labels.labels import label_file, read_label_file
from judgec.labels.reading import Datasheet, as_reading
from judgec.raters.programs import CHAMPION, page_path, set_aliases
from judgec.raters.recorded import OnWhat, check_against, read_recorded
from judgec.raters.tree import PromptLeaf
from judgec.records.judgment import NOT_ASKED
from judgec.records.ratings import GradePairs, on_both
from judgec.stats.agreement.difference import differences
from judgec.stats.agreement.measure import measure
from judgec.stats.agreement.objective import parse_objective
from tests.compile.recorded_world import (
    RECORDED,
    SHEET,
    Rows,
    compiled_in,
    labels,
    report_of,
    settings_of,
    table,
    verdicts,
    world,
)
from tests.compile.small import compiled_on, notes_of

LABELS = labels()
SAID = verdicts(LABELS)


def of(*judges: str) -> Rows:
    return [one for one in SAID if one["judge"] in judges]


def test_compile_chooses_the_judge_that_is_best_once_compiled_and_asks_nobody(whole: SavedJudge) -> None:
    report = report_of(whole)
    assert report["prompt"] == "gpt/odd"
    assert report["lm_calls"] == 0
    assert report["recorded"]["best_alone"] == "gpt/clear"
    assert report["test"]["compiled"]["qwk"]["value"] > report["test"]["best_alone"]["qwk"]["value"] + 0.1
    assert report["test"]["compiled_prompt"]["qwk"]["value"] < report["test"]["compiled"]["qwk"]["value"]
    assert report["lm"] == {"model": "recorded:verdicts"}
    assert whole.card.settings["judge"] == "gpt/odd"
    assert whole.card.settings["model"] == "gpt"


def test_compile_compares_with_the_median_judge_on_train(whole: SavedJudge) -> None:
    compiled = whole.compiled
    part, recorded = compiled.dataset.train, world(SAID, LABELS)[1]
    qwk, values = parse_objective("qwk"), {}
    for name in recorded.judges:
        said = recorded.judgments(name, [item.item_id for item in part.items])
        asked = np.flatnonzero(said.asked)
        judge, expert = said.grade[asked, 0], part.experts.target[asked, 0]
        clusters = np.zeros(len(asked), dtype=np.int64)
        values[name] = qwk.value(GradePairs(expert, judge, judge * 1.0, expert * 0 - 1, judge * 0 - 1, clusters, (0.0, 1.0, 2.0, 3.0), 1))  # fmt: skip  # noqa: E501
    median = sorted(values, key=lambda name: values[name])[(len(values) - 1) // 2]
    assert report_of(whole)["recorded"]["uncompiled"] == median


def test_candidates_say_judge_model_items_estimate_cost_and_who_was_chosen(whole: SavedJudge) -> None:
    rows = {row["judge"]: row for row in report_of(whole)["candidates"]}
    assert set(rows) == {"gpt/odd", "gpt/clear", "gpt/plain", "llama/vague", "llama/silent", "big/half"}
    assert [name for name, row in rows.items() if row["chosen"]] == ["gpt/odd"]
    learned = report_of(whole)["split"]["train"] + report_of(whole)["split"]["dev"]
    assert rows["gpt/odd"]["n"] == rows["gpt/odd"]["items"] == learned
    assert rows["gpt/odd"]["model"] == "gpt"
    assert rows["gpt/odd"]["cost_usd"] == pytest.approx(0.01 * learned)
    assert rows["llama/vague"]["cost_usd"] is None
    assert 0 < rows["big/half"]["n"] < learned
    for row in rows.values():
        assert row["dev"]["low"] <= row["dev"]["value"] <= row["dev"]["high"]
    # Perfect where it answers, and failing on three in five: failing never pays.
    assert rows["llama/silent"]["unscored"] > 0.5 * learned
    assert rows["llama/silent"]["dev"]["value"] < rows["gpt/plain"]["dev"]["value"]


def test_judges_with_few_items_in_common_are_left_out_and_prompts_shown(whole: SavedJudge) -> None:
    assert any("few/few (10)" in note for note in report_of(whole)["notes"])
    (leaf,) = whole.compiled.judge.leaves
    said = str(SAID[0]["prompt"])
    assert leaf == PromptLeaf(
        name="gpt/odd", lm={"model": "gpt"}, turns={"": (("user", said),)}, verdicts="recorded:verdicts"
    )
    page = page_path(whole.compiled.promotion_test.settings.home, whole.card)
    assert said in page.read_text(encoding="utf-8")


def test_the_page_names_the_recorded_judges_and_counts_no_unasked_item_as_unscored(tmp_path: Path) -> None:
    label_set, recorded = world(of("gpt/plain", "big/half"), LABELS)
    found = compiled_in(tmp_path, label_set, recorded.of([name for name in recorded.judges if name.startswith("big/")]))
    page = page_path(tmp_path, found.card).read_text(encoding="utf-8")
    for row in ("uncompiled", "best alone", "compiled"):
        assert f"{row} big/half" in page
    assert "1 candidate" in page
    assert f"unscored: {NOT_ASKED}" not in page


def test_a_judge_that_was_asked_about_half_is_compared_on_that_half(tmp_path: Path) -> None:
    saved = compiled_in(tmp_path, *world(of("gpt/odd", "big/half"), LABELS), baseline="big/half")
    report = report_of(saved)
    test = report["test"]
    assert report["recorded"]["uncompiled"] == "big/half"
    assert test["uncompiled"]["n"] < test["compiled"]["n"]
    assert test["uncompiled"]["unscored"] == 0  # not asked is not unscored
    both = test["uncompiled"]["n"]
    rated = saved.compiled.verification.ratings
    rivals, qwk = {"uncompiled": rated["uncompiled"]}, parse_objective("qwk")
    decision = decide(rated["compiled"], rivals, qwk, test_use=1)
    assert decision.difference.n == both
    assert f"{both} labels of {test['compiled']['n']}" in decision.reason
    assert any(f"uncompiled was asked about {both} of" in note for note in report["notes"])


def test_what_a_judge_was_not_asked_changes_nothing_of_what_is_known_of_it(tmp_path: Path) -> None:
    """The same judges, with and without items that nobody was asked about: the same table but for the majority."""

    def asked(one: Any) -> bool:
        return int(one["item_id"].partition("-")[0][1:]) % 3 > 0 and one["judge"] != "big/half"

    saved = compiled_in(tmp_path, *world(list(filter(asked, SAID)), LABELS))
    judged = saved.compiled.verification.judgments["compiled"]
    covered = [i for i, reason in enumerate(judged.unscored) if reason != NOT_ASKED]
    assert 0 < len(covered) < len(judged.unscored)
    found = saved.compiled.verification.agreements["compiled"]
    assert (found.n, found.unscored) == (len(covered), 0)
    rated = saved.compiled.verification.ratings["compiled"]
    again = measure(rated.where(rated.labelled))
    assert again.estimates["qwk"] == found.estimates["qwk"]
    assert set(judged.unscored) == {None, NOT_ASKED}


def test_compile_in_folds_chooses_in_each_and_tests_every_query(tmp_path: Path) -> None:
    world_ = world(of("gpt/odd", "gpt/clear", "gpt/plain"), LABELS)
    report = report_of(compiled_in(tmp_path, *world_, folds=3))
    assert [fold["prompt"] for fold in report["folds"]] == ["gpt/odd"] * 3
    assert report["test"]["compiled"]["n"] == len(LABELS)


def test_baseline_that_is_not_there_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(UserError, match=r"gpt/none; .*big/half, gpt/clear"):
        compiled_in(tmp_path, *world(SAID, LABELS), baseline="gpt/none")


def test_the_champion_is_met_on_items_that_it_was_not_tested_on(tmp_path: Path, whole: SavedJudge) -> None:
    """A second compile with more labels: the first version's verdicts on the new items are looked up."""
    assert whole.card.promoted, whole.card.reason
    shutil.copytree(whole.compiled.promotion_test.settings.home, tmp_path / "home")
    more = labels(queries=90)
    second = compiled_in(tmp_path / "home", *world(verdicts(more), more))
    assert (second.card.version, second.compiled.decision.rival) == (2, "champion")
    assert "unmeasured" not in second.card.reason


def test_a_champion_whose_verdicts_of_new_items_are_missing_says_whose(tmp_path: Path) -> None:
    rows = labels(60, 5)
    said = verdicts(rows)
    first = compiled_in(tmp_path, *world([one for one in said if one["judge"] != "gpt/clear"], rows[:250]))
    set_aliases(tmp_path, "world", {CHAMPION: first.card.version})
    without = [one for one in said if one["judge"] in {"gpt/clear", "gpt/plain"}]
    reason = compiled_in(tmp_path, *world(without, rows)).card.reason
    assert "it is made of gpt/odd, of which these verdicts have nothing" in reason


def test_pairs_in_both_orders_are_compiled_and_their_flips_counted(tmp_path: Path) -> None:
    rng = np.random.default_rng(3)
    rows: Rows = [
        {"item_id": f"i{i}", "query": f"q{i}", "answer_a": f"a{i}", "answer_b": f"b{i}", "preference": "ab"[i % 2]}
        for i in range(150)
    ]
    said: Rows = []
    for row in rows:
        flips = rng.random() < 0.2
        for order in ("ab", "ba"):
            other = "b" if row["preference"] == "a" else "a"
            stated = other if flips and order == "ba" else row["preference"]
            said.append({"item_id": row["item_id"], "judge": "gpt", "order": order, "preference": stated})
    label_set, recorded = world(said, rows, Datasheet())
    found = compiled_on(label_set, settings_of(tmp_path, recorded, objective="kappa"))
    judged = found.compiled.verification.judgments["uncompiled"]
    assert judged.flipped is not None
    assert 0 < judged.flipped.sum() < len(judged.flipped) / 2
    assert (judged.grade[judged.flipped, 0] == label_set.scale.position("tie")).all()
    flipped = f"{int(judged.flipped.sum())} of {len(judged.flipped)} test pairs flipped"
    assert any(note.startswith(flipped) for note in notes_of(found))


def test_items_that_a_judge_was_not_asked_about_are_in_no_test_of_replacing_an_annotator() -> None:
    rng = np.random.default_rng(5)
    rows: Rows = [
        {**row, "annotator": name, "grade": int(rng.integers(0, 4)) if rng.random() < 0.3 else row["grade"]}
        for row in LABELS
        for name in ("ann", "bob", "eve")
    ]
    dataset = make_dataset(label_file(table(rows), SHEET, as_reading(annotators=["*"])).labels, 0)
    whole = majority(dataset, dataset.test, dataset.train.experts.target)
    asked = [i for i in range(len(dataset.test)) if i % 3]
    unscored = tuple(None if i in asked else NOT_ASKED for i in range(len(dataset.test)))
    known = np.isin(np.arange(len(dataset.test)), asked)[:, None]
    judged = replace(whole, unscored=unscored, grade=np.where(known, whole.grade, -1))
    found = replacement(dataset, {"compiled": judged, "majority": whole})
    only = replace(dataset, test=dataset.test.rows(asked))
    assert found == replacement(only, {"compiled": whole.subset(asked), "majority": whole.subset(asked)})
    assert found is not None
    assert found.unscored == 0


def ratings(expert: list[int], judge: list[int]) -> GradePairs:
    n = len(expert)
    grades, said = np.array(expert, dtype=np.int64), np.array(judge, dtype=np.int64)
    none = np.full(n, -1, dtype=np.int64)
    return GradePairs(grades[:, None], said, said.astype(float), none[:, None], none, np.arange(n), (0.0, 1.0), n)


def test_differences_are_of_the_rows_that_both_judges_were_asked_about() -> None:
    one = ratings([0, 1, 0, 1, -1, -1], [0, 1, 0, 0, -1, -1])  # asked about the first four: 3 of 4
    other = ratings([-1, 1, 0, 1, 0, 1], [-1, 0, 0, 0, 0, 1])  # about the last five; of the three in common 1 of 3
    a, b = on_both(one, other)
    assert a.labelled.tolist() == b.labelled.tolist() == [False, True, True, True, False, False]
    found = differences(one, other)["exact"]
    assert found.value == pytest.approx(2 / 3 - 1 / 3)
    assert found.n == 3
    assert measure(other).n == 5


@pytest.mark.soak
@pytest.mark.parametrize(("model", "least"), [("llama3.2", 0.05), ("mistral", 0.02), ("gpt-4o", -0.02)])
def test_compiling_real_prompts_lifts_weak_models_and_does_not_harm_strong_ones(
    tmp_path: Path, model: str, least: float
) -> None:
    stem = RECORDED / "trecdl20_relevance"
    if not RECORDED.exists():
        pytest.skip(f"{RECORDED} is absent: choosing among recorded prompts of real judges is NOT checked")
    label_set = read_label_file(f"{stem}.jsonl").labels
    recorded = read_recorded(f"{stem}.verdicts.parquet", OnWhat.of(label_set), f"{model}/*")
    test = report_of(compiled_in(tmp_path, label_set, check_against(recorded, label_set), folds=5))["test"]
    assert test["compiled"]["qwk"]["value"] - test["uncompiled"]["qwk"]["value"] > least


def test_no_gain_is_reported_over_verdicts_that_could_not_be_read(tmp_path: Path) -> None:
    said = of("gpt/clear", "gpt/plain")
    said = [{**one, "grade": "no idea" if i % 12 == 0 else one["grade"]} for i, one in enumerate(said)]  # words: unread
    saved = compiled_in(tmp_path, *world(said, LABELS), baseline="gpt/plain")
    assert not saved.card.promoted
    assert "not be read" in saved.card.reason
    assert saved.compiled.decision.difference.value is None
    assert all(one.value is None for one in saved.compiled.prompt_gain.values())


def test_a_judge_of_another_range_is_compiled_with_its_range_and_read_so_again(tmp_path: Path) -> None:
    rows = [{**row, "metric": 10 * int(str(row["grade"]))} for row in LABELS]
    said: dict[str, Any] = {"task": "relevance", "name": "m", "home": tmp_path, "evidence": False}
    said |= {"scale": {"grades": [0, 1, 2, 3], "accept_at": 2}}
    with pytest.raises(InputError, match=r'--judges "metric=WORST\.\.BEST"'):
        judgec.compile_judge(rows, judges=["metric"], **said)
    named = judgec.compile_judge(rows, judges={"metric": (0, 30)}, folds=1, **said)
    assert named.report["test"]["uncompiled"]["exact"]["value"] == 1.0
    judged = judgec.load_judge("m@latest", home=tmp_path)(pd.DataFrame(rows))
    assert judged["judge_grade"].tolist() == [row["grade"] for row in rows]
