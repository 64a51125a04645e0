"""``judgec judge``."""

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import typer

from judgec.cli.options import (
    JUDGE,
    AnnotatorsOption,
    HomeOption,
    JsonOption,
    MapOption,
    OtherLmOption,
    Spending,
    command_of,
)
from judgec.errors import UserError


@dataclass(frozen=True, kw_only=True)
class Request(Spending):
    """The command line of ``judge``, as typed; either ``judge`` or ``jury`` is given."""

    file: Annotated[str, typer.Argument(help="Items to judge; no labels are needed.")]
    judge: Annotated[str | None, JUDGE] = None
    jury: Annotated[
        str | None, typer.Option("--jury", metavar="A,B@3,...", help="Several judges of one task and scale instead.")
    ] = None
    out: Annotated[
        Path,
        typer.Option(
            "--out",
            metavar="OUT.jsonl|.csv|.tsv|.parquet|.xlsx",
            help="Where the rows of FILE go, each with its judgment.",
        ),
    ]
    inputs: Annotated[
        bool, typer.Option("--inputs/--no-inputs", help="Keep the columns of FILE beside the judgments.")
    ] = True
    lm: OtherLmOption = None
    rename: MapOption = ()
    abstain_below: Annotated[
        float | None,
        typer.Option(
            "--abstain-below",
            metavar="CONFIDENCE",
            help="Leave less sure judgments to a human; default: as compiled. 0 judges all.",
        ),
    ] = None
    samples: Annotated[int, typer.Option("--samples", min=1, help="Replies an item, combined.")] = 1
    temperature: Annotated[
        float | None,
        typer.Option(
            "--temperature",
            min=0,
            max=2,
            help="Default: the judge's own; 0.7 where that is 0 and there are several samples.",
        ),
    ] = None
    structured: Annotated[
        bool,
        typer.Option(
            "--structured", help="Ask for JSON under a schema at once, not only where a reply could not be read."
        ),
    ] = False
    in_flight: Annotated[
        int | None,
        typer.Option("--in-flight", min=1, help="Most calls at once; default: 32, with --engine ray 256."),
    ] = None
    engine: Annotated[
        str, typer.Option("--engine", metavar="local|ray", help="Who makes the calls: this process, or Ray.")
    ] = "local"
    ray_address: Annotated[
        str | None, typer.Option("--ray-address", metavar="HOST:PORT", help="A running Ray cluster.")
    ] = None
    estimate: Annotated[
        str | None,
        typer.Option("--estimate", metavar="accept_rate", help="The rate over all items, corrected by labels."),
    ] = None
    labels: Annotated[
        str | None, typer.Option("--labels", metavar="FILE", help="A random sample of the items, labelled.")
    ] = None
    annotators: AnnotatorsOption = None
    quiet: JsonOption = False
    home: HomeOption = Path()

    @property
    def jurors(self) -> tuple[str, ...]:
        """The names in ``--jury``."""
        return tuple(name.strip() for name in (self.jury or "").split(",") if name.strip())


@command_of(Request)
def judge(request: Request) -> None:
    """Judge items with a compiled judge, or with several: the rows of FILE in their order, each with its judgment."""
    from judgec.cli.judge.judging import run
    from judgec.cli.output import print_json
    from judgec.cli.trust.estimating import prepared

    if bool(request.judge) == bool(request.jurors):
        raise UserError("judgec judge: one of --judge NAME and --jury A,B,... is needed, not both. Give one of them.")
    estimated = prepared(request)
    counts = run(request)
    if estimated is not None:
        estimated.add_to(counts)
    if request.quiet:
        print_json(counts)
    if estimated is not None:
        estimated.require()
