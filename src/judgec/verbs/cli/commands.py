"""The commands that do what their verb does and show its report; their options stand in ``verbs/options``.

A command imports its work inside, so that ``judgec --help`` answers at once.
"""

from functools import partial
from pathlib import Path
from typing import Annotated

import typer

from judgec.verbs.cli.shell import (
    DryRunOption,
    JsonOption,
    JunitOption,
    ReportOption,
    RequireOption,
    VerboseOption,
    command_of,
)
from judgec.verbs.options.agreement import AgreementOptions
from judgec.verbs.options.answer import AnswerOptions
from judgec.verbs.options.audit import AuditOptions
from judgec.verbs.options.compare import CompareOptions
from judgec.verbs.options.compile_agent import CompileAgentOptions
from judgec.verbs.options.compile_judge import CompileJudgeOptions
from judgec.verbs.options.compile_queries import CompileQueriesOptions
from judgec.verbs.options.evaluate import EvaluateOptions
from judgec.verbs.options.export import ExportOptions
from judgec.verbs.options.generate_queries import GenerateQueriesOptions
from judgec.verbs.options.index import IndexOptions
from judgec.verbs.options.probe import ProbeOptions
from judgec.verbs.options.rank import RankOptions
from judgec.verbs.options.systems import SystemsOptions
from judgec.verbs.options.watch import WatchOptions


@command_of(CompileJudgeOptions)
def compile_judge(
    options: CompileJudgeOptions,
    *,
    require_promotion: RequireOption = False,
    junit: JunitOption = None,
    json: JsonOption = False,
    dry_run: DryRunOption = False,
    verbose: VerboseOption = False,
) -> None:
    """Compile a judge from expert labels and measure it on labels it has never seen.

    Example: judgec compile-judge labels.csv --lm openai/gpt-4o-mini
    """
    from judgec.verbs.cli.output import needs_gate, run_barred, run_shown, show
    from judgec.verbs.compilation import compiled_report, plan_report
    from judgec.verbs.compile_judge import compile_judge as compiled
    from judgec.verbs.compile_judge import planned

    needs_gate(junit, gated=require_promotion, option="--require-promotion")
    if dry_run:
        show(plan_report(*run_barred(planned, options, json=json)), json=json)
        return
    run_shown(
        compiled.run,
        options,
        lambda found: compiled_report(found, options, gated=require_promotion),
        json=json,
        verbose=verbose,
        junit=junit,
    )


@command_of(AgreementOptions)
def agreement(
    options: AgreementOptions, *, report: ReportOption = None, verbose: VerboseOption = False, json: JsonOption = False
) -> None:
    """Measure any judge's output against the experts: statistics with intervals, nothing else needed.

    Example: judgec agreement grades.csv --annotators human --judges gpt4
    """
    from judgec.verbs.agreement import agreement as measured
    from judgec.verbs.agreement import agreement_report
    from judgec.verbs.cli.output import run_shown

    run_shown(
        measured.run,
        options,
        lambda found: agreement_report(found, options, report),
        json=json,
        verbose=verbose,
        page=report,
    )


@command_of(CompareOptions)
def compare(
    options: CompareOptions, *, report: ReportOption = None, verbose: VerboseOption = False, json: JsonOption = False
) -> None:
    """Compare two judges on items that neither was compiled on: paired differences, and where they differ.

    Example: judgec compare NAME@1 NAME@2 --labels labels.csv
    """
    from judgec.verbs.cli.output import run_shown
    from judgec.verbs.compare import compare as compared
    from judgec.verbs.compare import compared_report

    shown = partial(compared_report, options=options, file=report)
    run_shown(compared.run, options, shown, json=json, verbose=verbose, page=report)


@command_of(AuditOptions)
def audit(
    options: AuditOptions,
    *,
    require_pass: Annotated[
        bool, typer.Option("--require-pass", help="Exit 1 unless all audits pass.", rich_help_panel="Output")
    ] = False,
    junit: JunitOption = None,
    verbose: VerboseOption = False,
    json: JsonOption = False,
) -> None:
    """Try to move a judge's verdicts by what must not count.

    Example: judgec audit --judge NAME
    """
    from judgec.verbs.audit import audit as audited
    from judgec.verbs.audit import audit_report
    from judgec.verbs.cli.output import needs_gate, run_shown

    needs_gate(junit, gated=require_pass, option="--require-pass")
    run_shown(
        audited.run,
        options,
        lambda found: audit_report(found, options, require_pass=require_pass),
        json=json,
        verbose=verbose,
        junit=junit,
    )


