"""``judgec.answer``: queries in, the answers of RAG agents out."""

import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path

from judgec.errors import UserError
from judgec.labels.rows.items import digest
from judgec.lm.executor import IN_FLIGHT, Progress
from judgec.lm.spec import NO_LM, LMSpec
from judgec.lm.usage import Account, Spent
from judgec.lm.watch import Watch
from judgec.rag.agents.answer import Answer
from judgec.rag.agents.bulk import answer_queries, timed
from judgec.rag.agents.compiled import load_agent, settings_of
from judgec.rag.agents.external import HTTP_FILE, PythonSystem, System, ask_system
from judgec.rag.agents.grid import GridAgent, parse_grid
from judgec.rag.agents.http import HttpSystem
from judgec.rag.agents.rag import RAG, AgentSettings
from judgec.rag.agents.registry import agent_names, kind_of, open_agent, reranked
from judgec.rag.agents.rerank import open_reranker
from judgec.rag.agents.unfinished import Unfinished
from judgec.rag.functions import PYTHON
from judgec.rag.retrieval.index import Index, open_index
from judgec.rag.retrieval.latent import LSA
from judgec.rag.retrieval.manifest import FILE, Manifest
from judgec.rag.retrieval.parsing.chunking import Chunking
from judgec.raters import programs
from judgec.records.counts import plural
from judgec.tournament.files.queries import read_queries
from judgec.verbs.answered import AnswerPlan, Answers, write_answers
from judgec.verbs.frames import named_table
from judgec.verbs.options.answer import AnswerOptions
from judgec.verbs.spending import account_for, session_for
from judgec.verbs.verb import verb


@dataclass(frozen=True)
class GridIndexes:
    """Indexes of the same documents, cut and embedded in several ways.

    Args:
        location: A folder of documents, or a file of them; or an index, which has one chunk size and one embedder.
        home: Built indexes are kept below its ``.judgec/indexes``, so that the next run builds none.
        api_base: Where a hosted embedder is asked.
    """

    location: str
    home: Path
    api_base: str | None = None

    @cached_property
    def given(self) -> Index | None:
        """The index that the location is; None where it holds documents.

        Raises:
            UserError: Nothing is there.
        """
        path = Path(self.location)
        if self.location.startswith(("postgresql://", "postgres://")) or (path / FILE).is_file():
            return open_index(self.location, api_base=self.api_base)
        if not path.exists():
            raise UserError(
                f"--index {self.location}: no such file or folder; an index, or a folder of documents, is needed."
            )
        return None

    def folder(self, chunk: str, embedder: str) -> Path:
        """Folder of the index of a chunk size and an embedder."""
        made_of = [str(Path(self.location).resolve()), str(_chunking(chunk)), embedder or LSA]
        return self.home / ".judgec" / "indexes" / digest(made_of)[:16]

    def missing(self, wanted: Iterable[tuple[str, str]]) -> int:
        """Number of these that have to be built first."""
        if self.given is not None:
            return 0
        found = [Manifest.read(self.folder(*one)) for one in dict.fromkeys(wanted)]
        return sum(manifest is None or not manifest.complete for manifest in found)

    def opened(self, chunk: str, embedder: str, watch: Watch) -> Index:
        """The index of a chunk size and an embedder, brought up to date with the documents; empty is the usual one.

        Raises:
            UserError: An index was given, and it was built otherwise; or nothing can be read.
        """
        if self.given is not None:
            self._require(self.given.manifest, chunk, embedder)
            return self.given
        from judgec.rag.retrieval.build import build_index  # LanceDB: 1.5 s of a core, for those who build

        out = self.folder(chunk, embedder)
        watch.stage("index", f"{self.location}, chunks {_chunking(chunk)}, {embedder or LSA}")
        build_index(
            [self.location],
            out,
            chunking=_chunking(chunk),
            embedder=embedder or LSA,
            api_base=self.api_base,
            on_file=_told(watch),
        )
        return open_index(out, api_base=self.api_base)

    def _require(self, manifest: Manifest, chunk: str, embedder: str) -> None:
        asked = {
            "chunk": (chunk and str(_chunking(chunk)), manifest.chunking),
            "embedder": (embedder, manifest.embedder),
        }
        for name, (wanted, built) in asked.items():
            if wanted and wanted != built:
                raise UserError(
                    f"--grid {name}={wanted}: the index {self.location} was built with {built}, and one index has one. "
                    "Give --index the folder of documents: an index is then built for each."
                )


