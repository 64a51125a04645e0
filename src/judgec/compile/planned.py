"""Plans a compile before anything is asked: its data, its prompt, who searches, and the calls that it may take."""

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass

import dspy

from judgec.compile.asked import check_untaught
from judgec.compile.dataset import Part
from judgec.compile.parts import Parts
from judgec.compile.prepare import prepared
from judgec.compile.rewrites import plan_rewrites
from judgec.compile.rivals import new_to_champion, standing_of
from judgec.compile.search.candidates import first_predictor, task_module
from judgec.compile.search.plan import (
    CallPlan,
    RoundsPlan,
    asked_once,
    items_of,
    plan_rounds,
    whole,
)
from judgec.compile.search.registry import OPTIMIZERS, Optimizer, find_optimizer
from judgec.compile.settings import CompileSettings
from judgec.errors import BudgetError
from judgec.lm.prices import CostEstimate
from judgec.lm.session import Session
from judgec.lm.watch import Watch
from judgec.raters.predictors import module_of
from judgec.raters.prompt import verdicts
from judgec.records.counts import plural
from judgec.records.label import LabelSet
from judgec.report.numbers import percent
from judgec.stats.agreement.objective import Objective
from judgec.stats.intervals.significance import level_for_test_use


@dataclass(frozen=True, slots=True)
class Planned:
    """A compile in advance.

    Args:
        parts: The data of every split.
        objective: What is maximized.
        module: The prompt of the task, or the user's.
        optimizer: Who proposes others.
        plan: The calls of all splits, and of each.
    """

    parts: Parts
    objective: Objective
    module: dspy.Module
    optimizer: Optimizer
    plan: RoundsPlan


def plan_judge(labels: LabelSet, settings: CompileSettings) -> Planned:
    """Plan a compile; nothing is asked and nothing is written.

    Raises:
        UserError: The labels cannot be learned from, or what was asked for does not fit them, or each other.
    """
    parts, objective = prepared(labels, settings)
    own, asked = settings.candidates.own, settings.candidates.asked
    module, optimizer = task_module(labels) if own is None else own.module, OPTIMIZERS["auto"]
    champion = _champion(parts, module, settings)
    if asked or not settings.asks:
        check_untaught(parts, asked)
        free = CallPlan((), 0, 0.0, None, searches=True, reflects=False)  # nothing is asked, nobody proposes
        whole = plan_rewrites(parts, settings, champion) if asked else free
        return Planned(parts, objective, module, optimizer, RoundsPlan(whole, (whole,) * len(parts.rounds), parts))
    reflects = settings.search.reflection is not None
    optimizer = find_optimizer(
        settings.search.optimizer, reflection=reflects, no_reflection=settings.search.no_reflection
    )
    plan = plan_rounds(parts, module, settings, optimizer, champion)
    return Planned(parts, objective, module, optimizer, plan)


def _champion(parts: Parts, module: dspy.Module, settings: CompileSettings) -> CostEstimate:
    """Cost of asking each prompt of the champion about what is new to it, but for one that is asked anyway."""
    found, costs = new_to_champion(parts.pooled, settings), CostEstimate()
    if found is None:
        return costs
    judge, spec, items = found
    asked = {one.name: one.module for one in settings.candidates.asked} or {"": module}
    known = {
        (first_predictor(one).signature.instructions, settings.lm.members.get(name, settings.lm).model)
        for name, one in asked.items()
    }
    for leaf in judge.prompts:
        own = module if leaf.turns else module_of(leaf, judge.scale)
        lm = spec.members.get(leaf.name, spec)
        predict = first_predictor(own)
        if predict.demos or leaf.turns or (predict.signature.instructions, lm.model) not in known:
            costs += whole(asked_once(own, items, lm), settings)
    return costs


def ask_ahead(planned: Planned, session: Session, watch: Watch) -> None:
    """Ask the uncompiled judge about everything that some split learns from or tests, which nothing found changes.

    Its replies stay in the journal, where each split finds those that it may see. A service that is lost ends it here:
    a search on a part of them would be another one.

    Raises:
        ServiceError: When the LM cannot be reached.
    """
    parts = planned.plan.parts
    items, labels = items_of(parts), parts.pooled.labels
    watch.stage("baselines", f"the uncompiled judge on {plural(len(items), 'item')}")
    with suppress(BudgetError):  # replies that were asked for again; those that are missing say so
        verdicts(planned.module, items, ask=session.ask_whole, scale=labels.scale, aspects=labels.aspects)


def tell_plan(planned: Planned, settings: CompileSettings, watch: Watch) -> None:
    """Say how the labels are split, which use of the test queries it is, and what it may take."""
    dataset, plan = planned.parts.pooled, planned.plan.whole
    if dataset.split.folds > 1:
        tested = f"{len(dataset.test)} items ({dataset.test.n_queries} queries)"
        watch.stage("split", f"{plural(dataset.split.folds, 'fold')}, {tested}")
    else:
        parts: Sequence[Part] = (dataset.train, dataset.dev, dataset.test)
        sizes = [f"{part.name} {plural(len(part), 'item')} ({plural(part.n_queries, 'query')})" for part in parts]
        watch.stage("split", ", ".join(sizes))
    if (use := standing_of(dataset, settings).test_use) > 1:
        level = percent(1 - level_for_test_use(use), 1)
        watch.stage(
            "test use", f"{use} of these test queries, decided at {level}; --dry-run shows a plan and uses none"
        )
    said = "no model, evidence alone" if settings.no_model else f"{plan.shown()}; {settings.lm.asked_at}"
    if settings.candidates.recorded is not None and not settings.candidates.asked:
        said = "recorded verdicts, no model is asked"
    watch.stage("plan", said)
