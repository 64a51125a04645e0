"""Leaderboards as rows of text."""

from collections.abc import Mapping, Sequence

from judgec.tournament.leaderboard import Leaderboard
from judgec.tournament.leaderboard_columns import leaderboard_columns, win_columns
from judgec.tournament.report.costs import AgentCost
from judgec.tournament.retrieval import RetrievalTable

TextRows = tuple[Sequence[str], Sequence[Sequence[str]]]


def leaderboard_rows(board: Leaderboard, costs: Mapping[str, AgentCost] | None = None) -> TextRows:
    """Column names and rows, best agent first: rating with interval, rank, group, Elo, wins, games, what it took.

    Args:
        board: The ratings.
        costs: By agent; the last columns are left out where nothing is known.
    """
    rows = board.rows(costs)
    return leaderboard_columns(rows).screen(rows)


def win_rows(board: Leaderboard) -> TextRows:
    """Column names and rows of the win table, best agent first; columns carry the numbers of the rows."""
    rows = board.rows()
    return win_columns(rows).screen(rows)


def retrieval_rows(table: RetrievalTable) -> TextRows:
    """Column names and rows of the retrieval table: one row a measure, one column an agent."""
    return ("measure", *table.by_agent), table.columns().turned(list(table.by_agent.items()))
