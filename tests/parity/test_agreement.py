"""Our tables against SciPy, scikit-learn and statsmodels on random grades."""

import warnings

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy import stats
from sklearn import metrics
from statsmodels.stats import inter_rater

from judgec.records.label import IntArray
from judgec.stats.agreement.kappa import balanced_accuracy_table, exact_table, kappa_table, qwk_table
from judgec.stats.agreement.objective import parse_objective
from judgec.stats.agreement.rank_correlation import spearman_p, spearman_table, tau_b_p, tau_b_table
from judgec.stats.agreement.score_correlation import auc_score, scored_items, spearman_score, tau_b_score
from judgec.stats.agreement.statistic import table_statistic
from judgec.stats.agreement.tables import contingency
from judgec.stats.intervals.jackknife import interval
from tests.stats.side_by_side import side_by_side

CASES = range(150)
TOLERANCE = 1e-12


def random_grades(seed: int) -> tuple[IntArray, IntArray, int]:
    """Skewed grades of related graders, 2 to 400 items on scales of 2 to 9 grades."""
    rng = np.random.default_rng(seed)
    n_grades, n_items = int(rng.integers(2, 10)), int(rng.integers(2, 400))
    expert = rng.choice(n_grades, n_items, p=rng.dirichlet(np.full(n_grades, 0.6)))
    own = rng.choice(n_grades, n_items, p=rng.dirichlet(np.full(n_grades, 0.6)))
    judge = np.where(rng.random(n_items) < rng.random(), expert, own)
    return expert, judge, n_grades


def quiet(function: object, *arguments: object, **options: object) -> float:
    """A reference value without its warnings on constant input."""
    assert callable(function)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return float(function(*arguments, **options))


@pytest.mark.parametrize("seed", CASES)
def test_rank_correlations_equal_scipy(seed: int) -> None:
    expert, judge, n_grades = random_grades(seed)
    table = contingency(expert, judge, n_grades)
    tau_b = quiet(lambda: stats.kendalltau(expert, judge).statistic)
    rho = quiet(lambda: stats.spearmanr(expert, judge).statistic)
    np.testing.assert_allclose(float(tau_b_table(table)), tau_b, atol=TOLERANCE)
    np.testing.assert_allclose(float(spearman_table(table)), rho, atol=TOLERANCE)
    if not np.isnan(tau_b) and expert.size > 2:
        assert tau_b_p(expert, judge) == stats.kendalltau(expert, judge).pvalue
        assert spearman_p(expert, judge) == stats.spearmanr(expert, judge).pvalue


@pytest.mark.parametrize("seed", CASES)
def test_score_correlations_equal_scipy(seed: int) -> None:
    expert, judge, _ = random_grades(seed)
    rng = np.random.default_rng(seed)
    score = np.round(judge + rng.normal(size=judge.size), int(rng.integers(0, 4))) * 0.1
    cluster = rng.integers(0, 9, judge.size)
    tau_b = quiet(lambda: stats.kendalltau(expert, score).statistic)
    rho = quiet(lambda: stats.spearmanr(expert, score).statistic)
    np.testing.assert_allclose(tau_b_score(scored_items(expert, score, cluster)).point(), tau_b, atol=TOLERANCE)
    np.testing.assert_allclose(spearman_score(scored_items(expert, score, cluster)).point(), rho, atol=TOLERANCE)


@pytest.mark.parametrize("seed", CASES)
def test_area_under_the_curve_equals_scikit_learn_without_any_cluster(seed: int) -> None:
    rng = np.random.default_rng(seed)
    n_items, n_clusters = int(rng.integers(2, 300)), 9
    expert = (rng.random(n_items) < rng.random()).astype(np.int64)
    score = np.round(expert + rng.normal(size=n_items) * rng.uniform(0.2, 3), int(rng.integers(0, 4))) * 0.1  # ties
    cluster = rng.integers(0, n_clusters, n_items)
    statistic = auc_score(scored_items(expert, score, cluster, n_clusters=n_clusters))

    def theirs(rows: NDArray[np.bool_]) -> float:
        if len(np.unique(expert[rows])) < 2:
            return float("nan")
        return float(metrics.roc_auc_score(expert[rows], score[rows]))

    np.testing.assert_allclose(statistic.point(), theirs(cluster >= 0), atol=TOLERANCE)
    wanted = [theirs(cluster != query) for query in range(n_clusters)]
    np.testing.assert_allclose(statistic.without(), wanted, atol=TOLERANCE)


