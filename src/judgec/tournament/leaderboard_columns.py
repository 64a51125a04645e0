"""The columns of the leaderboard and of the win table, declared once for screen, page, CSV, report and MLflow."""

from collections.abc import Sequence
from dataclasses import dataclass
from math import isnan

from judgec.records.estimate import Estimate
from judgec.report.columns import Column, TableColumns
from judgec.report.kit import heat, open_bar
from judgec.report.numbers import UNKNOWN, between, points, rating
from judgec.tournament.report.costs import COSTS, AgentCost

MEAN = 1000.0  # of all ratings; the line in the bars
MOST_PAIRED = 100  # agents of which every pair is listed; of more, those that met, and who is next to whom


@dataclass(frozen=True, slots=True)
class LeaderboardRow:
    """The leaderboard's row of one agent; unknown numbers are None.

    Args:
        agent: Its name.
        rated: Bradley-Terry rating with its interval.
        rank: Its place, and the places that it may have (``rank_low`` to ``rank_high``).
        rank_low: The best of them.
        rank_high: The worst.
        group: Letters that it shares with agents which are not separable from it.
        groups: The same as numbers.
        elo: Mean over shuffled tournaments.
        elo_sd: Their spread.
        average: Percent of its games that it won, the mean over opponents.
        games: How many it played.
        wins: Percent won against each agent, in the order of the table.
        cost: What its answers took, or None.
        component: Number of the agents that paths of games join it with; None where they join all.
    """

    agent: str
    rated: Estimate
    rank: int | None
    rank_low: int | None
    rank_high: int | None
    group: str
    elo: float | None
    elo_sd: float | None
    average: float | None
    games: int
    wins: tuple[float | None, ...]
    cost: AgentCost | None = None
    groups: range = range(0)
    component: int | None = None

    def beside(self, other: "LeaderboardRow") -> bool:
        """True if the two are not told apart; of two components nobody knows."""
        return max(self.groups.start, other.groups.start) < min(self.groups.stop, other.groups.stop)


def leaderboard_columns(rows: Sequence[LeaderboardRow]) -> TableColumns[LeaderboardRow]:
    """The columns of these rows: the bars share an axis, and what answers took is shown where it is known."""
    known = [x for row in rows for x in (row.rated.value, row.rated.low, row.rated.high) if x is not None]
    margin = 0.05 * (max(known) - min(known)) + 5.0 if known else 5.0
    least, most = min(known, default=MEAN) - margin, max(known, default=MEAN) + margin
    apart = any(row.component is not None for row in rows)
    component: Column[LeaderboardRow] = Column(
        "component",
        lambda row: UNKNOWN if row.component is None else str(row.component),
        value=lambda row: row.component,
        csv="component",
        json=("ranks", None, "component"),
    )
    priced = any(row.cost is not None for row in rows)
    costs: list[Column[LeaderboardRow]] = [column.of(lambda row: row.cost) for column in COSTS.columns]
    return TableColumns(
        (
            Column("agent", lambda row: row.agent, value=lambda row: row.agent, csv="agent"),
            *([component] if apart else []),
            Column(
                "rating",
                lambda row: rating(row.rated.value),
                value=lambda row: row.rated.value,
                csv="rating",
                json=("bradley_terry", None, "rating"),
                metric=("rating", None),
                logged=lambda row: row.rated,
                headline=True,
            ),
            Column(
                f"{rating(least)} to {rating(most)}",
                cell=lambda row: open_bar(row.rated.value, (row.rated.low, row.rated.high), least, most, MEAN),
            ),
            Column("95 % interval", lambda row: between(row.rated.low, row.rated.high)),
            Column(value=lambda row: row.rated.low, csv="low", json=("bradley_terry", None, "low")),
            Column(value=lambda row: row.rated.high, csv="high", json=("bradley_terry", None, "high")),
            Column("rank", _ranks, value=lambda row: row.rank, csv="rank", json=("ranks", None, "rank")),
            Column(value=lambda row: row.rank_low, json=("ranks", None, "low")),
            Column(value=lambda row: row.rank_high, json=("ranks", None, "high")),
            Column(
                "group",
                lambda row: row.group or UNKNOWN,
                value=lambda row: row.group,
                csv="group",
                json=("ranks", None, "group"),
            ),
            Column(
                "Elo",
                lambda row: rating(row.elo),
                value=lambda row: row.elo,
                csv="elo",
                json=("elo", None, "rating"),
                metric=("elo", None),
                headline=True,
            ),
            Column(
                "± shuffles",
                lambda row: rating(row.elo_sd),
                value=lambda row: row.elo_sd,
                csv="elo_sd",
                json=("elo", None, "sd"),
                page=False,
            ),
            Column(
                "wins %",
                lambda row: points(row.average),
                value=lambda row: row.average,
                csv="average_win_percent",
                json=("average_win_percent", None),
                metric=("average_win_percent", None),
            ),
            Column("games", lambda row: str(row.games), value=lambda row: row.games, csv="games"),
            *(costs if priced else [Column(value=one.value, csv=one.csv) for one in costs]),
        ),
        lambda row: row.agent,
    )


def win_columns(rows: Sequence[LeaderboardRow]) -> TableColumns[LeaderboardRow]:
    """Columns of wins: a numbered row and the column of its number for each agent.

    Of more than ``MOST_PAIRED`` agents the report and MLflow have no entry for two that never met.
    """
    numbers = {row.agent: place for place, row in enumerate(rows, 1)}
    return TableColumns(
        (
            Column(
                "wins % of row over",
                lambda row: f"{numbers[row.agent]} {row.agent}",
                value=lambda row: row.agent,
                csv="agent",
            ),
            *(_against(row.agent, place) for place, row in enumerate(rows)),
            Column("mean", lambda row: points(row.average), screen=False),
        ),
        lambda row: row.agent,
    )


def _against(other: str, place: int) -> Column[LeaderboardRow]:
    return Column(
        str(place + 1),
        lambda row: points(row.wins[place]),
        value=lambda row: row.wins[place],
        csv=other,
        json=("win_percent", None, other),
        metric=("win_percent", None, "over", other),
        cell=lambda row: "·" if (percent := row.wins[place]) is None else heat(percent, points(percent, 0)),
        absent=lambda row: row.agent == other or (len(row.wins) > MOST_PAIRED and row.wins[place] is None),
    )


def known(value: float) -> float | None:
    """A number of an array; None for NaN."""
    return None if isnan(value) else float(value)


def _ranks(row: LeaderboardRow) -> str:
    low, high = row.rank_low, row.rank_high
    return UNKNOWN if low is None else str(low) if low == high else f"{low}-{high}"
