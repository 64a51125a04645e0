"""Conformal sets of the benchmark: what the threshold and the sets are by hand, and that they cover."""

import numpy as np
from benchmarks.conformal import measured, sets_of, smallest_run, threshold_of
from benchmarks.recorded_calibration import Recorded

from judgec.records.scale import Scale


def test_threshold_is_the_quantile_of_queries_with_one_more_at_infinity() -> None:
    probability, queries = np.array([0.9, 0.8, 0.7, 0.6, 0.5, 0.4, 0.3, 0.2, 0.1]), np.arange(9)

    assert threshold_of(probability, queries, 0.9) == 0.1  # 9 of 9 + 1
    assert threshold_of(probability, queries, 0.5) == 0.5
    assert threshold_of(probability, np.zeros(9, dtype=np.int64), 0.9) == -1.0  # one query says nothing of 90 %


def test_ordered_sets_have_no_gap_and_hold_the_likeliest_grade() -> None:
    spread = np.array([[0.4, 0.1, 0.5], [0.3, 0.4, 0.3]])

    assert sets_of(spread, 0.3, ordered=True).tolist() == [[True, True, True], [True, True, True]]
    assert sets_of(spread, 0.3, ordered=False)[0].tolist() == [True, False, True]
    assert sets_of(spread, 0.45, ordered=True).tolist() == [[False, False, True], [False, True, False]]


def test_smallest_run_of_grades_without_a_judge() -> None:
    assert smallest_run(np.array([0, 1, 1, 1, 2, 2, 2, 2, 2, 2]), 4, 0.9) == (1, 3)


def test_sets_of_a_judge_that_knows_cover_with_fewer_grades_than_without_it() -> None:
    rng = np.random.default_rng(1)
    expert = rng.integers(0, 5, 400)
    said = np.clip(expert + rng.integers(-1, 2, 400), 0, 4)
    judge = Recorded("g", "n", np.eye(5)[said], expert, np.arange(400), Scale(grades=(1, 2, 3, 4, 5)))

    coverage, size, blind, blind_size = measured(judge)

    assert coverage > 0.87
    assert size < 4.0 < blind_size
    assert blind > 0.87
