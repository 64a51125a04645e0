"""Who is asked a second time, and the judgments of two judges as one."""

from dataclasses import dataclass, field, replace

import numpy as np
import pytest
from pydantic import ValidationError

from judgec.raters.judge import sentence_of
from judgec.raters.piece import Piece
from judgec.raters.pool import merged
from judgec.raters.rate import rate_all
from judgec.raters.rater import Rater, Rating
from judgec.raters.run import Bound, Run
from judgec.raters.tree import Cascade, Leaf, RecordedLeaf, least_confidence
from judgec.records.judgment import UNSCORED, Judgments
from judgec.records.label import Item
from judgec.records.scale import Scale
from tests.raters.judgments import judgments
from tests.raters.trees import GivenVerdicts

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


def cascade(below: float) -> Cascade:
    return Cascade(first=RecordedLeaf(name="a"), then=RecordedLeaf(name="b"), below=below)


def test_the_second_is_asked_below_the_confidence() -> None:
    said = judged([[0.5, 0.3, 0.2], [0.1, 0.2, 0.7]], [0, 2])
    assert cascade(0.7).passed_on(said).tolist() == [0]
    assert cascade(0.5).passed_on(said).tolist() == []
    assert [leaf.name for leaf in cascade(0.7).leaves] == ["a", "b"]
    assert sentence_of(cascade(0.7)).startswith("cascade ")


def test_the_second_is_asked_what_the_first_did_not_decide() -> None:
    said = judged([[0.5, 0.3, 0.2], [np.nan, np.nan, np.nan]], [0, 0], failed="no verdict")
    assert least_confidence(said).tolist() == [0.5, -np.inf]
    assert cascade(0.0).passed_on(said).tolist() == [1]


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


@dataclass
class Heard:
    """Gives known verdicts, and remembers on which items."""

    of: Judgments
    asked: list[str] = field(default_factory=list)

    def rate(self, piece: Piece) -> Rating:
        """As ``Rater.rate``."""
        self.asked += piece.item_ids
        return (yield from GivenVerdicts(self.of).rate(piece))


def test_the_second_rates_what_is_passed_on_and_nothing_else_and_all_verdicts_are_counted() -> None:
    first = judged([[0.5, 0.3, 0.2], [0.1, 0.2, 0.7], [np.nan] * 3], [0, 2, 0], failed="no verdict")
    second = judged([[0.0, 1.0, 0.0]] * 3, [1, 1, 1])
    heard = {"a": Heard(first), "b": Heard(second)}

    def opened(leaf: Leaf) -> Rater:
        return heard[leaf.name]

    run = Run(SCALE, ("grade",), opened)
    items = [Item(item_id, item_id, {}) for item_id in first.item_ids]
    found = rate_all(Bound(cascade(0.7), run), items)
    assert heard["a"].asked == ["i0", "i1", "i2"]
    assert heard["b"].asked == ["i0", "i2"]
    assert found.grade[:, 0].tolist() == [1, 2, 1]
    assert found.escalated is not None
    assert found.escalated.tolist() == [True, False, True]
    assert (run.count.done, run.count.unscored) == (1, 0)  # what the second need not say; the leaves count their own

    heard["b"].asked.clear()
    sure = rate_all(Bound(cascade(0.0), Run(SCALE, ("grade",), opened)), items[:2])
    assert heard["b"].asked == []
    assert sure.grade[:, 0].tolist() == [0, 2]


@pytest.mark.parametrize("below", [-0.1, 1.1, float("nan")])
def test_a_confidence_is_a_probability(below: float) -> None:
    with pytest.raises(ValidationError, match="below"):
        cascade(below)
