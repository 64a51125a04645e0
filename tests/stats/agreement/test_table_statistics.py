"""Hand-worked values and properties of the statistics of one contingency table."""

from collections.abc import Callable

import numpy as np
import pytest
from hypothesis import given

from judgec.records.label import FloatArray, IntArray
from judgec.stats.agreement.kappa import balanced_accuracy_table, exact_table, kappa_table, qwk_table
from judgec.stats.agreement.rank_correlation import spearman_p, spearman_table, tau_b_p, tau_b_table
from judgec.stats.agreement.statistic import TABLE_FORMULAS
from judgec.stats.agreement.tables import contingency
from tests.stats.strategies import PROPERTY, Graded, graded_items

Formula = Callable[[FloatArray | IntArray], FloatArray]
# Six items, expert 0 0 1 1 2 2, judge 0 1 0 2 2 1: rows are the expert's grades.
M = np.array([[1, 1, 0], [1, 0, 1], [0, 1, 1]])


THREE = np.array([[3, 1, 0], [0, 1, 1], [0, 0, 0]])  # the third grade is used by the judge alone


@pytest.mark.parametrize(
    ("formula", "table", "value"),
    [
        # 15 pairs; each grader ties 3, so 12 are untied by each. Concordant: items 0-3 0-4 0-5 (judge 0 < 2 2 1),
        # 1-3 1-4, 2-4 2-5 = 7; discordant: 1-2, 3-5 = 2.
        (tau_b_table, M, (7 - 2) / 12),
        # Midranks minus mean: expert -2 -2 0 0 2 2, judge -2 0 -2 2 2 0; products 4 0 0 0 4 0 = 8; squares 16.
        (spearman_table, M, 8 / 16),
        (kappa_table, M, 0.0),  # agree on 2 of 6; margins 2 2 2 by 2 2 2 give 1/3 by chance
        (kappa_table, np.array([[4, 1], [2, 3]]), 0.4),  # agree .7, chance .5 * .6 + .5 * .4 = .5: .2 / .5
        # Four items off by one: 4. Expected: 9 cells of 2 * 2 / 6 = 2/3 items each, squared distance 1 in four
        # cells and 4 in two: 12 * 2/3 = 8.
        (qwk_table, M, 1 - 4 / 8),
        (balanced_accuracy_table, THREE, (0.75 + 0.5) / 2),  # recalls 3/4 and 1/2
        (exact_table, THREE, 4 / 6),
    ],
)
def test_statistic_of_a_table_is_the_hand_count(formula: Formula, table: IntArray, value: float) -> None:
    assert float(formula(table)) == pytest.approx(value, abs=1e-15)


CONSTANT_JUDGE = np.array([[3, 0], [2, 0]])
CONSTANT_EXPERT = np.array([[3, 2], [0, 0]])
BOTH_CONSTANT = np.array([[0, 0], [0, 5]])
EMPTY = np.zeros((2, 2))


UNDEFINED = float("nan")


@pytest.mark.parametrize(
    ("formula", "values"),  # of a constant judge, a constant expert, both, and nobody
    [
        (tau_b_table, (UNDEFINED,) * 4),
        (spearman_table, (UNDEFINED,) * 4),
        (kappa_table, (0.0, 0.0, UNDEFINED, UNDEFINED)),
        (qwk_table, (0.0, 0.0, UNDEFINED, UNDEFINED)),
        (balanced_accuracy_table, (0.5, UNDEFINED)),
    ],
)
def test_statistic_of_constant_graders(formula: Formula, values: tuple[float, ...]) -> None:
    tables = (CONSTANT_JUDGE, CONSTANT_EXPERT, BOTH_CONSTANT, EMPTY)
    found = [float(formula(table)) for table in tables[: len(values)]]
    np.testing.assert_array_equal(found, values)


def test_p_values_of_constant_grader_are_undefined() -> None:
    constant, varied = np.full(5, 2.0), np.arange(5.0)
    assert np.isnan(tau_b_p(constant, varied))
    assert np.isnan(spearman_p(varied, constant))


@PROPERTY
@given(graded_items())
def test_formulas_are_symmetric_when_graders_swap(items: Graded) -> None:
    table = contingency(items.expert, items.judge, items.n_grades)
    for name in ("tau_b", "spearman", "kappa", "qwk", "exact"):
        formula, _ = TABLE_FORMULAS[name]
        np.testing.assert_allclose(formula(table), formula(table.T), atol=1e-13)


@PROPERTY
@given(graded_items())
def test_rank_correlations_do_not_change_under_monotone_relabelling(items: Graded) -> None:
    stretched = np.array([0, 2, 3, 7, 8])  # rising: the same order on a longer scale
    before = contingency(items.expert, items.judge, items.n_grades)
    after = contingency(stretched[items.expert], stretched[items.judge], 9)
    for formula in (tau_b_table, spearman_table, kappa_table, exact_table):
        np.testing.assert_allclose(formula(before), formula(after), atol=1e-13)


@PROPERTY
@given(graded_items())
def test_reversing_the_judge_negates_rank_correlations(items: Graded) -> None:
    table = contingency(items.expert, items.judge, items.n_grades)
    for formula in (tau_b_table, spearman_table):
        np.testing.assert_allclose(formula(table[:, ::-1]), -formula(table), atol=1e-13)


@PROPERTY
@given(graded_items())
def test_formulas_do_not_change_when_every_item_is_doubled(items: Graded) -> None:
    table = contingency(items.expert, items.judge, items.n_grades)
    for formula, _ in TABLE_FORMULAS.values():
        np.testing.assert_allclose(formula(table), formula(2 * table), atol=1e-13)
        np.testing.assert_allclose(formula(table), formula(table / table.sum()), atol=1e-9)


def test_formulas_of_a_stack_equal_those_of_its_tables() -> None:
    stack = np.random.default_rng(0).integers(0, 5, (2, 3, 4, 4))
    for formula, _ in TABLE_FORMULAS.values():
        one_by_one = [[float(formula(table)) for table in row] for row in stack]
        np.testing.assert_array_equal(formula(stack), one_by_one)
