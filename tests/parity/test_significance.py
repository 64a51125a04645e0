"""Paired tests and Holm's adjustment against SciPy and statsmodels."""

import numpy as np
import pytest
from scipy import stats
from statsmodels.stats.multitest import multipletests

from judgec.stats.intervals.significance import holm, paired_t, wilcoxon


@pytest.mark.parametrize("seed", range(30))
def test_paired_t_equals_scipy(seed: int) -> None:
    rng = np.random.default_rng(seed)
    a, b = rng.normal(size=(2, int(rng.integers(2, 60))))
    expected, found = stats.ttest_rel(a, b), paired_t(a, b)
    assert found.statistic == pytest.approx(float(expected.statistic), abs=1e-12)
    assert found.p == pytest.approx(float(expected.pvalue), abs=1e-12)


@pytest.mark.parametrize("seed", range(40))
def test_wilcoxon_without_ties_equals_scipy_exact_and_normal(seed: int) -> None:
    rng = np.random.default_rng(seed)
    a, b = rng.normal(0.2, 1, size=(2, int(rng.integers(3, 90))))
    found = wilcoxon(a, b)
    expected = stats.wilcoxon(a, b, method="exact" if a.size <= 50 else "approx", correction=False)
    assert found.statistic == pytest.approx(float(expected.statistic))
    assert found.p == pytest.approx(float(expected.pvalue), rel=1e-9)


@pytest.mark.parametrize("seed", range(20))
def test_wilcoxon_with_ties_equals_scipy_permutations_and_normal(seed: int) -> None:
    rng = np.random.default_rng(seed)
    a = rng.integers(-2, 4, int(rng.choice([8, 10, 80]))).astype(np.float64)
    a = a[a != 0]
    every_sign = stats.PermutationMethod(n_resamples=2**13)
    expected = stats.wilcoxon(a, method=every_sign if a.size <= 12 else "approx")
    assert wilcoxon(a, np.zeros(a.size)).p == pytest.approx(float(expected.pvalue), rel=1e-9)


@pytest.mark.parametrize("seed", range(20))
def test_holm_equals_statsmodels(seed: int) -> None:
    p = np.random.default_rng(seed).random(8) ** 3
    np.testing.assert_allclose(holm(p), multipletests(p, method="holm")[1], atol=1e-15)
