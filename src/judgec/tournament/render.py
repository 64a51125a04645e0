"""Leaderboards as rows of text."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from math import ceil, comb
from statistics import NormalDist

from judgec.records.counts import plural
from judgec.records.estimate import Estimate
from judgec.report import words
from judgec.report.numbers import show
from judgec.report.screen import TextTable
from judgec.tournament.leaderboard import Leaderboard
from judgec.tournament.leaderboard_columns import leaderboard_columns, win_columns
from judgec.tournament.report.costs import AgentCost
from judgec.tournament.retrieval import RetrievalTable

MOST_NAMED = 4  # agents in a sentence
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


def board_sentence(board: Leaderboard) -> str:
    """Sentence on who leads, whom it beats, and by how much: with the interval that decides among all pairs."""
    rows = [row for row in board.rows() if row.rated.value is not None]
    if not rows:
        return "No game was scored: nothing is known of these agents."
    first, *others = rows
    ties = [row.agent for row in others if row.beside(first)]
    equal = [name for name in ties if same_rating(board.ratings.difference(first.agent, name))]
    best = f"{rated_best(first.agent, equal)}, {show(first.rated, 0)}"
    if not others:
        return f"{best}, and has nobody beside it."
    if len(ties) == len(others):
        said = f"{best}, but no agent is told apart from it: these games do not name a winner."
    elif ties:
        beaten = [row.agent for row in others if row.agent not in ties]
        said = f"{best}: better than {_names(beaten)}; not told apart from {_names(ties)}."
    else:
        said = f"{best}, and better than every other agent (5 %, all pairs, Holm)."
    lead = _deciding(board, first.agent, others[0].agent)
    if lead.value is None:
        return said
    more = _more(lead, "games" if board.alone else "queries") if others[0].agent in ties else ""
    return f"{said} {first.agent} - {others[0].agent} = {lead.value:+.0f} Elo{_limits(lead)}.{more}"


def rated_best(agent: str, equal: Sequence[str]) -> str:
    """``a is rated best``, or where others have the same rating ``a is rated equal to b, c``."""
    return f"{agent} is rated {f'equal to {_names(equal)}' if equal else 'best'}"


def same_rating(difference: Estimate) -> bool:
    """True where two ratings differ by less than what is printed: whole Elo points."""
    return difference.value is not None and round(difference.value) == 0


def _deciding(board: Leaderboard, agent: str, other: str) -> Estimate:
    """The difference of two agents, with the interval at the level at which Holm's procedure decides about them."""
    i, j = board.agents.index(agent), board.agents.index(other)
    p, adjusted = float(board.standings.p[i, j]), float(board.standings.p_holm[i, j])
    comparisons = max(1.0, adjusted / p) if 0 < p <= adjusted else comb(len(board.agents), 2)
    error = (1.0 - board.ratings.level) / comparisons
    return replace(board.ratings, level=1.0 - error).difference(agent, other)


def _limits(difference: Estimate) -> str:
    if difference.low is None and difference.high is None:
        return ""
    low, high = ("open" if end is None else f"{end:.0f}" for end in (difference.low, difference.high))
    return f" [{low}, {high}] ({100 * difference.level:.3g} % interval, which decides among all pairs)"


def _more(lead: Estimate, units: str) -> str:
    """Further games that would show ``ELO_WORTH_SHOWING`` in four of five cases; the interval narrows with their root.

    Not the difference that was seen: where nothing is told apart that is mostly chance.
    """
    if lead.low is None or lead.high is None:
        return ""
    quantile = NormalDist().inv_cdf
    shown = (lead.high - lead.low) / 2 * (1 + quantile(0.8) / quantile((1 + lead.level) / 2))
    more = ceil(lead.n_clusters * ((shown / ELO_WORTH_SHOWING) ** 2 - 1))
    if more <= 0:
        return f" These {lead.n_clusters:,} {units} would have shown a difference of {ELO_WORTH_SHOWING} Elo."
    return f" About {more:,} more {units} would show a difference of {ELO_WORTH_SHOWING} Elo."


def _names(agents: Sequence[str]) -> str:
    """As many as fit a sentence, and how many there are beside them."""
    named = agents if len(agents) <= MOST_NAMED + 1 else agents[:MOST_NAMED]  # "and 1 more" is longer than a name
    return ", ".join(named) + (f" and {len(agents) - len(named)} more" if len(agents) > len(named) else "")


ELO_WORTH_SHOWING = 50  # Elo points, 57 % of games: the difference that a reader is told the queries for
SHOWN_COLUMNS = ("agent", "component", "rating", "95 % interval", "rank", "group", "wins %", "$")  # of the short table
LETTERS = "Agents that share a letter are not separable at 5 % (all pairs, Holm)."
MOST_COLUMNS = 12  # agents in a win table that still fits a screen


def board_table(board: Leaderboard, costs: Mapping[str, AgentCost] | None = None) -> TextTable:
    """The leaderboard.

    Args:
        board: The ratings.
        costs: What answers took, by agent.
    """
    played, over = f"{plural(board.games, 'game')} on {plural(board.ratings.n_queries, 'query')}", "queries"
    if board.alone:
        played, over = f"{plural(board.games, 'game')}, each by itself", "games"
    title = f"{played}: Bradley-Terry ratings, 95 % intervals over {over}"
    heads, rows = leaderboard_rows(board, costs)
    return TextTable(title, heads, rows, words.leaderboard(heads))


def board_tables(
    board: Leaderboard, costs: Mapping[str, AgentCost] | None = None
) -> tuple[list[TextTable], list[TextTable]]:
    """The leaderboard's main columns; and all of them with the wins, where these fit a screen."""
    whole = board_table(board, costs)
    typed = ("Elo",) if board.elo.ragelo_compat else ()
    kept = [place for place, head in enumerate(whole.heads) if head in (*SHOWN_COLUMNS, *typed)]
    rows = [[row[place] for place in kept] for row in whole.rows]
    wins = [TextTable("Wins", *win_rows(board))] if len(board.agents) <= MOST_COLUMNS else []
    return [TextTable(whole.title, [whole.heads[place] for place in kept], rows)], [whole, *wins]
