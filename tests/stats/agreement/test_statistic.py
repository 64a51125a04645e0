import tracemalloc
from collections.abc import Callable
from typing import Protocol

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from judgec.records.label import FloatArray, IntArray
from judgec.stats.agreement.registry import coarse_clusters
from judgec.stats.agreement.score_correlation import ScoredItems, scored_items, spearman_score, tau_b_score
from judgec.stats.agreement.statistic import (
    TABLE_FORMULAS,
    Statistic,
    bland_altman,
    mean,
    table_statistic,
    weighted_sum,
)
from tests.stats.strategies import N_CLUSTERS, PROPERTY, Graded, graded_items


class SignificanceResult(Protocol):
    statistic: float


Build = Callable[[ScoredItems], Statistic]
Reference = Callable[[IntArray, FloatArray], SignificanceResult]


def every_statistic(items: Graded, rows: IntArray | None = None) -> dict[str, Statistic]:
    """All statistics of the items, or of the chosen rows of them."""
    at = np.arange(items.expert.size) if rows is None else rows
    expert, judge, cluster = items.expert[at], items.judge[at], items.cluster[at]
    jitter = np.sin(np.arange(items.judge.size))[at]  # changes the order of the grades, keeps some ties
    score: FloatArray = np.round(judge + jitter, 1).astype(np.float64)
    known: dict[str, Statistic] = {
        name: table_statistic(name, expert, judge, cluster, n_grades=items.n_grades, n_clusters=N_CLUSTERS)
        for name in TABLE_FORMULAS
    }
    known["tau_b_score"] = tau_b_score(scored_items(expert, score, cluster, n_clusters=N_CLUSTERS))
    known["spearman_score"] = spearman_score(scored_items(expert, score, cluster, n_clusters=N_CLUSTERS))
    known["mean"] = mean(score, cluster, n_clusters=N_CLUSTERS)
    bias, low, high = bland_altman(expert.astype(float), score, cluster, n_clusters=N_CLUSTERS)
    known |= {"bias": bias, "limit_low": low, "limit_high": high}
    known["difference"] = weighted_sum([(1.0, known["tau_b"]), (-0.5, known["tau_b_score"])])
    return known


@PROPERTY
@given(graded_items())
def test_without_a_cluster_is_the_statistic_of_the_items_of_the_others(items: Graded) -> None:
    found = {name: statistic.without() for name, statistic in every_statistic(items).items()}
    for query in range(N_CLUSTERS):
        for name, statistic in every_statistic(items, np.flatnonzero(items.cluster != query)).items():
            np.testing.assert_allclose(found[name][query], statistic.point(), atol=1e-11, err_msg=name)


@PROPERTY
@given(graded_items())
def test_items_count_the_items_of_each_cluster(items: Graded) -> None:
    for statistic in every_statistic(items).values():
        assert statistic.items.tolist() == np.bincount(items.cluster, minlength=N_CLUSTERS).tolist()


@PROPERTY
@given(graded_items(min_items=2), st.integers(1, 4))
def test_score_statistics_do_not_change_under_monotone_maps(items: Graded, power: int) -> None:
    score = np.asarray(items.judge + 0.5, dtype=np.float64)
    for build in (tau_b_score, spearman_score):
        before = build(scored_items(items.expert, score, items.cluster)).point()
        np.testing.assert_allclose(
            build(scored_items(items.expert, score**power, items.cluster)).point(), before, atol=1e-12
        )


@PROPERTY
@given(graded_items())
def test_score_statistics_of_grades_equal_those_of_the_table(items: Graded) -> None:
    for name, build in (("tau_b", tau_b_score), ("spearman", spearman_score)):
        table = table_statistic(name, items.expert, items.judge, items.cluster, n_grades=items.n_grades)
        score = build(scored_items(items.expert, items.judge.astype(np.float64), items.cluster))
        np.testing.assert_allclose(score.point(), table.point(), atol=1e-12)


def test_bland_altman_of_four_items_is_the_hand_count() -> None:
    # judge - expert: 1 0 1 -1, mean .25; squared deviations .5625 .0625 .5625 1.5625 sum to 2.75.
    bias, low, high = bland_altman(
        np.array([1.0, 2.0, 3.0, 5.0]), np.array([2.0, 2.0, 4.0, 4.0]), np.array([0, 0, 1, 1])
    )
    assert bias.point() == pytest.approx(0.25, abs=1e-15)
    assert low.point() == pytest.approx(0.25 - 1.96 * (2.75 / 3) ** 0.5, abs=1e-14)
    assert high.point() == pytest.approx(0.25 + 1.96 * (2.75 / 3) ** 0.5, abs=1e-14)


def test_bland_altman_of_one_item_has_bias_and_no_limits() -> None:
    bias, low, high = bland_altman(np.array([1.0]), np.array([3.0]), np.array([0]))
    assert bias.point() == 2.0
    assert np.isnan(low.point())
    assert np.isnan(high.point())


@pytest.mark.parametrize("build", [tau_b_score, spearman_score])
def test_score_statistic_of_bad_input_raises(build: Build) -> None:
    with pytest.raises(ValueError, match="1 values are NaN"):
        build(scored_items(np.array([0, 1]), np.array([0.5, np.nan]), np.array([0, 1])))
    with pytest.raises(ValueError, match="grade positions below 0"):
        build(scored_items(np.array([0, -1]), np.array([0.5, 1.0]), np.array([0, 1])))


def test_statistics_without_items_are_undefined() -> None:
    none, empty = np.array([], dtype=np.int64), np.array([])
    for build in (tau_b_score, spearman_score):
        assert np.isnan(build(scored_items(none, empty, none, n_clusters=3)).point())
    assert np.isnan(mean(empty, none, n_clusters=3).point())
    assert np.isnan(table_statistic("qwk", none, none, none, n_grades=3, n_clusters=3).point())


@pytest.mark.parametrize(("build", "reference"), [(tau_b_score, stats.kendalltau), (spearman_score, stats.spearmanr)])
def test_score_statistic_of_many_rows_needs_no_room_for_their_pairs(build: Build, reference: Reference) -> None:
    rng = np.random.default_rng(0)
    expert, cluster = rng.integers(0, 5, 20_000), rng.integers(0, 1000, 20_000)
    score = expert + rng.normal(size=20_000)
    tracemalloc.start()
    statistic = build(scored_items(expert, score, cluster))
    left = statistic.without()
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 40e6  # a number for each row and cluster is 160 MB
    assert statistic.point() == pytest.approx(reference(expert, score).statistic, abs=1e-12)
    kept = cluster != 7
    assert left[7] == pytest.approx(reference(expert[kept], score[kept]).statistic, abs=1e-12)


def test_coarse_clusters_of_many_keep_clusters_whole_and_few_untouched() -> None:
    cluster = np.repeat(np.arange(50) * 3, 2)
    coarse, n_clusters = coarse_clusters(cluster, 148, most=7)
    assert n_clusters == 7
    assert (coarse[::2] == coarse[1::2]).all()
    assert sorted(set(coarse.tolist())) == list(range(7))
    part, _ = coarse_clusters(cluster[10:40], 148, most=7)
    assert (part == coarse[10:40]).all()  # another grader of some of the queries
    same, n_clusters = coarse_clusters(cluster, 148, most=148)
    assert same is cluster
    assert n_clusters == 148
