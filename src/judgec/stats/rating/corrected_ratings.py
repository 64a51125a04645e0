"""Ratings of many games that a judge decided, corrected by people's verdicts on a random sample of them.

The loss of Bradley-Terry is linear in the verdict, so that people's mean loss is estimated as their mean verdict is:

    loss = mean over people's games + w * (judge's mean, the other games - judge's mean, people's games)

For any w in 0 .. 1 it is convex and its minimum estimates the ratings that people would give if they decided all games,
however wrong the judge is; w makes it as precise as the judge allows. Intervals are a jackknife over queries.
Source: Angelopoulos, Duchi and Zrnic (2023), PPI++: Efficient Prediction-Powered Inference, arXiv:2311.01453, for
    convex losses and w; Chatzi et al. (2024), Prediction-Powered Ranking of Large Language Models, arXiv:2402.17826,
    for games of which few have a person's verdict; Efron and Stein (1981), Annals of Statistics 9(3), the jackknife.
"""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from scipy import stats

from judgec.records.estimate import Estimate
from judgec.records.game import Games
from judgec.records.label import FloatArray, IntArray
from judgec.stats.correction.mean import unseen_variance
from judgec.stats.intervals.significance import holm
from judgec.stats.rating.bradley_terry import ELO_PER_LOGIT, fit_near
from judgec.stats.rating.ratings import MEAN_RATING

SPREAD = 400.0 / ELO_PER_LOGIT  # prior standard deviation of a strength: weak, so that few votes have finite ratings
UNSCORED = 0.5  # a prediction where the judge has no verdict: any value keeps the estimate unbiased
MIN_VOTES = 5  # on an agent, below which its error is not known well enough for an interval
MIN_QUERIES = 5  # with a vote, likewise
METHOD = "prediction-powered Bradley-Terry, jackknife over queries"


@dataclass(frozen=True, slots=True)
class CorrectedRatings:
    """Bradley-Terry ratings as people would give them, Elo scale, mean 1000.

    Args:
        agents: Agent names, sorted.
        corrected: By agent.
        voted: From people's verdicts alone, by agent.
        error: The judge's rating less the corrected one, by agent: above 0 it flatters the agent.
        differences: Corrected ratings, row less column, upper triangle by ``(row, column)``.
        p_holm: That a difference is 0, after Holm's correction for all pairs; None where it is unknown.
        votes: Games of each agent that people decided.
        weight: How far the judge was trusted, 0-1.
        games: That the judge decided.
        labelled: Of these, that people decided, too.
        queries: Of these.
    """

    agents: tuple[str, ...]
    corrected: tuple[Estimate, ...]
    voted: tuple[Estimate, ...]
    error: tuple[Estimate, ...]
    differences: dict[tuple[int, int], Estimate]
    p_holm: dict[tuple[int, int], float | None]
    votes: IntArray
    weight: float
    games: int
    labelled: int
    queries: int

    @property
    def order(self) -> tuple[int, ...]:
        """Agents by corrected rating, best first."""
        return tuple(sorted(range(len(self.agents)), key=lambda one: -(self.corrected[one].value or 0.0)))

    def difference(self, agent: str, other: str) -> Estimate:
        """Corrected rating of ``agent`` minus that of ``other``."""
        i, j = self.agents.index(agent), self.agents.index(other)
        found = self.differences[min(i, j), max(i, j)]
        if i < j:
            return found
        turned = {"value": found.value, "low": found.high, "high": found.low}
        return found.model_copy(update={name: None if one is None else -one for name, one in turned.items()})


@dataclass(frozen=True, slots=True)
class _Wins:
    """Points of the row over the column by query, shape (n_queries, n_agents, n_agents), and how many games."""

    points: FloatArray
    count: FloatArray

    def without(self) -> "_Wins":
        """With each query left out once."""
        return _Wins(self.points.sum(0) - self.points, self.count.sum() - self.count)

    def all(self) -> "_Wins":
        """All queries together, as the only row."""
        return _Wins(self.points.sum(0, keepdims=True), self.count.sum(keepdims=True))

    @property
    def mean(self) -> FloatArray:
        """Points a game; 0 where there is none."""
        share: FloatArray = self.points / np.maximum(self.count, 1.0)[:, None, None]
        return share


