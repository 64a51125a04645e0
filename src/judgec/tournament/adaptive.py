"""Chooses the games to play next: those that tell most about the order of the agents, or about who leads.

Choice: the batch that most reduces the variance of the rating differences whose sign is unsure, each
difference weighted by its density at 0 (a sequential A-optimal design on the Bradley-Terry information
matrix); for the leader only its games with rivals that are unsure, while there are any.

Stop, ``until`` the order is settled: each two neighbours in the order are *separated* (an anytime-valid test of their
order succeeded) or *close* (the anytime-valid interval of their difference lies within ``resolution``). Half of the
error goes to confidence sequences for the differences: the asymptotic normal mixture on the larger of the model's and
the query-clustered standard error. Half goes to e-processes on the pair's own games, one value a query, valid for any
number of games, which also settle agents that win or lose everything. Both are shared among all pairs (Bonferroni),
so that the chance that any statement ever made is false is at most 1 - level, asymptotically for the former.

Stop, ``until`` the leader is known: of every rival it is known that it is worse than the leader (*separated*) or at
most ``resolution`` better (*close*). A false leader is one that the best agent beats by more than that, and then the
false statement is about that one agent and whoever leads: the error is shared among n - 1 one-sided statements,
not among n (n - 1), with the same two kinds of evidence. Sources are in ``stats/rating/confidence_sequence.py``.

Everything is a function of the games played, in their order: to resume, pass them.
"""

from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from itertools import pairwise
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from judgec.records.game import Games, Pairing
from judgec.records.label import FloatArray, IntArray
from judgec.stats.rating.bradley_terry import ELO_PER_LOGIT, fit_strengths, win_matrix, with_prior
from judgec.stats.rating.confidence_sequence import anytime_radius, order_e_value
from judgec.tournament.schedule import Fixtures, QueryUse

PLANNING_PRIOR = 1.0  # tied games an agent, so that a few early results do not fix where we look
OPENING = 2  # times the number of agents: games before anything is estimated
AT_ONCE = 64  # agents for each game that is chosen before the others' gains are computed anew
CANDIDATES = 8  # best pairs that are looked at for each game of those
TIGHTEST_SE = 20.0 / ELO_PER_LOGIT  # where the confidence sequences are tightest

Settled = Literal["separated", "close", "unsure"]
Until = Literal["leader", "order"]


@dataclass(frozen=True, slots=True)
class Neighbours:
    """Two agents next to each other in the current order; until the leader is known, the leader and a rival.

    Args:
        better: The one with the higher rating.
        worse: The other one.
        difference: Their rating difference in Elo points; 0 or more.
        low: Lower end of its anytime-valid interval; minus infinity when there is none yet.
        high: Upper end, likewise; infinity for a rival of the leader, of which only ``low`` is asked.
        settled: ``separated``, ``close`` or ``unsure``.
    """

    better: str
    worse: str
    difference: float
    low: float
    high: float
    settled: Settled


@dataclass(frozen=True, slots=True)
class Proposal:
    """Games to play next, and the reason.

    Args:
        pairings: The next games; empty when the tournament is over.
        neighbours: The order so far, best pair first (the leader and each rival, best rival first); empty during the
            opening.
        reason: ``opening``, ``unsure``, or why nothing follows: ``settled`` or ``exhausted``.
        until: What the tournament is played for.
    """

    pairings: tuple[Pairing, ...]
    neighbours: tuple[Neighbours, ...]
    reason: Literal["opening", "unsure", "settled", "exhausted"]
    until: Until = "order"


