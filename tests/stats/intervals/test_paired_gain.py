"""A paired gain: its value and error by hand, and that a gain whose error is undefined never counts as clear."""

from dataclasses import replace

import numpy as np
import pytest

from judgec.compile.calibrate_choice import _winner
from judgec.raters.calibrator import CalibratorChoice
from judgec.stats.agreement.statistic import Statistic, mean
from judgec.stats.intervals.paired_gain import PairedGain, paired_gain
from tests.stats.known import known


def mean_of(values: list[float]) -> Statistic:
    """The mean of one value a query."""
    return mean(np.array(values), np.arange(len(values)), bounds=(-10.0, 10.0))


def test_paired_gain_of_means_is_the_mean_difference_with_its_standard_error() -> None:
    challenger, incumbent = [1.0, 2.0, 4.0, 3.0], [0.0, 2.0, 2.0, 2.0]
    gain = paired_gain(mean_of(challenger), mean_of(incumbent))
    # differences 1, 0, 2, 1: mean 1, sample variance 2/3, standard error sqrt(2/3/4)
    assert gain.value == pytest.approx(1.0)
    assert gain.error == pytest.approx(np.sqrt(2 / 3 / 4))
    assert gain.clear
    assert not paired_gain(mean_of(incumbent), mean_of(challenger)).clear


def test_paired_gain_within_one_standard_error_is_not_clear() -> None:
    gain = paired_gain(mean_of([3.0, -2.0, 0.0]), mean_of([0.0, 0.0, 0.0]))
    assert 0 < gain.value < known(gain.error)
    assert not gain.clear


def test_paired_gain_of_a_single_query_has_no_error_and_is_not_clear() -> None:
    gain = paired_gain(mean_of([1.0]), mean_of([0.0]))
    assert (gain.value, gain.error, gain.clear) == (1.0, None, False)


def test_paired_gain_that_is_undefined_without_a_query_has_no_error_and_is_not_clear() -> None:
    fragile = replace(mean_of([1.0, 1.0, 1.0]), without=lambda: np.array([np.nan, 1.0, 1.0]))
    gain = paired_gain(fragile, mean_of([0.0, 0.0, 0.0]))
    assert (gain.value, gain.error, gain.clear) == (1.0, None, False)


@pytest.mark.parametrize(("value", "error"), [(np.nan, 0.1), (0.0, 0.0), (-1.0, 0.0), (5.0, None)])
def test_gain_that_is_undefined_or_not_above_zero_is_not_clear(value: float, error: float | None) -> None:
    assert not PairedGain(value, error).clear


def test_decision_rule_whose_gain_has_no_error_does_not_ship() -> None:
    def row(gain: float, error: float | None) -> CalibratorChoice:
        return CalibratorChoice(
            source="lm", family="none", rule="raw", loss=0.1, grade_error=0.1, value=0.5, gain=gain, gain_error=error
        )

    incumbent = row(0.0, 0.0)
    assert _winner([incumbent, row(0.5, None)]) == 0
    assert _winner([incumbent, row(0.5, None), row(0.2, 0.1)]) == 2
