"""Bradley-Terry ratings with intervals from resampled queries: the headline of a tournament."""

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from scipy import sparse, special, stats
from scipy.optimize import brentq

from judgec.errors import UserError
from judgec.records.counts import plural
from judgec.records.estimate import Estimate
from judgec.records.game import Games
from judgec.records.label import FloatArray, IntArray
from judgec.stats.rating.bradley_terry import (
    ELO_PER_LOGIT,
    PRIOR_GAMES,
    BoolArray,
    Strengths,
    fit_batch,
    fit_strengths,
    win_matrix,
)
from judgec.stats.rating.few_decisive import of_mean_free, surplus_of, widened

MEAN_RATING = 1000.0
FEW_QUERIES = 10
MOST_NAMED = 8  # agents of a component in a sentence
LANE_FLOATS = 2**24  # floats held at once while resampling
MOST_DENSE = 200  # agents: resamples are fitted as matrices of all pairs


APART = "no path of games joins the two: their ratings cannot be compared"
METHOD = "Bradley-Terry, ties as half wins; expanded percentile bootstrap over queries, few decisive ones with a prior"


@dataclass(frozen=True, slots=True)
class Ratings:
    """Bradley-Terry ratings on the Elo scale: 400 points are odds of ten to one.

    The mean is 1000 over all agents that results connect both ways (normally all); only differences matter.
    Where results do not connect all, bounds hold relative to the agents of the same component.

    Where no path of games joins all agents, each part is rated by itself, around a mean of its own, and nothing is said
    across parts.

    Args:
        agents: Agent names, sorted.
        rating: Shape (n_agents,); NaN for an agent without a scored game.
        low: Lower bounds; NaN where the data set none (an agent that lost every game) or too little is known.
        high: Upper bounds, likewise.
        resampled: Ratings in each bootstrap sample, shape (n_resamples, n_agents); differences of two columns
            are paired.
        unseen: Variance of differences, row less column, that few decisive queries hide from ``resampled``, in Elo
            points squared, shape (n_agents, n_agents).
        strengths: The fit behind the ratings of the agents that played, in the order of ``agents``.
        wins: Points of the row over the column, shape (n_agents, n_agents).
        met: Queries with a scored game of the row against the column, same shape.
        n_games: Scored games.
        n_queries: Queries with a scored game.
        level: Coverage of the intervals.
        seed: Seed of the resampling.
        notes: What the reader has to know, one sentence each.
        parts: Of agents that no path of games joins, the ratings of each part, largest first; else empty.
    """

    agents: tuple[str, ...]
    rating: FloatArray
    low: FloatArray
    high: FloatArray
    resampled: FloatArray
    unseen: FloatArray
    strengths: Strengths
    wins: FloatArray
    met: IntArray
    n_games: int
    n_queries: int
    level: float
    seed: int
    notes: tuple[str, ...]
    parts: tuple["Ratings", ...] = ()

    @property
    def component(self) -> IntArray:
        """The part of each agent, from 1; 0 for an agent without a scored game; shape (n_agents,)."""
        known = np.where(np.isnan(self.rating), 0, 1)
        for number, part in enumerate(self.parts, 1):
            known[[self.agents.index(name) for name in part.agents]] = number
        return known

    def difference(self, agent: str, other: str) -> Estimate:
        """Rating of ``agent`` minus that of ``other``, with the paired interval over queries.

        Where one of the two won all their games, or results do not connect them both ways, the interval is open on
        that side; the other bound is the difference at which winning all their games has probability
        (1 - level) / 2, a query counting once.
        """
        i, j = self.agents.index(agent), self.agents.index(other)
        if self.parts and (both := self.component[[i, j]]).all():
            if both[0] == both[1]:
                own: Ratings = self.parts[int(both[0]) - 1]
                return own.difference(agent, other)
            return Estimate(
                value=None, note=APART, n=self.n_games, n_clusters=self.n_queries, level=self.level, seed=self.seed
            )
        value = float(self.rating[i] - self.rating[j])
        known = ~np.isnan(self.rating)
        position = np.cumsum(known) - 1
        component = self.strengths.component
        note = ""
        low: float | None = None
        high: float | None = None
        if math.isnan(value):
            note = f"{agent if not known[i] else other} has no scored game"
        elif component[position[i]] != component[position[j]]:
            note = "no interval: the results do not bound this difference on both sides"
            if self.met[i, j]:
                least = _least_of_a_sweep(int(self.met[i, j]), self.level)
                low, high = (None, -least) if self.wins[i, j] == 0 else (least, None)
        elif self.n_queries < 2 or not len(self.resampled):
            note = "no interval: it needs scored games of at least two queries"
        else:
            bounds = _bounds(self.resampled[:, i] - self.resampled[:, j], self.n_queries, self.level)
            low, high = map(float, widened(bounds, np.array(value), self.unseen[i, j], self.n_queries, self.level))
        return Estimate(
            value=None if math.isnan(value) else value,
            low=low,
            high=high,
            note=note,
            n=self.n_games,
            n_clusters=self.n_queries,
            level=self.level,
            method=METHOD,
            seed=self.seed,
        )

    def mean_difference(self, agents: Sequence[str], others: Sequence[str]) -> tuple[Estimate, float | None]:
        """Mean of the differences of pairs, ``agents[i]`` minus ``others[i]``, over the same queries, and its p-value.

        Where results do not connect the two of every pair both ways, or there is one query, there is neither interval
        nor p. What few decisive queries hide is taken as if it were the same in all pairs, which can only widen.

        Args:
            agents: One of each pair.
            others: The other of each pair.
        """
        i, j = ([self.agents.index(name) for name in side] for side in (agents, others))
        pairs = [self.difference(one, other) for one, other in zip(agents, others, strict=True)]
        value = float(np.mean([math.nan if pair.value is None else pair.value for pair in pairs]))
        estimate = pairs[0].model_copy(
            update={"value": None if math.isnan(value) else value, "low": None, "high": None}
        )
        if math.isnan(value) or any(pair.low is None or pair.high is None for pair in pairs):
            note = next((pair.note for pair in pairs if pair.note), "no interval: a pair has none")
            return estimate.model_copy(update={"note": note}), None
        drawn = (self.resampled[:, i] - self.resampled[:, j]).mean(1)
        hidden = np.square(np.mean(np.sqrt(self.unseen[i, j])))
        bounds = _bounds(drawn, self.n_queries, self.level)
        low, high = map(float, widened(bounds, np.array(value), hidden, self.n_queries, self.level))
        variance = float(drawn.var(ddof=1)) * self.n_queries / (self.n_queries - 1) + float(hidden)
        p = 2.0 * float(stats.t.sf(abs(value) / math.sqrt(variance), self.n_queries - 1)) if variance else None
        return estimate.model_copy(update={"low": low, "high": high, "note": ""}), p


