"""``judgec.agreement`` of judges and experts whose columns are not alike, against SciPy and scikit-learn."""

from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats
from sklearn.metrics import cohen_kappa_score, roc_auc_score

import judgec
from judgec.errors import UserError

N = 120


def sheet(seed: int = 4) -> pd.DataFrame:
    """Two people on 1-5, three answers a question, and judges of many ranges."""
    rng = np.random.default_rng(seed)
    mia = rng.integers(1, 6, N)
    noah = np.clip(mia + rng.integers(-1, 2, N), 1, 5)
    near = np.clip(mia + rng.integers(-1, 2, N), 1, 5)
    share = np.clip((mia - 1) / 4 + rng.normal(0, 0.2, N), 0, 1).round(2)
    return pd.DataFrame(
        {
            "Frage": [f"Frage {i // 3}?" for i in range(N)], "Mia": mia, "Noah": noah, "gpt": near, "metric": share,
            "percent": (100 * share).round(), "ten": 1 + (9 * share).round(), "from zero": near - 1,
            "thirds": np.array([1, 1, 2, 3, 3])[near - 1], "low": 6 - near, "ok": np.where(mia >= 4, "yes", "no"),
        }
    )  # fmt: skip


@pytest.mark.parametrize("judge", ["metric", "percent", "ten", "from zero"])
def test_only_the_order_counts_of_a_judge_off_the_scale_until_its_range_is_declared(judge: str) -> None:
    frame = sheet()
    found = judgec.agreement(frame, annotators="Mia", judges=judge, best=5)
    assert found.estimates["tau_b"].value == pytest.approx(stats.kendalltau(frame.Mia, frame[judge]).statistic)
    assert found.estimates["spearman"].value == pytest.approx(stats.spearmanr(frame.Mia, frame[judge]).statistic)
    for name in ("exact", "kappa", "qwk", "accept_agreement"):
        assert found.estimates[name].value is None
        assert "off the scale" in found.estimates[name].note
    assert found.agreement.bland_altman.bias is None
    assert any(f'--judges "{judge}=' in note for note in found.notes)
    assert found.report["judges"][judge]["cut_off"]["folds"] == 10  # type: ignore[index]  # of accepted from 4


def test_judges_of_grades_and_of_numbers_are_compared_by_their_order_as_it_stands() -> None:
    frame = sheet()
    found = judgec.agreement(frame, annotators="Mia", judges={"percent": (0, 100), "thirds": None}, best="5")
    assert (found.headline, found.leading) == ("tau_b_score", "tau_b_score")
    for judge in ("percent", "thirds"):
        one = found.agreements[judge].estimates["tau_b_score"]
        assert one.value == pytest.approx(stats.kendalltau(frame.Mia, frame[judge]).statistic)
    assert judgec.agreement(frame, annotators="Mia", judges="thirds", best="5").headline == "tau_b"


def test_numbers_on_the_scale_are_grades_whatever_part_of_it_they_fill() -> None:
    frame = sheet()
    found = judgec.agreement(frame, annotators="Mia", judges="thirds", best=5)
    assert found.estimates["kappa"].value == pytest.approx(cohen_kappa_score(frame.Mia, frame.thirds))


@pytest.mark.parametrize(("judge", "ends"), [("metric", (0, 1)), ("percent", (0, 100)), ("from zero", (0, 4))])
@pytest.mark.parametrize("typed", [False, True])
def test_a_range_that_is_declared_makes_grades_of_the_numbers(judge: str, ends: tuple[int, int], typed: bool) -> None:
    frame = sheet()
    judges = f"{judge}={ends[0]}..{ends[1]}" if typed else {judge: ends}
    found = judgec.agreement(frame, annotators="Mia", judges=judges, best=5)
    mapped = 1 + 4 * (frame[judge] - ends[0]) / (ends[1] - ends[0])
    said = [round(one) for one in mapped.round(9)]
    assert found.judge == judge
    assert found.estimates["kappa"].value == pytest.approx(cohen_kappa_score(frame.Mia, said))
    assert found.estimates["exact"].value == pytest.approx(np.mean(frame.Mia == said))


