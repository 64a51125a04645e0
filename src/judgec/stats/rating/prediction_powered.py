"""Win rates that experts corrected: many judged games, a random sample of them labelled by experts.

PPI++: rate = mean(expert) + w * (mean(judge, other games) - mean(judge, labelled games)). For any w it is
unbiased when the labelled games are a random sample, however wrong the judge; w is chosen to make it as
precise as the judge allows, and is 0 for a useless judge.
Source: Angelopoulos, Duchi & Zrnic (2023), PPI++: Efficient Prediction-Powered Inference, arXiv 2311.01453;
the variances here are clustered by query.
"""

from dataclasses import dataclass

import numpy as np
from scipy import stats

from judgec.errors import UserError
from judgec.records.estimate import Estimate
from judgec.records.game import Games
from judgec.records.label import FloatArray, IntArray

MIN_LABELLED = 2
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
        estimate, weight = prediction_powered_mean(np.where(scored, judge, UNSCORED_PREDICTION), labelled, query, level)
        corrected.append(estimate)
        weights.append(weight)
    return CorrectedRates(games.agents, tuple(raw), tuple(corrected), np.array(weights))


def prediction_powered_mean(
    judge: FloatArray, expert: FloatArray, query: IntArray, level: float = 0.95
) -> tuple[Estimate, float]:
    """Mean of what experts would say of all items, and the weight given to the judge.

    Args:
        judge: The judge's value of every item, shape (n_items,); no NaN.
        expert: The expert's value, NaN where unlabelled; the labelled are a random sample.
        query: Code of the item's query; items of one query are not independent.
        level: Coverage of the interval.
    """
    known = ~np.isnan(expert)
    n, rest = int(known.sum()), int((~known).sum())
    if n < MIN_LABELLED:
        return Estimate(value=None, note=f"{n} labelled games; at least {MIN_LABELLED} are needed", n=n), np.nan
    truth = np.where(known, expert, 0.0)
    mean_expert = float(expert[known].mean())
    judge_known = float(judge[known].mean())
    judge_rest = float(judge[~known].mean()) if rest else judge_known
    # Contributions of each query to the errors of mean(expert) and of the difference of the judge's means.
    expert_part = _sums(np.where(known, truth - mean_expert, 0.0) / n, query)
    difference = np.where(known, -(judge - judge_known) / n, (judge - judge_rest) / max(rest, 1))
    judge_part = _sums(difference, query)
    power = float(judge_part @ judge_part)
    weight = float(np.clip(-(expert_part @ judge_part) / power, 0.0, 1.0)) if power > 0 and rest else 0.0
    value = mean_expert + weight * (judge_rest - judge_known)
    method = "PPI++, clustered by query"
    return _estimate(value, expert_part + weight * judge_part, query[known], level=level, method=method), weight


def _mean(values: FloatArray, query: IntArray, level: float) -> Estimate:
    if not len(values):
        return Estimate(value=None, note="no scored game")
    parts = _sums((values - values.mean()) / len(values), query)
    return _estimate(float(values.mean()), parts, query, level=level, method="mean, clustered by query")


def _sums(parts: FloatArray, query: IntArray) -> FloatArray:
    codes = np.unique(query, return_inverse=True)[1]
    return np.bincount(codes, weights=parts).astype(np.float64)


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
