"""Learning from a prompt's demonstrations: ridge regression that moves away from a prior only as far as they
pay for.

With no demonstration the prior alone answers. A few move the level (intercept) and the spread (scale) of the
prior score; many move the weight of each feature. How far is chosen by leave-one-out error, which has a
closed form.
"""

from dataclasses import dataclass

import numpy as np

from judgec.records.label import FloatArray

# Relative price of moving away from the prior, by parameter; the slopes are priced so that a dozen
# demonstrations hardly move them.
INTERCEPT_PRICE, SCALE_PRICE, SLOPE_PRICE = 0.3, 1.0, 12.0
STRENGTHS = (0.1, 0.3, 1.0, 3.0, 10.0, 100.0)
PRIOR_ERROR = 0.27  # standard error of the prior score on 0..1, and how many demonstrations it is worth
PRIOR_ERROR_WEIGHT = 8.0


@dataclass(frozen=True)
class LinearScore:
    """A linear score on 0..1.

    Args:
        intercept: Score of an item whose features are all 0.
        slopes: Weight of each feature, shape (n_features,).
        error: Standard error of the score, from leave-one-out.
    """

    intercept: float
    slopes: FloatArray
    error: float

    def score(self, features: FloatArray) -> float:
        """The score of one item; not clipped."""
        return self.intercept + float(features @ self.slopes)


def learn(
    features: FloatArray, targets: FloatArray, intercept: float, slopes: FloatArray, *, centred: bool = False
) -> LinearScore:
    """Fit the score to demonstrations.

    Args:
        features: Shape (n_demonstrations, n_features); there may be none.
        targets: Their grades on 0..1, worst 0; shape (n_demonstrations,).
        intercept: Prior mean of the intercept.
        slopes: Prior mean of the slopes.
        centred: True keeps the intercept at its prior (differences of two answers have none).

    Source: Hoerl and Kennard (1970) for ridge; Allen (1974), PRESS, for the closed form of leave-one-out.
    """
    count = len(targets)
    if count == 0:
        return LinearScore(intercept, slopes, PRIOR_ERROR)
    prior = features @ slopes
    level = np.zeros((count, 0)) if centred else np.ones((count, 1))
    design = np.hstack([level, prior[:, None], features])
    price = np.array([INTERCEPT_PRICE] * level.shape[1] + [SCALE_PRICE] + [SLOPE_PRICE] * features.shape[1])
    wanted = targets - intercept - prior  # what the prior gets wrong
    best_error, best_strength = np.inf, STRENGTHS[-1]
    # The dual form inverts a matrix of demonstrations, not of features: there are fewer of them.
    gram = (design / price) @ design.T
    for strength in STRENGTHS:
        inverse = np.linalg.inv(gram + strength * np.eye(count))
        left_out = (inverse @ wanted) / np.diag(inverse)
        error = float(left_out @ left_out)
        if error < best_error:
            best_error, best_strength = error, strength
    weights = np.linalg.solve(gram + best_strength * np.eye(count), wanted)
    moved = (design / price).T @ weights
    start = level.shape[1]
    squares = best_error + PRIOR_ERROR_WEIGHT * PRIOR_ERROR**2
    return LinearScore(
        intercept=intercept + float(moved[:start].sum()),
        slopes=slopes * (1.0 + moved[start]) + moved[start + 1 :],
        error=float(np.sqrt(squares / (count + PRIOR_ERROR_WEIGHT))),
    )
