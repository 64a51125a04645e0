"""Logs a compile as an MLflow run: the numbers of its report under their names, and tables."""

import hashlib
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from judgec.compile.judge_page import costs_of
from judgec.compile.release import Saved
from judgec.connect.tracking.metrics import headline, of_cost
from judgec.connect.tracking.runs import (
    CandidateRun,
    ColumnKind,
    CompileRun,
    DatasetInput,
    DisagreementTrace,
    ModelFields,
    ModelVersion,
    Param,
)
from judgec.labels.split.family import SPLITS
from judgec.lm.spec import NO_LM
from judgec.raters import programs
from judgec.records.card import ProgramCard
from judgec.records.estimate import Estimate
from judgec.records.tasks.registry import TASKS
from judgec.report.cost_table import logged
from judgec.report.items import BrowsedItem
from judgec.report.page.page import Found
from judgec.stats.agreement.objective import statistics_of

Metrics = dict[str, Estimate | float]

MOST_ROWS = 200  # of the table of disagreements
SHOWN_TEXT = 1000  # characters of a text in it
NOTHING = "none"  # the model, and the prompt, of a judge that asks none
AGREED = 2  # the place of an item on which judge and experts agree (``BrowsedItem.worth``)
NAMES = {  # of metrics, where they are not the report's
    "aspects": "aspect",
    "bland_altman.bias": "bias",
    "bland_altman.low": "limit_low",
    "bland_altman.high": "limit_high",
    "n_clusters": "",
}
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
DISAGREEMENTS = ["item_id", "experts", "judge", "score", "confidence", "unscored", "reason", "query", "answer"]


def run_of(
    saved: Saved[Any], home: Path, *, source: str, took: tuple[float, float], log_traces: bool = False
) -> CompileRun:
    """The run of a compiled judge.

    Args:
        saved: The version.
        home: Folder of ``programs/``.
        source: Where the labels came from.
        took: When it began and ended, in POSIX seconds.
        log_traces: MLflow gets the items on which judge and experts differ, with their texts.
    """
    card, items = saved.card, saved.items
    found: Found = saved.report
    differing = sorted((item for item in items if item.worth()[0] < AGREED), key=BrowsedItem.worth)[:MOST_ROWS]
    asks = not card.evidence_alone and card.lm.get("model") != NO_LM
    statistics = {f"test.{name}": found["test"]["compiled"][name]["value"] for name in ("tau_b", "accept_agreement")}
    priced = {"costs": logged(costs_of(found))} if found["costs"] else {}
    return compile_run(
        found,
        card,
        home,
        metrics=_metrics(found, card),
        shown=HEADLINE,
        params={
            "lm": str(card.lm.get("model")) if asks else NOTHING,
            "evidence": found["evidence"],
            "prompt": found["prompt"] if asks else NOTHING,
            "judge_kind": card.judge_kind,
        },
        candidates=[(row["name"], row["settings"], _of_candidate(row, card)) for row in found["candidates"]],
        source=source,
        took=took,
        said=found["verdict"],
        version_tags={name: str(value) for name, value in statistics.items() if value is not None},
        fields=_fields(card),
        tables={"disagreements": _table(differing), **priced},
        disagreements=[_trace(item, card) for item in differing] if log_traces else (),
    )


def compile_run(
    found: Found,
    card: ProgramCard,
    home: Path,
    *,
    metrics: Metrics,
    shown: Iterable[str],
    params: Mapping[str, Param],
    candidates: Iterable[tuple[str, Mapping[str, Param], Metrics]],
    source: str,
    took: tuple[float, float],
    said: str,
    version_tags: Mapping[str, str] = {},
    fields: ModelFields | None = None,
    tables: Mapping[str, Mapping[str, list[object]]] = {},
    disagreements: Iterable[DisagreementTrace] = (),
) -> CompileRun:
    """The run of a compile of any kind; the aliases of its version are those that it has on disk now.

    Args:
        found: Its report, for notes and data sets.
        card: Of the version as saved.
        home: Folder of ``programs/``.
        metrics: All numbers but the cost, as ``metrics_of`` finds them, and others.
        shown: Those that MLflow shows, the most important first.
        params: Beside those of every compile, or in their place.
        candidates: Name, settings and metrics of each.
        source: Where labels or items came from.
        took: When it began and ended, in POSIX seconds.
        said: The first sentence of run and version.
        version_tags: Of the registered version, beside those that all have.
        fields: What the version reads and gives, where MLflow can load it.
        tables: By name.
        disagreements: Items to log as traces.
    """
    version, (started, ended) = f"{card.version:04d}", took
    aliases = [alias for alias, number in programs.aliases(home, card.name).items() if number == card.version]
    metrics, learned = {**metrics, **of_cost(card.cost)}, found["labels"]
    usual = {"task": card.task, "lm": str(card.lm.get("model")), "objective": card.objective}
    usual |= {"optimizer": card.optimizer, "program": card.name, "version": version}
    told = {"version": version, "promoted": str(card.promoted).lower(), "labels": card.labels or "experts"}
    return CompileRun(
        name=f"{card.name} {version}",
        params={
            "program": card.name,
            "version": version,
            **usual,
            "optimizer": card.optimizer,
            "seed": card.seed,
            **params,
        },
        metrics=metrics,
        headline=headline(metrics, shown),
        candidates=tuple(
            CandidateRun(name=name, params=dict(made), metrics=values, started=started, ended=ended)
            for name, made, values in candidates
        ),
        datasets=tuple(
            DatasetInput(
                name=source.rpartition("/")[2],
                digest=learned["digests"][name],
                split=name,
                source=source,
                columns=dict.fromkeys(("item_id", "query_id", *learned["fields"][name]), "string"),
                n_rows=found["split"][name],
                profile={"queries": learned["queries"][name]},
            )
            for name in SPLITS
        ),
        tables=tables,
        tags={"judgec.promoted": str(card.promoted).lower(), "judgec.engine": card.engine},
        key=hashlib.sha256(card.model_dump_json().encode()).hexdigest(),
        disagreements=tuple(disagreements),
        version=ModelVersion(
            name=card.name,
            folder=home / "programs" / card.name / version,
            aliases=tuple(sorted(aliases)),
            tags={**version_tags, **told},  # MLflow numbers registered versions by itself
            description=said,
            fields=fields,
        ),
        started=started,
        ended=ended,
        description="\n\n".join([said, *found["notes"]]),
    )


