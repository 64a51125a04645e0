"""Losses by which panels and single judges are compared, with a pencil."""

import numpy as np
import pytest

from judgec.compile.panel_loss import forward_order, loss_out_of_fold, loss_spared
from judgec.records.judgment import Judgments
from judgec.records.scale import Scale
from tests.raters.judgments import judgments

FOLD = np.array([0, 0, 1, 1])
STATED, TARGET = [0, 1, 0, 1], np.array([[[0]], [[1]], [[0]], [[0]]])


def said(stated: list[int]) -> Judgments:
    return judgments(np.eye(2)[stated], stated)


def test_a_single_judge_is_read_by_the_mean_label_of_each_stated_grade() -> None:
    """(0 + .5) / 2 = .25 for who said 0, (1 + .5) / 2 = .75 for who said 1; the other fold has the label 0 alone."""
    loss = loss_out_of_fold([said(STATED)] * 2, TARGET, FOLD, Scale(grades=(0, 1)), joint=False)
    assert loss.ravel() == pytest.approx([0.0, 1.0, 0.25**2, 0.75**2])


def test_a_panel_is_read_by_one_slope() -> None:
    loss = loss_out_of_fold([said(STATED)] * 2, TARGET, FOLD, Scale(grades=(0, 1)), joint=True)
    assert loss.ravel() == pytest.approx([0.0, 1.0, 0.0, 1.0])


def test_classes_never_have_probability_0() -> None:
    """Two rows were learned from: 0 becomes (2 * 0 + .5) / (2 + 1), and 1 becomes 2.5 / 3."""
    scale = Scale(grades=("x", "y"), level="nominal")
    loss = loss_out_of_fold([said(STATED)] * 2, TARGET, FOLD, scale, joint=True)
    assert loss.ravel() == pytest.approx(-np.log([2.5 / 3, 0.5 / 3, 2.5 / 3, 0.5 / 3]))


def test_each_fold_is_judged_by_its_own_judge() -> None:
    """The second judge, who speaks of the second fold, says the contrary, and its map is turned round."""
    one, other = said(STATED), said([1 - grade for grade in STATED])
    both = loss_out_of_fold([one, other], TARGET, FOLD, Scale(grades=(0, 1)), joint=False)
    assert both.ravel() == pytest.approx([0.0, 1.0, 0.25**2, 0.75**2])


def test_judges_are_ordered_by_what_they_add_to_those_before_them() -> None:
    """The second says what the first says, the third corrects the fourth item, the last is wrong of the first two."""
    target = np.array([[[0]], [[1]], [[0]], [[1]]])
    stated = np.array([[0, 1, 0, 0], [0, 1, 0, 0], [0, 0, 0, 1], [1, 0, 0, 1]])
    given, has = np.eye(2)[stated][:, :, None], np.ones((4, 4), dtype=bool)
    assert forward_order(given, has, target, Scale(grades=(0, 1))) == [0, 2, 1, 3]
    assert forward_order(given, has, target, Scale(grades=("x", "y"), level="nominal")) == [0, 2, 1, 3]


def test_a_judge_of_few_items_comes_after_one_as_good_of_all() -> None:
    target = np.array([[[0]], [[1]], [[0]], [[1]]])
    given = np.eye(2)[np.array([[0, 1, 0, 1], [0, 1, 0, 1]])][:, :, None]
    has = np.array([[True, True, False, False], [True] * 4])
    given[0, 2:] = np.nan
    assert forward_order(given, has, target, Scale(grades=(0, 1))) == [1, 0]


def test_what_is_spared_is_the_mean_over_what_both_have() -> None:
    one, other = np.array([[0.1], [0.2], [np.nan], [0.0]]), np.array([[0.3], [0.4], [9.0], [np.nan]])
    spared = loss_spared(one, other, np.array([0, 1, 2, 3]))
    assert (spared.value, spared.error) == pytest.approx((0.2, 0.0))
    assert loss_spared(one[:1], other[:1], np.array([0])).error is None
