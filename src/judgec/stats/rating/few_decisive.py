"""Widens intervals where few games were decisive, by a weak prior; ratings themselves do not change.

Where two agents only tied, every resample of the queries says that they always tie, and the interval has no width. The
prior says what else may be true: two more queries won, and two lost. It is a variance in closed form, so that renaming
agents or swapping sides changes nothing.
Source: Agresti and Coull (1998), The American Statistician 52(2), for the added results.
"""

from dataclasses import dataclass

import numpy as np
from scipy import special, stats

from judgec.records.game import Games
from judgec.records.label import FloatArray, IntArray
from judgec.stats.rating.bradley_terry import ELO_PER_LOGIT, BoolArray

FEW_DECISIVE = 12  # queries that told two agents apart; with these the resamples know enough, without any prior
PLUS = 2.0  # queries won, and lost, that the weak prior adds: Agresti and Coull (1998), The American Statistician 52(2)


@dataclass(frozen=True, slots=True)
class Surplus:
    """Points of agents on each query beyond what their ratings say, and what few decisive queries hide.

    Let y be a result on a query, from -1 (lost all games as an equal) over 0 (as expected) to 1. Its mean has the
    variance sum(y^2) / n^2, and (sum(y^2) + a) / (n + a)^2 with a = 4 results of 1 or -1 more. The difference, where
    there is any, is counted; a fades to 0 at ``FEW_DECISIVE`` queries with a result. A change of y in all games moves
    the strength by 2 y logits. Of a pair both agents see the same games, so each gets half; in general an agent with m
    opponents m / (m + 1).

    Args:
        result: y, shape (n_queries, n_agents); 0 where an agent did not play.
        played: Whether it did, same shape.
        rivals: Opponents of each agent, shape (n_agents,).
    """

    result: FloatArray
    played: BoolArray
    rivals: IntArray

    def of_ratings(self) -> FloatArray:
        """Hidden variance of each rating, in Elo points squared."""
        added = _added(self.result, self.played, self._least())
        variance: FloatArray = (2.0 * ELO_PER_LOGIT) ** 2 * added * self._share()
        return variance

    def of_differences(self) -> FloatArray:
        """Hidden variance of each difference of two ratings; half of the difference of their results is its y.

        Queries that either played count: in a schedule with few games two agents may never share one.
        """
        n = len(self.rivals)
        variance = np.zeros((n, n))
        for i in range(n):
            half = (self.result[:, [i]] - self.result) / 2.0
            share, least = (np.minimum(each, each[i]) for each in (self._share(), self._least()))
            added = _added(half, self.played | self.played[:, [i]], least)
            variance[i] = 2.0 * (2.0 * ELO_PER_LOGIT) ** 2 * added * share
        np.fill_diagonal(variance, 0.0)
        return variance

    def _share(self) -> FloatArray:
        return np.asarray(self.rivals / (self.rivals + 1.0))

    def _least(self) -> FloatArray:
        """The smallest y that is a result: a quarter of a win against one opponent who is an equal."""
        return np.asarray(0.25 / np.maximum(self.rivals, 1))


def _added(result: FloatArray, played: BoolArray, least: FloatArray) -> FloatArray:
    """Variance of mean results that the prior adds, by column.

    A result counts as one from ``least`` on: half at ``least`` itself, none below half of it. A step there would let
    the rounding of a rating decide, and the same games under other names would get another interval.
    """
    result = np.where(played, result, 0.0)
    queries, squares = played.sum(axis=0), (result**2).sum(axis=0)
    decisive = np.clip(np.abs(result) / least - 0.5, 0.0, 1.0).sum(axis=0)
    plus = 2.0 * PLUS * np.maximum(0.0, 1.0 - decisive / FEW_DECISIVE)
    seen = squares / np.maximum(queries, 1) ** 2
    added: FloatArray = np.maximum(0.0, (squares + plus) / np.maximum(queries + plus, 1) ** 2 - seen)
    return added


def surplus_of(games: Games, codes: IntArray, rating: FloatArray, *, rivals: IntArray) -> Surplus:
    """Results beyond what ratings say.

    Args:
        games: Scored games.
        codes: Query of each game, from 0.
        rating: Of the agents that played, shape (n_agents,).
        rivals: Opponents of each agent, same shape.
    """
    n = len(games.agents)
    lead = (rating[games.a] - rating[games.b]) / ELO_PER_LOGIT
    surplus = games.score - special.expit(lead)
    cells = np.concatenate([codes * n + games.a, codes * n + games.b])
    shape = (int(codes.max(initial=-1)) + 1, n)
    count = np.bincount(cells, minlength=shape[0] * n).reshape(shape)
    points = np.bincount(cells, np.concatenate([surplus, -surplus]), shape[0] * n).reshape(shape)
    return Surplus(2.0 * points / np.maximum(count, 1), count > 0, rivals)


def of_mean_free(variance: FloatArray, component: IntArray) -> FloatArray:
    """Variance of each of independent ratings less the mean of its component."""
    member = np.equal.outer(component, component)
    size = member.sum(axis=1)
    total: FloatArray = variance * (1.0 - 2.0 / size) + (member @ variance) / size**2
    return total


def widened(bounds: FloatArray, value: FloatArray, unseen: FloatArray, n_queries: int, level: float) -> FloatArray:
    """Bounds, shape (2, ...), moved away from ``value`` by what ``unseen`` adds to the variance."""
    reach = float(stats.t.isf((1.0 - level) / 2.0, n_queries - 1)) ** 2 * unseen
    away = np.sqrt((bounds - value) ** 2 + reach)
    wide: FloatArray = np.where(reach > 0, np.stack([value - away[0], value + away[1]]), bounds)
    return wide
