"""The experts' labels as arrays, and a consensus that is picked."""

import hashlib
import time
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

import judgec
from judgec.labels.experts import constant_notes, draws_of, experts_of
from judgec.labels.labels import read_label_file
from judgec.labels.reading import as_reading
from judgec.records.consensus import consensus_of
from judgec.records.label import Experts, IntArray, Item, Label, LabelSet
from judgec.records.scale import ACCEPT_SCALE, Scale
from judgec.records.tasks.preference import PREFERENCE_SCALE
from judgec.report.label_report import label_report
from judgec.stats.agreement.ceiling import expert_ratings
from tests.records.test_consensus import RATINGS
from tests.verbs.cli.process import ROOT

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


@given(RATINGS, st.integers(0, 5), st.booleans())
def test_a_picked_consensus_is_one_of_the_tied_grades_by_item_and_seed_alone(
    ratings: IntArray, seed: int, nominal: bool
) -> None:
    keys = [f"{i}" for i in range(ratings.shape[1])]
    draws = draws_of(keys, seed)
    tied = consensus_of(ratings, nominal=nominal)
    picked = consensus_of(ratings, None, draws, nominal=nominal)
    assert picked.shape[-1] == 1
    assert ((picked == tied) & ((tied >= 0) | (picked < 0))).any(axis=-1).all()
    assert (draws_of(keys[::-1], seed)[::-1] == draws).all()


def test_picks_use_both_middle_grades_and_are_those_of_a_seeded_hash() -> None:
    said: UserChoices = {f"i{i}": {"al": (1, None), "bo": (4, None)} for i in range(200)}
    picks = experts_of(label_set(said), 3, consensus="pick").target[:, 0, 0].tolist()
    assert set(picks) == {1, 4}
    assert 70 < picks.count(1) < 130  # binomial(200, .5): 4 standard deviations are 28
    digest = hashlib.blake2b(b"3\0i0", digest_size=8).digest()
    assert picks[0] == (1 if int.from_bytes(digest) / 2**64 < 0.5 else 4)
    assert experts_of(label_set(said), 4, consensus="pick").target[:, 0, 0].tolist() != picks
    assert experts_of(label_set(said)).target[:, 0].tolist() == [[1, 4]] * 200


def test_own_accept_beats_the_threshold_and_graders_vote_by_it() -> None:
    said: UserChoices = {
        "x": {"al": (4, False), "bo": (0, None), "cy": (4, None)},
        "y": {"al": (4, False), "bo": (0, True), "cy": (0, True)},
        "z": {"al": (None, True), "bo": (None, None), "cy": (2, None)},
    }
    experts = experts_of(label_set(said))
    assert experts.annotators == ("al", "bo", "cy")
    assert experts.accept_by[:, :, 0].tolist() == [[0, 0, 1], [0, 1, -1], [1, 1, 0]]
    assert experts.target[:, 0, 0].tolist() == [4, 0, 2]
    assert experts.target_accept[:, 0].tolist() == [[0, -1], [1, -1], [0, 1]]  # of z one accepts, one rejects
    unknown = experts_of(label_set(said, SCALE.model_copy(update={"accept_at": None})))
    assert unknown.accept_by[:, :, 0].tolist() == [[0, 0, 1], [-1, 1, -1], [-1, 1, -1]]


def test_accept_only_labels_share_an_item_as_grades_do() -> None:
    said: UserChoices = {"x": {"al": (1, True), "bo": (0, False)}, "y": {"al": (1, True), "bo": (1, True)}}
    experts = experts_of(label_set(said, ACCEPT_SCALE, accept_only=True))
    assert (experts.target == experts.target_accept).all()
    assert experts.target[:, 0].tolist() == [[0, 1], [1, -1]]


def test_items_of_one_query_share_a_cluster_and_unlabelled_items_stay() -> None:
    experts = experts_of(label_set({"a1": {"al": (0, None)}, "b1": {}, "a2": {"al": (1, None)}}))
    assert (experts.cluster.tolist(), experts.target[:, 0, 0].tolist()) == ([0, 1, 0], [0, -1, 1])