def test_a_score_beside_words_of_people_has_the_area_of_scikit_learn_with_decimal_commas() -> None:
    frame = sheet()
    frame["KI-Wert"] = [f"{one:.2f}".replace(".", ",") for one in frame.metric]
    found = judgec.agreement(frame, annotators="ok", judges="KI-Wert")
    assert found.estimates["auc"].value == pytest.approx(roc_auc_score(frame.ok == "yes", frame.metric))
    assert found.estimates["kappa"].value is None
    assert 0 < found.cut_offs["KI-Wert"].at < 1
    assert any("best cut-off" in note for note in found.notes)


def test_words_are_grades_in_the_order_that_is_declared_and_a_threshold_in_words_is_one() -> None:
    words = np.array(["bad", "fair", "good"])
    rng = np.random.default_rng(1)
    human = rng.integers(0, 3, 60)
    judge = np.clip(human + rng.integers(-1, 2, 60), 0, 2)
    frame = pd.DataFrame({"human": words[human], "llm": words[judge]})
    found = judgec.agreement(frame, annotators="human", judges="llm", grades="bad,fair,good", accept_at="fair")
    assert found.estimates["tau_b"].value == pytest.approx(stats.kendalltau(human, judge).statistic)
    assert found.estimates["qwk"].value == pytest.approx(cohen_kappa_score(human, judge, weights="quadratic"))
    assert found.estimates["accept_agreement"].value == pytest.approx(np.mean((human >= 1) == (judge >= 1)))
    with pytest.raises(UserError, match=r"--accept-at great: .*bad, fair, good"):
        judgec.agreement(frame, annotators="human", judges="llm", grades="bad,fair,good", accept_at="great")
    classes = judgec.agreement(frame, annotators="human", judges="llm")
    assert classes.estimates["kappa"].value == pytest.approx(cohen_kappa_score(human, judge))
    assert classes.estimates["tau_b"].value is None


def test_yes_and_no_are_accept_and_reject() -> None:
    frame = sheet()
    frame["ok"], frame["judge"] = np.where(frame.Mia >= 4, "yes", "no"), np.where(frame.gpt >= 4, "Pass", "Fail")
    found = judgec.agreement(frame, annotators="ok", judges="judge")
    said = cohen_kappa_score(frame.ok == "yes", frame.judge == "Pass")
    assert found.estimates["kappa"].value == pytest.approx(said)


@pytest.mark.parametrize(("human", "judge"), [(["red", "blue"], ["p", "q"]), ([1, 5], ["red", "blue"])])
def test_judge_that_shares_no_value_with_people_is_unscored_and_says_so(human: list[object], judge: list[str]) -> None:
    frame = pd.DataFrame({"human": human * 20, "judge": judge * 20})
    found = judgec.agreement(frame, annotators="human", judges="judge", best=5 if 5 in human else None)
    assert (found.agreement.n, found.agreement.unscored) == (0, 40)
    assert any("off the scale" in note and judge[0] in note for note in found.notes)


def test_judge_that_runs_against_people_is_a_finding_and_turned_round_only_where_that_is_declared() -> None:
    frame = sheet()
    found = judgec.agreement(frame, annotators="Mia", judges="low", best=5)
    tau = stats.kendalltau(frame.Mia, frame.low).statistic
    assert found.estimates["tau_b"].value == pytest.approx(tau)
    assert any('--judges "low=' in note for note in found.notes)
    turned = judgec.agreement(frame, annotators="Mia", judges={"low": (5, 1)}, best=5)
    assert turned.estimates["tau_b"].value == pytest.approx(-tau)
    assert turned.estimates["kappa"].value == pytest.approx(cohen_kappa_score(frame.Mia, frame.gpt))
    assert not any('--judges "low=' in note for note in turned.notes)


def test_rows_of_one_question_are_counted_together_without_being_told() -> None:
    frame = sheet()
    found = judgec.agreement(frame, annotators="Mia", judges="gpt", columns={"Frage": "query"}, best=5)
    told = judgec.agreement(frame, annotators="Mia", judges="gpt", cluster="Frage", best=5)
    assert found.agreement.n_clusters == N // 3
    pd.testing.assert_frame_equal(found.table, told.table)
    assert any("clustered by query: 40 in 120" in note for note in found.reading)


