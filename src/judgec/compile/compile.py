"""``compile_judge``: labels in, a measured judge out, promoted only when it is better."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import ClassVar

import dspy

from judgec.compile.asked import ask_candidates, check_untaught
from judgec.compile.assemble import Fitted
from judgec.compile.cascades import CascadeFound, Tested, outcome
from judgec.compile.choose import ChosenPrompt, PanelSize, ScoredCandidate
from judgec.compile.compared import difference
from judgec.compile.costs import judge_costs
from judgec.compile.dataset import Dataset, Part, ratings_of
from judgec.compile.family_state import FamilyState
from judgec.compile.folds.parts import Parts, make_parts
from judgec.compile.folds.plan import RoundsPlan, plan_rounds
from judgec.compile.folds.rounds import Compiling, Round, pooled_judgments
from judgec.compile.pair_columns import LONGEST, follows_length
from judgec.compile.panels import Member, members_of
from judgec.compile.promote import Decision
from judgec.compile.rewrites import plan_rewrites, rewritten
from judgec.compile.rivals import PromotionTest, standing_of
from judgec.compile.search.candidates import UNCOMPILED, Candidate, task_module
from judgec.compile.search.plan import CallPlan
from judgec.compile.search.registry import OPTIMIZERS, Optimizer, find_optimizer
from judgec.compile.settings import JURY_KIND, CompileSettings
from judgec.compile.verify import BEST_ALONE, COMPILED_SINGLE, NO_PROMPT, Verification, labelled, verify
from judgec.errors import UserError
from judgec.labels.split.draw import folds_of
from judgec.labels.split.family import read_family
from judgec.labels.split.memory import read_memory
from judgec.lm.adapters import CHAT
from judgec.lm.session import Session
from judgec.lm.watch import Watch
from judgec.raters import programs
from judgec.raters.judge import JudgeTree
from judgec.raters.predictors import with_instructions
from judgec.raters.prompt import verdicts
from judgec.raters.replies import is_unread
from judgec.raters.tasks.preference import weighing
from judgec.records.card import ProgramCard, Setting
from judgec.records.cost import JudgeCost
from judgec.records.counts import plural
from judgec.records.estimate import Estimate
from judgec.records.label import InputCounts, LabelSet
from judgec.records.tasks.registry import compares, finds_modes
from judgec.report.numbers import percent
from judgec.stats.agreement.difference import differences
from judgec.stats.agreement.measure import Resampling
from judgec.stats.agreement.objective import Objective, parse_objective
from judgec.stats.agreement.system_tau import LEAST_QUERIES
from judgec.stats.intervals.significance import level_for_test_use


@dataclass(frozen=True)
class Compiled:
    """Everything a compile found out.

    Args:
        dataset: Labels and split.
        judge: The compiled judge.
        choice: Its prompt, and every candidate.
        verification: All judges on the test split.
        prompt_gain: Compiled minus uncompiled, both calibrated: what the prompt alone brought.
        decision: Whether it was promoted.
        notes: What came up on the way.
        promotion_test: How it was decided; decided again when another compile finishes first.
        standing: The test use, and the champion it was compared with.
        earlier: The version that this compile had made before, or None.
        folds: What each fold chose, where there are several; the judge's own choice was made on all.
        combined: What came of looking for a panel, or of two judges one after the other; None where nobody asked.
        costs: What each judge that could have shipped costs, and what it is worth.
    """

    dataset: Dataset
    judge: Fitted
    choice: ChosenPrompt
    verification: Verification
    prompt_gain: dict[str, Estimate]
    decision: Decision
    notes: tuple[str, ...]
    promotion_test: PromotionTest
    standing: FamilyState
    earlier: ProgramCard | None = None
    folds: tuple[ChosenPrompt, ...] = ()
    combined: "PanelFound | CascadeFound | None" = None
    costs: tuple[JudgeCost, ...] = ()

    @property
    def panel(self) -> "PanelFound | None":
        """Result of the search for a panel."""
        return self.combined if isinstance(self.combined, PanelFound) else None

    @property
    def chosen(self) -> Candidate:
        """The prompt of the judge."""
        return self.choice.chosen

    @property
    def scored(self) -> tuple[ScoredCandidate, ...]:
        """Every candidate with its objective on dev, in the order tried."""
        return self.choice.scored


MOST_UNREAD = 0.05  # share of the baseline's verdicts that may be unreadable where a gain over it counts


@dataclass(frozen=True, slots=True)
class PanelFound:
    """A panel in the report.

    Args:
        kind: ``mean``, or ``single`` where no panel was better.
        members: Who is on it, and what each adds.
        incumbent: The best single judge.
        gain: The compiled judge minus that one, compiled, on test.
        curve: Of ``--panel auto``, the sizes that were compared.
    """

    kind: str
    members: tuple[Member, ...]
    incumbent: str
    gain: Estimate
    curve: tuple[PanelSize, ...] = ()

    key: ClassVar = "panel"  # of report.json

    def to_json(self) -> dict[str, object]:
        """The report's ``panel``."""
        return {
            "kind": self.kind,
            "members": [one.to_json() for one in self.members],
            "incumbent": self.incumbent,
            "gain": self.gain.to_json(),
            **({"curve": [one.to_json() for one in self.curve]} if self.curve else {}),
        }


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
    parts, objective = _prepare(labels, settings)
    dataset = parts.pooled
    watch.stage("split", _sizes(dataset))
    if (use := standing_of(dataset, settings).test_use) > 1:
        level = percent(1 - level_for_test_use(use), 1)
        watch.stage(
            "test use", f"{use} of these test queries, decided at {level}; --dry-run shows a plan and uses none"
        )
    module = _module(labels, settings)
    optimizer, plan = _planned(parts, module, settings)
    said = "no model, evidence alone" if settings.no_model else f"{plan.whole.shown()}; {settings.lm.asked_at}"
    if settings.rated.recorded is not None and not settings.rated.asked:
        said = "recorded verdicts, no model is asked"
    watch.stage("plan", said)
    if not settings.no_model and (settings.rated.recorded is None or settings.rated.asked):
        session.preflight(reflects=plan.whole.reflects)
        settings = replace(settings, lm=session.settled(settings.lm))  # for the card: as it is asked
    if settings.rewrites:
        settings = rewritten(parts, settings, plan.whole, session, objective, watch)
    if settings.rated.asked:
        whole = ask_candidates(labels, settings, session.other_whole(settings.lm), watch)
        settings = replace(settings, rated=replace(settings.rated, recorded=whole))
    if settings.batch and settings.rated.recorded is None and not settings.no_model:
        _ask_ahead(parts, module, session, watch)
    tested_queries = dataset.test.n_queries
    compiling = Compiling(Candidate(UNCOMPILED, module), settings, session, optimizer, objective, watch, tested_queries)
    rounds: list[Round] = []
    for each, room in zip(parts.rounds, plan.rounds, strict=True):
        rounds = [one.without_ratings() for one in rounds]
        of = f", round {len(rounds) + 1} of {len(parts.rounds)}" if parts.refit else ""
        rounds.append(compiling.round(each, room, of))
    cascade = _cascade(parts, rounds, settings, objective)
    if cascade is not None and cascade.shipped:
        rounds = [one.with_cascade() for one in rounds]
    return _measured(labels, parts, rounds, cascade, compiling)


