"""``compile_judge``: labels in, a measured judge out, promoted only when it is better.

A compile is a loop over splits, the single one or the folds and one that refits on all. In each all candidates are
rated, a prompt that can be rewritten is searched for, everybody is calibrated out of fold, one rule says who wins,
several may be made one tree, and the test items are judged. What the splits tested is measured together and decided.
"""

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, replace

import dspy

from judgec.compile.asked import ask_candidates, check_untaught
from judgec.compile.assemble import Bench, Fitted, calibrated, evidence_only
from judgec.compile.cascades import CascadeFound, Tested, make_cascade, outcome
from judgec.compile.choose import Choice, choose, recorded_candidate
from judgec.compile.dataset import Dataset, Part
from judgec.compile.folds.parts import Parts
from judgec.compile.leaves import leaves_of
from judgec.compile.made import Made
from judgec.compile.measured import Compiled, measured
from judgec.compile.pools import best_pool
from judgec.compile.prepare import prepared
from judgec.compile.rewrites import plan_rewrites, rewritten
from judgec.compile.rivals import standing_of
from judgec.compile.search.candidates import UNCOMPILED, Candidate, task_module
from judgec.compile.search.plan import ASKED_AGAIN, CallPlan, RoundsPlan, items_of, plan_rounds
from judgec.compile.search.registry import OPTIMIZERS, Optimizer, find_optimizer
from judgec.compile.search.search import search_prompt
from judgec.compile.search.task import orders_of
from judgec.compile.settings import CompileSettings
from judgec.compile.verify import judge_test
from judgec.errors import BudgetError, UserError
from judgec.evidence.model import EvidenceModel
from judgec.lm.session import Session
from judgec.lm.watch import Watch
from judgec.raters import programs
from judgec.raters.prompt import verdicts
from judgec.raters.tree import EVIDENCE
from judgec.records.counts import plural
from judgec.records.label import LabelSet
from judgec.records.language import languages_of
from judgec.report.numbers import percent
from judgec.stats.agreement.objective import Objective
from judgec.stats.intervals.significance import level_for_test_use


@dataclass(frozen=True, slots=True)
class Work:
    """The parts that all splits of a compile share."""

    module: dspy.Module
    settings: CompileSettings
    session: Session
    optimizer: Optimizer
    objective: Objective
    watch: Watch


def compile_judge(labels: LabelSet, settings: CompileSettings, session: Session, watch: Watch) -> Compiled:
    """Compile a judge from labels; nothing is written but the journal.

    Args:
        labels: From ``labels.labels.read_labels``.
        settings: What the user asked for.
        session: The way to the LM.
        watch: Told where the compile is.

    Raises:
        UserError: When the labels cannot be learned from, or the objective does not fit them.
        ServiceError: When the LM fails for good.
    """
    parts, objective = prepared(labels, settings)
    module = _prompt_of(labels, settings)
    _tell_split(parts.pooled, settings, watch)
    optimizer, plan = _planned(parts, module, settings)
    _tell_plan(plan.whole, settings, watch)
    if settings.asks:
        session.preflight(reflects=plan.whole.reflects)
        settings = replace(settings, lm=session.settled(settings.lm))  # for the card: as it is asked
    told: tuple[str, ...] = ()
    if settings.rewrites:
        settings, told = rewritten(parts, settings, plan.whole, session, objective, watch)
    if settings.candidates.asked:
        whole = ask_candidates(labels, settings, session.other_whole(settings.lm), watch, told)
        settings = replace(settings, candidates=replace(settings.candidates, recorded=whole))
    if settings.candidates.recorded is None and not settings.no_model:
        _ask_ahead(plan.parts, module, session, watch)
    work = Work(module, settings, session, optimizer, objective, watch)
    made: list[Made] = []
    for data, rest, room in zip(plan.parts.rounds, parts.rounds, plan.rounds, strict=True):
        made = [one.without_verdicts() for one in made]
        of = f", round {len(made) + 1} of {len(parts.rounds)}" if parts.refit else ""
        made.append(compile_split(work, data, rest, room, of))
    cascade = _tested_cascade(parts, made, settings)
    if cascade is not None and cascade.shipped:
        made = [one.with_cascade() for one in made]
    return measured(parts, made, cascade, settings, session)


