"""Who judges a probe: what ``--judge``, ``--rejection-judge`` and ``--lm`` say."""

from pathlib import Path

from judgec.cli.probe.generating import ask_of
from judgec.errors import UserError
from judgec.judges.judge import load_judge
from judgec.lm.session import Session
from judgec.lm.spec import LMSpec
from judgec.probes.judging.panel import ReplyPanel, Seat, uncompiled
from judgec.records.scenario.schema import CRITERIA
from judgec.store import programs


def open_panel(
    lm: str, criteria: str | None, rejection: str | None, home: Path, session: Session, unproven: bool
) -> ReplyPanel:
    """Compiled judges where they are named; else rules for the embedded engine, uncompiled prompts for a model.

    Args:
        lm: As ``--lm``.
        criteria: As ``--judge``.
        rejection: As ``--rejection-judge``.
        home: Where judges are.
        session: The way to models.
        unproven: Take judges that were not shown to be better.

    Raises:
        UserError: When a judge is of another task, lacks a criterion, or is not proven.
    """
    panel = ReplyPanel() if session.spec.embedded else uncompiled(lm, session.ask)
    one = panel.criteria if criteria is None else _seat(criteria, "--judge", "answer", home, session, unproven)
    other = (
        panel.rejection
        if rejection is None
        else _seat(rejection, "--rejection-judge", "rejection", home, session, unproven)
    )
    return ReplyPanel(one, other)


def _seat(name: str, option: str, task: str, home: Path, session: Session, unproven: bool) -> Seat:
    program = programs.load(home, name)
    card = program.card
    missing = [aspect for aspect in CRITERIA if task == "answer" and aspect not in card.aspects]
    if card.task != task or missing:
        wanted = f"one of answer with grade.{', grade.'.join(CRITERIA)}" if task == "answer" else f"one of {task}"
        raise UserError(
            f"{option} {name}: a judge of {card.task} ({', '.join(card.aspects)}); {wanted} is needed. Compile one."
        )
    if not card.promoted and not unproven:
        raise UserError(f"{option} {name}: not shown to be better ({card.reason}). Compile another, or --unproven.")
    said = [*(["constructed labels"] if card.labels else []), *([] if card.promoted else ["unproven"])]
    shown = f"{card.name}@{card.version}" + (f" ({', '.join(said)})" if said else "")
    return Seat(shown, load_judge(program), ask_of(LMSpec.from_card(card.lm), session))
