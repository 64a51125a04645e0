"""Win rates that experts corrected: many judged games, a random sample of them labelled by experts.

The estimator is PPI++, see ``stats/correction/ppi.py``.
"""

from dataclasses import dataclass

import numpy as np
from scipy import stats

from judgec.errors import UserError
from judgec.records.estimate import Estimate
from judgec.records.game import Games
from judgec.records.label import FloatArray, IntArray
from judgec.stats.correction.ppi import cluster_sums, ppi_mean

UNSCORED_PREDICTION = 0.5  # a prediction, not a result: any value keeps the estimate unbiased


@dataclass(frozen=True, slots=True)
class CorrectedRates:
    """Points per game of every agent, as judged and as corrected, side by side.

    Args:
        agents: Agent names, sorted.
        raw: What the judge alone says, one an agent.
        corrected: With the experts' labels.
        weight: How far the judge was trusted, 0-1, one an agent; NaN where nothing could be corrected.
    """

    agents: tuple[str, ...]
    raw: tuple[Estimate, ...]
    corrected: tuple[Estimate, ...]
    weight: FloatArray


def corrected_win_rates(
    games: Games, expert: FloatArray, *, random_sample: bool, level: float = 0.95
) -> CorrectedRates:
    """Points per game (1 win, 0.5 tie) of each agent against all its opponents, raw and corrected.

    Args:
        games: The judge's games.
        expert: The experts' points for ``a`` in the same games: 1, 0.5, 0; NaN where no expert looked.
        random_sample: The caller's word that the labelled games were drawn at random from these games and lie
            outside the judge's training and development data.
        level: Coverage of the intervals.

    Raises:
        UserError: When they were not: on a chosen sample the correction would add bias, not remove it.
    """
    if not random_sample:
        raise UserError(
            "win rates: the expert preferences are no random sample of these games outside the judge's "
            "training data; only such a sample can correct them. Label games drawn at random, or report "
            "raw rates."
        )
    raw, corrected, weights = [], [], []
    for agent in range(len(games.agents)):
        mine = (games.a == agent) | (games.b == agent)
        as_a = games.a[mine] == agent
        judge = np.where(as_a, games.score[mine], 1.0 - games.score[mine])
        labelled = np.where(as_a, expert[mine], 1.0 - expert[mine])
        query = games.query[mine]
        scored = ~np.isnan(judge)
        raw.append(_mean(judge[scored], query[scored], level))
        predicted = np.where(scored, judge, UNSCORED_PREDICTION)
        found = ppi_mean(predicted, labelled, query, level=level, shares=True)
        corrected.append(found.estimate)
        weights.append(found.weight)
    return CorrectedRates(games.agents, tuple(raw), tuple(corrected), np.array(weights))


def _mean(values: FloatArray, query: IntArray, level: float) -> Estimate:
    if not len(values):
        return Estimate(value=None, note="no scored game")
    parts = cluster_sums((values - values.mean()) / len(values), query)
    return _estimate(float(values.mean()), parts, query, level=level, method="mean, clustered by query")


def _estimate(value: float, parts: FloatArray, informative: IntArray, *, level: float, method: str) -> Estimate:
    """A t interval from the error that each query contributes.

    ``informative`` holds the query of each item that was scored or labelled: n and the degrees of freedom.
    """
    n = len(informative)
    queries = len(np.unique(informative))
    if queries < 2:
        return Estimate(value=value, note="one query: no interval", n=n, n_clusters=queries, method=method)
    se = float(np.sqrt((parts @ parts) * queries / (queries - 1)))
    half = float(stats.t.isf((1.0 - level) / 2.0, queries - 1)) * se
    return Estimate(
        value=value, low=value - half, high=value + half, n=n, n_clusters=queries, level=level, method=method
    )
