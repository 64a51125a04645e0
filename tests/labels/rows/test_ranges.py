"""Ranges of a judge's numbers: declared, mapped linearly; and scales as they are typed."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from judgec.errors import UserError
from judgec.labels.rows.ranges import Range, as_judges, scale_of_grades, with_range


@given(st.floats(0, 1), st.sampled_from([(0.0, 1.0), (1.0, 0.0), (0.0, 100.0), (-1.0, 1.0)]))
def test_mapping_is_linear_keeps_ends_and_refuses_what_is_outside(share: float, ends: tuple[float, float]) -> None:
    own = Range(*ends)
    number = own.worst + share * (own.best - own.worst)
    assert own.onto(np.array([number]), 1.0, 5.0)[0] == pytest.approx(1 + 4 * share, abs=1e-6)
    assert np.isnan(own.onto(np.array([own.best + (own.best - own.worst) * 0.01]), 1.0, 5.0)[0])


def test_a_range_is_said_behind_the_name_and_another_text_is_refused() -> None:
    assert with_range("AI score#range=0..1") == ("AI score", Range(0.0, 1.0))
    assert with_range("book.xlsx#Sheet 1#range=5..1") == ("book.xlsx#Sheet 1", Range(5.0, 1.0))
    assert with_range("C#") == ("C#", None)
    for bad in ("x#range=", "x#range=1", "x#range=1..1", "x#range=a..b"):
        with pytest.raises(UserError, match="two different numbers"):
            with_range(bad)


def test_judges_are_typed_with_their_ranges_or_passed_as_a_list_or_mapping() -> None:
    wanted = {"A": "", "B c": "0..1", "D": "5..1"}
    assert as_judges("A, B c=0..1 ,D=5..1") == wanted
    assert as_judges(["A", "B c=0..1", "D=5..1"]) == wanted
    assert as_judges({"A": None, "B c": (0, 1), "D": "5..1"}) == wanted
    assert as_judges("a=b") == {"a=b": ""}
    for bad in ("A,A", "A=1..1", {"A": (1, 1)}):
        with pytest.raises(UserError, match="--judges"):
            as_judges(bad)


def test_grades_declare_a_scale_worst_first() -> None:
    assert scale_of_grades(()) is None
    assert scale_of_grades(["1..5"]) == {"grades": [1, 2, 3, 4, 5]}
    assert scale_of_grades(["3..1"]) == {"grades": ["3", "2", "1"]}
    assert scale_of_grades(["bad", "ok", "3"]) == {"grades": ["bad", "ok", 3]}
    assert scale_of_grades(["3", "2", "1"]) == {"grades": ["3", "2", "1"]}
    assert scale_of_grades(["0", "0.5", "1"]) == {"grades": [0, 0.5, 1]}
    with pytest.raises(UserError, match=r"--grades 0\.\.0\.5"):
        scale_of_grades(["0..0.5"])