def corrected_ratings(games: Games, votes: FloatArray, *, level: float = 0.95) -> CorrectedRatings:
    """Ratings as people would give them, from all games and people's verdicts on a random sample of them.

    Args:
        games: As judged; each query and pair at most once.
        votes: People's points for ``a`` in the same games: 1, 0.5, 0 or a mean; NaN where nobody looked.
        level: Coverage of the intervals.

    Returns:
        An agent of fewer than ``MIN_VOTES`` votes, or votes on fewer than ``MIN_QUERIES`` queries, have no intervals.

    Raises:
        ValueError: When nobody looked at any game.
    """
    known = ~np.isnan(votes)
    if not known.any():
        raise ValueError("corrected_ratings: no vote; a vote on at least one game is needed.")
    judged = np.where(np.isnan(games.score), UNSCORED, games.score)
    people, seen, rest = (
        _by_query(games.only(mask), points[mask])
        for mask, points in ((known, votes), (known, judged), (~known, judged))
    )
    weight = _tuned(people, seen, rest)
    scale = float(known.sum())  # losses count as many games as people decided, against the prior

    def corrected(people: _Wins, seen: _Wins, rest: _Wins) -> FloatArray:
        return _fitted(people.mean + weight * (rest.mean - seen.mean), scale)

    def alone(people: _Wins, *_: _Wins) -> FloatArray:
        return _fitted(people.mean, scale)

    def as_judged(_: _Wins, seen: _Wins, rest: _Wins) -> FloatArray:
        both = _Wins(seen.points + rest.points, seen.count + rest.count)
        return _fitted(both.mean, scale)

    parts = (people, seen, rest)
    value, drawn = _jackknifed(corrected, parts)
    judge, judge_drawn = _jackknifed(as_judged, parts)
    own, own_drawn = _jackknifed(alone, parts)
    hidden = _unseen(games.only(known), np.abs(votes - judged)[known], weight, value)
    labelled = np.unique(games.query[known])
    taken = np.bincount(np.concatenate([games.a[known], games.b[known]]), minlength=len(games.agents))
    facts = _Facts(len(labelled), int(known.sum()), taken >= MIN_VOTES, level, tuned=weight > 0)
    pairs = _differences(value, _covariance(drawn) + hidden, facts)
    return CorrectedRatings(
        agents=games.agents,
        corrected=facts.estimates(MEAN_RATING, value, _covariance(drawn) + hidden),
        voted=facts.estimates(MEAN_RATING, own, _covariance(own_drawn)),
        error=facts.estimates(0.0, judge - value, _covariance(judge_drawn - drawn) + hidden),
        differences={pair: estimate for pair, (estimate, _) in pairs.items()},
        p_holm=_adjusted({pair: p for pair, (_, p) in pairs.items()}),
        votes=taken,
        weight=weight,
        games=len(games.a),
        labelled=int(known.sum()),
        queries=len(labelled),
    )


@dataclass(frozen=True, slots=True)
class _Facts:
    """The data that intervals are made with: queries with a vote, votes, the agents that have enough, the level."""

    queries: int
    labelled: int
    enough: np.ndarray[tuple[int], np.dtype[np.bool_]]
    level: float
    tuned: bool

    @property
    def freedom(self) -> int:
        """Of Student's t; the weight was fitted to these very votes, which costs one."""
        return self.queries - 1 - int(self.tuned)

    def estimates(self, centre: float, value: FloatArray, covariance: FloatArray) -> tuple[Estimate, ...]:
        """Strengths in logits as ratings."""
        found = zip(value, np.diag(covariance), self.enough, strict=True)
        return tuple(self.estimate(centre, one, variance, known=bool(known))[0] for one, variance, known in found)

    def estimate(self, centre: float, value: float, variance: float, *, known: bool) -> tuple[Estimate, float | None]:
        """One number with its interval, and the p-value that it is ``centre``."""
        elo = ELO_PER_LOGIT * float(value)
        found = Estimate(value=centre + elo, n=self.labelled, n_clusters=self.queries, level=self.level, method=METHOD)
        if self.queries < MIN_QUERIES:
            note = f"no interval: votes on {self.queries} queries, and {MIN_QUERIES} are needed"
            return found.model_copy(update={"note": note}), None
        if not known:
            note = f"no interval: fewer than {MIN_VOTES} votes, too few to know the judge's error"
            return found.model_copy(update={"note": note}), None
        error = ELO_PER_LOGIT * float(np.sqrt(variance))
        half = float(stats.t.isf((1.0 - self.level) / 2.0, self.freedom)) * error
        p = 2.0 * float(stats.t.sf(abs(elo) / error, self.freedom)) if error else None
        return found.model_copy(update={"low": centre + elo - half, "high": centre + elo + half}), p