def _chunking(chunk: str) -> Chunking:
    return Chunking.parse(chunk) if chunk else Chunking()


def _told(watch: Watch) -> Callable[[int, int], None]:
    return lambda done, total: watch.progress(Progress(done, total, 0, Spent(), of="files"))


@dataclass(frozen=True, slots=True)
class _Agent:
    """An agent that is ready to answer, and the model that it asks."""

    name: str
    module: RAG
    lm: str


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
    queries = read_queries(named_table(options.queries, "queries"), options.columns)
    grid = parse_grid(options.grid) if options.grid else ()
    names = _names(options, grid)
    if options.out is not None and options.out.is_dir():
        raise UserError(f"--out {options.out}: a folder; a file to write answers to is needed. Name one.")
    systems = [_system(name) for name in names if _is_system(name)]
    agents = _open_agents(options, [name for name in names if not _is_system(name)])
    agents += _grid_agents(options, grid, watch)
    _refuse_doubles([*(agent.name for agent in agents), *(system.name for system in systems)])
    specs = list(dict.fromkeys(agent.lm for agent in agents))
    asked = [LMSpec.parse(lm, api_base=options.api_base).asked_at for lm in specs]
    told = [f"{plural(len(queries), 'query')}, {plural(len(agents) + len(systems), 'agent')}", *asked]
    watch.stage("answer", ", ".join(told))
    if NO_LM in specs:
        watch.note("No model: rules quote passages, a baseline.")
    pairs = [(query.query_id, query.text) for query in queries]
    given: list[Answer] = []
    account = account_for(options)
    for lm in specs:
        given += _answers_of(options, lm, [agent for agent in agents if agent.lm == lm], pairs, watch, account)
    place = {agent.name: number for number, agent in enumerate(agents)}
    given.sort(key=lambda one: place[one.agent])
    unfinished = Unfinished(options.out)
    for system in systems:
        watch.stage("ask", system.name)
        given += _asked(system, pairs, unfinished, options.in_flight or IN_FLIGHT)
    settings = {agent.name: agent.settings for agent in grid}
    found = Answers(tuple(given), queries, settings=settings, spent=account.spent)
    if options.out is not None:
        write_answers(found, options.out)
        unfinished.done()
    return replace(found, out=options.out)


def planned(options: AnswerOptions) -> AnswerPlan:
    """Plans what ``answer`` would do and ask at most; nothing is asked or written.

    Raises:
        UserError: As ``answer``.
    """
    queries = read_queries(named_table(options.queries, "queries"), options.columns)
    grid = parse_grid(options.grid) if options.grid else ()
    names = _names(options, grid)
    families, built_in = programs.names(options.home), agent_names()
    calls: dict[str, int] = {}
    for name in names:
        compiled = name.partition("@")[0] in families and ("@" in name or name not in built_in)
        kind = settings_of(programs.load(options.home, name))[0] if compiled else name
        calls[name] = 1 if _is_system(name) else _most_calls(kind)
    calls |= {agent.name: _most_calls(agent.kind) for agent in grid}
    wanted = tuple(dict.fromkeys(map(_index_of, grid)))
    missing = _indexes(options, grid).missing(wanted) if grid else 0
    models = [options.lm] * any(not _is_system(name) for name in names) + [
        agent.settings.get("lm", options.lm) for agent in grid
    ]
    asked = dict.fromkeys(LMSpec.parse(lm, api_base=options.api_base).asked_at for lm in models)
    most = {name: each * len(queries) for name, each in calls.items()}
    return AnswerPlan(most, len(queries), len(wanted), missing, tuple(asked))


