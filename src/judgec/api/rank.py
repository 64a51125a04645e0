"""``judgec.rank``: ratings from games that were already played."""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property

import pandas as pd

from judgec.api.frames import Source, as_table, is_path
from judgec.stats.rating.elo import Order
from judgec.store.games import games_of, read_games
from judgec.tournament.leaderboard import Leaderboard, make_leaderboard


@dataclass(frozen=True)
class Ranking:
    """Agents ranked by their games.

    Args:
        board: Every number, with intervals and pairs.
    """

    board: Leaderboard

    @cached_property
    def ratings(self) -> pd.DataFrame:
        """Agents, best first: rating with low and high, Elo with its sd, average win percentage, rank, group."""
        said = self.board.to_json()
        rows = {name: {"agent": name} for name in self.agents}
        tables = {"bradley_terry": ("rating", "low", "high"), "elo": ("rating", "sd"), "ranks": ("rank", "group")}
        for table, names in tables.items():
            found = said[table]
            assert isinstance(found, dict)  # as Leaderboard.to_json says
            for agent, row in rows.items():
                row |= {("elo" if (table, name) == ("elo", "rating") else name): found[agent][name] for name in names}
        wins = said["average_win_percent"]
        assert isinstance(wins, dict)
        frame = pd.DataFrame([{**row, "win_percent": wins[agent]} for agent, row in rows.items()])
        return frame.set_index("agent")

    @property
    def agents(self) -> tuple[str, ...]:
        """Their names, best first."""
        return tuple(self.board.agents[code] for code in self.board.standings.order)

    def __repr__(self) -> str:
        return f"<Ranking of {len(self.agents)} agents from {self.board.games} games: {' > '.join(self.agents)}>"

    def _repr_html_(self) -> str:
        return str(self.ratings.to_html(float_format="{:.0f}".format))


def rank(
    games: Source,
    *,
    columns: Mapping[str, str] | None = None,
    k: float = 32.0,
    initial: float | None = None,
    tournaments: int = 500,
    order: Order = "shuffled",
    ragelo_compat: bool = False,
    seed: int = 0,
) -> Ranking:
    """Rank agents from games: Bradley-Terry with intervals over queries, Elo, and who beat whom.

    Args:
        games: A path, a DataFrame or a list of dicts: query_id, agent_a, agent_b, winner (a, b, tie, or missing).
        columns: judgec's names by yours.
        k: Elo: points at stake in a game.
        initial: Elo: rating before the first game; 500, or 1000 with ``ragelo_compat``.
        tournaments: Elo: shuffles to average.
        order: Elo: ``shuffled``, or ``file``.
        ragelo_compat: Elo: start at 1000 and truncate after every game, as RAGElo does.
        seed: Of the shuffles and resamples.

    Raises:
        InputError: Faulty games, each with its row.

    Example:
        >>> games = [
        ...     {"query_id": str(q), "agent_a": "new", "agent_b": "old", "winner": "ab"[q % 4 == 0]} for q in range(40)
        ... ]
        >>> judgec.rank(games).agents[0]
        'new'
    """
    read = read_games(str(games), columns or {}) if is_path(games) else games_of(as_table(games), columns or {})
    board = make_leaderboard(
        read,
        source=str(games) if is_path(games) else "DataFrame",
        tournaments=tournaments,
        k=k,
        initial=initial,
        seed=seed,
        order=order,
        ragelo_compat=ragelo_compat,
    )
    return Ranking(board)
