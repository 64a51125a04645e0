"""``judgec generate-queries``."""

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import typer

from judgec.cli.options import (
    CorpusOption,
    HomeOption,
    JsonOption,
    PassageSizeOption,
    PassagesOption,
    PerPassageOption,
    SeedOption,
    Spending,
    TemperatureOption,
    command_of,
)


@dataclass(frozen=True, kw_only=True)
class Request(Spending):
    """The command line of ``generate-queries``, as typed."""

    index: CorpusOption
    experts: Annotated[
        str | None, typer.Option("--experts", metavar="FILE", help="Experts' queries (a column 'query'), as examples.")
    ] = None
    lms: Annotated[str, typer.Option("--lm", metavar="A,B,...", help="The models that write: embedded, openai/...")] = (
        "embedded"
    )
    per_passage: PerPassageOption = 10
    sample: Annotated[
        str | None, typer.Option("--sample", metavar="A=100,B=50", help="How many queries of each model; default: all.")
    ] = None
    out: Annotated[Path, typer.Option("--out", metavar="FILE", help="The queries, JSON lines.")] = Path("queries.jsonl")
    references: Annotated[bool, typer.Option("--references", help="With a reference answer from the passage.")] = False
    reliability: Annotated[
        str, typer.Option("--reliability", metavar="NAME", help="What filters: a compiled judge, rules, or none.")
    ] = "rules"
    generator: Annotated[
        str | None, typer.Option("--generator", metavar="NAME", help="A generator from judgec compile-queries.")
    ] = None
    quiet: JsonOption = False
    passages: PassagesOption = None
    passage_size: PassageSizeOption = "2000t"
    seed: SeedOption = 0
    temperature: TemperatureOption = 0.7
    home: HomeOption = Path()


@command_of(Request)
def generate_queries(request: Request) -> None:
    """Write test queries from documents, in the manner of the experts', with every query's passage, model and seed."""
    from judgec.cli.output import print_json
    from judgec.cli.probe.generating import run

    report = run(request)
    if request.quiet:
        print_json(report)