def propose(
    fixtures: Fixtures,
    played: Games,
    *,
    until: Until = "order",
    resolution: float = 20.0,
    level: float = 0.95,
    batch: int | None = None,
    seed: int = 0,
) -> Proposal:
    """The next batch of games, given all that were played.

    Args:
        fixtures: Every game of the tournament, played or not.
        played: Games so far in the order they were played; unscored ones are not played again.
        until: ``order`` of all neighbours, or the ``leader`` only.
        resolution: Elo points; neighbours known to be closer than this need no order, and a leader may be so much worse
            than the best.
        level: Chance that no statement is ever wrong.
        batch: Games to propose; default two an agent. Small batches adapt faster, large ones run in parallel.
        seed: Decides among equals, together with the number of games played.
    """
    n = len(fixtures.agents)
    size = batch or 2 * n
    left = fixtures.without(played)
    games = _on(fixtures, played)
    if len(games.a) < OPENING * n:
        opening = left.balanced(min(size, OPENING * n - len(games.a)), seed)
        return Proposal(opening, (), "opening" if opening else "exhausted", until)
    state = (_led if until == "leader" else _ordered)(_fitted(games), resolution, (1.0 - level) / 2.0)
    neighbours = tuple(_neighbours(fixtures, state, pair) for pair in state.pairs)
    if all(pair.settled != "unsure" for pair in neighbours):
        return Proposal((), neighbours, "settled", until)
    if not left.open.any():
        return Proposal((), neighbours, "exhausted", until)
    rng, unsure = np.random.default_rng([seed, len(played.a)]), state.settled == 0
    if until == "leader" and (left.open & unsure).any():  # games of the leader and an unsure rival while there are any
        left = Fixtures(left.agents, left.queries, left.open & unsure)
    return Proposal(_choose(left, games, unsure, size, rng), neighbours, "unsure", until)


def _on(fixtures: Fixtures, played: Games) -> Games:
    """The games with the codes of ``fixtures``; games of other agents or queries are left out."""
    agent = {name: position for position, name in enumerate(fixtures.agents)}
    query = {name: position for position, name in enumerate(fixtures.queries)}
    codes = np.array([agent.get(name, -1) for name in played.agents], dtype=np.int64)
    rows = np.array([query.get(name, -1) for name in played.queries], dtype=np.int64)
    a, b, q = codes[played.a], codes[played.b], rows[played.query]
    return Games(fixtures.agents, fixtures.queries, a, b, q, played.score).only((a >= 0) & (b >= 0) & (q >= 0))


@dataclass(frozen=True, slots=True)
class _Fit:
    """The scored games, the strengths that they give (logits) and the standard errors of all differences.

    ``by_pair`` has the places of the games in order of their pair, and ``pairs`` these pairs, to find a pair's games.
    """

    games: Games
    by_pair: IntArray
    pairs: IntArray
    theta: FloatArray
    errors: FloatArray


@dataclass(frozen=True, slots=True)
class _State:
    """State of the tournament: pairs (1 separated, 2 close, 0 unsure), ends of the differences, agents that matter."""

    theta: FloatArray
    settled: IntArray
    low: FloatArray
    high: FloatArray
    pairs: tuple[tuple[int, int], ...]


def _fitted(games: Games) -> _Fit:
    n = len(games.agents)
    scored = games.only(games.scored)
    wins = win_matrix(scored)
    # An agent without a scored game yet (its judgments failed) is placed in the middle, unsure.
    idle = (wins + wins.T).sum(axis=1).min() == 0
    strengths = fit_strengths(with_prior(wins, PLANNING_PRIOR) if idle else wins)
    known = strengths.prior == 0.0 and not idle
    errors = _standard_errors(scored, wins, strengths.theta) if known else np.full((n, n), np.inf)
    pairs = np.minimum(scored.a, scored.b) * n + np.maximum(scored.a, scored.b)
    by_pair = np.argsort(pairs, kind="stable")
    return _Fit(scored, by_pair, pairs[by_pair], strengths.theta, errors)


def _ordered(fit: _Fit, resolution: float, alpha: float) -> _State:
    """Every two neighbours; ``alpha`` is the error of either kind of evidence, for all ordered pairs together."""
    theta, n = fit.theta, len(fit.theta)
    alpha /= n * (n - 1)
    gap = theta[:, None] - theta[None, :]
    radius = anytime_radius(fit.errors, 2.0 * alpha, TIGHTEST_SE)
    settled = np.zeros((n, n), dtype=np.int64)
    settled[np.abs(gap) + radius <= resolution / ELO_PER_LOGIT] = 2
    settled[np.abs(gap) > radius] = 1
    pairs = tuple(pairwise(np.argsort(-theta, kind="stable").tolist()))
    for i, j in pairs:
        if order_e_value(_direct(fit, i, j)) >= 1.0 / alpha:
            settled[i, j] = settled[j, i] = 1
    return _State(theta, settled, gap - radius, gap + radius, pairs)


