"""Writes what a compile found as one dict, ``report.json``: page, screen and MLflow read it and nothing else."""

import platform
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from importlib.metadata import version as installed

import numpy as np

from judgec import __version__
from judgec.compile.abstain import abstention, agreement_of
from judgec.compile.calibration_errors import calibration_errors
from judgec.compile.dataset import Dataset, Part, joined, ratings_of
from judgec.compile.judge_page import judge_page, prompt_of
from judgec.compile.measured import Compiled, card_settings
from judgec.compile.more_labels import to_narrow, to_show_a_difference
from judgec.compile.prepare import missing_of
from judgec.compile.promote import Decision, shortfalls, standing_above
from judgec.compile.release import Finished, Place, cost_of, release
from judgec.compile.replacement import replacement
from judgec.compile.rivals import judgments_table
from judgec.compile.search.candidates import UNCOMPILED
from judgec.compile.settings import MIN_TEST_QUERIES, CompileSettings
from judgec.compile.verify import BEST_ALONE, Verification
from judgec.compile.winner import worth
from judgec.labels.experts import constant_notes, reading_notes
from judgec.labels.split.draw import split_record
from judgec.labels.split.family import SPLITS
from judgec.labels.split.memory import JUDGE, measured_by
from judgec.lm.usage import Spent
from judgec.raters.calibrator import Calibrator
from judgec.raters.decision import HALF_WAY, acceptability, half_way
from judgec.raters.judge import JudgeTree, outline, signature_of, uncompiled
from judgec.records.agreement import Agreement
from judgec.records.card import EVIDENCE_ALONE, NO_MODEL, Cost, ProgramCard
from judgec.records.consensus import accept_rate_of, mean_of, parts_of, people_mean
from judgec.records.cost import JudgeCost
from judgec.records.counts import plural
from judgec.records.estimate import Estimate
from judgec.records.judgment import NOT_ASKED, Judgments
from judgec.records.label import UNLABELLED, Label
from judgec.records.language import languages_of
from judgec.records.ratings import GradePairs
from judgec.records.tasks.grade import borrowed_meanings
from judgec.records.tasks.registry import TASKS
from judgec.report.items import BrowsedItem
from judgec.report.numbers import number, objective_name, show, statistic_name
from judgec.report.page import charts
from judgec.report.page.grade_charts import DrawnGrades
from judgec.report.page.judged_items import browsed_items
from judgec.report.page.verdict import beside_experts, headline, judge_verdict
from judgec.stats.agreement.ceiling import ceiling, expert_panel, judge_panel
from judgec.stats.agreement.measure import measure
from judgec.stats.agreement.objective import parse_objective, statistics_of
from judgec.stats.agreement.systems import systems_of
from judgec.stats.intervals.jackknife import interval

PACKAGES = ("dspy", "mlflow", "numpy", "scikit-learn")
MAX_GROUPS = 30  # the largest
EVEN = 0.5  # the cut of a rule that takes the likelier of two grades
MOST_REASONS = 5  # why items are unscored
ALWAYS_THERE = ("tau_b_score", "accept_agreement")  # statistics of a judge that gives one grade to all, best first


@dataclass(frozen=True, slots=True)
class AsItIs:
    """Verdicts of a recorded judge before anything is made of it, on all labelled items: it has learned from none."""

    judge: str
    part: Part
    raw: Judgments