def _by_query(games: Games, points: FloatArray) -> _Wins:
    n, queries = len(games.agents), len(games.queries)
    cells = np.concatenate([(games.query * n + games.a) * n + games.b, (games.query * n + games.b) * n + games.a])
    taken = np.bincount(cells, np.concatenate([points, 1.0 - points]), minlength=queries * n * n)
    count = np.bincount(games.query, minlength=queries).astype(np.float64)
    return _Wins(taken.astype(np.float64).reshape(queries, n, n), count)


def _fitted(mean: FloatArray, scale: float) -> FloatArray:
    """Strengths of points a game, shape (n_lanes, n_agents): logits with mean 0."""
    return fit_near(mean * scale, SPREAD)


def _jackknifed(fit: Callable[..., FloatArray], parts: tuple[_Wins, ...]) -> tuple[FloatArray, FloatArray]:
    """Strengths from all queries, and with each query left out."""
    return fit(*(part.all() for part in parts))[0], fit(*(part.without() for part in parts))


def _covariance(drawn: FloatArray) -> FloatArray:
    """Jackknife covariance of what was fitted with each query left out, shape (n_queries, n_agents)."""
    n = len(drawn)
    away = drawn - drawn.mean(0)
    found: FloatArray = away.T @ away * (n - 1) / n
    return found


def _tuned(people: _Wins, seen: _Wins, rest: _Wins) -> float:
    """The weight that makes the strengths' summed variance smallest, from each query's part in them."""
    if not rest.count.sum():
        return 0.0
    pilot = _fitted(people.all().mean, float(people.count.sum()))[0]
    bend = _bend(people.all().mean[0], pilot)

    def parts(wins: _Wins) -> FloatArray:
        """Contribution of each query to the mean gradient, shape (n_queries, n_agents)."""
        pairs = wins.points + wins.points.transpose(0, 2, 1)
        surplus = wins.points.sum(2) - (pairs * _expected(pilot)).sum(2)
        mean = surplus.sum(0) / wins.count.sum()
        found: FloatArray = (surplus - wins.count[:, None] * mean) / wins.count.sum()
        return found

    own, judge = parts(people) @ bend, (parts(rest) - parts(seen)) @ bend
    power = float((judge * judge).sum())
    return min(1.0, max(0.0, -float((own * judge).sum()) / power)) if power > 0 else 0.0


def _unseen(games: Games, miss: FloatArray, weight: float, strength: FloatArray) -> FloatArray:
    """Covariance that a judge hides who was right about nearly every vote: it may still be wrong about others."""
    n = len(games.agents)
    pairs = np.zeros((n, n))
    np.add.at(pairs, (games.a, games.b), 1.0 / len(games.a))
    pairs += pairs.T
    bend = _bend(pairs / 2.0, strength)
    crossed = np.diag(pairs.sum(1)) - pairs
    variance = weight**2 * unseen_variance(float(miss.mean()), len(np.unique(games.query)))
    found: FloatArray = variance * bend @ crossed @ bend
    return found


def _expected(strength: FloatArray) -> FloatArray:
    share: FloatArray = 1.0 / (1.0 + np.exp(strength[None, :] - strength[:, None]))
    return share


def _bend(points: FloatArray, strength: FloatArray) -> FloatArray:
    """Inverse of the mean loss's curvature: how strengths answer to points a game."""
    pairs = (points + points.T) * _expected(strength) * _expected(-strength)
    inverse: FloatArray = np.asarray(np.linalg.pinv(np.diag(pairs.sum(1)) - pairs, hermitian=True), dtype=np.float64)
    return inverse


def _differences(
    value: FloatArray, covariance: FloatArray, facts: _Facts
) -> dict[tuple[int, int], tuple[Estimate, float | None]]:
    found = {}
    for i in range(len(value)):
        for j in range(i + 1, len(value)):
            variance = float(covariance[i, i] + covariance[j, j] - 2.0 * covariance[i, j])
            enough = bool(facts.enough[i] and facts.enough[j])
            found[i, j] = facts.estimate(0.0, float(value[i] - value[j]), max(variance, 0.0), known=enough)
    return found


def _adjusted(p: dict[tuple[int, int], float | None]) -> dict[tuple[int, int], float | None]:
    adjusted = holm(np.array([np.nan if one is None else one for one in p.values()], dtype=np.float64))
    return {pair: None if np.isnan(one) else float(one) for pair, one in zip(p, adjusted, strict=True)}
