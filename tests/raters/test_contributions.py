"""Contributions add up to what the calibrator says, and are those of the columns that moved it."""

import numpy as np

from judgec.raters.calibrator import Calibrator, Linear, Trace
from judgec.raters.reasons import Contributions
from judgec.records.label import FloatArray

VALUES = np.array([1.0, 2.0])
ROWS = np.array([[1.0, 9.0], [2.0, -1.0], [2.0, 1.0]])
TOPICS = np.array([0, 1])


def calibrator(linear: Linear, *, ordinal: bool = False) -> Calibrator:
    return Calibrator(
        source="evidence",
        family="ordinal" if ordinal else "multinomial",
        n_grades=2,
        prior=(0.5, 0.5),
        smoothing=0.1,
        center=(0.5, 0.0),
        spread=(1.0, 2.0),
        linear=linear,
        ordinal=ordinal,
        feature_names=("answer.length", "answer.refusal"),
    )


def moved(one: Calibrator, rows: FloatArray = ROWS) -> tuple[FloatArray, FloatArray]:
    trace = Trace()
    spread = one.apply(None, rows, trace)
    return spread @ VALUES, Contributions(one, TOPICS, 2, VALUES).of(trace, np.arange(len(rows)))


SLOPES = Linear(coefficients=((0.7, -1.2),), intercepts=(0.3,), classes=(1,))


def test_contributions_add_up_to_the_score() -> None:
    score, found = moved(calibrator(SLOPES, ordinal=True))
    average = 1.0 + 1.0 / (1.0 + np.exp(-0.3))  # the score of an item of average features
    np.testing.assert_allclose(0.1 * 1.5 + 0.9 * average + found.sum(axis=1), score, atol=1e-7)


def test_contributions_of_classes_have_the_sign_of_what_they_do() -> None:
    linear = Linear(coefficients=((-0.5, 0.0), (0.5, 0.0)), intercepts=(0.0, 0.0), classes=(0, 1))
    _, found = moved(calibrator(linear), np.array([[1.5, 4.0], [-0.5, 4.0]]))
    assert found[0, 0] > 0 > found[1, 0]
    assert found[:, 1].tolist() == [0.0, 0.0]


def test_contributions_of_some_rows_are_those_of_all() -> None:
    one = calibrator(SLOPES, ordinal=True)
    trace = Trace()
    one.apply(None, ROWS, trace)
    every = Contributions(one, TOPICS, 2, VALUES)
    np.testing.assert_array_equal(every.of(trace, np.array([2, 0])), every.of(trace, np.arange(3))[[2, 0]])
