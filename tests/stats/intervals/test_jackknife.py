from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from scipy import stats

from judgec.stats.agreement.objective import parse_objective
from judgec.stats.agreement.statistic import (
    SHARE,
    Statistic,
    bland_altman,
    mean,
    table_statistic,
)
from judgec.stats.intervals.jackknife import detectable_difference, difference_interval, interval
from tests.stats.intervals.world import draw_expert
from tests.stats.known import bounds
from tests.stats.side_by_side import side_by_side
from tests.stats.strategies import PROPERTY, Graded, graded_items


def judges(n_clusters: int, seed: int = 0) -> tuple[Statistic, Statistic]:
    expert = draw_expert(np.random.default_rng(seed), n_clusters)
    return expert.judge_tau_b(0.9), expert.judge_tau_b(0.5)


def test_interval_of_a_mean_of_many_single_items_is_the_t_interval() -> None:
    values = np.random.default_rng(0).exponential(size=60)
    found = interval(mean(values, np.arange(60)), level=0.9)
    reach = stats.t.ppf(0.95, 59) * values.std(ddof=1) / np.sqrt(60)
    assert found.low == pytest.approx(values.mean() - reach, abs=1e-12)
    assert found.high == pytest.approx(values.mean() + reach, abs=1e-12)
    assert found.method == "jackknife t over clusters"


def test_interval_of_a_rate_stays_within_its_bounds_and_is_symmetric_in_log_odds() -> None:
    values = np.array([1.0] * 58 + [0.0] * 2)
    found = interval(mean(values, np.arange(60), bounds=SHARE))
    low, high = bounds(found)
    assert 0 < low < 58 / 60 < high < 1
    odds = [np.log(p / (1 - p)) for p in (low, 58 / 60, high)]
    assert odds[1] - odds[0] == pytest.approx(odds[2] - odds[1], abs=1e-9)


def test_interval_of_few_clusters_is_students_on_the_fisher_scale() -> None:
    statistic, _ = judges(15)
    found = interval(statistic)
    without, middle = statistic.without(), np.arctanh(statistic.point())
    error = np.sqrt(14 / 15 * ((without - without.mean()) ** 2).sum())
    reach = stats.t.isf(0.025, 14) * error / (1 - statistic.point() ** 2)
    assert bounds(found) == pytest.approx((np.tanh(middle - reach), np.tanh(middle + reach)))
    assert found.method == "jackknife t over clusters"


@pytest.mark.parametrize("n_clusters", [15, 60])
def test_wider_levels_contain_narrower_ones_far_into_the_tail(n_clusters: int) -> None:
    levels = (0.5, 0.8, 0.95, 0.98, 0.99, 0.995, 0.999, 1 - 0.05 / 420)
    a, b = judges(n_clusters)
    found = [difference_interval(a, b, level=level) for level in levels]
    lows = [one.low for one in found if one.low is not None]
    assert len(lows) == len(levels)
    assert all(wide < narrow for narrow, wide in pairwise(lows))


@pytest.mark.parametrize("n_clusters", [12, 20, 60])
@pytest.mark.parametrize("seed", range(5))
def test_p_of_a_difference_is_where_the_interval_begins_to_exclude_zero(n_clusters: int, seed: int) -> None:
    expert = draw_expert(np.random.default_rng(seed), n_clusters)
    a, b = expert.judge_tau_b(0.85), expert.judge_tau_b(0.6)
    p = difference_interval(a, b).p
    assert p is not None
    assert 0 < p < 1
    for alpha, excludes in ((p * 1.01, True), (p * 0.99, False)):
        found = difference_interval(a, b, level=1 - min(alpha, 0.999))
        low, high = bounds(found)
        assert (low > 0 or high < 0) is (excludes if alpha < 0.999 else True)


def test_difference_interval_of_swapped_judges_is_mirrored() -> None:
    a, b = judges(15)
    one, other = difference_interval(a, b), difference_interval(b, a)
    assert one.low == pytest.approx(-(other.high or 0), abs=1e-12)
    assert one.high == pytest.approx(-(other.low or 0), abs=1e-12)
    assert one.p == other.p


def test_difference_of_judges_that_err_alike_is_narrower_than_of_strangers() -> None:
    rng = np.random.default_rng(0)
    cluster, expert = np.repeat(np.arange(50), 4), rng.integers(0, 5, 200)
    grades = [np.clip(expert + rng.integers(-2, 3, 200), 0, 4) for _ in range(2)]
    alike = np.where(rng.random(200) < 0.1, grades[1], grades[0])
    first, second, near = (table_statistic("tau_b", expert, grade, cluster, n_grades=5) for grade in (*grades, alike))
    assert (difference_interval(first, near).se or 1) < 0.5 * (difference_interval(first, second).se or 0)


def test_difference_of_identical_judges_is_zero_with_p_one() -> None:
    a, _ = judges(15)
    found = difference_interval(a, a)
    assert (found.value, found.low, found.high, found.p) == (0.0, 0.0, 0.0, 1.0)
    assert detectable_difference(found) is None


