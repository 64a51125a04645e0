"""Writes what a compile found as one dict, ``report.json``: page, screen and MLflow read it and nothing else."""

from collections import Counter
from collections.abc import Mapping
from dataclasses import replace

import numpy as np

from judgec.compile.abstain import abstention, agreement_of
from judgec.compile.calibration_errors import calibration_errors
from judgec.compile.dataset import Dataset, joined, ratings_of
from judgec.compile.measured import Compiled
from judgec.compile.more_labels import to_narrow, to_show_a_difference
from judgec.compile.promote import shortfalls, standing_above
from judgec.compile.replacement import replacement
from judgec.compile.settings import MIN_TEST_QUERIES, CompileSettings
from judgec.compile.verify import BEST_ALONE, Verification
from judgec.compile.winner import worth
from judgec.labels.experts import constant_notes, reading_notes
from judgec.labels.split.family import SPLITS
from judgec.raters.calibrator import Calibrator
from judgec.raters.decision import HALF_WAY, acceptability, half_way
from judgec.raters.judge import JudgeTree, outline
from judgec.records.agreement import Agreement
from judgec.records.card import EVIDENCE_ALONE, NO_MODEL, Cost
from judgec.records.consensus import accept_rate_of, mean_of, parts_of, people_mean
from judgec.records.counts import plural
from judgec.records.estimate import Estimate
from judgec.records.judgment import NOT_ASKED, Judgments
from judgec.records.label import UNLABELLED
from judgec.records.language import languages_of
from judgec.records.ratings import GradePairs
from judgec.records.tasks.grade import borrowed_meanings
from judgec.records.tasks.registry import TASKS
from judgec.report.numbers import number, objective_name, show, statistic_name
from judgec.report.page import charts
from judgec.report.page.grade_charts import DrawnGrades
from judgec.report.page.verdict import beside_experts, headline, judge_verdict
from judgec.stats.agreement.ceiling import ceiling, expert_panel, judge_panel
from judgec.stats.agreement.measure import measure
from judgec.stats.agreement.objective import Objective, parse_objective, statistics_of
from judgec.stats.agreement.systems import systems_of
from judgec.stats.intervals.jackknife import interval

PACKAGES = ("dspy", "mlflow", "numpy", "scikit-learn")
MAX_GROUPS = 30  # the largest
EVEN = 0.5  # the cut of a rule that takes the likelier of two grades
MOST_REASONS = 5  # why items are unscored
ALWAYS_THERE = ("tau_b_score", "accept_agreement")  # statistics of a judge that gives one grade to all, best first


