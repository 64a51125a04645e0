"""``judgec judge``."""

from pathlib import Path
from typing import Annotated

import typer

from judgec.cli.options import ApiBaseOption, HomeOption, JsonOption, MapOption


def judge(
    file: Annotated[str, typer.Argument(help="Items to judge; no labels are needed.")],
    *,
    judge: Annotated[str, typer.Option("--judge", metavar="NAME[@VERSION]", help="@champion, @latest or a number.")],
    out: Annotated[Path, typer.Option("--out", metavar="OUT.jsonl", help="Where the judgments go.")],
    lm: Annotated[str | None, typer.Option("--lm", help="Another model than the judge was compiled for.")] = None,
    api_base: ApiBaseOption = None,
    rename: MapOption = None,
    budget: Annotated[int | None, typer.Option("--budget", metavar="CALLS", help="Most LM calls.")] = None,
    max_cost: Annotated[float | None, typer.Option("--max-cost", metavar="USD", help="Most dollars.")] = None,
    abstain_below: Annotated[
        float | None,
        typer.Option(
            "--abstain-below",
            metavar="CONFIDENCE",
            help="Leave less sure judgments to a human; default: as compiled. 0 judges all.",
        ),
    ] = None,
    in_flight: Annotated[int, typer.Option("--in-flight", min=1, help="Most calls at once.")] = 32,
    json: JsonOption = False,
    home: HomeOption = Path(),
) -> None:
    """Judge items with a compiled judge: one row an item, in the order of the file."""
    from judgec.cli.judge.judging import Request, run
    from judgec.cli.output import print_json

    counts = run(
        Request(
            file=file,
            judge=judge,
            out=out,
            lm=lm,
            api_base=api_base,
            rename=tuple(rename or ()),
            budget=budget,
            max_cost=max_cost,
            in_flight=in_flight,
            abstain_below=abstain_below,
            home=home,
            quiet=json,
        )
    )
    if json:
        print_json(counts)
