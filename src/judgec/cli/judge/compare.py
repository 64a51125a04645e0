"""``judgec compare``."""

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import typer

from judgec.cli.options import HeldOutLabels, JsonOption, Spending, TaskOption, command_of


@dataclass(frozen=True, kw_only=True)
class Request(Spending, HeldOutLabels):
    """The command line of ``compare``, as typed."""

    a: Annotated[str, typer.Argument(metavar="A", help="NAME[@VERSION]: @champion, @latest or a number.")]
    b: Annotated[str, typer.Argument(metavar="B", help="The other judge.")]
    out: Annotated[
        Path | None, typer.Option("--out", metavar="OUT.jsonl", help="Where the items go on which they differ.")
    ] = None
    task: TaskOption = None
    quiet: JsonOption = False


@command_of(Request)
def compare(request: Request) -> None:
    """Compare two judges on items that neither was compiled on: paired differences, and where they differ."""
    from judgec.cli.judge.comparing import run
    from judgec.cli.output import print_json

    report = run(request)
    if request.quiet:
        print_json(report)
