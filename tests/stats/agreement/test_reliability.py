"""Calibration by hand, and its bins."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from judgec.records.label import FloatArray, IntArray
from judgec.stats.agreement.reliability import bin_of, calibration_error, reliability_bins


def test_bin_of_bounds_open_the_next_bin_and_one_is_in_the_last() -> None:
    bounds = np.array([0, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 1.0])
    assert bin_of(bounds).tolist() == [0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 9]
    assert bin_of(np.array([0.0999, 0.3999, 0.9999])).tolist() == [0, 3, 9]


def test_calibration_error_is_hand_worked() -> None:
    # bin .2-.3: mean .25, 0 of 2 accepted; bin .9-1: mean .95, 1 of 2: (2 * .25 + 2 * .45) / 4 = .35
    probability = np.array([0.2, 0.3 - 1e-6, 0.9, 1.0])
    assert calibration_error(probability, np.array([0, 0, 1, 0])) == pytest.approx(0.35, abs=1e-6)
    assert calibration_error(np.array([]), np.array([], dtype=np.int64)) is None


@given(arrays(np.float64, 30, elements=st.floats(0, 1)), arrays(np.int64, 30, elements=st.integers(0, 1)))
def test_reliability_bins_average_back_to_the_whole(probability: FloatArray, accepted: IntArray) -> None:
    counts, predicted, observed = reliability_bins(probability, accepted)
    assert counts.sum() == 30
    assert np.nansum(counts * predicted) / 30 == pytest.approx(probability.mean())
    assert np.nansum(counts * observed) / 30 == pytest.approx(accepted.mean())