def _led(fit: _Fit, resolution: float, alpha: float) -> _State:
    """The leader and each rival; ``alpha`` is the error of either kind of evidence, for all of them together."""
    theta, n = fit.theta, len(fit.theta)
    alpha /= n - 1
    gap = theta[:, None] - theta[None, :]
    low = gap - anytime_radius(fit.errors, 2.0 * alpha, TIGHTEST_SE)
    leader, *rivals = np.argsort(-theta, kind="stable").tolist()
    settled = np.ones((n, n), dtype=np.int64)  # pairs of rivals do not matter
    for rival in rivals:
        ahead = low[leader, rival] > 0.0 or order_e_value(_direct(fit, leader, rival)) >= 1.0 / alpha
        found = 1 if ahead else 2 if low[leader, rival] >= -resolution / ELO_PER_LOGIT else 0
        settled[leader, rival] = settled[rival, leader] = found
    pairs = tuple((leader, rival) for rival in rivals)
    return _State(theta, settled, low, np.full((n, n), np.inf), pairs)


def _standard_errors(games: Games, wins: FloatArray, theta: FloatArray) -> FloatArray:
    """Of all differences, the larger of the model's and the query-clustered: shape (n_agents, n_agents)."""
    n = len(theta)
    covariance = _covariance(wins, theta)
    surprise = games.score - 1.0 / (1.0 + np.exp(theta[games.b] - theta[games.a]))
    codes = np.unique(games.query, return_inverse=True)[1]
    n_queries = int(codes.max()) + 1
    sums = np.zeros((n_queries, n))
    np.add.at(sums, (codes, games.a), surprise)
    np.subtract.at(sums, (codes, games.b), surprise)
    sums = sums @ covariance
    clustered = sums.T @ sums * (n_queries / max(n_queries - 1, 1))
    variance = np.maximum(_of_differences(covariance), _of_differences(clustered))
    return np.sqrt(np.maximum(variance, 0.0)) if n_queries > 1 else np.full((n, n), np.inf)


def _covariance(wins: FloatArray, theta: FloatArray) -> FloatArray:
    """Inverse of the Bradley-Terry information on the strengths that sum to 0."""
    n = len(theta)
    p = 1.0 / (1.0 + np.exp(theta[None, :] - theta[:, None]))
    information = -(wins + wins.T) * p * (1.0 - p)
    np.fill_diagonal(information, 0.0)
    np.fill_diagonal(information, -information.sum(axis=1))
    covariance: FloatArray = np.linalg.inv(information + 1.0 / n).astype(np.float64) - 1.0 / n
    return covariance


def _of_differences(covariance: FloatArray) -> FloatArray:
    diagonal = np.diag(covariance)
    return diagonal[:, None] + diagonal[None, :] - 2.0 * covariance


def _direct(fit: _Fit, i: int, j: int) -> FloatArray:
    """Mean points of ``i`` against ``j``, one a query, in the order of play."""
    pair = min(i, j) * len(fit.theta) + max(i, j)
    met = fit.by_pair[np.searchsorted(fit.pairs, pair) : np.searchsorted(fit.pairs, pair, side="right")]
    score = fit.games.score[met]
    points = np.where(fit.games.a[met] == i, score, 1.0 - score)
    codes, first, index, count = np.unique(
        fit.games.query[met], return_index=True, return_inverse=True, return_counts=True
    )
    means = np.bincount(index, points, len(codes)) / count
    ordered: FloatArray = means[np.argsort(first)]
    return ordered


