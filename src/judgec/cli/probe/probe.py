"""``judgec probe``."""

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import typer

from judgec.cli.options import (
    JsonOption,
    Places,
    SeedOption,
    Spending,
    TemperatureOption,
    UnprovenOption,
    command_of,
)


@dataclass(frozen=True, kw_only=True)
class Request(Spending, Places):
    """The command line of ``probe``, as typed."""

    scenarios: Annotated[
        tuple[str, ...],
        typer.Option("--scenarios", metavar="S1,S2|FILE|all", help="Ids, YAML files or folders; or all."),
    ] = ()
    indexes: Annotated[
        tuple[str, ...],
        typer.Option("--index", metavar="I", help="An index or documents; repeat for several data sets."),
    ] = ()
    systems: Annotated[
        tuple[str, ...],
        typer.Option("--system", metavar="NAME", help="http.yaml, python:module:function, rag-bm25; repeatable."),
    ] = ()
    n: Annotated[
        int | None, typer.Option("--n", min=1, help="Questions of each scenario; default: its own number.")
    ] = None
    out: Annotated[Path, typer.Option("--out", metavar="DIR", help="report.html, report.json, junit.xml, results.")] = (
        Path("probe")
    )
    questions: Annotated[
        str | None, typer.Option("--questions", metavar="FILE", help="Ask these instead of writing some.")
    ] = None
    max_failure: Annotated[
        tuple[str, ...], typer.Option("--max-failure", metavar="S4=0.3", help="Exit 1 unless shown; repeatable.")
    ] = ()
    compare: Annotated[
        tuple[str, str] | None,
        typer.Option("--compare", metavar="A B", help="Two probes' folders (DIR or DIR:SYSTEM)."),
    ] = None
    json: JsonOption = False
    lm: Annotated[str, typer.Option("--lm", help="Writes questions, judges, and answers for judgec's agents.")] = (
        "embedded"
    )
    seed: SeedOption = 0
    reliability: Annotated[str, typer.Option("--reliability", help="A reliability judge that filters, or none.")] = (
        "none"
    )
    k: Annotated[int, typer.Option("--k", min=1, help="Passages of judgec's agents.")] = 5
    agent_lm: Annotated[str | None, typer.Option("--agent-lm", help="Another model for judgec's agents.")] = None
    judge: Annotated[str | None, typer.Option("--judge", metavar="NAME", help="A judge of the four criteria.")] = None
    rejection_judge: Annotated[
        str | None, typer.Option("--rejection-judge", metavar="NAME", help="A judge of refusals.")
    ] = None
    unproven: UnprovenOption = False
    temperature: TemperatureOption = 0.7


@command_of(Request)
def probe(request: Request) -> None:
    """Put questions of known kinds to RAG systems: where they fail, how often, and which part of them does."""
    if request.compare is not None:
        from judgec.cli.probe.comparing import run_comparison

        run_comparison(*request.compare, seed=request.seed, json=request.json)
        return
    from judgec.cli.probe.probing import run

    run(request)
