"""Win percentages of every agent over every other one."""

from dataclasses import dataclass

import numpy as np

from judgec.records.game import Games
from judgec.records.label import FloatArray, IntArray


@dataclass(frozen=True, slots=True)
class WinTable:
    """Counts of who beat whom; the rest of a cell and its mirror are ties.

    Args:
        agents: Agent names, sorted.
        win_percent: Scored games of the pair that the row won, in percent, shape (n_agents, n_agents); NaN on
            the diagonal and for pairs that never met.
        average: Mean of a row over the opponents it met, each opponent weighing the same; NaN without any.
        games: Scored games of each pair, shape (n_agents, n_agents), symmetric.
        unscored: Games without a verdict of each pair, same shape.
    """

    agents: tuple[str, ...]
    win_percent: FloatArray
    average: FloatArray
    games: IntArray
    unscored: IntArray


def win_table(games: Games) -> WinTable:
    """Win percentages; an unscored game is neither a win, a loss nor a tie."""
    n = len(games.agents)
    scored = games.scored
    wins = _count(games, scored & (games.score == 1.0), n) + _count(games, scored & (games.score == 0.0), n).T
    played = _both_ways(_count(games, scored, n))
    met = played > 0
    percent = np.divide(100.0 * wins, played, out=np.full((n, n), np.nan), where=met)
    opponents = met.sum(axis=1)
    average = np.divide(np.where(met, percent, 0.0).sum(axis=1), opponents, out=np.full(n, np.nan), where=opponents > 0)
    return WinTable(games.agents, percent, average, played, _both_ways(_count(games, ~scored, n)))


def _count(games: Games, mask: np.ndarray[tuple[int], np.dtype[np.bool_]], n: int) -> IntArray:
    """Games of (a, b) under ``mask``, shape (n, n)."""
    return np.bincount(games.a[mask] * n + games.b[mask], minlength=n * n).reshape(n, n)


def _both_ways(counts: IntArray) -> IntArray:
    return counts + counts.T
