"""Who is asked a second time, and the judgments of two judges as one."""

from dataclasses import replace

import numpy as np
import pytest
from pydantic import ValidationError

from judgec.raters.cascade import Cascade, least_confidence, merged
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


def test_the_dear_judge_is_asked_below_the_confidence() -> None:
    said = judged([[0.5, 0.3, 0.2], [0.1, 0.2, 0.7]], [0, 2])
    cascade = Cascade(cheap="a", dear="b", below=0.7)
    assert cascade.escalates(said).tolist() == [True, False]
    assert cascade.model_copy(update={"below": 0.5}).escalates(said).tolist() == [False, False]
    assert (cascade.name, cascade.members) == ("a > b", ("a", "b"))
    assert cascade.verdict([said, said], SCALE).first is said


def test_the_dear_judge_is_asked_what_the_cheap_one_did_not_decide() -> None:
    said = judged([[0.5, 0.3, 0.2], [np.nan, np.nan, np.nan]], [0, 0], failed="no verdict")
    assert least_confidence(said).tolist() == [0.5, -np.inf]
    assert Cascade(cheap="a", dear="b", below=0.0).escalates(said).tolist() == [False, True]


def test_of_several_aspects_the_least_sure_counts() -> None:
    one = judged([[0.5, 0.3, 0.2], [0.1, 0.2, 0.7]], [0, 2])
    both = replace(one, confidence=np.array([[0.9, 0.8], [0.9, 0.4]]))
    assert least_confidence(both).tolist() == [0.8, 0.4]


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
        Cascade(cheap="a", dear="a", below=0.0)
    with pytest.raises(ValidationError, match="do not fit together"):
        Cascade(cheap="evidence", dear="b", below=0.0)
