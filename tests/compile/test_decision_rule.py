"""Fitted decision rules: against exhaustive search, on planted shifts, and where a challenger may not win."""

from itertools import combinations_with_replacement

import numpy as np
import pytest

from judgec.compile.calibrate import fit_out_of_fold
from judgec.compile.calibrate_choice import Data
from judgec.compile.decision_rule import Shares, fit_cuts, fit_sureness, shares_of
from judgec.raters.calibrator import Calibrator
from judgec.raters.decision import above
from judgec.records.label import FloatArray, IntArray
from judgec.records.scale import ACCEPT_SCALE, Scale
from judgec.stats.agreement.kappa import exact_table, kappa_table, qwk_table
from judgec.stats.agreement.objective import OBJECTIVES, cut_fit, parse_objective
from judgec.stats.agreement.tables import contingency

FIVE = Scale(grades=(1, 2, 3, 4, 5), accept_at=4)
CHOICE = Scale(grades=("a", "b", "tie"), level="nominal")


def skewed(n: int, seed: int, *, shift: int = 0, noise: float = 0.7) -> tuple[FloatArray, IntArray, IntArray]:
    """Verdicts on 1-5 that are ``shift`` grades harsh, experts who give 5 most often, three items a query."""
    rng = np.random.default_rng(seed)
    expert = rng.choice(5, n, p=[0.05, 0.1, 0.15, 0.2, 0.5])
    said = np.clip(np.rint(expert - shift + rng.normal(0, noise, n)), 0, 4).astype(np.int64)
    return np.eye(5)[said], expert, np.arange(n) // 3


def fitted_on(verdicts: FloatArray, expert: IntArray, cluster: IntArray, name: str = "") -> Calibrator:
    objective = parse_objective(name) if name else None
    accept = (expert >= 3).astype(np.int64)[:, None]
    data = Data(verdicts, None, expert[:, None], cluster, FIVE, accept)
    return fit_out_of_fold(data, objective=objective)[0]


def value(name: str, expert: IntArray, grade: IntArray, k: int = 5) -> float:
    return float({"qwk": qwk_table, "kappa": kappa_table, "exact": exact_table}[name](contingency(expert, grade, k)))


@pytest.mark.parametrize("name", ["qwk", "kappa", "exact"])
def test_fit_cuts_are_nearly_as_good_as_the_best_of_all(name: str) -> None:
    rng = np.random.default_rng(3)
    score = rng.integers(0, 12, 300).astype(np.float64)
    expert = np.clip(np.rint(score / 3 + rng.normal(0, 0.8, 300)), 0, 3).astype(np.int64)
    found = value(name, expert, above(fit_cuts(score, expert, np.arange(300), 4, parse_objective(name)), score), 4)
    places = np.arange(-1, 12) + 0.5
    best = max(value(name, expert, above(cuts, score), 4) for cuts in combinations_with_replacement(places, 3))
    assert best - 0.02 <= found <= best + 1e-12


def test_fit_cuts_do_not_fall_and_a_constant_score_gets_one_grade() -> None:
    _, expert, cluster = skewed(60, 0)
    for objective in ("qwk", "tau_b", "kappa", "accept", "tau_b+accept"):
        cuts = fit_cuts(np.full(60, 2.0), expert, cluster, 5, parse_objective(objective), accept_index=3)
        assert list(cuts) == sorted(cuts)
        assert len(set(above(cuts, np.full(60, 2.0)).tolist())) == 1


def test_fit_cuts_of_accepts_alone_fit_the_accept_cut_first() -> None:
    """The experts accept from a score of 6, far from where QWK would cut."""
    rng = np.random.default_rng(1)
    score = rng.uniform(0, 10, 600)
    expert = np.where(score >= 6, 3 + (score >= 6.2), rng.integers(0, 3, 600)).astype(np.int64)
    cuts = fit_cuts(score, expert, np.arange(600), 5, parse_objective("accept"), accept_index=3)
    assert cuts[2] == pytest.approx(6.0, abs=0.25)
    agrees = (above(cuts, score) >= 3) == (expert >= 3)
    assert agrees.mean() > 0.97


def value_of_tables(tables: FloatArray, shares: Shares) -> FloatArray:
    """The objective of tables expert by judge (..., k, k), shape (...)."""
    total = np.zeros(tables.shape[:-2])
    for share in shares(tables.sum(-1)):
        total += share.value((tables * share.above).sum((-2, -1)), (tables * share.below).sum((-2, -1)))
    return total


def test_value_of_tables_is_the_objective_of_the_grades() -> None:
    rng = np.random.default_rng(0)
    expert, grade = rng.integers(0, 4, 200), rng.integers(0, 4, 200)
    table = contingency(expert, grade, 4).astype(np.float64)
    whole = float(value_of_tables(table, shares_of(parse_objective("0.5*kappa+accept"), 2)))
    accepts = float(((expert >= 2) == (grade >= 2)).mean())
    assert whole == pytest.approx(0.5 * value("kappa", expert, grade, 4) + accepts)
    assert float(value_of_tables(table, shares_of(parse_objective("accept"), None))) == pytest.approx(
        value("qwk", expert, grade, 4)
    )


@pytest.mark.parametrize("name", ["qwk", "tau_b", "kappa", "exact", "balanced_accuracy"])
def test_value_of_any_tables_is_the_objectives_own_bound_and_0_where_it_is_undefined(name: str) -> None:
    rng = np.random.default_rng(1)
    tables = rng.integers(0, 4, (500, 4, 4)).astype(np.float64)
    tables[:60] *= rng.integers(0, 2, (60, 4, 1))  # grades that no expert used
    tables[60:120] *= rng.integers(0, 2, (60, 1, 4))  # and that no judge used
    tables[120] = 0
    tables[121] = np.diag([0, 7, 0, 0])
    measured = OBJECTIVES[cut_fit(name)].tables
    assert measured is not None
    by_definition = measured.bound(np.concatenate([tables, np.zeros((500, 4, 1))], axis=-1))
    assert value_of_tables(tables, shares_of(parse_objective(name), None)) == pytest.approx(by_definition, abs=1e-12)


