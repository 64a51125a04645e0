"""``judgec compile-queries``."""

from pathlib import Path
from typing import Annotated

import typer

from judgec.cli.options import ApiBaseOption, HomeOption, JsonOption, TrackingOption

SEARCH = "Search"

IndexOption = Annotated[str, typer.Option("--index", metavar="I|PATH", help="An index, a folder of documents, a file.")]
ExpertsOption = Annotated[str, typer.Option("--experts", metavar="FILE", help="Experts' queries (a column 'query').")]
LmOption = Annotated[str, typer.Option("--lm", help="The model that writes: embedded, openai/gpt-4o-mini, ...")]
JudgeOption = Annotated[
    str, typer.Option("--judge", metavar="NAME", help="Who accepts: a compiled reliability judge, or rules.")
]
LabelsOption = Annotated[
    str | None,
    typer.Option("--labels", metavar="FILE", help="Experts' labels of pairs: compiled into the judge."),
]
NameOption = Annotated[str, typer.Option("--name", help="Name of the generator.")]
RequireOption = Annotated[bool, typer.Option("--require-promotion", help="Exit 1 when it is not shown to be better.")]
PerPassageOption = Annotated[int, typer.Option("--per-passage", min=1, help="Queries a passage.")]
PassagesOption = Annotated[int | None, typer.Option("--passages", min=1, help="Most passages.", rich_help_panel=SEARCH)]
SizeOption = Annotated[
    str, typer.Option("--passage-size", metavar="2000t", help="Longest passage.", rich_help_panel=SEARCH)
]
ReflectionOption = Annotated[
    str | None,
    typer.Option("--reflection-lm", help="Model that rewrites instructions; default: --lm.", rich_help_panel=SEARCH),
]
SeedOption = Annotated[int, typer.Option("--seed", help="The split never depends on it.", rich_help_panel=SEARCH)]
TemperatureOption = Annotated[
    float, typer.Option("--temperature", min=0, max=2, help="Of the model that writes.", rich_help_panel=SEARCH)
]
BudgetOption = Annotated[
    int | None, typer.Option("--budget", min=1, metavar="CALLS", help="Most LM calls.", rich_help_panel=SEARCH)
]
CostOption = Annotated[
    float | None, typer.Option("--max-cost", min=0, metavar="USD", help="Most dollars.", rich_help_panel=SEARCH)
]


def compile_queries(
    *,
    index: IndexOption,
    experts: ExpertsOption,
    lm: LmOption = "embedded",
    judge: JudgeOption = "rules",
    labels: LabelsOption = None,
    name: NameOption = "queries",
    per_passage: PerPassageOption = 5,
    require_promotion: RequireOption = False,
    json: JsonOption = False,
    passages: PassagesOption = None,
    passage_size: SizeOption = "2000t",
    reflection_lm: ReflectionOption = None,
    seed: SeedOption = 0,
    temperature: TemperatureOption = 0.7,
    api_base: ApiBaseOption = None,
    budget: BudgetOption = None,
    max_cost: CostOption = None,
    home: HomeOption = Path(),
    tracking_uri: TrackingOption = None,
) -> None:
    """Optimise a query generator for what experts accept and for likeness to their queries; promote only if better."""
    from judgec.cli.output import print_json
    from judgec.cli.probe.compiling import Request, run
    from judgec.errors import GateError

    report = run(
        Request(
            index=index,
            experts=experts,
            lm=lm,
            judge=judge,
            labels=labels,
            name=name,
            per_passage=per_passage,
            passages=passages,
            passage_size=passage_size,
            reflection_lm=reflection_lm,
            seed=seed,
            temperature=temperature,
            api_base=api_base,
            budget=budget,
            max_cost=max_cost,
            home=home,
            tracking_uri=tracking_uri,
            quiet=json,
        )
    )
    if json:
        print_json(report)
    if require_promotion and not report["promoted"]:
        raise GateError(f"--require-promotion: {report['reason']}.")
