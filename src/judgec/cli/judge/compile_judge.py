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
    from judgec.compiler.outcome.report import Saved

SEARCH = "Search"
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
    str | None, typer.Option("--reflection-lm", help="Model that rewrites prompts.", rich_help_panel=SEARCH)
]
OptimizerOption = Annotated[str, typer.Option("--optimizer", help="How candidates are found.", rich_help_panel=SEARCH)]
SeedOption = Annotated[
    int, typer.Option("--seed", help="Seed of the search; the split never depends on it.", rich_help_panel=SEARCH)
]
BudgetOption = Annotated[
    int | None, typer.Option("--budget", min=1, metavar="CALLS", help="Most LM calls.", rich_help_panel=SEARCH)
]
CostOption = Annotated[
    float | None, typer.Option("--max-cost", min=0, metavar="USD", help="Most dollars.", rich_help_panel=SEARCH)
]
EvidenceOption = Annotated[
    bool, typer.Option("--evidence/--no-evidence", help="Use evidence features.", rich_help_panel=SEARCH)
]


def compile_judge(
    labels: Annotated[str, typer.Argument(help="Expert labels: CSV, TSV, JSONL, Parquet, a folder, hf:owner/name.")],
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
    optimizer: OptimizerOption = "bootstrap",
    seed: SeedOption = 0,
    budget: BudgetOption = None,
    max_cost: CostOption = None,
    evidence: EvidenceOption = True,
    rename: MapOption = None,
    annotators: AnnotatorsOption = None,
    home: HomeOption = Path(),
    tracking_uri: TrackingOption = None,
) -> None:
    """Compile a judge from expert labels and measure it on labels it has never seen."""
    from judgec.cli.judge.compiling import Request, run

    saved, report = run(
        Request(
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
            rename=tuple(rename or ()),
            annotators=annotators,
            home=home,
            tracking_uri=tracking_uri,
            quiet=json,
        )
    )
    _finish(saved, report, require_promotion=require_promotion, json=json)


def _finish(saved: "Saved", report: dict[str, object], *, require_promotion: bool, json: bool) -> None:
    from judgec.cli.output import print_json
    from judgec.errors import GateError

    if json:
        print_json(report)
    if require_promotion and not saved.card.promoted:
        raise GateError(f"{saved.card.name}@{saved.card.version}: not promoted; {saved.card.reason}")
