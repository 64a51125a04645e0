from functools import cache

import numpy as np
import pytest
from sklearn.isotonic import IsotonicRegression
from sklearn.linear_model import LogisticRegression

from judgec.compile.calibrate import EVIDENCE_C, OUTLIER, fit_out_of_fold, fit_source
from judgec.compile.calibrate_choice import Data, fit_accept_threshold
from judgec.raters.calibrator import Calibrator
from judgec.records.label import FloatArray, IntArray
from judgec.records.scale import ACCEPT_SCALE, Scale
from tests.pace import assert_within, cpu_seconds

FOUR = Scale(grades=(1, 2, 3, 4))
PAIRS = Scale(grades=("a", "b", "tie"), level="nominal")
CHOICE = Scale(grades=("a", "tie", "b"), level="nominal")


def world(n: int, k: int, seed: int, signal: float = 1.5) -> tuple[FloatArray, IntArray, IntArray]:
    """Ten features of which two carry ``signal``, grades from a noisy score, two items a query."""
    rng = np.random.default_rng(seed)
    evidence = rng.normal(size=(n, 10))
    score = signal * (evidence[:, 0] - evidence[:, 1]) + rng.normal(size=n)
    target = np.searchsorted(np.quantile(score, np.linspace(0, 1, k + 1)[1:-1]), score).astype(np.int64)
    return evidence, target, np.arange(n) // 2


def sharp(target: IntArray, k: int, right: float, seed: int) -> FloatArray:
    """A confident LM that gives the expert's grade with probability ``right``."""
    rng = np.random.default_rng(seed)
    said = np.where(rng.random(len(target)) < right, target, rng.integers(0, k, len(target)))
    return np.eye(k)[said] * 0.9 + 0.1 / k


def fit(
    evidence: FloatArray | None, verdicts: FloatArray | None, target: IntArray, cluster: IntArray, scale: Scale
) -> Calibrator:
    """The calibrator of these rows; -1 is unlabelled, and accepts follow from the grades."""
    names = () if evidence is None else tuple(f"f{i}" for i in range(evidence.shape[1]))
    known = (target >= 0) & (scale.accept_index is not None)
    accept = np.where(known, target >= (scale.accept_index or 0), -1).astype(np.int64)
    data = Data(verdicts, evidence, target[:, None], cluster, scale, accept[:, None])
    return fit_out_of_fold(data, names=names, seed=1)[0]


@cache
def graded() -> Calibrator:
    evidence, target, cluster = world(240, 4, 0)
    return fit(evidence, None, target, cluster, FOUR)


def test_fit_out_of_fold_json_round_trip_is_exact() -> None:
    evidence = world(50, 4, 5)[0]
    again = Calibrator.model_validate_json(graded().model_dump_json())
    assert again == graded()
    np.testing.assert_array_equal(again.apply(None, evidence), graded().apply(None, evidence))


def test_fit_out_of_fold_signal_is_found_on_new_queries() -> None:
    evidence, target, _ = world(300, 4, 9)
    found = graded().apply(None, evidence)
    np.testing.assert_allclose(found.sum(axis=1), 1.0, atol=1e-12)
    assert found.min() > 0.0
    assert np.corrcoef(found @ np.arange(4), target)[0, 1] > 0.7
    assert {choice.family for choice in graded().choices} == {"ordinal"}
    assert sum(choice.chosen for choice in graded().choices) == 1


def test_pairs_are_fitted_in_both_orders() -> None:
    """Experts like the first place here; what is said of a pair turned round is the mirror image all the same."""
    evidence, _, cluster = world(240, 3, 6)
    noise = np.random.default_rng(1).normal(size=240)
    gap = 1.5 * evidence[:, 0] + noise + 0.3
    target = np.where(gap > 0.5, 0, np.where(gap < -0.5, 1, 2)).astype(np.int64)  # a, b, tie
    calibrator = fit(evidence, None, target, cluster, PAIRS)
    assert (calibrator.family, calibrator.root) == ("multinomial", True)
    there, back = calibrator.apply(None, evidence), calibrator.apply(None, -evidence)
    np.testing.assert_allclose(there, back[:, [1, 0, 2]], atol=1e-3)
    assert np.mean(there.argmax(axis=1) == target) > 0.6
    again = Calibrator.model_validate_json(calibrator.model_dump_json())
    np.testing.assert_array_equal(again.apply(None, evidence), there)


