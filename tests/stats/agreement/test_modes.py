"""Failure modes: values by hand and by scikit-learn, rare ones, unscored ones, Holm, micro and macro."""

import numpy as np
import pytest
from scipy import stats
from sklearn.metrics import cohen_kappa_score, precision_score, recall_score

from judgec.records.label import IntArray
from judgec.records.ratings import GradePairs
from judgec.stats.agreement.modes import LEAST, association_p, measure_modes
from judgec.stats.intervals.significance import holm
from tests.stats.known import bounds

N = 200


def pairs(expert: IntArray, judge: IntArray, cluster: IntArray | None = None) -> GradePairs:
    cluster = np.arange(len(expert)) if cluster is None else cluster
    unknown = np.full(len(expert), -1)
    score = np.where(judge < 0, np.nan, judge.astype(float))
    return GradePairs(
        expert[:, None], judge, score, unknown[:, None], unknown, cluster, (0.0, 1.0), int(cluster.max()) + 1
    )


def made(table: list[list[int]]) -> GradePairs:
    """Rows with this table, experts down, the judge across."""
    cells = [(i, j) for i in (0, 1) for j in (0, 1) for _ in range(table[i][j])]
    expert, judge = np.array(cells, dtype=np.int64).T
    return pairs(expert, judge)


