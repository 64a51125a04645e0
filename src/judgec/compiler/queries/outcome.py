"""A compiled generator on disk, in MLflow and in the report; the same folders and aliases as judges."""

import platform
from collections.abc import Sequence
from dataclasses import dataclass
from importlib.metadata import version as installed
from pathlib import Path

from judgec import __version__
from judgec.compiler.queries.compile import CompiledQueries, QuerySettings
from judgec.compiler.queries.saved import TASK, state_of
from judgec.compiler.report import ENGINE_NOTE, PACKAGES
from judgec.judges.signatures import fingerprint
from judgec.lm.spec import LMSpec
from judgec.lm.usage import Spent
from judgec.queries.generation.generator import QueryGenerator
from judgec.records.card import Cost, ProgramCard
from judgec.records.scale import ACCEPT_SCALE
from judgec.store import programs
from judgec.store.programs import Program, dump_module
from judgec.store.rows.items import digest
from judgec.store.splits import locked_family, read_family, split_table, write_family
from judgec.tracking.runs import CandidateRun, CompileRun, DatasetInput, ModelVersion

OBJECTIVE = "accepted x likeness"


@dataclass(frozen=True)
class Source:
    """Where a compile comes from.

    Args:
        name: The family.
        home: Folder of ``programs/``.
        lm: The model that writes.
        index: The documents, as named.
        experts: The experts' queries.
        reliability: Who accepts.
        settings: What was asked for.
        notes: What the user should know.
    """

    name: str
    home: Path
    lm: LMSpec
    index: str
    experts: Sequence[str]
    reliability: str
    settings: QuerySettings
    notes: Sequence[str] = ()


def save(
    compiled: CompiledQueries, source: Source, spent: Spent, *, created: str, seconds: float
) -> tuple[ProgramCard, dict[str, object]]:
    """Write the version, point its alias, count the look; the card and the report."""
    cost = Cost(lm_calls=spent.calls, usd=None if spent.unpriced else spent.usd, seconds=round(seconds, 2))
    report = report_of(compiled, source, cost)
    module = compiled.chosen.found.module or QueryGenerator()
    with locked_family(source.home, source.name):
        family = read_family(source.home, source.name)
        card = ProgramCard(
            name=source.name,
            task=TASK,
            scale=ACCEPT_SCALE,
            aspects=("accept",),
            fields=tuple(sorted(module.write.signature.input_fields)),
            signature=fingerprint(module),
            data_digest=digest([sorted(source.experts), sorted(item.item_id for item in compiled.items)]),
            split_digest=compiled.split.digests["test"],
            lm=source.lm.describe(),
            engine=ENGINE_NOTE if source.lm.embedded else "",
            optimizer="candidates",
            settings={"prompt": compiled.chosen.name, "per_passage": source.settings.per_passage},
            objective=OBJECTIVE,
            seed=source.settings.seed,
            versions={"python": platform.python_version(), "judgec": __version__}
            | {name: installed(name) for name in PACKAGES},
            cost=cost,
            created=created,
            parent=programs.aliases(source.home, source.name).get(programs.CHAMPION),
            looks=compiled.look,
            promoted=compiled.promoted,
            reason=compiled.reason,
            test={"accept_agreement": compiled.estimates["compiled.accepted"]},
        )
        card = programs.save(
            source.home,
            Program(
                card=card,
                program=dump_module(module),
                calibration=state_of(compiled.chosen.found),
                split=split_table(compiled.split, compiled.items, family.salt),
                report=report,
            ),
        )
        alias = programs.CHAMPION if card.promoted else "challenger"
        programs.set_aliases(source.home, source.name, {alias: card.version})
        write_family(source.home, family.looked(f"{card.version:04d}", compiled.split.digests["test"]))
    return card, {"program": card.name, "version": card.version, **report}


def report_of(compiled: CompiledQueries, source: Source, cost: Cost) -> dict[str, object]:
    """What ``--json`` prints, but for the version and the MLflow run."""
    return {
        "promoted": compiled.promoted,
        "reason": compiled.reason,
        "task": TASK,
        "objective": OBJECTIVE,
        "reliability": source.reliability,
        "split": compiled.split.sizes(),
        "test": {name: estimate.to_json() for name, estimate in compiled.estimates.items()},
        "difference": {
            "to": "uncompiled",
            "objective": compiled.difference.to_json(),
            "accepted": compiled.accepted_difference.to_json(),
        },
        "prompt": compiled.chosen.name,
        "candidates": [
            {
                "name": one.candidate.name,
                "dev": one.value,
                "accepted": float(one.accepted.mean()) if len(one.accepted) else None,
                "likeness": one.likeness,
                "queries": len(one.tried),
                "failed": dict(one.failed),
            }
            for one in compiled.dev
        ],
        "lm": source.lm.describe(),
        "notes": list(source.notes),
        "lm_calls": cost.lm_calls,
        "cost_usd": cost.usd,
        "seconds": cost.seconds,
    }


def run_of(compiled: CompiledQueries, card: ProgramCard, source: Source, *, started: float, ended: float) -> CompileRun:
    """The MLflow run: a parent, a child for each candidate, the registered version."""
    version = f"{card.version:04d}"
    folder = source.home / "programs" / card.name / version
    metrics = {f"test.{name}": estimate for name, estimate in compiled.estimates.items()}
    metrics |= {"test.difference": compiled.difference, "test.difference.accepted": compiled.accepted_difference}
    return CompileRun(
        name=f"{card.name} {version}",
        params={
            "program": card.name,
            "version": version,
            "task": card.task,
            "lm": source.lm.model,
            "objective": card.objective,
            "seed": card.seed,
            "prompt": compiled.chosen.name,
            "reliability": source.reliability,
        },
        metrics=metrics,
        candidates=tuple(
            CandidateRun(
                name=one.candidate.name,
                params={"queries": len(one.tried)},
                metrics={"dev.value": one.value, "dev.accepted": float(one.accepted.mean()) if len(one.tried) else 0.0},
                started=started,
                ended=ended,
            )
            for one in compiled.dev
        ),
        datasets=(
            DatasetInput(
                name=Path(source.index).name,
                digest=card.data_digest,
                split="test",
                source=source.index,
                columns={"passage_id": "string", "doc_id": "string"},
                n_rows=len(compiled.items),
            ),
        ),
        tags={"promoted": str(card.promoted).lower()},
        version=ModelVersion(
            name=card.name,
            folder=folder,
            aliases=(programs.CHAMPION if card.promoted else "challenger",),
            tags={"promoted": str(card.promoted).lower(), "version": version},
            description=card.reason,
        ),
        started=started,
        ended=ended,
        description="\n\n".join([card.reason, *source.notes]),
    )