def test_both_orders_exchanges_verdicts_evidence_and_every_part_of_a_target() -> None:
    verdicts, target = np.array([[0.7, 0.2, 0.1]]), np.array([[0, 2]])
    both = Data(verdicts, np.array([[3.0]]), target, np.array([0]), PAIRS, target).both_orders()
    assert both.verdicts is not None
    assert both.evidence is not None
    assert both.verdicts.tolist() == [[0.7, 0.2, 0.1], [0.2, 0.7, 0.1]]
    assert (both.evidence.tolist(), both.target.tolist()) == ([[3.0], [-3.0]], [[0, 2], [1, 2]])


def test_classes_that_are_no_pairs_have_no_other_order() -> None:
    evidence, target, cluster = world(120, 3, 8)
    calibrator = fit(evidence, None, target, cluster, Scale(grades=("x", "y", "z"), level="nominal"))
    assert (calibrator.family, calibrator.root) == ("multinomial", False)


def test_cuts_between_grades_share_slopes_and_have_their_own() -> None:
    """As one regression of all cuts: columns that all share, then those of each; ones that are hardly penalized."""
    evidence, target, cluster = world(240, 4, 7)
    data = Data(None, evidence, target[:, None], cluster, FOUR, np.full((240, 1), -1))
    ((_, ordinal),) = fit_source(data, "evidence", ("ordinal",))
    scaled = np.clip((evidence - evidence.mean(axis=0)) / evidence.std(axis=0), -OUTLIER, OUTLIER)
    cuts = np.eye(3)
    columns = np.vstack([np.hstack([scaled, np.kron(cut, scaled), 1e4 * np.tile(cut, (240, 1))]) for cut in cuts])
    above = np.concatenate([target >= cut for cut in (1, 2, 3)])
    model = LogisticRegression(C=EVIDENCE_C, fit_intercept=False, max_iter=5_000, tol=1e-9).fit(columns, above)
    slopes = model.coef_[0][:10] + model.coef_[0][10:40].reshape(3, 10)
    assert ordinal.linear is not None
    assert ordinal.linear.classes == (1, 2, 3)
    np.testing.assert_allclose(ordinal.linear.coefficients, slopes, atol=2e-3)
    np.testing.assert_allclose(ordinal.linear.intercepts, 1e4 * model.coef_[0][40:], atol=2e-3)
    shares = ordinal.model_copy(update={"feature_names": ("",) * 10}).apply(None, evidence).mean(axis=0)
    np.testing.assert_allclose(shares, 0.25, atol=0.02)  # as many of each grade as there are: none is lost between cuts


def test_what_is_unlike_every_label_is_graded_by_what_the_grades_share() -> None:
    evidence, target, cluster = world(240, 4, 3)
    data = Data(None, evidence, target[:, None], cluster, FOUR, np.full((240, 1), -1))
    ((_, found),) = fit_source(data, "evidence", ("ordinal",))
    found = found.model_copy(update={"feature_names": ("",) * 10})
    far, farther = (found.apply(None, away * (np.eye(1, 10) - np.eye(1, 10, 1))) for away in (5.0, 50.0))
    assert far.argmax() == 3
    np.testing.assert_array_equal(far, farther)


@pytest.mark.parametrize("k", [2, 3])
def test_multinomial_equals_scikit_learn(k: int) -> None:
    _, target, cluster = world(240, k, 4)
    scale = Scale(grades=tuple(range(k)), level="nominal")
    verdicts = sharp(target, k, 0.6, 0)  # surer than it is right: its own distribution loses
    calibrator = fit(None, verdicts, target, cluster, scale)
    assert {choice.family for choice in calibrator.choices} == {"multinomial"}
    above = np.cumsum(verdicts[:, ::-1], axis=1)[:, ::-1][:, 1:].clip(0.01, 0.99)
    logits = np.log(above / (1 - above))
    scaled = (logits - logits.mean(axis=0)) / logits.std(axis=0)
    model = LogisticRegression(C=1.0, max_iter=500, tol=1e-9).fit(scaled, target)
    found = (calibrator.apply(verdicts, None) - calibrator.smoothing / k) / (1 - calibrator.smoothing)
    np.testing.assert_allclose(found, model.predict_proba(scaled), atol=1e-3, rtol=0)