def _names(options: AnswerOptions, grid: Sequence[GridAgent]) -> list[str]:
    names = list(dict.fromkeys(options.agents))
    if not names and not grid:
        raise UserError(
            "--agents: empty; names like rag-bm25,rag-fusion-hybrid, or --grid, are needed. Give at least one."
        )
    return names


def _is_system(name: str) -> bool:
    return name.endswith(HTTP_FILE) or name.startswith(PYTHON)


def _most_calls(kind: str) -> int:
    return int(getattr(kind_of(kind)[0], "most_calls", 1))


def _answers_of(
    options: AnswerOptions,
    lm: str,
    agents: Sequence[_Agent],
    pairs: Sequence[tuple[str, str]],
    watch: Watch,
    account: Account,
) -> Iterator[Answer]:
    spec = LMSpec.parse(lm, api_base=options.api_base)
    with session_for(options, spec, options.home, watch, account=account) as session:
        session.preflight()
        ask, stopwatch = (None, None) if spec.no_model else (session.ask, timed(session.lm))
        for agent in agents:
            watch.stage("agent", agent.name)
            yield from answer_queries(agent.module, agent.name, pairs, ask=ask, stopwatch=stopwatch)


def _refuse_doubles(names: Sequence[str]) -> None:
    doubles = sorted({name for name in names if names.count(name) > 1})
    if doubles:
        raise UserError(f"--agents: two agents are called {doubles[0]!r}; names tell them apart. Rename one.")


def _open_agents(options: AnswerOptions, names: Sequence[str]) -> list[_Agent]:
    if not names:
        return []
    if options.index is None:
        raise UserError(f"--agents {names[0]}: needs an index. Give --index, from judgec index PATH... --out INDEX.")
    index: Index = open_index(options.index, api_base=options.api_base)
    settings = _shape(options, options.lm)
    rerank = None if options.rerank is None else open_reranker(options.rerank, Path())
    families, built_in = programs.names(options.home), agent_names()
    agents = []
    for name in names:
        family, at, _ = name.partition("@")
        if family in families and (at or family not in built_in):  # a name alone stays the built-in agent's
            program = programs.load(options.home, name)
            kind, own = settings_of(program)
            retriever = reranked(kind_of(kind)[1], index, rerank, own.rrf_k)
            version = f"{program.card.name}@{program.card.version}"
            agents.append(_Agent(version, load_agent(program, retriever), options.lm))
        else:
            agents.append(_Agent(name, open_agent(name, index, settings, rerank), options.lm))
    return agents


def _grid_agents(options: AnswerOptions, grid: Sequence[GridAgent], watch: Watch) -> list[_Agent]:
    """The agents of the grid; those of one chunk size and embedder share an index."""
    if not grid:
        return []
    places, rerank = _indexes(options, grid), None if options.rerank is None else open_reranker(options.rerank, Path())
    indexes = {wanted: places.opened(*wanted, watch) for wanted in dict.fromkeys(map(_index_of, grid))}
    agents = []
    for one in grid:
        lm = one.settings.get("lm", options.lm)
        index, shape = indexes[_index_of(one)], one.shape(_shape(options, lm))
        agents.append(_Agent(one.name, open_agent(one.kind, index, shape, rerank), lm))
    return agents


def _indexes(options: AnswerOptions, grid: Sequence[GridAgent]) -> GridIndexes:
    if options.index is None:
        raise UserError(f"--grid: {len(grid)} agents need documents. Give --index, a folder of documents or an index.")
    if options.rerank is not None and "rerank" in grid[0].settings:
        raise UserError(f"--rerank {options.rerank}: --grid names rerankers, too; one place is valid. Leave one out.")
    return GridIndexes(str(options.index), options.home, options.api_base)


def _index_of(agent: GridAgent) -> tuple[str, str]:
    return agent.settings.get("chunk", ""), agent.settings.get("embedder", "")


def _shape(options: AnswerOptions, lm: str) -> AgentSettings:
    by_rule = LMSpec.parse(lm).no_model
    return AgentSettings(
        options.k, options.variations, options.persona, options.citations, feedback=by_rule, rrf_k=options.rrf_k
    )


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
