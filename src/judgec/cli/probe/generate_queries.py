"""``judgec generate-queries``."""

from pathlib import Path
from typing import Annotated

import typer

from judgec.cli.options import ApiBaseOption, HomeOption, JsonOption

PASSAGES, MODELS = "Passages", "Models"

IndexOption = Annotated[str, typer.Option("--index", metavar="I|PATH", help="An index, a folder of documents, a file.")]
ExpertsOption = Annotated[
    str | None, typer.Option("--experts", metavar="FILE", help="Experts' queries (a column 'query'), as examples.")
]
LmOption = Annotated[str, typer.Option("--lm", metavar="A,B,...", help="The models that write: embedded, openai/...")]
PerPassageOption = Annotated[int, typer.Option("--per-passage", min=1, help="Most queries of a model from a passage.")]
SampleOption = Annotated[
    str | None, typer.Option("--sample", metavar="A=100,B=50", help="How many queries of each model; default: all.")
]
OutOption = Annotated[Path, typer.Option("--out", metavar="FILE", help="The queries, JSON lines.")]
ReferencesOption = Annotated[bool, typer.Option("--references", help="With a reference answer from the passage.")]
ReliabilityOption = Annotated[
    str,
    typer.Option("--reliability", metavar="NAME", help="What filters: a compiled judge, rules, or none."),
]
ProgramOption = Annotated[
    str | None, typer.Option("--generator", metavar="NAME", help="A generator from judgec compile-queries.")
]
PassagesOption = Annotated[
    int | None,
    typer.Option("--passages", min=1, help="Most passages; default: as many as needed.", rich_help_panel=PASSAGES),
]
SizeOption = Annotated[
    str, typer.Option("--passage-size", metavar="2000t", help="Longest passage.", rich_help_panel=PASSAGES)
]
SeedOption = Annotated[int, typer.Option("--seed", help="Of passages, examples and sample.", rich_help_panel=PASSAGES)]
TemperatureOption = Annotated[
    float, typer.Option("--temperature", min=0.0, max=2.0, help="Of the models.", rich_help_panel=MODELS)
]
BudgetOption = Annotated[
    int | None, typer.Option("--budget", metavar="CALLS", help="Most LM calls.", rich_help_panel=MODELS)
]
CostOption = Annotated[
    float | None, typer.Option("--max-cost", metavar="USD", help="Most dollars.", rich_help_panel=MODELS)
]


def generate_queries(
    *,
    index: IndexOption,
    experts: ExpertsOption = None,
    lm: LmOption = "embedded",
    per_passage: PerPassageOption = 10,
    sample: SampleOption = None,
    out: OutOption = Path("queries.jsonl"),
    references: ReferencesOption = False,
    reliability: ReliabilityOption = "rules",
    generator: ProgramOption = None,
    json: JsonOption = False,
    passages: PassagesOption = None,
    passage_size: SizeOption = "2000t",
    seed: SeedOption = 0,
    temperature: TemperatureOption = 0.7,
    api_base: ApiBaseOption = None,
    budget: BudgetOption = None,
    max_cost: CostOption = None,
    home: HomeOption = Path(),
) -> None:
    """Write test queries from documents, in the manner of the experts', with every query's passage, model and seed."""
    from judgec.cli.output import print_json
    from judgec.cli.probe.generating import Request, run

    report = run(
        Request(
            index=index,
            experts=experts,
            lms=lm,
            per_passage=per_passage,
            sample=sample,
            out=out,
            references=references,
            reliability=reliability,
            generator=generator,
            passages=passages,
            passage_size=passage_size,
            seed=seed,
            temperature=temperature,
            api_base=api_base,
            budget=budget,
            max_cost=max_cost,
            home=home,
            quiet=json,
        )
    )
    if json:
        print_json(report)