def _measured(
    labels: LabelSet, parts: Parts, rounds: list[Round], cascade: CascadeFound | None, compiling: Compiling
) -> Compiled:
    """Measures what was compiled on the test items of all rounds, and decides about it."""
    settings, objective, dataset = compiling.settings, compiling.objective, parts.pooled
    last, tested = rounds[-1], rounds[: len(parts.tested)]
    choice, judge = last.choice, last.judge
    judged, uncompiled_calibrated = pooled_judgments(parts, tested)
    how = Resampling(resamples=settings.resamples, seed=settings.seed)
    verification = verify(dataset, judged, how)
    nominal = labels.scale.level == "nominal"
    bare = ratings_of(dataset, dataset.test, uncompiled_calibrated)
    gain = differences(verification.ratings["compiled"], bare, how, nominal=nominal)
    refusal, unread = _refusal(labels, settings, judge, verification), _unread(verification)
    if unread or settings.no_model:
        unknown = unread or NO_PROMPT
        gain = {name: Estimate(value=None, note=unknown) for name in gain}
    promotion_test = PromotionTest(
        dataset,
        verification,
        settings,
        compiling.session,
        refusal,
        evidence_alone=not judge.asks_lm,
        unread=unread,
    )
    earlier = _earlier(dataset, settings, card_settings(choice.chosen, settings, judge), judge)
    standing = promotion_test.standing() if earlier is None else FamilyState(earlier.looks, earlier.parent)
    return Compiled(
        dataset=dataset,
        judge=judge,
        choice=choice,
        verification=verification,
        prompt_gain=gain,
        decision=promotion_test.decide(standing),
        notes=(*([] if cascade is None else [f"cascade: {cascade.reason}"]), *choice.notes),
        promotion_test=promotion_test,
        standing=standing,
        earlier=earlier,
        folds=tuple(one.choice for one in tested) if parts.refit else (),
        combined=cascade or _panel(last, verification, settings, objective),
        costs=judge_costs(last.bench, choice, judge, settings, objective),
    )