def report_of(
    dataset: Dataset,
    judge: JudgeTree,
    found: Verification,
    decision: Decision,
    settings: CompileSettings,
    *,
    prompt: str,
    prompt_gain: Mapping[str, Estimate],
    candidates: Sequence[Mapping[str, object]],
    costs: Sequence[JudgeCost],
    before: Mapping[str, str],
    as_it_is: AsItIs | None,
    combined: Mapping[str, object],
    folds: Sequence[str],
    notes: Sequence[str],
    cost: Cost,
) -> dict[str, object]:
    """``report.json``, but for the judgments of the test items.

    Args:
        dataset: Labels and split.
        judge: What ships.
        found: Every judge on the test items.
        decision: Whether it is promoted, over what, and why.
        settings: Name, objective and seed, what it was asked of and where the labels came from.
        prompt: The candidate that ships.
        prompt_gain: What the prompt alone brought, by statistic: compiled minus uncompiled, both calibrated.
        candidates: A row each, as tried: ``name``, ``dev``, ``items``, ``unscored``, ``settings``.
        costs: What each of them costs and is worth, the best first.
        before: Of recorded judges, the one to compare with (``uncompiled``) and the best as it is (``best_alone``).
        as_it_is: The recorded judge that a user would have had without this compile, or None.
        combined: ``panel`` or ``cascade`` with what came of it; empty where nobody asked.
        folds: The candidate that each fold chose, where there are several.
        notes: What came up on the way.
        cost: What the run used.
    """
    labels, test, objective = dataset.labels, dataset.test, settings.objective
    own, judged, rated = found.agreements["compiled"], found.judgments["compiled"], found.ratings["compiled"]
    nominal, pairs = labels.scale.level == "nominal", TASKS[labels.task].pairs
    systems, alt_test = None if nominal else systems_of(rated), replacement(dataset, found.judgments)
    modes, below = found.modes, settings.abstain_below
    narrow = next(
        (one for one in (statistics_of(objective)[0], *ALWAYS_THERE) if _has_interval(own, one)),
        statistics_of(objective)[0],
    )
    parts = (dataset.train, dataset.dev, dataset.test)
    reasons = Counter(reason for reason in judged.unscored if reason not in {None, NOT_ASKED})
    reached = interval(parse_objective(objective).statistic(rated))
    asked = settings.asked_by(judge).describe()
    was, said_before = ({}, "") if as_it_is is None else _as_it_is(as_it_is, dataset, objective)
    return {
        "promoted": decision.promoted,
        "reason": decision.reason,
        **_verdict(dataset, judge, found, decision, settings, said_before),
        **was,
        "judge": judge.sentence,
        "judge_kind": judge.kind,
        "evidence_alone": judge.kind == "evidence",
        "adjudicators": list(test.experts.adjudicators),
        "task": labels.task,
        "objective": objective,
        "languages": list(languages_of(labels.items)),
        "labels": {
            "annotators": list(test.experts.annotators),
            "queries": {part.name: part.n_queries for part in parts},
            "digests": {name: dataset.split.digests[name] for name in SPLITS},
            "fields": {part.name: sorted({name for item in part.items for name in item.inputs}) for part in parts},
            "source": dict(labels.source),
        },
        "split": {part.name: len(part) for part in parts}
        | ({"folds": dataset.split.folds} if dataset.split.folds > 1 else {}),
        "test": {name: one.to_json() for name, one in found.agreements.items()},
        "objective_on_test": reached.estimate(len(rated.judge)).to_json(),
        **({"decisive": _decisive(rated).to_json()} if pairs else {}),
        "unscored": dict(reasons.most_common(MOST_REASONS)),
        "difference": {
            "to": decision.rival,
            **_short(decision.by_statistic),
            "objective": decision.difference.to_json(),
            "detectable": decision.detectable,
        },
        "below_majority": {
            name: {"value": one.value, "majority": one.other, "difference": one.difference.to_json()}
            for name, one in decision.below_majority.items()
        },
        "above": {name: value for name, (value, _) in decision.above.items()},
        "more_queries": to_show_a_difference(decision.detectable, dataset, decision.difference.note),
        "narrower": to_narrow(narrow, own.estimates.get(narrow), dataset),
        "prompt_gain": _short(prompt_gain),
        "prompt": prompt,
        "candidates": list(candidates),
        "costs": [row.to_json() for row in costs],
        **({} if systems is None else {"systems": systems.to_json()}),
        "tree": outline(judge.rater),
        **({"recorded": dict(before)} if before else {}),
        **combined,
        **({"folds": [{"prompt": name} for name in folds]} if folds else {}),
        "evidence": settings.evidence,
        "calibrators": {aspect: _calibrator(fitted) for aspect, fitted in judge.calibrators.items()},
        "calibration_error": calibration_errors(dataset, judged),
        "abstention": abstention(dataset, judged, of=agreement_of(objective), below=below).to_json(),
        "groups": {name: one.to_json() for name, one in by_group(dataset, rated).items()},
        "charts": {aspect: _drawn(dataset, judged, j) for j, aspect in enumerate(labels.aspects)},
        **({} if modes is None else {"modes": replace(modes, thresholds=thresholds(judge)).to_json()}),
        **({} if alt_test is None else {"alt_test": alt_test.to_json()}),
        "source": dict(settings.source),
        "lm": asked,
        "reading": list(reading_notes(labels, test.experts)),
        "notes": [*notes, *_notes(dataset, judge, found, settings)],
        "lm_calls": cost.lm_calls,
        "cost_usd": cost.usd,
        "seconds": cost.seconds,
    }


