"""The report of ``judgec evaluate``."""

from pathlib import Path

from judgec.report.report import Report
from judgec.report.screen import TextTable
from judgec.tournament.render import board_sentence, retrieval_rows
from judgec.tournament.report.aspects import COLUMNS as ASPECTS
from judgec.tournament.report.costs import agent_costs
from judgec.tournament.report.effects import COLUMNS as EFFECTS
from judgec.tournament.report.effects import effects_sentence
from judgec.tournament.report.evaluation import Evaluation
from judgec.tournament.report.rates import length_rows, rate_rows
from judgec.verbs.cli.output import command
from judgec.verbs.cli.tournament.board import LETTERS, board_tables
from judgec.verbs.tournament import Tournament

MOST_TESTS = 12  # of pairs of agents on the screen; the page has more


def tournament_report(tournament: Tournament) -> Report:
    """Who is best, the leaderboard, what mattered, the notes; every table besides."""
    found, out = tournament.found, tournament.folder
    tables, full = board_tables(found.board, agent_costs(found.entries))
    return Report(
        verdict=[board_sentence(found.board)],
        tables=tables,
        full=[*full, *_further(found)],
        lines=[
            *([effects_sentence(found.effects)] if found.effects else []),
            LETTERS,
            *found.board.notes,
            *found.notes,
            *(found.retrieval.notes if found.retrieval else ()),
        ],
        more="wins, pairs of agents, aspects, retrieval, also on the page",
        stamps=[f"UNPROVEN JUDGE: {found.unproven}."] if found.unproven else [],
        next=[
            command("open", str(out), home=Path()),
            command("rank", str(out / "games.csv"), home=Path()),
            command("ui", home=tournament.home),
        ],
    )


def _further(found: Evaluation) -> list[TextTable]:
    """What the page has, too: settings, aspects, lengths, corrected points, retrieval."""
    tables = []
    if found.effects:
        title = "What mattered: one setting changed, the others as they are"
        tables.append(TextTable(title, *EFFECTS.screen(found.effects)))
    pairs = [test for test in found.aspects if test.pooled] or found.aspects
    if 0 < len(pairs) <= MOST_TESTS:
        tables.append(TextTable("Aspect by aspect (p after Holm's correction)", *ASPECTS.screen(pairs)))
    if found.lengths is not None:
        tables.append(TextTable("At equal length", *length_rows(found.lengths)))
    if found.corrected is not None:
        title = "Points per game, as judged and as experts correct them"
        tables.append(TextTable(title, *rate_rows(found.corrected.rates)))
    if found.retrieval is not None:
        tables.append(TextTable("Retrieval", *retrieval_rows(found.retrieval)))
    return tables
