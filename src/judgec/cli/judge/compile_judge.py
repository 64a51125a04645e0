"""``judgec compile-judge``."""

from dataclasses import dataclass
from typing import Annotated

import typer

from judgec.cli.options import (
    FactorsOption,
    HasCitationsOption,
    JsonOption,
    LabelColumns,
    LmOption,
    Places,
    ReflectionOption,
    RequireOption,
    SeedOption,
    Spending,
    TaskOption,
    command_of,
)


@dataclass(frozen=True, kw_only=True)
class Request(Spending, LabelColumns, Places):
    """The command line of ``compile-judge``, as typed."""

    labels: Annotated[
        str,
        typer.Argument(help="Expert labels: CSV, TSV, JSONL, Parquet, a folder, hf:owner/name, mlflow:EXPERIMENT."),
    ]
    lm: LmOption = "embedded"
    name: Annotated[str | None, typer.Option("--name", help="Name of the judge; default: from the file.")] = None
    objective: Annotated[
        str | None, typer.Option("--objective", help="tau_b, accept, kappa or qwk, or a sum such as tau_b+accept.")
    ] = None
    task: TaskOption = None
    require_promotion: RequireOption = False
    quiet: JsonOption = False
    reflection_lm: ReflectionOption = None
    optimizer: Annotated[
        str, typer.Option("--optimizer", help="auto, labeled, bootstrap, mipro, gepa, or a plugin's.")
    ] = "auto"
    seed: SeedOption = 0
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Say what it would ask and cost, and ask nothing.")] = False
    evidence: Annotated[bool, typer.Option("--evidence/--no-evidence", help="Use evidence features.")] = True
    abstain_below: Annotated[
        float | None,
        typer.Option("--abstain-below", metavar="CONFIDENCE", help="Leave less sure judgments to a human."),
    ] = None
    promise: Annotated[
        float | None,
        typer.Option(
            "--promise",
            metavar="AGREEMENT",
            help="Find the confidence that promises this agreement; sets a fifth of train aside.",
        ),
    ] = None
    risk: Annotated[float, typer.Option("--risk", help="Chance that the promise may be wrong.")] = 0.1
    learning_curve: Annotated[
        bool, typer.Option("--learning-curve", help="Measure agreement for fewer labels too.")
    ] = False
    folds: Annotated[
        int | None,
        typer.Option(
            "--folds",
            metavar="N",
            help="Test every query once, in N folds; 1: a single split. Default: 5 below 40.",
        ),
    ] = None
    assessment: Annotated[
        str | None,
        typer.Option("--assessment", metavar="NAME", help="The human feedback to read from mlflow:EXPERIMENT."),
    ] = None
    factors: FactorsOption = ""
    has_citations: HasCitationsOption = False


@command_of(Request)
def compile_judge(request: Request) -> None:
    """Compile a judge from expert labels and measure it on labels it has never seen."""
    from judgec.cli.judge.compiling import dry_run, run
    from judgec.cli.output import print_json
    from judgec.errors import GateError

    if request.dry_run:
        planned = dry_run(request)
        if request.quiet:
            print_json(planned)
        return
    saved, report = run(request)
    if request.quiet:
        print_json(report)
    if request.require_promotion and not saved.card.promoted:
        raise GateError(f"{saved.card.name}@{saved.card.version}: not promoted; {saved.card.reason}")