def require_few(agents: Sequence[str]) -> None:
    """Checks that so many agents can be rated together.

    Raises:
        UserError: More than ``MOST_DENSE``.
    """
    if len(agents) > MOST_DENSE:
        raise UserError(
            f"{len(agents)} agents: at most {MOST_DENSE} are rated together. Leave some out, or rate them in groups."
        )


def bradley_terry(games: Games, *, resamples: int = 1000, seed: int = 0, level: float = 0.95) -> Ratings:
    """Bradley-Terry ratings with intervals by resampling queries.

    Games of one query share its difficulty, so queries are drawn, not games. Percentiles are taken at
    t-adjusted levels, which keeps coverage with few queries ("expanded percentile": Hesterberg 2015, The
    American Statistician 69(4)). Where most queries are ties the resamples cannot know wins and losses that were not
    seen, so a weak prior widens the intervals (``few_decisive``); ratings are those without it.

    Args:
        games: The games; unscored ones are left out, repeated ones count each.
        resamples: Bootstrap samples; 0 for none.
        seed: Their seed.
        level: Coverage of the intervals.

    Raises:
        UserError: More than ``MOST_DENSE`` agents.
    """
    require_few(games.agents)
    played = games.only(games.scored)
    n = len(games.agents)
    wins = win_matrix(played)
    if len(parts := _parts(wins)) > 1:
        each = [bradley_terry(_among(played, part), resamples=resamples, seed=seed, level=level) for part in parts]
        return _side_by_side(played, wins, parts, each)
    active = (wins + wins.T).sum(axis=1) > 0
    strengths = fit_strengths(wins[np.ix_(active, active)])
    codes = np.unique(played.query, return_inverse=True)[1]
    n_queries = int(codes.max(initial=-1)) + 1
    rating = np.full(n, np.nan)
    rating[active] = MEAN_RATING + ELO_PER_LOGIT * strengths.theta
    shared = np.bincount(strengths.component)[strengths.component] > 1
    count = resamples if n_queries >= 2 and shared.any() else 0
    resampled, low, high = np.full((count, n), np.nan), np.full(n, np.nan), np.full(n, np.nan)
    surplus = surplus_of(played, codes, rating, rivals=(_met(played, codes) > 0).sum(axis=1))
    if count:
        lanes = _resample(played, codes, active, strengths, count=count, seed=seed)
        resampled[:, active] = MEAN_RATING + ELO_PER_LOGIT * lanes
        inner = np.flatnonzero(active)[shared]
        bounds = _bounds(resampled[:, inner], n_queries, level)
        hidden = of_mean_free(surplus.of_ratings()[inner], strengths.component[shared])
        low[inner], high[inner] = widened(bounds, rating[inner], hidden, n_queries, level)
        component = np.full(n, -1)
        component[inner] = strengths.component[shared]
        _one_sided(low, high, rating, wins, component=component, queries=_queries_of(played, codes), level=level)
    return Ratings(
        agents=games.agents,
        rating=rating,
        low=low,
        high=high,
        resampled=resampled,
        unseen=surplus.of_differences(),
        strengths=strengths,
        wins=wins,
        met=_met(played, codes),
        n_games=len(played.a),
        n_queries=n_queries,
        level=level,
        seed=seed,
        notes=_notes(games.agents, wins, active, strengths, n_queries),
    )


