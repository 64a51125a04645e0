"""A panel's verdict from its members': worked by hand, with members that were not asked or failed."""

from collections.abc import Sequence

import numpy as np
import pytest
from pydantic import ValidationError

from judgec.compile.calibrate import fit_stack
from judgec.errors import UserError
from judgec.raters.calibrator import VERDICT_FLOOR
from judgec.raters.panel import ALL_FAILED, Panel, column_names, member_columns
from judgec.raters.recorded import OnWhat, read_recorded
from judgec.records.judgment import NOT_ASKED
from judgec.records.scale import Scale
from judgec.table.table import Table
from tests.raters.test_recorded import GRADES, PAIRS, Row, prefers, recorded, said

A, B, C = "a", "b", "c"


def test_mean_is_of_the_members_that_gave_a_verdict() -> None:
    rows = [said("x", 0, A), said("x", 3, B), said("x", 2, C), said("y", 1, A), said("y", None, B), said("z", None, B)]
    found = recorded(rows).with_panel("p", Panel(kind="mean", members=(A, B, C)))
    judged = found.judgments("p", ["x", "y", "z", "w"])
    third = 1 / 3
    assert judged.probabilities[0, 0] == pytest.approx([third, 0, third, third])
    assert judged.probabilities[1, 0].tolist() == [0, 1, 0, 0]  # b failed, c was not asked: a alone
    assert judged.unscored == (None, None, ALL_FAILED, NOT_ASKED)
    assert judged.grade.ravel().tolist() == [2, 1, -1, -1]  # the median vote
    assert judged.score.ravel()[:2] == pytest.approx([5 / 3, 1])
    assert judged.accept.ravel().tolist() == [1, 0, -1, -1]


def test_weights_are_shared_anew_among_the_members_that_gave_a_verdict() -> None:
    rows = [*(said("x", grade, name) for grade, name in ((0, A), (1, B), (3, C))), said("y", 1, B), said("y", 3, C)]
    panel = Panel(kind="weighted", members=(A, B, C), weights=(0.5, 0.3, 0.2))
    judged = recorded(rows).with_panel("p", panel).judgments("p", ["x", "y"])
    assert judged.probabilities[0, 0] == pytest.approx([0.5, 0.3, 0, 0.2])
    assert judged.probabilities[1, 0] == pytest.approx([0, 0.6, 0, 0.4])
    assert judged.grade.ravel().tolist() == [0, 1]


def test_columns_of_a_member_without_a_verdict_are_the_mean_of_the_others() -> None:
    given = np.array([[[[0.2, 0.3, 0.5]]], [[[0.6, 0.2, 0.2]]], [[[np.nan] * 3]]])
    columns = member_columns(given, np.array([[True], [True], [False]]))[0, 0]
    assert columns[:4] == pytest.approx([_logit(0.8), _logit(0.5), _logit(0.4), _logit(0.2)])
    assert columns[4:] == pytest.approx([(_logit(0.8) + _logit(0.4)) / 2, (_logit(0.5) + _logit(0.2)) / 2])


def _logit(p: float) -> float:
    return float(np.log(p / (1 - p)))


def test_columns_of_a_certain_verdict_are_finite() -> None:
    columns = member_columns(np.array([[[[0.0, 0.0, 1.0]]]]), np.array([[True]]))
    assert columns.ravel() == pytest.approx([np.log((1 - VERDICT_FLOOR) / VERDICT_FLOOR)] * 2)


def test_a_stack_reads_each_aspect_by_its_own_map() -> None:
    scale = Scale(grades=(0, 1))
    about = OnWhat("answer", scale, ("good", "short"))
    rng = np.random.default_rng(0)
    truth = rng.integers(0, 2, size=(200, 2))
    rows: list[Row] = [
        {"item_id": str(i), "judge": name, "aspect": aspect, "grade": int(truth[i, j] if name == aspect else i % 2)}
        for i in range(200)
        for name in about.aspects
        for j, aspect in enumerate(about.aspects)
    ]
    table = Table("v.csv", ("item_id", "judge", "aspect", "grade"), tuple(map(dict, rows)), tuple(range(2, 802)))
    found = read_recorded(table, about)
    ids = [str(i) for i in range(200)]
    given = np.array([found.judgments(name, ids).probabilities for name in about.aspects])
    columns, names = member_columns(given, np.ones((2, 200), dtype=bool)), column_names(about.aspects, scale)
    assert names == ("good >= 1", "short >= 1")
    stacks = {
        aspect: fit_stack(columns[:, j], truth[:, j, None], scale, names) for j, aspect in enumerate(about.aspects)
    }
    panel = Panel(kind="stack", members=about.aspects, stacks=stacks)
    again = Panel.model_validate_json(panel.model_dump_json())
    judged = found.with_panel("p", again).judgments("p", ids)
    assert (judged.grade == truth).all()  # each aspect's map has found the member that knows it
    assert judged.probabilities[:, 0] == pytest.approx(stacks["good"].apply(None, columns[:, 0]))