def _neighbours(fixtures: Fixtures, state: _State, pair: tuple[int, int]) -> Neighbours:
    names: tuple[Settled, ...] = ("unsure", "separated", "close")
    better, worse = (fixtures.agents[code] for code in pair)
    gap = float(state.theta[pair[0]] - state.theta[pair[1]])
    gap, low, high = (ELO_PER_LOGIT * value for value in (gap, float(state.low[pair]), float(state.high[pair])))
    return Neighbours(better, worse, gap, low, high, names[int(state.settled[pair])])


def _choose(
    left: Fixtures, games: Games, unsure: NDArray[np.bool_], size: int, rng: np.random.Generator
) -> tuple[Pairing, ...]:
    """Greedily the games that most reduce the weighted variance of the unsure differences."""
    n = len(left.agents)
    scored = games.only(games.scored)
    wins = with_prior(win_matrix(scored), PLANNING_PRIOR)
    theta = fit_strengths(wins).theta
    covariance = _covariance(wins, theta)
    gap = theta[:, None] - theta[None, :]
    p = 1.0 / (1.0 + np.exp(-gap))
    information = p * (1.0 - p)
    variance = np.maximum(_of_differences(covariance), 1e-12)
    weight = np.where(unsure, np.exp(-0.5 * gap**2 / variance) / np.sqrt(variance), 0.0)
    np.fill_diagonal(weight, 0.0)
    laplacian = np.diag(weight.sum(axis=1)) - weight
    spread = covariance @ laplacian @ covariance
    by_agent = np.bincount(games.query * n + games.a, minlength=len(left.queries) * n)
    by_agent += np.bincount(games.query * n + games.b, minlength=len(left.queries) * n)
    use, order = QueryUse.of(left, by_agent.reshape(-1, n)), rng.permutation(len(left.queries))
    is_open = left.open.copy()
    remaining = is_open.sum(axis=0)
    chosen: list[Pairing] = []
    together, met = max(1, n // AT_ONCE), remaining > 0
    # A leader that is asked about is in all games.
    in_all = set(np.flatnonzero(met.sum(axis=0) + met.sum(axis=1) == met.sum()).tolist())
    while len(chosen) < size and remaining.any():
        gain = information * _of_differences(spread)
        gain /= 1.0 + information * _of_differences(covariance)
        picked = _best(np.where(remaining > 0, gain, -1.0), min(together, size - len(chosen)), in_all)
        for i, j in picked:
            q = use.take(is_open, i, j, order)
            remaining[i, j] -= 1
            chosen.append(left.pairing(q, i, j, swap=bool(rng.integers(2))))
        first, second = np.array(picked).T
        # Few games change both matrices by few columns: n squared steps, where multiplying anew takes n cubed.
        columns = covariance[:, first] - covariance[:, second]
        inner = np.diag(1.0 / information[first, second]) + columns[first] - columns[second]
        shares = np.linalg.solve(inner, columns.T)
        weighted = laplacian @ columns
        other = covariance @ weighted - 0.5 * shares.T @ (columns.T @ weighted)
        both = other @ shares
        spread -= both + both.T
        covariance -= columns @ shares
    return tuple(chosen)


def _best(gain: FloatArray, count: int, in_all: AbstractSet[int]) -> list[tuple[int, int]]:
    """The pairs that gain most, at most one game an agent, so that one hardly changes what another would tell.

    Args:
        gain: Of each pair; below 0 where there is no game.
        count: How many pairs.
        in_all: Agents that are in all games there are, and so may have several.
    """
    n = len(gain)
    if count == 1:
        i, j = np.unravel_index(gain.argmax(), (n, n))
        return [(int(i), int(j))]
    flat = gain.ravel()
    candidates = np.flatnonzero(flat >= 0.0)
    if len(candidates) > CANDIDATES * count:
        candidates = candidates[np.argpartition(flat[candidates], -CANDIDATES * count)[-CANDIDATES * count :]]
    candidates = candidates[np.lexsort((candidates, -flat[candidates]))]
    picked: list[tuple[int, int]] = []
    busy: set[int] = set()
    for code in candidates.tolist():
        pair = divmod(code, n)
        if busy.isdisjoint(pair):
            picked.append(pair)
            busy |= {*pair} - in_all
        if len(picked) == count:
            break
    return picked