def _ask_ahead(parts: Parts, module: dspy.Module, session: Session, watch: Watch) -> None:
    """Ask the uncompiled judge about everything that some round learns from or tests: one batch in place of many.

    Its replies stay in the journal, where each round finds those that it may see.
    """
    items = {
        item.item_id: item for one in parts.rounds for part in (one.train, one.dev, one.test) for item in part.items
    }
    watch.stage("batch", f"the uncompiled judge on {plural(len(items), 'item')}")
    labels = parts.pooled.labels
    verdicts(module, list(items.values()), ask=session.finish, scale=labels.scale, aspects=labels.aspects)


def _cascade(
    parts: Parts, rounds: Sequence[Round], settings: CompileSettings, objective: Objective
) -> CascadeFound | None:
    """Tests the cascade's promise on all test items, each by the cascade of its round."""
    made = [one.cascade for one in rounds[: len(parts.tested)] if one.cascade is not None]
    last = rounds[-1].cascade
    if settings.combine.cascade is None or last is None:
        return None
    pooled = Tested(
        *(parts.pool([getattr(one.tested, name) for one in made]) for name in ("cheap", "strong", "whole", "raw"))
    )
    bench = replace(rounds[-1].bench, dataset=parts.pooled)
    return outcome(bench, parts.pooled.test, last, pooled, objective, settings)


def _panel(
    last: Round, verification: Verification, settings: CompileSettings, objective: Objective
) -> PanelFound | None:
    found = last.choice.panel
    if found is None:
        return None
    members = members_of(last.bench, last.choice, settings, objective)
    ratings = verification.ratings
    gain = difference(ratings["compiled"], ratings[COMPILED_SINGLE], objective, settings)
    return PanelFound(found.kind, tuple(members), found.incumbent.name, gain, found.curve)


def plan_judge(labels: LabelSet, settings: CompileSettings) -> tuple[Dataset, CallPlan]:
    """Plans what a compile would ask, without asking anything.

    Raises:
        UserError: As ``compile_judge`` before its first call.
    """
    parts, _ = _prepare(labels, settings)
    module = _module(labels, settings)
    return parts.pooled, _planned(parts, module, settings)[1].whole


def card_settings(chosen: Candidate, settings: CompileSettings, judge: JudgeTree) -> dict[str, Setting]:
    """Settings with which the judge was made, for its card."""
    found: dict[str, Setting] = {"prompt": chosen.name, **chosen.settings}
    if settings.rated.asked and settings.asked_by(judge).recorded is None:
        found["kind"] = JURY_KIND
    if searched := [f"{one.name}: {one.searched.name}" for one in settings.rated.asked if one.searched]:
        found["prompts"] = "; ".join(searched)
    written = [one for one in judge.prompts if one.fields]
    if (form := next((one.form for one in written), CHAT)) != CHAT:
        found["adapter"] = form
    if not settings.rated.asked and (own := next((one.verdict for one in written), None)) is not None:
        found["verdict"] = own
    if settings.abstain_below is not None:
        found["abstain_below"] = settings.abstain_below
    if settings.rated.recorded is not None:
        found |= settings.rated.recorded.settings
    return found


