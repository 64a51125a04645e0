"""``judgec compare``."""

from pathlib import Path
from typing import Annotated

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


def compare(
    a: Annotated[str, typer.Argument(metavar="A", help="NAME[@VERSION]: @champion, @latest or a number.")],
    b: Annotated[str, typer.Argument(metavar="B", help="The other judge.")],
    *,
    labels: Annotated[
        str | None,
        typer.Option("--labels", metavar="FILE", help="Labels to compare on; default: the test items of both."),
    ] = None,
    out: Annotated[
        Path | None, typer.Option("--out", metavar="OUT.jsonl", help="Where the items go on which they differ.")
    ] = None,
    api_base: ApiBaseOption = None,
    budget: Annotated[
        int | None, typer.Option("--budget", min=1, metavar="CALLS", help="Most LM calls, of both judges together.")
    ] = None,
    max_cost: Annotated[
        float | None, typer.Option("--max-cost", min=0, metavar="USD", help="Most dollars, of both judges together.")
    ] = None,
    task: TaskOption = None,
    rename: MapOption = None,
    annotators: AnnotatorsOption = None,
    accept_at: AcceptAtOption = None,
    json: JsonOption = False,
    home: HomeOption = Path(),
    tracking_uri: TrackingOption = None,
) -> None:
    """Compare two judges on items that neither was compiled on: paired differences, and where they differ."""
    from judgec.cli.judge.comparing import Request, run
    from judgec.cli.output import print_json

    report = run(
        Request(
            a=a,
            b=b,
            labels=labels,
            out=out,
            api_base=api_base,
            budget=budget,
            max_cost=max_cost,
            task=task,
            rename=tuple(rename or ()),
            annotators=annotators,
            accept_at=accept_at,
            home=home,
            tracking_uri=tracking_uri,
            quiet=json,
        )
    )
    if json:
        print_json(report)
