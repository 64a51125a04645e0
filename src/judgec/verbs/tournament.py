"""A tournament that was played: its leaderboard as a table, its report, its gate."""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

import pandas as pd

from judgec.records.counts import plural
from judgec.report.gates import Gate, Gates
from judgec.report.page.notebook import notebook
from judgec.report.report import Report
from judgec.report.screen import TextTable
from judgec.report.systems_comparison import comparison_sentences, comparison_tables
from judgec.stats.intervals.gate import announced
from judgec.tournament.gate import Held
from judgec.tournament.render import LETTERS, board_sentence, board_tables, retrieval_rows
from judgec.tournament.report.aspects import COLUMNS as ASPECTS
from judgec.tournament.report.costs import agent_costs
from judgec.tournament.report.effects import COLUMNS as EFFECTS
from judgec.tournament.report.effects import effects_sentence
from judgec.tournament.report.evaluation import Evaluation
from judgec.tournament.report.rates import RATES, length_rows
from judgec.tournament.report.tables import csv_tables
from judgec.verbs.rank import Ranking
from judgec.verbs.typed import command


@dataclass(frozen=True)
class Tournament:
    """Agents ranked by what a judge says of their answers.

    Args:
        found: Every game, verdict and interval.
        report: What ``judgec evaluate --json`` prints.
        folder: Where the report and the CSV files are.
        home: Whose judge it was.
    """

    found: Evaluation
    report: Mapping[str, object]
    folder: Path
    home: Path

    @cached_property
    def ranking(self) -> Ranking:
        """The agents by their games, as ``judgec.rank`` gives it."""
        return Ranking(self.found.board, agent_costs(self.found.entries))

    @property
    def ratings(self) -> pd.DataFrame:
        """Agents, best first, with the columns of ``leaderboard.csv``; NaN where unknown."""
        return self.ranking.ratings

    @property
    def agents(self) -> tuple[str, ...]:
        """Their names, best first."""
        return self.ranking.agents

    @cached_property
    def games(self) -> pd.DataFrame:
        """A row a game, as in ``games.csv``; ``judgec.rank`` reads it."""
        header, *rows = csv_tables(self.found)["games"]
        return pd.DataFrame(rows, columns=[str(name) for name in header])

    @property
    def report_path(self) -> Path:
        """The HTML report."""
        return self.folder / "report.html"

    @property
    def gate(self) -> Held | None:
        """Outcome of the gate that was asked for: its verdict and its sentence."""
        return self.found.gate

    @property
    def verdict(self) -> str:
        """The agents, best first (``~`` between two that are not told apart), and who judged them."""
        card, board = self.found.card, self.found.board
        unproven = f"; UNPROVEN JUDGE: {self.found.unproven}" if self.found.unproven else ""
        gate = "" if self.gate is None else f"; gate {self.gate.verdict}"
        games = f"{plural(board.games, 'game')} judged by {card.name}@{card.version}"
        return f"{board.ranked} in {games}{gate}{unproven}"

    def __repr__(self) -> str:
        return f"<Tournament {self.verdict}>"

    def _repr_html_(self) -> str:
        return notebook(tournament_report(self), chart=self.ranking.rated, digits=0)


def _gates(tournament: Tournament, held: Held, demand: str) -> Gates:
    unproven = f" UNPROVEN JUDGE: {tournament.found.unproven}." if tournament.found.unproven else ""
    said = announced(held.verdict, f"--gate {demand}: {held.sentence}{unproven}")
    return Gates("evaluate", [Gate(demand, held.verdict, held.sentence)], said, tournament.report_path)


MOST_TESTS = 12  # of pairs of agents on the screen; the page has more


def tournament_report(tournament: Tournament, gate: str | None = None) -> Report:
    """Report of who is best, the leaderboard, what mattered, the notes; every table besides.

    Args:
        tournament: What was played.
        gate: The demand as it was typed, where there is one.
    """
    found, out = tournament.found, tournament.folder
    tables, full = board_tables(found.board, agent_costs(found.entries))
    if found.systems is not None:
        tables = [*comparison_tables(found.systems), *tables]
        full = [*comparison_tables(found.systems, rest=True), *full]
    return Report(
        data=tournament.report,
        gates=None if tournament.gate is None else _gates(tournament, tournament.gate, str(gate)),
        verdict=[*([] if found.systems is None else comparison_sentences(found.systems)), board_sentence(found.board)],
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
        file=tournament.report_path,
        next=[
            command("rank", str(out / "games.csv"), home=Path()),
            command("ui", home=tournament.home),
        ],
    )


def _further(found: Evaluation) -> list[TextTable]:
    """Further tables of the page: settings, aspects, lengths, corrected points, retrieval."""
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
        tables.append(TextTable(title, *RATES.screen(found.corrected.rates)))
    if found.retrieval is not None:
        tables.append(TextTable("Retrieval", *retrieval_rows(found.retrieval)))
    return tables
