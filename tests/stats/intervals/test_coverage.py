"""How often intervals hold the population value, and how often equal judges are told apart."""

import numpy as np
import pytest
from scipy import stats

from judgec.stats.agreement.rank_correlation import tau_b_table
from judgec.stats.agreement.score_correlation import scored_items, spearman_score, tau_b_score
from judgec.stats.agreement.statistic import (
    SHARE,
    Statistic,
    mean,
    table_statistic,
)
from judgec.stats.agreement.tables import contingency
from judgec.stats.intervals.jackknife import difference_interval, interval
from judgec.stats.intervals.significance import level_for_test_use
from tests.stats.intervals.world import (
    CUTS,
    SHARES,
    TEST_USES,
    Coverage,
    coverage,
    draw_expert,
    limits,
    population_table,
    population_tau_b,
    tail_p,
    tau_b_coverage,
)

LOOKS = 20


def test_population_tau_b_equals_that_of_a_huge_sample() -> None:
    rng = np.random.default_rng(0)
    quality, error = rng.normal(size=(2, 2_000_000))
    judge = np.searchsorted(CUTS, 0.8 * quality + 0.6 * error)
    sampled = tau_b_table(contingency(np.searchsorted(CUTS, quality), judge, len(SHARES)))
    assert population_tau_b(0.8) == pytest.approx(float(sampled), abs=0.002)
    np.testing.assert_allclose(population_table(0.8).sum(0), SHARES, atol=1e-6)


@pytest.mark.parametrize("correlations", [(0.8, 0.7), (0.6, 0.6)])
def test_intervals_of_fifteen_clusters_mostly_hold_the_population_value(correlations: tuple[float, float]) -> None:
    # 400 repeats: the standard error of a coverage of .95 is .011.
    for found in tau_b_coverage(15, correlations, repeats=400, seed=0):
        assert 0.9 <= found.held <= 0.99


@pytest.mark.full
@pytest.mark.parametrize("correlations", [(0.8, 0.7), (0.6, 0.6)])
@pytest.mark.parametrize("n_clusters", [10, 15, 30, 100])
def test_intervals_of_tau_b_and_its_difference_hold_the_population_value_in_93_to_97_percent(
    n_clusters: int, correlations: tuple[float, float]
) -> None:
    for found in tau_b_coverage(n_clusters, correlations, repeats=2000, seed=1):
        assert 0.93 <= found.held <= 0.97, found
        assert max(found.below, found.above) <= 0.045, found


@pytest.mark.full
@pytest.mark.parametrize("n_clusters", [15, 30, 100])
def test_intervals_of_the_other_statistics_hold_the_population_value(n_clusters: int) -> None:
    for name, found in other_coverages(n_clusters, repeats=1000).items():
        assert 0.92 <= found.held <= 0.98, (name, found)


def other_coverages(n_clusters: int, *, repeats: int) -> dict[str, Coverage]:
    rng = np.random.default_rng(2)
    quality, error = rng.normal(size=(2, 400_000))
    wide = 0.8 * quality + 0.6 * error
    grades = np.searchsorted(CUTS, quality)
    once = np.zeros(grades.size, dtype=np.int64)
    truth = {
        name: table_statistic(name, grades, np.searchsorted(CUTS, wide), once, n_grades=5).point()
        for name in ("kappa", "qwk", "exact", "spearman")
    }
    truth["accept_rate"] = float(stats.norm.sf(CUTS[2]))
    truth["tau_b_score"] = float(stats.kendalltau(grades, wide).statistic)
    truth["spearman_score"] = float(stats.spearmanr(grades, wide).statistic)
    found: dict[str, list[tuple[float, float]]] = {name: [] for name in truth}
    for _ in range(repeats):
        expert = draw_expert(rng, n_clusters)
        score, cluster = expert.judge_score(0.8), expert.cluster
        judge = np.searchsorted(CUTS, score)
        statistics: dict[str, Statistic] = {
            name: table_statistic(name, expert.grade, judge, cluster, n_grades=5)
            for name in ("kappa", "qwk", "exact", "spearman")
        } | {
            "accept_rate": mean((judge > 2).astype(np.float64), cluster, bounds=SHARE),
            "tau_b_score": tau_b_score(scored_items(expert.grade, score, cluster)),
            "spearman_score": spearman_score(scored_items(expert.grade, score, cluster)),
        }
        for name, statistic in statistics.items():
            found[name].append(limits(interval(statistic)))
    return {name: coverage(truth[name], found[name]) for name in truth}


def false_promotion_rate(n_clusters: int, *, families: int, seed: int) -> float:
    """Share of families in which one of 20 judges, all equal to the champion, is ever found better."""
    rng = np.random.default_rng(seed)
    promoted = 0
    for _ in range(families):
        expert = draw_expert(rng, n_clusters)
        champion = expert.judge_tau_b(0.75)
        for look in range(1, LOOKS + 1):
            challenger = expert.judge_tau_b(0.75)
            if challenger.point() <= champion.point():
                continue
            found = difference_interval(challenger, champion, level=1 - level_for_test_use(look))
            if found.low is not None and found.low > 0:
                promoted += 1
                break
    return promoted / families


def test_equal_judges_are_rarely_promoted_in_twenty_looks() -> None:
    assert false_promotion_rate(60, families=60, seed=0) <= 0.1


@pytest.mark.full
@pytest.mark.parametrize("n_clusters", [15, 60])
def test_equal_judges_are_promoted_in_at_most_5_percent_of_400_families(n_clusters: int) -> None:
    assert false_promotion_rate(n_clusters, families=400, seed=1) <= 0.05


@pytest.mark.parametrize("statistic", ["tau_b", "kappa", "qwk"])
@pytest.mark.parametrize(
    "n_clusters",
    [pytest.param(10, marks=pytest.mark.full), *(pytest.param(n, marks=pytest.mark.soak) for n in (15, 60))],
)
def test_p_of_equal_judges_is_honest_far_into_the_tail(n_clusters: int, statistic: str) -> None:
    p = tail_p(n_clusters, repeats=20_000, statistic=statistic)
    for alpha in (0.05, 0.01, 0.001, *TEST_USES):
        expected = alpha * p.size
        assert (p <= alpha).sum() <= 1.2 * expected + 3 * np.sqrt(expected) + 1, alpha