def test_isotonic_equals_scikit_learn() -> None:
    rng = np.random.default_rng(0)
    p = rng.random(400)
    target = (rng.random(400) < np.where(p < 0.3, 0.05, np.where(p < 0.7, 0.5, 0.95))).astype(np.int64)
    calibrator = fit(None, np.column_stack([1 - p, p]), target, np.arange(400), ACCEPT_SCALE)
    assert calibrator.family == "isotonic"
    wanted = IsotonicRegression(out_of_bounds="clip").fit(p, target).predict(p)
    found = (calibrator.apply(np.column_stack([1 - p, p]), None)[:, 1] - calibrator.smoothing / 2) / (
        1 - calibrator.smoothing
    )
    np.testing.assert_allclose(found, wanted, atol=1e-12, rtol=0)


def test_fit_out_of_fold_strong_lm_is_left_alone() -> None:
    """With an LM that is nearly always right, useless evidence may not enter."""
    for seed in range(3):
        _, target, cluster = world(200, 2, seed)
        noise = np.random.default_rng(seed + 50).normal(size=(200, 10))
        calibrator = fit(noise, sharp(target, 2, 0.95, seed), target, cluster, ACCEPT_SCALE)
        assert calibrator.source == "lm", f"seed {seed}: {calibrator.source} {calibrator.family}"


def test_fit_out_of_fold_weak_lm_gets_help_from_evidence() -> None:
    evidence, target, cluster = world(300, 4, 6, signal=3.0)
    calibrator = fit(evidence, sharp(target, 4, 0.3, 0), target, cluster, FOUR)
    assert calibrator.source in {"evidence", "both"}
    chosen = next(choice for choice in calibrator.choices if choice.chosen)
    assert chosen.gain_error is not None
    assert chosen.gain > chosen.gain_error > 0.0


def test_fit_out_of_fold_slight_help_waits_behind_the_verdict() -> None:
    """A gain within one standard error keeps a model's verdict as it is; without a model evidence judges."""
    evidence, target, cluster = world(120, 4, 3, signal=1.3)
    verdicts = sharp(target, 4, 0.7, 0)
    kept = fit(evidence, verdicts, target, cluster, FOUR)
    free = fit(evidence, None, target, cluster, FOUR)
    assert (kept.source, kept.rule.name) == ("lm", "raw")
    assert free.source == "evidence"
    assert {choice.source for choice in free.choices} == {"evidence"}


def test_fit_out_of_fold_two_independent_halves_are_mixed() -> None:
    evidence, target, cluster = world(400, 4, 7, signal=1.0)
    calibrator = fit(evidence, sharp(target, 4, 0.6, 0), target, cluster, FOUR)
    assert calibrator.source == "both"


def test_fit_out_of_fold_nothing_to_find_gives_the_shares() -> None:
    for seed in range(3):
        rng = np.random.default_rng(seed)
        target = (rng.random(200) < 0.8).astype(np.int64)
        calibrator = fit(rng.normal(size=(200, 30)), None, target, np.arange(200), ACCEPT_SCALE)
        found = calibrator.apply(None, rng.normal(size=(50, 30)))
        assert (found[:, 1] >= 0.5).all(), (seed, calibrator.family)


def test_fit_out_of_fold_twenty_labels_work() -> None:
    evidence, target, cluster = world(20, 4, 8)
    found = fit(evidence, None, target, cluster, FOUR).apply(None, world(30, 4, 9)[0])
    assert np.isfinite(found).all()
    assert found.min() > 0.0


@pytest.mark.parametrize("scale", [FOUR, CHOICE])
def test_fit_out_of_fold_grade_without_examples_keeps_mass(scale: Scale) -> None:
    evidence, target, cluster = world(120, 3, 10)
    target = np.array([0, 1, 3] if scale is FOUR else [0, 2, 2])[target]
    found = fit(evidence, None, target, cluster, scale).apply(None, evidence)
    assert (found > 0.0).all()
    assert found[:, 2 if scale is FOUR else 1].max() < 0.2


