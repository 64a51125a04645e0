"""``judgec.compile_queries``: documents and the experts' queries in, a measured query generator out."""

from collections.abc import Sequence
from functools import partial

from judgec.compile.queries.compile import MEASURED, GeneratorContest, items_of
from judgec.compile.queries.saved import TASK, CompiledGenerator
from judgec.compile.release import Place, check_place
from judgec.compile.settings import reflection_spec
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
from judgec.records.label import FloatArray
from judgec.report.numbers import number
from judgec.report.page.notebook import notebook
from judgec.report.report import Report
from judgec.report.screen import TextTable
from judgec.verbs.compile_judge import compiled_within
from judgec.verbs.expert_queries import expert_queries
from judgec.verbs.options.compile_judge import CompileJudgeOptions
from judgec.verbs.options.compile_queries import CompileQueriesOptions
from judgec.verbs.options.option import carried_over
from judgec.verbs.program_compilation import ProgramCompilation, compiled_program
from judgec.verbs.query_models import ask_of, checking, open_reliability, writer_spec
from judgec.verbs.spending import account_for
from judgec.verbs.typed import judgec_here
from judgec.verbs.verb import verb


class QueryCompilation(ProgramCompilation):
    """A compiled query generator with what was measured of it; ``generate_queries(generator=found.name)`` runs it."""

    def _repr_html_(self) -> str:
        return notebook(compiled_queries_report(self))


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
        ('queries@1', ['uncompiled', 'compiled'])
    """
    check_place(Place(options.home, options.name, TASK))
    experts = expert_queries(options.experts)
    documents = open_corpus(options.index).documents
    passages = list(long_passages(documents, options.passage_size, options.seed))[: options.passages]
    spec, account = writer_spec(options.lm, options.api_base, options.temperature), account_for(options)
    judge, notes = _judge(options, account)
    watch.stage("model", spec.asked_at)
    opened = partial(_contest, options, passages, experts, judge, notes)
    return QueryCompilation(*compiled_program(options, opened, spec, account, watch, source=options.index))


def _contest(
    options: CompileQueriesOptions,
    passages: Sequence[Passage],
    experts: Sequence[str],
    judge: str,
    notes: Sequence[str],
    session: Session,
) -> GeneratorContest:
    session.preflight()
    reflection, _ = reflection_spec(LMSpec.parse(options.lm, api_base=options.api_base), options.reflection_lm)
    latent, _ = fit_latent([*(one.text for one in passages), *experts], options.seed)
    reliability = open_reliability(judge, options.home, session) or Rules()

    def embed(texts: Sequence[str]) -> FloatArray:
        return latent.queries(list(texts)).astype("float64")

    return GeneratorContest(
        name=options.name,
        home=options.home,
        items=items_of(passages),
        start=CompiledGenerator(),
        settings={"per_passage": options.per_passage, "reliability": reliability.name},
        lm=session.settled(session.spec),
        keeping=lambda calls: session.keeping_back(calls, session.price(calls)),
        optimizer="candidates",
        seed=options.seed,
        given=experts,
        notes=tuple(notes),
        passages=passages,
        experts=experts,
        per_passage=options.per_passage,
        reliability=reliability,
        embed=embed,
        ask=session.ask,
        reads=ask_of(checking(session.spec), session),
        rewriter=None if reflection is None else ask_of(reflection, session),
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
    data, name, here = found.report, found.name, judgec_here()
    rows = [
        [one["name"], number(one["dev"], 3), number(one["accepted"]), str(one["queries"])] for one in data["candidates"]
    ]
    sides = [[str(who), *(number(row[what], 3) for what in MEASURED)] for who, row in found.table.iterrows()]
    return Report(
        data=data,
        verdict=[f"{name} {'promoted to champion' if found.promoted else 'saved as challenger'}: {found.reason}"],
        tables=[
            TextTable("Candidates on dev", ["generator", "value", "accepted", "queries"], rows),
            TextTable(f"{name} on test", ["generator", *MEASURED], sides),
        ],
        notes=found.notes,
        file=found.report_path,
        next=[f"{here} generate-queries --generator {name} --index I --out queries.jsonl", f"{here} ui"],
    )
