"""What ``judgec answer`` does: open agents, let them answer, write, say what it took."""

import json
import os
from collections.abc import Iterator, Sequence
from pathlib import Path
from statistics import fmean, median

from judgec.agents.answer import REFUSAL, Answer
from judgec.agents.bulk import answer_queries, timed
from judgec.agents.compiled import load_agent, settings_of
from judgec.agents.external import HTTP_FILE, PYTHON, PythonSystem, System, ask_system
from judgec.agents.http import HttpSystem
from judgec.agents.rag import RAG, AgentSettings
from judgec.agents.registry import agent_names, kind_of, open_agent, reranked
from judgec.agents.rerank import python_reranker
from judgec.cli.corpus.answer import Request
from judgec.cli.corpus.resuming import Unfinished
from judgec.cli.output import judgec_here, print_json, print_table, say
from judgec.errors import ServiceError, UserError
from judgec.lm.session import Session
from judgec.lm.spec import LMSpec
from judgec.lm.usage import Budget
from judgec.report.progress import Bar
from judgec.retrieval.index import Index, open_index
from judgec.store import programs
from judgec.store.rows.columns import as_rename
from judgec.store.splits import write_whole
from judgec.store.tournament.queries import Query, read_queries

MOST_REASONS = 5


def run_answers(request: Request) -> None:
    """Answer, write, print.

    Raises:
        UserError: Bad input.
        ServiceError: The LM cannot be reached, or nothing could be answered.
    """
    bar = Bar(shown=not request.json)
    answers = answer_all(request, bar)
    bar.close()
    summary = summarize(answers)
    if request.json:
        print_json({"out": str(request.out), "agents": summary})
    else:
        _show(summary, answers, request)
    if all(answer.text is None for answer in answers):
        raise ServiceError(
            f"--agents {request.agents}: no query was answered; the reasons are in {failed_path(request.out)}."
        )


def answer_before(request: Request, caps: Budget) -> str:
    """Answer before a tournament, within the caps of all of it; the file that it reads.

    Raises:
        UserError: No queries, no agents, and as ``answer_all``.
    """
    if not request.queries:
        raise UserError("--agents: no queries to answer; a table of query_id, query is needed. Give --queries.")
    bar = Bar(shown=not request.json)
    answer_all(request, bar, caps)
    bar.close()
    return str(request.out)


def answer_all(request: Request, bar: Bar, caps: Budget | None = None) -> list[Answer]:
    """The answers of all agents, written to ``request.out``; failures go beside it. ``caps`` go before the request's.

    Raises:
        UserError: Bad input.
        ServiceError: The LM cannot be reached.
    """
    queries = read_queries(request.queries, as_rename(request.rename))
    spec = LMSpec.parse(request.lm, api_base=request.api_base)
    names = _names(request.agents)
    if request.out.is_dir():
        raise UserError(f"--out {request.out}: a folder; a file to write answers to is needed. Name one.")
    systems = {name: _system(name) for name in names if name.endswith(HTTP_FILE) or name.startswith(PYTHON)}
    agents = _open_agents(request, [name for name in names if name not in systems], spec)
    _refuse_doubles([*agents, *(system.name for system in systems.values())])
    bar.stage("answer", f"{len(queries)} queries, {len(names)} agents" + (f", {spec.model}" if agents else ""))
    if agents and spec.embedded:
        bar.note("The embedded engine quotes passages: a baseline, not a language model.")
    pairs = [(query.query_id, query.text) for query in queries]
    answers: list[Answer] = []
    if agents:
        answers += _answers_of(request, spec, agents, pairs, bar, caps)
    unfinished = Unfinished(request.out)
    for system in systems.values():
        bar.stage("ask", system.name)
        answers += _asked(system, pairs, unfinished, request.in_flight)
    _write(request.out, answers, queries)
    unfinished.done()
    return answers


def _answers_of(
    request: Request,
    spec: LMSpec,
    agents: dict[str, RAG],
    pairs: Sequence[tuple[str, str]],
    bar: Bar,
    caps: Budget | None,
) -> Iterator[Answer]:
    with Session(
        spec,
        request.home,
        budget=request.budget,
        max_cost=request.max_cost,
        caps=caps,
        in_flight=request.in_flight,
        on_done=bar.progress,
    ) as session:
        session.preflight()
        stopwatch = timed(session.lm)
        for name, agent in agents.items():
            bar.stage("agent", name)
            yield from answer_queries(agent, name, pairs, ask=session.ask, stopwatch=stopwatch)


def _names(agents: str) -> list[str]:
    names = [name.strip() for name in agents.split(",") if name.strip()]
    if not names:
        raise UserError("--agents: empty; names like rag-bm25,rag-fusion-hybrid are needed. Give at least one.")
    return list(dict.fromkeys(names))