@command_of(ExportOptions)
def export(options: ExportOptions, *, json: JsonOption = False) -> None:
    """Write a judge for use outside judgec: prompt, Python or promptfoo's assertion.

    Example: judgec export NAME --to python --out judge
    """
    from judgec.lm.watch import Silent
    from judgec.verbs.cli.output import show
    from judgec.verbs.export import export as exported
    from judgec.verbs.export import exported_report

    show(exported_report(exported.run(options, Silent())), json=json)


@command_of(WatchOptions)
def watch(options: WatchOptions, *, json: JsonOption = False) -> None:
    """Judge a sample of an application's traces since the last pass, and say which share people would accept.

    Example: judgec watch --source mlflow:EXPERIMENT --judge NAME

    One pass, for cron; what was judged is kept, and never judged or logged again.
    """
    from judgec.errors import GateError
    from judgec.verbs.cli.output import run_shown
    from judgec.verbs.watch import watch as passed
    from judgec.verbs.watch import watch_report

    found = run_shown(passed.run, options, watch_report, json=json)
    if found.fired:
        raise GateError("; ".join(found.fired))


@command_of(EvaluateOptions)
def evaluate(
    options: EvaluateOptions, *, junit: JunitOption = None, verbose: VerboseOption = False, json: JsonOption = False
) -> None:
    """Rank RAG agents from their answers with a compiled judge; an interrupted run goes on where it was.

    Example: judgec evaluate --queries queries.csv --answers answers.jsonl --judge NAME
    """
    from judgec.verbs.cli.output import needs_gate, run_shown
    from judgec.verbs.evaluate import evaluate as evaluated
    from judgec.verbs.tournament import tournament_report

    needs_gate(junit, gated=options.gate is not None, option="--gate")
    shown = partial(tournament_report, gate=options.gate)
    run_shown(evaluated.run, options, shown, json=json, verbose=verbose, junit=junit)


@command_of(RankOptions)
def rank(options: RankOptions, *, verbose: VerboseOption = False, json: JsonOption = False) -> None:
    """Rank agents from games: Bradley-Terry with intervals over queries, Elo, and who beat whom.

    Example: judgec rank games.csv

    An empty winner is an unscored game: counted, never a loss or a tie. RAGElo's games file is read as it is.
    """
    from judgec.verbs.cli.output import run_shown
    from judgec.verbs.rank import rank as ranked
    from judgec.verbs.rank import ranking_report

    run_shown(ranked.run, options, ranking_report, json=json, verbose=verbose)


@command_of(SystemsOptions)
def systems(
    options: SystemsOptions,
    *,
    report: ReportOption = None,
    junit: JunitOption = None,
    verbose: VerboseOption = False,
    json: JsonOption = False,
) -> None:
    """Compare systems by a judge's verdicts on all rows, corrected by people's labels of some: which is best, how sure.

    Example: judgec systems answers.csv --map system=agent --annotators expert --judges gpt4 --best 5 --accept-at 4
    """
    from judgec.verbs.cli.output import needs_gate, run_shown
    from judgec.verbs.systems import systems as compared
    from judgec.verbs.systems import systems_report

    needs_gate(junit, gated=options.gate is not None, option="--gate")
    shown = partial(systems_report, options=options, file=report)
    run_shown(compared.run, options, shown, json=json, verbose=verbose, page=report, junit=junit)


@command_of(IndexOptions)
def index(options: IndexOptions, *, json: JsonOption = False) -> None:
    """Make documents searchable by words and by meaning; run again, it reads only what changed.

    Example: judgec index docs --out docs.index
    """
    from judgec.verbs.cli.output import run_shown
    from judgec.verbs.index import index as indexed
    from judgec.verbs.index import index_report

    run_shown(indexed.run, options, index_report, json=json)


