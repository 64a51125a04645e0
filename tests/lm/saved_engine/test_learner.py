import numpy as np
import pytest

from judgec.lm.saved_engine import INTERCEPT_PRICE, SCALE_PRICE, SLOPE_PRICE, STRENGTHS, learn
from judgec.records.label import FloatArray

SLOPES = np.array([0.8, 0.1, -0.3])


def primal(features: FloatArray, targets: FloatArray, strength: float) -> tuple[FloatArray, FloatArray]:
    """The same by the normal equations over (intercept, scale, slopes), and its design."""
    design = np.hstack([np.ones((len(targets), 1)), (features @ SLOPES)[:, None], features])
    price = np.diag([INTERCEPT_PRICE, SCALE_PRICE] + [SLOPE_PRICE] * 3)
    wanted = targets - 0.1 - features @ SLOPES
    return np.linalg.solve(design.T @ design + strength * price, design.T @ wanted), design


@pytest.mark.parametrize("seed", range(5))
def test_learn_equals_normal_equations_with_brute_force_leave_one_out(seed: int) -> None:
    chance = np.random.default_rng(seed)
    features, targets = chance.random((9, 3)), chance.random(9)
    wanted = targets - 0.1 - features @ SLOPES

    def left_out(strength: float) -> float:
        total = 0.0
        for i in range(9):
            rest = np.arange(9) != i
            moved, _ = primal(features[rest], targets[rest], strength)
            row = np.array([1.0, features[i] @ SLOPES, *features[i]])
            total += (wanted[i] - row @ moved) ** 2
        return total

    best = min(STRENGTHS, key=left_out)
    moved, _ = primal(features, targets, best)
    learned = learn(features, targets, 0.1, SLOPES)
    assert learned.intercept == pytest.approx(0.1 + moved[0])
    assert learned.slopes == pytest.approx(SLOPES * (1 + moved[1]) + moved[2:])


def test_learn_without_demonstrations_is_the_prior() -> None:
    learned = learn(np.zeros((0, 3)), np.zeros(0), 0.1, SLOPES)
    assert learned.score(np.array([1.0, 1.0, 1.0])) == pytest.approx(0.7)


def test_learn_from_a_harsh_expert_moves_the_level_and_keeps_the_order() -> None:
    features = np.random.default_rng(0).random((12, 3))
    learned = learn(features, 0.1 + features @ SLOPES - 0.3, 0.1, SLOPES)
    assert learned.intercept == pytest.approx(-0.2, abs=0.03)
    assert learned.slopes == pytest.approx(SLOPES, abs=0.05)


def test_learn_from_many_demonstrations_finds_a_slope_the_prior_has_wrong() -> None:
    features = np.random.default_rng(1).random((400, 3))
    learned = learn(features, features @ np.array([0.0, 0.9, 0.0]), 0.1, SLOPES)
    assert learned.slopes == pytest.approx([0.0, 0.9, 0.0], abs=0.1)
    assert learned.error < 0.1


def test_learn_centred_has_no_intercept() -> None:
    features = np.array([[0.5, 0.0, 0.0], [-0.2, 0.1, 0.0]])
    learned = learn(features, np.array([1.0, 1.0]), 0.0, SLOPES, centred=True)
    assert learned.intercept == 0.0
    assert learned.score(np.zeros(3)) == 0.0