def test_leave_one_out_is_the_consensus_of_the_others() -> None:
    said: UserChoices = {
        "x": {"al": (0, None), "bo": (4, None), "cy": (4, None)},
        "y": {"al": (3, None), "bo": (1, None)},
        "z": {"al": (2, None)},
    }
    labels = label_set(said)
    found = expert_ratings(experts_of(labels), labels.scale, accept_only=False)
    assert {name: one.target.tolist() for name, one in found.items()} == {
        "al": [[4], [1]],  # bo and cy say 4 of x, bo 1 of y; nobody else of z
        "bo": [[0, 4], [3, -1]],  # al and cy share x
        "cy": [[0, 4]],
    }
    assert found["al"].target_accept[:, 0].tolist() == [1, 0]
    alone = label_set({"x": {"al": (1, None)}}, PREFERENCE_SCALE)
    assert expert_ratings(experts_of(alone), alone.scale, accept_only=False) == {}


@pytest.mark.parametrize("scale", [SCALE, PREFERENCE_SCALE])
def test_three_thousand_items_by_seven_annotators_take_under_a_second(scale: Scale) -> None:
    grade_by = np.random.default_rng(0).integers(-1, len(scale.grades), (7, 3000, 1))
    target = grade_by[0][..., None]
    experts = Experts(target, target, np.arange(3000), tuple("abcdefg"), grade_by, grade_by)
    start = time.thread_time()
    expert_ratings(experts, scale, accept_only=False)
    assert time.thread_time() - start < 1


def test_one_grade_for_everything_is_no_opinion_from_twenty_items_on() -> None:
    def said(n: int) -> LabelSet:
        by: UserChoices = {f"i{i}": {"al": (i % 3, None), "bo": (i % 4, None), "cy": (3, None)} for i in range(n)}
        return label_set(by)

    few, many = said(19), said(20)
    assert experts_of(few).annotators == ("al", "bo", "cy")
    experts = experts_of(many)
    assert (experts.annotators, len(experts.grade_by)) == (("al", "bo"), 2)
    assert experts.target[2, 0].tolist() == [2, -1]  # of 2, 2 and 3; with cy the median would be the same, of 1 not
    assert experts.target[5, 0].tolist() == [1, 2]
    assert constant_notes(few, experts_of(few)) == []
    assert [note.split()[:3] for note in constant_notes(many, experts)] == [["cy", "gave", "4"]]
    alike = label_set({f"i{i}": {"al": (3, None), "bo": (3, None)} for i in range(30)})
    assert experts_of(alike).annotators == ("al", "bo")  # where others used one, too, it may be what they deserve


CASES = ROOT.parent / "shared" / "cases" / "turn4"


@pytest.mark.skipif(not CASES.exists(), reason=f"{CASES} is not here: two files that went wrong are NOT checked")
def test_a_constant_rater_is_said_and_is_in_no_figure() -> None:
    names = {"question": "query", "rater": "annotator", "rating (1-5)": "grade"}
    found = read_label_file(str(CASES / "g1_constant_rater.csv"), as_reading(columns=names, annotators=["*"], best="5"))
    report = label_report(found, "g1")
    rows = pd.read_csv(CASES / "g1_constant_rater.csv").pivot_table(
        index="question", columns="rater", values="rating (1-5)"
    )
    value = stats.kendalltau(rows["ann"], rows["bob"]).statistic
    assert report["annotators"] == ["ann", "bob", "tom"]
    assert report["histogram"]["tom"] == {"1": 0, "2": 0, "3": 0, "4": 30, "5": 0}
    assert [pair["annotators"] for pair in report["agreement"]["pairwise"]] == [["ann", "bob"]]
    assert [one["annotator"] for one in report["against_others"]] == ["ann", "bob"]
    assert report["ceiling"]["tau_b"]["value"] == pytest.approx(value)  # type: ignore[index]  # JSON
    assert report["notes"][0].startswith("tom ")


@pytest.mark.skipif(not CASES.exists(), reason=f"{CASES} is not here: two files that went wrong are NOT checked")
@pytest.mark.parametrize("column", ["item_id", "other_id", "input"])
def test_the_name_of_the_ids_moves_no_agreement(tmp_path: Path, column: str) -> None:
    rows = pd.read_csv(CASES / "g2_ties_by_hash.csv")
    kept = [name for name in rows.columns if name not in {"item_id", "other_id"} - {column}]
    rows[kept].rename(columns={column: "item_id"} if column != "input" else {}).to_csv(tmp_path / "t.csv", index=False)
    found = judgec.agreement(
        tmp_path / "t.csv", annotators=["Reviewer A", "Reviewer B"], judges="correctness (gpt-4o)", home=tmp_path
    )
    assert found.table["value"]["accept_agreement"] == pytest.approx(5 / 6)
