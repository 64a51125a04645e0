"""Contributions add up to what the calibrator says, and are those of the columns that moved it."""

from typing import Literal

import numpy as np
import pytest

from judgec.raters.calibrator import Calibrator, Linear, Trace
from judgec.raters.forest import Forest
from judgec.raters.reasons import Contributions
from judgec.records.label import FloatArray

# Column 0 <= 1.5 goes to a leaf with counts (3, 1); else column 1 <= 0 to (0, 2), above it to (1, 1).
TREE = Forest(
    roots=(0,),
    feature=(0, -1, 1, -1, -1),
    threshold=(1.5, 0.0, 0.0, 0.0, 0.0),
    right=(2, 0, 4, 1, 2),
    counts=((3, 1), (0, 2), (1, 1)),
)
VALUES = np.array([1.0, 2.0])
ROWS = np.array([[1.0, 9.0], [2.0, -1.0], [2.0, 1.0]])
TOPICS = np.array([0, 1])


def calibrator(*, forest: Forest | None = None, linear: Linear | None = None, ordinal: bool = False) -> Calibrator:
    family: Literal["mix", "trees", "ordinal", "multinomial"] = "mix"
    if forest is None:
        family = "ordinal" if ordinal else "multinomial"
    elif linear is None:
        family = "trees"
    return Calibrator(
        source="evidence",
        family=family,
        n_grades=2,
        prior=(0.5, 0.5),
        smoothing=0.1,
        center=(0.5, 0.0) if linear else (),
        spread=(1.0, 2.0) if linear else (),
        linear=linear,
        ordinal=ordinal,
        forest=forest,
        feature_names=("answer.length", "answer.refusal"),
    )


def moved(one: Calibrator, rows: FloatArray = ROWS) -> tuple[FloatArray, FloatArray]:
    trace = Trace()
    spread = one.apply(None, rows, trace)
    return spread @ VALUES, Contributions(one, TOPICS, 2, VALUES).of(trace, np.arange(len(rows)))


def test_contributions_of_a_tree_by_hand() -> None:
    # Means of the grades: root 12/8 = 1.5; left leaf 1.25; right node 7/4 = 1.75, its leaves 2 and 1.5.
    _, found = moved(calibrator(forest=TREE))
    wanted = 0.9 * np.array([[-0.25, 0.0], [0.25, 0.25], [0.25, -0.25]])
    np.testing.assert_allclose(found, wanted, atol=1e-7)


@pytest.mark.parametrize("forest", [None, TREE])
def test_contributions_add_up_to_the_score(forest: Forest | None) -> None:
    linear = Linear(coefficients=((0.7, -1.2),), intercepts=(0.3,), classes=(1,))
    one = calibrator(forest=forest, linear=linear, ordinal=True)
    score, found = moved(one)
    linear_start = 1.0 + 1.0 / (1.0 + np.exp(-0.3))  # an item of average features
    start = 0.1 * 1.5 + 0.9 * (linear_start if forest is None else (linear_start + 1.5) / 2)
    np.testing.assert_allclose(start + found.sum(axis=1), score, atol=1e-7)


def test_contributions_of_classes_have_the_sign_of_what_they_do() -> None:
    linear = Linear(coefficients=((-0.5, 0.0), (0.5, 0.0)), intercepts=(0.0, 0.0), classes=(0, 1))
    _, found = moved(calibrator(linear=linear), np.array([[1.5, 4.0], [-0.5, 4.0]]))
    assert found[0, 0] > 0 > found[1, 0]
    assert found[:, 1].tolist() == [0.0, 0.0]


def test_contributions_of_some_rows_are_those_of_all() -> None:
    one = calibrator(forest=TREE)
    trace = Trace()
    one.apply(None, ROWS, trace)
    every = Contributions(one, TOPICS, 2, VALUES)
    np.testing.assert_array_equal(every.of(trace, np.array([2, 0])), every.of(trace, np.arange(3))[[2, 0]])
