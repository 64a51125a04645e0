"""Saves a compiled agent: the JSON report, the card, the version, the MLflow run."""

import platform
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from importlib.metadata import version as installed

from judgec import __version__
from judgec.compile.agents.compile import MEASURED, WORDS, AgentCompile, CompiledAgent
from judgec.compile.agents.page import agent_page, cases
from judgec.compile.family_state import FamilyState, family_state
from judgec.compile.pipeline import COMPILED, UNCOMPILED, decided_again
from judgec.compile.release import Place, alias_of, cost_of, release
from judgec.compile.report import PACKAGES
from judgec.connect.tracking.metrics import headline, of_cost
from judgec.connect.tracking.runs import CandidateRun, CompileRun, DatasetInput, ModelVersion
from judgec.labels.rows.items import digest
from judgec.labels.split.draw import split_record
from judgec.labels.split.family import SPLITS, Family
from judgec.lm.spec import LMSpec
from judgec.lm.usage import Spent
from judgec.rag.agents.compiled import TASK
from judgec.raters import programs
from judgec.raters.predictors import saved_prompts
from judgec.raters.programs import Program
from judgec.raters.signatures import fingerprint
from judgec.records.card import NO_MODEL, ProgramCard, Setting
from judgec.records.estimate import Estimate
from judgec.records.scale import Scale
from judgec.report.items import item_lines

HEADLINE = (  # metrics that fit on MLflow's compare page; an agent's score is no agreement, so its names differ
    "test.score",
    "test.score.low",
    "test.score.high",
    "test.uncompiled.score",
    "test.uncompiled.score.low",
    "test.uncompiled.score.high",
    "difference.score",
    "difference.score.low",
    "difference.score.high",
    "difference.score.p",
    "lm_calls",
)


@dataclass(frozen=True, slots=True)
class Provenance:
    """Origin of a compile, for the card.

    Args:
        metric: Its name.
        scale: Of the judge that is the metric; accept / reject for accepted answers.
        aspects: Likewise.
        labels: ``constructed`` when no expert stands behind the metric.
        lm: The agent's model.
        index: The index's location.
        created: When, ISO 8601.
        seconds: How long it took.
        spent: What it used.
    """

    metric: str
    scale: Scale
    aspects: tuple[str, ...]
    labels: str
    lm: LMSpec
    index: str
    created: str
    seconds: float
    spent: Spent


@dataclass(frozen=True, slots=True)
class SavedAgent:
    """A version on disk, its report, and the outcome as it was decided in the end."""

    card: ProgramCard
    report: dict[str, object]
    compiled: CompiledAgent


@dataclass(frozen=True, slots=True)
class FinishedAgent:
    """A compiled agent that is not on disk yet; ``release`` saves it.

    Args:
        compiled: The outcome.
        settings: What was asked for.
        origin: Where the compile came from.
    """

    compiled: CompiledAgent
    settings: AgentCompile
    origin: Provenance
    earlier: ProgramCard | None = None

    @property
    def place(self) -> Place:
        """The place where it is saved."""
        return Place(self.settings.home, self.settings.name, TASK)

    @property
    def standing(self) -> FamilyState:
        """As it was when this was decided."""
        return self.compiled.verdict.standing

    def stands(self) -> FamilyState:
        """As the family stands on disk."""
        return family_state(self.settings.home, self.settings.name, self.compiled.found.tested(), MEASURED)

    def decided(self, standing: FamilyState) -> "FinishedAgent":
        """Decided again, as the family stands now."""
        found = decided_again(WORDS, self.compiled.found, standing, self.settings.pipeline.resampling)
        return replace(self, compiled=replace(self.compiled, found=found))

    def program(self, family: Family) -> Program:
        """The program that is written."""
        found, contested = self.compiled, self.compiled.found
        return Program(
            card=_card(found, self.settings, self.origin),
            tree=saved_prompts(found.chosen.module),
            split=split_record(contested.split, contested.items, MEASURED, family.salt),
            report={**self.report(), "answers": _answers(found)},
        )

    def page(self, card: ProgramCard) -> str:
        """``report.html``."""
        return agent_page(self.compiled, self.settings, card)

    def items(self) -> Iterator[str]:
        """Lines of ``items.jsonl``: the test queries with both answers."""
        return item_lines(cases(self.compiled))

    def report(self) -> dict[str, object]:
        """``report.json``, but for the answers."""
        return _report(self.compiled, self.settings, self.origin)


def save_agent(
    found: CompiledAgent,
    settings: AgentCompile,
    origin: Provenance,
    track: Callable[[SavedAgent], None] | None = None,
) -> SavedAgent:
    """Write the version with its page, as ``release`` does.

    Args:
        found: The outcome.
        settings: What was asked for.
        origin: Where the compile came from.
        track: Logs the saved version elsewhere.

    Raises:
        UserError: When the family holds judges or query generators.
    """
    saved: list[SavedAgent] = []

    def written(card: ProgramCard, made: FinishedAgent) -> None:
        page = str(programs.page_path(settings.home, card))
        named = {"program": card.name, "version": card.version, "report_html": page}
        saved.append(SavedAgent(card, {**named, **made.report()}, made.compiled))
        if track is not None:
            track(saved[0])

    release(FinishedAgent(found, settings, origin), written)
    return saved[0]


