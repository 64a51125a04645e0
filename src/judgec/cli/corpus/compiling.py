"""What ``judgec compile-agent`` does: open, compile, judge head to head, save, track, show."""

import os
import time
from dataclasses import dataclass, replace
from datetime import UTC, datetime

from judgec.agents.rag import AgentSettings
from judgec.agents.registry import kind_of
from judgec.cli.corpus.compile_agent import Request
from judgec.cli.output import command, print_table, say
from judgec.compiler.agents.candidates import UNCOMPILED
from judgec.compiler.agents.compile import AgentCompile, CompiledAgent, compile_agent
from judgec.compiler.agents.duel import Duel, duel
from judgec.compiler.agents.judges import WorkingJudge, judging, report_judging
from judgec.compiler.agents.metric import AcceptedMetric, JudgeMetric, Metric, accepted_answers
from judgec.compiler.agents.report import Provenance, SavedAgent, refuse_judges, run_of, save_agent
from judgec.compiler.report import check_name
from judgec.compiler.settings import reflection_spec
from judgec.errors import UserError
from judgec.lm.session import Session
from judgec.lm.spec import EMBEDDED, LMSpec
from judgec.records.scale import ACCEPT_SCALE
from judgec.report.numbers import UNKNOWN, brackets, number, show
from judgec.report.progress import Bar
from judgec.retrieval.index import open_index
from judgec.retrieval.manifest import location_shown
from judgec.retrieval.retrievers import open_retriever
from judgec.store import programs
from judgec.store.labels import read_labels
from judgec.store.rows.columns import as_rename
from judgec.store.tournament.queries import Query, read_queries
from judgec.tracking.background import Tracker
from judgec.tracking.store import tracking_store


@dataclass(frozen=True, slots=True)
class _Judges:
    """The metric's, or None with accepted answers; and the one that reports."""

    metric: WorkingJudge | None
    reporter: WorkingJudge | None


def run(request: Request) -> dict[str, object]:
    """Compile, save and track; the report of ``--json``.

    Raises:
        UserError: Bad input, or a judge that is not proven without ``--unproven``.
        ServiceError: When a model fails for good.
    """
    started = time.time()
    bar = Bar(shown=not request.quiet)
    shape = AgentSettings(
        request.k, request.variations, request.persona, request.citations, feedback=request.lm == EMBEDDED
    )
    name = request.name or request.agent
    settings = AgentCompile(name, request.home, request.agent, shape, request.optimizer, request.seed)
    judges = _checked(request, settings)
    spec = LMSpec.parse(request.lm, api_base=request.api_base)
    reflection, _ = reflection_spec(spec, request.reflection_lm)
    queries = read_queries(request.queries, as_rename(request.rename))
    bar.stage("agent", f"{request.agent}, {spec.model}, {len(queries)} queries")
    store = tracking_store(request.home, request.tracking_uri, os.environ)
    with (
        Tracker(store, os.environ) as tracker,
        Session(
            spec,
            request.home,
            reflection=reflection,
            budget=request.budget,
            max_cost=request.max_cost,
            on_done=bar.progress,
        ) as session,
    ):
        session.preflight()
        found, met, metric = _compiled(request, judges, queries, settings, session, bar)
        ended = time.time()
        origin = _origin(judges, metric, request, spec, session, ended - started, ended)
        saved = save_agent(found, met, settings, origin)
        bar.stage("track", store.shown)
        run_record = run_of(saved, met, settings, source=request.queries, started=started, ended=ended)
        logged = tracker.log_compile(run_record)
    bar.close()
    if not request.quiet:
        _show(saved, met, settings, request)
    return {**saved.report, "mlflow_run_id": logged.run_id}


def _checked(request: Request, settings: AgentCompile) -> _Judges:
    if (request.judge is None) == (request.labels is None):
        raise UserError("--judge, --labels: exactly one says what the agent is compiled for. Give one of them.")
    check_name(settings.name)
    kind_of(request.agent)
    refuse_judges(settings)
    metric = None
    if request.judge is not None:
        metric = judging(request.home, request.judge, "--judge", unproven=request.unproven)
    return _Judges(metric, report_judging(request.home, request.report_judge, metric, unproven=request.unproven))


