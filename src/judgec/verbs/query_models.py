"""Opens what writes, filters and judges test questions: models, and compiled judges by their names."""

from collections.abc import Collection
from pathlib import Path

from judgec.errors import UserError
from judgec.lm.executor import Ask
from judgec.lm.session import Session
from judgec.lm.spec import NO_LM, LMSpec
from judgec.rag.probes.judging.panel import FIELDS, ReplyPanel, uncompiled
from judgec.rag.queries.reliability import Reliability, ReliabilityJudge, Rules
from judgec.raters import programs
from judgec.raters.asked_judges import AskedJudge, AskedJudges
from judgec.raters.programs import Program
from judgec.records.scenario.schema import BY_JUDGE, CRITERIA
from judgec.records.tasks.registry import TASKS, require_better_above
from judgec.table.rows.columns import as_names
from judgec.verbs.opened import asked_by
from judgec.verbs.whom import as_loaded
from judgec.verbs.zero_shot import NAME as ZERO_SHOT
from judgec.verbs.zero_shot import is_zero_shot, require_model

BIAS = "bias"


def writer_spec(name: str, api_base: str | None, temperature: float) -> LMSpec:
    """The spec of a model that writes: it samples, so that one passage gives different questions."""
    plain = LMSpec.parse(name, api_base=None if name == NO_LM else api_base, top_logprobs=0)
    return plain if plain.no_model or plain.reasoning else plain.model_copy(update={"temperature": temperature})


def checking(spec: LMSpec) -> LMSpec:
    """The spec of the same model where it reads what was written: it does not sample."""
    return spec.model_copy(update={"temperature": None})


def ask_of(spec: LMSpec, session: Session) -> Ask:
    """The way to a model."""
    return session.ask if spec == session.spec else session.other(spec)


def open_reliability(name: str, home: Path, session: Session) -> Reliability | None:
    """The filter that ``--reliability`` names.

    Raises:
        UserError: When it is a judge of another task.
    """
    if name in {"none", "rules"}:
        return Rules() if name == "rules" else None
    program = programs.load(home, name, "--reliability")
    if program.card.task != "reliability":
        raise UserError(f"--reliability {name}: a judge of {program.card.task}; one of reliability is needed.")
    asked = _asked(program, session)
    return ReliabilityJudge(asked.name, asked.judge, asked.ask)


def open_panel(
    lm: str,
    criteria: str | None,
    rejection: str | None,
    home: Path,
    session: Session,
    unproven: bool,
    metrics: Collection[str] = (),
) -> ReplyPanel:
    """Compiled judges where they are named; else uncompiled prompts for a model, rules without one.

    Args:
        lm: As ``--lm``.
        criteria: As ``--judge``.
        rejection: As ``--rejection-judge``.
        home: Where judges are.
        session: The way to models.
        unproven: Take judges that were not shown to be better.
        metrics: All that an answer is asked to pass; ``judge:NAME`` among them is a compiled judge.

    Raises:
        UserError: When a judge is of another task, lacks a criterion, or is not proven, or nobody judges a metric.
    """
    panel = ReplyPanel() if session.spec.no_model else uncompiled(lm, session.ask)
    one, other = panel.criteria, panel.rejection
    if criteria is not None:
        one = _jury(criteria, one, "--judge", "answer", home, session, unproven)
    if rejection is not None:
        other = _jury(rejection, other, "--rejection-judge", "rejection", home, session, unproven)
    named = [metric for metric in metrics if metric.startswith(BY_JUDGE)]
    own = {name: AskedJudges((_grader(name, home, session, unproven),)) for name in named}
    further = {**panel.further, **own}
    if BIAS in metrics and BIAS not in further:
        raise UserError(f"metric {BIAS}: no rule sees it; a model or a judge is needed. Give --lm, or {BY_JUDGE}NAME.")
    return ReplyPanel(one, other, {name: jury for name, jury in further.items() if name in metrics})


def _jury(
    names: str, uncompiled_one: AskedJudges | None, option: str, task: str, home: Path, session: Session, unproven: bool
) -> AskedJudges:
    """The judge of a name, or with commas a jury, in which ``zero-shot`` is the prompt that nobody compiled."""
    members: list[AskedJudge] = []
    for name in as_names(names, option):
        said = name.partition(":")[2]
        if is_zero_shot(name, home) and said not in {"", task}:
            raise UserError(f"{option} {name}: a judge of {said}; {ZERO_SHOT}:{task} is valid here. Name it.")
        if not is_zero_shot(name, home):
            members.append(_judge_of(name, option, task, home, session, unproven))
        elif uncompiled_one is None:
            require_model(None, f"{option} {ZERO_SHOT}")
        else:
            members += uncompiled_one.members
    return AskedJudges(tuple(members))


def _grader(metric: str, home: Path, session: Session, unproven: bool) -> AskedJudge:
    """A compiled judge as a metric: of any task that reads no more than a reply has."""
    name, option = metric.removeprefix(BY_JUDGE), f"metric {metric}"
    program = programs.load(home, programs.champion_or_newest(home, name, option), option)
    require_better_above(program.card.task, f"metric {metric}")
    required = TASKS[program.card.task].required if program.card.task in TASKS else ()
    if not required or not set(required) <= set(FIELDS):
        raise UserError(
            f"metric {metric}: a judge of {program.card.task}; one of grade or answer is needed, which reads "
            f"{', '.join(FIELDS)} and no more. Name another."
        )
    return _proven(program, f"metric {metric}", session, unproven)


def _judge_of(name: str, option: str, task: str, home: Path, session: Session, unproven: bool) -> AskedJudge:
    program = programs.load(home, programs.champion_or_newest(home, name, option), option)
    card = program.card
    missing = [aspect for aspect in CRITERIA if task == "answer" and aspect not in card.aspects]
    if card.task != task or missing:
        wanted = f"one of answer with grade.{', grade.'.join(CRITERIA)}" if task == "answer" else f"one of {task}"
        raise UserError(
            f"{option} {name}: a judge of {card.task} ({', '.join(card.aspects)}); {wanted} is needed. Compile one."
        )
    return _proven(program, f"{option} {name}", session, unproven)


def _proven(program: Program, where: str, session: Session, unproven: bool) -> AskedJudge:
    card = program.card
    if not card.promoted and not unproven:
        raise UserError(f"{where}: not shown to be better ({card.reason}). Compile another, or --unproven.")
    return _asked(program, session)


def _asked(program: Program, session: Session) -> AskedJudge:
    """The judge with its own model, and what reports call it."""
    card = program.card
    given = as_loaded(program, api_base=session.spec.base_beside(card.lm))
    said = [*(["constructed labels"] if card.labels else []), *([] if card.promoted else ["unproven"])]
    return asked_by(given, session, f"{given.name} ({', '.join(said)})" if said else given.name)
