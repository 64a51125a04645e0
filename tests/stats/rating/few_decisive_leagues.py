"""How often the interval of a rating difference holds the truth when few games are decisive.

Every query is a cluster: the weak agent loses to all others there, or (a share of the decisive queries) wins against
all, else everybody ties, in one query of ten by winning one order and losing the other. Both orders are played. A gate
that opens although the truth is at its margin has an interval above it.
"""

from itertools import combinations

import numpy as np

from judgec.records.game import Games
from judgec.stats.rating.bradley_terry import ELO_PER_LOGIT, fit_strengths
from judgec.stats.rating.ratings import bradley_terry

LOST = (1.0, 0.75, 0.5)  # share of them that the weak agent loses
FLIPS = 0.1


def league(rng: np.random.Generator, queries: int, agents: int, decisive: float, lost: float) -> Games:
    """One league; agent 0 is the weak one."""
    pairs = [pair for a, b in combinations(range(agents), 2) for pair in ((a, b), (b, a))]
    first, second = np.array(pairs).T
    result = np.where(rng.random(queries) < decisive / queries, np.where(rng.random(queries) < lost, 0.0, 1.0), 0.5)
    score = np.full((queries, len(pairs)), 0.5)
    score[:, first == 0] = result[:, None]
    score[:, second == 0] = 1.0 - result[:, None]
    score[(result == 0.5) & (rng.random(queries) < FLIPS)] = 1.0  # whoever stands first wins: both orders cancel
    n = queries * len(pairs)
    return Games(
        agents=tuple(f"agent{i}" for i in range(agents)),
        queries=tuple(f"q{i}" for i in range(queries)),
        a=np.tile(first, queries),
        b=np.tile(second, queries),
        query=np.repeat(np.arange(queries), len(pairs)),
        score=score.reshape(n),
    )


def truth(queries: int, agents: int, decisive: float, lost: float) -> float:
    """Agent 0 less agent 1 in infinitely many such queries, in Elo points."""
    wins = np.full((agents, agents), 0.5)
    wins[0, 1:] = 0.5 - decisive / queries * (lost - 0.5)
    wins[1:, 0] = 1.0 - wins[0, 1:]
    np.fill_diagonal(wins, 0.0)
    theta = fit_strengths(wins).theta
    return ELO_PER_LOGIT * float(theta[0] - theta[1])


def missed(
    leagues: int, *, queries: int, agents: int, decisive: float, lost: float, seed: int = 0
) -> tuple[float, float, float]:
    """Share of 95 % intervals that lie above the truth, and below it; their mean width."""
    rng, true = np.random.default_rng(seed), truth(queries, agents, decisive, lost)
    bounds = np.empty((leagues, 2))
    for run in range(leagues):
        games = league(rng, queries, agents, decisive, lost)
        found = bradley_terry(games, resamples=400, seed=run).difference("agent0", "agent1")
        bounds[run] = [-np.inf if found.low is None else found.low, np.inf if found.high is None else found.high]
    too_high, too_low = (bounds[:, 0] > true + 1e-9).mean(), (bounds[:, 1] < true - 1e-9).mean()
    return float(too_high), float(too_low), float(np.subtract(bounds[:, 1], bounds[:, 0]).mean())
