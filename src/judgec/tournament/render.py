"""Leaderboards as rows of text."""

import math
from collections.abc import Mapping, Sequence

from judgec.records.estimate import Estimate
from judgec.tournament.leaderboard import Leaderboard
from judgec.tournament.report.costs import COLUMNS, AgentCost, cost_cells
from judgec.tournament.retrieval import RetrievalTable

Rows = tuple[Sequence[str], Sequence[Sequence[str]]]


def leaderboard_rows(board: Leaderboard, costs: Mapping[str, AgentCost] | None = None) -> Rows:
    """Column names and rows, best agent first: rating with interval, rank, group, Elo, wins, games, what it took.

    Args:
        board: The ratings.
        costs: By agent; the last columns are left out where nothing is known.
    """
    known = costs or {}
    columns = ("agent", "rating", "interval", "rank", "group", "Elo", "± shuffles", "wins %", "games")
    letters = board.standings.letters()
    rows = []
    for agent in board.standings.order:
        low, high = board.standings.rank_low[agent], board.standings.rank_high[agent]
        rows.append(
            (
                board.agents[agent],
                _text(board.ratings.rating[agent]),
                _interval(board.ratings.low[agent], board.ratings.high[agent]),
                "-" if not low else f"{low}" if low == high else f"{low}-{high}",
                letters[agent] or "-",
                _text(board.elo.rating[agent]),
                _text(board.elo.sd[agent]),
                _text(board.wins.average[agent], 1),
                str(int(board.wins.games[agent].sum())),
                *cost_cells(known, board.agents[agent]),
            )
        )
    return (*columns, *(COLUMNS if known else ())), rows


def win_rows(board: Leaderboard) -> Rows:
    """Column names and rows of the win table, best agent first; columns carry the numbers of the rows."""
    order = board.standings.order
    columns = ("wins % of row over", *(str(number) for number in range(1, len(order) + 1)))
    rows = [
        (
            f"{number} {board.agents[row]}",
            *(_text(board.wins.win_percent[row, column], 1) for column in order),
        )
        for number, row in enumerate(order, 1)
    ]
    return columns, rows


def _interval(low: float, high: float) -> str:
    if math.isnan(low):
        return "-" if math.isnan(high) else f"below {_text(high)}"
    return f"above {_text(low)}" if math.isnan(high) else f"{_text(low)} .. {_text(high)}"


def _text(value: float, digits: int = 0) -> str:
    return "-" if math.isnan(value) else f"{value:.{digits}f}"


def retrieval_rows(table: RetrievalTable) -> Rows:
    """Column names and rows of the retrieval table: one row a measure, one column an agent."""
    agents = tuple(table.by_agent)
    names = list(next(iter(table.by_agent.values())))
    rows = [(name, *(_estimate(table.by_agent[agent][name]) for agent in agents)) for name in names]
    return ("measure", *agents), rows


def _estimate(found: Estimate) -> str:
    if found.value is None:
        return "-"
    bounds = "" if found.low is None or found.high is None else f" [{found.low:.2f}, {found.high:.2f}]"
    return f"{found.value:.2f}{bounds}"
