"""Writes what a compile found: the JSON report, the card, the saved version."""

import platform
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from importlib.metadata import version as installed

from judgec import __version__
from judgec.compiler.calibration_errors import calibration_errors
from judgec.compiler.compile import Compiled, fields_of
from judgec.compiler.judge_page import page_of, page_path, verdict_of
from judgec.compiler.rivals import judgments_table, standing_of
from judgec.compiler.settings import CompileSettings
from judgec.errors import UserError
from judgec.judges.signatures import fingerprint
from judgec.lm.usage import Spent
from judgec.records.card import EVIDENCE_ALONE, Cost, ProgramCard
from judgec.records.estimate import Estimate
from judgec.store import programs
from judgec.store.programs import Program, dump_module
from judgec.store.sides.draw import split_record
from judgec.store.sides.memory import columns_of
from judgec.store.splits import locked_family, locked_home, read_family, write_family, write_whole

ENGINE_NOTE = "embedded evidence engine, no language model"
PACKAGES = ("dspy", "mlflow", "numpy", "scikit-learn")


@dataclass(frozen=True, slots=True)
class Saved:
    """A version on disk with what it reports, and the outcome as it was decided in the end."""

    card: ProgramCard
    report: dict[str, object]
    compiled: Compiled


def save(
    compiled: Compiled,
    settings: CompileSettings,
    spent: Spent,
    *,
    created: str,
    seconds: float,
    track: Callable[[Saved], None] | None = None,
) -> Saved:
    """Write the version, point the aliases, track it and count the look; all or nothing of each.

    The look is written last: where a version has none, a process was killed before it, and what was left to do is done.

    One compile of a family at a time: where another one was saved since this one was decided, it is decided again,
    one look later and against the champion that there is now.

    Args:
        compiled: The outcome.
        settings: What was asked for.
        spent: What the run used.
        created: When, ISO 8601.
        seconds: How long it took.
        track: Logs the saved version elsewhere. It is called while nobody else can save one, so that what it calls
            champion is the champion, and before the look is written, so that a killed compile is logged by its rerun.
    """
    # Looks are counted over all names: two families must not both be told that theirs is the first.
    with locked_home(settings.home), locked_family(settings.home, settings.name):
        if compiled.earlier is not None and _counted(compiled.earlier, settings):
            compiled = replace(compiled, earlier=None)  # nobody was killed: another process was about to finish it
        standing = standing_of(settings, compiled.dataset)
        if compiled.earlier is None and standing != compiled.standing:
            compiled = replace(compiled, decision=compiled.contest.decide(standing), standing=standing)
        saved = _write(compiled, settings, spent, created, seconds)
        if track is not None:
            track(saved)
        _count_look(saved.card, settings)
        return saved


def _write(compiled: Compiled, settings: CompileSettings, spent: Spent, created: str, seconds: float) -> Saved:
    """Write the version, unless an earlier run of this compile did, and point the alias."""
    cost = Cost(lm_calls=spent.calls, usd=None if spent.unpriced else spent.usd, seconds=round(seconds, 2))
    card = _card(compiled, settings, cost, created)
    family = read_family(settings.home, settings.name)
    dataset = compiled.dataset
    labels, split = dataset.labels, dataset.split
    report = _report(compiled, settings, cost)
    if compiled.earlier is not None:
        card = compiled.earlier
    else:
        tested = compiled.verification.judgments["compiled"]
        judgments = judgments_table(dataset.test.items, tested, whole=split.folds > 1)
        card = programs.save(
            settings.home,
            Program(
                card=card,
                program=dump_module(compiled.judge.module),
                calibration=compiled.judge.calibration(),
                split=split_record(split, labels, family.salt, columns_of(labels, settings.source)),
                report={**report, "judgments": judgments},
            ),
        )
    page = page_path(settings.home, card)
    if compiled.earlier is None or not page.exists():
        write_whole(page, page_of(compiled, settings, card))
    if card.version == max(programs.versions(settings.home, settings.name)):  # a later one has been decided since
        alias = programs.CHAMPION if card.promoted else "challenger"
        programs.set_aliases(settings.home, settings.name, {alias: card.version})
    return Saved(card, {"program": card.name, "version": card.version, **report}, compiled)


def _count_look(card: ProgramCard, settings: CompileSettings) -> None:
    if not _counted(card, settings):
        family = read_family(settings.home, settings.name)
        write_family(settings.home, family.looked(f"{card.version:04d}", card.split_digest))


def _counted(card: ProgramCard, settings: CompileSettings) -> bool:
    """Whether the version's look at the test split is counted: its compile came to its end."""
    looks = read_family(settings.home, settings.name).looks
    return f"{card.version:04d}" in {look.version for look in looks}


