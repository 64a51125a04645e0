import numpy as np
import pytest

from judgec.stats.agreement.statistic import mean, table_statistic
from judgec.stats.intervals.resampling import jackknife_se, resample, resample_present


def test_resample_draws_each_cluster_equally_often_and_repeats_by_seed() -> None:
    weights = resample(10, 4000, 3)
    assert weights.shape == (4000, 10)
    assert (weights.sum(1) == 10).all()
    # A multiplicity is binomial (10, 1/10): mean 1, variance .9; a mean of 4,000 has standard error .015.
    assert np.abs(weights.mean(0) - 1).max() < 4.5 * 0.015
    assert weights.var() == pytest.approx(0.9, abs=0.03)
    resample.cache_clear()
    assert (resample(10, 4000, 3) == weights).all()
    assert (resample(10, 4000, 4) != weights).any()


def test_resample_is_read_only() -> None:
    with pytest.raises(ValueError, match="read-only"):
        resample(5, 50, 0)[0, 0] = 1


def test_resample_present_never_draws_a_cluster_without_items() -> None:
    statistic = mean(np.array([1.0, 2.0, 4.0]), np.array([0, 2, 2]), n_clusters=4)
    weights = resample_present(statistic, 50, 0)
    assert weights[:, [1, 3]].sum() == 0
    assert (weights.sum(1) == 2).all()


def test_jackknife_se_of_a_mean_of_single_items_is_the_standard_error() -> None:
    values = np.array([1.0, 2.0, 4.0, 9.0])
    statistic = mean(values, np.arange(4))
    # sd 3.559, over sqrt(4); and of the resample 1 1 2 4: sd sqrt(2), over 2.
    found = jackknife_se(statistic, np.array([[1.0, 1, 1, 1], [2, 1, 1, 0]]))
    np.testing.assert_allclose(found, [values.std(ddof=1) / 2, np.sqrt(2) / 2], atol=1e-14)


def test_jackknife_se_where_leaving_a_cluster_out_is_undefined_is_nan() -> None:
    statistic = table_statistic("tau_b", np.array([0, 0, 0, 1]), np.array([0, 1, 0, 1]), np.arange(4), n_grades=2)
    assert np.isnan(jackknife_se(statistic, np.ones((1, 4)))).all()
