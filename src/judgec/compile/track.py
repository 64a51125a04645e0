"""Logs a compile as an MLflow run: the numbers of the report, and tables."""

import hashlib
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Literal

import numpy as np

from judgec.compile.calibration_errors import calibration_errors
from judgec.compile.compile import Compiled
from judgec.compile.dataset import Part
from judgec.compile.judge_page import items_of
from judgec.compile.report import Saved
from judgec.compile.settings import CompileSettings
from judgec.connect.tracking.metrics import headline, of_cost
from judgec.connect.tracking.runs import (
    CandidateRun,
    ColumnKind,
    CompileRun,
    DatasetInput,
    DisagreementTrace,
    ModelFields,
    ModelVersion,
)
from judgec.labels.split.family import SPLITS
from judgec.lm.spec import NO_LM
from judgec.raters import programs
from judgec.records.agreement import Agreement
from judgec.records.card import ProgramCard
from judgec.records.consensus import parts_of
from judgec.records.estimate import Estimate
from judgec.records.ratings import GradePairs
from judgec.records.tasks.registry import TASKS
from judgec.report.cost_table import logged
from judgec.report.items import BrowsedItem
from judgec.stats.agreement.objective import parse_objective, statistics_of
from judgec.stats.intervals.bootstrap import interval

MOST_ROWS = 200  # of the table of disagreements
SHOWN_TEXT = 1000  # characters of a text in it
NOTHING = "none"  # the model, and the prompt, of a judge that asks none
AGREED = 2  # the place of an item on which judge and experts agree (``BrowsedItem.worth``)
HEADLINE = (  # 15 metrics, which fit on MLflow's compare page
    "test.objective",
    "test.objective.low",
    "test.objective.high",
    "test.tau_b",
    "test.accept_agreement",
    "test.kappa",
    "test.qwk",
    "test.exact",
    "test.ceiling",
    "test.gain",
    "test.unscored",
    "test.n",
    "lm_calls",
    "cost_usd",
    "seconds",
)
Columns = Mapping[str, Literal["string", "long", "double", "boolean"]]


def run_of(
    compiled: Compiled, saved: Saved, settings: CompileSettings, *, source: str, started: float, ended: float
) -> CompileRun:
    """The run to log; the aliases of the registered version are those that the version has on disk now.

    Args:
        compiled: The outcome.
        saved: The version it was saved as.
        settings: What was asked for.
        source: Where the labels came from.
        started: POSIX seconds.
        ended: POSIX seconds.
    """
    card = saved.card
    version = f"{card.version:04d}"
    differing = _differing(compiled)
    asks = compiled.judge.asks_lm and settings.lm.model != NO_LM
    metrics = _metrics(compiled) | _of_the_run(compiled, saved, settings)
    return CompileRun(
        name=f"{card.name} {version}",
        params={
            "program": card.name,
            "version": version,
            "task": card.task,
            "lm": settings.lm.model if asks else NOTHING,
            "objective": settings.objective,
            "optimizer": settings.optimizer,
            "seed": settings.seed,
            "evidence": settings.evidence,
            "prompt": compiled.chosen.name if asks else NOTHING,
            "judge_kind": card.judge_kind,
        },
        metrics=metrics,
        headline=headline(metrics, HEADLINE),
        candidates=tuple(
            CandidateRun(
                name=found.candidate.name,
                params=dict(found.candidate.settings),
                metrics={f"dev.{settings.objective}": found.dev, "dev.unscored": found.unscored}
                | ({} if found.cost_usd is None else {"cost_usd": found.cost_usd}),
                started=started,
                ended=ended,
            )
            for found in compiled.scored
        ),
        datasets=_datasets(compiled, source),
        tables={
            "disagreements": _disagreement_table(differing),
            **({"costs": logged(compiled.costs)} if compiled.costs else {}),
        },
        tags={"judgec.promoted": str(card.promoted).lower(), "judgec.engine": card.engine},
        key=hashlib.sha256(card.model_dump_json().encode()).hexdigest(),
        disagreements=_disagreements(differing, card) if settings.log_traces else (),
        version=_model_version(compiled, saved, settings.home),
        started=started,
        ended=ended,
        description="\n\n".join([str(saved.report["verdict"]), *compiled.notes]),
    )


