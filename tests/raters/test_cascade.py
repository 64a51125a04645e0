"""Expected losses by hand, and the judgments of two judges as one."""

from dataclasses import replace

import numpy as np
import pytest
from pydantic import ValidationError

from judgec.raters.cascade import Cascade, expected_loss, merged, said_columns
from judgec.records.judgment import UNSCORED, Judgments
from judgec.records.scale import Scale
from tests.raters.judgments import judgments

SCALE = Scale(name="s", grades=(0, 1, 2), accept_at=1)


def judged(spread: list[list[float]], grade: list[int], scale: Scale = SCALE, failed: str | None = None) -> Judgments:
    """Judgments of one aspect; the last one failed where there is a reason."""
    n = len(grade)
    reasons = [None] * (n - 1) + [failed]
    made = judgments(spread, grade, ids=[f"i{i}" for i in range(n)], values=scale.values, unscored=reasons)
    return replace(
        made,
        grade=np.where(made.scored[:, None], made.grade, UNSCORED),
        accept=np.where(made.grade >= (scale.accept_index or 0), 1, 0),
        confidence=np.array(spread).max(axis=1)[:, None],
        rationale=tuple(f"why {i}" for i in range(n)),
    )


def test_expected_losses_by_hand() -> None:
    said = judged([[0.5, 0.3, 0.2], [0.1, 0.2, 0.7]], [0, 1])
    # squared, over the width 2: 0.3 * 1/4 + 0.2 * 1; and 0.1 * 1/4 + 0.7 * 1/4
    assert expected_loss(said, SCALE, ((1.0, "squared"),)) == pytest.approx([0.275, 0.2])
    assert expected_loss(said, SCALE, ((1.0, "miss"),)) == pytest.approx([0.5, 0.8])
    assert expected_loss(said, SCALE, ((1.0, "accept"),)) == pytest.approx([0.5, 0.1])
    assert expected_loss(said, SCALE, ((0.5, "miss"), (0.5, "accept"))) == pytest.approx([0.5, 0.45])


def test_what_was_not_decided_costs_without_limit() -> None:
    said = judged([[0.5, 0.3, 0.2], [np.nan, np.nan, np.nan]], [0, 0], failed="no verdict")
    assert expected_loss(said, SCALE, ((1.0, "miss"),)).tolist() == [0.5, np.inf]
    columns = said_columns(said, SCALE, ((1.0, "miss"),))
    assert columns.tolist() == [[0.5, 0.3, 0.2, 0.5, 1.0, 0.0, 0.0], [0.0] * 7]
    cascade = Cascade(cheap="a", dear="b", threshold=10.0, losses=((1.0, "miss"),), weights=(0.0,) * 7)
    assert cascade.escalates(said, SCALE).tolist() == [False, True]


def test_the_dear_judge_is_asked_above_the_threshold() -> None:
    said = judged([[0.5, 0.3, 0.2], [0.1, 0.2, 0.7]], [0, 2])
    weights = (0.0, 0.0, 0.0, 2.0, 0.0, 0.0, 0.0)  # of the expected loss alone
    cascade = Cascade(
        cheap="a", dear="b", threshold=0.7, losses=((1.0, "miss"),), intercept=0.1, weights=weights
    )  # .1 + 2 * (.5, .3) = 1.1, .7
    assert cascade.saving(said, SCALE) == pytest.approx([1.1, 0.7])
    cascade = cascade.model_copy(update={"threshold": 0.9})
    assert cascade.escalates(said, SCALE).tolist() == [True, False]
    assert (cascade.name, cascade.members) == ("a > b", ("a", "b"))
    assert cascade.verdict([said, said], SCALE).first is said


def test_two_judges_make_one() -> None:
    cheap = judged([[0.5, 0.3, 0.2], [0.1, 0.2, 0.7], [1.0, 0.0, 0.0]], [0, 2, 0])
    dear = judged([[0.0, 1.0, 0.0], [0.0, 0.0, 0.0]], [1, 0], failed="no verdict")
    one = merged(cheap, dear, np.array([2, 0]))
    assert one.grade[:, 0].tolist() == [UNSCORED, 2, 1]
    assert one.unscored == ("no verdict", None, None)
    assert one.rationale == ("why 1", "why 1", "why 0")
    assert one.escalated is not None
    assert one.escalated.tolist() == [True, False, True]
    assert one.subset([1, 2]).escalated.tolist() == [False, True]  # type: ignore[union-attr]  # as above
    assert cheap.grade[:, 0].tolist() == [0, 2, 0]


def test_a_judge_is_not_its_own_dear_judge() -> None:
    with pytest.raises(ValidationError, match="do not fit together"):
        Cascade(cheap="a", dear="a", threshold=0.0, losses=((1.0, "miss"),), weights=(0.0,))
    with pytest.raises(ValidationError, match="do not fit together"):
        Cascade(cheap="evidence", dear="b", threshold=0.0, losses=((1.0, "miss"),), weights=(0.0,))
