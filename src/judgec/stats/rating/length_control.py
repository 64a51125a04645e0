"""Rates agents at equal length: the order if all answers were equally long.

The log-odds of a game are t_a - t_b + c * tanh(length difference / its standard deviation); the ratings are
the prediction at difference 0, that is t alone. AlpacaEval fits one model against one baseline; here one
length coefficient serves the whole league.
Source: Dubois, Galambosi, Liang & Hashimoto (2024), Length-Controlled AlpacaEval, arXiv 2404.04475;
cluster-robust covariance of Liang & Zeger (1986), Biometrika 73.
"""

import math
from dataclasses import dataclass

import numpy as np
from scipy import special, stats

from judgec.errors import UserError
from judgec.records.counts import plural
from judgec.records.estimate import Estimate
from judgec.records.game import Games
from judgec.records.label import FloatArray, IntArray
from judgec.stats.rating.bradley_terry import ELO_PER_LOGIT, fit_strengths, win_matrix
from judgec.stats.rating.ratings import MEAN_RATING

STEPS = 100
DIVERGED = 15.0  # logits: odds of three million to one for the longer answer
LENGTH_PRIOR = 0.1  # precision: an effect of 3 logits is one standard deviation


@dataclass(frozen=True, slots=True)
class LengthControlled:
    """Ratings with the effect of length taken out.

    Args:
        agents: Agent names, sorted.
        rating: At equal lengths, on the Elo scale with mean 1000, shape (n_agents,); NaN without a game.
        low: Lower bounds; NaN with fewer than two queries.
        high: Upper bounds, likewise.
        length_effect: Elo points that a very much longer answer gains (c at tanh = 1), with its interval.
        notes: What the reader has to know.
    """

    agents: tuple[str, ...]
    rating: FloatArray
    low: FloatArray
    high: FloatArray
    length_effect: Estimate
    notes: tuple[str, ...]


def length_controlled(games: Games, longer: FloatArray, level: float = 0.95) -> LengthControlled:
    """Bradley-Terry ratings with one coefficient for length, and query-clustered intervals.

    Args:
        games: The games; unscored ones are left out.
        longer: Length of a's answer minus that of b's, in characters or tokens, shape (n_games,).
        level: Coverage of the intervals.

    Raises:
        UserError: When ``longer`` has another shape, is not finite, or never varies.
    """
    scored = games.scored
    spread = _spread(games, longer)
    played = games.only(scored)
    wins = win_matrix(played)
    active = (wins + wins.T).any(axis=1)
    place = np.cumsum(active) - 1
    start = fit_strengths(wins[np.ix_(active, active)])
    m, rows = int(active.sum()), np.arange(len(played.a))
    design = np.zeros((len(rows), m + 1))
    design[rows, place[played.a]] = 1.0
    design[rows, place[played.b]] = -1.0
    design[:, m] = np.tanh(longer[scored] / spread)
    tied = start.prior / max(m - 1, 1) * (1.0 - np.eye(m))
    guess = np.append(start.theta, 0.0)
    estimate, inverse, converged = _fit(design, played.score, tied, guess)
    if not converged:  # length, with strengths, tells every winner: the likelihood has no maximum
        estimate, inverse, _ = _fit(design, played.score, tied, guess, ridge=LENGTH_PRIOR)
    surprise = played.score - special.expit(design @ estimate)
    codes = np.unique(played.query, return_inverse=True)[1]
    n_queries = int(codes.max()) + 1
    half = _half_widths(design * surprise[:, None], codes, inverse, level)
    rating, low, high = (np.full(len(games.agents), np.nan) for _ in range(3))
    rating[active] = MEAN_RATING + ELO_PER_LOGIT * estimate[:m]
    low[active] = rating[active] - half[:m]
    high[active] = rating[active] + half[:m]
    gain = ELO_PER_LOGIT * float(estimate[m])
    effect = Estimate(
        value=gain,
        low=None if n_queries < 2 else gain - float(half[m]),
        high=None if n_queries < 2 else gain + float(half[m]),
        note="one query: no interval" if n_queries < 2 else "",
        n=len(rows),
        n_clusters=n_queries,
        level=level,
        method="logistic in strengths and tanh of the length difference, cluster-robust",
    )
    notes = []
    if start.prior:
        notes.append(f"Some strengths rest on a weak prior ({start.prior:g} tied games an agent).")
    if not converged:
        notes.append("Length explains the winners perfectly: its effect rests on a weak prior.")
    return LengthControlled(games.agents, rating, low, high, effect, tuple(notes))


def _spread(games: Games, longer: FloatArray) -> float:
    """Standard deviation of the length differences of scored games."""
    if longer.shape != games.a.shape or not np.isfinite(longer[games.scored]).all():
        raise UserError(
            f"length control: {longer.shape[0]} length differences for {plural(len(games.a), 'game')}, or some "
            "unknown; one finite number a scored game is needed. Give the answers of all games."
        )
    spread = float(longer[games.scored].std()) if games.scored.any() else 0.0
    if spread == 0.0:
        raise UserError("length control: all length differences are equal; they must vary. Leave length control out.")
    return spread


def _half_widths(scores: FloatArray, codes: IntArray, inverse: FloatArray, level: float) -> FloatArray:
    """Half-widths of t intervals in Elo points from the games' score contributions; NaN for one query."""
    n_queries = int(codes.max()) + 1
    if n_queries < 2:
        return np.full(scores.shape[1], np.nan)
    sums = np.zeros((n_queries, scores.shape[1]))
    np.add.at(sums, codes, scores)
    variance = np.diag(inverse @ (sums.T @ sums) @ inverse) * n_queries / (n_queries - 1)
    quantile = float(stats.t.isf((1.0 - level) / 2.0, n_queries - 1))
    half: FloatArray = ELO_PER_LOGIT * quantile * np.sqrt(np.maximum(variance, 0.0))  # -1e-17 is rounding
    return half


def _fit(
    design: FloatArray, score: FloatArray, tied: FloatArray, start: FloatArray, ridge: float = 0.0
) -> tuple[FloatArray, FloatArray, bool]:
    """Newton for the (fractional) logistic likelihood; estimate, inverse information, whether it converged.

    ``tied`` holds the tied games of each pair, at equal length, that the prior adds; ``ridge`` is the
    precision of a normal prior on the length coefficient.
    """
    m = len(start) - 1
    estimate = start.copy()
    fixed = np.zeros((m + 1, m + 1))
    fixed[:m, :m] = 1.0 / m  # the mean of the strengths
    fixed[m, m] = ridge + 1e-12
    for _ in range(STEPS):
        expected = special.expit(design @ estimate)
        p = special.expit(np.subtract.outer(estimate[:m], estimate[:m]))
        gradient = design.T @ (score - expected)
        gradient[:m] += (tied * (0.5 - p)).sum(axis=1)
        gradient[m] -= ridge * estimate[m]
        weight = tied * p * (1.0 - p)
        information = design.T @ (design * (expected * (1.0 - expected))[:, None]) + fixed
        information[:m, :m] += np.diag(weight.sum(axis=1)) - weight
        step = np.linalg.solve(information, gradient)
        size = float(np.abs(step).max())
        estimate += step * (math.log1p(size) / size if size > 0.1 else 1.0)
        if size < 1e-10 or abs(estimate[m]) > DIVERGED:
            break
    estimate[:m] -= estimate[:m].mean()
    inverse: FloatArray = np.linalg.inv(information).astype(np.float64)
    inverse[:m, :m] -= 1.0 / m
    return estimate, inverse, size < 1e-10 and abs(float(estimate[m])) <= DIVERGED
