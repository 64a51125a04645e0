"""Kendall tau-b of the rubric benchmark against SciPy: as it is, in a resample, and within groups."""

import numpy as np
import pytest
from benchmarks.llm_rubric import _order, kendall
from scipy.stats import kendalltau


def test_kendall_of_multiplicities_is_that_of_the_rows_drawn() -> None:
    rng = np.random.default_rng(1)
    x, y = rng.integers(0, 5, 60).astype(float), rng.integers(0, 3, 60).astype(float)
    drawn = np.array([np.ones(60), rng.multinomial(60, np.full(60, 1 / 60))])
    found = kendall(_order(x), _order(y), drawn)
    rows = np.repeat(np.arange(60), drawn[1].astype(int))
    assert found == pytest.approx([kendalltau(x, y)[0], kendalltau(x[rows], y[rows])[0]])


def test_kendall_within_groups_ignores_what_groups_differ_by() -> None:
    rng = np.random.default_rng(2)
    group = np.repeat([0, 1], 20)
    x, y = rng.normal(size=40), rng.normal(size=40)
    same = group[:, None] == group[None, :]
    whole = kendall(_order(x) * same, _order(y + 9 * group) * same, np.ones((1, 40)))[0]
    each = [kendalltau(x[group == g], y[group == g])[0] for g in (0, 1)]
    assert whole == pytest.approx(np.mean(each))  # without ties, of groups of one size
    assert kendall(_order(x), _order(y + 9 * group), np.ones((1, 40)))[0] != pytest.approx(whole)
