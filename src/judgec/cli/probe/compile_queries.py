"""``judgec compile-queries``."""

from dataclasses import dataclass
from typing import Annotated

import typer

from judgec.cli.options import (
    CorpusOption,
    JsonOption,
    LmOption,
    PassageSizeOption,
    PassagesOption,
    PerPassageOption,
    Places,
    ReflectionOption,
    RequireOption,
    SeedOption,
    Spending,
    TemperatureOption,
    command_of,
)


@dataclass(frozen=True, kw_only=True)
class Request(Spending, Places):
    """The command line of ``compile-queries``, as typed."""

    index: CorpusOption
    experts: Annotated[str, typer.Option("--experts", metavar="FILE", help="Experts' queries (a column 'query').")]
    lm: LmOption = "embedded"
    judge: Annotated[
        str, typer.Option("--judge", metavar="NAME", help="Who accepts: a compiled reliability judge, or rules.")
    ] = "rules"
    labels: Annotated[
        str | None,
        typer.Option("--labels", metavar="FILE", help="Experts' labels of pairs: compiled into the judge."),
    ] = None
    name: Annotated[str, typer.Option("--name", help="Name of the generator.")] = "queries"
    per_passage: PerPassageOption = 5
    require_promotion: RequireOption = False
    quiet: JsonOption = False
    passages: PassagesOption = None
    passage_size: PassageSizeOption = "2000t"
    reflection_lm: ReflectionOption = None
    seed: SeedOption = 0
    temperature: TemperatureOption = 0.7


@command_of(Request)
def compile_queries(request: Request) -> None:
    """Optimise a query generator for what experts accept and for likeness to their queries; promote only if better."""
    from judgec.cli.output import print_json
    from judgec.cli.probe.compiling import run
    from judgec.errors import GateError

    report = run(request)
    if request.quiet:
        print_json(report)
    if request.require_promotion and not report["promoted"]:
        raise GateError(f"--require-promotion: {report['reason']}.")
