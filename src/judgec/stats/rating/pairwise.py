"""Tests which agents differ: p-values of all pairs with Holm's correction, ranks with intervals, groups.

Ranks: the agents that are significantly better, plus one, is the best rank an agent can have; simultaneous
because Holm's correction bounds the chance of any false difference.
Source: Mogstad, Romano, Shaikh & Wilhelm (2024), Review of Economic Studies 91 (ranks from simultaneous
pairwise tests).
"""

from dataclasses import dataclass, replace

import numpy as np
from scipy import special, stats

from judgec.records.game import Games
from judgec.records.label import FloatArray, IntArray
from judgec.stats.intervals.significance import holm
from judgec.stats.rating.bradley_terry import fit_strengths
from judgec.stats.rating.ratings import Ratings

ALPHABET = 26
SMALL_PRIOR = 1e-3  # tied games an agent; moves a log-likelihood by less than that


@dataclass(frozen=True, slots=True)
class Standings:
    """The order of the agents and how sure it is.

    Args:
        agents: Agent names, sorted.
        order: Agent codes, best first; agents without a rating last.
        rank: 1 is best, equal ratings share a rank, shape (n_agents,); 0 without a rating.
        rank_low: Best rank that the games allow, shape (n_agents,); 0 without a rating.
        rank_high: Worst rank, likewise.
        p: Two-sided p-value of each pair, shape (n_agents, n_agents); NaN on the diagonal and where unknown.
        p_holm: The same after Holm's correction over all pairs.
            Across agents that no path of games joins all are unknown, and ranks are among those of one component.
        groups: Runs of neighbours in ``order`` among which no pair differs, best run first; an agent may be
            in several, and every rated agent is in at least one.
        alpha: Significance level, for any false difference at all.
    """

    agents: tuple[str, ...]
    order: IntArray
    rank: IntArray
    rank_low: IntArray
    rank_high: IntArray
    p: FloatArray
    p_holm: FloatArray
    groups: tuple[tuple[int, ...], ...]
    alpha: float

    def spans(self) -> tuple[range, ...]:
        """The groups of each agent, in the order of ``agents``; they follow each other, as groups are runs."""
        found = [range(0)] * len(self.agents)
        for number, group in enumerate(self.groups):
            for agent in group:
                found[agent] = range(found[agent].start if found[agent] else number, number + 1)
        return tuple(found)

    def letters(self) -> tuple[str, ...]:
        """Groups as letters (a is the best group), one text an agent in the order of ``agents``.

        Of more than 26 groups only the first and the last of an agent are written: ``c-ab``.
        """
        if len(self.groups) <= ALPHABET:
            return tuple("".join(map(_letter, span)) for span in self.spans())
        return tuple("-".join(map(_letter, sorted({span[0], span[-1]}))) if span else "" for span in self.spans())


def standings(games: Games, ratings: Ratings, alpha: float = 0.05) -> Standings:
    """Order, rank intervals and "not separable" groups of rated agents.

    Two agents connected both ways by results are compared by a t-test of the rating difference with its
    standard error over resampled queries, few decisive ones as in ``Ratings.unseen``. Others (an agent that lost
    everything, say) have no finite difference: there p is twice the likelihood ratio of "equally strong", each query
    counting once; for an agent that lost m games of m queries to equals this is the sign test.
    """
    n = len(games.agents)
    rated = ~np.isnan(ratings.rating)
    part = ratings.component
    p = np.full((n, n), np.nan)
    for one in ratings.parts or (ratings,):
        own = np.array([games.agents.index(name) for name in one.agents])
        p[np.ix_(own, own)] = _p_values(_only(games, one.agents), one, ~np.isnan(one.rating))
    upper = np.triu_indices(n, 1)
    p_holm = np.full((n, n), np.nan)
    p_holm[upper] = holm(p[upper])
    p_holm = np.fmin(p_holm, p_holm.T)
    differs = p_holm < alpha  # NaN is not a difference
    together = part[:, None] == part[None, :]
    better = together & (ratings.rating[:, None] > ratings.rating[None, :])
    count = (together & rated[None, :]).sum(axis=1)
    rank = np.where(rated, 1 + (better & rated[:, None]).sum(axis=0), 0)
    order = np.lexsort((np.arange(n), -np.where(rated, ratings.rating, -np.inf), np.where(rated, part, n + 1)))
    runs = [order[part[order] == number] for number in range(1, int(part.max(initial=0)) + 1)]
    return Standings(
        agents=games.agents,
        order=order,
        rank=rank,
        rank_low=np.where(rated, 1 + (differs & better).sum(axis=0), 0),
        rank_high=np.where(rated, count - (differs & better).sum(axis=1), 0),
        p=p,
        p_holm=p_holm,
        groups=tuple(group for run in runs for group in _groups(run, differs)),
        alpha=alpha,
    )