def beside_headline(known: Mapping[str, Estimate]) -> str:
    """The statistic that stands beside the one that was maximised: of numbers their error, of grades accept agreement,
    or where nobody says what is accepted the exact one.
    """
    if "mae" in known:
        return "mae"
    return "exact" if known["accept_agreement"].value is None else "accept_agreement"


def by_group(dataset: Dataset, ratings: GradePairs) -> dict[str, Agreement]:
    """Agreement on the test items of each group, the largest groups first."""
    experts, of_items = dataset.test.experts, np.array([item.group or "" for item in dataset.test.items])
    known = [one[..., 0] != UNLABELLED for one in (experts.target, experts.target_accept)]
    labelled = known[0] | known[1]  # the cells that became rows
    groups = np.repeat(of_items[:, None], len(dataset.labels.aspects), axis=1)[labelled]
    names, counts = np.unique(groups[groups != ""], return_counts=True)
    ranked = [str(name) for name in names[np.argsort(-counts, kind="stable")]][:MAX_GROUPS]
    nominal = dataset.labels.scale.level == "nominal"
    return {name: measure(ratings.where(groups == name), nominal=nominal) for name in ranked}


def thresholds(judge: JudgeTree) -> dict[str, float]:
    """By failure mode, the calibrated probability from which it is flagged; none where the LM's own word is kept."""
    rules = {mode: fitted.rule for mode, fitted in judge.calibrators.items()}
    return {
        mode: rule.cuts[0] if rule.name == "cuts" else EVEN
        for mode, rule in rules.items()
        if rule.name not in {"raw", "map"}
    }


def _verdict(
    dataset: Dataset,
    judge: JudgeTree,
    found: Verification,
    decision: Decision,
    settings: CompileSettings,
    said_before: str,
) -> dict[str, object]:
    """How the judge agrees with the experts, whether it was promoted, and over what.

    A judge that was not promoted is praised nowhere.
    """
    labels, experts, judged = dataset.labels, dataset.test.experts, found.judgments["compiled"]
    statistic = headline(settings.objective, found.agreements["compiled"])
    made = judge_verdict(
        settings.name if judge.asks_lm else f"{settings.name} ({EVIDENCE_ALONE})",
        found.agreements,
        beside_experts(
            statistic,
            judge_panel(experts, judged, labels.scale, accept_only=labels.accept_only),
            expert_panel(experts, labels.scale, accept_only=labels.accept_only),
        ),
        statistic=statistic,
        constructed=labels.constructed,
        below=shortfalls(decision.below_majority),
        above=standing_above(decision.above, settings.objective) if decision.above else "",
    )
    outcome = "Promoted" if decision.promoted else "NOT PROMOTED"
    praised = made.standing in {"better", "as well"} and not decision.promoted
    return {
        "verdict": f"{said_before}{made.sentence} {outcome}: {decision.reason.rstrip('.')}.",
        "standing": {"is": "unclear" if praised else made.standing, "by": statistic, "detail": made.detail},
    }


def _as_it_is(found: AsItIs, dataset: Dataset, objective: str) -> tuple[dict[str, object], str]:
    """``as_it_is``; and in words the statistic and accept agreement, beside the experts' own."""
    labels, whole = dataset.labels, found.part
    agreed = measure(ratings_of(dataset, whole, found.raw))
    beside = ceiling(whole.experts, labels.scale, labels.aspects, accept_only=labels.accept_only).get("ceiling")
    known = agreed.estimates
    names = [name for name in dict.fromkeys((statistics_of(objective)[0], beside_headline(known))) if name in known]
    numbers = ", ".join(f"{statistic_name(name)} {show(known[name])}" for name in names)
    said = f"{found.judge} as it is, on all {agreed.n} labelled items: {numbers} with your experts"
    if beside is not None and beside.n:
        own = beside.estimates
        said += "; they among themselves: "
        said += ", ".join(f"{statistic_name(name)} {show(own[name])}" for name in names if name in own)
    return {"as_it_is": {"judge": found.judge, **agreed.to_json()}}, f"{said}. "


