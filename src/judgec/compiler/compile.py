"""``compile_judge``: labels in, a measured judge out, promoted only when it is better."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from judgec.agreement.difference import differences
from judgec.agreement.measure import Resampling
from judgec.compiler.assemble import Bench, calibrated, evidence_only
from judgec.compiler.dataset import Dataset, Part, make_dataset
from judgec.compiler.outcome.promote import MIN_TEST_QUERIES, Decision, decide
from judgec.compiler.outcome.verify import BASELINES, Verification, labelled, majority, ratings_of, verify
from judgec.compiler.search.candidates import UNCOMPILED, Candidate, demonstration_sets
from judgec.compiler.session import Session
from judgec.compiler.settings import CompileSettings, Watch
from judgec.errors import UserError
from judgec.evidence.model import EvidenceModel
from judgec.judges.judge import CompiledJudge, load_judge
from judgec.judges.registry import judge_module
from judgec.records.estimate import Estimate
from judgec.records.judgment import Judgments
from judgec.records.label import LabelSet
from judgec.records.ratings import Ratings
from judgec.stats.agreement.objective import Objective, parse_objective
from judgec.store import programs
from judgec.store.splits import Family, read_family

MIN_ITEMS = 30  # fewer: a warning, the intervals will be wide
N_SETS = 8  # demonstration sets tried


@dataclass(frozen=True, slots=True)
class Scored:
    """A candidate and its objective on dev."""

    candidate: Candidate
    dev: float
    unscored: int


@dataclass(frozen=True, slots=True)
class Compiled:
    """Everything a compile found out.

    Args:
        dataset: Labels and split.
        judge: The compiled judge.
        chosen: Its prompt.
        scored: Every candidate with its objective on dev, in the order tried.
        verification: All judges on the test split.
        prompt_gain: Compiled minus uncompiled, both calibrated: what the prompt alone brought.
        decision: Whether it was promoted.
        notes: What the user should know.
        champion: Version of the champion it was compared with, or None.
    """

    dataset: Dataset
    judge: CompiledJudge
    chosen: Candidate
    scored: tuple[Scored, ...]
    verification: Verification
    prompt_gain: dict[str, Estimate]
    decision: Decision
    notes: tuple[str, ...]
    champion: int | None


def compile_judge(labels: LabelSet, settings: CompileSettings, session: Session, watch: Watch) -> Compiled:
    """Compile a judge from labels; nothing is written but the journal.

    Args:
        labels: From ``store.labels.read_labels``.
        settings: What the user asked for.
        session: The way to the LM.
        watch: Told where the compile is.

    Raises:
        UserError: When the labels cannot be learned from, or the objective does not fit them.
        ServiceError: When the LM fails for good.
    """
    family = read_family(settings.home, settings.name)
    dataset, objective = _prepare(labels, settings, family.salt)
    watch.stage("split", _sizes(dataset))
    session.preflight()
    evidence = EvidenceModel.fit(dataset.train.items) if settings.evidence else None
    bench = Bench(dataset, session.ask, evidence, settings.seed)
    module = judge_module(labels.task, labels.scale, labels.aspects, fields_of(labels))
    uncompiled = Candidate(UNCOMPILED, module)
    watch.stage("baselines", "the uncompiled judge on train")
    verdicts = bench.raw(uncompiled, dataset.train)
    watch.stage("candidates", f"{N_SETS} demonstration sets on dev, by {objective.name}")
    sets = demonstration_sets(module, dataset.train, verdicts, labels.scale, n_sets=N_SETS, seed=settings.seed)
    scored = tuple(_score(bench, candidate, objective) for candidate in (uncompiled, *sets))
    chosen = max(scored, key=lambda found: found.dev).candidate
    watch.stage("calibrate", f"prompt {chosen.name}")
    judge = calibrated(bench, chosen)
    watch.stage("verify", f"{len(dataset.test)} test items")
    judged, uncompiled_calibrated = _judge_test(bench, judge, chosen, uncompiled)
    how = Resampling(resamples=settings.resamples, seed=settings.seed)
    verification = verify(dataset, judged, how)
    gain = differences(
        verification.ratings["compiled"],
        ratings_of(dataset, dataset.test, uncompiled_calibrated),
        how,
        nominal=labels.scale.level == "nominal",
    )
    champion, rivals = _rivals(bench, settings, verification)
    decision = decide(
        verification.ratings["compiled"],
        rivals,
        objective,
        how,
        look=len(family.looks) + 1,
        nominal=labels.scale.level == "nominal",
        refusal=_refusal(labels, dataset, settings),
    )
    return Compiled(
        dataset=dataset,
        judge=judge,
        chosen=chosen,
        scored=scored,
        verification=verification,
        prompt_gain=gain,
        decision=decision,
        notes=_notes(dataset, settings, verification, objective),
        champion=champion,
    )


def default_objective(labels: LabelSet) -> str:
    """``kappa`` for accepts and classes, ``tau_b`` for ordered grades."""
    return "kappa" if labels.accept_only or labels.scale.level == "nominal" else "tau_b"


def fields_of(labels: LabelSet) -> tuple[str, ...]:
    """The input fields that at least one item has, sorted."""
    return tuple(sorted({name for item in labels.items for name, value in item.inputs.items() if value}))


def _prepare(labels: LabelSet, settings: CompileSettings, salt: str) -> tuple[Dataset, Objective]:
    objective = parse_objective(settings.objective)
    dataset = make_dataset(labels, salt, settings.seed)
    if objective.needs_accept and (dataset.test.experts.accept < 0).all():
        raise UserError(
            "--objective accept: nobody's accept or reject is known on this scale; the grades are "
            f"{', '.join(map(str, labels.scale.grades))}. Name the lowest accepted one with --accept-at."
        )
    for part in (dataset.train, dataset.dev, dataset.test):
        target = part.experts.accept if labels.accept_only else part.experts.grade
        if not labelled(part, target) and part.name == "train":
            raise UserError(
                f"{part.name} split: {len(part)} items with one grade only; two different grades are needed to "
                "learn from. Add labels of items that differ."
            )
    return dataset, objective


def _score(bench: Bench, candidate: Candidate, objective: Objective) -> Scored:
    dev = bench.dataset.dev
    raw = bench.raw(candidate, dev)
    ratings = ratings_of(bench.dataset, dev, raw)
    return Scored(candidate, objective.value(ratings), int((~raw.scored).sum()))


def _judge_test(
    bench: Bench, judge: CompiledJudge, chosen: Candidate, uncompiled: Candidate
) -> tuple[dict[str, Judgments], Judgments]:
    """Judgments of the test items by each judge, and by the uncompiled prompt with a calibrator of its own."""
    test = bench.dataset.test
    judged = {"majority": majority(bench.dataset, test, bench.target(bench.dataset.train))}
    if bench.evidence is not None:
        judged["evidence_only"] = evidence_only(bench, uncompiled).judge(test.items, bench.ask)
    judged["uncompiled"] = bench.raw(uncompiled, test)
    judged["compiled_prompt"] = bench.raw(chosen, test)
    judged["compiled"] = judge.calibrate(test.items, judged["compiled_prompt"] if judge.asks_lm else None)
    if chosen.name == uncompiled.name:
        return judged, judged["compiled"]
    return judged, calibrated(bench, uncompiled).judge(test.items, bench.ask)


def _rivals(
    bench: Bench, settings: CompileSettings, verification: Verification
) -> tuple[int | None, dict[str, Ratings]]:
    """The champion's ratings of the test items, or those of the baselines where there is no champion."""
    champion = programs.aliases(settings.home, settings.name).get(programs.CHAMPION)
    if champion is not None:
        program = programs.load(settings.home, f"{settings.name}@{champion}")
        test = bench.dataset.test
        judged = load_judge(program).judge(test.items, bench.ask)
        return champion, {"champion": ratings_of(bench.dataset, test, judged)}
    ratings = verification.ratings
    names = [name for name in BASELINES if name in ratings and not _same(ratings[name], ratings["compiled"])]
    if settings.lm.embedded:
        names = [name for name in names if name != "evidence_only"]
    return None, {name: ratings[name] for name in names}


