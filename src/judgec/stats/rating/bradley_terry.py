"""Bradley-Terry strengths from win matrices, many matrices at once, ties as half wins.

Strengths maximise sum_ij W_ij log sigma(t_i - t_j). The maximum is finite and unique exactly when the
results connect all agents both ways: each can be reached from each along "took points from" (Ford, 1957).
Elsewhere a weak prior decides, and ``Strengths`` says so.
Source: Bradley & Terry (1952), Biometrika 39; Ford (1957), American Mathematical Monthly 64; Newton steps
damped as for generalized self-concordant losses in Bach (2010), Electronic Journal of Statistics 4.
"""

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from judgec.records.game import Games
from judgec.records.label import FloatArray, IntArray

ELO_PER_LOGIT = 400.0 / math.log(10.0)
PRIOR_GAMES = 0.1  # tied games that each agent is given, spread over all others; a tenth of one game
PLACED_BELOW = 1.0 / ELO_PER_LOGIT  # one Elo point, where only the order is known
NEWTON_STEPS = 100  # five to eight are usual; separated data under a small prior take dozens
TOLERANCE = 1e-11  # largest Newton step, in logits

BoolArray = NDArray[np.bool_]


@dataclass(frozen=True, slots=True)
class Strengths:
    """A Bradley-Terry fit of one win matrix.

    Args:
        theta: Strengths in logits, shape (n_agents,); their mean is 0 over ``core``, or over all without one.
        prior: Tied games given to each agent; 0 when the maximum likelihood estimate exists.
        component: Agents with one code are connected both ways by results; differences between codes rest on
            the prior alone. Shape (n_agents,).
        core: True for the largest component of at least two agents (the one with most games, then the
            strongest, among equals), shape (n_agents,).
    """

    theta: FloatArray
    prior: float
    component: IntArray
    core: BoolArray


def win_matrix(games: Games) -> FloatArray:
    """Points taken by the row from the column, a tie being half a point each, shape (n_agents, n_agents)."""
    n = len(games.agents)
    a, b, score = games.a, games.b, games.score
    scored = games.scored
    cells = np.concatenate([(a * n + b)[scored], (b * n + a)[scored]])
    points = np.concatenate([score[scored], 1.0 - score[scored]])
    wins: FloatArray = np.bincount(cells, weights=points, minlength=n * n).astype(np.float64)
    return wins.reshape(n, n)


def fit_strengths(wins: FloatArray, prior: float = PRIOR_GAMES) -> Strengths:
    """Bradley-Terry strengths of agents that all played; the prior enters only where it must.

    A weak prior alone could rank an agent that lost its only game above one that lost nine of ten. So with
    a prior, agents are moved down until the order agrees with the results: whoever took points from an agent,
    directly or over others, and never gave any back, ranks above it, and an agent that lost all its games
    ranks below every agent that took a point.

    Args:
        wins: Points of the row over the column, shape (n_agents, n_agents); each agent has a game.
        prior: Tied games given to each agent where the results alone set no finite strengths.
    """
    reach = _reachable(wins[None])[0]
    both = reach & reach.T
    component = np.unique(both.argmax(axis=1), return_inverse=True)[1]
    if reach.all():
        return Strengths(_newton(wins[None])[0], 0.0, component, np.ones(len(wins), dtype=bool))
    theta = _newton(with_prior(wins[None], prior))[0]
    pointless = wins.sum(axis=1) == 0
    above = (reach & ~reach.T) | np.outer(~pointless, pointless)
    # Whoever ranks above a component reaches more agents, so this order visits it first.
    for agent in np.argsort(-reach.sum(axis=1), kind="stable"):
        mates = both[agent]
        ceiling = theta[above[:, agent]].min(initial=np.inf) - PLACED_BELOW
        theta[mates] -= max(0.0, float(theta[mates].max() - ceiling))
    core = _largest(both, wins, theta)
    return Strengths(theta - theta[core if core.any() else ...].mean(), prior, component, core)