def _parts(wins: FloatArray) -> list[IntArray]:
    """Agents that paths of games join, the largest part first; agents without a game are in none."""
    met = wins + wins.T > 0
    code = sparse.csgraph.connected_components(sparse.csr_array(met.astype(np.int8)), directed=False)[1]
    code = np.where(met.any(axis=1), code, -1)
    parts = [np.flatnonzero(code == number) for number in range(int(code.max(initial=-1)) + 1)]
    return sorted((part for part in parts if len(part)), key=lambda part: (-len(part), int(part[0])))


def _among(played: Games, part: IntArray) -> Games:
    """The games of these agents alone."""
    place = np.full(len(played.agents), -1)
    place[part] = np.arange(len(part))
    own = played.only(place[played.a] >= 0)
    agents = tuple(played.agents[code] for code in part)
    return replace(own, agents=agents, a=place[own.a], b=place[own.b])


def _side_by_side(played: Games, wins: FloatArray, parts: list[IntArray], each: list[Ratings]) -> Ratings:
    """The ratings of parts in one record; numbers across them are NaN."""
    n, count = len(played.agents), max(len(one.resampled) for one in each)
    rating, low, high = np.full(n, np.nan), np.full(n, np.nan), np.full(n, np.nan)
    resampled, unseen = np.full((count, n), np.nan), np.full((n, n), np.nan)
    theta, component, core = np.full(n, np.nan), np.full(n, -1), np.zeros(n, dtype=bool)
    for part, one in zip(parts, each, strict=True):
        rating[part], low[part], high[part] = one.rating, one.low, one.high
        resampled[: len(one.resampled), part] = one.resampled
        unseen[np.ix_(part, part)] = one.unseen
        theta[part], core[part] = one.strengths.theta, one.strengths.core
        component[part] = component.max() + 1 + one.strengths.component
    codes = np.unique(played.query, return_inverse=True)[1]
    active = component >= 0
    prior = max(one.strengths.prior for one in each)
    shown = "; ".join(f"{number}: {_some(one.agents)}" for number, one in enumerate(each, 1))
    idle = [name for name, plays in zip(played.agents, active, strict=True) if not plays]
    notes = [f"No scored game, so no rating: {', '.join(idle)}."] if idle else []
    notes.append(
        f"The games do not connect all agents: {len(each)} components ({shown}). Ratings (mean 1000), ranks, groups "
        "and Elo hold only within a component. To compare agents of two components, play games between them."
    )
    notes += [f"Component {number}: {note}" for number, one in enumerate(each, 1) for note in one.notes]
    return Ratings(
        agents=played.agents,
        rating=rating,
        low=low,
        high=high,
        resampled=resampled,
        unseen=unseen,
        strengths=Strengths(theta[active], prior, component[active], core[active]),
        wins=wins,
        met=_met(played, codes),
        n_games=len(played.a),
        n_queries=int(codes.max(initial=-1)) + 1,
        level=each[0].level,
        seed=each[0].seed,
        notes=tuple(notes),
        parts=tuple(each),
    )


