"""The test of drift: quiet where the mix alone moves, at all looks together, and loud where scores or labels change."""

import numpy as np
import pytest

from judgec.records.label import FloatArray, IntArray
from judgec.stats.sequential.mixture import ALPHA, ScoreCounts, binned, drift_evidence, measured

GOOD, BAD = np.array([0.05, 0.1, 0.25, 0.58, 0.02]), np.array([0.6, 0.25, 0.1, 0.03, 0.02])
OTHER = np.array([0.0, 0.6, 0.4, 0.0, 0.0])
FIRES = np.log(2 / ALPHA)
WINDOW = 1000


def drawn(rng: np.random.Generator, n: int, share: float) -> tuple[IntArray, FloatArray]:
    """Bins of scores, and what experts would say."""
    label = (rng.random(n) < share).astype(np.float64)
    bins = np.where(label == 1, rng.choice(5, n, p=GOOD), rng.choice(5, n, p=BAD))
    return bins, label


def counted(bins: IntArray, label: FloatArray) -> ScoreCounts:
    good, bad = (np.bincount(bins[label == side], minlength=5).astype(np.float64) for side in (1, 0))
    return ScoreCounts(np.arange(3.0), good, bad)


def test_scores_are_binned_with_equally_many_and_none_apart() -> None:
    score = np.array([1.0, 2.0, 3.0, 4.0, np.nan])
    known = measured(score, np.array([0.0, 0.0, 1.0, 1.0, 1.0]))
    assert known.edges.tolist() == [1.75, 2.5, 3.25]
    assert (known.accepted.tolist(), known.rejected.tolist()) == ([0, 0, 1, 1, 1], [1, 1, 0, 0, 0])
    assert binned(np.array([0.0, 9.0, np.nan]), known.edges).tolist() == [0, 3, 4]


def test_another_mix_is_no_drift_and_other_scores_are() -> None:
    rng = np.random.default_rng(3)
    known = counted(*drawn(rng, 200, 0.6))
    nobody = np.full(600, np.nan)
    for share in (0.05, 0.5, 1.0):
        assert drift_evidence(known, drawn(rng, 600, share)[0], nobody, WINDOW) < FIRES
    changed = np.r_[drawn(rng, 300, 0.8)[0], rng.choice(5, 300, p=OTHER)]
    assert drift_evidence(known, changed, nobody, WINDOW) > FIRES


def test_labels_that_contradict_the_scores_are_drift() -> None:
    rng = np.random.default_rng(4)
    known = counted(*drawn(rng, 200, 0.6))
    bins, label = drawn(rng, 200, 0.6)
    assert drift_evidence(known, bins, label, WINDOW) < FIRES
    assert drift_evidence(known, bins, 1 - label, WINDOW) > FIRES


def test_without_traffic_there_is_no_evidence() -> None:
    known = counted(*drawn(np.random.default_rng(5), 50, 0.6))
    nothing = drift_evidence(known, np.zeros(0, dtype=np.int64), np.zeros(0), WINDOW)
    assert -0.2 < nothing <= 0.0  # the bound errs on the quiet side


@pytest.mark.full
@pytest.mark.parametrize("tested", [40, 200])
def test_drift_is_reported_at_any_of_many_looks_in_at_most_five_of_a_hundred_runs_without_drift(tested: int) -> None:
    fired, runs = 0, 200
    for run in range(runs):
        rng = np.random.default_rng(run)
        known = counted(*drawn(rng, tested, 0.6))
        parts = [drawn(rng, 100, share) for share in (0.9, 0.6, 0.3, 0.9, 0.8, 0.7)]  # quality moves, errors do not
        bins, label = (np.concatenate(each) for each in zip(*parts, strict=True))
        label = np.where(rng.random(len(label)) < 0.1, label, np.nan)
        looks = (drift_evidence(known, bins[:n], label[:n], WINDOW) for n in range(50, len(bins) + 1, 50))
        fired += any(evidence >= FIRES for evidence in looks)
    assert fired / runs <= ALPHA
