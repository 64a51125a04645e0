"""Consensus of several annotators, by hand and against slow second implementations."""

import statistics
import time
from collections import Counter

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from judgec.labels.experts import consensus_of, experts_of, leave_one_out
from judgec.records.label import Experts, IntArray, Item, Label, LabelSet
from judgec.records.scale import ACCEPT_SCALE, Scale
from judgec.records.tasks.preference import PREFERENCE_SCALE

SCALE = Scale(grades=(1, 2, 3, 4, 5), accept_at=4)
UserChoices = dict[str, dict[str, tuple[int | None, bool | None]]]


def label_set(said: UserChoices, scale: Scale = SCALE, *, accept_only: bool = False) -> LabelSet:
    items = tuple(Item(item, f"query of {item[0]}", {"query": item}) for item in said)
    labels = tuple(
        Label(item, annotator, {} if position is None else {"grade": position}, accept)
        for item, by in said.items()
        for annotator, (position, accept) in by.items()
    )
    return LabelSet("grade", scale, ("grade",), items, labels, accept_only, "")


def by(*rows: list[int]) -> IntArray:
    return np.array(rows, dtype=np.int64)[:, :, None]


def test_three_graders_give_the_median_and_one_gives_itself() -> None:
    grade, tied = consensus_of(by([0, 2, -1], [4, -1, -1], [3, -1, -1]), ["x", "y", "z"])
    assert grade[:, 0].tolist() == [3, 2, -1]
    assert not tied.any()


def test_two_graders_give_one_of_the_two_and_all_seeds_use_both() -> None:
    picks = [int(consensus_of(by([1], [4]), ["x"], seed)[0][0, 0]) for seed in range(200)]
    assert set(picks) == {1, 4}
    assert 70 < picks.count(1) < 130  # binomial(200, .5): 4 standard deviations are 28
    assert consensus_of(by([1], [4]), ["x"])[1].all()


def test_four_graders_give_one_of_the_two_middle_grades() -> None:
    picks = Counter(int(consensus_of(by([0], [4], [1], [3]), ["x"], seed)[0][0, 0]) for seed in range(200))
    assert set(picks) == {1, 3}
    same, tied = consensus_of(by([0], [2], [2], [4]), ["x"])
    assert (same[0, 0], tied[0, 0]) == (2, False)


def test_pick_depends_on_the_item_and_the_seed_alone() -> None:
    keys = [f"item {i}" for i in range(50)]
    rng = np.random.default_rng(1)
    grades = rng.integers(0, 5, (2, 50, 1))
    whole, _ = consensus_of(grades, keys, 3)
    order = rng.permutation(50)
    shuffled, _ = consensus_of(grades[::-1][:, order], [keys[i] for i in order], 3)
    assert (shuffled == whole[order]).all()
    alone = [consensus_of(grades[:, i : i + 1], [keys[i]], 3)[0][0, 0] for i in range(50)]
    assert alone == whole[:, 0].tolist()
    assert (consensus_of(grades, keys, 4)[0] != whole).any()


def test_preferences_go_by_majority_and_ties_by_a_pick_among_the_tied() -> None:
    votes = by([0, 0, 0], [2, 0, 1], [2, 1, 2])
    grade, tied = consensus_of(votes, ["x", "y", "z"], nominal=True)
    assert grade[:2, 0].tolist() == [2, 0]
    assert tied[:, 0].tolist() == [False, False, True]
    picks = Counter(int(consensus_of(by([0], [2]), ["x"], seed, nominal=True)[0][0, 0]) for seed in range(100))
    assert set(picks) == {0, 2}
    three = {int(consensus_of(votes[:, 2:], ["z"], seed, nominal=True)[0][0, 0]) for seed in range(100)}
    assert three == {0, 1, 2}


RATINGS = hnp.arrays(
    np.int64, st.tuples(st.integers(1, 6), st.integers(1, 8), st.integers(1, 2)), elements=st.integers(-1, 4)
)


@given(RATINGS, st.integers(0, 5), st.booleans())
def test_consensus_agrees_with_the_standard_library(ratings: IntArray, seed: int, nominal: bool) -> None:
    keys = [f"{i}" for i in range(ratings.shape[1])]
    grade, tied = consensus_of(ratings, keys, seed, nominal=nominal)
    for i, j in np.ndindex(grade.shape):
        votes = [int(vote) for vote in ratings[:, i, j] if vote >= 0] or [-1]
        medians = {statistics.median_low(votes), statistics.median_high(votes)}
        found = {*statistics.multimode(votes)} if nominal else medians
        assert grade[i, j] in found
        assert tied[i, j] == (len(found) > 1)


