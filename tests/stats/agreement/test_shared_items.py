"""Items whose two middle grades differ: every statistic against the mean over all ways to pick one of them."""

from collections.abc import Callable
from dataclasses import replace
from itertools import product

import numpy as np
import pytest
from scipy import stats

from judgec.records.label import FloatArray, IntArray
from judgec.records.ratings import GradePairs
from judgec.stats.agreement.kappa import squared_distances
from judgec.stats.agreement.measure import measure
from judgec.stats.agreement.modes import measure_modes
from judgec.stats.agreement.objective import OBJECTIVES, parse_objective
from judgec.stats.agreement.registry import KNOWN
from judgec.stats.agreement.tables import contingency

VALUES = (1.0, 2.0, 3.0, 5.0)
Sums = Callable[[IntArray, GradePairs], tuple[float, ...]]


def ratings(n_grades: int = 4, n: int = 14, tied: int = 7, *, unscored: int = 0, seed: int = 0) -> GradePairs:
    """Fourteen items of five queries, of which seven have two grades."""
    rng = np.random.default_rng(seed)
    first = rng.integers(0, n_grades, n)
    second = np.where(np.arange(n) < tied, (first + rng.integers(1, n_grades, n)) % n_grades, -1)
    target = np.stack([first, second], axis=1)
    target[:tied].sort(axis=1)
    judge = np.where(rng.random(n) < 0.6, first, rng.integers(0, n_grades, n))
    score = judge + rng.normal(0, 0.4, n).round(1)
    if unscored:
        judge[-unscored:], score[-unscored:] = -1, np.nan
    accepts = np.where(target >= 0, target >= n_grades // 2, first[:, None] >= n_grades // 2)
    low, high = accepts.min(axis=1), accepts.max(axis=1)
    votes = np.stack([low, np.where(low == high, -1, high)], axis=1).astype(np.int64)
    judge_accept = np.where(judge < 0, -1, judge >= n_grades // 2)
    order = rng.permutation(n)
    made = GradePairs(target, judge, score, votes, judge_accept, rng.integers(0, 5, n), VALUES[:n_grades], 5)
    return made.where(order)  # type: ignore[arg-type]  # an order in place of a mask


def picks(target: IntArray) -> list[IntArray]:
    """Every way to give each item one of its grades."""
    return [np.array(one) for one in product(*(row[row >= 0].tolist() for row in target))]


def pairs_of(expert: IntArray, said: FloatArray) -> tuple[float, float, float]:
    """Signed pairs, pairs that the expert does not tie, and that the judge does not, one pair after the other."""
    e, s = (np.sign(one[:, None] - one) for one in (expert.astype(float), said))
    return float((e * s).sum()) / 2, float(np.abs(e).sum()) / 2, float(np.abs(s).sum()) / 2


def kappa_of(expert: IntArray, r: GradePairs, cost: FloatArray) -> tuple[float, float]:
    table = contingency(expert, r.judge, r.n_grades)
    chance = np.outer(table.sum(1), table.sum(0)) / table.sum()
    return float((cost * (chance - table)).sum()), float((cost * chance).sum())


ORACLES: dict[str, tuple[Sums, Callable[..., float]]] = {
    "exact": (lambda e, r: (float((e == r.judge).mean()),), lambda value: value),
    "kappa": (lambda e, r: kappa_of(e, r, 1.0 - np.eye(r.n_grades)), lambda above, below: above / below),
    "qwk": (lambda e, r: kappa_of(e, r, squared_distances(r.n_grades)), lambda above, below: above / below),
    "tau_b": (lambda e, r: pairs_of(e, r.judge.astype(float)), lambda s, x, y: s / np.sqrt(x * y)),
    "tau_b_score": (lambda e, r: pairs_of(e, r.score), lambda s, x, y: s / np.sqrt(x * y)),
    "decided": (
        lambda e, r: (float(((e == r.judge) & (e < r.n_grades - 1)).sum()), float((e < r.n_grades - 1).sum())),
        lambda above, below: above / below,
    ),
}


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("name", ORACLES)
def test_a_statistic_is_that_of_the_mean_over_all_picks_of_what_it_divides(name: str, seed: int) -> None:
    r, (sums, formula) = ratings(seed=seed), ORACLES[name]
    everything = picks(r.target)
    assert len(everything) == 2**7
    means = np.mean([sums(one, r) for one in everything], axis=0)
    assert KNOWN[name].make(r).point() == pytest.approx(formula(*means), abs=1e-9)
    assert measure(r).n == len(r.judge)


@pytest.mark.parametrize("seed", range(4))
def test_area_accepts_rates_and_limits_are_their_expectations(seed: int) -> None:
    r = ratings(2, seed=seed)
    means = np.mean([pairs_of(one, r.score) for one in picks(r.target)], axis=0)
    assert KNOWN["auc"].make(r).point() == pytest.approx((1 + means[0] / means[1]) / 2, abs=1e-9)
    r = ratings(seed=seed)
    found, accepts = measure(r), picks(r.target_accept)
    right = np.mean([(one == r.judge_accept).mean() for one in accepts])
    assert found.estimates["accept_agreement"].value == pytest.approx(right, abs=1e-9)
    assert found.expert_reject_rate == pytest.approx(np.mean([(one == 0).mean() for one in accepts]))
    apart = [np.array(VALUES)[r.judge] - np.array(VALUES)[one] for one in picks(r.target)]
    bias, squares = np.mean([one.mean() for one in apart]), np.mean([(one**2).sum() for one in apart])
    n = len(r.judge)
    spread = 1.96 * np.sqrt((squares - n * bias**2) / (n - 1))
    limits = found.bland_altman
    assert (limits.bias, limits.low, limits.high) == pytest.approx((bias, bias - spread, bias + spread), rel=1e-9)


def test_spearman_is_that_of_the_shared_table() -> None:
    r = ratings()
    row, grade = np.nonzero(r.share)
    twice = np.rint(2 * r.share[row, grade]).astype(int)  # each half once, each whole item twice
    expert, score = np.repeat(grade, twice), np.repeat(r.score[row], twice)
    assert KNOWN["spearman"].make(r).point() == pytest.approx(stats.spearmanr(expert, score).statistic, abs=1e-12)


def test_an_unscored_item_loses_to_other_items_alone() -> None:
    r = ratings(n=30, unscored=2)
    of_picks = []
    for expert in picks(r.target):
        apart = np.sign(expert[:, None] - expert)
        known = (r.judge[:, None] >= 0) & (r.judge >= 0)
        said = np.where(known, np.sign(r.judge[:, None] - r.judge), -apart)
        untied = np.abs(said) + (~known & (apart == 0) & ~np.eye(30, dtype=bool))  # the worst, as the value is above 0
        of_picks.append([(apart * said).sum(), np.abs(apart).sum(), untied.sum()])
    above, x, y = np.mean(of_picks, axis=0)
    assert above > 0
    assert parse_objective("tau_b").value(r) == pytest.approx(above / np.sqrt(x * y), abs=1e-9)


@pytest.mark.parametrize("name", [name for name, one in OBJECTIVES.items() if one.tables is not None])
@pytest.mark.parametrize("unscored", [0, 3])
def test_mean_of_the_shares_is_the_objective_and_that_of_an_item_the_mean_of_its_two(name: str, unscored: int) -> None:
    r, objective = ratings(unscored=unscored), parse_objective(name)
    shares = objective.shares(r)
    assert shares.mean() == pytest.approx(objective.value(r), abs=1e-9)
    if name == "exact":
        wanted = [
            np.mean([grade == said for grade in row[row >= 0]]) for row, said in zip(r.target, r.judge, strict=True)
        ]
        assert shares.tolist() == pytest.approx(wanted)


@pytest.mark.parametrize("name", ["tau_b", "tau_b_score", "spearman", "kappa", "qwk", "exact"])
def test_without_a_query_is_the_statistic_of_the_items_of_the_others(name: str) -> None:
    r = ratings(n=20, tied=9)
    left = KNOWN[name].make(r).without()
    for query in range(5):
        wanted = KNOWN[name].make(r.where(r.cluster != query)).point()
        np.testing.assert_allclose(left[query], wanted, atol=1e-9)


def test_an_item_against_itself_is_no_pair() -> None:
    """One grade for all but the two halves of one item, and nobody to compare that with: no order, not tau-b 0."""
    r = ratings(n=6, tied=1)
    alone = replace(r, target=np.array([[0, 3]] + [[-1, -1]] * 5)).where(np.arange(6) < 1)
    assert np.isnan(KNOWN["tau_b"].make(alone).point())
    assert np.isnan(KNOWN["tau_b_score"].make(alone).point())


def test_p_is_classical_only_where_no_item_is_shared() -> None:
    r = ratings(n=60, tied=0)
    each = replace(r, cluster=np.arange(60), n_clusters=60)
    plain = measure(each).estimates["tau_b"]
    assert plain.p == pytest.approx(stats.kendalltau(r.target[:, 0], r.judge).pvalue)
    tied = ratings(n=60, tied=20)
    found = measure(replace(tied, cluster=np.arange(60), n_clusters=60)).estimates["tau_b"]
    assert found.p is not None
    assert found.value is not None
    assert 0 < found.p < 0.05


def test_modes_count_halves_and_measure_them() -> None:
    target = np.array([[0, -1]] * 10 + [[1, -1]] * 10 + [[0, 1]] * 4)
    judge = np.array([0] * 9 + [1] * 11 + [1, 1, 0, 0])
    none, n = np.full((24, 1), -1), 24
    pairs = GradePairs(target, judge, judge.astype(float), none, none[:, 0], np.arange(n), (0.0, 1.0), n)
    found = measure_modes({"wrong": pairs}).modes["wrong"]
    assert (found.n, found.present, found.flagged) == (24, 12, 13)
    assert found.recall.value == pytest.approx((10 + 2 / 2) / 12)
    assert found.precision.value == pytest.approx((10 + 2 / 2) / 13)
