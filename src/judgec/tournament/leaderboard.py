"""From games to the leaderboard: ratings, their certainty and the win table, in one record."""

from collections.abc import Mapping
from dataclasses import dataclass
from itertools import combinations, pairwise

from judgec.errors import InputError, ServiceError
from judgec.records.estimate import Estimate
from judgec.records.game import Games
from judgec.stats.rating.elo import EloRatings, Order, elo
from judgec.stats.rating.pairwise import Standings, standings
from judgec.stats.rating.ratings import Ratings, bradley_terry
from judgec.stats.rating.win_table import WinTable, win_table
from judgec.tournament.leaderboard_columns import (
    MOST_PAIRED,
    LeaderboardRow,
    known,
    leaderboard_columns,
    win_columns,
)
from judgec.tournament.report.costs import AgentCost

NAMED = 10  # of very many agents in a sentence: the best


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
        alone: Nobody said which games are of one query, so that intervals are over games.
    """

    agents: tuple[str, ...]
    ratings: Ratings
    elo: EloRatings
    wins: WinTable
    standings: Standings
    games: int
    unscored: int
    notes: tuple[str, ...]
    alone: bool = False

    def to_json(self) -> dict[str, object]:
        """The report as JSON-ready data, agents best first; unknown numbers are null."""
        rows = self.rows()
        return {
            **leaderboard_columns(rows).json(rows),
            **win_columns(rows).json(rows),
            "games": self.games,
            "unscored": self.unscored,
            "pairs": [self._pair(rows[first].agent, rows[second].agent) for first, second in _pairs(len(rows))],
            "notes": list(self.notes),
        }

    @property
    def ranked(self) -> str:
        """The agents, best first: ``>`` between two neighbours that are told apart, ``~`` between two that are not.

        ``|`` stands between those that no path of games joins.
        """
        spans, order = self.standings.spans(), self.standings.order
        part = self.ratings.component
        signs = [
            "",
            *(
                " | " if part[one] != part[other] else " ~ " if {*spans[one]} & {*spans[other]} else " > "
                for one, other in pairwise(order)
            ),
        ]
        named = [f"{sign}{self.agents[code]}" for sign, code in zip(signs, order, strict=True)]
        more = f" and {len(named) - NAMED} more" if len(named) > MOST_PAIRED else ""
        return "".join(named[:NAMED] if more else named) + more

    def rows(self, costs: Mapping[str, AgentCost] | None = None) -> list[LeaderboardRow]:
        """Rows of the agents, best first.

        Args:
            costs: What its answers took, by agent.
        """
        letters, spans, order = self.standings.letters(), self.standings.spans(), self.standings.order
        ratings, spent = self.ratings, costs or {}
        return [
            LeaderboardRow(
                agent=self.agents[code],
                rated=Estimate(
                    value=(rating := known(ratings.rating[code])),
                    low=known(ratings.low[code]),
                    high=known(ratings.high[code]),
                    note="no scored game" if rating is None else "",
                    n=self.games,
                ),
                rank=int(self.standings.rank[code]) or None,
                rank_low=int(self.standings.rank_low[code]) or None,
                rank_high=int(self.standings.rank_high[code]) or None,
                group=letters[code],
                groups=spans[code],
                elo=known(self.elo.rating[code]),
                elo_sd=known(self.elo.sd[code]),
                average=known(self.wins.average[code]),
                games=int(self.wins.games[code].sum()),
                wins=tuple(map(known, self.wins.win_percent[code, order].tolist())),
                cost=spent.get(self.agents[code]),
                component=int(self.ratings.component[code]) or None if self.ratings.parts else None,
            )
            for code in order
        ]

    def _pair(self, first: str, second: str) -> dict[str, object]:
        i, j = self.agents.index(first), self.agents.index(second)
        return {
            "agents": [first, second],
            "difference": self.ratings.difference(first, second).to_json(),
            "p": known(self.standings.p[i, j]),
            "p_holm": known(self.standings.p_holm[i, j]),
            "games": int(self.wins.games[i, j]),
        }


def _pairs(agents: int) -> list[tuple[int, int]]:
    """Places of the pairs in the report: all, or of very many agents each with the best and with the next one."""
    if agents <= MOST_PAIRED:
        return list(combinations(range(agents), 2))
    return sorted({*((0, place) for place in range(1, agents)), *pairwise(range(agents))})


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
    usual = elo(games, tournaments=tournaments, k=k, seed=seed, order=order) if ragelo_compat else None
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
        notes=_notes(games, ratings, usual),
        alone=games.alone,
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


def _notes(games: Games, ratings: Ratings, usual: EloRatings | None) -> tuple[str, ...]:
    """What the reader has to know; ``usual`` is the default Elo beside RAGElo's, or None."""
    notes = list(ratings.notes)
    unscored = int((~games.scored).sum())
    if unscored:
        notes.insert(0, f"{unscored} of {len(games.a)} games are unscored and count for nobody.")
    if len(games.agents) > MOST_PAIRED:
        listed = len(_pairs(len(games.agents)))
        notes.append(
            f"{len(games.agents)} agents: the report lists {listed} differences, of each agent with the best and with "
            "the next one; win percentages cover only pairs that played each other."
        )
    if usual is not None:
        rated = [pair for pair in zip(-usual.rating, usual.agents, strict=True) if known(pair[0]) is not None]
        notes.append(
            "RAGElo's Elo truncates both ratings after every game: the mean falls and agents that play "
            "less are flattered. Use it only to reproduce published numbers. Default Elo: "
            f"{', '.join(f'{agent} {-rating:.0f}' for rating, agent in sorted(rated)[:NAMED])}."
        )
    return tuple(notes)
