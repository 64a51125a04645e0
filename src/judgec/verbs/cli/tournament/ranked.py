"""The report of ``judgec rank``."""

from judgec.report.report import Report
from judgec.report.screen import TextTable
from judgec.tournament.render import board_sentence
from judgec.tournament.report.votes import VOTES
from judgec.verbs.cli.tournament.board import LETTERS, board_tables
from judgec.verbs.rank import Ranking


def ranking_report(found: Ranking) -> Report:
    """Who is best, the leaderboard, what people's votes say of it."""
    votes = found.votes
    title = "Corrected by people's votes, 95 % intervals over queries"
    corrected = [] if votes is None else [TextTable(title, *VOTES.screen(votes.rows))]
    tables, full = board_tables(found.board)
    return Report(
        verdict=[board_sentence(found.board)],
        tables=[*tables, *corrected],
        full=[*full, *corrected],
        lines=[LETTERS, *found.board.notes, *(() if votes is None else votes.sentences)],
        more="wins and every column",
        next=["--json gives every pair of agents with its interval and p-value."],
    )