def _notes(dataset: Dataset, judge: JudgeTree, found: Verification, settings: CompileSettings) -> list[str]:
    labels, experts, recorded = dataset.labels, dataset.test.experts, settings.candidates.recorded
    notes = [*constant_notes(labels, experts), *reading_notes(labels, experts)]
    if recorded is not None:
        notes += [*recorded.notes, *_coverage(recorded.path, dataset, found)]
    if settings.no_model:
        notes.append(f"{NO_MODEL}: the judge is evidence alone, without a prompt, at no cost; --lm adds a model")
    elif recorded is None:
        notes += borrowed_meanings(labels.task, labels.scale)
    if not settings.no_model and not judge.asks_lm:
        notes.append(f"{EVIDENCE_ALONE}: judging asks no language model and costs nothing per judgment")
    if labels.constructed:
        notes.append("constructed labels: no expert gave them, agreement with them says nothing about experts")
    queries = dataset.test.n_queries
    if dataset.split.folds == 1 and queries < MIN_TEST_QUERIES:
        why = f"{plural(queries, 'test query')}, below {MIN_TEST_QUERIES} no judge is promoted"
        notes.append(f"{why}; to test all queries, add --folds 5 and another --name")
    if judge.asks_lm and not settings.lm.no_model and "evidence_only" in found.ratings:
        objective = parse_objective(settings.objective)
        alone, whole = (objective.value(found.ratings[name]) for name in ("evidence_only", "compiled"))
        if alone >= whole:
            left = "--lm" if recorded is None else "verdicts"
            notes.append(
                f"evidence alone is as good ({objective_name(objective.name)} {number(alone)} against {number(whole)}) "
                f"and costs nothing per judgment: compile without {left}"
            )
    return notes


def _coverage(path: str, dataset: Dataset, found: Verification) -> list[str]:
    """Notes on how many test items the judges were asked about, and how often the order of a pair decided."""
    notes, n = [], len(dataset.test)
    for name in ("uncompiled", BEST_ALONE, "compiled"):
        asked = int(found.judgments[name].asked.sum())
        if asked < n:
            notes.append(f"{path}: {name} was asked about {asked:,} of {n:,} test items; its row shows only these")
    flipped = found.judgments["compiled_prompt"].flipped
    if flipped is not None:
        shown = int(found.judgments["compiled_prompt"].asked.sum())
        notes.append(f"{int(flipped.sum()):,} of {shown:,} test pairs flipped with the order of the answers: ties")
    return notes


def _drawn(dataset: Dataset, judged: Judgments, j: int) -> dict[str, object]:
    """What is drawn of an aspect: the judge's grades beside the experts', and whether it is as sure as it is right."""
    labels, experts, scale = dataset.labels, dataset.test.experts, dataset.labels.scale
    judge = (judged.accept if labels.accept_only else judged.grade)[:, j]
    raters = experts.accept_by if labels.accept_only else experts.grade_by
    said = np.where(judge >= 0, np.array(scale.values)[np.maximum(judge, 0)], np.nan)
    drawn = DrawnGrades(
        expert=(experts.target_accept if labels.accept_only else experts.target)[:, j],
        judge=judge,
        given=people_mean(raters, np.array(scale.values))[:, j],
        said=judged.score[:, j] if scale.interval else said,
        grades=() if scale.interval else [str(grade) for grade in scale.grades],
        raters=[(name, raters[n, :, j]) for n, name in enumerate(experts.annotators)],
        confidence=judged.confidence[:, j],
        stated=judged.stated,
        ordered=scale.level != "nominal",
    )
    target, happened = experts.target[:, j], accept_rate_of(experts.target_accept[:, j])
    sure, of = np.full(len(judged.item_ids), np.nan), "acceptance"
    if scale.level == "nominal" or np.isnan(happened).all():  # whether the grade is right
        right = mean_of(target == judged.grade[:, j, None], target)
        sure, happened, of = judged.confidence[:, j], np.where(judged.scored, right, np.nan), "confidence"
    else:
        sure[judged.scored] = acceptability(judged.probabilities[judged.scored, j], scale)
    _, query = np.unique([item.query_id for item in dataset.test.items], return_inverse=True)
    return {**drawn.counts(), "reliability": {"of": of, "bins": charts.reliability(sure, happened, query)}}