def run_of(saved: SavedAgent, settings: AgentCompile, *, source: str, started: float, ended: float) -> CompileRun:
    """The run to log.

    Args:
        saved: The version.
        settings: What was asked for.
        source: Where the queries came from.
        started: POSIX seconds.
        ended: POSIX seconds.
    """
    card, found = saved.card, saved.compiled
    version = f"{card.version:04d}"
    metrics: dict[str, Estimate | float] = {
        "test.score": _mean(found, COMPILED, settings),
        "test.uncompiled.score": _mean(found, UNCOMPILED, settings),
        "difference.score": found.verdict.difference,
        "test.n": float(len(found.parts["test"])),
        **of_cost(card.cost),
    }
    return CompileRun(
        name=f"{card.name} {version}",
        params={
            "program": card.name,
            "version": version,
            "task": TASK,
            "lm": str(card.lm.get("model")),
            **card.settings,
        },
        metrics=metrics,
        headline=headline(metrics, HEADLINE),
        candidates=tuple(
            CandidateRun(name=name, params={}, metrics={"dev.score": value}, started=started, ended=ended)
            for name, value in found.dev.items()
        ),
        datasets=tuple(
            DatasetInput(
                name=source.rpartition("/")[2],
                digest=found.found.split.digests[name],
                split=name,
                source=source,
                columns={"query_id": "string", "query": "string"},
                n_rows=len(found.parts[name]),
            )
            for name in SPLITS
        ),
        tags={"judgec.promoted": str(card.promoted).lower(), "judgec.engine": card.engine},
        version=ModelVersion(
            name=card.name,
            folder=settings.home / "programs" / card.name / version,
            aliases=(alias_of(card),),
            tags={"version": version, "promoted": str(card.promoted).lower(), "labels": card.labels or "experts"},
            description=card.reason,
        ),
        started=started,
        ended=ended,
        description="\n\n".join([card.reason, *found.notes]),
    )


def _card(found: CompiledAgent, settings: AgentCompile, origin: Provenance) -> ProgramCard:
    verdict, spent = found.verdict, origin.spent
    how = settings.settings
    made: dict[str, Setting] = {
        "agent": settings.agent,
        "k": how.k,
        "variations": how.variations,
        "persona": how.persona,
        "citations": how.citations,
        "feedback": how.feedback,
        "rrf_k": how.rrf_k,
        "metric": origin.metric,
        "index": origin.index,
        "prompt": found.chosen.name,
        **found.chosen.settings,
    }
    return ProgramCard(
        name=settings.name,
        task=TASK,
        scale=origin.scale,
        aspects=origin.aspects,
        fields=("query",),
        signature=fingerprint(found.chosen.module),
        data_digest=digest([found.found.split.digests[name] for name in SPLITS]),
        split_digest=found.found.split.digests["test"],
        labels=origin.labels,
        lm=origin.lm.describe(),
        engine=NO_MODEL if origin.lm.no_model else "",
        optimizer=settings.optimizer,
        settings=made,
        objective="mean score",
        seed=settings.seed,
        versions={"python": platform.python_version(), "judgec": __version__}
        | {name: installed(name) for name in PACKAGES},
        cost=cost_of(spent, origin.seconds),
        created=origin.created,
        parent=verdict.standing.champion,
        looks=verdict.standing.test_use,
        promoted=verdict.promoted,
        reason=verdict.reason,
        test={"score": _mean(found, COMPILED, settings)},
    )


def _report(found: CompiledAgent, settings: AgentCompile, origin: Provenance) -> dict[str, object]:
    verdict, spent = found.verdict, origin.spent
    return {
        "promoted": verdict.promoted,
        "reason": verdict.reason,
        "agent": settings.agent,
        "metric": origin.metric,
        "split": {name: len(found.parts[name]) for name in SPLITS},
        "test": {name: {"score": _mean(found, name, settings).to_json()} for name in found.scores},
        "difference": {
            "to": verdict.rival,
            "score": verdict.difference.to_json(),
            "detectable": verdict.detectable,
        },
        "unscored": {name: sum(one.value is None for one in scores) for name, scores in found.scores.items()},
        "prompt": found.chosen.name,
        "candidates": [{"name": name, "dev": value} for name, value in found.dev.items()],
        "lm": origin.lm.describe(),
        "notes": list(found.notes),
        "lm_calls": spent.calls,
        "cost_usd": spent.cost_usd,
        "seconds": round(origin.seconds, 2),
    }


def _answers(found: CompiledAgent) -> dict[str, object]:
    """The test answers with their scores, by agent and query."""
    return {
        name: {
            answer.query_id: {"answer": answer.text, "score": score.value, "reason": answer.error or score.reason}
            for answer, score in zip(answers, found.scores[name], strict=True)
        }
        for name, answers in found.answers.items()
    }


def _mean(found: CompiledAgent, who: str, settings: AgentCompile) -> Estimate:
    return found.found.mean_value(who, settings.pipeline.resampling)