@command_of(AnswerOptions)
def answer(
    options: AnswerOptions,
    *,
    json: JsonOption = False,
    dry_run: DryRunOption = False,
) -> None:
    """Let RAG agents answer queries; an interrupted run goes on where it was.

    Example: judgec answer --index docs.index --queries queries.csv --agents rag-bm25 --out answers.jsonl
    """
    from judgec.verbs.answer import answer as answered
    from judgec.verbs.answer import planned
    from judgec.verbs.answered import answers_report, plan_report, require_answers
    from judgec.verbs.cli.output import run_shown, show

    if dry_run:
        show(plan_report(planned(options)), json=json)
        return
    require_answers(run_shown(answered.run, options, partial(answers_report, home=options.home), json=json))


@command_of(CompileAgentOptions)
def compile_agent(
    options: CompileAgentOptions, *, require_promotion: RequireOption = False, json: JsonOption = False
) -> None:
    """Optimize an agent's prompts for a compiled judge, or for answers that experts accepted.

    Example: judgec compile-agent rag-bm25 --index docs.index --queries queries.csv --judge NAME
    """
    from judgec.errors import GateError
    from judgec.verbs.cli.output import run_shown
    from judgec.verbs.compile_agent import agent_report
    from judgec.verbs.compile_agent import compile_agent as compiled

    found = run_shown(compiled.run, options, lambda made: agent_report(made, options), json=json)
    if require_promotion and not found.promoted:
        raise GateError(f"{found.name}: {found.reason}")


@command_of(GenerateQueriesOptions)
def generate_queries(options: GenerateQueriesOptions, *, report: ReportOption = None, json: JsonOption = False) -> None:
    """Write test queries from documents, in the manner of the experts', with every query's passage, model and seed.

    Example: judgec generate-queries --index docs.index --out queries.jsonl
    """
    from judgec.verbs.cli.output import run_shown
    from judgec.verbs.generate_queries import generate_queries as generated
    from judgec.verbs.generate_queries import generated_report

    run_shown(generated.run, options, lambda found: generated_report(found, report), json=json, page=report)


@command_of(CompileQueriesOptions)
def compile_queries(
    options: CompileQueriesOptions, *, require_promotion: RequireOption = False, json: JsonOption = False
) -> None:
    """Optimise a query generator for what experts accept and for likeness to their queries; promote only if better.

    Example: judgec compile-queries --index docs.index --experts queries.csv
    """
    from judgec.errors import GateError
    from judgec.verbs.cli.output import run_shown
    from judgec.verbs.compile_queries import compile_queries as compiled
    from judgec.verbs.compile_queries import compiled_queries_report

    found = run_shown(compiled.run, options, compiled_queries_report, json=json)
    if require_promotion and not found.promoted:
        raise GateError(f"--require-promotion: {found.reason}.")


@command_of(ProbeOptions)
def probe(
    options: ProbeOptions,
    *,
    compare: Annotated[
        tuple[str, str] | None,
        typer.Option(
            "--compare", metavar="A B", help="Two probes' folders (DIR or DIR:SYSTEM).", rich_help_panel="What"
        ),
    ] = None,
    junit: JunitOption = None,
    verbose: VerboseOption = False,
    json: JsonOption = False,
) -> None:
    """Put questions of known kinds to RAG systems: where they fail, how often, and which part of them does.

    Example: judgec probe --scenarios all --index docs.index --system rag-bm25
    """
    if compare is None:
        _probe(options, junit=junit, verbose=verbose, json=json)
    else:
        _compare(*compare, json=json)


def _probe(options: ProbeOptions, *, junit: Path | None, verbose: bool, json: bool) -> None:
    from judgec.errors import ServiceError
    from judgec.verbs.cli.output import needs_gate, run_shown
    from judgec.verbs.probe import probe_report, run_probe

    needs_gate(junit, gated=bool(options.max_failure), option="--max-failure")
    found = run_shown(run_probe, options, probe_report, json=json, verbose=verbose, junit=junit)
    if found.unanswered:
        raise ServiceError(found.unanswered)


def _compare(a: str, b: str, *, json: bool) -> None:
    from judgec.verbs.cli.output import show
    from judgec.verbs.compare_probes import compare_probes, comparison_report

    show(comparison_report(compare_probes(a, b).comparison), json=json)
