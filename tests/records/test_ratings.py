"""Experts and a judge as one table of pairs."""

import numpy as np

from judgec.records.judgment import Judgments
from judgec.records.label import Experts
from judgec.records.ratings import GradePairs, pair
from judgec.records.scale import Scale

SCALE = Scale(grades=(1, 2, 5), accept_at=2)
EXPERTS = Experts(
    target=np.array([[0, 1], [2, -1], [-1, -1], [1, 2]])[:, :, None],
    target_accept=np.array([[0, 1], [1, 0], [-1, -1], [-1, -1]])[:, :, None],
    cluster=np.array([0, 0, 1, 2]),
    annotators=("a",),
    grade_by=np.zeros((1, 4, 2), dtype=np.int64),
    accept_by=np.zeros((1, 4, 2), dtype=np.int64),
)
JUDGED = Judgments(
    item_ids=("i", "j", "k", "l"),
    aspects=("one", "two"),
    probabilities=np.full((4, 2, 3), np.nan),
    grade=np.array([[0, 2], [1, 1], [2, 2], [-1, -1]]),
    score=np.array([[1.0, 4.0], [2.5, 2.0], [5.0, 5.0], [np.nan, np.nan]]),
    accept=np.array([[0, 1], [1, 1], [1, 1], [-1, -1]]),
    confidence=np.full((4, 2), np.nan),
    rationale=("",) * 4,
    unscored=(None, None, None, "no reply"),
)


def columns(r: GradePairs) -> dict[str, list[float]]:
    names = ("target", "judge", "target_accept", "judge_accept", "cluster")
    return {name: getattr(r, name).reshape(len(r.judge)).tolist() for name in names}


def test_aspects_are_flattened_item_by_item_and_unlabelled_cells_dropped() -> None:
    r = pair(EXPERTS, JUDGED, SCALE, accept_only=False)
    assert columns(r) == {
        "target": [0, 1, 2, -1, 1, 2],  # j's second aspect has an accept and no grade; k has nothing
        "judge": [0, 2, 1, 1, -1, -1],  # l is unscored, and stays
        "target_accept": [0, 1, 1, 0, -1, -1],
        "judge_accept": [0, 1, 1, 1, -1, -1],
        "cluster": [0, 0, 0, 0, 2, 2],
    }
    assert (r.values, r.n_grades, r.n_clusters) == ((1.0, 2.0, 5.0), 3, 3)
    assert r.score[:4].tolist() == [1.0, 4.0, 2.5, 2.0]
    assert np.isnan(r.score[4:]).all()


def test_one_aspect_keeps_its_own_rows_and_the_same_clusters() -> None:
    r = pair(EXPERTS, JUDGED, SCALE, accept_only=False, aspect=1)
    assert columns(r)["target"] == [1, -1, 2]
    assert columns(r)["cluster"] == [0, 0, 2]
    assert r.n_clusters == 3


def test_accept_only_compares_accepts_as_grades() -> None:
    r = pair(EXPERTS, JUDGED, SCALE, accept_only=True, aspect=0)
    assert columns(r)["target"] == columns(r)["target_accept"] == [0, 1]
    assert columns(r)["judge"] == columns(r)["judge_accept"] == [0, 1]
    assert r.values == (0.0, 1.0)


def test_where_keeps_cluster_codes_so_that_resamples_stay_the_same() -> None:
    r = pair(EXPERTS, JUDGED, SCALE, accept_only=False)
    kept = r.where(r.judge >= 0)
    assert kept.cluster.tolist() == [0, 0, 0, 0]
    assert kept.n_clusters == 3
