"""Chooses the games to play next: those that tell most about the order of the agents.

Choice: the batch that most reduces the variance of the rating differences, each weighted by its density at 0, so that
those count whose sign is unsure (a sequential A-optimal design on the Bradley-Terry information matrix).

Everything is a function of the games played, in their order: to resume, pass them.
"""

import numpy as np

from judgec.records.game import Games, Pairing
from judgec.records.label import FloatArray
from judgec.stats.rating.bradley_terry import fit_strengths, win_matrix, with_prior
from judgec.tournament.schedule import Fixtures, QueryUse

PLANNING_PRIOR = 1.0  # tied games an agent, so that a few early results do not fix where we look
OPENING = 2  # times the number of agents: games before anything is estimated
AT_ONCE = 64  # agents for each game that is chosen before the others' gains are computed anew
CANDIDATES = 8  # best pairs that are looked at for each game of those


def propose(fixtures: Fixtures, played: Games, *, batch: int | None = None, seed: int = 0) -> tuple[Pairing, ...]:
    """The next batch of games, given all that were played; empty when none is left.

    Args:
        fixtures: Every game of the tournament, played or not.
        played: Games so far in the order they were played; unscored ones are not played again.
        batch: Games to propose; default two an agent. Small batches adapt faster, large ones run in parallel.
        seed: Decides among equals, together with the number of games played.
    """
    n = len(fixtures.agents)
    size = batch or 2 * n
    left = fixtures.without(played)
    games = _on(fixtures, played)
    if len(games.a) < OPENING * n:
        return left.balanced(min(size, OPENING * n - len(games.a)), seed)
    return _choose(left, games, size, np.random.default_rng([seed, len(played.a)]))


def _on(fixtures: Fixtures, played: Games) -> Games:
    """The games with the codes of ``fixtures``; games of other agents or queries are left out."""
    agent = {name: position for position, name in enumerate(fixtures.agents)}
    query = {name: position for position, name in enumerate(fixtures.queries)}
    codes = np.array([agent.get(name, -1) for name in played.agents], dtype=np.int64)
    rows = np.array([query.get(name, -1) for name in played.queries], dtype=np.int64)
    a, b, q = codes[played.a], codes[played.b], rows[played.query]
    return Games(fixtures.agents, fixtures.queries, a, b, q, played.score).only((a >= 0) & (b >= 0) & (q >= 0))


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


def _choose(left: Fixtures, games: Games, size: int, rng: np.random.Generator) -> tuple[Pairing, ...]:
    """Greedily the games that most reduce the weighted variance of the differences."""
    n = len(left.agents)
    wins = with_prior(win_matrix(games.only(games.scored)), PLANNING_PRIOR)
    theta = fit_strengths(wins).theta
    covariance = _covariance(wins, theta)
    gap = theta[:, None] - theta[None, :]
    p = 1.0 / (1.0 + np.exp(-gap))
    information = p * (1.0 - p)
    variance = np.maximum(_of_differences(covariance), 1e-12)
    weight = np.exp(-0.5 * gap**2 / variance) / np.sqrt(variance)
    np.fill_diagonal(weight, 0.0)
    laplacian = np.diag(weight.sum(axis=1)) - weight
    spread = covariance @ laplacian @ covariance
    by_agent = np.bincount(games.query * n + games.a, minlength=len(left.queries) * n)
    by_agent += np.bincount(games.query * n + games.b, minlength=len(left.queries) * n)
    use, order = QueryUse.of(left, by_agent.reshape(-1, n)), rng.permutation(len(left.queries))
    is_open = left.open.copy()
    remaining = is_open.sum(axis=0)
    chosen: list[Pairing] = []
    together = max(1, n // AT_ONCE)
    while len(chosen) < size and remaining.any():
        gain = information * _of_differences(spread)
        gain /= 1.0 + information * _of_differences(covariance)
        picked = _best(np.where(remaining > 0, gain, -1.0), min(together, size - len(chosen)))
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


def _best(gain: FloatArray, count: int) -> list[tuple[int, int]]:
    """The pairs that gain most, at most one game an agent, so that one hardly changes what another would tell.

    Args:
        gain: Of each pair; below 0 where there is no game.
        count: How many pairs.
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
            busy |= {*pair}
        if len(picked) == count:
            break
    return picked
