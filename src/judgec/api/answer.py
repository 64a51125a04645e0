"""``judgec.answer``: queries in, the answers of RAG agents out."""

import os
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path

from judgec.agents.answer import Answer
from judgec.agents.bulk import answer_queries, timed
from judgec.agents.compiled import load_agent, settings_of
from judgec.agents.external import HTTP_FILE, PYTHON, PythonSystem, System, ask_system
from judgec.agents.http import HttpSystem
from judgec.agents.rag import RAG, AgentSettings
from judgec.agents.registry import agent_names, kind_of, open_agent, reranked
from judgec.agents.rerank import python_reranker
from judgec.agents.unfinished import Unfinished
from judgec.api.answered import Answers, write_answers
from judgec.api.frames import named_table
from judgec.api.options.answer import AnswerOptions
from judgec.api.verb import verb
from judgec.errors import UserError
from judgec.lm.session import Session
from judgec.lm.spec import LMSpec
from judgec.lm.usage import Budget
from judgec.lm.watch import Watch
from judgec.retrieval.index import Index, open_index
from judgec.store import programs
from judgec.store.tournament.queries import read_queries


@verb(AnswerOptions)
def answer(options: AnswerOptions, watch: Watch) -> Answers:
    """Let RAG agents answer queries; an interrupted run goes on where it was.

    With ``out`` the answers are written there, and failures beside them. A query that an agent fails at is a row of
    ``failures``, never an answer.

    Raises:
        UserError: An agent that nobody knows, no index, or faulty options.
        InputError: Faulty queries, each with its row.
        BudgetError: The caps do not suffice.
        ServiceError: The model cannot be reached.

    Example:
        >>> queries = [{"query": "How wide is the measuring range of the flow meter?"}]
        >>> index = judgec.index("trainsets/sensors/catalogue", out="corpus")
        >>> found = judgec.answer(queries=queries, agents="rag-bm25,rag-knn", index=index)
        >>> found.answers["agent"].tolist()
        ['rag-bm25', 'rag-knn']
    """
    return answers_within(options, watch)


def answers_within(options: AnswerOptions, watch: Watch, caps: Budget | None = None) -> Answers:
    """As ``answer``.

    Args:
        options: What is asked, and who.
        watch: Told where it is.
        caps: What other work may spend together with this; these go before the caps of the options.
    """
    queries = read_queries(named_table(options.queries, "queries"), options.columns)
    spec = LMSpec.parse(options.lm, api_base=options.api_base)
    names = list(dict.fromkeys(options.agents))
    if not names:
        raise UserError("--agents: empty; names like rag-bm25,rag-fusion-hybrid are needed. Give at least one.")
    if options.out is not None and options.out.is_dir():
        raise UserError(f"--out {options.out}: a folder; a file to write answers to is needed. Name one.")
    systems = [_system(name) for name in names if name.endswith(HTTP_FILE) or name.startswith(PYTHON)]
    built = [name for name in names if not (name.endswith(HTTP_FILE) or name.startswith(PYTHON))]
    agents = _open_agents(options, built, spec)
    _refuse_doubles([*agents, *(system.name for system in systems)])
    watch.stage("answer", f"{len(queries)} queries, {len(names)} agents" + (f", {spec.model}" if agents else ""))
    if agents and spec.embedded:
        watch.note("The embedded engine quotes passages: a baseline, not a language model.")
    pairs = [(query.query_id, query.text) for query in queries]
    given: list[Answer] = []
    if agents:
        given += _answers_of(options, spec, agents, pairs, watch, caps)
    unfinished = Unfinished(options.out)
    for system in systems:
        watch.stage("ask", system.name)
        given += _asked(system, pairs, unfinished, options.in_flight)
    found = Answers(tuple(given), queries)
    if options.out is not None:
        write_answers(found, options.out)
        unfinished.done()
    return replace(found, out=options.out)


def _answers_of(
    options: AnswerOptions,
    spec: LMSpec,
    agents: dict[str, RAG],
    pairs: Sequence[tuple[str, str]],
    watch: Watch,
    caps: Budget | None,
) -> Iterator[Answer]:
    with Session(
        spec,
        options.home,
        budget=options.budget,
        max_cost=options.max_cost,
        caps=caps,
        in_flight=options.in_flight,
        on_done=watch.progress,
    ) as session:
        session.preflight()
        stopwatch = timed(session.lm)
        for name, agent in agents.items():
            watch.stage("agent", name)
            yield from answer_queries(agent, name, pairs, ask=session.ask, stopwatch=stopwatch)


def _refuse_doubles(names: Sequence[str]) -> None:
    doubles = sorted({name for name in names if names.count(name) > 1})
    if doubles:
        raise UserError(f"--agents: two agents are called {doubles[0]!r}; names tell them apart. Rename one.")


def _open_agents(options: AnswerOptions, names: Sequence[str], spec: LMSpec) -> dict[str, RAG]:
    if not names:
        return {}
    if options.index is None:
        raise UserError(f"--agents {names[0]}: needs an index. Give --index, from judgec index PATH... --out INDEX.")
    index: Index = open_index(options.index, api_base=options.api_base)
    settings = AgentSettings(options.k, options.variations, options.persona, options.citations, feedback=spec.embedded)
    rerank = None if options.rerank is None else python_reranker(options.rerank, Path())
    families, built_in = programs.names(options.home), agent_names()
    agents: dict[str, RAG] = {}
    for name in names:
        family, at, _ = name.partition("@")
        if family in families and (at or family not in built_in):  # a name alone stays the built-in agent's
            program = programs.load(options.home, name)
            retriever = reranked(kind_of(settings_of(program)[0])[1], index, rerank)
            agents[f"{program.card.name}@{program.card.version}"] = load_agent(program, retriever)
        else:
            agents[name] = open_agent(name, index, settings, rerank)
    return agents


def _system(name: str) -> System:
    return PythonSystem(name, Path()) if name.startswith(PYTHON) else HttpSystem(Path(name), os.environ)


def _asked(system: System, pairs: Sequence[tuple[str, str]], unfinished: Unfinished, in_flight: int) -> list[Answer]:
    """In the order of the queries; what an interrupted run had finished is not asked again."""
    known = unfinished.answers(system, pairs)
    missing = [pair for pair in pairs if pair[0] not in known]
    most = min(in_flight, system.settings.in_flight) if isinstance(system, HttpSystem) else in_flight
    for answered in ask_system(system, missing, in_flight=most):
        unfinished.keep(system, dict(pairs)[answered.query_id], answered)
        known[answered.query_id] = answered
    return [known[query_id] for query_id, _ in pairs]
