"""``judgec audit``."""

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import typer

from judgec.cli.options import (
    JUDGE,
    HeldOutLabels,
    JsonOption,
    OtherLmOption,
    SeedOption,
    Spending,
    command_of,
)


@dataclass(frozen=True, kw_only=True)
class Request(Spending, HeldOutLabels):
    """The command line of ``audit``, as typed."""

    judge: Annotated[str, JUDGE]
    only: Annotated[str | None, typer.Option("--only", metavar="NAME,...", help="Some audits; default: all.")] = None
    items: Annotated[int, typer.Option("--items", min=1, metavar="N", help="Most items that are changed.")] = 60
    require_pass: Annotated[bool, typer.Option("--require-pass", help="Exit 1 unless all audits pass.")] = False
    anchor: Annotated[
        Path | None,
        typer.Option(
            "--anchor",
            metavar="FILE",
            help="Drift: a new file keeps items and verdicts; one that exists is compared, exit 1 beyond a bound.",
        ),
    ] = None
    max_flips: Annotated[float, typer.Option("--max-flips", min=0, max=1, help="Drift: share of changed verdicts.")] = (
        0.10
    )
    max_shift: Annotated[float, typer.Option("--max-shift", min=0, max=1, help="Drift: part of the scale.")] = 0.05
    lm: OtherLmOption = None
    seed: SeedOption = 0
    quiet: JsonOption = False


@command_of(Request)
def audit(request: Request) -> None:
    """Try to move a judge's verdicts by what must not count, and see whether it looks at what must."""
    from judgec.cli.output import print_json
    from judgec.cli.trust.auditing import run
    from judgec.errors import GateError

    found = run(request)
    if request.quiet:
        print_json(found.report)
    if found.refused and (request.require_pass or request.anchor is not None):
        raise GateError(found.refused)