def fit_batch(wins: FloatArray, start: FloatArray, prior: float) -> FloatArray:
    """Strengths of many win matrices; matrices whose results do not connect all agents get the prior.

    Args:
        wins: Shape (n_matrices, n_agents, n_agents).
        start: Where Newton starts, shape (n_agents,).
        prior: Tied games given to each agent of a matrix without a finite maximum.

    Returns: Logits, shape (n_matrices, n_agents), each row with mean 0.
    """
    open_ended = ~_reachable(wins).all(axis=(1, 2))
    if open_ended.any():
        wins = wins.copy()
        wins[open_ended] = with_prior(wins[open_ended], prior)
    return _newton(wins, start)


def fit_near(wins: FloatArray, spread: float) -> FloatArray:
    """Strengths of many win matrices that are N(0, ``spread``) before any game, so that each has a finite maximum.

    Args:
        wins: Shape (n_matrices, n_agents, n_agents); cells may be below 0 where wins are a difference, as long as the
            games of two agents, which are ``wins`` and its mirror image together, are not.
        spread: In logits.

    Returns: Logits, shape (n_matrices, n_agents), each row with mean 0.
    """
    return _newton(wins, pull=spread**-2.0)


def with_prior(wins: FloatArray, prior: float) -> FloatArray:
    """``wins`` with ``prior`` tied games added for each agent, spread evenly over its opponents."""
    n = wins.shape[-1]
    tied: FloatArray = (1.0 - np.eye(n)) * (prior / (2.0 * max(n - 1, 1)))
    return wins + tied


def _largest(both: BoolArray, wins: FloatArray, theta: FloatArray) -> BoolArray:
    """The component with most agents, then most games, then most strength; empty when it is one agent."""
    size = both.sum(axis=1)
    games = both @ (wins + wins.T).sum(axis=1)
    strongest = int(np.lexsort((both @ theta, games, size))[-1])
    core: BoolArray = both[strongest] & (size[strongest] > 1)
    return core


def _reachable(wins: FloatArray) -> BoolArray:
    """True where the row leads to the column along "took points from", shape as ``wins``."""
    n = wins.shape[-1]
    reach = ((wins > 0) | np.eye(n, dtype=bool)).astype(np.float32)
    for _ in range(max(1, math.ceil(math.log2(max(n, 2))))):
        if reach.all():
            break
        reach = np.minimum(reach @ reach, 1.0)
    return reach > 0


def _newton(wins: FloatArray, start: FloatArray | None = None, pull: float = 0.0) -> FloatArray:
    """Damped Newton for every matrix of the batch; each has a finite maximum. ``pull`` is a prior's precision."""
    lanes, n = wins.shape[:2]
    total = wins + wins.transpose(0, 2, 1)
    points = wins.sum(axis=2)
    theta = np.zeros((lanes, n)) if start is None else np.tile(start - start.mean(), (lanes, 1))
    diagonal = np.arange(n)
    for _ in range(NEWTON_STEPS):
        expected = 1.0 / (1.0 + np.exp(theta[:, None, :] - theta[:, :, None]))
        gradient = points - np.einsum("bij,bij->bi", total, expected) - pull * theta
        hessian = -total * expected * (1.0 - expected)
        curvature = -hessian.sum(axis=2)
        hessian[:, diagonal, diagonal] += curvature + pull
        # The Laplacian is singular along (1, .., 1); a rank-one term of its own size fixes the mean at 0.
        hessian += (curvature.mean(axis=1) / n)[:, None, None]
        step = np.linalg.solve(hessian, gradient[..., None])[..., 0]
        spread = step.max(axis=1) - step.min(axis=1)
        damping = np.log1p(spread) / np.maximum(spread, 1e-300)
        theta += step * np.where(spread > 0.1, damping, 1.0)[:, None]
        if spread.max(initial=0.0) < TOLERANCE:
            break
    centred: FloatArray = theta - theta.mean(axis=1, keepdims=True)
    return centred
