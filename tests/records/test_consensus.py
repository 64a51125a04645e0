"""Consensus of several annotators, by hand and against slow second implementations."""

import statistics

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from judgec.records.consensus import consensus_of, mean_of, named, parts_of, settled, share_of
from judgec.records.label import IntArray
from judgec.records.scale import Scale

RATINGS = hnp.arrays(
    np.int64, st.tuples(st.integers(1, 6), st.integers(1, 8), st.integers(1, 2)), elements=st.integers(-1, 4)
)


def by(*rows: list[int]) -> IntArray:
    return np.array(rows, dtype=np.int64)[:, :, None]


def test_three_graders_give_the_median_and_one_gives_itself() -> None:
    assert consensus_of(by([0, 2, -1], [4, -1, -1], [3, -1, -1]))[:, 0].tolist() == [[3], [2], [-1]]


def test_two_middle_grades_share_the_item_and_no_other_grade_does() -> None:
    assert consensus_of(by([0, 2], [4, 2], [1, 2], [3, 4]))[:, 0].tolist() == [[1, 3], [2, -1]]


def test_preferences_go_by_majority_and_tied_ones_share_the_item() -> None:
    votes = by([0, 0, 0], [2, 0, 1], [2, 1, 2])
    assert consensus_of(votes, nominal=True)[:, 0].tolist() == [[2, -1, -1], [0, -1, -1], [0, 1, 2]]


@given(RATINGS, st.booleans())
def test_consensus_agrees_with_the_standard_library(ratings: IntArray, nominal: bool) -> None:
    target = consensus_of(ratings, nominal=nominal)
    for i, j in np.ndindex(target.shape[:2]):
        votes = [int(vote) for vote in ratings[:, i, j] if vote >= 0] or [-1]
        medians = {statistics.median_low(votes), statistics.median_high(votes)}
        found = {*statistics.multimode(votes)} if nominal else medians
        assert [one for one in target[i, j].tolist() if one >= 0] == sorted(found - {-1})


@given(RATINGS, st.integers(1, 4))
def test_accept_derived_from_grades_is_the_consensus_held_against_the_threshold(
    ratings: IntArray, threshold: int
) -> None:
    accepts = np.where(ratings < 0, -1, (ratings >= threshold).astype(np.int64))
    grade, accept = consensus_of(ratings), consensus_of(accepts)
    np.testing.assert_array_equal(mean_of(grade >= threshold, grade), mean_of(accept == 1, accept))


def test_parts_of_an_item_add_up_to_one_and_are_whole_where_nothing_is_tied() -> None:
    target = np.array([[3, -1], [1, 2], [-1, -1]])
    row, grade, weight = parts_of(target)
    assert (row.tolist(), grade.tolist()) == ([0, 1, 1], [3, 1, 2])
    assert weight is not None
    assert weight.tolist() == [1.0, 0.5, 0.5]
    assert share_of(target, 4).tolist() == [[0, 0, 0, 1], [0, 0.5, 0.5, 0], [0, 0, 0, 0]]
    assert parts_of(target[:1])[2] is None
    assert settled(target).tolist() == [3, -1, -1]


@pytest.mark.parametrize(("target", "said"), [([2, -1], 3), ([1, 2], "2 or 3"), ([-1, -1], None)])
def test_a_consensus_is_named_by_all_its_grades(target: list[int], said: object) -> None:
    assert named(target, Scale(grades=(1, 2, 3))) == said