def _only(games: Games, agents: tuple[str, ...]) -> Games:
    """The games of these agents, whose codes are their places here."""
    if agents == games.agents:
        return games
    code = np.array([agents.index(name) if name in agents else -1 for name in games.agents])
    own = games.only(code[games.a] >= 0)
    own = own.only(code[own.b] >= 0)
    return replace(own, agents=agents, a=code[own.a], b=code[own.b])


def _p_values(games: Games, ratings: Ratings, rated: np.ndarray[tuple[int], np.dtype[np.bool_]]) -> FloatArray:
    n = len(games.agents)
    p = np.full((n, n), np.nan)
    place = np.flatnonzero(rated)
    if ratings.n_queries >= 2 and len(ratings.resampled) > 1:
        covariance = np.cov(ratings.resampled[:, place], rowvar=False).reshape(len(place), len(place))
        variance = np.diag(covariance)[:, None] + np.diag(covariance)[None, :] - 2.0 * covariance
        variance += ratings.unseen[np.ix_(place, place)]
        gap = ratings.rating[place, None] - ratings.rating[None, place]
        # Exactly equal agents have gap 0 in every resample; 0/0 is then p = 1.
        t = np.abs(gap) / np.sqrt(np.maximum(variance, 1e-18))
        p[np.ix_(place, place)] = 2.0 * stats.t.sf(t, ratings.n_queries - 1)
    component = ratings.strengths.component
    for i, j in np.argwhere(np.triu(component[:, None] != component[None, :], 1)).tolist():
        one, other = int(place[i]), int(place[j])
        p[one, other] = p[other, one] = _p_open_ended(games, ratings.wins, place, i, j)
    np.fill_diagonal(p, np.nan)
    return p


def _p_open_ended(games: Games, wins: FloatArray, place: IntArray, i: int, j: int) -> float:
    """Twice the likelihood ratio of "i and j are equally strong" to the best fit, queries counting once."""
    wins = wins[np.ix_(place, place)]
    merge = np.eye(len(place))
    merge[j] = merge[i]
    keep = np.arange(len(place)) != j
    merged = (merge.T @ wins @ merge)[np.ix_(keep, keep)]
    between = float(merged[i - (j < i), i - (j < i)])
    np.fill_diagonal(merged, 0.0)
    equal = _log_likelihood(merged) - between * float(np.log(2.0))
    once = _queries_per_game(games, place[i], place[j])
    return float(min(1.0, 2.0 * np.exp(once * (equal - _log_likelihood(wins)))))


def _queries_per_game(games: Games, *agents: int) -> float:
    """Queries over games of the agent that played less: it is the one whose games bear on the difference."""
    own = [games.only(games.scored & ((games.a == agent) | (games.b == agent))) for agent in agents]
    return min((len(played.a), len(np.unique(played.query)) / len(played.a)) for played in own)[1]


def _log_likelihood(wins: FloatArray) -> float:
    """Log-likelihood of the best fit, as good as unpenalized."""
    active = (wins + wins.T).any(axis=1)
    if not active.any():
        return 0.0
    wins = wins[np.ix_(active, active)]
    theta = fit_strengths(wins, prior=SMALL_PRIOR).theta
    return float((wins * special.log_expit(theta[:, None] - theta[None, :])).sum())


def _groups(order: IntArray, differs: np.ndarray[tuple[int, int], np.dtype[np.bool_]]) -> tuple[tuple[int, ...], ...]:
    """Maximal runs of neighbours without a significant difference inside."""
    runs: list[tuple[int, ...]] = []
    reached = end = 0
    for begin in range(len(order)):
        end = max(end, begin + 1)  # without the agent before, the run holds still
        while end < len(order) and not differs[order[end], order[begin:end]].any():
            end += 1
        if end > reached:
            runs.append(tuple(int(agent) for agent in order[begin:end]))
            reached = end
    return tuple(runs)


def _letter(group: int) -> str:
    """Letters a to z, then aa, ab, ..."""
    return (_letter(group // ALPHABET - 1) if group >= ALPHABET else "") + chr(ord("a") + group % ALPHABET)