@pytest.mark.parametrize("seed", CASES)
def test_kappas_and_accuracies_equal_scikit_learn(seed: int) -> None:
    expert, judge, n_grades = random_grades(seed)
    table, labels = contingency(expert, judge, n_grades), np.arange(n_grades)
    kappa = quiet(metrics.cohen_kappa_score, expert, judge, labels=labels)
    qwk = quiet(metrics.cohen_kappa_score, expert, judge, labels=labels, weights="quadratic")
    np.testing.assert_allclose(float(kappa_table(table)), kappa, atol=TOLERANCE)
    np.testing.assert_allclose(float(qwk_table(table)), qwk, atol=TOLERANCE)
    assert float(exact_table(table)) == pytest.approx(metrics.accuracy_score(expert, judge), abs=TOLERANCE)
    if np.unique(expert).size > 1:
        balanced = quiet(metrics.balanced_accuracy_score, expert, judge)
        assert float(balanced_accuracy_table(table)) == pytest.approx(balanced, abs=TOLERANCE)


@pytest.mark.parametrize("seed", range(20))
def test_kappas_equal_statsmodels(seed: int) -> None:
    table = np.random.default_rng(seed).integers(1, 30, (4, 4))
    plain = inter_rater.cohens_kappa(table).kappa
    weighted = inter_rater.cohens_kappa(table, wt="quadratic").kappa
    assert float(kappa_table(table)) == pytest.approx(plain, abs=TOLERANCE)
    assert float(qwk_table(table)) == pytest.approx(weighted, abs=TOLERANCE)


@pytest.mark.parametrize("seed", range(5))
def test_standard_error_of_kappa_of_independent_items_equals_the_analytic_one(seed: int) -> None:
    rng = np.random.default_rng(seed)
    expert = rng.integers(0, 4, 2000)
    judge = np.where(rng.random(2000) < 0.6, expert, rng.integers(0, 4, 2000))
    analytic = inter_rater.cohens_kappa(contingency(expert, judge, 4)).std_kappa
    found = interval(table_statistic("kappa", expert, judge, np.arange(2000), n_grades=4))
    assert found.se == pytest.approx(analytic, rel=0.01)


@pytest.mark.parametrize("seed", range(40))
def test_means_of_shares_equal_scipy_and_scikit_learn(seed: int) -> None:
    expert, judge, n_grades = random_grades(seed + 1000)
    expert[:2] = [0, 1]  # two grades at least, so that everything is defined
    judge[:2] = [1, 0]
    accept = (expert >= n_grades // 2).astype(np.int64), (judge >= n_grades // 2).astype(np.int64)
    compared = side_by_side(expert, judge, *accept, np.zeros(expert.size, dtype=np.int64), n_grades, 1)
    expected = {
        "tau_b": stats.kendalltau(expert, judge).statistic,
        "kappa": metrics.cohen_kappa_score(expert, judge),
        "qwk": metrics.cohen_kappa_score(expert, judge, labels=np.arange(n_grades), weights="quadratic"),
        "exact": metrics.accuracy_score(expert, judge),
        "accept": metrics.accuracy_score(*accept),
        "balanced_accuracy": quiet(metrics.balanced_accuracy_score, expert, judge),
    }
    for name, value in expected.items():
        shares = parse_objective(name).shares(compared)
        assert float(shares.mean()) == pytest.approx(value, abs=TOLERANCE), name
    mixed = parse_objective("0.7*tau_b+0.3*kappa").shares(compared).mean()
    assert mixed == pytest.approx(0.7 * expected["tau_b"] + 0.3 * expected["kappa"], abs=TOLERANCE)