def _model_version(compiled: Compiled, saved: Saved, home: Path) -> ModelVersion:
    card = saved.card
    aliases = programs.aliases(home, card.name)
    test = compiled.verification.agreements["compiled"].estimates
    values = {f"test.{name}": test[name].value for name in ("tau_b", "accept_agreement")}
    tags = {name: str(value) for name, value in values.items() if value is not None}
    tags |= {"version": f"{card.version:04d}"}  # MLflow numbers registered versions by itself
    return ModelVersion(
        name=card.name,
        folder=home / "programs" / card.name / f"{card.version:04d}",
        aliases=tuple(sorted(alias for alias, version in aliases.items() if version == card.version)),
        tags={**tags, "promoted": str(card.promoted).lower(), "labels": card.labels or "experts"},
        description=str(saved.report["verdict"]),
        fields=_fields(card),
    )


def _fields(card: ProgramCard) -> ModelFields:
    """The columns of a loaded judge: the task's inputs, and what a judged row gets."""
    spec = TASKS[card.task]
    several = {*spec.lists, *spec.joined}
    inputs: dict[str, ColumnKind] = {name: "texts" if name in several else "text" for name in spec.inputs}
    kinds = {type(grade) for grade in card.scale.grades}
    grade: ColumnKind = "whole" if kinds == {int} else "number" if kinds <= {int, float} else "text"
    graded: dict[str, ColumnKind] = {"grade": grade, "score": "number", "accept": "truth", "confidence": "number"}
    ends = [""] if len(card.aspects) == 1 else [f".{aspect}" for aspect in card.aspects]
    outputs = {f"{name}{end}": kind for name, kind in graded.items() for end in ends}
    words: dict[str, ColumnKind] = dict.fromkeys(("rationale", "unscored", "probabilities"), "text")
    outputs["stated_confidence"] = "number"
    return ModelFields(inputs={**inputs, "item_id": "text"}, required=spec.required, outputs=outputs | words)


def _datasets(compiled: Compiled, source: str) -> tuple[DatasetInput, ...]:
    dataset = compiled.dataset
    parts = zip(SPLITS, (dataset.train, dataset.dev, dataset.test), strict=True)
    return tuple(_dataset(part, source, dataset.split.digests[name]) for name, part in parts)


def _metrics(compiled: Compiled) -> dict[str, Estimate | float]:
    """``test.tau_b`` is the compiled judge's; the other judges' carry their name."""
    metrics: dict[str, Estimate | float] = {}
    for judge, agreement in compiled.verification.agreements.items():
        prefix = "test" if judge == "compiled" else f"test.{judge}"
        metrics |= _flat(prefix, agreement)
        for aspect, part in agreement.aspects.items():
            metrics |= _flat(f"{prefix}.aspect.{aspect}", part)
    metrics |= {f"difference.{name}": found for name, found in compiled.decision.by_statistic.items()}
    metrics |= {f"prompt_gain.{name}": found for name, found in compiled.prompt_gain.items()}
    errors = calibration_errors(compiled.dataset, compiled.verification.judgments["compiled"])
    for aspect, by_kind in errors.items():
        prefix = "test" if len(errors) == 1 else f"test.aspect.{aspect}"
        metrics |= {f"{prefix}.ece_{kind}": error for kind, error in by_kind.items() if error is not None}
    if compiled.abstention.chosen is not None:
        metrics["test.abstaining.coverage"] = compiled.abstention.chosen.coverage
        metrics["test.abstaining.agreement"] = compiled.abstention.chosen.agreement
    return metrics


