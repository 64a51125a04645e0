import numpy as np
import pytest

from judgec.stats.agreement.statistic import mean, table_statistic
from judgec.stats.intervals.resampling import RESAMPLES, resample, standard_error


def test_resample_draws_each_cluster_equally_often_and_reproducibly() -> None:
    weights = resample(10)
    assert weights.shape == (RESAMPLES, 10)
    assert (weights.sum(1) == 10).all()
    np.testing.assert_allclose(weights.mean(0), 1.0, atol=0.08)  # standard error .021
    assert weights.var() == pytest.approx(0.9, abs=0.05)  # multinomial
    resample.cache_clear()
    assert (resample(10) == weights).all()


def test_resample_is_read_only() -> None:
    with pytest.raises(ValueError, match="read-only"):
        resample(5)[0, 0] = 1


def test_standard_error_of_a_mean_of_single_items_is_that_of_the_mean() -> None:
    values = np.array([1.0, 4.0, 2.0, 8.0])
    assert standard_error(mean(values, np.arange(4))) == pytest.approx(values.std(ddof=1) / 2)
    assert standard_error(mean(values, np.arange(4) * 2, n_clusters=9)) == pytest.approx(values.std(ddof=1) / 2)


def test_standard_error_where_leaving_a_cluster_out_is_undefined_is_none() -> None:
    expert, judge = np.array([0, 0, 0, 1]), np.array([0, 0, 1, 1])
    assert standard_error(table_statistic("tau_b", expert, judge, np.arange(4), n_grades=2)) is None