def _compiled(
    request: Request,
    judges: _Judges,
    queries: tuple[Query, ...],
    settings: AgentCompile,
    session: Session,
    bar: Bar,
) -> tuple[CompiledAgent, Duel | None, Metric]:
    build, retriever_name = kind_of(request.agent)
    retriever = open_retriever(retriever_name, open_index(request.index, api_base=request.api_base))
    metric, accepted = _metric(request, judges.metric, queries, session)
    module = build(retriever, settings.settings)
    # Without an accepted answer there is nothing to be close to: such a query would count as failed for every agent.
    usable = tuple(query for query in queries if query.query_id in accepted) if accepted else queries
    found = compile_agent(module, retriever, usable, metric, settings, session, bar, accepted=accepted)
    if len(usable) < len(queries):
        left_out = f"{len(queries) - len(usable)} of {len(queries)} queries left out: no accepted answer is known"
        found = replace(found, notes=(left_out, *found.notes))
    judge = judges.reporter or judges.metric
    bar.stage("duel", "no judge" if judge is None else judge.name)
    if judge is None:
        return found, None, metric
    met = duel(
        found,
        UNCOMPILED,
        {query.query_id: query for query in queries},
        judge.judge,
        judge.card,
        judge.ask(session),
        independent=judges.metric is None or judge.name != judges.metric.name,
        resamples=settings.resamples,
        seed=settings.seed,
    )
    return found, met, metric


def _origin(
    judges: _Judges, metric: Metric, request: Request, spec: LMSpec, session: Session, seconds: float, ended: float
) -> Provenance:
    card = None if judges.metric is None else judges.metric.card
    return Provenance(
        metric=metric.name,
        scale=ACCEPT_SCALE if card is None else card.scale,
        aspects=("grade",) if card is None else card.aspects,
        labels="" if card is None else card.labels,
        lm=spec,
        index=location_shown(request.index),
        created=datetime.fromtimestamp(ended, tz=UTC).isoformat(timespec="seconds"),
        seconds=seconds,
        spent=session.spent,
    )


def _metric(
    request: Request, judge: WorkingJudge | None, queries: tuple[Query, ...], session: Session
) -> tuple[Metric, dict[str, tuple[str, ...]]]:
    if judge is not None:
        by_id = {query.query_id: query for query in queries}
        return JudgeMetric(judge.name, judge.judge, judge.ask(session), by_id), {}
    labels = read_labels(request.labels or "", rename=as_rename(request.rename), accept_at=request.accept_at)
    accepted = accepted_answers(labels, queries, request.seed)
    return AcceptedMetric(accepted), accepted


def _show(saved: SavedAgent, met: Duel | None, settings: AgentCompile, request: Request) -> None:
    card, found = saved.card, saved.compiled
    rows = []
    for name in found.scores:
        one = found.mean_score(name, resamples=settings.resamples, seed=settings.seed)
        rows.append((name, number(one.value, 3), brackets(one.low, one.high, 3) or UNKNOWN))
    title = f"{card.name}@{card.version} on {len(found.parts['test'])} test queries: {card.settings['metric']}"
    print_table(title, ("agent", "mean score", "95 % interval"), rows)
    heads = []
    if met is not None:
        whose = "" if met.independent else ", the judge it was compiled for: optimistic"
        missing = f", {met.unscored} unscored" if met.unscored else ""
        games = f"{met.wins} wins, {met.losses} losses, {met.ties} ties{missing}"
        heads = [f"head to head by {met.judge}{whose}: {games}; net {show(met.net, sign=True)}"]
    verdict = "promoted to champion" if card.promoted else "saved as challenger"
    compiled = f"{card.name}@{programs.CHAMPION if card.promoted else card.version}"
    say(
        *heads,
        f"{card.name}@{card.version} {verdict}: {card.reason}",
        f"prompt {found.chosen.name}; {card.cost.lm_calls} LM calls, {card.cost.seconds:.0f} s",
        *[f"note: {note}" for note in found.notes],
        f"report: {saved.report['report_html']}",
        f"Next: {_next(request, compiled)}",
    )


def _next(request: Request, compiled: str) -> str:
    """The command that lets the agent answer beside the uncompiled one."""
    shown = {
        "--index": location_shown(request.index),
        "--queries": request.queries,
        "--agents": f"{request.agent},{compiled}",
        "--lm": None if request.lm == EMBEDDED else request.lm,
        "--api-base": request.api_base,
        "--out": "answers.jsonl",
    }
    given = [part for option, value in shown.items() if value is not None for part in (option, value)]
    renamed = [part for pair in request.rename for part in ("--map", pair)]
    return command("answer", *given, *renamed, home=request.home)
