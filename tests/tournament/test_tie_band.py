import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from judgec.records.scale import Scale
from judgec.tournament.tie_band import fit_tie_band, half_a_grade

SCALE = Scale(grades=(1, 2, 3, 4, 5))


def test_half_a_grade_is_half_the_mean_step() -> None:
    assert half_a_grade(SCALE).width == 0.5
    assert half_a_grade(Scale(grades=(0, 1, 4))).width == 1.0


def test_band_separates_equal_grades_from_different_ones() -> None:
    # Query 0: grades 4, 4, 2 with scores 4.1, 3.9, 2.0; query 1: 3, 3 with 3.0, 3.3. Equal pairs differ by .2 and .3,
    # others by 1.9 and 2.1: the narrowest band that is right about all is .3.
    score = np.array([4.1, 3.9, 2.0, 3.0, 3.3])
    expert = np.array([4.0, 4.0, 2.0, 3.0, 3.0])
    band = fit_tie_band(score, expert, np.array([0, 0, 0, 1, 1]), SCALE)
    assert band.width == pytest.approx(0.3)
    assert band.pairs == 4


def test_pairs_of_different_queries_and_missing_scores_do_not_count() -> None:
    score = np.array([4.0, 4.0, np.nan, 1.0])
    expert = np.array([4.0, 4.0, 4.0, np.nan])
    assert fit_tie_band(score, expert, np.array([0, 1, 0, 0]), SCALE) == half_a_grade(SCALE)


@pytest.mark.parametrize("expert", [(1.0, 2.0, 3.0), (2.0, 2.0, 2.0)])
def test_without_equal_or_without_different_grades_it_is_half_a_grade(expert: tuple[float, ...]) -> None:
    score = np.array([1.0, 2.2, 3.1])
    assert fit_tie_band(score, np.array(expert), np.zeros(3, dtype=np.int64), SCALE) == half_a_grade(SCALE)


@given(st.lists(st.tuples(st.integers(1, 5), st.floats(1, 5)), min_size=3, max_size=12))
def test_band_does_not_depend_on_the_order_of_the_answers(rows: list[tuple[int, float]]) -> None:
    expert, score = (np.array(column, dtype=np.float64) for column in zip(*rows, strict=True))
    queries = np.zeros(len(rows), dtype=np.int64)
    assert fit_tie_band(score, expert, queries, SCALE) == fit_tie_band(score[::-1], expert[::-1], queries, SCALE)