def test_pairs_on_which_members_are_even_are_ties() -> None:
    rows = [prefers("even", "a", "ab"), {**prefers("even", "b", "ab"), "judge": "k"}]
    rows += [prefers("sure", "b", "ab"), {**prefers("sure", "b", "ab"), "judge": "k"}]
    judged = (
        recorded(rows, PAIRS).with_panel("p", Panel(kind="mean", members=("j", "k"))).judgments("p", ["even", "sure"])
    )
    assert [PAIRS.scale.grades[i] for i in judged.grade.ravel()] == ["tie", "b"]


def test_the_reason_is_that_of_the_first_member_who_stated_the_grade() -> None:
    rows = [said("x", 0, A, reply="bad"), said("x", 2, B, reply="fair"), said("x", 2, C, reply="fine")]
    judged = recorded(rows).with_panel("p", Panel(kind="mean", members=(A, B, C))).judgments("p", ["x"])
    assert judged.rationale == ("fair",)


def test_costs_are_those_of_all_members_and_unknown_where_one_is() -> None:
    rows = [said("x", 0, A, cost_usd=0.5), said("x", 0, B, cost_usd=0.25), said("x", 0, C)]
    found = recorded(rows).with_panel("p", Panel(kind="mean", members=(A, B)))
    assert found.cost_of("p", ["x"]) == pytest.approx(0.75)
    assert found.with_panel("p", Panel(kind="mean", members=(A, C))).cost_of("p", ["x"]) is None


def test_a_panel_of_which_a_member_has_no_row_is_refused() -> None:
    found = recorded([said("x", 0, A)]).with_panel("p", Panel(kind="mean", members=(A, "gone")))
    with pytest.raises(UserError, match=r"judge gone; it has a\."):
        found.require("p")
    with pytest.raises(UserError, match="judge gone"):
        found.judgments("p", ["x"])


@pytest.mark.parametrize(
    "parts",
    [
        {"kind": "mean", "members": []},
        {"kind": "mean", "members": ["a", "a"]},
        {"kind": "mean", "members": ["a"], "weights": [1.0]},
        {"kind": "weighted", "members": ["a", "b"], "weights": [0.5]},
        {"kind": "weighted", "members": ["a", "b"], "weights": [1.5, -0.5]},
        {"kind": "weighted", "members": ["a", "b"], "weights": [0.5, 0.4]},
        {"kind": "stack", "members": ["a"]},
        {"kind": "vote", "members": ["a"]},
        {"kind": "mean", "members": ["a"], "code": "import os"},
    ],
)
def test_a_damaged_panel_is_refused(parts: dict[str, Sequence[object]]) -> None:
    with pytest.raises(ValidationError):
        Panel.model_validate(parts)


def test_verdicts_in_columns_are_read_of_all_members() -> None:
    from judgec.labels.rows.judged import verdicts_in
    from judgec.raters.verdicts import as_recorded

    table = Table("items.csv", ("item_id", "query", "document", "a", "b"), (
        {"item_id": "x", "query": "q", "document": "d", "a": "1", "b": "3"},
        {"item_id": "y", "query": "q", "document": "e", "a": "", "b": "3"},
    ), (2, 3))  # fmt: skip
    beside = verdicts_in(table, ["a", "b", "c"], "relevance", ("grade",))
    assert list(beside) == ["a", "b"]
    found = read_recorded(as_recorded(table.path, beside, "relevance", ("grade",)), GRADES)
    judged = found.with_panel("p", Panel(kind="mean", members=("a", "b"))).judgments("p", ["x", "y"])
    assert judged.score.ravel() == pytest.approx([2, 3])
