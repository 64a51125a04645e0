"""Bradley-Terry strengths of very many agents in many resamples of the queries at once, from the pairs that met.

A thousand agents never meet all others: what a step of Newton needs is sums over the pairs that met, a few dozen an
agent, in place of matrices of all agents squared. Its equations are solved by conjugate gradients, preconditioned with
their diagonal; schedules that mix their agents need few rounds. In a resample whose results do not connect all agents
both ways each agent gets tied games against an opponent of mean strength, in place of a share of one against each other
agent: with so many others both say the same.
Source: Hunter (2004), Annals of Statistics 32(1), for the likelihood; Hestenes and Stiefel (1952), Journal of Research
of the National Bureau of Standards 49(6).
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Self

import numpy as np
from scipy import sparse, special

from judgec.records.game import Games
from judgec.records.label import FloatArray, IntArray

NEWTON_STEPS = 60  # damped; agents that won everything under a weak prior take dozens
ROUNDS = 40  # of conjugate gradients in a step; what is left is the next step's
TOLERANCE = 1e-6  # largest Newton step, in logits: a thousandth of an Elo point
EXACT = 1e-3  # of a step's equations, as a share of their right-hand side
LANE_FLOATS = 2**24  # floats held at once


@dataclass(frozen=True, slots=True)
class Meetings:
    """The pairs that met, with the points of each query.

    Args:
        low: The agent of the pair with the smaller code, shape (n_pairs,).
        high: The other one.
        points: Points of ``low`` from ``high``, by pair and query, shape (n_pairs, n_queries).
        games: Games, likewise.
        n: Agents.
    """

    low: IntArray
    high: IntArray
    points: sparse.csr_array
    games: sparse.csr_array
    n: int

    @classmethod
    def of(cls, games: Games, agents: IntArray, codes: IntArray) -> Self:
        """Those of scored games.

        Args:
            games: All scored.
            agents: Place of each of their agents; -1 for one without a game.
            codes: Query of each game, from 0.
        """
        a, b, n = agents[games.a], agents[games.b], int(agents.max()) + 1
        swapped = a > b
        score = np.where(swapped, 1.0 - games.score, games.score)
        pairs, place = np.unique(np.minimum(a, b) * n + np.maximum(a, b), return_inverse=True)
        shape = (len(pairs), int(codes.max()) + 1)
        points = sparse.csr_array((score, (place, codes)), shape=shape)
        counts = sparse.csr_array((np.ones(len(score)), (place, codes)), shape=shape)
        return cls(pairs // n, pairs % n, points, counts, n)

    def fit(self, weight: FloatArray, start: FloatArray, prior: float) -> FloatArray:
        """Strengths where each query counts so often.

        Args:
            weight: Shape (n_resamples, n_queries).
            start: Where Newton starts, shape (n_agents,).
            prior: Tied games given to each agent of a resample without a finite maximum.

        Returns: Logits, shape (n_resamples, n_agents), each row with mean 0.
        """
        width = max(1, LANE_FLOATS // (8 * len(self.low) + 8 * self.n))
        parts = [self._fit(weight[begin : begin + width], start, prior) for begin in range(0, len(weight), width)]
        return np.concatenate(parts)

    def _fit(self, weight: FloatArray, start: FloatArray, prior: float) -> FloatArray:
        won, met = self.points @ weight.T, self.games @ weight.T  # (n_pairs, lanes)
        tied = np.where([self._connected(*lane) for lane in zip(won.T, met.T, strict=True)], 0.0, prior)
        signs = self._signs()
        touches = abs(signs)
        theta = np.tile((start - start.mean())[:, None], (1, len(weight)))
        left = np.arange(len(weight))
        for _ in range(NEWTON_STEPS):
            here = theta[:, left]
            chance, even = special.expit(signs.T @ here), special.expit(here)
            slope = signs @ (won[:, left] - met[:, left] * chance) + tied[left] * (0.5 - even)
            curve, own = met[:, left] * chance * (1.0 - chance), tied[left] * even * (1.0 - even)

            def bend(move: FloatArray, curve: FloatArray = curve, own: FloatArray = own) -> FloatArray:
                return np.asarray(signs @ (curve * (signs.T @ move)) + own * move)

            step = _solved(bend, np.asarray(touches @ curve) + own, slope)
            spread = step.max(axis=0) - step.min(axis=0)
            damping = np.log1p(spread) / np.maximum(spread, 1e-300)
            theta[:, left] += step * np.where(spread > 0.1, damping, 1.0)
            left = left[spread >= TOLERANCE]
            if not len(left):
                break
        centred: FloatArray = (theta - theta.mean(axis=0)).T
        return centred

    def _signs(self) -> sparse.csr_array:
        """1 for the one agent of a pair, -1 for the other, shape (n_agents, n_pairs)."""
        pairs, ones = np.arange(len(self.low)), np.ones(len(self.low))
        ends = (np.concatenate([self.low, self.high]), np.concatenate([pairs, pairs]))
        return sparse.csr_array((np.concatenate([ones, -ones]), ends), shape=(self.n, len(pairs)))

    def _connected(self, won: FloatArray, met: FloatArray) -> bool:
        """True if each agent can be reached from each along "took points from"."""
        down, up = won > 0, met - won > 0
        rows = np.concatenate([self.low[down], self.high[up]])
        columns = np.concatenate([self.high[down], self.low[up]])
        took = sparse.csr_array((np.ones(len(rows), np.int8), (rows, columns)), shape=(self.n, self.n))
        count, _ = sparse.csgraph.connected_components(took, connection="strong")
        return bool(count == 1)


def _solved(bend: Callable[[FloatArray], FloatArray], diagonal: FloatArray, target: FloatArray) -> FloatArray:
    """``bend`` undone on each column of ``target``, nearly: conjugate gradients, each column with its own steps."""
    scale = 1.0 / np.maximum(diagonal, 1e-12)
    found, rest = np.zeros_like(target), target.copy()
    eased = scale * rest
    way, worth = eased.copy(), (rest * eased).sum(axis=0)
    enough = EXACT**2 * worth
    for _ in range(ROUNDS):
        bent = bend(way)
        length = np.where(worth > enough, worth / np.maximum((way * bent).sum(axis=0), 1e-300), 0.0)
        found += length * way
        rest -= length * bent
        eased = scale * rest
        before, worth = worth, (rest * eased).sum(axis=0)
        if (worth <= enough).all():
            break
        way = eased + (worth / np.maximum(before, 1e-300)) * way
    solved: FloatArray = found - found.mean(axis=0)
    return solved
