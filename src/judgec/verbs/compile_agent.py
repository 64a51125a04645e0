"""``judgec.compile_agent``: an agent, queries and a metric in, an agent with a better prompt out."""

import os
import re
import time
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime

from judgec.compile.agents.compile import AgentCompile, CompiledAgent
from judgec.compile.agents.compile import compile_agent as search_prompts
from judgec.compile.agents.duel import duel
from judgec.compile.agents.judges import WorkingJudge, judging, report_judging
from judgec.compile.agents.metric import AcceptedMetric, JudgeMetric, Metric, accepted_answers
from judgec.compile.agents.report import Provenance, SavedAgent, run_of, save_agent
from judgec.compile.pipeline import UNCOMPILED
from judgec.compile.release import Place, check_place
from judgec.compile.settings import reflection_spec
from judgec.connect.tracking.background import Tracker
from judgec.connect.tracking.runs import Logged
from judgec.connect.tracking.store import tracking_store
from judgec.errors import UserError
from judgec.lm.session import Session
from judgec.lm.spec import NO_LM, LMSpec
from judgec.lm.watch import Watch
from judgec.rag.agents.compiled import TASK
from judgec.rag.agents.rag import AgentSettings
from judgec.rag.agents.registry import kind_of, reranked
from judgec.rag.retrieval.index import open_index
from judgec.rag.retrieval.manifest import location_shown
from judgec.rag.retrieval.retrievers import Retriever
from judgec.records.counts import plural
from judgec.records.label import InputCounts
from judgec.records.scale import ACCEPT_SCALE
from judgec.table import seal
from judgec.tournament.files.queries import Query, read_queries
from judgec.verbs.agent_compilation import AgentCompilation
from judgec.verbs.frames import is_path, named_table
from judgec.verbs.judge import Judge
from judgec.verbs.labels import Labels, labels_of
from judgec.verbs.options.compile_agent import CompileAgentOptions
from judgec.verbs.options.shared import LabelColumns
from judgec.verbs.spending import account_for, session_for
from judgec.verbs.validity import require_inputs
from judgec.verbs.verb import verb

SAID_OF_LABELS = ("columns", "annotators", "best", "grades", "accept_at")
ADVICE = "Give {name} with every query, or name a judge that was compiled without."


@dataclass(frozen=True, slots=True)
class _Judges:
    """The metric's, or None with accepted answers; and the one that reports."""

    metric: WorkingJudge | None
    reporter: WorkingJudge | None


@verb(CompileAgentOptions)
def compile_agent(options: CompileAgentOptions, watch: Watch) -> AgentCompilation:
    """Optimize an agent's prompts for a compiled judge, or for answers that experts accepted.

    Exactly one of ``judge`` and ``labels`` says what for. The version is saved below ``home`` and logged to MLflow,
    also where the head to head by another judge fails: then ``failure`` of the result says why.

    Raises:
        UserError: Bad input, a judge that is not proven without ``unproven``, or one that cannot judge the answers.
        InputError: Faulty queries or labels, each with its row.
        ServiceError: When a model fails for good.

    Example:
        >>> asked = [
        ...     {"query": f"Which {what} has the sensor {n}?", "answer": f"The {what} of sensor {n} is {n} units."}
        ...     for n in range(20)
        ...     for what in ("range", "supply", "housing")
        ... ]
        >>> labels = [{**one, "accept": int(n % 5 > 0)} for n, one in enumerate(asked)]
        >>> index = judgec.index("trainsets/sensors/catalogue", out="corpus")
        >>> found = judgec.compile_agent("rag-bm25", index=index, queries=asked, labels=labels)
        >>> found.name, found.table.index.tolist()
        ('rag-bm25@1', ['uncompiled', 'compiled'])
    """
    started = time.time()
    shape = AgentSettings(
        options.k,
        options.variations,
        options.persona,
        options.citations,
        feedback=options.lm == NO_LM,
        rrf_k=options.rrf_k,
    )
    name = options.name or re.sub(r"[+/]", "-", options.agent)
    settings = AgentCompile(name, options.home, options.agent, shape, options.optimizer, options.seed)
    judges = _checked(options, settings)  # that are named
    spec = LMSpec.parse(options.lm, api_base=options.api_base)
    reflection, _ = reflection_spec(spec, options.reflection_lm)
    queries = read_queries(named_table(options.queries, "queries"), options.columns)
    watch.stage("agent", f"{options.agent}, {spec.asked_at}, {plural(len(queries), 'query')}")
    store = tracking_store(options.home, options.tracking_uri, os.environ)
    account = account_for(options, options.judge, options.report_judge)
    with (
        Tracker(store, os.environ, seal.notes) as tracker,
        session_for(options, spec, options.home, watch, account=account, reflection=reflection) as session,
    ):
        judges = _able(options, judges, queries, session)
        session.preflight()
        spec = session.settled(spec)
        found, metric = _compiled(options, judges, queries, settings, session, watch)
        judge, met, failure = judges.reporter or judges.metric, None, None
        watch.stage("duel", "no judge" if judge is None else judge.name)
        try:
            if judge is not None:
                by_id = {query.query_id: query for query in queries}
                met = duel(
                    found,
                    UNCOMPILED,
                    by_id,
                    judge.judge,
                    judge.card,
                    judge.ask(session),
                    independent=judges.metric is None or judge.name != judges.metric.name,
                    resamples=settings.resamples,
                    seed=settings.seed,
                )
        except Exception as error:  # noqa: BLE001  # whatever it is: the compile is paid, and is saved
            failure = error
            found = replace(found, notes=(*found.notes, f"no head to head, the judge failed: {error}"))
        ended = time.time()
        origin = _origin(judges, metric, options, spec, session, ended - started, ended)
        source = str(options.queries) if is_path(options.queries) else "queries"
        logged: list[Logged] = []

        def track(saved: SavedAgent) -> None:
            watch.stage("track", store.shown)
            run = run_of(saved, met, settings, source=source, started=started, ended=ended)
            logged.append(tracker.log_compile(run))

        saved = save_agent(found, met, settings, origin, track)
    return AgentCompilation(saved, met, settings, {**saved.report, "mlflow_run_id": logged[0].run_id}, failure)


