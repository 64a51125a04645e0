"""A compiled generator on disk, in MLflow and in the report; the same folders and aliases as judges."""

import platform
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from importlib.metadata import version as installed
from pathlib import Path

from judgec import __version__
from judgec.compile.family_state import FamilyState, family_state
from judgec.compile.pipeline import decided_again
from judgec.compile.queries.compile import MEASURED, WORDS, CompiledQueries, QuerySettings
from judgec.compile.queries.saved import TASK, state_of
from judgec.compile.release import Place, alias_of, release
from judgec.compile.report import PACKAGES
from judgec.connect.tracking.metrics import headline, of_cost
from judgec.connect.tracking.runs import CandidateRun, CompileRun, DatasetInput, ModelVersion
from judgec.labels.rows.items import digest
from judgec.labels.split.draw import split_record
from judgec.labels.split.family import Family
from judgec.lm.spec import LMSpec
from judgec.rag.queries.generation.generator import QueryGenerator
from judgec.raters.predictors import saved_prompts
from judgec.raters.programs import Program
from judgec.raters.signatures import fingerprint
from judgec.records.card import NO_MODEL, Cost, ProgramCard
from judgec.records.estimate import Estimate
from judgec.records.scale import ACCEPT_SCALE

OBJECTIVE = "accepted x likeness"
HEADLINE = (  # at most 15 metrics, which fit on MLflow's compare page
    "test.compiled.value",
    "test.compiled.accepted",
    "test.compiled.likeness",
    "test.uncompiled.value",
    "test.uncompiled.accepted",
    "test.uncompiled.likeness",
    "test.difference",
    "test.difference.low",
    "test.difference.high",
    "test.difference.accepted",
    "test.n",
    "lm_calls",
    "cost_usd",
    "seconds",
)


@dataclass(frozen=True, slots=True)
class GeneratorOrigin:
    """Origin of a compile.

    Args:
        name: The family.
        home: Folder of ``programs/``.
        lm: The model that writes.
        index: The documents, as named.
        experts: The experts' queries.
        reliability: Who accepts.
        settings: What was asked for.
        cost: What the run used.
        created: When, ISO 8601.
        notes: What the user should know.
    """

    name: str
    home: Path
    lm: LMSpec
    index: str
    experts: Sequence[str]
    reliability: str
    settings: QuerySettings
    cost: Cost
    created: str
    notes: Sequence[str] = ()


@dataclass(frozen=True, slots=True)
class FinishedGenerator:
    """A compiled generator that is not on disk yet; ``release`` saves it.

    Args:
        compiled: The outcome.
        origin: Where the compile came from.
    """

    compiled: CompiledQueries
    origin: GeneratorOrigin
    earlier: ProgramCard | None = None

    @property
    def place(self) -> Place:
        """The place where it is saved."""
        return Place(self.origin.home, self.origin.name, TASK)

    @property
    def standing(self) -> FamilyState:
        """As it was when this was decided."""
        return self.compiled.verdict.standing

    def stands(self) -> FamilyState:
        """As the family stands on disk."""
        return family_state(self.origin.home, self.origin.name, self.compiled.found.tested(), MEASURED)

    def decided(self, standing: FamilyState) -> "FinishedGenerator":
        """Decided again, as the family stands now."""
        found = decided_again(WORDS, self.compiled.found, standing, self.origin.settings.resampling)
        return replace(self, compiled=replace(self.compiled, found=found))

    def program(self, family: Family) -> Program:
        """The program that is written."""
        found = self.compiled.found
        return Program(
            card=_card(self.compiled, self.origin),
            tree={"prompts": saved_prompts(_module(self.compiled)), **state_of(found.chosen.found)},
            split=split_record(found.split, found.items, MEASURED, family.salt),
            report=self.report(),
        )

    def items(self) -> tuple[str, ...]:
        """None: it has no page."""
        return ()

    def page(self, _card: ProgramCard) -> None:
        """There is none yet."""
        return

    def report(self) -> dict[str, object]:
        """The JSON that ``--json`` prints, but for the version and the MLflow run."""
        return report_of(self.compiled, self.origin)


def save(
    compiled: CompiledQueries,
    origin: GeneratorOrigin,
    track: Callable[[ProgramCard, CompiledQueries], None] | None = None,
) -> tuple[ProgramCard, CompiledQueries, dict[str, object]]:
    """Write the version as ``release`` does: the card, the compile as it was decided in the end, and the report.

    Args:
        compiled: The outcome.
        origin: Where it came from.
        track: Logs the saved version elsewhere.

    Raises:
        UserError: When the family holds judges or agents.
    """

    def saved(card: ProgramCard, made: FinishedGenerator) -> None:
        if track is not None:
            track(card, made.compiled)

    card, made = release(FinishedGenerator(compiled, origin), saved)
    return card, made.compiled, {"program": card.name, "version": card.version, **made.report()}