def _some(names: Sequence[str]) -> str:
    more = f" and {len(names) - MOST_NAMED} more" if len(names) > MOST_NAMED else ""
    return ", ".join(names[:MOST_NAMED]) + more


def _resample(
    games: Games,
    codes: IntArray,
    active: BoolArray,
    strengths: Strengths,
    *,
    count: int,
    seed: int,
) -> FloatArray:
    """Strengths in samples of queries drawn with replacement, shape (count, n_active)."""
    n, n_queries = int(active.sum()), int(codes.max()) + 1
    place = np.cumsum(active) - 1
    a, b = place[games.a], place[games.b]
    rng = np.random.default_rng(seed)
    cells = np.concatenate([a * n + b, b * n + a])
    points = np.concatenate([games.score, 1.0 - games.score])
    by_query = sparse.csr_array((points, (np.tile(codes, 2), cells)), shape=(n_queries, n * n)).T.tocsr()
    lanes = np.empty((count, n))
    width = max(1, LANE_FLOATS // max(n_queries, 8 * n * n))
    for begin in range(0, count, width):
        size = min(width, count - begin)
        drawn = rng.integers(n_queries, size=(size, n_queries)) + n_queries * np.arange(size)[:, None]
        weight = np.bincount(drawn.ravel(), minlength=size * n_queries).reshape(size, n_queries)
        wins = (by_query @ weight.T.astype(np.float64)).T.reshape(size, n, n)
        lanes[begin : begin + size] = fit_batch(wins, strengths.theta, strengths.prior or PRIOR_GAMES)
    return _centred(lanes, strengths)


def _centred(lanes: FloatArray, strengths: Strengths) -> FloatArray:
    """Resampled strengths, moved so that each component keeps the mean that it has in the fit of all games."""
    member = np.equal.outer(strengths.component, strengths.component)
    to_mean = member / member.sum(axis=1)  # differences between components are the prior's, not the queries'
    centred: FloatArray = lanes + (strengths.theta - lanes) @ to_mean
    return centred


def _bounds(resampled: FloatArray, n_queries: int, level: float) -> FloatArray:
    """Expanded percentile bounds along axis 0: first the low ones, then the high ones."""
    tail = (1.0 - level) / 2.0
    z = math.sqrt(n_queries / (n_queries - 1.0)) * float(stats.t.isf(tail, n_queries - 1))
    tail = float(stats.norm.sf(z))
    return np.quantile(resampled, [tail, 1.0 - tail], axis=0)


def _met(games: Games, codes: IntArray) -> IntArray:
    """Queries on which each pair met, shape (n_agents, n_agents)."""
    n = len(games.agents)
    low, high = np.minimum(games.a, games.b), np.maximum(games.a, games.b)
    once = np.unique((codes * n + low) * n + high) % (n * n)
    counts = np.bincount(once, minlength=n * n).reshape(n, n)
    return counts + counts.T


def _least_of_a_sweep(queries: int, level: float) -> float:
    """Elo points that an agent is ahead at least that won all games on so many queries."""
    return ELO_PER_LOGIT * float(special.logit(((1.0 - level) / 2.0) ** (1.0 / queries)))


def _queries_of(games: Games, codes: IntArray) -> FloatArray:
    """Distinct queries that each agent has scored games of, shape (n_agents,)."""
    n = len(games.agents)
    pairs = np.unique(np.concatenate([codes * n + games.a, codes * n + games.b]))
    return np.bincount(pairs % n, minlength=n).astype(np.float64)


def _one_sided(
    low: FloatArray,
    high: FloatArray,
    rating: FloatArray,
    wins: FloatArray,
    *,
    component: IntArray,
    queries: FloatArray,
    level: float,
) -> None:
    """Bound agents that lost (won) every game from above (below), in place.

    The bound is the rating at which losing them all has probability (1 - level) / 2, a query counting once.
    It needs opponents of one component, whose ratings are known relative to each other (-1 is none).
    """
    limit = math.log((1.0 - level) / 2.0)
    for sign, points, bound in ((1.0, wins, high), (-1.0, wins.T, low)):
        for agent in np.flatnonzero((points.sum(axis=1) == 0) & (points.sum(axis=0) > 0)):
            rivals = np.flatnonzero(points[:, agent])
            if component[rivals].min() < 0 or np.ptp(component[rivals]):
                continue
            share = points[rivals, agent] * queries[agent] / points[rivals, agent].sum()
            strength = sign * (rating[rivals] - MEAN_RATING) / ELO_PER_LOGIT

            def excess(theta: float, share: FloatArray = share, strength: FloatArray = strength) -> float:
                return float(share @ special.log_expit(strength - theta)) - limit

            theta = brentq(excess, strength.min() - 60.0, strength.max() + 60.0)
            bound[agent] = MEAN_RATING + sign * ELO_PER_LOGIT * theta


def _notes(
    agents: tuple[str, ...],
    wins: FloatArray,
    active: BoolArray,
    strengths: Strengths,
    n_queries: int,
) -> tuple[str, ...]:
    notes: list[str] = []
    idle = [name for name, plays in zip(agents, active, strict=True) if not plays]
    if idle:
        notes.append(f"No scored game, so no rating: {', '.join(idle)}.")
    if strengths.prior:
        for word, points in (("lost", wins), ("won", wins.T)):
            for agent in np.flatnonzero((points.sum(axis=1) == 0) & active):
                count = points[:, agent].sum()
                side = "lower" if word == "lost" else "upper"
                notes.append(
                    f"{agents[agent]} {word} all its games ({count:g}): the data set no {side} bound, "
                    f"its rating rests on a weak prior ({strengths.prior:g} tied games an agent)."
                )
        groups = int(strengths.component.max()) + 1
        notes.append(
            f"The results do not connect all agents both ways ({groups} groups): differences between groups "
            "rest on the prior; their order agrees with the results where there are any."
        )
    if 1 < n_queries < FEW_QUERIES:
        notes.append(f"Only {plural(n_queries, 'query')}: the intervals are rough.")
    if n_queries == 1:
        notes.append("All games belong to one query: there are no intervals over queries.")
    return tuple(notes)
