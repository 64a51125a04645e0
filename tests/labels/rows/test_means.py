"""Grades that are means of several raters."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from judgec.labels.rows.means import looks_like_means, nearest_grades


@pytest.mark.parametrize(("raters", "digits"), [(2, 1), (3, 2), (3, 3), (3, 6), (4, 2), (5, 1)])
def test_means_of_so_many_raters_are_known_however_they_are_rounded(raters: int, digits: int) -> None:
    means = np.random.default_rng(raters).integers(1, 6, (200, raters)).mean(axis=1).round(digits)
    assert f"means of {raters} annotators" in str(looks_like_means(means))


def test_whole_numbers_a_slip_and_measurements_are_no_means() -> None:
    assert looks_like_means(np.array([1.0, 2.0, 5.0])) is None
    assert looks_like_means(np.array([1.0, 2.0, 2.5, 5.0])) is None
    assert looks_like_means(np.random.default_rng(0).random(50)) is None


@given(st.lists(st.floats(1, 5), min_size=1))
def test_nearest_grade_is_round_half_to_even_on_whole_numbers(numbers: list[float]) -> None:
    values = np.arange(1.0, 6.0)
    assert values[nearest_grades(np.array(numbers), values)].tolist() == [float(round(one)) for one in numbers]