@given(RATINGS, st.integers(0, 5), st.integers(1, 4))
def test_accept_derived_from_grades_is_the_consensus_held_against_the_threshold(
    ratings: IntArray, seed: int, threshold: int
) -> None:
    keys = [f"{i}" for i in range(ratings.shape[1])]
    accepts = np.where(ratings < 0, -1, (ratings >= threshold).astype(np.int64))
    grade, _ = consensus_of(ratings, keys, seed)
    accept, _ = consensus_of(accepts, keys, seed)
    assert (accept == np.where(grade < 0, -1, (grade >= threshold).astype(np.int64))).all()


def test_own_accept_beats_the_threshold_and_graders_vote_by_it() -> None:
    said: UserChoices = {
        "x": {"al": (4, False), "bo": (0, None), "cy": (4, None)},
        "y": {"al": (4, False), "bo": (0, True), "cy": (0, True)},
        "z": {"al": (None, True), "bo": (None, None), "cy": (2, None)},
    }
    experts = experts_of(label_set(said))
    assert experts.annotators == ("al", "bo", "cy")
    assert experts.accept_by[:, :, 0].tolist() == [[0, 0, 1], [0, 1, -1], [1, 1, 0]]
    assert (experts.accept[:2, 0].tolist(), experts.grade[:, 0].tolist()) == ([0, 1], [4, 0, 2])
    assert experts.tied == 1  # the accept of z
    unknown = experts_of(label_set(said, SCALE.model_copy(update={"accept_at": None})))
    assert unknown.accept_by[:, :, 0].tolist() == [[0, 0, 1], [-1, 1, -1], [-1, 1, -1]]


def test_accept_only_labels_count_a_tie_once() -> None:
    said: UserChoices = {"x": {"al": (1, True), "bo": (0, False)}, "y": {"al": (1, True), "bo": (1, True)}}
    experts = experts_of(label_set(said, ACCEPT_SCALE, accept_only=True))
    assert (experts.grade == experts.accept).all()
    assert experts.tied == 1


def test_items_of_one_query_share_a_cluster_and_unlabelled_items_stay() -> None:
    experts = experts_of(label_set({"a1": {"al": (0, None)}, "b1": {}, "a2": {"al": (1, None)}}))
    assert (experts.cluster.tolist(), experts.grade[:, 0].tolist()) == ([0, 1, 0], [0, -1, 1])


def test_leave_one_out_is_the_consensus_of_the_others() -> None:
    said: UserChoices = {
        "x": {"al": (0, None), "bo": (4, None), "cy": (4, None)},
        "y": {"al": (3, None), "bo": (1, None)},
        "z": {"al": (2, None)},
    }
    labels = label_set(said)
    grade, accept = leave_one_out(labels, experts_of(labels))
    assert (grade[0, :, 0].tolist(), grade[1, 1:, 0].tolist(), grade[2, 2, 0]) == ([4, 1, -1], [3, 2], 2)
    assert grade[1, 0, 0] in {0, 4}
    assert accept[0, :, 0].tolist() == [1, 0, -1]
    alone = label_set({"x": {"al": (1, None)}}, PREFERENCE_SCALE)
    assert [one.tolist() for one in leave_one_out(alone, experts_of(alone))] == [[[[-1]]]] * 2


@pytest.mark.parametrize("scale", [SCALE, PREFERENCE_SCALE])
def test_three_thousand_items_by_seven_annotators_take_under_a_second(scale: Scale) -> None:
    grade_by = np.random.default_rng(0).integers(-1, len(scale.grades), (7, 3000, 1))
    items = tuple(Item(f"{i}", f"{i}", {}) for i in range(3000))
    labels = LabelSet("grade", scale, ("grade",), items, (), accept_only=False, digest="")
    experts = Experts(grade_by[0], grade_by[0], grade_by[0, :, 0], tuple("abcdefg"), grade_by, grade_by, 0)
    start = time.thread_time()
    leave_one_out(labels, experts)
    assert time.thread_time() - start < 1
