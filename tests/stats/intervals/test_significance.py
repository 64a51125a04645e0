import numpy as np
import pytest

from judgec.stats.intervals.significance import holm, level_for_test_use, paired_t, wilcoxon


def test_level_for_look_spends_five_percent_over_all_looks() -> None:
    assert level_for_test_use(1) == pytest.approx(0.025)
    assert level_for_test_use(20) == pytest.approx(0.05 / 420)
    # 1 / (k (k + 1)) = 1/k - 1/(k + 1): twenty uses sum to 20/21.
    assert sum(level_for_test_use(look) for look in range(1, 21)) == pytest.approx(0.05 * 20 / 21)
    with pytest.raises(ValueError, match="counted from 1"):
        level_for_test_use(0)


def test_paired_t_of_three_pairs_is_the_hand_count() -> None:
    # Differences 1 2 3: mean 2, sd 1, t = 2 sqrt(3); with two degrees of freedom p = 1 - t / sqrt(2 + t^2).
    found = paired_t(np.array([2.0, 4.0, 6.0]), np.array([1.0, 2.0, 3.0]))
    assert found.statistic == pytest.approx(12**0.5)
    assert found.p == pytest.approx(1 - (12 / 14) ** 0.5)
    assert found.n == 3


def test_paired_t_of_equal_differences_is_undefined() -> None:
    found = paired_t(np.array([1.0, 2.0]), np.array([0.0, 1.0]))
    assert (found.statistic, found.p) == (None, None)
    assert paired_t(np.array([1.0]), np.array([0.0])).smallest_p == 1.0


@pytest.mark.parametrize(("pairs", "smallest"), [(3, 0.25), (5, 0.0625), (6, 0.03125)])
def test_wilcoxon_of_one_sided_pairs_reaches_its_smallest_p(pairs: int, smallest: float) -> None:
    found = wilcoxon(np.arange(1.0, pairs + 1), np.zeros(pairs))
    assert found.p == found.smallest_p == smallest
    assert found.statistic == 0


def test_wilcoxon_with_ties_is_the_hand_count() -> None:
    # Differences 1 1 -1 2, ranks 2 2 2 4: the negative sum is 2. Of 16 sign patterns, 4 have at most that
    # (no negative, or one of the three 2s). Two-sided 8 / 16.
    found = wilcoxon(np.array([1.0, 1.0, -1.0, 2.0, 0.0]), np.zeros(5))
    assert (found.statistic, found.p, found.n) == (2.0, 0.5, 4)


def test_wilcoxon_without_differences_can_show_nothing() -> None:
    found = wilcoxon(np.ones(4), np.ones(4))
    assert (found.statistic, found.p, found.smallest_p, found.n) == (None, None, 1.0, 0)


def test_holm_of_three_is_the_hand_count() -> None:
    # Sorted .01 .03 .04 times 3 2 1: .03 .06 .04, made rising: .03 .06 .06.
    adjusted = holm(np.array([0.04, 0.01, np.nan, 0.03]))
    np.testing.assert_allclose(adjusted, [0.06, 0.03, np.nan, 0.06])
    np.testing.assert_allclose(holm(np.array([0.6, 0.7])), [1.0, 1.0])


def test_paired_tests_of_unequal_samples_raise() -> None:
    with pytest.raises(ValueError, match="two equal"):
        wilcoxon(np.ones(3), np.ones(4))


def test_differences_of_means_of_the_same_grades_tie_whatever_their_last_bits_are() -> None:
    # Thirds: 5/3 - 4/3, 4/3 - 1 and 1/3 - 0 are 1/3, but three different doubles.
    one, other = np.array([5, 4, 1]) / 3, np.array([4, 3, 0]) / 3
    assert len(set(one - other)) == 3
    assert paired_t(one, other).p is None
    # With -1/3 in place of the last, ranks are 2 2 2: all sums of 2 or less are 4 of 8 patterns, two-sided 8 / 8.
    assert wilcoxon(np.append(one[:2], 0.0), np.append(other[:2], 1 / 3)).p == 1.0
    assert wilcoxon(np.array([0.1 + 0.2]), np.array([0.3])).n == 0