def _refuse_doubles(names: Sequence[str]) -> None:
    doubles = sorted({name for name in names if names.count(name) > 1})
    if doubles:
        raise UserError(f"--agents: two agents are called {doubles[0]!r}; names tell them apart. Rename one.")


def _open_agents(request: Request, names: Sequence[str], spec: LMSpec) -> dict[str, RAG]:
    if not names:
        return {}
    if request.index is None:
        raise UserError(f"--agents {names[0]}: needs an index. Give --index, from judgec index PATH... --out INDEX.")
    index: Index = open_index(request.index, api_base=request.api_base)
    settings = AgentSettings(request.k, request.variations, request.persona, request.citations, feedback=spec.embedded)
    rerank = None if request.rerank is None else python_reranker(request.rerank, Path())
    families, built_in = programs.names(request.home), agent_names()
    agents: dict[str, RAG] = {}
    for name in names:
        family, at, _ = name.partition("@")
        if family in families and (at or family not in built_in):  # a name alone stays the built-in agent's
            program = programs.load(request.home, name)
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
    for answer in ask_system(system, missing, in_flight=most):
        unfinished.keep(system, dict(pairs)[answer.query_id], answer)
        known[answer.query_id] = answer
    return [known[query_id] for query_id, _ in pairs]


def failed_path(out: Path) -> Path:
    """Where failures are written: beside the answers."""
    return out.with_name(f"{out.stem}.failed.jsonl")


def _write(out: Path, answers: Sequence[Answer], queries: Sequence[Query]) -> None:
    by_id = {query.query_id: query for query in queries}
    rows = [_row(answer, by_id[answer.query_id]) for answer in answers if answer.text is not None]
    failed = [
        {"query_id": answer.query_id, "agent": answer.agent, "error": answer.error}
        for answer in answers
        if answer.text is None
    ]
    write_whole(out, _lines(rows))
    if failed:
        write_whole(failed_path(out), _lines(failed))
    else:
        failed_path(out).unlink(missing_ok=True)


def _lines(rows: Sequence[object]) -> str:
    return "".join(json.dumps(row, ensure_ascii=False, allow_nan=False) + "\n" for row in rows)


def _row(answer: Answer, query: Query) -> dict[str, object]:
    row: dict[str, object] = {
        "query_id": answer.query_id,
        "query": query.text,
        "agent": answer.agent,
        "answer": answer.text,
        "contexts": [context.text for context in answer.contexts],
        "seconds": None if answer.seconds is None else round(answer.seconds, 6),
        "input_tokens": answer.input_tokens,
        "output_tokens": answer.output_tokens,
        "usd": answer.usd,
    }
    ids = [context.passage_id for context in answer.contexts]
    if all(ids):
        row["passage_ids"] = ids
        row["cited"] = [ids[place] for place in answer.cited]
    if answer.searched:
        row["searched"] = list(answer.searched)
    if query.reference:
        row["reference"] = query.reference
    return row


def summarize(answers: Sequence[Answer]) -> dict[str, dict[str, object]]:
    """Counts and means by agent, in order; None where nothing is known."""
    found: dict[str, dict[str, object]] = {}
    for agent in dict.fromkeys(answer.agent for answer in answers):
        own = [answer for answer in answers if answer.agent == agent]
        said = [answer for answer in own if answer.text is not None]
        seconds = [answer.seconds for answer in said if answer.seconds is not None]
        tokens = [
            answer.input_tokens + answer.output_tokens
            for answer in said
            if answer.input_tokens is not None and answer.output_tokens is not None
        ]
        usd = [answer.usd for answer in said if answer.usd is not None]
        found[agent] = {
            "answers": len(said),
            "failed": len(own) - len(said),
            "refused": sum(answer.text == REFUSAL for answer in said),
            "cites": sum(bool(answer.cited) for answer in said),
            "median_seconds": median(seconds) if seconds else None,
            "tokens_per_answer": fmean(tokens) if tokens else None,
            "usd_per_answer": fmean(usd) if len(usd) == len(said) and usd else None,
        }
    return found


def _show(summary: dict[str, dict[str, object]], answers: Sequence[Answer], request: Request) -> None:
    columns = ("agent", "answers", "failed", "refused", "cite", "median s", "tokens", "$ an answer")
    rows = [(agent, *map(_text, row.values())) for agent, row in summary.items()]
    print_table(str(request.out), columns, rows)
    reasons = dict.fromkeys(f"{answer.agent}: {answer.error}" for answer in answers if answer.text is None)
    shown = list(reasons)[:MOST_REASONS]
    failures = [f"Failures are in {failed_path(request.out)}; they are no answers."] if reasons else []
    say(*shown, *failures, f"Next: {judgec_here()} evaluate --answers {request.out} --judge NAME")


def _text(value: object) -> str:
    return "-" if value is None else f"{value:.4g}" if isinstance(value, float) else str(value)
