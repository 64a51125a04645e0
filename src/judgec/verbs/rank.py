"""``judgec.rank``: ratings from games that were already played."""

import shlex
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property

import pandas as pd

from judgec.lm.watch import Watch
from judgec.records.counts import plural
from judgec.records.estimate import Estimate
from judgec.records.tasks.winners import winner_words
from judgec.report.page.notebook import notebook
from judgec.report.report import Report
from judgec.report.screen import TextTable
from judgec.table.rows.columns import listed, named_here
from judgec.table.tables import name_of, opened
from judgec.tournament.files.games import QUERY, games_of, repeating
from judgec.tournament.leaderboard import Leaderboard, make_leaderboard
from judgec.tournament.leaderboard_columns import leaderboard_columns
from judgec.tournament.render import LETTERS, board_sentence, board_tables
from judgec.tournament.report.costs import COSTS, AgentCost
from judgec.tournament.report.votes import VOTES, VotedLeague, corrected_by
from judgec.verbs.frames import named_table, table_source
from judgec.verbs.options.rank import RankOptions
from judgec.verbs.verb import verb

MOST_SHOWN = 5  # columns in a sentence


@dataclass(frozen=True)
class Ranking:
    """Agents ranked by their games.

    Args:
        board: Every number, with intervals and pairs.
        costs: What each agent's answers took, where it is known.
        votes: The league as people's votes correct it, where there are any.
        repeating: Where no column says which games are of one query: columns whose values repeat, and how many each
            has.
    """

    board: Leaderboard
    costs: Mapping[str, AgentCost] | None = None
    votes: VotedLeague | None = None
    repeating: Mapping[str, int] = field(default_factory=dict)

    @cached_property
    def ratings(self) -> pd.DataFrame:
        """Agents, best first, with the columns of ``leaderboard.csv``; NaN where unknown."""
        rows = self.board.rows(self.costs)
        frame = pd.DataFrame(leaderboard_columns(rows).frame(rows)).set_index("agent")
        unknown = [one.csv for one in COSTS.columns if frame[one.csv].isna().all()]
        return frame.drop(columns=unknown)

    @cached_property
    def corrected(self) -> pd.DataFrame | None:
        """Agents as people's votes correct them, best first, NaN where unknown; None without votes."""
        return None if self.votes is None else pd.DataFrame(VOTES.frame(self.votes.rows)).set_index("agent")

    @property
    def report(self) -> dict[str, object]:
        """The JSON that ``judgec rank --json`` prints."""
        clusters = {"clustered_by": None if self.board.alone else QUERY, "repeating": dict(self.repeating)}
        experts = {} if self.votes is None else {"experts": self.votes.to_json()}
        return {**self.board.to_json(), **clusters, **experts}

    @property
    def alone(self) -> str:
        """Sentence on votes that are counted each by itself, and on what would change that; empty of other votes."""
        columns = [f"{name} ({count})" for name, count in self.repeating.items()]
        more = f" and {len(columns) - MOST_SHOWN} more" if len(columns) > MOST_SHOWN else ""
        line = f"--map {shlex.quote(f'{next(iter(self.repeating))}={QUERY}')}" if columns else ""
        why = f"values repeat in {listed(columns[:MOST_SHOWN])}{more}; {line} counts by the first" if columns else ""
        said = f"Each vote by itself, as no column is {QUERY}: {why or 'no other column repeats a value'}."
        return said if self.board.alone else ""

    @property
    def agents(self) -> tuple[str, ...]:
        """Their names, best first."""
        return tuple(self.board.agents[code] for code in self.board.standings.order)

    @property
    def verdict(self) -> str:
        """The agents, best first; ``~`` between two that are not told apart."""
        return f"{plural(len(self.agents), 'agent')} from {self.board.games} games: {self.board.ranked}"

    @property
    def rated(self) -> dict[str, Estimate]:
        """Each agent's rating with its interval, best first."""
        return {row.agent: row.rated for row in self.board.rows()}

    def __repr__(self) -> str:
        return f"<Ranking of {self.verdict}>"

    def _repr_html_(self) -> str:
        return notebook(ranking_report(self), chart=self.rated, digits=0)


@verb(RankOptions)
def rank(options: RankOptions, watch: Watch) -> Ranking:
    """Rank agents from games: Bradley-Terry with intervals over queries, Elo, and who beat whom.

    A missing winner is an unscored game: counted, never a loss or a tie. RAGElo's games are read as they are. With
    ``experts``, people's verdicts on some of the games, ``corrected`` has the ratings that people would give.

    Raises:
        InputError: Faulty games, each with its row.
        UserError: Votes on none of the games, or not drawn at random.

    Example:
        >>> games = [
        ...     {"query_id": str(q), "agent_a": "new", "agent_b": "old", "winner": "ab"[q % 4 == 0]} for q in range(40)
        ... ]
        >>> judgec.rank(games).agents[0]
        'new'
    """
    source = table_source(options.games, "games", options.missing)
    watch.stage("rate", name_of(source))
    games = opened(source)
    votes = None if options.votes is None else named_table(options.votes, "votes", options.missing)
    said = winner_words(options.winner_words)
    played = games_of(games, options.columns if votes is None else named_here(games.columns, options.columns), said)
    board = make_leaderboard(
        played,
        source=games.path,
        tournaments=options.tournaments,
        k=options.k,
        initial=options.initial,
        seed=options.seed,
        order=options.order,
        ragelo_compat=options.ragelo_compat,
    )
    corrected = None if votes is None else corrected_by(votes, played, dict(options.columns), options.seed, said)
    return Ranking(board, votes=corrected, repeating=repeating(games, options.columns) if played.alone else {})


def ranking_report(found: Ranking) -> Report:
    """Report of who is best, the leaderboard, what people's votes say of it."""
    votes = found.votes
    title = "Corrected by people's votes, 95 % intervals over queries"
    corrected = [] if votes is None else [TextTable(title, *VOTES.screen(votes.rows))]
    tables, full = board_tables(found.board)
    return Report(
        data=found.report,
        verdict=[*filter(None, [found.alone]), board_sentence(found.board)],
        tables=[*tables, *corrected],
        full=[*full, *corrected],
        lines=[LETTERS, *found.board.notes, *(() if votes is None else votes.sentences)],
        more="wins and every column, and with --json every pair of agents with its interval and p-value",
    )
