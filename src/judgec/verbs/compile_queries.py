"""``judgec.compile_queries``: documents and the experts' queries in, a measured query generator out."""

import os
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import cached_property

import pandas as pd

from judgec.compile.queries.compile import CompiledQueries, GeneratorKind, QuerySettings
from judgec.compile.queries.compile import compile_queries as compile_generator
from judgec.compile.queries.outcome import GeneratorOrigin, run_of, save
from judgec.compile.queries.saved import TASK
from judgec.compile.release import Place, check_place, cost_of
from judgec.compile.settings import reflection_spec
from judgec.connect.tracking.background import Tracker
from judgec.connect.tracking.runs import Logged
from judgec.connect.tracking.store import tracking_store
from judgec.lm.session import Session
from judgec.lm.spec import NO_LM, LMSpec
from judgec.lm.usage import Account
from judgec.lm.watch import Silent, Watch
from judgec.rag.queries.corpus import open_corpus
from judgec.rag.queries.generation.generate import long_passages
from judgec.rag.queries.reliability import Rules
from judgec.rag.retrieval.embed import fit_latent
from judgec.rag.retrieval.passages import Passage
from judgec.raters import programs
from judgec.records.card import ProgramCard
from judgec.records.label import FloatArray
from judgec.report.numbers import number
from judgec.report.page.notebook import notebook
from judgec.report.report import Report
from judgec.report.screen import TextTable
from judgec.table import seal
from judgec.verbs.compile_judge import compiled_within
from judgec.verbs.expert_queries import expert_queries
from judgec.verbs.options.compile_judge import CompileJudgeOptions
from judgec.verbs.options.compile_queries import CompileQueriesOptions
from judgec.verbs.options.option import carried_over
from judgec.verbs.query_models import ask_of, checking, open_reliability, writer_spec
from judgec.verbs.spending import account_for, session_for
from judgec.verbs.typed import judgec_here
from judgec.verbs.verb import verb

SIDES = ("compiled", "uncompiled", "champion")
MEASURED = ("value", "accepted", "likeness")


@dataclass(frozen=True)
class QueryCompilation:
    """A compiled query generator with what was measured of it.

    Args:
        options: What was asked for.
        card: The version that was saved.
        compiled: What the compile found out.
        report: What ``compile-queries --json`` prints.
    """

    options: CompileQueriesOptions
    card: ProgramCard
    compiled: CompiledQueries
    report: Mapping[str, object]

    @property
    def name(self) -> str:
        """``NAME@VERSION``, which ``generate_queries(generator=...)`` takes."""
        return f"{self.card.name}@{self.card.version}"

    @property
    def promoted(self) -> bool:
        """True when it was shown to be better and is the champion now."""
        return self.card.promoted

    @property
    def reason(self) -> str:
        """The reason why it was promoted, or why not."""
        return self.card.reason

    @property
    def notes(self) -> tuple[str, ...]:
        """Notes for the reader."""
        notes = self.report["notes"]
        assert isinstance(notes, list)  # as compile.queries.outcome.report_of says
        return tuple(notes)

    @cached_property
    def table(self) -> pd.DataFrame:
        """Each generator on test: value, accepted and likeness, each with ``.low`` and ``.high``."""
        found: dict[str, dict[str, float | None]] = {}
        for side in (side for side in SIDES if side in self.compiled.found.test):
            row = found[side] = {}
            for what in MEASURED:
                one = self.compiled.estimates[f"{side}.{what}"]
                row |= {what: one.value, f"{what}.low": one.low, f"{what}.high": one.high}
        return pd.DataFrame.from_dict(found, orient="index", dtype=float)

    def __repr__(self) -> str:
        return f"<QueryCompilation {self.name}, {self._verdict}>"

    def _repr_html_(self) -> str:
        return notebook(compiled_queries_report(self))

    @property
    def _verdict(self) -> str:
        return f"{'promoted' if self.promoted else 'not promoted'}: {self.reason}"


@verb(CompileQueriesOptions)
def compile_queries(options: CompileQueriesOptions, watch: Watch) -> QueryCompilation:
    """Optimise a query generator for what experts accept and for likeness to their queries; promote only if better.

    The version is saved below ``home`` and logged to MLflow.

    Raises:
        UserError: Bad input.
        InputError: The experts' table has no column ``query``.
        ServiceError: A model cannot be reached.
        BudgetError: A call does not fit the caps; what is finished is journaled.

    Example:
        >>> found = judgec.compile_queries(
        ...     index="trainsets/sensors/catalogue", experts="trainsets/sensors/expert_queries.csv", per_passage=3
        ... )
        >>> found.name, list(found.table.index)
        ('queries@1', ['compiled', 'uncompiled'])
    """
    started = time.time()
    check_place(Place(options.home, options.name, TASK))
    experts = expert_queries(options.experts)
    passages = _passages(options)
    spec = writer_spec(options.lm, options.api_base, options.temperature)
    account = account_for(options)
    judge, notes = _judge(options, account)
    store = tracking_store(options.home, options.tracking_uri, os.environ)
    with (
        Tracker(store, os.environ, seal.notes) as tracker,
        session_for(options, spec, options.home, watch, account=account) as session,
    ):
        watch.stage("model", spec.asked_at)
        session.preflight()
        kind = _kind(options, passages, experts, judge, session)
        compiled = compile_generator(kind, watch)
        ended = time.time()
        origin = _origin(options, kind, session, (*notes, *compiled.found.notes), seconds=ended - started, ended=ended)
        logged: list[Logged] = []

        def track(card: ProgramCard, decided: CompiledQueries) -> None:
            watch.stage("track", store.shown)
            logged.append(tracker.log_compile(run_of(decided, card, origin, started=started, ended=ended)))

        card, compiled, report = save(compiled, origin, track)
    return QueryCompilation(options, card, compiled, {**report, "mlflow_run_id": logged[0].run_id})


