"""``judgec compile-agent``."""

from dataclasses import dataclass
from typing import Annotated

import typer

from judgec.cli.options import (
    INDEX,
    QUERIES,
    AcceptAtOption,
    AgentShape,
    JsonOption,
    LmOption,
    MapOption,
    Places,
    ReflectionOption,
    RequireOption,
    SeedOption,
    Spending,
    UnprovenOption,
    command_of,
)


@dataclass(frozen=True, kw_only=True)
class Request(AgentShape, Spending, Places):
    """The command line of ``compile-agent``, as typed."""

    agent: Annotated[str, typer.Argument(metavar="AGENT", help="rag-bm25, rag-fusion-hybrid, ...")]
    index: Annotated[str, INDEX]
    queries: Annotated[str, QUERIES]
    judge: Annotated[
        str | None, typer.Option("--judge", metavar="NAME[@VERSION]", help="Compile for this judge's score.")
    ] = None
    labels: Annotated[
        str | None, typer.Option("--labels", metavar="FILE", help="Compile for answers that experts accepted.")
    ] = None
    report_judge: Annotated[
        str | None,
        typer.Option("--report-judge", metavar="NAME", help="Judges head to head; default: another champion."),
    ] = None
    unproven: UnprovenOption = False
    name: Annotated[str | None, typer.Option("--name", help="Name of the compiled agent; default: the agent's.")] = None
    lm: LmOption = "embedded"
    require_promotion: RequireOption = False
    quiet: JsonOption = False
    rename: MapOption = ()
    accept_at: AcceptAtOption = None
    optimizer: Annotated[str, typer.Option("--optimizer", help="auto, labeled, bootstrap or gepa.")] = "auto"
    reflection_lm: ReflectionOption = None
    seed: SeedOption = 0


@command_of(Request)
def compile_agent(request: Request) -> None:
    """Optimize an agent's prompts for a compiled judge, or for answers that experts accepted."""
    from judgec.cli.corpus.compiling import run
    from judgec.cli.output import print_json
    from judgec.errors import GateError

    report = run(request)
    if request.quiet:
        print_json(report)
    if request.require_promotion and not report["promoted"]:
        raise GateError(f"{request.name or request.agent}@{report['version']}: {report['reason']}")
