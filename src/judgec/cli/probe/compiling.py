"""What ``judgec compile-queries`` does: read, compile, save, track, show."""

import os
import time
from collections.abc import Sequence
from datetime import UTC, datetime

from judgec.api.compile_judge import compile_judge
from judgec.cli.output import judgec_here, print_table, say
from judgec.cli.probe.compile_queries import Request
from judgec.cli.probe.generating import ask_of, open_reliability, read_experts, spec_of
from judgec.compiler.queries.compile import CompiledQueries, QuerySettings, compile_queries
from judgec.compiler.queries.outcome import Source, run_of, save
from judgec.compiler.report import check_name
from judgec.compiler.settings import reflection_spec
from judgec.lm.session import Session
from judgec.lm.spec import LMSpec
from judgec.queries.corpus import open_corpus
from judgec.queries.generation.generate import long_passages
from judgec.queries.reliability import Reliability, Rules
from judgec.records.label import FloatArray
from judgec.report.progress import Bar
from judgec.retrieval.embed import fit_latent
from judgec.store import programs
from judgec.store.splits import read_family
from judgec.tracking.background import Tracker
from judgec.tracking.store import tracking_store


def run(request: Request) -> dict[str, object]:
    """Compile, save and track; returns the report of ``--json``.

    Raises:
        UserError: Bad input.
        ServiceError: A model cannot be reached.
        BudgetError: A call does not fit the caps; what is finished is journaled.
    """
    started = time.time()
    bar = Bar(shown=not request.quiet)
    check_name(request.name)
    experts = read_experts(request.experts)
    corpus = open_corpus(request.index)
    passages = list(long_passages(corpus.documents, request.passage_size, request.seed))[: request.passages]
    spec = spec_of(request.lm, request.api_base, request.temperature)
    reflection, _ = reflection_spec(LMSpec.parse(request.lm, api_base=request.api_base), request.reflection_lm)
    judge, notes = _judge(request)
    store = tracking_store(request.home, request.tracking_uri, os.environ)
    settings = QuerySettings(per_passage=request.per_passage, seed=request.seed, rewrites=reflection is not None)
    latent, _ = fit_latent([*(one.text for one in passages), *experts], request.seed)

    def embed(texts: Sequence[str]) -> FloatArray:
        return latent.queries(list(texts)).astype("float64")

    with (
        Tracker(store, os.environ) as tracker,
        Session(spec, request.home, budget=request.budget, max_cost=request.max_cost, on_done=bar.progress) as session,
    ):
        session.preflight()
        reliability: Reliability = open_reliability(judge, request.home, session) or Rules()
        compiled = compile_queries(
            passages,
            experts,
            spec,
            settings,
            bar,
            reliability=reliability,
            embed=embed,
            ask=session.ask,
            rewriter=None if reflection is None else ask_of(reflection, session),
            salt=read_family(request.home, request.name).salt,
            look=_look(request),
        )
        ended = time.time()
        source = Source(
            request.name, request.home, spec, request.index, experts, reliability.name, settings, tuple(notes)
        )
        created = datetime.fromtimestamp(ended, tz=UTC).isoformat(timespec="seconds")
        card, report = save(compiled, source, session.spent, created=created, seconds=ended - started)
        bar.stage("track", store.shown)
        logged = tracker.log_compile(run_of(compiled, card, source, started=started, ended=ended))
    bar.close()
    if not request.quiet:
        _show(compiled, f"{card.name}@{card.version}", notes)
    return {**report, "mlflow_run_id": logged.run_id}


def _judge(request: Request) -> tuple[str, list[str]]:
    """Who accepts, and what to say of them; labels are compiled into a judge first."""
    notes = ["questions by rule, no language model: a baseline"] if request.lm == "embedded" else []
    if request.labels is None:
        if request.judge == "rules":
            return "rules", [*notes, "accepted by rules: no expert was asked"]
        card = programs.load(request.home, request.judge).card
        return request.judge, [*notes, *([_constructed(request.judge)] if card.labels else [])]
    found = compile_judge(
        labels=request.labels,
        home=request.home,
        name=f"{request.name}-reliability",
        lm=request.lm,
        api_base=request.api_base,
        task="reliability",
        seed=request.seed,
        budget=request.budget,
        max_cost=request.max_cost,
        tracking_uri=request.tracking_uri,
        progress=False,
    )
    saved = found.saved
    name = f"{saved.card.name}@{saved.card.version}"
    if not saved.card.promoted:
        notes.append(f"{name} was not shown to be better than its baselines: {saved.card.reason}")
    return name, [*notes, *([_constructed(name)] if saved.card.labels else [])]


def _constructed(judge: str) -> str:
    return f"{judge} learned from constructed labels: no expert gave them, its acceptance says nothing about experts"


def _look(request: Request) -> int:
    looks = len(read_family(request.home, request.name).looks)
    return max(looks, *programs.versions(request.home, request.name), 0) + 1


def _show(compiled: CompiledQueries, name: str, notes: Sequence[str]) -> None:
    rows = [
        [one.candidate.name, f"{one.value:.3f}", f"{one.accepted.mean():.2f}", str(len(one.tried))]
        for one in compiled.dev
    ]
    print_table("Candidates on dev", ["generator", "value", "accepted", "queries"], rows)
    sides = []
    for side in ("compiled", "uncompiled"):
        found = [compiled.estimates[f"{side}.{what}"] for what in ("value", "accepted", "likeness")]
        sides.append([side, *("–" if one.value is None else f"{one.value:.3f}" for one in found)])
    print_table(f"{name} on test", ["generator", "value", "accepted", "likeness"], sides)
    verdict = "promoted to champion" if compiled.promoted else "saved as challenger"
    say(
        f"{name} {verdict}: {compiled.reason}",
        *[f"note: {note}" for note in notes],
        f"Next: {judgec_here()} generate-queries --generator {name} --index I --out queries.jsonl; {judgec_here()} ui",
    )
