"""Loads the judges of an agent's compile: the one that is its metric, and another one that reports."""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from judgec.errors import JudgecError, UserError
from judgec.lm.executor import Ask
from judgec.lm.session import Session
from judgec.lm.spec import LMSpec
from judgec.raters import programs
from judgec.raters.judge import JudgeTree, load_judge, require_asked
from judgec.records.card import ProgramCard
from judgec.records.tasks.registry import TASKS
from judgec.tournament.report.evaluation import why_unproven


@dataclass(frozen=True, slots=True)
class WorkingJudge:
    """A compiled judge that is used here.

    Args:
        name: With its version.
        judge: The judge.
        card: Its card.
        spec: Another model than that of its card, with its endpoint.
    """

    name: str
    judge: JudgeTree
    card: ProgramCard
    spec: LMSpec | None = None

    def ask(self, session: Session) -> Ask:
        """The way to the judge's own model: its endpoint is never taken from the card.

        Raises:
            UserError: It cannot be asked here.
        """
        if not self.judge.asks_lm:
            return session.ask
        spec = self.spec or programs.model_of(self.card, api_base=session.spec.base_beside(self.card.lm))
        require_asked(self.judge, self.name)
        return session.ask if spec.describe() == session.settled(session.spec).describe() else session.other(spec)


def judging(home: Path, reference: str, option: str, *, unproven: bool) -> WorkingJudge:
    """The judge called ``reference``; with ``unproven`` the newest where there is no champion.

    Raises:
        UserError: When there is none, it judges no answers, or it is not proven.
    """
    program = programs.load(home, programs.champion_or_newest(home, reference))
    card = program.card
    able = sorted(task for task, spec in TASKS.items() if spec.rates_answers)
    if card.task not in able:
        raise UserError(
            f"{option} {reference}: a judge of {card.task}; one of {', '.join(able)} is needed. Name another."
        )
    why = why_unproven(card)
    if why and not unproven:
        raise UserError(f"{option} {reference}: {why}. Compile a better one, or pass --unproven.")
    return WorkingJudge(f"{card.name}@{card.version}", load_judge(program), card)


def report_judging(
    home: Path, metric: WorkingJudge | None, require_able: Callable[[WorkingJudge], None]
) -> WorkingJudge | None:
    """The judge that reports where none is named: the first proven champion that is able and not the metric."""
    for name in programs.names(home):
        if programs.CHAMPION not in programs.aliases(home, name) or (metric and metric.card.name == name):
            continue
        try:
            found = judging(home, name, "--report-judge", unproven=False)
            require_able(found)
        except JudgecError:
            continue  # an agent, a judge of other things, one that is not proven or cannot be asked about these
        return found
    return None
