import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from judgec.records.estimate import Estimate
from judgec.records.label import FloatArray, IntArray
from judgec.stats.correction.mean import unseen_variance
from judgec.stats.systems.means import Cells, corrected_means
from judgec.stats.systems.rows import Graded
from tests.stats.correction.worlds import PPI_WORLDS, World, coverage, of_one
from tests.stats.known import bounds, known


def corrected(judge: FloatArray, expert: FloatArray, cluster: IntArray, *, shares: bool = False) -> Estimate:
    found = of_one(judge, expert, cluster, shares=shares)
    return found.corrected.estimates(found.enough)[0]


def test_a_corrected_mean_by_pencil() -> None:
    # Experts 1, 0, 1, 0, 1, 0 on six of twelve items; the judge has the second one otherwise.
    expert = np.where(np.arange(12) < 6, (np.arange(12) + 1.0) % 2, np.nan)
    judge = np.array([1.0, 1.0, 1.0, 0.0, 1.0, 0.0, 1.0, 1.0, 0.0, 1.0, 1.0, 0.0])
    found = of_one(judge, expert, np.arange(12), shares=False)
    first = np.arange(12) < 6
    people, seen = (np.where(first, one, 0.0) / 6 for one in (np.nan_to_num(expert) - 1 / 2, judge - 2 / 3))
    whole = (judge - 2 / 3) / 12
    w = found.weight
    assert w == pytest.approx(-float(people @ (whole - seen)) / float((whole - seen) @ (whole - seen)))
    assert found.corrected.value[0] == pytest.approx(0.5)  # the judge says 2/3 of the labelled, and of all
    own, rest = people - w * seen, w * whole
    of_labels, of_judge = float(own @ own) * 6 / 4, float(rest @ (2 * own + rest))  # a mean and a weight are fitted
    load = np.where(first, of_labels / 6, 0.0) + of_judge / 12
    hidden = (1 - w) ** 2 * unseen_variance(1 / 2, 6) + w**2 * unseen_variance(1 / 6, 6)
    load = load + np.where(first, hidden / 6, 0.0)
    freedom = load.sum() ** 2 / float(load @ load) - 2
    half = float(stats.t.isf(0.025, freedom)) * math.sqrt(of_labels + of_judge + hidden)
    assert found.corrected.limits()[0][0] == pytest.approx(0.5 - half)


def test_a_judge_that_is_off_by_a_constant_is_put_right() -> None:
    rng = np.random.default_rng(3)
    truth = rng.normal(2.0, 1.0, 400)
    expert = np.where(np.arange(400) < 100, truth, np.nan)
    found = of_one(truth + 0.7, expert, np.arange(400), shares=False)
    assert found.weight == pytest.approx(1.0, abs=0.1)
    assert found.corrected.value[0] == pytest.approx(float(truth.mean()), abs=0.02)
    assert found.error.value[0] == pytest.approx(0.7)


@pytest.mark.full
@pytest.mark.parametrize(("labels", "least"), [(10, 0.9), (20, 0.915), (40, 0.94)])
def test_means_of_grades_that_most_often_are_the_best_one_are_covered(labels: int, least: float) -> None:
    """Seven of ten grades are 5; the labels of a few hardly show the low ones. Without a shift: .85, .90, .92."""
    grades, shares, covered = np.arange(1.0, 6.0), np.array([0.03, 0.04, 0.08, 0.15, 0.7]), []
    cells = Cells.of(np.arange(200), np.zeros(200, dtype=np.int64), 1)
    for seed in range(1000):
        rng = np.random.default_rng(seed)
        truth = rng.choice(grades, 200, p=shares)
        judge = np.where(rng.random(200) < 0.2, truth, rng.choice(grades, 200, p=shares))
        expert = np.where(np.arange(200) < labels, truth, np.nan)
        graded = Graded(judge, expert, shares=False, ends=(1.0, 5.0))
        low, high = (float(one[0]) for one in corrected_means(cells, graded).corrected.limits())
        covered.append(low <= shares @ grades <= high)
    assert np.mean(covered) >= least


def test_no_mean_leaves_the_scale() -> None:
    expert = np.where(np.arange(40) < 12, np.where(np.arange(40) == 3, 2.0, 5.0), np.nan)
    one = Cells.of(np.arange(40), np.zeros(40, dtype=np.int64), 1)
    free, scale = (
        corrected_means(one, Graded(np.full(40, 5.0), expert, shares=False, ends=ends)).corrected.limits()
        for ends in ((-np.inf, np.inf), (1.0, 5.0))
    )
    assert free[1][0] > 5.0
    assert (scale[0][0], scale[1][0]) == (free[0][0], 5.0)


def test_a_useless_judge_gets_no_weight() -> None:
    expert = np.where(np.arange(40) < 10, (np.arange(40) % 2).astype(float), np.nan)
    found = of_one(np.full(40, 0.5), expert, np.arange(40))
    assert (found.weight, found.corrected.value[0]) == (0.0, 0.5)


