"""Writes what a compile found: the JSON report, the card, the saved version."""

import platform
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from importlib.metadata import version as installed

from judgec import __version__
from judgec.compile.calibration_errors import calibration_errors
from judgec.compile.choose import ScoredCandidate
from judgec.compile.compile import Compiled, card_settings, missing_of
from judgec.compile.family_state import FamilyState
from judgec.compile.judge_page import items_of, page_of, verdict_of
from judgec.compile.modes import found_modes
from judgec.compile.release import Place, cost_of, release
from judgec.compile.replacement import replacement
from judgec.compile.rivals import judgments_table
from judgec.compile.settings import CompileSettings
from judgec.labels.split.draw import split_record
from judgec.labels.split.family import Family
from judgec.labels.split.memory import JUDGE, measured_by
from judgec.lm.usage import Spent
from judgec.raters.judge import outline, signature_of
from judgec.raters.programs import Program
from judgec.records.card import EVIDENCE_ALONE, NO_MODEL, Cost, ProgramCard
from judgec.records.estimate import Estimate
from judgec.records.language import languages_of
from judgec.report.items import item_lines

PACKAGES = ("dspy", "mlflow", "numpy", "scikit-learn")


@dataclass(frozen=True, slots=True)
class Saved:
    """A version on disk with what it reports, and the outcome as it was decided in the end."""

    card: ProgramCard
    report: dict[str, object]
    compiled: Compiled


@dataclass(frozen=True, slots=True)
class FinishedJudge:
    """A compiled judge that is not on disk yet; ``release`` saves it.

    Args:
        compiled: The outcome.
        settings: What was asked for.
        cost: What the run used.
        created: When, ISO 8601.
    """

    compiled: Compiled
    settings: CompileSettings
    cost: Cost
    created: str

    @property
    def place(self) -> Place:
        """The place where it is saved."""
        return Place(self.settings.home, self.settings.name, JUDGE)

    @property
    def standing(self) -> FamilyState:
        """As it was when this was decided."""
        return self.compiled.standing

    @property
    def earlier(self) -> ProgramCard | None:
        """The version that this very compile wrote before it was killed, or None."""
        return self.compiled.earlier

    def stands(self) -> FamilyState:
        """As the family stands on disk."""
        return self.compiled.promotion_test.standing()

    def decided(self, standing: FamilyState) -> "FinishedJudge":
        """Decided again, as the family stands now."""
        decision = self.compiled.promotion_test.decide(standing)
        return replace(self, compiled=replace(self.compiled, decision=decision, standing=standing, earlier=None))

    def program(self, family: Family) -> Program:
        """The program that is written."""
        compiled, dataset = self.compiled, self.compiled.dataset
        split, items = dataset.split, dataset.labels.items
        judgments = judgments_table(
            dataset.test.items, compiled.verification.judgments["compiled"], whole=split.folds > 1
        )
        return Program(
            card=_card(compiled, self.settings, self.cost, self.created),
            tree=compiled.judge.saved(),
            split=split_record(split, items, measured_by(dataset.labels, self.settings.source), family.salt),
            report={**self.report(), "judgments": judgments},
        )

    def page(self, card: ProgramCard) -> str:
        """``report.html``."""
        return page_of(self.compiled, self.settings, card)

    def items(self) -> Iterator[str]:
        """Lines of ``items.jsonl``."""
        return item_lines(items_of(self.compiled))

    def report(self) -> dict[str, object]:
        """``report.json``, but for the judgments."""
        return _report(self.compiled, self.settings, _card(self.compiled, self.settings, self.cost, self.created))


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
    cost = cost_of(spent, seconds)
    found: list[Saved] = []

    def saved(card: ProgramCard, made: FinishedJudge) -> None:
        found.append(Saved(card, {"program": card.name, "version": card.version, **made.report()}, made.compiled))
        if track is not None:
            track(found[0])

    release(FinishedJudge(compiled, settings, cost, created), saved)
    return found[0]


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
        fields=labels.fields,
        missing=missing_of(labels),
        signature=signature_of(compiled.judge),
        data_digest=labels.digest,
        split_digest=compiled.dataset.split.digests["test"],
        languages=languages_of(labels.items),
        labels=labels.source.get("labels", ""),
        lm=settings.asked_by(compiled.judge).describe(),
        engine=NO_MODEL if settings.no_model else "" if compiled.judge.asks_lm else EVIDENCE_ALONE,
        judge_kind=compiled.judge.kind,
        optimizer=settings.optimizer,
        settings=card_settings(compiled.chosen, settings, compiled.abstention, compiled.judge),
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
        tie_band=compiled.judge.tie_band,
        test=dict(test),
    )