def metrics_of(test: Mapping[str, Found]) -> Metrics:
    """``test.tau_b`` is what was compiled; the numbers of the other rows of the report's ``test`` carry their name."""
    metrics: Metrics = {}
    for name, row in test.items():
        metrics |= flat("test" if name == "compiled" else f"test.{name}", row)
    return metrics


def flat(prefix: str, found: Found) -> Metrics:
    """The numbers of an object of a report, with their intervals, under their path."""
    metrics: Metrics = {}
    for key, value in found.items():
        name = f"{prefix}.{NAMES.get(key, key)}"
        if key == "bland_altman":
            known = {NAMES[f"{key}.{end}"]: value[end] for end in ("bias", "low", "high")}
            metrics |= {f"{prefix}.{end}": at for end, at in known.items() if at is not None}
        elif isinstance(value, Mapping):
            metrics |= {name: Estimate(**value)} if "value" in value else flat(name, value)
        elif isinstance(value, int | float) and NAMES.get(key, key):
            metrics[name] = float(value)
    return metrics


def _metrics(found: Found, card: ProgramCard) -> Metrics:
    metrics, test = metrics_of(found["test"]), found["test"]
    apart = {name: one for name, one in found["difference"].items() if name not in {"to", "objective", "detectable"}}
    metrics |= flat("difference", apart) | flat("prompt_gain", found["prompt_gain"])
    for aspect, by_kind in found["calibration_error"].items():
        prefix = "test" if len(found["calibration_error"]) == 1 else f"test.aspect.{aspect}"
        metrics |= {f"{prefix}.ece_{kind}": error for kind, error in by_kind.items() if error is not None}
    if found["abstention"]["below"] is not None:
        chosen = {name: found["abstention"][name] for name in ("coverage", "agreement")}
        metrics |= flat("test.abstaining", chosen)
    objective, gain = found["objective_on_test"], found["difference"]["objective"]
    metrics |= {"test.objective": Estimate(**objective), "test.gain": Estimate(**gain)}
    ceiling = test["ceiling"].get(statistics_of(card.objective)[0])
    metrics |= {} if ceiling is None else {"test.ceiling": Estimate(**ceiling)}
    return metrics | ({"test.accept_agreement": Estimate(**found["decisive"])} if "decisive" in found else {})


def _of_candidate(row: Found, card: ProgramCard) -> Metrics:
    dev = row["dev"]["value"] if isinstance(row["dev"], Mapping) else row["dev"]
    metrics: Metrics = {f"dev.{card.objective}": dev, "dev.unscored": row["unscored"]}
    return metrics | ({} if row.get("cost_usd") is None else {"cost_usd": row["cost_usd"]})


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


def _trace(item: BrowsedItem, card: ProgramCard) -> DisagreementTrace:
    """With whole texts."""
    several = {*TASKS[card.task].lists}
    return DisagreementTrace(
        item_id=item.item_id,
        inputs={name: parts if name in several or len(parts) != 1 else parts[0] for name, parts in item.texts.items()},
        graded=TASKS[card.task].graded,
        expert={aspect: grade for aspect, grade in item.expert.items() if grade is not None},
        judge=f"{card.name}@{card.version}",
        verdict=dict(item.judge),
        reason=item.reason,
        unscored=item.unscored,
    )


def _table(differing: Sequence[BrowsedItem]) -> dict[str, list[object]]:
    """As ``mlflow.log_table`` has it. Of the item's texts what the page shows of it anyway, cut."""
    rows: list[object] = [
        [
            item.item_id,
            *map(_one_or_all, (item.expert, item.judge, item.score)),
            item.confidence,
            item.unscored,
            item.reason,
            *(" | ".join(item.texts.get(name, ()))[:SHOWN_TEXT] for name in ("query", "answer")),
        ]
        for item in differing
    ]
    return {"columns": [*DISAGREEMENTS], "data": rows}


def _one_or_all(by_aspect: Mapping[str, object]) -> object:
    """The grade of the only aspect; of several a text of all."""
    if len(by_aspect) == 1:
        return next(iter(by_aspect.values()))
    return ", ".join(f"{aspect} {value}" for aspect, value in by_aspect.items())
