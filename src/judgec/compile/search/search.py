"""Chooses the prompt: an optimizer proposes candidates within the budget, a race on dev decides."""

from dataclasses import replace

from judgec.compile.assemble import Bench, Fitted, calibration_data, everything_asked, fitted
from judgec.compile.choose import ChosenPrompt, ScoredCandidate
from judgec.compile.search.candidates import Candidate, instructed
from judgec.compile.search.plan import CallPlan
from judgec.compile.search.race import RaceStanding
from judgec.compile.search.registry import NONE, Optimizer
from judgec.compile.search.task import Task
from judgec.compile.settings import CompileSettings
from judgec.lm.session import Session
from judgec.lm.watch import Noting, Watch
from judgec.records.judgment import Judgments
from judgec.report.numbers import objective_name
from judgec.stats.agreement.objective import Objective


def choose_prompt(
    bench: Bench,
    uncompiled: Candidate,
    settings: CompileSettings,
    session: Session,
    plan: CallPlan,
    optimizer: Optimizer,
    objective: Objective,
    watch: Watch,
) -> ChosenPrompt:
    """Search for a prompt that ranks dev better, and leave the caps room for calibrating and testing it.

    Args:
        bench: Labels, scale, and the way to judge what must be judged.
        uncompiled: The judge as it is.
        settings: What was asked for.
        session: The models and the caps.
        plan: What must be kept back.
        optimizer: Proposes.
        objective: Decides.
        watch: Told what happens.
    """
    watch.stage("baselines", "the uncompiled judge on train")
    verdicts = bench.raw(uncompiled, bench.dataset.train)
    watch.stage("search", f"{settings.optimizer}, on dev, by {objective_name(objective.name)}")
    notes = Noting(watch)
    standings: dict[str, tuple[Candidate, RaceStanding]] = {}
    task = Task(
        module=uncompiled.module,
        train=bench.dataset.train,
        dev=bench.dataset.dev,
        verdicts=verdicts,
        scale=bench.scale,
        accept_only=bench.dataset.labels.accept_only,
        objective=objective,
        ask=session.ask,
        lm=session.lm,
        reflection=session.reflection,
        no_reflection=settings.no_reflection,
        room=lambda: session.room(plan.usd_a_call),
        seed=settings.seed,
        watch=notes,
        standings=standings,
        own=instructed(uncompiled.module, settings.prompts),
    )
    with session.keeping_back(plan.kept_back, plan.kept_back_usd):
        chosen = _winner(task, uncompiled, optimizer, notes) if plan.searches else uncompiled
        if not plan.searches and settings.optimizer != NONE:
            why = f"the caps leave {task.room()} calls for one" if len(task.dev) else "no label falls into dev"
            notes.note(f"no search: {why}; the judge is calibrated as it is")
    if not standings:
        standings[uncompiled.name] = (uncompiled, _standing(task, bench.raw(uncompiled, task.dev)))
    if settings.batch and chosen.name != uncompiled.name:
        watch.stage("batch", f"prompt {chosen.name} on what calibrates and tests it")
        session.together(lambda ask: everything_asked(replace(bench, ask=ask), chosen), bench.ask)
    judge = None if chosen.name == uncompiled.name else _informed(bench, chosen, uncompiled)
    if chosen.name != uncompiled.name and judge is None:
        notes.note(
            f"prompt {chosen.name} won on dev but, once calibrated, agrees less than the uncompiled one: not used"
        )
        chosen = uncompiled
    scored = tuple(ScoredCandidate(one, at.value, at.unscored, at.items) for one, at in standings.values())
    return ChosenPrompt(chosen, judge, scored, tuple(notes.said))


def _winner(task: Task, uncompiled: Candidate, optimizer: Optimizer, notes: Noting) -> Candidate:
    found = [uncompiled, *task.own, *optimizer.search(task)]
    raced = task.race(found)
    if raced.stopped:
        notes.note(f"the race was cut short: {raced.stopped}")
    return found[raced.chosen]


def _informed(bench: Bench, chosen: Candidate, uncompiled: Candidate) -> Fitted | None:
    """The chosen prompt, calibrated, if it agrees with the experts at least as well as the uncompiled one does.

    A prompt can rank dev better as it is and still carry less that a calibrator and a decision rule can use. Both
    judges are cross-validated on the same items, none of which the prompt was made from; their verdicts are needed
    anyway.
    """
    part, raw = calibration_data(bench, chosen)
    mine, bare = (
        fitted(bench, one, part, said) for one, said in ((chosen, raw), (uncompiled, bench.raw(uncompiled, part)))
    )
    return mine if _worth(mine) >= _worth(bare) else None


def _worth(judge: Fitted) -> float:
    """Mean out-of-fold objective of the aspects; 0 where nothing could be cross-validated."""
    values = [choice.value or 0.0 for one in judge.calibrators.values() for choice in one.choices if choice.chosen]
    return sum(values) / len(values) if values else 0.0


def _standing(task: Task, raw: Judgments) -> RaceStanding:
    return RaceStanding(task.value(task.dev, raw), len(task.dev), int((~raw.scored).sum()))