def noisy(seed: int, rate: float, wrong: float) -> GradePairs:
    rng = np.random.default_rng(seed)
    expert = (rng.random(N) < rate).astype(np.int64)
    judge = np.where(rng.random(N) < wrong, 1 - expert, expert)
    return pairs(expert, judge, np.arange(N) // 2)


def test_mode_by_hand() -> None:
    # experts see it in 12, the judge flags 15, both 9: precision 9/15, recall 9/12;
    # agreement (79 + 9)/94, by chance (82 * 79 + 12 * 15)/94**2
    one = measure_modes({"wrong": made([[76, 6], [3, 9]])}).modes["wrong"]
    assert (one.n, one.present, one.flagged, one.unscored) == (94, 12, 15, 0)
    assert one.precision.value == pytest.approx(9 / 15)
    assert one.recall.value == pytest.approx(9 / 12)
    chance = (82 * 79 + 12 * 15) / 94**2
    assert one.kappa.value == pytest.approx((85 / 94 - chance) / (1 - chance))
    for found in (one.precision, one.recall, one.kappa):
        low, high = bounds(found)
        assert low < found.value < high  # type: ignore[operator]  # they have values


def test_all_modes_agree_with_scikit_learn_micro_and_macro() -> None:
    parts = {"a": noisy(1, 0.3, 0.1), "b": noisy(2, 0.5, 0.2), "c": noisy(3, 0.15, 0.05)}
    found = measure_modes(parts)
    for name, score in (("precision", precision_score), ("recall", recall_score), ("kappa", cohen_kappa_score)):
        each = [score(part.target[:, 0], part.judge) for part in parts.values()]
        assert [getattr(one, name).value for one in found.modes.values()] == pytest.approx(each)
        assert found.macro[name].value == pytest.approx(np.mean(each))
        assert found.averaged[name] == ("a", "b", "c")
        whole = [
            np.concatenate([getattr(part, side).ravel() for part in parts.values()]) for side in ("target", "judge")
        ]
        assert getattr(found.micro, name).value == pytest.approx(score(*whole))
        low, high = found.macro[name].low, found.macro[name].high
        assert low is not None
        assert high is not None
        assert low < np.mean(each) < high


def test_holm_over_the_modes_that_can_be_measured() -> None:
    parts = {"a": noisy(1, 0.3, 0.45), "b": noisy(2, 0.5, 0.2), "rare": made([[198, 0], [1, 1]])}
    found = measure_modes(parts)
    assert found.modes["rare"].p_holm is None
    p = np.array([found.modes[name].p for name in ("a", "b")], dtype=np.float64)
    assert [found.modes[name].p_holm for name in ("a", "b")] == pytest.approx(holm(p).tolist())
    assert found.modes["b"].p_holm == pytest.approx(2 * p[1])


def test_judge_that_guesses_finds_no_mode() -> None:
    rng = np.random.default_rng(0)
    parts = {
        f"m{k}": pairs(rng.integers(0, 2, N), rng.integers(0, 2, N), np.arange(N))  # ten chances to find one
        for k in range(10)
    }
    assert min(one.p_holm or 0.0 for one in measure_modes(parts).modes.values()) > 0.05


def test_rare_mode_says_what_cannot_be_measured_and_is_in_no_mean_of_it() -> None:
    parts = {"usual": made([[70, 10], [10, 10]]), "rare": made([[185, 12], [2, 1]])}
    found = measure_modes(parts)
    rare = found.modes["rare"]
    assert rare.recall.value is None
    assert rare.kappa.value is None
    assert rare.recall.note.startswith("3 of 200 items ")
    assert "about 134 more" in rare.recall.note
    assert rare.precision.value == pytest.approx(1 / 13)  # enough was flagged
    assert found.averaged == {"kappa": ("usual",), "precision": ("usual", "rare"), "recall": ("usual",)}
    assert found.macro["recall"].value == found.modes["usual"].recall.value
    assert found.notes == (f"rare: {rare.recall.note}",)


def test_judge_that_flags_nothing_has_recall_and_no_precision() -> None:
    one = measure_modes({"wrong": made([[80, 0], [20, 0]])}).modes["wrong"]
    assert one.recall.value == 0.0
    assert one.precision.value is None
    assert f" 0 items, {LEAST} are" in one.precision.note
    assert one.kappa.value == 0.0


def test_mode_that_is_nearly_always_there_is_rare_too() -> None:
    one = measure_modes({"wrong": made([[1, 2], [10, 87]])}).modes["wrong"]
    assert "3 of 100 items" in one.kappa.note


def test_mode_that_nobody_saw() -> None:
    one = measure_modes({"wrong": made([[50, 0], [0, 0]])}).modes["wrong"]
    assert one.recall.note.startswith("0 of 50 items ")


def test_unscored_rows_are_counted_and_in_nothing() -> None:
    whole = made([[70, 10], [10, 10]])
    expert = np.concatenate([whole.target[:, 0], [1, 1, 0]])
    judge = np.concatenate([whole.judge, [-1, -1, -1]])
    found = measure_modes({"wrong": pairs(expert, judge)}).modes["wrong"]
    assert (found.n, found.unscored, found.present) == (100, 3, 20)
    assert found.recall.value == 0.5


def test_association_of_rows_that_are_queries_is_fishers() -> None:
    one = made([[8, 2], [1, 5]])
    expected = stats.fisher_exact(np.array([[8, 2], [1, 5]])).pvalue
    assert expected == pytest.approx(0.03497, abs=1e-5)
    assert association_p(one.target[:, 0], one.judge, one.cluster) == pytest.approx(expected)


def test_judge_without_an_error_is_associated_by_hand() -> None:
    # six queries of one present and one absent row each: every query's sum is 2 * .5 * .5, so t = 3 / sqrt(6 / 4)
    expert = np.tile([0, 1], 6)
    p = association_p(expert, expert, np.arange(12) // 2)
    assert p == pytest.approx(2 * stats.t.sf(np.sqrt(6), 5))
    assert association_p(expert, np.zeros(12, dtype=np.int64), np.arange(12) // 2) is None


def test_association_of_clustered_noise_is_found_as_often_as_it_says() -> None:
    rng = np.random.default_rng(2)
    cluster = np.repeat(np.arange(60), 4)
    found = 0
    for _ in range(1000):  # answers to one question share their fault, on both sides, but not with each other
        expert, judge = (((rng.random(60)[cluster] + 0.6 * rng.random(240)) > 0.9).astype(np.int64) for _ in (0, 1))
        p = association_p(expert, judge, cluster)
        found += p is not None and p < 0.05
    assert 25 <= found <= 75