def _passages(options: CompileQueriesOptions) -> list[Passage]:
    documents = open_corpus(options.index).documents
    return list(long_passages(documents, options.passage_size, options.seed))[: options.passages]


def _kind(
    options: CompileQueriesOptions, passages: Sequence[Passage], experts: Sequence[str], judge: str, session: Session
) -> GeneratorKind:
    reflection, _ = reflection_spec(LMSpec.parse(options.lm, api_base=options.api_base), options.reflection_lm)
    latent, _ = fit_latent([*(one.text for one in passages), *experts], options.seed)

    def embed(texts: Sequence[str]) -> FloatArray:
        return latent.queries(list(texts)).astype("float64")

    return GeneratorKind(
        name=options.name,
        home=options.home,
        passages=passages,
        experts=experts,
        spec=session.spec,
        settings=QuerySettings(per_passage=options.per_passage, seed=options.seed, rewrites=reflection is not None),
        reliability=open_reliability(judge, options.home, session) or Rules(),
        embed=embed,
        ask=session.ask,
        reads=ask_of(checking(session.spec), session),
        rewriter=None if reflection is None else ask_of(reflection, session),
        keeping=lambda calls: session.keeping_back(calls, session.price(calls)),
    )


def _origin(
    options: CompileQueriesOptions,
    kind: GeneratorKind,
    session: Session,
    notes: Sequence[str],
    *,
    seconds: float,
    ended: float,
) -> GeneratorOrigin:
    spent = session.spent
    return GeneratorOrigin(
        name=kind.name,
        home=kind.home,
        lm=session.settled(kind.spec),
        index=options.index,
        experts=kind.experts,
        reliability=kind.reliability.name,
        settings=kind.settings,
        cost=cost_of(spent, seconds),
        created=datetime.fromtimestamp(ended, tz=UTC).isoformat(timespec="seconds"),
        notes=notes,
    )


def _judge(options: CompileQueriesOptions, account: Account) -> tuple[str, list[str]]:
    """The judge that accepts, and notes on it; labels are compiled into a judge first, within the same caps."""
    notes = ["no model: questions by rule, a baseline"] if options.lm == NO_LM else []
    if options.labels is None:
        if options.judge == "rules":
            return "rules", [*notes, "accepted by rules: no expert was asked"]
        card = programs.load(options.home, options.judge).card
        return options.judge, [*notes, *([_constructed(options.judge)] if card.labels else [])]
    asked = carried_over(
        CompileJudgeOptions, options, name=f"{options.name}-reliability", task="reliability", reflection_lm=None
    )
    found = compiled_within(asked, Silent(), account)
    saved = found.saved
    name = f"{saved.card.name}@{saved.card.version}"
    if not saved.card.promoted:
        notes.append(f"{name} was not shown to be better than its baselines: {saved.card.reason}")
    return name, [*notes, *([_constructed(name)] if saved.card.labels else [])]


def _constructed(judge: str) -> str:
    return f"{judge} learned from constructed labels: no expert gave them, its acceptance says nothing about experts"


def compiled_queries_report(found: QueryCompilation) -> Report:
    """The candidates, the winner beside the uncompiled generator, and the next command."""
    compiled, name = found.compiled, found.name
    rows = [
        [which, number(one.value, 3), number(float(one.accepted.mean())), str(len(one.tried))]
        for which, one in compiled.found.dev.items()
    ]
    sides = []
    for side in (side for side in SIDES if side in compiled.found.test):
        estimates = [compiled.estimates[f"{side}.{what}"] for what in MEASURED]
        sides.append([side, *(number(one.value, 3) for one in estimates)])
    here = judgec_here()
    return Report(
        data=found.report,
        verdict=[f"{name} {'promoted to champion' if found.promoted else 'saved as challenger'}: {found.reason}"],
        tables=[
            TextTable("Candidates on dev", ["generator", "value", "accepted", "queries"], rows),
            TextTable(f"{name} on test", ["generator", *MEASURED], sides),
        ],
        notes=found.notes,
        next=[f"{here} generate-queries --generator {name} --index I --out queries.jsonl", f"{here} ui"],
    )
