"""The leaderboard and the wins on screen."""

from collections.abc import Mapping

from judgec.cli.output import print_table
from judgec.tournament.leaderboard import Leaderboard
from judgec.tournament.render import leaderboard_rows, win_rows
from judgec.tournament.report.costs import AgentCost

MOST_COLUMNS = 12  # agents in a win table that still fits a screen


def show_board(board: Leaderboard, costs: Mapping[str, AgentCost] | None = None, *, fold: bool = True) -> None:
    """Print both tables.

    Args:
        board: The ratings.
        costs: What answers took, by agent.
        fold: Numbers may break on a narrow screen.
    """
    title = f"{board.games} games on {board.ratings.n_queries} queries"
    columns, rows = leaderboard_rows(board, costs)
    print_table(f"{title}: Bradley-Terry ratings, 95 % intervals over queries", columns, rows, fold=fold)
    if len(board.agents) <= MOST_COLUMNS:
        print_table("Wins", *win_rows(board))