def _decisive(ratings: GradePairs) -> Estimate:
    """Of the pairs in which the experts prefer one answer, the share in which the judge prefers the same.

    What accept agreement is to grades: who would be taken. A pair without a verdict counts against the judge.
    """
    tie = ratings.n_grades - 1
    row, expert, weight = parts_of(ratings.target)
    decided = expert != tie
    right = (ratings.judge[row] == expert)[decided]
    value = float(np.average(right, weights=None if weight is None else weight[decided])) if decided.any() else None
    return Estimate(value=value, n=len(set(row[decided].tolist())), note="where the experts prefer one answer")


def _calibrator(fitted: Calibrator) -> dict[str, object]:
    return {
        "source": fitted.source,
        "model": fitted.family,
        "accept_threshold": fitted.accept_threshold,
        "choices": [choice.model_dump() for choice in fitted.choices],
    }


def _has_interval(found: Agreement, name: str) -> bool:
    return name in found.estimates and found.estimates[name].low is not None


def _short(estimates: Mapping[str, Estimate]) -> dict[str, object]:
    return {name: estimate.to_json() for name, estimate in estimates.items()}


# What follows knows the records of a compile; all above takes what a report is made of.


@dataclass(frozen=True, slots=True)
class Saved:
    """A version on disk with what it reports, the items of its page, and the outcome as it was decided in the end."""

    card: ProgramCard
    report: dict[str, object]
    compiled: Compiled
    items: tuple[BrowsedItem, ...] = ()


def save(
    compiled: Compiled,
    settings: CompileSettings,
    spent: Spent,
    *,
    created: str,
    seconds: float,
    track: Callable[[Saved], None] | None = None,
) -> Saved:
    """Write the version as ``release`` does.

    Args:
        compiled: The outcome.
        settings: What was asked for.
        spent: What the run used.
        created: When, ISO 8601.
        seconds: How long it took.
        track: Logs the saved version elsewhere.
    """
    found: list[Saved] = []

    def saved(card: ProgramCard, made: Finished) -> None:
        assert isinstance(made.compiled, Compiled)  # as ``finished`` made it
        found.append(Saved(card, made.saved_as(card), made.compiled, items_of(made.compiled)))
        if track is not None:
            track(found[0])

    release(finished(compiled, settings, cost_of(spent, seconds), created), saved)
    return found[0]


def with_run(saved: Saved, run_id: str | None) -> dict[str, object]:
    """The report with the MLflow run it was logged as; the contract of ``--json``."""
    return {**saved.report, "mlflow_run_id": run_id}


def finished(compiled: Compiled, settings: CompileSettings, cost: Cost, created: str) -> Finished:
    """A compiled judge that is not on disk yet."""
    dataset, judge, choice, test = compiled.dataset, compiled.judge, compiled.choice, compiled.promotion_test
    recorded, labels = settings.candidates.recorded, compiled.dataset.labels
    before = {"uncompiled": choice.uncompiled, "best_alone": choice.alone} if recorded is not None else {}
    report = report_of(
        dataset,
        judge,
        compiled.verification,
        compiled.decision,
        settings,
        prompt=compiled.shipped.name,
        prompt_gain=compiled.prompt_gain,
        candidates=_candidates(compiled, settings),
        costs=compiled.costs,
        before={name: one.name for name, one in before.items() if one is not None},
        as_it_is=_recorded_as_it_is(compiled, settings),
        combined=compiled.combined,
        folds=compiled.folds,
        notes=[*compiled.notes, *_half_way(compiled)],
        cost=cost,
    )
    start = choice.searched[UNCOMPILED][0].module if UNCOMPILED in choice.searched else None
    first = None if start is None else uncompiled(start, labels.task, labels.scale, labels.aspects)
    prompts = {} if recorded is None else {name: one.prompt or "" for name, one in recorded.judges.items()}
    items = items_of(compiled)
    return Finished(
        place=Place(settings.home, settings.name, JUDGE),
        card=_card(compiled, settings, cost, created),
        tree=judge.saved(),
        split=lambda salt: split_record(dataset.split, labels.items, measured_by(labels, settings.source), salt),
        report=report,
        standing=compiled.standing,
        stands=test.standing,
        decided=lambda standing: finished(
            replace(compiled, decision=test.decide(standing), standing=standing, earlier=None), settings, cost, created
        ),
        page=lambda card: judge_page(
            report,
            card,
            items,
            prompt_of(judge, prompts),
            start=None if first is None else prompt_of(first),
            home=settings.home,
        ),
        browsed=items,
        kept={
            "judgments": judgments_table(
                dataset.test.items, compiled.verification.judgments["compiled"], whole=dataset.split.folds > 1
            )
        },
        earlier=compiled.earlier,
        compiled=compiled,
    )


