import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from judgec.stats.correction.ppi import ppi_mean, unseen_variance
from tests.stats.correction.worlds import PPI_WORLDS, World, coverage
from tests.stats.known import known


def test_ppi_mean_pencil_example() -> None:
    # Experts 1, 0, 1, 0 on four items, the judge agrees exactly; it says .75 on the other four.
    # Var of the labelled mean: 4 * .25 / 16 = .0625; of the difference: .0625 + (3 * .0625 + .5625) / 16.
    judge = np.array([1.0, 0.0, 1.0, 0.0, 1.0, 1.0, 0.0, 1.0])
    expert = np.array([1.0, 0.0, 1.0, 0.0] + [math.nan] * 4)
    found = ppi_mean(judge, expert, np.arange(8))
    assert found.weight == pytest.approx(0.0625 / (0.0625 + 0.75 / 16))
    assert found.estimate.value == pytest.approx(0.5 + found.weight * 0.25)
    # With weight w the labelled items add (1 - w)^2 * .0625 to the variance and the others w^2 * .75 / 16.
    w = found.weight
    se = math.sqrt(((1 - w) ** 2 * 0.0625 + w**2 * 0.75 / 16) * 4 / 2)
    assert found.estimate.low == pytest.approx((found.estimate.value or 0) - float(stats.t.isf(0.025, 2)) * se)


def test_ppi_mean_of_a_judge_that_is_off_by_a_constant_is_put_right() -> None:
    rng = np.random.default_rng(3)
    truth = rng.normal(2.0, 1.0, 400)
    expert = np.where(np.arange(400) < 100, truth, np.nan)
    found = ppi_mean(truth + 0.7, expert, np.arange(400))
    assert found.weight == pytest.approx(0.75, abs=0.1)  # a perfect judge: the weight of the other items, 300 / 400
    assert found.estimate.value == pytest.approx(float(truth.mean()), abs=0.02)
    assert float((truth + 0.7).mean()) - (found.estimate.value or 0) == pytest.approx(0.7, abs=0.02)


def test_ppi_mean_useless_judge_gets_no_weight() -> None:
    expert = np.where(np.arange(40) < 10, (np.arange(40) % 2).astype(float), np.nan)
    found = ppi_mean(np.full(40, 0.5), expert, np.arange(40))
    assert (found.weight, found.estimate.value) == (0.0, 0.5)


def test_ppi_mean_without_enough_labels_says_so() -> None:
    one = ppi_mean(np.ones(3), np.array([1.0, math.nan, math.nan]), np.arange(3))
    assert one.estimate.value is None
    assert "at least 2" in one.estimate.note
    assert math.isnan(one.weight)
    two = ppi_mean(np.ones(4), np.array([1.0, 0.0, math.nan, math.nan]), np.arange(4))
    assert two.estimate.value == 0.5
    assert two.estimate.low is None
    assert "2 labelled queries" in two.estimate.note


def test_ppi_mean_without_a_single_disagreement_still_has_an_interval() -> None:
    judge = np.array([1.0] * 20 + [1.0] * 80)
    expert = np.where(np.arange(100) < 20, 1.0, np.nan)
    exact = ppi_mean(judge, expert, np.arange(100)).estimate
    assert exact.low == exact.high == 1.0
    share = ppi_mean(judge, expert, np.arange(100), shares=True).estimate
    assert share.high == 1.0
    assert 0.7 < known(share.low) < 0.9  # "rule of three": 1 - 3 / 20 is .85


@given(st.integers(3, 30), st.integers(0, 30), st.integers(0, 2**32 - 1))
def test_ppi_mean_is_turned_round_when_both_values_are(labelled: int, rest: int, seed: int) -> None:
    rng = np.random.default_rng(seed)
    n = labelled + rest
    judge, truth = rng.random(n), rng.random(n)
    expert = np.where(np.arange(n) < labelled, truth, np.nan)
    cluster = rng.integers(0, 8, n)
    one = ppi_mean(judge, expert, cluster, shares=True).estimate
    other = ppi_mean(1 - judge, 1 - expert, cluster, shares=True).estimate
    assert (one.value or 0) + (other.value or 0) == pytest.approx(1.0)
    if one.low is not None:
        assert one.low + (other.high or 0) == pytest.approx(1.0)


def test_ppi_mean_of_repeated_rows_of_a_query_gains_no_certainty() -> None:
    rng = np.random.default_rng(0)
    judge, truth = (rng.random(60) < 0.5).astype(float), (rng.random(60) < 0.5).astype(float)
    expert = np.where(np.arange(60) < 30, truth, np.nan)
    once = ppi_mean(judge, expert, np.arange(60)).estimate
    thrice = ppi_mean(np.repeat(judge, 3), np.repeat(expert, 3), np.repeat(np.arange(60), 3)).estimate
    assert thrice.low == pytest.approx(once.low)
    assert thrice.high == pytest.approx(once.high)


def test_ppi_mean_refuses_holes_in_the_judge() -> None:
    with pytest.raises(ValueError, match="1 NaN of the judge"):
        ppi_mean(np.array([1.0, math.nan]), np.ones(2), np.arange(2))


def test_unseen_variance_is_that_of_two_more_of_each() -> None:
    # 0 of 20: 2 of 24, variance (1/12)(11/12)/24; nothing was seen.
    assert unseen_variance(0.0, 20) == pytest.approx(11 / 144 / 24)
    assert unseen_variance(0.5, 20) == 0.0


@pytest.mark.full
@pytest.mark.parametrize("world", PPI_WORLDS, ids=str)
def test_ppi_mean_covers_and_beats_labels_alone(world: World) -> None:
    found = coverage(world, runs=1500)
    assert found["ppi"] >= 0.935
    assert found["ppi_width"] < found["alone_width"]
    assert found["raw"] < 0.9  # the raw rate is what it corrects
