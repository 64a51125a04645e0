import itertools
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from judgec.errors import UserError
from judgec.records.label import IntArray
from judgec.records.ratings import GradePairs
from judgec.stats.agreement.objective import OBJECTIVES, parse_objective
from judgec.stats.agreement.statistic import TABLE_FORMULAS
from judgec.stats.agreement.tables import contingency
from tests.stats.side_by_side import side_by_side
from tests.stats.strategies import N_CLUSTERS, PROPERTY, Graded, graded_items

OF_GRADES = {name: one for name, one in OBJECTIVES.items() if one.tables is not None}
SUMS = ("tau_b+accept", "0.7*tau_b+0.3*kappa", "qwk+0.5*balanced_accuracy")
PLAIN = {"accept": "accept_agreement"}  # objectives named otherwise than their statistic


def compared(items: Graded, judge: IntArray | None = None) -> GradePairs:
    judge = items.judge if judge is None else judge
    middle = items.n_grades // 2
    return side_by_side(
        expert=items.expert,
        judge=judge,
        expert_accept=(items.expert >= middle).astype(np.int64),
        judge_accept=np.where(judge < 0, -1, judge >= middle),
        cluster=items.cluster,
        n_grades=items.n_grades,
        n_clusters=N_CLUSTERS,
    )


def judged(expert: list[int], judge: list[int], n_grades: int) -> GradePairs:
    cluster = np.arange(len(expert)) % N_CLUSTERS
    return compared(Graded(np.array(expert), np.array(judge), cluster, n_grades))


@PROPERTY
@given(graded_items())
def test_objective_with_everything_scored_is_the_statistic_or_zero(items: Graded) -> None:
    comparison = compared(items)
    for name, measure in OF_GRADES.items():
        pair = (comparison.target[:, 0], comparison.judge, items.n_grades)
        if measure.of_accepts:
            pair = (comparison.target_accept[:, 0], comparison.judge_accept, 2)
        formula, _ = TABLE_FORMULAS[PLAIN.get(name, name)]
        expected = np.nan_to_num(formula(contingency(*pair)), nan=0.0)
        np.testing.assert_allclose(parse_objective(name).value(comparison), expected, atol=1e-12, err_msg=name)


@PROPERTY
@given(graded_items(unscored=True), st.randoms(use_true_random=False))
def test_unscoring_any_subset_never_raises_an_objective(items: Graded, random: object) -> None:
    rng = np.random.default_rng(random.getrandbits(32))  # type: ignore[attr-defined]  # hypothesis's Random
    fewer = np.where(rng.random(items.judge.size) < rng.random(), -1, items.judge)
    for text in (*OF_GRADES, *SUMS):
        objective = parse_objective(text)
        before, after = objective.value(compared(items)), objective.value(compared(items, fewer))
        assert after <= before + 1e-12, text


@PROPERTY
@given(graded_items(unscored=True))
def test_objective_is_not_above_any_completion_of_the_missing_grades(items: Graded) -> None:
    missing = np.flatnonzero(items.judge < 0)[:3]
    base = np.where(items.judge < 0, 0, items.judge)
    for text in OF_GRADES:
        objective = parse_objective(text)
        bound = objective.value(compared(items))
        for grades in itertools.product(range(items.n_grades), repeat=len(missing)):
            base[missing] = grades
            assert bound <= objective.value(compared(items, base)) + 1e-12, text


@PROPERTY
@given(graded_items(unscored=True))
def test_kappa_objective_is_reached_by_some_completion(items: Graded) -> None:
    missing = np.flatnonzero(items.judge < 0)
    items = replace(items, judge=np.where(np.isin(np.arange(items.judge.size), missing[4:]), 0, items.judge))
    completions = []
    for grades in itertools.product(range(items.n_grades), repeat=len(missing[:4])):
        judge = items.judge.copy()
        judge[missing[:4]] = grades
        completions.append(parse_objective("kappa").value(compared(items, judge)))
    assert parse_objective("kappa").value(compared(items)) == pytest.approx(min(completions), abs=1e-12)


def test_unscoring_the_rare_grade_costs_tau_b_where_imputing_the_farthest_grade_would_pay() -> None:
    # Experts 4 4 4 4 3 3 (of 1-4), judge the reverse order. The farthest grade from 3 is 1: imputing it would
    # order the 3s below the 4s, a perfect tau-b.
    reversed_judge = judged([3, 3, 3, 3, 2, 2], [2, 2, 2, 2, 3, 3], 4)
    unscored = judged([3, 3, 3, 3, 2, 2], [2, 2, 2, 2, -1, -1], 4)
    assert parse_objective("tau_b").value(reversed_judge) == pytest.approx(-1.0, abs=1e-12)
    assert parse_objective("tau_b").value(unscored) == pytest.approx(-1.0, abs=1e-12)


