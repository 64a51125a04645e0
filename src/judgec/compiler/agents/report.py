"""Saves a compiled agent: the JSON report, the card, the version, the MLflow run."""

import platform
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from importlib.metadata import version as installed

from judgec import __version__
from judgec.agents.compiled import TASK
from judgec.compiler.agents.candidates import UNCOMPILED
from judgec.compiler.agents.compile import COMPILED, AgentCompile, CompiledAgent, decide, standing_of
from judgec.compiler.agents.duel import Duel
from judgec.compiler.agents.page import agent_page
from judgec.compiler.judge_page import page_path
from judgec.compiler.report import ENGINE_NOTE, PACKAGES
from judgec.errors import UserError
from judgec.judges.signatures import fingerprint
from judgec.lm.spec import LMSpec
from judgec.lm.usage import Spent
from judgec.records.card import Cost, ProgramCard, Setting
from judgec.records.estimate import Estimate
from judgec.records.scale import Scale
from judgec.store import programs
from judgec.store.programs import Program, dump_module
from judgec.store.rows.items import digest
from judgec.store.splits import SPLITS, locked_family, read_family, write_family, write_whole
from judgec.store.tournament.queries import Query
from judgec.tracking.runs import CandidateRun, CompileRun, DatasetInput, ModelVersion


@dataclass(frozen=True, slots=True)
class Provenance:
    """Where a compile came from, for the card.

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


def save_agent(found: CompiledAgent, duel: Duel | None, settings: AgentCompile, origin: Provenance) -> SavedAgent:
    """Write the version with its page, point the aliases and count the look; one compile of a family at a time.

    Where another one was saved since this one was decided, it is decided again, one look later; against a champion
    that it did not meet it is not promoted.

    Raises:
        UserError: When the family holds judges.
    """
    with locked_family(settings.home, settings.name):
        refuse_judges(settings)
        standing = standing_of(settings)
        if standing != found.verdict.standing:
            verdict = decide(found.scores, standing, settings)
            if standing.champion != found.verdict.standing.champion:
                reason = f"never promoted over a champion that it did not meet: compile again ({verdict.reason})"
                verdict = replace(verdict, promoted=False, reason=reason)
            found = replace(found, verdict=verdict)
        family = read_family(settings.home, settings.name)
        report = _report(found, duel, settings, origin)
        card = programs.save(
            settings.home,
            Program(
                card=_card(found, settings, origin),
                program=dump_module(found.chosen.module),
                calibration={},
                split=_split(found, family.salt),
                report={**report, "answers": _answers(found)},
            ),
        )
        page = page_path(settings.home, card)
        write_whole(page, agent_page(found, duel, settings, card))
        alias = programs.CHAMPION if card.promoted else "challenger"
        programs.set_aliases(settings.home, settings.name, {alias: card.version})
        write_family(settings.home, family.looked(f"{card.version:04d}", _digest(found.parts["test"])))
    named = {"program": card.name, "version": card.version, "report_html": str(page)}
    return SavedAgent(card, {**named, **report}, found)


def refuse_judges(settings: AgentCompile) -> None:
    """A family holds agents or judges.

    Raises:
        UserError: When this one holds judges.
    """
    versions = programs.versions(settings.home, settings.name)
    if versions and programs.load(settings.home, f"{settings.name}@{versions[-1]}").card.task != TASK:
        raise UserError(f"--name {settings.name}: that is a judge; an agent needs a name of its own. Give --name.")


def run_of(
    saved: SavedAgent, duel: Duel | None, settings: AgentCompile, *, source: str, started: float, ended: float
) -> CompileRun:
    """The run to log.

    Args:
        saved: The version.
        duel: Head to head.
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
    }
    if duel is not None:
        counts = {"wins": duel.wins, "losses": duel.losses, "ties": duel.ties}
        metrics |= {"duel.net": duel.net, **{f"duel.{name}": float(count) for name, count in counts.items()}}
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
        candidates=tuple(
            CandidateRun(name=name, params={}, metrics={"dev.score": value}, started=started, ended=ended)
            for name, value in found.dev.items()
        ),
        datasets=tuple(
            DatasetInput(
                name=source.rpartition("/")[2],
                digest=_digest(found.parts[name]),
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
            aliases=(programs.CHAMPION if card.promoted else "challenger",),
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
        data_digest=digest([_digest(found.parts[name]) for name in SPLITS]),
        split_digest=_digest(found.parts["test"]),
        labels=origin.labels,
        lm=origin.lm.describe(),
        engine=ENGINE_NOTE if origin.lm.embedded else "",
        optimizer=settings.optimizer,
        settings=made,
        objective="mean score",
        seed=settings.seed,
        versions={"python": platform.python_version(), "judgec": __version__}
        | {name: installed(name) for name in PACKAGES},
        cost=Cost(lm_calls=spent.calls, usd=None if spent.unpriced else spent.usd, seconds=round(origin.seconds, 2)),
        created=origin.created,
        parent=verdict.standing.champion,
        looks=verdict.standing.look,
        promoted=verdict.promoted,
        reason=verdict.reason,
        test={"score": _mean(found, COMPILED, settings)},
    )


def _report(found: CompiledAgent, duel: Duel | None, settings: AgentCompile, origin: Provenance) -> dict[str, object]:
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
        "head_to_head": None if duel is None else duel.to_json(),
        "unscored": {name: sum(one.value is None for one in scores) for name, scores in found.scores.items()},
        "prompt": found.chosen.name,
        "candidates": [{"name": name, "dev": value} for name, value in found.dev.items()],
        "lm": origin.lm.describe(),
        "notes": list(found.notes),
        "lm_calls": spent.calls,
        "cost_usd": None if spent.unpriced else spent.usd,
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


def _split(found: CompiledAgent, salt: str) -> dict[str, object]:
    return {
        "salt": salt,
        "items": {name: len(found.parts[name]) for name in SPLITS},
        "digests": {name: _digest(found.parts[name]) for name in SPLITS},
        "queries": {query.query_id: name for name in SPLITS for query in found.parts[name]},
    }


def _mean(found: CompiledAgent, who: str, settings: AgentCompile) -> Estimate:
    return found.mean_score(who, resamples=settings.resamples, seed=settings.seed)


def _digest(queries: Sequence[Query]) -> str:
    rows: list[Mapping[str, str]] = [{"query_id": query.query_id, "query": query.text} for query in queries]
    return digest(sorted(map(str, rows)))