def _earlier(
    dataset: Dataset, settings: CompileSettings, made: Mapping[str, Setting], judge: JudgeTree
) -> ProgramCard | None:
    """The version that this very compile wrote before it was killed: the same content, its test use not counted yet.

    A compile that was finished and is asked for again makes a version of its own, which meets the champion.
    """
    facts: dict[str, object] = {
        "data_digest": dataset.labels.digest,
        "split_digest": dataset.split.digests["test"],
        "lm": settings.asked_by(judge).describe(),
        "optimizer": settings.optimizer,
        "settings": made,
        "objective": settings.objective,
        "seed": settings.seed,
    }
    found = programs.find(settings.home, settings.name, facts, judge.saved())
    uses = read_family(settings.home, settings.name).looks
    return None if found and f"{found.version:04d}" in {use.version for use in uses} else found


def default_objective(labels: LabelSet) -> str:
    """``kappa`` for accepts, classes and failure modes, ``tau_b`` for ordered grades."""
    unordered = labels.accept_only or labels.scale.level == "nominal" or finds_modes(labels.task)
    return "kappa" if unordered else "tau_b"


def missing_of(labels: LabelSet) -> dict[str, float]:
    """The share of the labelled items without an input that others have, by field."""
    known = {label.item_id for label in labels.labels}
    counts = InputCounts.of([item for item in labels.items if item.item_id in known])
    return {name: share for name in labels.fields if (share := counts.missing(name))}


def _module(labels: LabelSet, settings: CompileSettings) -> dspy.Module:
    module = task_module(labels, settings.adapter)
    if settings.instructions is not None:
        module = with_instructions(module, settings.instructions)
    if not (settings.weighs.factors or settings.weighs.citations):
        return module
    if not compares(labels.task):
        raise UserError(
            f"--factors, --has-citations: these labels are of task {labels.task}; only a judge of preference, which "
            "compares two answers, weighs them. Leave them out."
        )
    return weighing(module, factors=settings.weighs.factors, citations=settings.weighs.citations)


def _prepare(labels: LabelSet, settings: CompileSettings) -> tuple[Parts, Objective]:
    objective = parse_objective(settings.objective)
    objective.require(interval=labels.scale.interval and not labels.accept_only)
    if labels.scale.interval and not labels.accept_only and settings.asks_a_model:
        raise UserError(
            f"{settings.name}: labels on an interval scale, and a language model to ask; recorded verdicts, functions "
            "and evidence are valid there. Record its numbers (--candidate recorded:FILE), or make grades of the "
            "labels with --round nearest."
        )
    if labels.scale.interval and settings.combine.cascade is not None:
        raise UserError(
            f"--cascade {','.join(settings.combine.cascade)}: labels on an interval scale, and no judge says how sure "
            "it is of a number; grades or classes are valid. Make grades with --round nearest, or leave it out."
        )
    memory = read_memory(settings.home, settings.name)
    folds = folds_of(labels, memory, settings.folds, free=settings.asks_once)
    parts = make_parts(labels, settings.seed, memory=memory, folds=folds, consensus=settings.consensus)
    if objective.needs_accept and (parts.pooled.test.experts.target_accept < 0).all():
        raise UserError(
            "--objective accept: nobody's accept or reject is known on this scale; the grades are "
            f"{', '.join(map(str, labels.scale.grades))}. Name the lowest accepted one with --accept-at."
        )
    if objective.needs_systems:
        _require_systems(parts, settings.objective)
    train = parts.shipped.train
    if not labelled(train, train.experts.target_accept if labels.accept_only else train.experts.target):
        held = f"{plural(len(train), 'item')}, all of one grade" if len(train) else "no items"
        raise UserError(
            f"train split: {held}; of {plural(len(labels.items), 'item')} of {_queries(labels)} queries "
            f"{'half the' if parts.refit is None else 'five in seven'} queries fall "
            "into it, and at least two different grades are needed there to learn from. Label items of further queries."
        )
    return parts, objective


LEAST_COMPARED = 6  # systems: of five a tau of .6 is chance in 12 % of all orders


