"""Decision rules on distributions that can be worked by hand."""

import numpy as np
import pytest
from pydantic import ValidationError

from judgec.raters.calibrator import Calibrator
from judgec.raters.decision import DecisionRule, RuleName, Sureness, between_grades, half_way, stated_grades
from judgec.records.judgment import Judgments
from judgec.records.scale import Scale

FIVE = Scale(grades=(1, 2, 3, 4, 5))
THREE = Scale(grades=(0, 1, 2))
TAILS = np.array([[0.4, 0.0, 0.0, 0.25, 0.35]])  # score 3.15; half of the mass is reached at 4


@pytest.mark.parametrize(
    ("name", "cuts", "position"),
    [
        ("likeliest", (), 0),
        ("median", (), 3),
        ("nearest", (), 2),
        ("cuts", (1.5, 2.0, 2.5, 3.15), 4),  # a score on the cut has reached it
        ("cuts", (1.5, 2.0, 3.2, 3.2), 2),
    ],
)
def test_grades_of_one_distribution_under_each_rule(name: RuleName, cuts: tuple[float, ...], position: int) -> None:
    assert DecisionRule(name=name, cuts=cuts).grades(TAILS, FIVE).tolist() == [position]


def test_grades_raw_and_map_read_the_verdict_and_not_the_calibrated_distribution() -> None:
    said = np.eye(5)[[0, 2, 4]]
    flat = np.full((3, 5), 0.2)
    assert DecisionRule(name="raw").grades(flat, FIVE, said).tolist() == [0, 2, 4]
    assert DecisionRule(name="raw").grades(flat, FIVE, said, np.array([1, 1, 1])).tolist() == [1, 1, 1]
    harsh = DecisionRule(name="map", cuts=(0.5, 1.5, 2.5, 4.5))  # what the LM calls 3 the experts call 4
    assert harsh.grades(flat, FIVE, said).tolist() == [1, 3, 4]


@pytest.mark.parametrize(
    ("scale", "low", "stated"),
    [(FIVE, 3, 4), (FIVE, 2, 4), (FIVE, 1, 2), (THREE, 0, 0), (THREE, 1, 2)],  # 4.5 3.5 2.5 0.5 1.5
)
def test_stated_grades_between_two_grades_is_the_even_one(scale: Scale, low: int, stated: int) -> None:
    half = np.zeros((1, len(scale.grades)))
    half[0, [low, low + 1]] = 0.5
    assert between_grades(half).tolist() == [True]
    assert scale.grades[int(stated_grades(half, scale)[0])] == stated


def test_half_way_counts_verdicts_of_two_exact_halves_beside_each_other() -> None:
    spreads = np.zeros((5, 1, 5))
    spreads[0, 0, [3, 4]] = 0.5  # 4.5
    spreads[1, 0, 2] = 1.0
    spreads[2, 0, [0, 4]] = 0.5  # two grades, and not between them
    spreads[3, 0, [1, 2, 3]] = 0.4, 0.4, 0.2  # a tie of log-probabilities
    spreads[4] = np.nan  # unscored
    n = len(spreads)
    grade = np.array([[3], [2], [0], [1], [-1]])
    raw = Judgments(tuple("abcde"), ("grade",), spreads, grade, grade * 1.0, grade, grade * 1.0, ("",) * n, (None,) * n)
    assert half_way(raw, FIVE) == 1
    words = Scale(grades=("a", "b", "c", "d", "e"))
    assert half_way(raw, words) == 0


def test_stated_grades_of_a_tie_at_a_distance_is_the_worse() -> None:
    apart = np.array([[0.5, 0.0, 0.5]])
    assert between_grades(apart).tolist() == [False]
    assert stated_grades(apart, THREE).tolist() == [0]


def test_sureness_is_a_logistic_map_and_keeps_what_is_missing() -> None:
    same = Sureness(slope=1.0, intercept=0.0)
    assert same.of(np.array([0.2, 0.9])) == pytest.approx([0.2, 0.9])
    assert Sureness(slope=0.0, intercept=0.0).of(np.array([0.01, 0.99])).tolist() == [0.5, 0.5]
    assert np.isnan(same.of(np.array([np.nan]))).all()
    assert np.isfinite(same.of(np.array([0.0, 1.0]))).all()


@pytest.mark.parametrize(
    "rule",
    [
        DecisionRule(name="cuts", cuts=(1.0,)),  # three grades need two cuts
        DecisionRule(name="cuts", cuts=(2.0, 1.0)),
        DecisionRule(name="likeliest", cuts=(1.0, 2.0)),
    ],
)
def test_calibrator_with_a_rule_that_does_not_fit_is_refused(rule: DecisionRule) -> None:
    with pytest.raises(ValidationError, match="damaged"):
        Calibrator(source="lm", family="none", n_grades=3, prior=(0.3, 0.3, 0.4), smoothing=0.0, rule=rule)


def test_calibrator_of_evidence_cannot_ship_the_raw_verdict() -> None:
    with pytest.raises(ValidationError, match="damaged"):
        Calibrator(
            source="evidence",
            family="prior",
            n_grades=2,
            prior=(0.5, 0.5),
            smoothing=0.0,
            rule=DecisionRule(name="raw"),
        )


def test_calibrator_score_is_the_verdict_itself_where_it_is_the_only_source() -> None:
    said, flat, values = np.eye(3)[[2, 0]], np.full((2, 3), 1 / 3), np.array([0.0, 1.0, 2.0])
    facts = {"n_grades": 3, "prior": (0.3, 0.3, 0.4), "smoothing": 0.0, "family": "none"}
    compiled = Calibrator.model_validate({**facts, "source": "lm", "rule": {"name": "raw"}})
    before_rules = Calibrator.model_validate({**facts, "source": "lm"})
    assert compiled.score(flat, said, values).tolist() == [2.0, 0.0]
    assert before_rules.score(flat, said, values) == pytest.approx([1.0, 1.0])