def compile_split(work: Work, data: Dataset, every: Dataset, plan: CallPlan, of: str = "") -> Made:
    """Rate, search, calibrate, choose, make a tree of several, and judge the test items.

    Args:
        work: What all splits share.
        data: Its train, dev and test items, those that the caps let a search learn from.
        every: All of them.
        plan: What it may ask, and what it must leave to the splits after it.
        of: Which split it is, for the watch; empty with the single one.
    """
    settings, watch, pooled, cascade = work.settings, work.watch, None, None
    bench = _bench(work, data)
    choice = _chosen(work, bench, plan)
    shipped = choice.best.candidate
    judge = evidence_only(bench, shipped) if settings.no_model else choice.best.judge
    if settings.candidates.combine.pool is not None:
        those = {name: one for name, one in choice.rated.items() if one.graded is not None}
        pooled = best_pool(bench, those, shipped.name, choice.uncompiled.name, settings.candidates.combine.pool, watch)
        judge = pooled.judge or pooled.single
        if pooled.judge is not None and pooled.rated is not None:
            shipped = pooled.rated.candidate
    if len(every.train) > len(data.train):
        judge, new = None, shipped.name != UNCOMPILED
        bench = _bench(work, _topped_up(work, data, every, plan, new=new))
        choice = replace(choice, notes=(*choice.notes, _learned(data, bench.learned, every)))
    watch.stage("calibrate", f"{'evidence' if settings.no_model else f'prompt {shipped.name}'}{of}")
    judge = calibrated(bench, shipped, judge)
    if settings.no_model:
        _require_evidence(bench, judge)
    if settings.candidates.combine.cascade is not None:
        cascade = make_cascade(bench, *_two(bench, shipped, settings), settings, watch)
    if not data.test.items:
        return Made(bench, choice, shipped, judge, {}, None, pooled, cascade)
    watch.stage("verify", f"{plural(len(data.test), 'test item')}{of}")
    judged, bare = judge_test(bench, judge, shipped, choice, None if pooled is None else pooled.single)
    return Made(bench, choice, shipped, judge, judged, bare, pooled, cascade)


def _chosen(work: Work, bench: Bench, plan: CallPlan) -> Choice:
    """The candidates of a split and who wins: recorded ones, or a prompt and what a search makes of it."""
    settings, watch = work.settings, work.watch
    if bench.recorded is not None:
        names = list(bench.recorded.judges)
        watch.stage("search", f"{plural(len(names), 'judge')}, on train and dev, by {work.objective.name}")
        those = [recorded_candidate(bench, name) for name in names]
        return choose(bench, those, beside=settings.candidates.baseline, rewritten=settings.compiled_names)
    uncompiled = Candidate(UNCOMPILED, work.module)
    if settings.no_model:
        return Choice.of_nobody(bench, uncompiled)
    found = search_prompt(bench, uncompiled, settings, work.session, plan, work.optimizer, watch)
    new = found.chosen.name != UNCOMPILED
    if new and settings.caps.batch:
        watch.stage("batch", f"prompt {found.chosen.name} on what calibrates and tests it")
        asked = (bench.learned, *([bench.dataset.test] if bench.dataset.test.items else []))
        work.session.together(lambda ask: [replace(bench, ask=ask).raw(found.chosen, one) for one in asked], bench.ask)
    both = [uncompiled, *([found.chosen] if new else [])]
    choice = choose(bench, both, beside=UNCOMPILED, rewritten={found.chosen.name} if new else frozenset())
    lost = [
        f"prompt {found.chosen.name} won on dev but, once calibrated, agrees less than the uncompiled one: not used"
    ]
    notes = (*found.notes, *(lost if new and choice.best.name == UNCOMPILED else []))
    return replace(choice, searched=found.standings, notes=notes)


def _topped_up(work: Work, data: Dataset, every: Dataset, plan: CallPlan, *, new: bool) -> Dataset:
    """The data with as many train items on top as the caps leave room for: the calibrator learns from them, too."""
    orders = orders_of(work.module)
    later = plan.stage("champion").calls + (orders * len(data.test) if new else 0)
    room = work.session.room(plan.usd_a_call)
    more = len(every.train) if room is None else int((room - later) / (1 + ASKED_AGAIN)) // orders
    asked = {item.item_id for item in data.train.items}
    rest = [i for i, item in enumerate(every.train.items) if item.item_id not in asked][: max(0, more)]
    rows = [i for i, item in enumerate(every.train.items) if item.item_id in asked]
    return replace(data, train=every.train.rows(sorted(rows + rest)))


def _learned(searched: Dataset, calibrated: Part, every: Dataset) -> str:
    few, most = (len(one.train) + len(one.dev) for one in (searched, every))
    return (
        f"the caps let the search learn from {few:,} of {most:,} items of train and dev, and the calibrator from "
        f"{len(calibrated):,}; more calls would be for the others"
    )


