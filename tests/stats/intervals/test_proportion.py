"""Shares with exact intervals, and McNemar's test: published values, a second implementation, properties."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from statsmodels.stats.contingency_tables import mcnemar as oracle
from statsmodels.stats.proportion import proportion_confint

from judgec.stats.intervals.proportion import clopper_pearson, mcnemar, share
from tests.stats.known import bounds


def test_clopper_pearson_of_no_failure_in_ten_is_the_rule_of_exact_binomial() -> None:
    # 1 - .025 ** (1 / 10)
    assert clopper_pearson(0, 10) == pytest.approx((0.0, 1 - 0.025**0.1))


@given(st.integers(0, 60), st.integers(1, 60))
def test_clopper_pearson_equals_statsmodels(successes: int, n: int) -> None:
    successes = min(successes, n)
    assert clopper_pearson(successes, n) == pytest.approx(proportion_confint(successes, n, method="beta"), abs=1e-12)


def test_share_with_one_outcome_a_source_is_clopper_pearson() -> None:
    found = share(np.array([1, 0, 0, 1, 0]), np.arange(5))
    assert (found.value, found.n, found.n_clusters) == (0.4, 5, 5)
    assert (found.low, found.high) == pytest.approx(proportion_confint(2, 5, method="beta"))


def test_share_of_copies_of_each_outcome_knows_no_more_than_the_sources() -> None:
    outcomes = np.repeat([1, 0, 0, 1, 0, 1, 0, 0], 5)
    sources = np.repeat(np.arange(8), 5)
    copied, single = share(outcomes, sources), share(outcomes[::5], np.arange(8))
    assert copied.value == single.value
    assert copied.low is not None
    assert single.low is not None
    assert copied.low < single.low  # the variance is estimated from eight sources, which costs a little more


def test_share_without_failures_is_corrected_for_few_sources() -> None:
    found = share(np.zeros(30, dtype=np.int64), np.repeat(np.arange(6), 5))
    size = 30 * (2.045230 / 2.570582) ** 2  # t quantiles with 29 and 5 degrees of freedom
    assert found.high == pytest.approx(1 - 0.025 ** (1 / size), abs=1e-6)


@given(st.lists(st.integers(1, 5), min_size=2, max_size=8))
def test_share_with_a_failure_never_has_a_lower_upper_bound_than_without(sizes: list[int]) -> None:
    sources = np.repeat(np.arange(len(sizes)), sizes)
    none = np.zeros(len(sources), dtype=np.int64)
    some = none.copy()
    some[0] = 1
    clean, failed = share(none, sources).high, share(some, sources).high
    assert clean is not None
    assert failed is not None
    assert failed >= clean


def test_share_of_one_source_is_nearly_the_whole_scale() -> None:
    found = share(np.array([1, 0, 1]), np.zeros(3, dtype=np.int64))
    low, high = bounds(found)
    assert high - low > 0.8


def test_share_of_nothing_is_undefined_with_a_note() -> None:
    found = share(np.array([], dtype=np.int64), np.array([], dtype=np.int64))
    assert found.value is None
    assert found.note


@given(st.lists(st.tuples(st.integers(0, 1), st.integers(0, 8)), min_size=1, max_size=60))
def test_share_lies_in_its_interval(pairs: list[tuple[int, int]]) -> None:
    found = share(np.array([one for one, _ in pairs]), np.array([source for _, source in pairs]))
    assert found.value is not None
    low, high = bounds(found)
    assert 0 <= low <= found.value + 1e-9
    assert found.value - 1e-9 <= high <= 1


@given(st.lists(st.tuples(st.integers(0, 1), st.integers(0, 1)), min_size=1, max_size=50))
def test_mcnemar_equals_statsmodels(pairs: list[tuple[int, int]]) -> None:
    a, b = np.array([x for x, _ in pairs]), np.array([y for _, y in pairs])
    table = [[int(((a == i) & (b == j)).sum()) for j in (0, 1)] for i in (0, 1)]
    found = mcnemar(a, b)
    assert found.p == pytest.approx(oracle(table, exact=True).pvalue)
    assert found.p >= found.smallest_p - 1e-12


def test_mcnemar_of_five_discordant_questions_cannot_reach_five_percent() -> None:
    found = mcnemar(np.array([1, 1, 1, 1, 1, 0]), np.array([0, 0, 0, 0, 0, 0]))
    assert (found.a_only, found.b_only, found.p, found.smallest_p) == (5, 0, 0.0625, 0.0625)


def test_mcnemar_of_different_lengths_is_refused() -> None:
    with pytest.raises(ValueError, match="one shape"):
        mcnemar(np.array([1]), np.array([1, 0]))
