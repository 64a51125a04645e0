"""The leaderboard and the wins as tables."""

from collections.abc import Mapping

from judgec.report import words
from judgec.report.screen import TextTable
from judgec.tournament.leaderboard import Leaderboard
from judgec.tournament.render import leaderboard_rows, win_rows
from judgec.tournament.report.costs import AgentCost

SHOWN_COLUMNS = ("agent", "component", "rating", "95 % interval", "rank", "group", "wins %", "$")  # of the short table
LETTERS = "Agents that share a letter are not separable at 5 % (all pairs, Holm)."
MOST_COLUMNS = 12  # agents in a win table that still fits a screen


def board_table(board: Leaderboard, costs: Mapping[str, AgentCost] | None = None) -> TextTable:
    """The leaderboard.

    Args:
        board: The ratings.
        costs: What answers took, by agent.
    """
    played, over = f"{board.games} games on {board.ratings.n_queries} queries", "queries"
    if board.alone:
        played, over = f"{board.games} games, each by itself", "games"
    title = f"{played}: Bradley-Terry ratings, 95 % intervals over {over}"
    heads, rows = leaderboard_rows(board, costs)
    return TextTable(title, heads, rows, words.leaderboard(heads))


def board_tables(
    board: Leaderboard, costs: Mapping[str, AgentCost] | None = None
) -> tuple[list[TextTable], list[TextTable]]:
    """The leaderboard's main columns; and all of them with the wins, where these fit a screen."""
    whole = board_table(board, costs)
    kept = [place for place, head in enumerate(whole.heads) if head in SHOWN_COLUMNS]
    rows = [[row[place] for place in kept] for row in whole.rows]
    wins = [TextTable("Wins", *win_rows(board))] if len(board.agents) <= MOST_COLUMNS else []
    return [TextTable(whole.title, [whole.heads[place] for place in kept], rows)], [whole, *wins]