@pytest.mark.parametrize(
    ("name", "expert", "judge", "n_grades", "value"),
    [
        # Scored pairs 0-1 0-3 1-3: three concordant. Pairs with the unscored item: 0-2 2-3 discordant, 3 - 2 = 1.
        # Untied by the expert 5, by the judge 3 + 2 + the tie 1-2 = 6.
        ("tau_b", [0, 1, 1, 2], [0, 1, -1, 2], 3, 1 / (5 * 6) ** 0.5),
        # The unscored 0 counts as 1: one disagreement of four; chance 3/4 * 2/4 + 1/4 * 2/4 = 1/2: (3/4 - 1/2) / (1/2).
        ("kappa", [0, 0, 0, 1], [0, 0, -1, 1], 2, 0.5),
        # Expert mean 1. Covariance 0 + 0 + 2, and at worst 0 from the unscored 2: 2 > 0. Expected squared distance of
        # judge grade 0: (0 + 0 + 4 + 4) / 4 = 2, of 1: 1, of 2: 2: 2 + 2 + 2 + 2.
        ("qwk", [0, 0, 2, 2], [0, 0, 2, -1], 3, 2 * 2 / 8),
        ("exact", [0, 0, 1, 1], [0, 0, 1, -1], 2, 0.75),
        ("accept", [0, 0, 1, 1], [0, 0, 1, -1], 2, 0.75),
        ("balanced_accuracy", [0, 0, 1, 1], [0, 0, 1, -1], 2, 0.75),
    ],
)
def test_objective_with_one_unscored_item_is_the_hand_count(
    name: str, expert: list[int], judge: list[int], n_grades: int, value: float
) -> None:
    assert parse_objective(name).value(judged(expert, judge, n_grades)) == pytest.approx(value, abs=1e-15)


@pytest.mark.parametrize("name", ["tau_b", "kappa", "qwk", "balanced_accuracy"])
def test_objective_of_constant_expert_is_zero_and_its_shares_too(name: str) -> None:
    for judge in ([1, 1, 1, 1], [0, 1, 2, 1], [1, 1, 1, -1], [-1, -1, -1, -1]):
        comparison = judged([1, 1, 1, 1], judge, 3)
        assert parse_objective(name).value(comparison) == pytest.approx(0.0, abs=1e-12)
        assert parse_objective(name).shares(comparison).mean() == pytest.approx(0.0, abs=1e-12)


@PROPERTY
@given(graded_items(unscored=True))
def test_mean_of_shares_is_the_objective(items: Graded) -> None:
    comparison = compared(items)
    for text in (*OF_GRADES, *SUMS):
        objective = parse_objective(text)
        shares = objective.shares(comparison)
        assert shares.shape == items.expert.shape
        np.testing.assert_allclose(shares.mean(), objective.value(comparison), rtol=1e-12, atol=1e-12)


@PROPERTY
@given(graded_items(unscored=True))
def test_items_without_expert_label_change_nothing_and_have_share_zero(items: Graded) -> None:
    comparison = compared(items)
    extra = np.array([-1, -1])
    padded = replace(
        comparison,
        target=np.concatenate([comparison.target, extra[:, None]]),
        judge=np.concatenate([comparison.judge, [0, 1]]),
        target_accept=np.concatenate([comparison.target_accept, extra[:, None]]),
        judge_accept=np.concatenate([comparison.judge_accept, [0, 1]]),
        cluster=np.concatenate([comparison.cluster, [0, 1]]),
    )
    for text in (*OF_GRADES, *SUMS):
        objective = parse_objective(text)
        shares = objective.shares(padded)
        assert objective.value(padded) == objective.value(comparison)
        assert shares[-2:].tolist() == [0.0, 0.0]
        np.testing.assert_allclose(shares.mean(), objective.value(padded), rtol=1e-12, atol=1e-12)


@PROPERTY
@given(graded_items(unscored=True))
def test_objective_without_a_cluster_is_that_of_the_items_of_the_others(items: Graded) -> None:
    for text in (*OF_GRADES, SUMS[0]):
        objective = parse_objective(text)
        comparison = compared(items)
        for query, found in enumerate(objective.statistic(comparison).without().tolist()):
            rest = objective.value(comparison.where(items.cluster != query))
            assert found == pytest.approx(rest, abs=1e-12), text


@pytest.mark.parametrize(
    ("name", "share"),
    [("kappa", [1.0, -1.0, 1.0, -1.0]), ("exact", [1.0, 0.0, 1.0, 0.0]), ("qwk", [1.0, -1.0, 1.0, -1.0])],
)
def test_a_share_is_one_less_the_error_of_the_item(name: str, share: list[float]) -> None:
    # Half right where chance is half right: kappa and QWK are 0, and each error takes twice its part away.
    found = parse_objective(name).shares(judged([0, 0, 1, 1], [0, 1, 1, 0], 2))
    assert found.tolist() == pytest.approx(share)


def test_parse_objective_of_a_sum_keeps_weights_and_names() -> None:
    objective = parse_objective(" 0.7*tau_b + accept ")
    assert objective.terms == ((0.7, "tau_b"), (1.0, "accept"))
    assert objective.needs_accept
    assert parse_objective(objective.name) == objective
    assert not parse_objective("qwk").needs_accept


def test_weighted_sum_is_the_sum_of_its_terms() -> None:
    comparison = judged([0, 1, 1, 2, 2], [0, 1, 2, -1, 2], 3)
    tau_b, kappa = (parse_objective(name).value(comparison) for name in ("tau_b", "kappa"))
    total = parse_objective("0.7*tau_b+0.3*kappa").value(comparison)
    assert total == pytest.approx(0.7 * tau_b + 0.3 * kappa, abs=1e-15)


@pytest.mark.parametrize("text", ["tau", "", "tau_b+", "-1*tau_b", "0*kappa", "nan*kappa", "inf*qwk", "qwk+qwk"])
def test_parse_objective_of_nonsense_names_the_valid_ones(text: str) -> None:
    with pytest.raises(UserError, match="tau_b, kappa, qwk, exact, accept, balanced_accuracy"):
        parse_objective(text)