@pytest.mark.parametrize(("rows", "queries", "has"), [(5, 5, True), (4, 4, False), (8, 4, False), (0, 0, False)])
def test_an_interval_needs_five_labelled_rows_on_five_queries(rows: int, queries: int, *, has: bool) -> None:
    expert = np.full(60, np.nan)
    expert[:rows] = np.arange(rows) % 2
    cluster = np.arange(60) if rows == queries else np.arange(60) // 2
    found = corrected((np.arange(60) % 2).astype(float), expert, cluster, shares=True)
    assert (found.low is not None) == has
    assert (found.value is None) == (rows == 0)


def test_labels_without_a_single_disagreement_still_have_an_interval() -> None:
    expert = np.where(np.arange(100) < 20, 1.0, np.nan)
    low, high = bounds(corrected(np.ones(100), expert, np.arange(100), shares=True))
    assert high == pytest.approx(1.0)
    assert 0.7 < low < 0.9  # "rule of three": 1 - 3 / 20 is .85


def test_grades_that_are_all_alike_have_an_interval_by_the_step_of_the_scale() -> None:
    expert = np.where(np.arange(40) < 10, 5.0, np.nan)
    one = Cells.of(np.arange(40), np.zeros(40, dtype=np.int64), 1)
    found = corrected_means(one, Graded(np.full(40, 5.0), expert, shares=False))
    low, high = (float(one[0]) for one in found.corrected.limits())
    assert 4.0 < low < 4.9
    assert high > 5.0


@given(st.integers(3, 30), st.integers(0, 30), st.integers(0, 2**32 - 1))
def test_a_mean_is_turned_round_when_both_values_are(labelled: int, rest: int, seed: int) -> None:
    rng = np.random.default_rng(seed)
    n = labelled + rest
    judge, truth = rng.random(n), rng.random(n)
    expert = np.where(np.arange(n) < labelled, truth, np.nan)
    cluster = rng.integers(0, 8, n)
    one, other = (corrected(*both, cluster, shares=True) for both in ((judge, expert), (1 - judge, 1 - expert)))
    assert (one.value or 0) + (other.value or 0) == pytest.approx(1.0)
    if one.low is not None:
        assert one.low + (other.high or 0) == pytest.approx(1.0)


def test_repeated_rows_of_a_query_gain_no_certainty() -> None:
    rng = np.random.default_rng(0)
    judge, truth = (rng.random(60) < 0.5).astype(float), (rng.random(60) < 0.5).astype(float)
    expert = np.where(np.arange(60) < 30, truth, np.nan)
    once = corrected(judge, expert, np.arange(60))
    thrice = corrected(np.repeat(judge, 3), np.repeat(expert, 3), np.repeat(np.arange(60), 3))
    assert bounds(thrice) == pytest.approx(bounds(once))


def test_corrected_is_never_wider_than_labels_alone() -> None:
    for seed in range(200):
        rng = np.random.default_rng(seed)
        query, system = np.repeat(np.arange(30), 3), np.tile(np.arange(3), 30)
        truth = (rng.random(90) < 0.7).astype(float)
        judge = np.where(rng.random(90) < 0.6, truth, 1 - truth)
        expert = np.where(rng.random(90) < 0.3, truth, np.nan)
        found = corrected_means(Cells.of(query, system, 3), Graded(judge, expert, shares=True))
        both, alone = (one.limits() for one in (found.corrected, found.experts))
        assert ((both[1] - both[0]) <= (alone[1] - alone[0]) + 1e-12).all()


def test_of_these_rows_is_certain_where_all_are_labelled() -> None:
    truth = (np.arange(50) % 3 == 0).astype(float)
    found = of_one(1 - truth, truth, np.arange(50))
    low, high = (float(one[0]) for one in found.these_rows.limits())
    assert low == high == pytest.approx(float(truth.mean()))
    assert known(found.corrected.estimates(found.enough)[0].low) < low


def test_a_missing_judgment_leaves_the_mean_unbiased() -> None:
    rng = np.random.default_rng(1)
    truth = (rng.random(4000) < 0.7).astype(float)
    judge = np.where(truth == 0, np.nan, 1.0)  # it fails on every bad answer
    found = corrected(judge, np.where(np.arange(4000) < 400, truth, np.nan), np.arange(4000), shares=True)
    assert found.value == pytest.approx(0.7, abs=0.03)


@pytest.mark.full
@pytest.mark.parametrize("world", PPI_WORLDS, ids=str)
def test_a_corrected_rate_covers_and_beats_labels_alone(world: World) -> None:
    found = coverage(world, runs=1500)
    assert found["ppi"] >= 0.935
    assert found["ppi_width"] < found["alone_width"]
    assert found["raw"] < 0.9  # the raw rate is what it corrects
