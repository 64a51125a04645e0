"""From games to the leaderboard: ratings, their certainty and the win table, in one record."""

import math
from dataclasses import dataclass
from itertools import combinations

from judgec.errors import InputError, ServiceError
from judgec.records.game import Games
from judgec.stats.rating.elo import EloRatings, Order, elo
from judgec.stats.rating.pairwise import Standings, standings
from judgec.stats.rating.ratings import Ratings, bradley_terry
from judgec.stats.rating.win_table import WinTable, win_table


@dataclass(frozen=True, slots=True)
class Leaderboard:
    """Everything that a set of games says about its agents.

    Args:
        agents: Agent names, sorted; all arrays below follow them.
        ratings: Bradley-Terry, the headline.
        elo: Elo over shuffled tournaments, beside it.
        wins: Who beat whom how often.
        standings: Ranks with intervals, significance of pairs, groups.
        games: Scored games.
        unscored: Games without a verdict: counted, never a loss or a tie.
        notes: What the reader has to know, one sentence each.
    """

    agents: tuple[str, ...]
    ratings: Ratings
    elo: EloRatings
    wins: WinTable
    standings: Standings
    games: int
    unscored: int
    notes: tuple[str, ...]

    def to_json(self) -> dict[str, object]:
        """The report as JSON-ready data, agents best first; unknown numbers are null."""
        names = [self.agents[code] for code in self.standings.order]
        code = {name: position for position, name in enumerate(self.agents)}
        letters = self.standings.letters()
        return {
            "bradley_terry": {
                name: {
                    "rating": _number(self.ratings.rating[code[name]]),
                    "low": _number(self.ratings.low[code[name]]),
                    "high": _number(self.ratings.high[code[name]]),
                }
                for name in names
            },
            "elo": {
                name: {"rating": _number(self.elo.rating[code[name]]), "sd": _number(self.elo.sd[code[name]])}
                for name in names
            },
            "win_percent": {
                row: {
                    column: _number(self.wins.win_percent[code[row], code[column]]) for column in names if column != row
                }
                for row in names
            },
            "average_win_percent": {name: _number(self.wins.average[code[name]]) for name in names},
            "games": self.games,
            "unscored": self.unscored,
            "ranks": {
                name: {
                    "rank": int(self.standings.rank[code[name]]) or None,
                    "low": int(self.standings.rank_low[code[name]]) or None,
                    "high": int(self.standings.rank_high[code[name]]) or None,
                    "group": letters[code[name]],
                }
                for name in names
            },
            "pairs": [self._pair(first, second) for first, second in combinations(names, 2)],
            "notes": list(self.notes),
        }

    def _pair(self, first: str, second: str) -> dict[str, object]:
        i, j = self.agents.index(first), self.agents.index(second)
        return {
            "agents": [first, second],
            "difference": self.ratings.difference(first, second).to_json(),
            "p": _number(self.standings.p[i, j]),
            "p_holm": _number(self.standings.p_holm[i, j]),
            "games": int(self.wins.games[i, j]),
        }


def make_leaderboard(
    games: Games,
    *,
    source: str = "games",
    tournaments: int = 500,
    k: float = 32.0,
    initial: float | None = None,
    seed: int = 0,
    order: Order = "shuffled",
    ragelo_compat: bool = False,
    resamples: int = 1000,
    level: float = 0.95,
) -> Leaderboard:
    """Rate the agents of ``games``.

    Args:
        games: Played games; unscored ones are counted and left out of every rating.
        source: Where they come from, for messages.
        tournaments: Elo: number of shuffles.
        k: Elo: points at stake.
        initial: Elo: rating before the first game; default 500, or 1000 with ``ragelo_compat``.
        seed: Of the shuffles and of the resampled queries.
        order: Elo: ``shuffled``, or ``file`` for the order of the rows.
        ragelo_compat: Elo: truncate as RAGElo does.
        resamples: Bootstrap samples of queries behind the intervals.
        level: Coverage of the intervals.

    Raises:
        InputError: Fewer than two agents.
        ServiceError: No game has a verdict.
        UserError: ``tournaments`` or ``k`` out of range.
    """
    _require_games(games, source)
    ratings = bradley_terry(games, resamples=resamples, seed=seed, level=level)
    return Leaderboard(
        agents=games.agents,
        ratings=ratings,
        elo=elo(
            games,
            tournaments=tournaments,
            k=k,
            initial=initial,
            seed=seed,
            order=order,
            ragelo_compat=ragelo_compat,
        ),
        wins=win_table(games),
        standings=standings(games, ratings, 1.0 - level),
        games=int(games.scored.sum()),
        unscored=int((~games.scored).sum()),
        notes=_notes(games, ratings, ragelo_compat=ragelo_compat),
    )


def _require_games(games: Games, source: str) -> None:
    if len(games.agents) < 2:
        named = f"one agent only ({games.agents[0]})" if games.agents else "no games"
        raise InputError([f"{source}: {named}; a ranking needs games between at least two. Add games."])
    if not games.scored.any():
        raise ServiceError(
            f"{source}: all {len(games.a)} games are unscored; a rating needs games with a winner or a tie. "
            "Find out why the judge gave no verdict, and play them again."
        )


def _notes(games: Games, ratings: Ratings, *, ragelo_compat: bool) -> tuple[str, ...]:
    notes = list(ratings.notes)
    unscored = int((~games.scored).sum())
    if unscored:
        notes.insert(0, f"{unscored} of {len(games.a)} games are unscored and count for nobody.")
    if ragelo_compat:
        notes.append(
            "RAGElo's Elo truncates both ratings after every game: the mean falls and agents that play "
            "less are flattered. Use it only to reproduce published numbers."
        )
    return tuple(notes)


def _number(value: float) -> float | None:
    return None if math.isnan(value) else float(value)
