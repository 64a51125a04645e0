"""``judgec compile-judge``."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from judgec.cli.options import (
    AcceptAtOption,
    AnnotatorsOption,
    ApiBaseOption,
    HomeOption,
    JsonOption,
    MapOption,
    TaskOption,
    TrackingOption,
)

if TYPE_CHECKING:
    from judgec.cli.judge.compiling import Request

SEARCH = "Search"
ABSTAIN = "Leaving items to a human"
PAIRS = "Judges that compare two answers"
LabelsArgument = Annotated[
    str, typer.Argument(help="Expert labels: CSV, TSV, JSONL, Parquet, a folder, hf:owner/name, mlflow:EXPERIMENT.")
]
LmOption = Annotated[str, typer.Option("--lm", help="The judge's model: embedded, openai/gpt-4o-mini, ...")]
NameOption = Annotated[str | None, typer.Option("--name", help="Name of the judge; default: from the file.")]
ObjectiveOption = Annotated[
    str | None,
    typer.Option("--objective", help="tau_b, accept, kappa or qwk, or a sum such as tau_b+accept."),
]
RequireOption = Annotated[
    bool, typer.Option("--require-promotion", help="Exit 1 when the judge is not shown to be better.")
]
ReflectionOption = Annotated[
    str | None,
    typer.Option("--reflection-lm", help="Model that rewrites prompts; default: --lm.", rich_help_panel=SEARCH),
]
OptimizerOption = Annotated[
    str,
    typer.Option("--optimizer", help="auto, labeled, bootstrap, mipro, gepa, or a plugin's.", rich_help_panel=SEARCH),
]
SeedOption = Annotated[
    int, typer.Option("--seed", help="Seed of the search; the split never depends on it.", rich_help_panel=SEARCH)
]
BudgetOption = Annotated[
    int | None, typer.Option("--budget", min=1, metavar="CALLS", help="Most LM calls.", rich_help_panel=SEARCH)
]
CostOption = Annotated[
    float | None, typer.Option("--max-cost", min=0, metavar="USD", help="Most dollars.", rich_help_panel=SEARCH)
]
DryRunOption = Annotated[
    bool,
    typer.Option("--dry-run", help="Say what it would ask and cost, and ask nothing.", rich_help_panel=SEARCH),
]
AbstainOption = Annotated[
    float | None,
    typer.Option(
        "--abstain-below", metavar="CONFIDENCE", help="Leave less sure judgments to a human.", rich_help_panel=ABSTAIN
    ),
]
PromiseOption = Annotated[
    float | None,
    typer.Option(
        "--promise",
        metavar="AGREEMENT",
        help="Find the confidence that promises this agreement; sets a fifth of train aside.",
        rich_help_panel=ABSTAIN,
    ),
]
RiskOption = Annotated[
    float, typer.Option("--risk", help="Chance that the promise may be wrong.", rich_help_panel=ABSTAIN)
]
CurveOption = Annotated[
    bool, typer.Option("--learning-curve", help="Measure agreement for fewer labels too.", rich_help_panel=SEARCH)
]
AssessmentOption = Annotated[
    str | None,
    typer.Option("--assessment", metavar="NAME", help="The human feedback to read from mlflow:EXPERIMENT."),
]
FactorsOption = Annotated[
    str, typer.Option("--factors", metavar="TEXT", help="What to weigh, instead of its own.", rich_help_panel=PAIRS)
]
CitationsOption = Annotated[
    bool, typer.Option("--has-citations", help="Answers cite documents; wrong citations count.", rich_help_panel=PAIRS)
]
EvidenceOption = Annotated[
    bool, typer.Option("--evidence/--no-evidence", help="Use evidence features.", rich_help_panel=SEARCH)
]


def compile_judge(
    labels: LabelsArgument,
    *,
    lm: LmOption = "embedded",
    name: NameOption = None,
    objective: ObjectiveOption = None,
    task: TaskOption = None,
    accept_at: AcceptAtOption = None,
    require_promotion: RequireOption = False,
    json: JsonOption = False,
    api_base: ApiBaseOption = None,
    reflection_lm: ReflectionOption = None,
    optimizer: OptimizerOption = "auto",
    seed: SeedOption = 0,
    budget: BudgetOption = None,
    max_cost: CostOption = None,
    dry_run: DryRunOption = False,
    evidence: EvidenceOption = True,
    abstain_below: AbstainOption = None,
    promise: PromiseOption = None,
    risk: RiskOption = 0.1,
    learning_curve: CurveOption = False,
    assessment: AssessmentOption = None,
    factors: FactorsOption = "",
    has_citations: CitationsOption = False,
    rename: MapOption = None,
    annotators: AnnotatorsOption = None,
    home: HomeOption = Path(),
    tracking_uri: TrackingOption = None,
) -> None:
    """Compile a judge from expert labels and measure it on labels it has never seen."""
    from judgec.cli.judge.compiling import Request

    request = Request(
        labels=labels,
        lm=lm,
        api_base=api_base,
        name=name,
        objective=objective,
        task=task,
        accept_at=accept_at,
        reflection_lm=reflection_lm,
        optimizer=optimizer,
        seed=seed,
        budget=budget,
        max_cost=max_cost,
        evidence=evidence,
        abstain_below=abstain_below,
        promise=promise,
        risk=risk,
        learning_curve=learning_curve,
        assessment=assessment,
        weighs=(factors, has_citations),
        rename=tuple(rename or ()),
        annotators=annotators,
        home=home,
        tracking_uri=tracking_uri,
        quiet=json,
    )
    _run(request, dry_run=dry_run, require_promotion=require_promotion)


def _run(request: "Request", *, dry_run: bool, require_promotion: bool) -> None:
    from judgec.cli.judge.compiling import dry_run as plan
    from judgec.cli.judge.compiling import run
    from judgec.cli.output import print_json
    from judgec.errors import GateError

    if dry_run:
        planned = plan(request)
        if request.quiet:
            print_json(planned)
        return
    saved, report = run(request)
    if request.quiet:
        print_json(report)
    if require_promotion and not saved.card.promoted:
        raise GateError(f"{saved.card.name}@{saved.card.version}: not promoted; {saved.card.reason}")