def _same(one: Ratings, other: Ratings) -> bool:
    """Whether two judges gave the same grades and accepts: a prompt whose verdicts pass the calibrator unchanged is
    the compiled judge, not its rival.
    """
    return np.array_equal(one.judge, other.judge) and np.array_equal(one.judge_accept, other.judge_accept)


def _refusal(labels: LabelSet, dataset: Dataset, settings: CompileSettings) -> str:
    queries = dataset.test.n_queries
    if queries < MIN_TEST_QUERIES:
        return f"never promoted: {queries} test queries, {MIN_TEST_QUERIES} are needed"
    if labels.task == "preference" and settings.lm.embedded and "reference" not in fields_of(labels):
        return "never promoted: a preference judge with neither a language model nor a reference learns length"
    return ""


def _sizes(dataset: Dataset) -> str:
    parts: Sequence[Part] = (dataset.train, dataset.dev, dataset.test)
    return ", ".join(f"{part.name} {len(part)} items ({part.n_queries} queries)" for part in parts)


def _notes(
    dataset: Dataset, settings: CompileSettings, verification: Verification, objective: Objective
) -> tuple[str, ...]:
    notes = list(dataset.labels.notes)
    if settings.lm.embedded:
        notes.append("judge: embedded evidence engine, no language model")
    if dataset.labels.source.get("labels") == "constructed":
        notes.append("constructed labels: no expert gave them, agreement with them says nothing about experts")
    if len(dataset.labels.items) < MIN_ITEMS:
        notes.append(f"{len(dataset.labels.items)} items: under {MIN_ITEMS} every interval is wide")
    ratings = verification.ratings
    if not settings.lm.embedded and "evidence_only" in ratings:
        alone, whole = objective.value(ratings["evidence_only"]), objective.value(ratings["compiled"])
        if alone >= whole:
            notes.append(
                f"evidence alone is as good ({objective.name} {alone:.2f} against {whole:.2f}) and costs nothing "
                "per judgment: compile with --lm embedded"
            )
    return tuple(notes)


def family_of(settings: CompileSettings) -> Family:
    """The family that the compile belongs to."""
    return read_family(settings.home, settings.name)