def test_fit_out_of_fold_one_grade_or_one_query_gives_shares_or_the_lm() -> None:
    evidence, target, cluster = world(30, 2, 11)
    same = fit(evidence, None, np.ones(30, dtype=np.int64), cluster, ACCEPT_SCALE)
    np.testing.assert_allclose(same.apply(None, evidence), np.tile([0.5 / 31, 30.5 / 31], (30, 1)))
    alone = fit(evidence, sharp(target, 2, 1.0, 0), target, np.zeros(30, dtype=np.int64), ACCEPT_SCALE)
    assert (alone.source, alone.family, alone.choices) == ("lm", "none", ())


def test_evidence_alone_does_not_flag_a_mode_that_nobody_saw() -> None:
    """A verdict that knows nothing is even, and would flag what experts never did; it stays the verdict's own."""
    evidence, _, cluster = world(30, 2, 11)
    nobody = np.zeros(30, dtype=np.int64)
    found = fit(evidence, None, nobody, cluster, ACCEPT_SCALE)
    assert (found.source, found.family) == ("evidence", "prior")
    assert found.apply(None, evidence)[:, 1].max() < 0.02
    assert fit(evidence, np.full((30, 2), 0.5), nobody, cluster, ACCEPT_SCALE).family == "none"


def test_fit_out_of_fold_unlabelled_and_unscored_rows_teach_nothing() -> None:
    _, target, cluster = world(120, 2, 12)
    verdicts = sharp(target, 2, 0.9, 0)
    holes, unlabelled = verdicts.copy(), target.copy()
    holes[100:110], unlabelled[110:] = np.nan, -1
    kept = fit(None, verdicts[:100], target[:100], cluster[:100], ACCEPT_SCALE)
    assert fit(None, holes, unlabelled, cluster, ACCEPT_SCALE) == kept
    assert kept.n_labels == 100


def test_fit_out_of_fold_same_seed_same_result_whatever_the_query_numbers() -> None:
    evidence, target, cluster = world(80, 2, 13)
    assert fit(evidence, None, target, cluster, ACCEPT_SCALE) == fit(evidence, None, target, cluster + 7, ACCEPT_SCALE)


def test_fit_out_of_fold_unusable_input_is_refused() -> None:
    evidence, target, cluster = world(20, 2, 14)
    with pytest.raises(ValueError, match="neither"):
        fit(None, None, target, cluster, ACCEPT_SCALE)
    with pytest.raises(ValueError, match="none labelled"):
        fit(evidence, None, np.full(20, -1), cluster, ACCEPT_SCALE)
    data = Data(None, evidence, target[:, None], cluster, FOUR, np.full((20, 1), -1))
    with pytest.raises(ValueError, match="3 names for 10"):
        fit_out_of_fold(data, names=("a",) * 3)


def test_fit_accept_threshold_calibrated_probabilities_stay_near_one_half() -> None:
    for seed in range(20):
        rng = np.random.default_rng(seed)
        p = rng.random(60)
        accept = (rng.random(60) < p).astype(np.float64)
        assert 0.3 <= fit_accept_threshold(p, accept, np.arange(60)) <= 0.7


@pytest.mark.parametrize("strict", [0.8, 0.2])
def test_fit_accept_threshold_stricter_experts_move_it(strict: float) -> None:
    p = np.linspace(0.0, 1.0, 400)
    assert fit_accept_threshold(p, (p > strict).astype(np.float64), np.arange(400)) == pytest.approx(strict, abs=0.04)


@pytest.mark.parametrize(("p", "accept"), [([0.9, np.nan], [np.nan, 1.0]), ([], [])])
def test_fit_accept_threshold_unlabelled_or_unscored_is_one_half(p: list[float], accept: list[float]) -> None:
    assert fit_accept_threshold(np.array(p), np.array(accept, dtype=np.float64), np.arange(len(p))) == 0.5


@pytest.mark.full
def test_fit_out_of_fold_750_items_100_features_takes_under_six_seconds() -> None:
    rng = np.random.default_rng(0)
    evidence = np.hstack([world(750, 4, 0)[0], rng.normal(size=(750, 90))])
    target, cluster = world(750, 4, 0)[1:]
    assert_within(6, lambda: cpu_seconds(lambda: fit(evidence, sharp(target, 4, 0.5, 0), target, cluster, FOUR)))