def items_of(compiled: Compiled) -> tuple[BrowsedItem, ...]:
    """The test items of a compile with what experts and judge said of each."""
    labels, test = compiled.dataset.labels, compiled.dataset.test
    by_item: dict[str, list[Label]] = {}
    for label in labels.labels:
        by_item.setdefault(label.item_id, []).append(label)
    target = test.experts.target_accept if labels.accept_only else test.experts.target
    return browsed_items(test.items, target, compiled.verification.judgments["compiled"], labels.scale, by_item)


def _recorded_as_it_is(compiled: Compiled, settings: CompileSettings) -> AsItIs | None:
    recorded, before = settings.candidates.recorded, compiled.choice.alone or compiled.choice.uncompiled
    if recorded is None or before is None or before.name not in recorded.judges:
        return None
    dataset = compiled.dataset
    whole = joined(dataset.train, dataset.dev, dataset.test)
    place = {item.item_id: row for row, item in enumerate(whole.items)}
    whole = whole.rows(sorted(place.values()))
    return AsItIs(before.name, whole, recorded.judgments(before.name, [item.item_id for item in whole.items]))


def _candidates(compiled: Compiled, settings: CompileSettings) -> list[dict[str, object]]:
    """A row each: prompts of a search on dev; of those that stand beside each other ``dev`` is on train and dev."""
    objective, chosen = parse_objective(settings.objective), compiled.shipped.name
    rows: list[dict[str, object]] = [
        {"name": name, "dev": at.value, "items": at.items, "unscored": at.unscored, "settings": dict(one.settings)}
        for name, (one, at) in compiled.choice.searched.items()
    ]
    for one in (*compiled.choice.rated.values(), *compiled.made):
        if one.bill is None:
            continue
        rows.append(
            {
                "name": one.name,
                "dev": worth(one.ratings, objective).to_json(),
                "items": one.items,
                "unscored": one.unscored,
                "settings": dict(one.candidate.settings),
                "judge": one.name,
                "model": one.candidate.settings.get("model"),
                "n": one.items,
                "cost_usd": one.bill.usd,
                "chosen": one.name == chosen,
            }
        )
    return rows


def _half_way(compiled: Compiled) -> list[str]:
    """Note on the verdicts of the prompt that ships that lay between two grades, fitted and tested on."""
    judge, dataset = compiled.judge, compiled.dataset
    if judge.kind in {"panel", "cascade"} or dataset.labels.scale.interval:
        return []  # a mean of two verdicts lies between them; nobody said so
    tested = None if dataset.split.folds > 1 else compiled.verification.judgments.get("compiled_prompt")
    found = judge.half_way + (0 if tested is None else half_way(tested, dataset.labels.scale))
    return [f"{found} verdicts of {HALF_WAY}"] if found else []


def _card(compiled: Compiled, settings: CompileSettings, cost: Cost, created: str) -> ProgramCard:
    labels, decision, judge = compiled.dataset.labels, compiled.decision, compiled.judge
    return ProgramCard(
        name=settings.name,
        task=labels.task,
        scale=labels.scale,
        aspects=labels.aspects,
        fields=labels.fields,
        missing=missing_of(labels),
        signature=signature_of(judge),
        data_digest=labels.digest,
        split_digest=compiled.dataset.split.digests["test"],
        languages=languages_of(labels.items),
        labels=labels.source.get("labels", ""),
        lm=settings.asked_by(judge).describe(),
        engine=NO_MODEL if settings.no_model else "" if judge.asks_lm else EVIDENCE_ALONE,
        judge_kind=judge.kind,
        optimizer=settings.search.optimizer,
        settings=card_settings(compiled.shipped, settings, judge),
        objective=settings.objective,
        seed=settings.seed,
        versions={"python": platform.python_version(), "judgec": __version__}
        | {name: installed(name) for name in PACKAGES},
        cost=cost,
        created=created,
        parent=compiled.standing.champion,
        looks=decision.test_use,
        promoted=decision.promoted,
        reason=decision.reason,
        tie_band=judge.tie_band,
        test=dict(compiled.verification.agreements["compiled"].estimates),
    )
