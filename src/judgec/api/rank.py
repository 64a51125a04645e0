"""``judgec.rank``: ratings from games that were already played."""

from dataclasses import dataclass
from functools import cached_property

import pandas as pd

from judgec.api.frames import frame_part, named_table
from judgec.api.options.rank import RankOptions
from judgec.api.verb import verb
from judgec.lm.watch import Watch
from judgec.store.games import games_of
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

    @property
    def verdict(self) -> str:
        """The agents, best first."""
        return f"{len(self.agents)} agents from {self.board.games} games: {' > '.join(self.agents)}"

    def __repr__(self) -> str:
        return f"<Ranking of {self.verdict}>"

    def _repr_html_(self) -> str:
        return frame_part(self.verdict, self.ratings, digits=0)


@verb(RankOptions)
def rank(options: RankOptions, watch: Watch) -> Ranking:
    """Rank agents from games: Bradley-Terry with intervals over queries, Elo, and who beat whom.

    A missing winner is an unscored game: counted, never a loss or a tie. RAGElo's games are read as they are.

    Raises:
        InputError: Faulty games, each with its row.

    Example:
        >>> games = [
        ...     {"query_id": str(q), "agent_a": "new", "agent_b": "old", "winner": "ab"[q % 4 == 0]} for q in range(40)
        ... ]
        >>> judgec.rank(games).agents[0]
        'new'
    """
    games = named_table(options.games, "games")
    watch.stage("rate", games.path)
    board = make_leaderboard(
        games_of(games, options.columns),
        source=games.path,
        tournaments=options.tournaments,
        k=options.k,
        initial=options.initial,
        seed=options.seed,
        order=options.order,
        ragelo_compat=options.ragelo_compat,
    )
    return Ranking(board)
