"""Several judgments as one: pools worked by hand, with members that were not asked or failed."""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import pytest
from pydantic import ValidationError

from judgec.errors import UserError
from judgec.raters.pool import ALL_FAILED, Thresholds, pool
from judgec.raters.rate import rate_all
from judgec.raters.rater import Count, RecordedRater
from judgec.raters.recorded import RecordedVerdicts, read_recorded
from judgec.raters.run import Bound, Run
from judgec.raters.tree import Mean, RecordedLeaf
from judgec.records.judgment import NOT_ASKED, UNSCORED, Judgments
from judgec.records.label import Item
from judgec.records.scale import Scale
from judgec.records.tasks.preference import PREFERENCE_SCALE
from judgec.table.table import Table
from tests.raters.judgments import judgments
from tests.raters.test_recorded import GRADES, PAIRS, prefers, recorded, said

SCALE = Scale(grades=(1, 2, 3), accept_at=3)
NONE: list[Thresholds] = [{}, {}, {}]
A, B, C = "a", "b", "c"


def mean(found: RecordedVerdicts, members: Sequence[str], item_ids: Sequence[str]) -> Judgments:
    """The raw mean of recorded judges on these items."""
    about = found.about
    run = Run(about.scale, about.aspects, lambda leaf: RecordedRater(found, leaf.name, Count()))
    panel = Mean(of=tuple(RecordedLeaf(name=name) for name in members))
    return rate_all(Bound(panel, run), [Item(item_id, item_id, {}) for item_id in item_ids])


def test_mean_is_of_the_members_that_gave_a_verdict() -> None:
    rows = [said("x", 0, A), said("x", 3, B), said("x", 2, C), said("y", 1, A), said("y", None, B), said("z", None, B)]
    judged = mean(recorded(rows), (A, B, C), ["x", "y", "z", "w"])
    third = 1 / 3
    assert judged.probabilities[0, 0] == pytest.approx([third, 0, third, third])
    assert judged.probabilities[1, 0].tolist() == [0, 1, 0, 0]  # b failed, c was not asked: a alone
    assert judged.unscored == (None, None, ALL_FAILED, NOT_ASKED)
    assert judged.grade.ravel().tolist() == [2, 1, -1, -1]  # the median vote
    assert judged.score.ravel()[:2] == pytest.approx([5 / 3, 1])
    assert judged.accept.ravel().tolist() == [1, 0, -1, -1]


def test_pairs_on_which_members_are_even_are_ties() -> None:
    rows = [prefers("even", "a", "ab"), {**prefers("even", "b", "ab"), "judge": "k"}]
    rows += [prefers("sure", "b", "ab"), {**prefers("sure", "b", "ab"), "judge": "k"}]
    judged = mean(recorded(rows, PAIRS), ("j", "k"), ["even", "sure"])
    assert [PAIRS.scale.grades[i] for i in judged.grade.ravel()] == ["tie", "b"]


def test_a_panel_of_which_a_member_has_no_row_is_refused() -> None:
    with pytest.raises(UserError, match=r"judge gone; it has a\."):
        mean(recorded([said("x", 0, A)]), (A, "gone"), ["x"])


@pytest.mark.parametrize(
    "parts",
    [
        {},
        {"of": []},
        {"of": [{"kind": "recorded", "name": A}]},
        {"of": [{"kind": "recorded", "name": A}, {"kind": "vote", "name": B}]},
        {"of": [{"kind": "recorded", "name": A}] * 2, "code": "import os"},
    ],
)
def test_a_damaged_panel_is_refused(parts: dict[str, object]) -> None:
    with pytest.raises(ValidationError):
        Mean.model_validate(parts)