def test_fit_sureness_recovers_an_overconfident_judge_and_calls_no_signal_the_share() -> None:
    rng = np.random.default_rng(0)
    stated = rng.uniform(0.5, 0.99, 4000)
    right = (rng.random(4000) < 0.5 + (stated - 0.5) * 0.4).astype(np.int64)
    said = fit_sureness(stated, right).of(stated)
    assert np.abs(said - (0.5 + (stated - 0.5) * 0.4)).mean() < 0.04
    upside_down = fit_sureness(stated, (rng.random(4000) < 1.4 - stated).astype(np.int64))
    assert upside_down.slope == 0.0


def test_fit_out_of_fold_keeps_a_verdict_that_nothing_beats_clearly() -> None:
    for seed in range(4):
        verdicts, expert, cluster = skewed(240, seed, noise=0.4)
        fitted = fitted_on(verdicts, expert, cluster, "exact")
        assert fitted.rule.name == "raw", f"seed {seed}"
        chosen = next(one for one in fitted.choices if one.chosen)
        assert chosen.incumbent
        assert (chosen.gain, chosen.gain_error) == (0.0, 0.0)


@pytest.mark.parametrize("objective", ["qwk", "kappa", "exact", "accept"])
def test_fit_out_of_fold_a_harsh_language_model_is_mapped_to_the_experts(objective: str) -> None:
    verdicts, expert, cluster = skewed(300, 5, shift=1)
    new, truth, _ = skewed(600, 6, shift=1)
    fitted = fitted_on(verdicts, expert, cluster, objective)
    assert fitted.rule.name != "raw"
    raw, grade = new.argmax(axis=1), fitted.rule.grades(fitted.apply(new, None), FIVE, new)
    if objective == "accept":
        assert ((grade >= 3) == (truth >= 3)).mean() > ((raw >= 3) == (truth >= 3)).mean() + 0.1
    else:
        assert value(objective, truth, grade) > value(objective, truth, raw) + 0.1


def test_fit_out_of_fold_no_challenger_may_lower_kappa_or_predict_worse() -> None:
    for seed in range(5):
        verdicts, expert, cluster = skewed(150, seed, noise=1.2)
        table = fitted_on(verdicts, expert, cluster).choices
        first = next(one for one in table if one.incumbent)
        chosen = next(one for one in table if one.chosen)
        assert chosen.loss <= first.loss
        assert not chosen.guarded
        assert chosen.incumbent or (chosen.gain_error is not None and chosen.gain > chosen.gain_error > 0)


@pytest.mark.parametrize(("scale", "rule"), [(FIVE, "cuts"), (ACCEPT_SCALE, "likeliest")])
def test_fit_out_of_fold_evidence_alone_starts_from_cuts_and_of_two_grades_from_the_likeliest(
    scale: Scale, rule: str
) -> None:
    rng = np.random.default_rng(2)
    evidence = rng.normal(size=(200, 6))
    top = len(scale.grades) - 1
    expert = np.clip(np.rint(top / 2 + evidence[:, 0] + rng.normal(0, 0.5, 200)), 0, top).astype(np.int64)
    data = Data(None, evidence, expert[:, None], np.arange(200), scale, np.full((200, 1), -1))
    fitted = fit_out_of_fold(data, names=tuple("abcdef"))[0]
    first = next(one for one in fitted.choices if one.incumbent)
    assert (first.source, first.rule) == ("evidence", rule)


def test_fit_out_of_fold_accept_only_labels_never_contradict_the_grade() -> None:
    rng = np.random.default_rng(4)
    evidence = rng.normal(size=(300, 5))
    accept = (evidence[:, 0] + rng.normal(0, 1.0, 300) > 0.6).astype(np.int64)
    data = Data(None, evidence, accept[:, None], np.arange(300) // 2, ACCEPT_SCALE, accept[:, None])
    fitted, said = fit_out_of_fold(data, names=tuple("abcde"), objective=parse_objective("kappa"))
    assert fitted.accept_threshold is None
    assert said.accept.tolist() == said.grade.tolist()


def test_fit_out_of_fold_confidence_is_how_often_the_shipped_grade_is_right() -> None:
    """For the raw verdict of a weak judge too, whose own certainty means nothing."""
    verdicts, expert, cluster = skewed(900, 8, noise=1.0)
    fitted, said = fit_out_of_fold(
        Data(verdicts, None, expert[:, None], cluster, FIVE, (expert >= 3).astype(np.int64)[:, None])
    )
    right = said.grade == expert
    assert fitted.sureness is not None
    assert said.confidence.mean() == pytest.approx(right.mean(), abs=0.02)
    sure = said.confidence > np.median(said.confidence)
    assert right[sure].mean() > right[~sure].mean()


def test_fit_out_of_fold_of_classes_keeps_the_raw_verdict_or_takes_the_likeliest() -> None:
    rng = np.random.default_rng(0)
    expert = rng.choice(3, 300, p=[0.45, 0.45, 0.1])
    said = np.where(rng.random(300) < 0.7, expert, rng.integers(0, 3, 300))
    data = Data(np.eye(3)[said], None, expert[:, None], np.arange(300), CHOICE, np.full((300, 1), -1))
    fitted = fit_out_of_fold(data)[0]
    assert {one.rule for one in fitted.choices} == {"raw", "likeliest"}