def _module(compiled: CompiledQueries) -> QueryGenerator:
    return compiled.chosen.found.module or QueryGenerator()


def _card(compiled: CompiledQueries, origin: GeneratorOrigin) -> ProgramCard:
    found, module = compiled.found, _module(compiled)
    return ProgramCard(
        name=origin.name,
        task=TASK,
        scale=ACCEPT_SCALE,
        aspects=("accept",),
        fields=tuple(sorted(module.write.signature.input_fields)),
        signature=fingerprint(module),
        data_digest=digest([sorted(origin.experts), sorted(item.item_id for item in found.items)]),
        split_digest=found.split.digests["test"],
        lm=origin.lm.describe(),
        engine=NO_MODEL if origin.lm.no_model else "",
        optimizer="candidates",
        settings={"prompt": compiled.chosen.name, "per_passage": origin.settings.per_passage},
        objective=OBJECTIVE,
        seed=origin.settings.seed,
        versions={"python": platform.python_version(), "judgec": __version__}
        | {name: installed(name) for name in PACKAGES},
        cost=origin.cost,
        created=origin.created,
        parent=found.verdict.standing.champion,
        looks=found.verdict.standing.test_use,
        promoted=found.verdict.promoted,
        reason=found.verdict.reason,
        test={"accept_agreement": compiled.estimates["compiled.accepted"]},
    )


def report_of(compiled: CompiledQueries, origin: GeneratorOrigin) -> dict[str, object]:
    """The JSON that ``--json`` prints, but for the version and the MLflow run."""
    found, verdict = compiled.found, compiled.verdict
    return {
        "promoted": verdict.promoted,
        "reason": verdict.reason,
        "task": TASK,
        "objective": OBJECTIVE,
        "reliability": origin.reliability,
        "split": found.split.sizes(),
        "test": {name: estimate.to_json() for name, estimate in compiled.estimates.items()},
        "difference": {
            "to": verdict.rival,
            "objective": verdict.difference.to_json(),
            "accepted": compiled.accepted_difference.to_json(),
        },
        "prompt": compiled.chosen.name,
        "candidates": [
            {
                "name": name,
                "dev": one.value,
                "accepted": float(one.accepted.mean()) if len(one.accepted) else None,
                "likeness": one.likeness,
                "queries": len(one.tried),
                "failed": dict(one.failed),
            }
            for name, one in found.dev.items()
        ],
        "lm": origin.lm.describe(),
        "notes": list(origin.notes),
        "lm_calls": origin.cost.lm_calls,
        "cost_usd": origin.cost.usd,
        "seconds": origin.cost.seconds,
    }


def run_of(
    compiled: CompiledQueries, card: ProgramCard, origin: GeneratorOrigin, *, started: float, ended: float
) -> CompileRun:
    """The MLflow run: a parent, a child for each candidate, the registered version."""
    version = f"{card.version:04d}"
    folder = origin.home / "programs" / card.name / version
    metrics: dict[str, Estimate | float] = {f"test.{name}": one for name, one in compiled.estimates.items()}
    metrics |= {
        "test.difference": compiled.verdict.difference,
        "test.difference.accepted": compiled.accepted_difference,
        "test.n": float(len(compiled.found.split.test)),
        **of_cost(card.cost),
    }
    return CompileRun(
        name=f"{card.name} {version}",
        params={
            "program": card.name,
            "version": version,
            "task": card.task,
            "lm": origin.lm.model,
            "objective": card.objective,
            "seed": card.seed,
            "prompt": compiled.chosen.name,
            "reliability": origin.reliability,
        },
        metrics=metrics,
        headline=headline(metrics, HEADLINE),
        candidates=tuple(
            CandidateRun(
                name=name,
                params={"queries": len(one.tried)},
                metrics={"dev.value": one.value, "dev.accepted": float(one.accepted.mean()) if len(one.tried) else 0.0},
                started=started,
                ended=ended,
            )
            for name, one in compiled.found.dev.items()
        ),
        datasets=(
            DatasetInput(
                name=Path(origin.index).name,
                digest=card.data_digest,
                split="test",
                source=origin.index,
                columns={"passage_id": "string", "doc_id": "string"},
                n_rows=len(compiled.found.items),
            ),
        ),
        tags={"promoted": str(card.promoted).lower()},
        version=ModelVersion(
            name=card.name,
            folder=folder,
            aliases=(alias_of(card),),
            tags={"promoted": str(card.promoted).lower(), "version": version},
            description=card.reason,
        ),
        started=started,
        ended=ended,
        description="\n\n".join([card.reason, *origin.notes]),
    )