def test_verdicts_in_columns_are_read_of_all_members() -> None:
    from judgec.labels.rows.judged import verdicts_in
    from judgec.raters.verdicts import as_recorded

    table = Table("items.csv", ("item_id", "query", "document", "a", "b"), (
        {"item_id": "x", "query": "q", "document": "d", "a": "1", "b": "3"},
        {"item_id": "y", "query": "q", "document": "e", "a": "", "b": "3"},
    ), (2, 3))  # fmt: skip
    beside = verdicts_in(table, ["a", "b", "c"], "relevance", ("grade",))
    assert list(beside) == ["a", "b"]
    found = read_recorded(as_recorded(table.path, beside, "relevance"), GRADES)
    judged = mean(found, ("a", "b"), ["x", "y"])
    assert judged.score.ravel() == pytest.approx([2, 3])


def ballot(*spreads: tuple[float, ...] | None, reason: str = "r") -> Judgments:
    """Calibrated judgments with these distributions; None is unscored."""
    table = np.array([spread or (np.nan,) * 3 for spread in spreads])
    nearest = np.rint(np.nan_to_num(table @ SCALE.values, nan=UNSCORED + 1)).astype(int) - 1
    reasons = [None if spread else f"{reason} said nothing" for spread in spreads]
    made = judgments(table, nearest, values=SCALE.values, unscored=reasons)
    return replace(made, rationale=tuple(reason if spread else "" for spread in spreads))


def test_pool_of_pairwise_verdicts_that_balance_is_a_tie() -> None:
    places = [PREFERENCE_SCALE.position(word) for word in ("a", "b", "tie")]
    one, two, three = ballot((0.5, 0.25, 0.25)), ballot((0.25, 0.5, 0.25)), ballot((0.6, 0.2, 0.2))
    for given in (one, two, three):
        given.probabilities[:] = given.probabilities[..., np.argsort(places)]
    assert pool([one, two], PREFERENCE_SCALE, NONE[:2]).grade.tolist() == [[places[2]]]
    assert pool([one, two, three], PREFERENCE_SCALE, NONE).grade.tolist() == [[places[0]]]


def test_pool_is_the_mean_of_the_distributions() -> None:
    one, two = ballot((0.8, 0.1, 0.1), (0.0, 0.2, 0.8)), ballot((0.2, 0.1, 0.7), (0.0, 0.6, 0.4))
    joint = pool([one, two], SCALE, NONE[:2])
    assert joint.probabilities[:, 0] == pytest.approx(np.array([[0.5, 0.1, 0.4], [0.0, 0.4, 0.6]]))
    assert joint.score[:, 0] == pytest.approx([1.9, 2.6])
    assert joint.grade[:, 0].tolist() == [0, 2]  # their medians
    assert joint.confidence[:, 0] == pytest.approx([0.5, 0.6])
    assert joint.accept[:, 0].tolist() == [0, 1]  # as the grades


def test_pool_accepts_by_the_mean_margin_over_each_jurors_own_threshold() -> None:
    one, two = ballot((0.7, 0.0, 0.3), (0.7, 0.0, 0.3)), ballot((0.2, 0.0, 0.8), (0.3, 0.0, 0.7))
    # Margins .3 - .2 = .1 and .8 - .9 = -.1 make 0: accepted. The second: .1 and -.2.
    joint = pool([one, two], SCALE, [{"grade": 0.2}, {"grade": 0.9}])
    assert joint.accept[:, 0].tolist() == [1, 0]


def test_pool_leaves_out_who_said_nothing_and_is_unscored_only_when_nobody_did() -> None:
    one = ballot(None, (0.1, 0.1, 0.8), None, reason="a")
    two = ballot((0.6, 0.2, 0.2), (0.3, 0.1, 0.6), None, reason="b")
    joint = pool([one, two], SCALE, [{"grade": 0.85}, {"grade": 0.5}])
    assert joint.probabilities[0, 0] == pytest.approx([0.6, 0.2, 0.2])
    assert joint.probabilities[1, 0] == pytest.approx([0.2, 0.1, 0.7])
    assert joint.unscored == (None, None, "a said nothing")
    assert joint.accept[:, 0].tolist() == [0, 1, UNSCORED]  # the second: (.8 - .85 + .6 - .5) / 2 is above 0
    assert joint.grade[2, 0] == UNSCORED
    assert np.isnan(joint.score[2, 0])
    assert joint.rationale[0] == "b"


