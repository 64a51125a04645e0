"""Searches for a prompt: an optimizer proposes candidates within the budget, a race on dev decides."""

from collections.abc import Mapping
from dataclasses import dataclass

from judgec.compile.assemble import Bench
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


@dataclass(frozen=True, slots=True)
class Searched:
    """What a search has found.

    Args:
        chosen: The prompt that was best on dev; the uncompiled one where none was better.
        standings: Every candidate that ran, with its objective on dev, by name.
        notes: For the user.
    """

    chosen: Candidate
    standings: Mapping[str, tuple[Candidate, RaceStanding]]
    notes: tuple[str, ...]


def search_prompt(
    bench: Bench,
    uncompiled: Candidate,
    settings: CompileSettings,
    session: Session,
    plan: CallPlan,
    optimizer: Optimizer,
    watch: Watch,
) -> Searched:
    """Search for a prompt that ranks dev better, and leave the caps room for calibrating and testing it.

    Args:
        bench: Labels, scale, and the way to judge what must be judged.
        uncompiled: The judge as it is.
        settings: What was asked for.
        session: The models and the caps.
        plan: What must be kept back.
        optimizer: Proposes.
        watch: Told what happens.
    """
    objective = bench.objective
    verdicts = bench.raw(uncompiled, bench.dataset.train)
    on_dev = bench.raw(uncompiled, bench.dataset.dev)
    watch.stage("search", f"{settings.search.optimizer}, on dev, by {objective_name(objective.name)}")
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
        no_reflection=settings.search.no_reflection,
        room=lambda: session.room(plan.usd_a_call),
        seed=settings.seed,
        watch=notes,
        standings=standings,
        own=instructed(uncompiled.module, settings.search.prompts),
    )
    with session.keeping_back(plan.kept_back, plan.kept_back_usd):
        chosen = _winner(task, uncompiled, optimizer, notes) if plan.searches else uncompiled
        if not plan.searches and settings.search.optimizer != NONE:
            why = f"the caps leave {task.room()} calls for one" if len(task.dev) else "no label falls into dev"
            notes.note(f"no search: {why}; the judge is calibrated as it is")
    if not standings:
        standings[uncompiled.name] = (uncompiled, _standing(task, on_dev))
    return Searched(chosen, standings, tuple(notes.said))


def _winner(task: Task, uncompiled: Candidate, optimizer: Optimizer, notes: Noting) -> Candidate:
    found = [uncompiled, *task.own, *optimizer.search(task)]
    raced = task.race(found)
    if raced.stopped:
        notes.note(f"the race was cut short: {raced.stopped}")
    return found[raced.chosen]


def _standing(task: Task, raw: Judgments) -> RaceStanding:
    return RaceStanding(task.value(task.dev, raw), len(task.dev), int((~raw.scored).sum()))
