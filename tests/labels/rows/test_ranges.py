"""Ranges of a judge's numbers: said, guessed by column, mapped linearly."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from judgec.errors import UserError
from judgec.labels.rows.ranges import Range, other_range, usual_range, with_range

ONE_TO_FIVE = (1.0, 2.0, 3.0, 4.0, 5.0)
EVEN = (0.2,) * 5


def found(numbers: list[float], values: tuple[float, ...] = ONE_TO_FIVE, shares: tuple[float, ...] = EVEN) -> str:
    different, counts = np.unique(np.array(numbers), return_counts=True)
    off = ((different < values[0]) | (different > values[-1])).astype(np.float64)
    return str(other_range(different, counts.astype(np.float64), off, values, shares))


@pytest.mark.parametrize(
    ("numbers", "range_"),
    [
        ([0.0, 0.25, 0.5, 1.0] * 20, "0..1"),
        ([0, 1, 2, 3, 4] * 20, "0..4"),
        ([1, 2, 3] * 20, "1..3"),
        (list(range(1, 11)) * 8, "1..10"),
        ([0, 20, 55, 90, 100] * 20, "0..100"),
        ([1, 2, 3, 4, 5] * 20, "None"),
        ([1, 5] * 40, "None"),  # the ends alone are grades all the same
        ([3, 4, 5] * 20, "None"),  # lenient, and no scale begins at 3
        ([1.333, 2.667, 2.0] * 30, "None"),  # means of samples of a strict judge
        ([1, 2, 3, 4, 5] * 20 + [9], "None"),  # one slip
    ],
)
def test_a_column_is_of_another_range_or_of_the_scale_as_a_whole(numbers: list[float], range_: str) -> None:
    assert found(numbers) == range_


def test_a_metric_within_a_scale_from_zero_is_no_grade_of_it() -> None:
    scale = (0.0, 1.0, 2.0, 3.0, 4.0, 5.0)
    assert found([0.1, 0.4, 0.9] * 20, scale, (1 / 6,) * 6) == "0..1"
    assert found([0, 1, 2, 3, 4, 5] * 20, scale, (1 / 6,) * 6) == "None"


def test_a_strict_judge_of_items_that_people_find_bad_too_keeps_the_scale() -> None:
    assert found([1, 2, 3] * 20, shares=(0.4, 0.3, 0.25, 0.03, 0.02)) == "None"


@given(st.floats(0, 1), st.sampled_from([(0.0, 1.0), (1.0, 0.0), (0.0, 100.0), (-1.0, 1.0)]))
def test_mapping_is_linear_keeps_ends_and_refuses_what_is_outside(share: float, ends: tuple[float, float]) -> None:
    own = Range(*ends)
    number = own.worst + share * (own.best - own.worst)
    assert own.onto(np.array([number]), 1.0, 5.0)[0] == pytest.approx(1 + 4 * share, abs=1e-6)
    assert np.isnan(own.onto(np.array([own.best + (own.best - own.worst) * 0.01]), 1.0, 5.0)[0])


@given(st.lists(st.floats(-1000, 1000, allow_nan=False), min_size=1, max_size=20))
def test_guessed_range_holds_every_number(numbers: list[float]) -> None:
    guess = usual_range(np.array(numbers))
    assert guess.worst <= min(numbers) <= max(numbers) <= guess.best
    assert guess.worst < guess.best


def test_a_range_is_said_behind_the_name_and_another_text_is_refused() -> None:
    assert with_range("AI score#range=0..1") == ("AI score", Range(0.0, 1.0))
    assert with_range("book.xlsx#Sheet 1#range=5..1") == ("book.xlsx#Sheet 1", Range(5.0, 1.0))
    assert with_range("C#") == ("C#", None)
    for bad in ("x#range=", "x#range=1", "x#range=1..1", "x#range=a..b"):
        with pytest.raises(UserError, match="two different numbers"):
            with_range(bad)
