"""``judgec.compile_agent``: an agent, queries and a metric in, an agent with a better prompt out."""

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import asdict
from functools import partial

from judgec.compile.agents.compile import AgentContest, items_of
from judgec.compile.agents.metric import AcceptedMetric, JudgeMetric, accepted_answers
from judgec.compile.agents.optimizers import check_optimizer, proposed
from judgec.compile.release import Place, check_place
from judgec.compile.settings import reflection_spec
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
from judgec.records.estimate import Estimate
from judgec.records.label import InputCounts
from judgec.records.scale import ACCEPT_SCALE
from judgec.records.tasks.registry import TASKS
from judgec.report.numbers import UNKNOWN, brackets, number
from judgec.report.page.notebook import notebook
from judgec.report.report import Report
from judgec.report.screen import TextTable
from judgec.tournament.files.queries import Query, read_queries
from judgec.tournament.report.evaluation import why_unproven
from judgec.verbs.frames import is_path, named_table
from judgec.verbs.labels import Labels, labels_of
from judgec.verbs.options.compile_agent import CompileAgentOptions
from judgec.verbs.options.shared import AgentShape, LabelColumns
from judgec.verbs.program_compilation import ProgramCompilation, compiled_program
from judgec.verbs.spending import account_for
from judgec.verbs.typed import command
from judgec.verbs.validity import require_inputs
from judgec.verbs.verb import verb
from judgec.verbs.whom import GivenJudge, as_loaded

SAID_OF_LABELS = ("columns", "annotators", "best", "grades", "accept_at")
ADVICE = "Give {name} with every query, or name a judge that was compiled without."


class AgentCompilation(ProgramCompilation):
    """A compiled agent with what was measured of it; ``judgec.answer(agents=found.name, ...)`` runs it."""

    def _repr_html_(self) -> str:
        return notebook(agent_report(self))


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
    name = options.name or re.sub(r"[+/]", "-", options.agent)
    judge = _checked(options, name)
    spec = LMSpec.parse(options.lm, api_base=options.api_base)
    reflection, _ = reflection_spec(spec, options.reflection_lm)
    queries = read_queries(named_table(options.queries, "queries"), options.columns)
    watch.stage("agent", f"{options.agent}, {spec.asked_at}, {plural(len(queries), 'query')}")
    source = str(options.queries) if is_path(options.queries) else "queries"
    opened = partial(_contest, options, name, judge, queries)
    account = account_for(options, options.judge)
    return AgentCompilation(
        *compiled_program(options, opened, spec, account, watch, source=source, reflection=reflection)
    )


def _checked(options: CompileAgentOptions, name: str) -> GivenJudge | None:
    """The judge whose score is maximized; None where accepted answers say what for.

    Raises:
        UserError: Neither or both are given, there is no such agent or judge, or the judge cannot be asked.
    """
    if (options.judge is None) == (options.labels is None):
        raise UserError("--judge, --labels: exactly one says what the agent is compiled for. Give one of them.")
    kind_of(options.agent)
    check_place(Place(options.home, name, TASK))
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