def report_of(compiled: Compiled, settings: CompileSettings, cost: Cost) -> dict[str, object]:
    """``report.json``, but for the judgments of the test items.

    Args:
        compiled: The outcome.
        settings: What was asked for.
        cost: What the run used.
    """
    dataset, judge, found, decision = compiled.dataset, compiled.judge, compiled.verification, compiled.decision
    labels, test, objective = dataset.labels, dataset.test, parse_objective(settings.objective)
    own, judged, rated = found.agreements["compiled"], found.judgments["compiled"], found.ratings["compiled"]
    nominal, parts = labels.scale.level == "nominal", (dataset.train, dataset.dev, test)
    systems, alt_test = None if nominal else systems_of(rated), replacement(dataset, found.judgments)
    names = (statistics_of(settings.objective)[0], *ALWAYS_THERE)
    narrow = next((name for name in names if name in own.estimates and own.estimates[name].low is not None), names[0])
    reasons = Counter(reason for reason in judged.unscored if reason not in {None, NOT_ASKED})
    was, said_before = _as_it_is(compiled, settings)
    before = {"uncompiled": compiled.choice.uncompiled, "best_alone": compiled.choice.alone}
    recorded = {name: one.name for name, one in before.items() if one is not None}
    return {
        "promoted": decision.promoted,
        "reason": decision.reason,
        **_verdict(compiled, settings, said_before),
        **was,
        "judge": judge.sentence,
        "judge_kind": judge.kind,
        "evidence_alone": judge.kind == "evidence",
        "adjudicators": list(test.experts.adjudicators),
        "task": labels.task,
        "objective": settings.objective,
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
        "objective_on_test": interval(objective.statistic(rated)).estimate(len(rated.judge)).to_json(),
        **({"decisive": _decisive(rated).to_json()} if TASKS[labels.task].pairs else {}),
        "unscored": dict(reasons.most_common(MOST_REASONS)),
        "difference": decision.to_json(),
        "below_majority": {
            name: {"value": one.value, "majority": one.other, "difference": one.difference.to_json()}
            for name, one in decision.below_majority.items()
        },
        "above": {name: value for name, (value, _) in decision.above.items()},
        "more_queries": to_show_a_difference(decision.detectable, dataset, decision.difference.note),
        "narrower": to_narrow(narrow, own.estimates.get(narrow), dataset),
        "prompt_gain": {name: one.to_json() for name, one in compiled.prompt_gain.items()},
        "prompt": compiled.shipped.name,
        "candidates": _candidates(compiled, objective),
        "costs": [row.to_json() for row in compiled.costs],
        **({} if systems is None else {"systems": systems.to_json()}),
        "tree": outline(judge.rater),
        **({} if settings.candidates.recorded is None else {"recorded": recorded}),
        **compiled.combined,
        **({"folds": [{"prompt": name} for name in compiled.folds]} if compiled.folds else {}),
        "evidence": settings.evidence,
        "calibrators": {aspect: _calibrator(fitted) for aspect, fitted in judge.calibrators.items()},
        "calibration_error": calibration_errors(dataset, judged),
        "abstention": abstention(
            dataset, judged, of=agreement_of(settings.objective), below=settings.abstain_below
        ).to_json(),
        "groups": {name: one.to_json() for name, one in by_group(dataset, rated).items()},
        "charts": {aspect: _drawn(dataset, judged, j) for j, aspect in enumerate(labels.aspects)},
        **({} if found.modes is None else {"modes": replace(found.modes, thresholds=thresholds(judge)).to_json()}),
        **({} if alt_test is None else {"alt_test": alt_test.to_json()}),
        "source": dict(settings.source),
        "lm": settings.asked_by(judge).describe(),
        "reading": list(reading_notes(labels, test.experts)),
        "notes": [*compiled.notes, *_half_way(compiled), *_notes(compiled, settings)],
        **cost.to_json(),
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


def _verdict(compiled: Compiled, settings: CompileSettings, said_before: str) -> dict[str, object]:
    """How the judge agrees with the experts, whether it was promoted, and over what.

    A judge that was not promoted is praised nowhere.
    """
    labels, experts, found = compiled.dataset.labels, compiled.dataset.test.experts, compiled.verification
    decision, judged = compiled.decision, found.judgments["compiled"]
    statistic = headline(settings.objective, found.agreements["compiled"])
    made = judge_verdict(
        settings.name if compiled.judge.asks_lm else f"{settings.name} ({EVIDENCE_ALONE})",
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


def _as_it_is(compiled: Compiled, settings: CompileSettings) -> tuple[dict[str, object], str]:
    """``as_it_is``: the recorded judge that a user would have had, on all labelled items, as it has learned from none.

    And in words its statistic and accept agreement, beside the experts' own.
    """
    recorded, before = settings.candidates.recorded, compiled.choice.alone or compiled.choice.uncompiled
    if recorded is None or before.name not in recorded.judges:
        return {}, ""
    dataset, labels = compiled.dataset, compiled.dataset.labels
    whole = joined(dataset.train, dataset.dev, dataset.test)
    whole = whole.rows(sorted({item.item_id: row for row, item in enumerate(whole.items)}.values()))
    raw = recorded.judgments(before.name, [item.item_id for item in whole.items])
    agreed = measure(ratings_of(dataset, whole, raw))
    beside = ceiling(whole.experts, labels.scale, labels.aspects, accept_only=labels.accept_only).get("ceiling")
    known, first = agreed.estimates, statistics_of(settings.objective)[0]
    names = [name for name in dict.fromkeys((first, beside_headline(known))) if name in known]
    numbers = ", ".join(f"{statistic_name(name)} {show(known[name])}" for name in names)
    said = f"{before.name} as it is, on all {agreed.n} labelled items: {numbers} with your experts"
    if beside is not None and beside.n:
        own = beside.estimates
        said += "; they among themselves: "
        said += ", ".join(f"{statistic_name(name)} {show(own[name])}" for name in names if name in own)
    return {"as_it_is": {"judge": before.name, **agreed.to_json()}}, f"{said}. "


def _notes(compiled: Compiled, settings: CompileSettings) -> list[str]:
    dataset, judge, found = compiled.dataset, compiled.judge, compiled.verification
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


def _candidates(compiled: Compiled, objective: Objective) -> list[dict[str, object]]:
    """A row each: prompts of a search on dev; of those that stand beside each other ``dev`` is on train and dev."""
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
                "chosen": one.name == compiled.shipped.name,
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