def with_run(saved: Saved, run_id: str | None) -> dict[str, object]:
    """The report with the MLflow run it was logged as; the contract of ``--json``."""
    return {**saved.report, "mlflow_run_id": run_id}


def _card(compiled: Compiled, settings: CompileSettings, cost: Cost, created: str) -> ProgramCard:
    labels, decision = compiled.dataset.labels, compiled.decision
    test = compiled.verification.agreements["compiled"].estimates
    return ProgramCard(
        name=settings.name,
        task=labels.task,
        scale=labels.scale,
        aspects=labels.aspects,
        fields=fields_of(labels),
        signature=fingerprint(compiled.judge.module),
        data_digest=labels.digest,
        split_digest=compiled.dataset.split.digests["test"],
        labels=labels.source.get("labels", ""),
        lm=settings.lm.describe(),
        engine=EVIDENCE_ALONE if not compiled.judge.asks_lm else ENGINE_NOTE if settings.lm.embedded else "",
        evidence_alone=not compiled.judge.asks_lm,
        optimizer=settings.optimizer,
        settings={
            "prompt": compiled.chosen.name,
            **compiled.chosen.settings,
            **({} if compiled.abstention.below is None else {"abstain_below": compiled.abstention.below}),
        },
        objective=settings.objective,
        seed=settings.seed,
        versions={"python": platform.python_version(), "judgec": __version__}
        | {name: installed(name) for name in PACKAGES},
        cost=cost,
        created=created,
        parent=compiled.standing.champion,
        looks=decision.look,
        promoted=decision.promoted,
        reason=decision.reason,
        tie_band=compiled.judge.tie_band,
        test=dict(test),
    )


def _report(compiled: Compiled, settings: CompileSettings, cost: Cost) -> dict[str, object]:
    decision, dataset = compiled.decision, compiled.dataset
    difference: dict[str, object] = {"to": decision.rival, **_short(decision.by_statistic)}
    difference["objective"] = decision.difference.to_json()
    difference["detectable"] = decision.detectable
    below = {
        name: {"value": one.value, "majority": one.other, "difference": one.difference.to_json()}
        for name, one in decision.below_majority.items()
    }
    return {
        "promoted": decision.promoted,
        "reason": decision.reason,
        "verdict": verdict_of(compiled, settings, settings.name).sentence,
        "evidence_alone": not compiled.judge.asks_lm,
        "adjudicators": list(dataset.test.experts.adjudicators),
        "task": dataset.labels.task,
        "objective": settings.objective,
        "split": {part.name: len(part) for part in (dataset.train, dataset.dev, dataset.test)} | _folds(compiled),
        "test": {name: found.to_json() for name, found in compiled.verification.agreements.items()},
        "difference": difference,
        "below_majority": below,
        "above": {name: value for name, (value, _) in decision.above.items()},
        "more_queries": compiled.sharper.to_json(),
        "prompt_gain": _short(compiled.prompt_gain),
        "prompt": compiled.chosen.name,
        "candidates": [
            {"name": found.candidate.name, "dev": found.dev, "items": found.items, "unscored": found.unscored}
            for found in compiled.scored
        ],
        **({} if not compiled.folds else {"folds": [{"prompt": choice.chosen.name} for choice in compiled.folds]}),
        "calibrators": {
            aspect: {
                "source": fitted.source,
                "model": fitted.family,
                "accept_threshold": fitted.accept_threshold,
                "choices": [choice.model_dump() for choice in fitted.choices],
            }
            for aspect, fitted in compiled.judge.calibrators.items()
        },
        "calibration_error": calibration_errors(compiled.dataset, compiled.verification.judgments["compiled"]),
        "abstention": compiled.abstention.to_json(),
        **({} if compiled.curve is None else {"learning_curve": compiled.curve.to_json()}),
        "source": dict(settings.source),
        "lm": settings.lm.describe(),
        "notes": list(compiled.notes),
        "lm_calls": cost.lm_calls,
        "cost_usd": cost.usd,
        "seconds": cost.seconds,
    }


def _folds(compiled: Compiled) -> dict[str, int]:
    folds = compiled.dataset.split.folds
    return {} if folds == 1 else {"folds": folds}


def _short(estimates: Mapping[str, Estimate]) -> dict[str, object]:
    return {name: estimate.to_json() for name, estimate in estimates.items()}


def check_name(name: str) -> None:
    """Refuse a name before anything is done with it.

    Raises:
        UserError: When it cannot be a folder name.
    """
    if not programs.NAME.fullmatch(name):
        raise UserError(
            f"--name {name!r}: not a folder name; letters, digits, '-', '_', '.' are valid. Choose another."
        )