def test_pool_gives_the_reason_of_who_is_nearest_to_the_joint_score() -> None:
    low, high = ballot((1.0, 0.0, 0.0), reason="low"), ballot((0.0, 0.0, 1.0), reason="high")
    assert pool([low, high], SCALE, NONE[:2]).rationale == ("low",)  # as near as the other
    assert pool([low, high, high], SCALE, NONE).rationale == ("high",)
    assert pool([ballot(None), high], SCALE, NONE[:2]).rationale == ("high",)


def test_reason_is_that_of_who_is_nearest_among_those_that_say_why() -> None:
    far, near = ballot((0.8, 0.2, 0.0), reason="far"), ballot((0.0, 0.6, 0.4), reason="near")
    silent = ballot((0.0, 0.8, 0.2), reason="")
    for order in ([far, near, silent], [silent, near, far]):
        assert pool(order, SCALE).rationale == ("near",)
        assert pool(order, SCALE, NONE).rationale == ("near",)


def test_pool_of_classes_gives_the_reason_of_the_first_who_gave_the_joint_grade_and_of_no_other() -> None:
    classes = Scale(grades=("x", "y", "z"), level="nominal")

    def said(first: float, second: float, grade: int, reason: str) -> Judgments:
        return replace(ballot((first, second, 0.0), reason=reason), grade=np.array([[grade]]))

    def reason_of(*given: Judgments) -> str:
        return pool(given, classes, NONE[: len(given)]).rationale[0]

    silent, other = said(0.9, 0.1, 0, ""), said(0.4, 0.6, 1, "y")
    assert reason_of(other, silent) == ""
    assert reason_of(silent, other, said(0.8, 0.2, 0, "x")) == "x"
    assert reason_of(other, said(0.9, 0.1, 0, "x")) == "x"


def test_pool_without_any_accept_rule_leaves_accept_open() -> None:
    silent = Scale(grades=(1, 2, 3))
    assert pool([ballot((0, 0, 1.0))] * 2, silent, NONE[:2]).accept.tolist() == [[UNSCORED]]
    joint = pool([ballot((0, 0, 1.0))] * 2, silent, [{}, {"grade": 0.6}])
    assert joint.accept.tolist() == [[1]]  # the one that has a threshold decides


def test_pool_of_one_passes_a_calibrated_judge_on_and_makes_a_raw_verdict_one_of_a_panel() -> None:
    one = ballot((0.5, 0.5, 0.0))
    assert pool([one], SCALE, NONE[:1]) is one
    assert np.isnan(pool([one], SCALE).confidence).all()


def test_pool_by_another_distribution_is_scored_where_that_is_and_not_asked_where_nobody_was() -> None:
    said = ballot((0.5, 0.5, 0.0), (0.0, 0.0, 1.0), None)
    spread = np.array([[[0.0, 0.0, 1.0]], [[np.nan] * 3], [[np.nan] * 3]])
    joint = pool([replace(said, unscored=(None, None, NOT_ASKED))], SCALE, spread=spread)
    assert joint.grade.ravel().tolist() == [2, UNSCORED, UNSCORED]
    assert joint.unscored == (None, ALL_FAILED, NOT_ASKED)


def test_stated_confidence_is_the_mean_of_those_that_were_stated() -> None:
    one = ballot((0.5, 0.5, 0.0), (0.5, 0.5, 0.0))
    stated = [replace(one, stated=np.array(said)) for said in ([0.2, np.nan], [0.6, np.nan])]
    assert pool([*stated, one], SCALE, NONE).stated == pytest.approx([0.4, np.nan], nan_ok=True)
    assert pool([one, one], SCALE, NONE[:2]).stated is None
