"""Abstaining: which judgments are left to a human, and the curve of agreement against coverage."""

from dataclasses import replace

import numpy as np
import pytest

from judgec.compile.abstain import (
    ACCEPT,
    EXACT,
    abstain,
    abstention,
    agreement_of,
    certainty,
    check_options,
    graded_rows,
)
from judgec.compile.dataset import Part, make_dataset
from judgec.errors import UserError
from judgec.records.judgment import Judgments
from judgec.records.label import Item, Label, LabelSet
from judgec.records.scale import Scale
from tests.raters.judgments import judgments

SCALE = Scale(grades=(1, 2, 3), accept_at=2)


def judged(probabilities: list[list[list[float]]], unscored: dict[int, str] | None = None) -> Judgments:
    """Judgments with these distributions by item and aspect; the grade is the most probable."""
    p = np.array(probabilities)
    missing = unscored or {}
    p[list(missing)] = np.nan
    grade = np.where(np.isnan(p).any(axis=2), -1, np.nan_to_num(p).argmax(axis=2))
    aspects = ("grade",) if p.shape[1] == 1 else tuple("ab"[: p.shape[1]])
    reasons = [missing.get(i) for i in range(len(p))]
    made = judgments(p, grade, aspects=aspects, values=SCALE.values, accept_from=1, reason="why", unscored=reasons)
    return replace(made, confidence=p.max(axis=2))


def label_set(n: int, grades: list[int]) -> LabelSet:
    items = tuple(Item(f"i{i}", f"q{i // 2}", {"query": f"q{i // 2}", "answer": f"a{i}"}) for i in range(n))
    labels = tuple(Label(item.item_id, "expert", {"grade": grades[i % len(grades)]}) for i, item in enumerate(items))
    return LabelSet("grade", SCALE, ("grade",), items, labels, accept_only=False, digest="")


def test_abstain_under_the_threshold_unscores_with_a_reason_and_leaves_the_rest_alone() -> None:
    before = judged([[[0.1, 0.2, 0.7]], [[0.3, 0.4, 0.3]], [[0.0, 0.5, 0.5]]], {2: "refusal: no"})
    after = abstain(before, 0.7, EXACT, SCALE)
    assert [after.unscored[0], after.unscored[2]] == [None, "refusal: no"]
    assert str(after.unscored[1]).startswith("abstained: confidence 0.40")
    assert after.grade[:, 0].tolist() == [2, -1, -1]
    assert after.accept[:, 0].tolist() == [1, -1, -1]
    assert np.isnan(after.score[1:]).all()
    assert after.score[0] == pytest.approx(0.1 + 0.4 + 2.1)
    assert before.grade[1, 0] == 1


def test_abstain_from_a_verdict_without_confidence_leaves_it_to_a_human() -> None:
    before = judged([[[0.0, 0.0, 1.0]]])
    before.confidence[0, 0] = np.nan
    assert str(abstain(before, 0.2, EXACT, SCALE).unscored[0]).startswith("abstained: an unstated confidence")


def test_certainty_of_several_aspects_is_that_of_the_least_sure() -> None:
    sure = certainty(judged([[[0.1, 0.2, 0.7], [0.5, 0.3, 0.2]]]), EXACT, SCALE)
    assert sure == pytest.approx([0.5])


def test_certainty_of_an_accept_is_the_probability_of_the_side_returned() -> None:
    # Grades 2 and 3 are accepted: P = .65 and .4; the second is rejected with .6.
    sure = certainty(judged([[[0.35, 0.25, 0.4]], [[0.6, 0.2, 0.2]]]), ACCEPT, SCALE)
    assert sure == pytest.approx([0.65, 0.6])


@pytest.mark.parametrize(
    ("objective", "of"), [("tau_b", EXACT), ("kappa", EXACT), ("accept", ACCEPT), ("tau_b+accept", ACCEPT)]
)
def test_agreement_of_an_objective_is_what_the_judge_was_compiled_for(objective: str, of: str) -> None:
    assert agreement_of(objective) == of


def part_of(labels: LabelSet, name: str) -> Part:
    dataset = make_dataset(labels, 0)
    part: Part = getattr(dataset, name)
    return part


def test_graded_rows_leave_out_what_nobody_labelled_or_scored() -> None:
    part = part_of(label_set(40, [0, 1, 2]), "test")
    n = len(part)
    part.experts.target[0, 0] = -1
    spread = judged([[[0.1, 0.2, 0.7]]] * n, {1: "refusal"})
    rows = graded_rows(part, spread, EXACT, SCALE)
    assert len(rows.agrees) == n - 2
    assert rows.agrees.tolist() == (part.experts.target[2:, 0, 0] == 2).astype(int).tolist()
    assert rows.confidence == pytest.approx(np.full(n - 2, 0.7))


def test_abstention_curve_loses_coverage_and_gains_agreement_where_confidence_is_right() -> None:
    labels = label_set(400, [2])
    dataset = make_dataset(labels, 0)
    n = len(dataset.test)
    # Sure of a right grade, unsure of a wrong one: half of the items each.
    spread = judged([[[0.05, 0.05, 0.9]] if i % 2 else [[0.2, 0.5, 0.3]] for i in range(n)])
    found = abstention(dataset, spread, of=EXACT, below=0.6)
    coverage = [point.coverage for point in found.curve]
    assert coverage == sorted(set(coverage), reverse=True)
    assert found.curve[0].coverage == 1.0
    assert found.curve[0].agreement.value == pytest.approx((n // 2) / n)
    assert found.chosen is not None
    assert found.chosen.coverage == pytest.approx((n // 2) / n)
    assert found.chosen.agreement.value == 1.0
    assert found.to_json()["below"] == 0.6


@pytest.mark.parametrize("below", [0.0, 1.0])
def test_check_options_refuses_what_cannot_be(below: float) -> None:
    with pytest.raises(UserError, match=f"--abstain-below {below:g}"):
        check_options(below)