def _report(compiled: Compiled, settings: CompileSettings, card: ProgramCard) -> dict[str, object]:
    cost = card.cost
    decision, dataset = compiled.decision, compiled.dataset
    named = {"uncompiled": compiled.choice.uncompiled, "best_alone": compiled.choice.alone}  # of folds, the whole's
    folds = {"folds": dataset.split.folds} if dataset.split.folds > 1 else {}
    alt_test = replacement(dataset, compiled.verification.judgments)
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
        **({} if compiled.as_it_is is None else {"as_it_is": compiled.as_it_is.to_json()}),
        "judge_kind": card.judge_kind,
        "evidence_alone": card.evidence_alone,
        "adjudicators": list(dataset.test.experts.adjudicators),
        "task": dataset.labels.task,
        "objective": settings.objective,
        "languages": list(languages_of(dataset.labels.items)),
        "split": {part.name: len(part) for part in (dataset.train, dataset.dev, dataset.test)} | folds,
        "test": {name: found.to_json() for name, found in compiled.verification.agreements.items()},
        "difference": difference,
        "below_majority": below,
        "above": {name: value for name, (value, _) in decision.above.items()},
        "more_queries": compiled.detectable_difference.to_json(),
        "narrower": compiled.interval_width(settings.objective).to_json(),
        "prompt_gain": _short(compiled.prompt_gain),
        "prompt": compiled.chosen.name,
        "candidates": [_candidate(found, compiled) for found in compiled.scored],
        "costs": [row.to_json() for row in compiled.costs],
        **({} if compiled.systems is None else {"systems": compiled.systems.to_json()}),
        "tree": outline(compiled.judge.rater),
        **({} if not any(named.values()) else {"recorded": {name: one.name for name, one in named.items() if one}}),
        **({} if compiled.combined is None else {compiled.combined.key: compiled.combined.to_json()}),
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
        **({} if (modes := found_modes(compiled)) is None else {"modes": modes.to_json()}),
        **({} if alt_test is None else {"alt_test": alt_test.to_json()}),
        "source": dict(settings.source),
        "lm": settings.asked_by(compiled.judge).describe(),
        "notes": list(compiled.notes),
        "lm_calls": cost.lm_calls,
        "cost_usd": cost.usd,
        "seconds": cost.seconds,
    }


def _candidate(found: ScoredCandidate, compiled: Compiled) -> dict[str, object]:
    """A candidate's row; of a recorded judge ``dev`` is an estimate, on train and dev."""
    row: dict[str, object] = {"name": found.candidate.name, "dev": found.dev, "items": found.items}
    row["unscored"] = found.unscored
    if found.estimate is None:
        return row
    return row | {
        "judge": found.candidate.name,
        "model": found.candidate.settings.get("model"),
        "n": found.items,
        "dev": found.estimate.to_json(),
        "cost_usd": found.cost_usd,
        "chosen": found.candidate.name == compiled.chosen.name,
    }


def _short(estimates: Mapping[str, Estimate]) -> dict[str, object]:
    return {name: estimate.to_json() for name, estimate in estimates.items()}