def test_several_experts_are_compared_by_their_consensus_with_their_ceiling_beside() -> None:
    frame = sheet()
    found = judgec.agreement(frame, annotators=["Mia", "Noah"], judges="gpt", best=5)
    both = frame[["Mia", "Noah"]].mean(axis=1)
    assert found.agreement.bland_altman.bias == pytest.approx((frame.gpt - both).mean())
    kappas = [cohen_kappa_score(frame.Mia, frame.Noah)] * 2  # of two, each is what the other is compared with
    assert found.ceilings["gpt"].estimates["kappa"].value == pytest.approx(np.mean(kappas))
    beside = np.mean([cohen_kappa_score(frame.Mia, frame.gpt), cohen_kappa_score(frame.Noah, frame.gpt)])
    assert found.beside["gpt"].estimates["kappa"].value == pytest.approx(beside)
    assert {"ceiling", "compiled_loo"} <= set(found.report["judges"]["gpt"])  # type: ignore[index]  # mappings
    typed = judgec.agreement(frame, annotators="Mia,Noah", judges="gpt", best=5)
    pd.testing.assert_frame_equal(found.table, typed.table)


def test_means_of_raters_are_said_and_rounded_when_asked() -> None:
    rng = np.random.default_rng(3)
    mean = rng.integers(1, 6, (90, 3)).mean(axis=1).round(3)
    frame = pd.DataFrame({"human": mean, "judge": mean.round().astype(int)})
    said = judgec.agreement(
        frame, annotators="human", judges="judge", scale={"level": "interval", "grades": [1, 5]}
    ).reading
    assert any("means of 3 annotators (thirds)" in note for note in said)
    found = judgec.agreement(frame, annotators="human", judges="judge", round="nearest", best=5)
    assert found.estimates["exact"].value == 1.0


@settings(max_examples=25, deadline=None)
@given(st.floats(0.1, 100), st.floats(-50, 50))
def test_rank_statistics_do_not_depend_on_the_unit_of_a_score(factor: float, shift: float) -> None:
    frame = sheet().assign(other=lambda one: one.metric * factor + shift + 1000)
    one, other = (judgec.agreement(frame, annotators="ok", judges=name) for name in ("metric", "other"))
    for name in ("tau_b_score", "spearman", "auc"):
        assert one.estimates[name].value == pytest.approx(other.estimates[name].value)


def test_cut_off_on_the_wrong_side_is_left_out_until_the_numbers_are_turned() -> None:
    rng = np.random.default_rng(2)
    grade = rng.integers(1, 6, 80)
    low = np.clip(1 - (grade - 1) / 4 + rng.normal(0, 0.1, 80), 0, 1)
    rows = pd.DataFrame({"human": grade, "hallucination": low})
    as_it_is = judgec.agreement(rows, annotators="human", judges="hallucination", accept_at="4", best=5)
    assert as_it_is.estimates["tau_b_score"].value < -0.5  # type: ignore[operator]  # not None
    assert as_it_is.cut_offs == {}
    turned = judgec.agreement(rows, annotators="human", judges={"hallucination": (1, 0)}, accept_at="4", best=5)
    assert turned.estimates["kappa"].value is not None
    cut = turned.cut_offs["hallucination"]
    assert cut.below
    assert 0.2 < cut.at < 0.5  # grades 4 and 5 are near .25 and 0


@pytest.mark.parametrize("cell", ["0.4", "good"])
def test_notes_on_recorded_numbers_of_another_range_speak_of_a_score_and_of_no_grade(cell: str, tmp_path: Path) -> None:
    frame = sheet()
    items = [str(i) for i in range(len(frame))]
    labels = pd.DataFrame({"item_id": items, "query": items, "answer": items, "grade": frame.Mia})
    labels.to_csv(tmp_path / "labels.csv", index=False)
    said = [cell, *map(str, frame.metric[1:])]
    verdicts = pd.DataFrame({"item_id": items, "judge": "gpt", "grade": said})
    verdicts.to_csv(tmp_path / "v.csv", index=False)

    found = judgec.agreement(str(tmp_path / "v.csv"), labels=str(tmp_path / "labels.csv"))

    assert any("only their order counts" in note for note in found.notes)
    assert not [note for note in found.notes if "grades off the scale" in note or "nearest" in note]
    assert any("grade off the scale (good;" in note for note in found.notes) == (cell == "good")


def test_numbers_outside_a_range_that_is_declared_are_outside_of_it_and_not_of_the_grades() -> None:
    found = judgec.agreement(sheet(), annotators="Mia", judges="metric=0..0.8", best=5)
    assert any("numbers of 0..0.8)" in note for note in found.notes)
