"""Prints the result of ``judgec evaluate``."""

from pathlib import Path

from judgec.tournament.render import retrieval_rows
from judgec.tournament.report.aspects import COLUMNS as ASPECTS
from judgec.tournament.report.costs import agent_costs
from judgec.tournament.report.effects import COLUMNS as EFFECTS
from judgec.tournament.report.effects import effects_sentence
from judgec.tournament.report.evaluation import Evaluation
from judgec.tournament.report.rates import length_rows, rate_rows
from judgec.verbs.cli.output import command, print_table, say
from judgec.verbs.cli.tournament.board import show_board
from judgec.verbs.tournament import Tournament

MOST_TESTS = 12  # of pairs of agents on the screen; the page has more


def show_tournament(tournament: Tournament, *, verbose: bool = False) -> None:
    """Print who is best, the leaderboard and the notes; or every table."""
    found, out = tournament.found, tournament.folder
    board = found.board
    again = command("rank", str(out / "games.csv"), home=Path())
    show_board(board, agent_costs(found.entries), verbose=verbose)
    if verbose:
        _show_further(found)
    say(*([effects_sentence(found.effects)] if found.effects else []))
    say(
        "Agents that share a letter are not separable at 5 % (all pairs, Holm).",
        *board.notes,
        *found.notes,
        *(found.retrieval.notes if found.retrieval else ()),
        *([] if verbose else ["wins, pairs of agents, aspects, retrieval: -v, or the page"]),
        f"Next: {command('open', str(out), home=Path())}",
        f"      {again}",
        f"      {command('ui', home=tournament.home)}",
        *([f"UNPROVEN JUDGE: {found.unproven}."] if found.unproven else []),
    )


def _show_further(found: Evaluation) -> None:
    """What the page has, too: settings, aspects, lengths, corrected points, retrieval."""
    if found.effects:
        print_table("What mattered: one setting changed, the others as they are", *EFFECTS.screen(found.effects))
    pairs = [test for test in found.aspects if test.pooled] or found.aspects
    if 0 < len(pairs) <= MOST_TESTS:
        print_table("Aspect by aspect (p after Holm's correction)", *ASPECTS.screen(pairs))
    if found.lengths is not None:
        print_table("At equal length", *length_rows(found.lengths))
    if found.corrected is not None:
        print_table("Points per game, as judged and as experts correct them", *rate_rows(found.corrected.rates))
    if found.retrieval is not None:
        print_table("Retrieval", *retrieval_rows(found.retrieval))