def perfect_and_constant(n_clusters: int) -> tuple[Statistic, Statistic]:
    expert = np.tile([0, 1, 2], n_clusters)
    cluster = np.repeat(np.arange(n_clusters), 3)
    objective = parse_objective("tau_b")
    perfect, constant = (
        objective.statistic(side_by_side(expert, judge, expert, judge, cluster, 3, n_clusters))
        for judge in (expert, np.ones_like(expert))
    )
    return perfect, constant


def test_perfect_against_constant_judge_is_won_by_the_sign_test_once_clusters_suffice() -> None:
    found = difference_interval(*perfect_and_constant(10))
    assert (found.value, found.low, found.high) == (1.0, 1.0, 1.0)
    assert found.p == 2.0**-9
    few = difference_interval(*perfect_and_constant(5))  # 2 ** -4 = .0625
    assert (few.value, few.low, few.p) == (1.0, None, 0.0625)
    assert "all 5 clusters agree" in few.note


def test_difference_of_nearly_equal_pairs_but_a_few_is_of_the_size_of_these() -> None:
    """A seventh of the resamples holds neither of the two pairs that differ, and so next to no spread."""
    rng = np.random.default_rng(1)
    before = rng.uniform(1, 5, 34)
    after = before + rng.normal(0, 1e-3, 34)
    after[:2] -= 0.7
    found = difference_interval(mean(after, np.arange(34)), mean(before, np.arange(34)))
    low, high = bounds(found)
    assert high - low < 0.2


def test_interval_of_a_perfect_judge_says_that_no_spread_was_seen() -> None:
    found = interval(perfect_and_constant(20)[0])
    assert (found.value, found.low, found.high) == (1.0, None, None)
    assert "the same value" in found.note


def test_interval_of_undefined_statistic_is_none_with_the_reason() -> None:
    constant = table_statistic("tau_b", np.arange(20) % 3, np.ones(20, np.int64), np.arange(20), n_grades=3)
    found = interval(constant)
    assert (found.value, found.low, found.high) == (None, None, None)
    assert "one grade only" in found.note
    assert found.estimate(20).value is None


def test_interval_of_two_clusters_is_none_with_the_reason_and_keeps_the_value() -> None:
    found = interval(mean(np.array([1.0, 2.0, 5.0]), np.array([0, 0, 4]), n_clusters=6))
    assert (found.low, found.high, found.n_clusters) == (None, None, 2)
    assert found.value == pytest.approx(8 / 3)
    assert "2 clusters, at least 3" in found.note


def test_interval_where_one_cluster_holds_all_variation_is_none_with_the_reason() -> None:
    expert, judge = np.array([0, 0, 0, 0, 1, 0]), np.array([0, 1, 0, 1, 1, 0])
    found = interval(table_statistic("tau_b", expert, judge, np.array([0, 0, 1, 2, 3, 3]), n_grades=2))
    assert found.low is None
    assert "without one of" in found.note


def test_clusters_without_items_do_not_change_an_interval() -> None:
    expert, judge, cluster = np.arange(30) % 3, (np.arange(30) * 7 % 5) % 3, np.arange(30) // 2
    plain = interval(table_statistic("qwk", expert, judge, cluster, n_grades=3))
    padded = interval(table_statistic("qwk", expert, judge, cluster * 3 + 1, n_grades=3, n_clusters=80))
    assert padded.n_clusters == plain.n_clusters == 15
    assert padded.low == pytest.approx(plain.low, abs=1e-12)
    assert padded.high == pytest.approx(plain.high, abs=1e-12)


@PROPERTY
@given(graded_items(min_items=6))
def test_interval_of_any_items_holds_its_value_or_says_why_not(items: Graded) -> None:
    cluster = np.arange(items.expert.size) // 2
    statistics = [
        table_statistic(name, items.expert, items.judge, cluster, n_grades=items.n_grades)
        for name in ("tau_b", "kappa", "exact")
    ]
    statistics.extend(bland_altman(items.expert.astype(float), items.judge.astype(float), cluster))
    for statistic in statistics:
        found = interval(statistic)
        if found.low is None or found.high is None:
            assert found.note
        else:
            assert found.low <= (found.value or 0.0) <= found.high
            assert not found.note


def test_detectable_difference_is_what_the_test_finds_four_times_in_five() -> None:
    # One value per cluster, known spread: the difference of two means.
    rng = np.random.default_rng(0)
    zero = mean(np.zeros(50), np.arange(50))
    first = difference_interval(mean(rng.normal(size=50), np.arange(50)), zero)
    shift = (detectable_difference(first) or 0) / (first.se or 1) / np.sqrt(50)  # in standard deviations
    found = 0
    for _ in range(600):
        sample = mean(rng.normal(shift, 1, size=50), np.arange(50))
        found += (difference_interval(sample, zero).low or 0) > 0
    assert found / 600 == pytest.approx(0.8, abs=0.05)


def test_interval_of_bad_arguments_raises() -> None:
    a, _ = judges(15)
    with pytest.raises(ValueError, match="0 < level < 1"):
        interval(a, level=95)
    with pytest.raises(ValueError, match="15 and 60 clusters"):
        difference_interval(a, judges(60)[0])
