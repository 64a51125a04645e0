"""``compile_judge``: labels in, a measured judge out, promoted only when it is better.

A compile is a loop over splits, the single one or the folds and one that refits on all. In each all candidates are
rated, a prompt that can be rewritten is searched for, everybody is calibrated out of fold, one rule says who wins,
several may be made one tree, and the test items are judged. What the splits tested is measured together and decided.
"""

from dataclasses import dataclass, replace

from judgec.compile.asked import ask_candidates
from judgec.compile.assemble import Bench, Fitted, calibrated, evidence_only
from judgec.compile.cascades import make_cascade, tested_cascade
from judgec.compile.choose import Choice, choose, recorded_candidate
from judgec.compile.dataset import Dataset, Part
from judgec.compile.leaves import leaves_of
from judgec.compile.made import Made
from judgec.compile.measured import Compiled, measured
from judgec.compile.planned import Planned, ask_ahead, plan_judge, tell_plan
from judgec.compile.pools import best_pool
from judgec.compile.rewrites import rewritten
from judgec.compile.search.candidates import UNCOMPILED, Candidate
from judgec.compile.search.plan import ASKED_AGAIN, CallPlan
from judgec.compile.search.search import search_prompt
from judgec.compile.search.task import orders_of
from judgec.compile.settings import CompileSettings
from judgec.compile.verify import judge_test
from judgec.errors import UserError
from judgec.evidence.model import EvidenceModel
from judgec.lm.session import Session
from judgec.lm.watch import Watch
from judgec.raters.tree import EVIDENCE
from judgec.records.counts import plural
from judgec.records.label import LabelSet
from judgec.records.language import languages_of


@dataclass(frozen=True, slots=True)
class Work:
    """The parts that all splits of a compile share."""

    planned: Planned
    settings: CompileSettings
    session: Session
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
    planned = plan_judge(labels, settings)
    parts, plan = planned.parts, planned.plan
    tell_plan(planned, settings, watch)
    if settings.asks:
        session.preflight(reflects=plan.whole.reflects)
        settings = replace(settings, lm=session.settled(settings.lm))  # for the card: as it is asked
    told: tuple[str, ...] = ()
    if settings.rewrites:
        settings, told = rewritten(parts, settings, plan.whole, session, planned.objective, watch)
    if settings.candidates.asked:
        whole = ask_candidates(labels, settings, session.other_whole(settings.lm), watch, told)
        settings = replace(settings, candidates=replace(settings.candidates, recorded=whole))
    if settings.candidates.recorded is None and not settings.no_model:
        ask_ahead(planned, session, watch)
    work, made = Work(planned, settings, session, watch), list[Made]()
    for data, rest, room in zip(plan.parts.rounds, parts.rounds, plan.rounds, strict=True):
        made = [one.without_verdicts() for one in made]
        of = f", round {len(made) + 1} of {len(parts.rounds)}" if parts.refit else ""
        made.append(compile_split(work, data, rest, room, of))
    cascade = tested_cascade(parts, made[-1].bench, [one.cascade for one in made], settings)
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
    if data is not every:
        judge, new = None, shipped.name != UNCOMPILED
        bench = _bench(work, _topped_up(work, data, every, plan, new=new))
        notes = (*choice.notes, *_learned(data, bench.learned, every, searched=plan.searches))
        choice = replace(choice, uncompiled=replace(choice.uncompiled, judge=None), notes=notes)
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
        watch.stage("search", f"{plural(len(names), 'judge')}, on train and dev, by {work.planned.objective.name}")
        those = [recorded_candidate(bench, name) for name in names]
        return choose(bench, those, beside=settings.candidates.baseline, rewritten=settings.compiled_names)
    uncompiled = Candidate(UNCOMPILED, work.planned.module)
    if settings.no_model:
        return Choice.of_nobody(bench, uncompiled)
    found = search_prompt(bench, uncompiled, settings, work.session, plan, work.planned.optimizer, watch)
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
    """The data with as many items on top as the caps leave room for: calibrators learn from them, too.

    A new prompt is asked about them, and the prompt as it was, which it is held against.
    """
    orders = orders_of(work.planned.module)
    later = plan.stage("champion").calls + (orders * len(data.test) if new else 0)
    room, parts = work.session.room(plan.usd_a_call), {"train": every.train, "dev": every.dev}
    left = None if room is None else max(0, int((room - later) / (1 + ASKED_AGAIN)) // (orders * (1 + new)))
    for name, part in parts.items():
        asked = {item.item_id for item in getattr(data, name).items}
        more = [i for i, item in enumerate(part.items) if item.item_id not in asked][:left]
        left = None if left is None else left - len(more)
        rows = [i for i, item in enumerate(part.items) if item.item_id in asked]
        parts[name] = part.rows(sorted(rows + more))
    return replace(data, train=parts["train"], dev=parts["dev"])


def _learned(data: Dataset, calibrated: Part, every: Dataset, *, searched: bool) -> list[str]:
    """Note on what the caps let nobody learn from; none where that is nothing."""
    few, most = (len(one.train) + len(one.dev) for one in (data, every))
    those = [("the search", few)] if searched else []
    those += [("the calibrator", len(calibrated))] if len(calibrated) < most else []
    said = ", ".join(f"{who} {'from' if n else 'learn from'} {count:,}" for n, (who, count) in enumerate(those))
    return (
        [f"the caps let {said} of {most:,} items of train and dev; more calls would be for the others"] if said else []
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
        work.planned.objective,
        work.planned.module,
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
