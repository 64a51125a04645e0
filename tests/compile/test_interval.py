"""The calibrator of labels on an interval scale: a regression of the score, chosen by squared error out of fold."""

import numpy as np

from judgec.compile.calibrate import fit_out_of_fold
from judgec.compile.calibrate_choice import Data
from judgec.compile.promote import decide
from judgec.raters.calibrator import Calibrator
from judgec.raters.decision import spread_of
from judgec.records.ratings import GradePairs
from judgec.records.scale import Scale
from judgec.stats.agreement.objective import parse_objective


def fitted(seed: int, *, learned: bool) -> tuple[Calibrator, np.ndarray, np.ndarray, Scale]:
    rng = np.random.default_rng(seed)
    truth = np.round(1 + 4 * rng.random(240), 2)
    scale = Scale(level="interval", grades=(1, 5)).with_values(truth.tolist())
    values = np.array(scale.values)
    said = np.clip(0.4 * truth + 0.4 + 0.2 * rng.random(240), 1, 5) if learned else 1 + 4 * rng.random(240)
    target = np.searchsorted(values, truth).astype(np.int64)
    nobody = np.full((240, 1), -1)
    data = Data(spread_of(said, values), None, target[:, None], np.arange(240) // 4, scale, nobody)
    return fit_out_of_fold(data)[0], said, truth, scale


def test_fit_out_of_fold_of_a_judge_in_other_units_halves_its_error_and_keeps_its_order() -> None:
    found, said, truth, scale = fitted(0, learned=True)
    assert found.family == "ridge"
    values = np.array(scale.values)
    verdicts = spread_of(said, values)
    score = found.score(found.apply(verdicts, None), verdicts, values)
    assert np.abs(score - truth).mean() < 0.5 * np.abs(said - truth).mean()
    order = np.argsort(said)
    assert (np.diff(score[order]) >= -1e-9).all()
    again = Calibrator.model_validate_json(found.model_dump_json())
    np.testing.assert_array_equal(again.apply(verdicts, None), found.apply(verdicts, None))


def test_fit_out_of_fold_table_compares_the_regressions_with_the_raw_verdict() -> None:
    found = fitted(1, learned=True)[0]
    assert {one.family for one in found.choices} == {"none", "ridge"}
    assert [one.family for one in found.choices if one.incumbent] == ["none"]
    shipped = next(one for one in found.choices if one.chosen)
    assert shipped.loss == min(one.loss for one in found.choices if not one.guarded)


def test_spread_of_keeps_each_number_as_its_mean() -> None:
    values = np.array([0.0, 0.1, 0.7, 1.0])
    numbers = np.array([0.0, 0.05, 0.4, 0.7, 0.99, 1.0])
    np.testing.assert_allclose(spread_of(numbers, values) @ values, numbers, atol=1e-15)


def test_a_judge_farther_off_than_the_median_is_not_promoted_whatever_its_order() -> None:
    given = np.arange(120, dtype=np.float64)
    values, cluster, nobody = tuple(range(200)), np.arange(120) // 2, np.full(120, -1)

    def judge(score: np.ndarray) -> GradePairs:
        grade = np.round(score).astype(np.int64)
        expert = given.astype(np.int64)
        return GradePairs(expert[:, None], grade, score, nobody[:, None], nobody, cluster, values, 60, interval=True)

    median = judge(np.full(120, 60.0))
    noise = np.random.default_rng(0).permutation(given)
    goal = parse_objective("tau_b")
    for off, promoted in ((0.0, True), (79.0, False)):
        found = decide(judge(given + off), {"uncompiled": judge(noise)}, goal, test_use=1, majority=median)
        assert found.promoted == promoted
        assert ("mae" in found.below_majority) != promoted
