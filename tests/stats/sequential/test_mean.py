"""The confidence sequence: a worked value, what it becomes at the edges, and its coverage over all looks together."""

import numpy as np
import pytest

from judgec.records.label import FloatArray
from judgec.stats.sequential.mean import (
    TILTS,
    evidence_above,
    rolling_limits,
    sequence_limits,
    stage_alpha,
    stage_starts,
)

ALPHA = 0.05


def test_evidence_is_the_mean_over_tilts_of_what_each_gives() -> None:
    # Three of four values are 1: each tilt s gives e^(3 s) / (1 - m + m e^s)^4.
    one = np.mean(np.exp(3 * TILTS) / (1 - 0.2 + 0.2 * np.exp(TILTS)) ** 4)
    assert float(np.exp(evidence_above(0.2, np.array(3.0), np.array(4.0)))) == pytest.approx(float(one))


@pytest.mark.parametrize(("total", "n"), [(0, 1), (1, 1), (0, 50), (50, 50), (30, 50), (800, 1000)])
def test_limits_hold_the_mean_and_are_mirrored(total: int, n: int) -> None:
    low, high = sequence_limits(total, n, ALPHA)
    assert 0 <= low <= total / n <= high <= 1
    mirrored = sequence_limits(n - total, n, ALPHA)
    assert [1 - mirrored[1], 1 - mirrored[0]] == pytest.approx([low, high])


def test_limits_of_nothing_are_all_and_narrow_with_more() -> None:
    assert sequence_limits(0, 0, ALPHA) == (0.0, 1.0)
    widths = [high - low for low, high in (sequence_limits(0.8 * n, n, ALPHA) for n in (10, 100, 1000, 10_000))]
    assert widths == sorted(widths, reverse=True)
    assert widths[-1] < 0.03


def test_stages_share_the_error_probability() -> None:
    assert sum(stage_alpha(stage, ALPHA) for stage in range(1, 10_000)) < ALPHA
    assert stage_starts(0, 100) == [0]
    assert stage_starts(25, 100) == [0, 10, 20]


def test_rolling_limits_are_about_the_latest_values_alone() -> None:
    values = np.r_[np.ones(2000), np.zeros(400)]
    start, low, high = rolling_limits(values, 400, ALPHA)
    assert start == 2000
    assert low == 0.0
    assert high < 0.05
    assert rolling_limits(values, 400, ALPHA, since=2400)[1:] == (0.0, 1.0)


def _misses(values: FloatArray, mean: FloatArray) -> FloatArray:
    """By run: whether the sequence ever excludes the mean of the means so far; shapes (runs, n)."""
    n = np.broadcast_to(np.arange(1.0, values.shape[1] + 1), values.shape)
    totals, average = values.cumsum(axis=1), mean.cumsum(axis=1) / n
    missed = np.zeros(len(values), dtype=bool)
    for at in range(0, values.shape[1], 5):
        for total, truth in ((totals[:, at], average[0, at]), (n[:, at] - totals[:, at], 1 - average[0, at])):
            missed |= evidence_above(float(truth), total, n[:, at]) > np.log(2 / ALPHA)
    return missed.astype(np.float64)


@pytest.mark.full
@pytest.mark.parametrize("kind", ["constant", "rare", "falling", "learning"])
def test_the_interval_is_wrong_at_any_of_many_looks_in_at_most_five_of_a_hundred_runs(kind: str) -> None:
    rng, runs, n = np.random.default_rng(1), 600, 1500
    means = {
        "constant": np.full((runs, n), 0.8),
        "rare": np.full((runs, n), 0.98),
        "falling": np.tile(np.linspace(0.95, 0.3, n), (runs, 1)),
        "learning": np.tile(np.where(np.arange(n) % 100 < 50, 0.9, 0.5), (runs, 1)),
    }[kind]
    values = (rng.random((runs, n)) < means).astype(np.float64)
    wrong = float(_misses(values, means).mean())
    assert wrong <= ALPHA
    # The fixed-sample interval is wrong far more often: the looks do count in this simulation.
    totals, count = values.cumsum(axis=1)[:, 29::5], np.arange(30.0, n + 1, 5)
    share = (totals + 2) / (count + 4)
    half = 1.96 * np.sqrt(share * (1 - share) / (count + 4))
    truth = (means.cumsum(axis=1) / np.arange(1.0, n + 1))[:, 29::5]
    assert float((np.abs(share - truth) > half).any(axis=1).mean()) > 2 * ALPHA