def _contest(
    options: CompileAgentOptions, name: str, judge: GivenJudge | None, queries: tuple[Query, ...], session: Session
) -> AgentContest:
    if judge is not None:
        _require_able(judge, queries)
    check_optimizer(options.optimizer, session)
    session.preflight()
    metric, accepted = _metric(options, judge, queries, session)
    # Without an accepted answer there is nothing to be close to: such a query would count as failed for every agent.
    usable = tuple(query for query in queries if query.query_id in accepted) if accepted else queries
    left_out = f"{len(queries) - len(usable)} of {len(queries)} queries left out: no accepted answer is known"
    build, retriever = kind_of(options.agent)
    index = open_index(options.index, api_base=options.api_base)

    def retrieve(named: str) -> Retriever:
        return reranked(named, index, None, options.rrf_k)

    shape = AgentSettings(
        options.k,
        options.variations,
        options.persona,
        options.citations,
        feedback=options.lm == NO_LM,
        rrf_k=options.rrf_k,
    )
    about = {"metric": metric.name, "index": location_shown(options.index)}
    return AgentContest(
        name=name,
        home=options.home,
        items=items_of(usable),
        start=build(retrieve(retriever), shape),
        settings={"agent": options.agent, **asdict(shape), **about},
        lm=session.settled(session.spec),
        keeping=lambda calls: session.keeping_back(calls, session.price(calls)),
        optimizer=options.optimizer,
        seed=options.seed,
        scale=ACCEPT_SCALE if judge is None else judge.card.scale,
        aspects=("grade",) if judge is None else judge.card.aspects,
        labels="" if judge is None else judge.card.labels,
        notes=(left_out,) if len(usable) < len(queries) else (),
        agent=options.agent,
        queries=usable,
        metric=metric,
        propose=proposed,
        session=session,
        accepted=accepted,
        retrieve=retrieve,
    )


def _metric(
    options: CompileAgentOptions, judge: GivenJudge | None, queries: tuple[Query, ...], session: Session
) -> tuple[JudgeMetric | AcceptedMetric, dict[str, tuple[str, ...]]]:
    if judge is not None:
        by_id = {query.query_id: query for query in queries}
        return JudgeMetric(judge.name, judge.compiled, _ask(judge, session), by_id), {}
    assert options.labels is not None  # as _checked says
    said = LabelColumns(**{name: getattr(options, name) for name in SAID_OF_LABELS})
    labels = options.labels if isinstance(options.labels, Labels) else labels_of(options.labels, said.reading())
    accepted = accepted_answers(labels.label_set, queries, options.seed)
    return AcceptedMetric(accepted), accepted


def agent_report(found: AgentCompilation, options: CompileAgentOptions | None = None) -> Report:
    """Mean scores, the verdict and the next command."""
    card, data = found.card, found.report
    means = {who: Estimate(**one["score"]) for who, one in data["test"].items()}
    rows = [(who, number(one.value, 3), brackets(one.low, one.high, 3) or UNKNOWN) for who, one in means.items()]
    title = f"{found.name} on {data['split']['test']} test queries: {data['metric']}"
    verdict = "promoted to champion" if found.promoted else "saved as challenger"
    compiled = f"{card.name}@{programs.CHAMPION if found.promoted else card.version}"
    return Report(
        data=data,
        verdict=[f"{found.name} {verdict}: {found.reason}"],
        tables=[TextTable(title, ("agent", "mean score", "95 % interval"), rows)],
        lines=[f"prompt {data['prompt']}; {card.cost.lm_calls} LM calls, {card.cost.seconds:.0f} s"],
        notes=found.notes,
        file=found.report_path,
        next=[] if options is None else [_next(options, compiled)],
    )


def _next(options: CompileAgentOptions, compiled: str) -> str:
    """The command that lets the agent answer beside the uncompiled one."""
    shown = {
        "--index": location_shown(options.index),
        "--queries": str(options.queries),
        "--agents": f"{options.agent},{compiled}",
        "--lm": None if options.lm == NO_LM else options.lm,
        "--api-base": options.api_base,
        "--persona": options.persona or None,
        "--out": "answers.jsonl",
    }
    numbers = {"--k": "k", "--variations": "variations", "--rrf-k": "rrf_k"}
    asked = {flag: getattr(options, name) for flag, name in numbers.items()}
    usual = {flag: getattr(AgentShape, name) for flag, name in numbers.items()}
    shown |= {flag: str(value) for flag, value in asked.items() if value != usual[flag]}  # of the uncompiled agent
    given = [part for option, value in shown.items() if value is not None for part in (option, value)]
    given += [] if options.citations else ["--no-citations"]
    renamed = [part for theirs, ours in options.columns.items() for part in ("--map", f"{theirs}={ours}")]
    return command("answer", *given, *renamed, home=options.home)