def _checked(options: CompileAgentOptions, settings: AgentCompile) -> _Judges:
    if (options.judge is None) == (options.labels is None):
        raise UserError("--judge, --labels: exactly one says what the agent is compiled for. Give one of them.")
    kind_of(options.agent)
    check_place(Place(settings.home, settings.name, TASK))
    metric = None if options.judge is None else _working(options, options.judge, "--judge")
    reporter = None if options.report_judge is None else _working(options, options.report_judge, "--report-judge")
    return _Judges(metric, reporter)


def _able(options: CompileAgentOptions, named: _Judges, queries: Sequence[Query], session: Session) -> _Judges:
    """The judges that are named, and one that reports where none is: all can judge answers to these queries.

    Raises:
        UserError: One that is named cannot.
    """
    given = Counter({"query": len(queries), "contexts": len(queries)})
    inputs = InputCounts(len(queries), given + Counter(reference=sum(bool(query.reference) for query in queries)))

    def require_able(judge: WorkingJudge) -> None:
        require_inputs([judge.card], inputs, "queries", ADVICE)
        judge.ask(session)

    for judge in filter(None, (named.metric, named.reporter)):
        require_able(judge)
    return replace(named, reporter=named.reporter or report_judging(options.home, named.metric, require_able))


def _working(options: CompileAgentOptions, judge: Judge | str, option: str) -> WorkingJudge:
    """The judge by its name; one that Python passed asks its own model."""
    if isinstance(judge, str):
        return judging(options.home, judge, option, unproven=options.unproven)
    found = judging(judge.home, judge.name, option, unproven=options.unproven)
    return replace(found, judge=judge.compiled, spec=judge.spec)


def _compiled(
    options: CompileAgentOptions,
    judges: _Judges,
    queries: tuple[Query, ...],
    settings: AgentCompile,
    session: Session,
    watch: Watch,
) -> tuple[CompiledAgent, Metric]:
    build, retriever_name = kind_of(options.agent)
    index = open_index(options.index, api_base=options.api_base)

    def retrieve(name: str) -> Retriever:
        return reranked(name, index, None, options.rrf_k)

    retriever = retrieve(retriever_name)
    metric, accepted = _metric(options, judges.metric, queries, session)
    module = build(retriever, settings.settings)
    # Without an accepted answer there is nothing to be close to: such a query would count as failed for every agent.
    usable = tuple(query for query in queries if query.query_id in accepted) if accepted else queries
    found = search_prompts(
        module, retriever, usable, metric, settings, session, watch, accepted=accepted, retrieve=retrieve
    )
    found = found.with_ties_explained()
    if len(usable) < len(queries):
        left_out = f"{len(queries) - len(usable)} of {len(queries)} queries left out: no accepted answer is known"
        found = replace(found, notes=(left_out, *found.notes))
    return found, metric


def _origin(
    judges: _Judges,
    metric: Metric,
    options: CompileAgentOptions,
    spec: LMSpec,
    session: Session,
    seconds: float,
    ended: float,
) -> Provenance:
    card = None if judges.metric is None else judges.metric.card
    return Provenance(
        metric=metric.name,
        scale=ACCEPT_SCALE if card is None else card.scale,
        aspects=("grade",) if card is None else card.aspects,
        labels="" if card is None else card.labels,
        lm=spec,
        index=location_shown(options.index),
        created=datetime.fromtimestamp(ended, tz=UTC).isoformat(timespec="seconds"),
        seconds=seconds,
        spent=session.spent,
    )


def _metric(
    options: CompileAgentOptions, judge: WorkingJudge | None, queries: tuple[Query, ...], session: Session
) -> tuple[Metric, dict[str, tuple[str, ...]]]:
    if judge is not None:
        by_id = {query.query_id: query for query in queries}
        return JudgeMetric(judge.name, judge.judge, judge.ask(session), by_id), {}
    assert options.labels is not None  # as _checked says
    said = LabelColumns(**{name: getattr(options, name) for name in SAID_OF_LABELS})
    labels = options.labels if isinstance(options.labels, Labels) else labels_of(options.labels, said.reading())
    accepted = accepted_answers(labels.label_set, queries, options.seed)
    return AcceptedMetric(accepted), accepted