def _bench(work: Work, data: Dataset) -> Bench:
    """The parts that all judges of a split share, with evidence fitted on its train items."""
    labels, settings = data.labels, work.settings
    fits = EvidenceModel.fit(data.train.items, labels.task, languages_of(labels.items)) if settings.evidence else None
    return Bench(
        data,
        work.session.finish,
        fits,
        settings.seed,
        work.objective,
        work.module,
        no_model=settings.no_model,
        recorded=settings.candidates.recorded,
        leaves=leaves_of(settings, labels),
        lm={} if settings.lm.members else settings.lm.describe(),
    )


def _two(bench: Bench, shipped: Candidate, settings: CompileSettings) -> tuple[Candidate | None, Candidate]:
    """The two judges of a cascade; None for evidence."""
    assert settings.candidates.combine.cascade is not None
    cheap, dear = settings.candidates.combine.cascade
    if bench.recorded is None:
        return None, shipped
    return None if cheap == EVIDENCE else recorded_candidate(bench, cheap), recorded_candidate(bench, dear)


def _require_evidence(bench: Bench, judge: Fitted) -> None:
    if judge.asks_lm:
        missing = ", ".join(name for name in bench.aspects if name not in judge.calibrators)
        raise UserError(
            f"{missing}: no label of it falls into train or dev, and nobody else would grade it; labels or a model "
            "that is asked are needed. Label more items, or name a model with --lm."
        )


def _ask_ahead(parts: Parts, module: dspy.Module, session: Session, watch: Watch) -> None:
    """Ask the uncompiled judge about everything that some split learns from or tests, which nothing found changes.

    Its replies stay in the journal, where each split finds those that it may see. A service that is lost ends it here:
    a search on a part of them would be another one.

    Raises:
        ServiceError: When the LM cannot be reached.
    """
    items, labels = items_of(parts), parts.pooled.labels
    watch.stage("baselines", f"the uncompiled judge on {plural(len(items), 'item')}")
    with suppress(BudgetError):  # replies that were asked for again; those that are missing say so
        verdicts(module, items, ask=session.ask_whole, scale=labels.scale, aspects=labels.aspects)


def _tested_cascade(parts: Parts, made: Sequence[Made], settings: CompileSettings) -> CascadeFound | None:
    """Tests the cascade's promise on all test items, each by the cascade of its split."""
    tested = [one.cascade.tested for one in made[: len(parts.tested)] if one.cascade is not None and one.cascade.tested]
    last = made[-1].cascade
    if last is None:
        return None
    both = Tested(*(parts.pool([getattr(one, name) for one in tested]) for name in ("cheap", "dear", "whole", "raw")))
    return outcome(replace(made[-1].bench, dataset=parts.pooled), parts.pooled.test, last, both, settings)


def plan_judge(labels: LabelSet, settings: CompileSettings) -> tuple[Dataset, CallPlan]:
    """Plans what a compile would ask, without asking anything.

    Raises:
        UserError: As ``compile_judge`` before its first call.
    """
    parts, _ = prepared(labels, settings)
    return parts.pooled, _planned(parts, _prompt_of(labels, settings), settings)[1].whole


def _prompt_of(labels: LabelSet, settings: CompileSettings) -> dspy.Module:
    own = settings.candidates.own
    return task_module(labels) if own is None else own.module


def _planned(parts: Parts, module: dspy.Module, settings: CompileSettings) -> tuple[Optimizer, RoundsPlan]:
    if settings.candidates.asked:
        check_untaught(parts, settings.candidates.asked)
        whole = plan_rewrites(parts, settings)
        return OPTIMIZERS["auto"], RoundsPlan(whole, (whole,) * len(parts.rounds), parts)
    if not settings.asks:
        free = CallPlan((), 0, 0.0, None, searches=True, reflects=False)
        return OPTIMIZERS["auto"], RoundsPlan(
            free, (free,) * len(parts.rounds), parts
        )  # nothing is asked, nobody proposes
    optimizer = find_optimizer(
        settings.search.optimizer,
        reflection=settings.search.reflection is not None,
        no_reflection=settings.search.no_reflection,
    )
    champion = programs.CHAMPION in programs.aliases(settings.home, settings.name)
    return optimizer, plan_rounds(parts, module, settings, optimizer, champion=champion)


def _tell_split(dataset: Dataset, settings: CompileSettings, watch: Watch) -> None:
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


def _tell_plan(plan: CallPlan, settings: CompileSettings, watch: Watch) -> None:
    said = "no model, evidence alone" if settings.no_model else f"{plan.shown()}; {settings.lm.asked_at}"
    if settings.candidates.recorded is not None and not settings.candidates.asked:
        said = "recorded verdicts, no model is asked"
    watch.stage("plan", said)
