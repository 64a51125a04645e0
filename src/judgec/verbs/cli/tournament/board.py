"""The leaderboard and the wins on screen."""

from collections.abc import Mapping

from judgec.report import words
from judgec.report.screen import TextTable, print_tables
from judgec.tournament.leaderboard import Leaderboard
from judgec.tournament.render import board_sentence, leaderboard_rows, win_rows
from judgec.tournament.report.costs import AgentCost
from judgec.verbs.cli.output import print_table, say

SHOWN_COLUMNS = ("agent", "component", "rating", "95 % interval", "rank", "group", "wins %", "$")  # of the short table
MOST_COLUMNS = 12  # agents in a win table that still fits a screen


def board_table(board: Leaderboard, costs: Mapping[str, AgentCost] | None = None) -> TextTable:
    """The leaderboard; arguments as ``show_board``."""
    played, over = f"{board.games} games on {board.ratings.n_queries} queries", "queries"
    if board.alone:
        played, over = f"{board.games} games, each by itself", "games"
    title = f"{played}: Bradley-Terry ratings, 95 % intervals over {over}"
    heads, rows = leaderboard_rows(board, costs)
    return TextTable(title, heads, rows, words.leaderboard(heads))


def show_board(board: Leaderboard, costs: Mapping[str, AgentCost] | None = None, *, verbose: bool = False) -> None:
    """Print who is best and the leaderboard; or everything of it, and the wins.

    Args:
        board: The ratings.
        costs: What answers took, by agent.
        verbose: Print every column, the legend and the wins.
    """
    say(board_sentence(board))
    whole = board_table(board, costs)
    if not verbose:
        kept = [place for place, head in enumerate(whole.heads) if head in SHOWN_COLUMNS]
        rows = [[row[place] for place in kept] for row in whole.rows]
        print_tables(TextTable(whole.title, [whole.heads[place] for place in kept], rows))
        return
    print_tables(whole)
    if len(board.agents) <= MOST_COLUMNS:
        print_table("Wins", *win_rows(board))