def _differing(compiled: Compiled) -> list[BrowsedItem]:
    """Test items that judge and experts see differently, or that have no grade: the farthest apart first."""
    found = sorted((item for item in items_of(compiled) if item.worth()[0] < AGREED), key=BrowsedItem.worth)
    return found[:MOST_ROWS]


def _disagreements(differing: Sequence[BrowsedItem], card: ProgramCard) -> tuple[DisagreementTrace, ...]:
    """As traces: with whole texts."""
    several = {*TASKS[card.task].lists}
    return tuple(
        DisagreementTrace(
            item_id=item.item_id,
            inputs={
                name: parts if name in several or len(parts) != 1 else parts[0] for name, parts in item.texts.items()
            },
            graded=TASKS[card.task].graded,
            expert={aspect: grade for aspect, grade in item.expert.items() if grade is not None},
            judge=f"{card.name}@{card.version}",
            verdict=dict(item.judge),
            reason=item.reason,
            unscored=item.unscored,
        )
        for item in differing
    )


def _disagreement_table(differing: Sequence[BrowsedItem]) -> dict[str, list[object]]:
    """As ``mlflow.log_table`` has it. Of the item's texts what the page shows of it anyway, cut."""
    rows: list[object] = [
        [
            item.item_id,
            _one_or_all(item.expert),
            _one_or_all(item.judge),
            _one_or_all(item.score),
            item.confidence,
            item.unscored,
            item.reason,
            *(" | ".join(item.texts.get(name, ()))[:SHOWN_TEXT] for name in ("query", "answer")),
        ]
        for item in differing
    ]
    columns: list[object] = [
        "item_id",
        "experts",
        "judge",
        "score",
        "confidence",
        "unscored",
        "reason",
        "query",
        "answer",
    ]
    return {"columns": columns, "data": rows}


def _one_or_all(by_aspect: Mapping[str, object]) -> object:
    """The grade of the only aspect; of several a text of all."""
    if len(by_aspect) == 1:
        return next(iter(by_aspect.values()))
    return ", ".join(f"{aspect} {value}" for aspect, value in by_aspect.items())


def _of_the_run(compiled: Compiled, saved: Saved, settings: CompileSettings) -> dict[str, Estimate | float]:
    """The objective on test, the best it could be, what was gained, and what it took."""
    ratings = compiled.verification.ratings["compiled"]
    statistic = parse_objective(settings.objective).statistic(ratings)
    found: dict[str, Estimate | float] = {
        "test.objective": interval(statistic, resamples=settings.resamples, seed=settings.seed).estimate(
            len(ratings.judge)
        ),
        "test.gain": compiled.decision.difference,
        **of_cost(saved.card.cost),
    }
    ceiling = compiled.verification.agreements["ceiling"].estimates.get(statistics_of(settings.objective)[0])
    if ceiling is not None:
        found["test.ceiling"] = ceiling
    if TASKS[compiled.dataset.labels.task].pairs:
        found["test.accept_agreement"] = _decisive(ratings)
    return found


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


def _flat(prefix: str, agreement: Agreement) -> dict[str, Estimate | float]:
    limits = agreement.bland_altman
    numbers = {
        "bias": limits.bias,
        "limit_low": limits.low,
        "limit_high": limits.high,
        "reject_rate.expert": agreement.expert_reject_rate,
        "reject_rate.judge": agreement.judge_reject_rate,
        "n": agreement.n,
        "unscored": agreement.unscored,
    }
    return {
        **{f"{prefix}.{name}": found for name, found in agreement.estimates.items()},
        **{f"{prefix}.{name}": float(value) for name, value in numbers.items() if value is not None},
    }


def _dataset(part: Part, source: str, digest: str) -> DatasetInput:
    names = sorted({name for item in part.items for name in item.inputs})
    columns: Columns = {"item_id": "string", "query_id": "string", **dict.fromkeys(names, "string")}
    return DatasetInput(
        name=source.rpartition("/")[2],
        digest=digest,
        split=part.name,
        source=source,
        columns=columns,
        n_rows=len(part),
        profile={"queries": part.n_queries},
    )