def _require_systems(parts: Parts, objective: str) -> None:
    """Make sure that there is an order of systems to learn from and to test.

    Raises:
        UserError: Too few systems, or too few queries that all of them answered.
    """
    compared, dev = (parts.shipped.train, parts.pooled.test), parts.shipped.dev
    systems = sorted({item.agent for part in (*compared, dev) for item in part.items if item.agent})
    where = f"--objective {objective}"
    if parts.pooled.labels.scale.level == "nominal":
        raise UserError(
            f"{where}: the grades are classes without an order; kappa or exact are valid. Name one of them."
        )
    if len(systems) < LEAST_COMPARED:
        raise UserError(
            f"{where}: {len(systems)} systems answered, by the column 'agent'; an order of systems needs "
            f"{LEAST_COMPARED}. Name who answered each item (--map COLUMN=agent), or take 'tau_b'."
        )
    for part in compared:
        by: dict[str, set[str]] = {name: set() for name in systems}
        for item, whole in zip(part.items, part.experts.target[..., 0].min(axis=1) >= 0, strict=True):
            if item.agent and whole:
                by[item.agent].add(item.query_id)
        shared = set.intersection(*by.values())
        if len(shared) < LEAST_QUERIES:
            rarest = min(systems, key=lambda name: len(by[name]))
            raise UserError(
                f"{where}: {len(shared)} {part.name} queries that all {len(systems)} systems answered ({rarest} "
                f"{len(by[rarest])} of {part.n_queries}); {LEAST_QUERIES} are needed. Leave out the rows of systems "
                "with few answers, or take 'tau_b'."
            )


def _queries(labels: LabelSet) -> int:
    return len({item.query_id for item in labels.items})


def _planned(parts: Parts, module: dspy.Module, settings: CompileSettings) -> tuple[Optimizer, RoundsPlan]:
    if settings.rated.asked:
        check_untaught(parts, settings.rated.asked)
        whole = plan_rewrites(parts, settings)
        return OPTIMIZERS["auto"], RoundsPlan(whole, (whole,) * len(parts.rounds))
    if settings.rated.recorded is not None or settings.no_model:
        free = CallPlan((), 0, 0.0, None, searches=True, reflects=False)
        return OPTIMIZERS["auto"], RoundsPlan(free, (free,) * len(parts.rounds))  # nothing is asked, nobody proposes
    optimizer = find_optimizer(
        settings.optimizer, reflection=settings.reflection is not None, no_reflection=settings.no_reflection
    )
    champion = programs.CHAMPION in programs.aliases(settings.home, settings.name)
    return optimizer, plan_rounds(parts, module, settings, optimizer, champion=champion)


def _refusal(labels: LabelSet, settings: CompileSettings, judge: JudgeTree, found: Verification) -> str:
    reads_model = judge.asks_lm and not settings.lm.no_model
    if compares(labels.task) and not reads_model and "reference" not in labels.fields:
        how = Resampling(resamples=settings.resamples, seed=settings.seed)
        length = follows_length(found.ratings["compiled"], found.ratings[LONGEST], how)
        why = "a preference judge needs a model's verdict or a reference, and this one reads neither"
        return f"{why}{f'; {length}' if length else ''}"
    return ""


def _unread(found: Verification) -> str:
    """The reason why no gain counts: too many verdicts of the rival could not be read."""
    for name in ("uncompiled", BEST_ALONE):
        if name not in found.judgments:
            continue
        asked = int(found.judgments[name].asked.sum())
        reasons = Counter(why for why in found.judgments[name].unscored if why is not None and is_unread(why))
        if reasons.total() > MOST_UNREAD * asked:
            who = "uncompiled judge" if name == "uncompiled" else "recorded judge that was best as it is"
            seen = f"{reasons.total():,} of {asked:,} verdicts of the {who} on the test items could not be read"
            return (
                f"{seen} ({reasons.most_common(1)[0][0]}), so a gain over this judge does not count. "
                "Correct its verdicts, or change its prompt so that it states a grade."
            )
    return ""


def _sizes(dataset: Dataset) -> str:
    if dataset.split.folds > 1:
        return f"{plural(dataset.split.folds, 'fold')}, {len(dataset.test)} items ({dataset.test.n_queries} queries)"
    parts: Sequence[Part] = (dataset.train, dataset.dev, dataset.test)
    return ", ".join(f"{part.name} {plural(len(part), 'item')} ({plural(part.n_queries, 'query')})" for part in parts)
