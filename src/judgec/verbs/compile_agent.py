"""``judgec.compile_agent``: an agent, queries and a metric in, an agent with a better prompt out."""

import os
import re
import time
from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, datetime

from judgec.compile.agents.compile import AgentCompile, CompiledAgent
from judgec.compile.agents.compile import compile_agent as search_prompts
from judgec.compile.agents.metric import AcceptedMetric, JudgeMetric, Metric, accepted_answers
from judgec.compile.agents.report import Provenance, SavedAgent, run_of, save_agent
from judgec.compile.release import Place, check_place
from judgec.compile.settings import reflection_spec
from judgec.connect.tracking.background import Tracker
from judgec.connect.tracking.runs import Logged
from judgec.connect.tracking.store import tracking_store
from judgec.errors import UserError
from judgec.lm.executor import Ask
from judgec.lm.session import Session
from judgec.lm.spec import NO_LM, LMSpec
from judgec.lm.watch import Watch
from judgec.rag.agents.compiled import TASK
from judgec.rag.agents.rag import AgentSettings
from judgec.rag.agents.registry import kind_of, reranked
from judgec.rag.retrieval.index import open_index
from judgec.rag.retrieval.manifest import location_shown
from judgec.rag.retrieval.retrievers import Retriever
from judgec.raters import programs
from judgec.raters.judge import require_asked
from judgec.records.counts import plural
from judgec.records.label import InputCounts
from judgec.records.scale import ACCEPT_SCALE
from judgec.records.tasks.registry import TASKS
from judgec.table import seal
from judgec.tournament.files.queries import Query, read_queries
from judgec.tournament.report.evaluation import why_unproven
from judgec.verbs.agent_compilation import AgentCompilation
from judgec.verbs.frames import is_path, named_table
from judgec.verbs.labels import Labels, labels_of
from judgec.verbs.options.compile_agent import CompileAgentOptions
from judgec.verbs.options.shared import LabelColumns
from judgec.verbs.spending import account_for, session_for
from judgec.verbs.validity import require_inputs
from judgec.verbs.verb import verb
from judgec.verbs.whom import GivenJudge, as_loaded

SAID_OF_LABELS = ("columns", "annotators", "best", "grades", "accept_at")
ADVICE = "Give {name} with every query, or name a judge that was compiled without."


@verb(CompileAgentOptions)
def compile_agent(options: CompileAgentOptions, watch: Watch) -> AgentCompilation:
    """Optimize an agent's prompts for a compiled judge, or for answers that experts accepted.

    Exactly one of ``judge`` and ``labels`` says what for. The version is saved below ``home`` and logged to MLflow.

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
    judge = _checked(options, settings)
    spec = LMSpec.parse(options.lm, api_base=options.api_base)
    reflection, _ = reflection_spec(spec, options.reflection_lm)
    queries = read_queries(named_table(options.queries, "queries"), options.columns)
    watch.stage("agent", f"{options.agent}, {spec.asked_at}, {plural(len(queries), 'query')}")
    store = tracking_store(options.home, options.tracking_uri, os.environ)
    account = account_for(options, options.judge)
    with (
        Tracker(store, os.environ, seal.notes) as tracker,
        session_for(options, spec, options.home, watch, account=account, reflection=reflection) as session,
    ):
        if judge is not None:
            _require_able(judge, queries)
        session.preflight()
        spec = session.settled(spec)
        found, metric = _compiled(options, judge, queries, settings, session, watch)
        ended = time.time()
        origin = _origin(judge, metric, options, spec, session, ended - started, ended)
        source = str(options.queries) if is_path(options.queries) else "queries"
        logged: list[Logged] = []

        def track(saved: SavedAgent) -> None:
            watch.stage("track", store.shown)
            run = run_of(saved, settings, source=source, started=started, ended=ended)
            logged.append(tracker.log_compile(run))

        saved = save_agent(found, settings, origin, track)
    return AgentCompilation(saved, settings, {**saved.report, "mlflow_run_id": logged[0].run_id})


def _checked(options: CompileAgentOptions, settings: AgentCompile) -> GivenJudge | None:
    """The judge whose score is maximized; None where accepted answers say what for.

    Raises:
        UserError: Neither or both are given, there is no such agent or judge, or the judge cannot be asked.
    """
    if (options.judge is None) == (options.labels is None):
        raise UserError("--judge, --labels: exactly one says what the agent is compiled for. Give one of them.")
    kind_of(options.agent)
    check_place(Place(settings.home, settings.name, TASK))
    if options.judge is None:
        return None
    given = options.judge
    judge, home = (given, options.home) if isinstance(given, str) else (given.name, given.home)
    program = programs.load(home, programs.champion_or_newest(home, judge))
    card = program.card
    able = sorted(task for task, spec in TASKS.items() if spec.rates_answers)
    if card.task not in able:
        raise UserError(f"--judge {judge}: a judge of {card.task}; one of {', '.join(able)} is needed. Name another.")
    why = why_unproven(card)
    if why and not options.unproven:
        raise UserError(f"--judge {judge}: {why}. Compile a better one, or pass --unproven.")
    if not isinstance(given, str):
        return GivenJudge(program=program, compiled=given.compiled, spec=given.spec)
    return as_loaded(program, api_base=LMSpec.parse(options.lm, api_base=options.api_base).base_beside(card.lm))


def _require_able(judge: GivenJudge, queries: Sequence[Query]) -> None:
    """Refuse a judge that cannot judge answers to these queries.

    Raises:
        UserError: It needs other inputs, or its verdicts were recorded.
    """
    given = Counter({"query": len(queries), "contexts": len(queries)})
    inputs = InputCounts(len(queries), given + Counter(reference=sum(bool(query.reference) for query in queries)))
    require_inputs([judge.card], inputs, "queries", ADVICE)
    if judge.asks_lm:
        require_asked(judge.compiled, judge.name)


def _ask(judge: GivenJudge, session: Session) -> Ask:
    """The way to the judge's own model, which may be the agent's."""
    same = not judge.asks_lm or judge.spec.describe() == session.settled(session.spec).describe()
    return session.ask if same else session.other(judge.spec)


def _compiled(
    options: CompileAgentOptions,
    judge: GivenJudge | None,
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
    metric, accepted = _metric(options, judge, queries, session)
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
    judge: GivenJudge | None,
    metric: Metric,
    options: CompileAgentOptions,
    spec: LMSpec,
    session: Session,
    seconds: float,
    ended: float,
) -> Provenance:
    card = None if judge is None else judge.card
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
    options: CompileAgentOptions, judge: GivenJudge | None, queries: tuple[Query, ...], session: Session
) -> tuple[Metric, dict[str, tuple[str, ...]]]:
    if judge is not None:
        by_id = {query.query_id: query for query in queries}
        return JudgeMetric(judge.name, judge.compiled, _ask(judge, session), by_id), {}
    assert options.labels is not None  # as _checked says
    said = LabelColumns(**{name: getattr(options, name) for name in SAID_OF_LABELS})
    labels = options.labels if isinstance(options.labels, Labels) else labels_of(options.labels, said.reading())
    accepted = accepted_answers(labels.label_set, queries, options.seed)
    return AcceptedMetric(accepted), accepted
