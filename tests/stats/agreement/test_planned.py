"""The smallest difference that labels can show, before there is a judge."""

import numpy as np
import pytest

from judgec.stats.agreement.measure import Resampling
from judgec.stats.agreement.objective import parse_objective
from judgec.stats.agreement.planned import planned_difference

HOW = Resampling(seed=3)


def planned(objective: str, queries: int, *, per: int = 2) -> float:
    labels = np.random.default_rng(queries).integers(0, 2, queries * per)
    found = planned_difference(labels, np.repeat(np.arange(queries), per), 2, parse_objective(objective), HOW)
    assert found is not None
    return found


def test_share_of_equal_labels_shows_what_the_formula_for_two_proportions_says() -> None:
    # Each judge is right with .6 + .4 / 2 = .8, apart from the other: an item's difference varies by 2 * .8 * .2 = .32.
    # With power .8 at 5 % that shows (1.96 + .842) * sqrt(.32 / n).
    assert planned("exact", 2000, per=1) == pytest.approx(2.802 * np.sqrt(0.32 / 2000), rel=0.05)


@pytest.mark.parametrize("objective", ["tau_b", "kappa"])
def test_four_times_the_queries_show_half_the_difference(objective: str) -> None:
    assert planned(objective, 800) == pytest.approx(planned(objective, 200) / 2, rel=0.07)


def test_labels_of_one_grade_or_of_two_queries_show_nothing() -> None:
    tau_b = parse_objective("tau_b")
    assert planned_difference(np.zeros(60, dtype=np.int64), np.arange(60), 3, tau_b, HOW) is None
    assert planned_difference(np.array([0, 1, 0, 1]), np.array([0, 0, 1, 1]), 2, tau_b, HOW) is None
