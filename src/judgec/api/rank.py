"""``judgec.rank``: ratings from games that were already played."""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property

import pandas as pd

from judgec.api.frames import frame_part, named_table
from judgec.api.options.rank import RankOptions
from judgec.api.verb import verb
from judgec.lm.watch import Watch
from judgec.store.games import games_of
from judgec.tournament.leaderboard import Leaderboard, make_leaderboard
from judgec.tournament.leaderboard_columns import leaderboard_columns
from judgec.tournament.report.costs import COSTS, AgentCost


@dataclass(frozen=True)
class Ranking:
    """Agents ranked by their games.

    Args:
        board: Every number, with intervals and pairs.
        costs: What each agent's answers took, where it is known.
    """

    board: Leaderboard
    costs: Mapping[str, AgentCost] | None = None

    @cached_property
    def ratings(self) -> pd.DataFrame:
        """Agents, best first, with the columns of ``leaderboard.csv``; NaN where unknown."""
        rows = self.board.rows(self.costs)
        frame = pd.DataFrame(leaderboard_columns(rows).frame(rows)).set_index("agent")
        unknown = [one.csv for one in COSTS.columns if frame[one.csv].isna().all()]
        return frame.drop(columns=unknown)

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
