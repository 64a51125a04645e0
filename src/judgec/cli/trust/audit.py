"""``judgec audit``."""

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
    TrackingOption,
)

ANCHOR_PANEL = "Drift"


JudgeOption = Annotated[str, typer.Option("--judge", metavar="NAME[@VERSION]", help="@champion, @latest or a number.")]
LabelsOption = Annotated[
    str | None, typer.Option("--labels", metavar="FILE", help="Labelled items; default: the judge's own test items.")
]
OnlyOption = Annotated[str | None, typer.Option("--only", metavar="NAME,...", help="Some audits; default: all.")]
ItemsOption = Annotated[int, typer.Option("--items", min=1, metavar="N", help="Most items that are changed.")]
RequireOption = Annotated[bool, typer.Option("--require-pass", help="Exit 1 when an audit fails.")]
AnchorOption = Annotated[
    Path | None,
    typer.Option(
        "--anchor",
        metavar="FILE",
        help="Freeze items and replies there; where the file exists, compare and exit 1 beyond a bound.",
        rich_help_panel=ANCHOR_PANEL,
    ),
]
FlipsOption = Annotated[
    float, typer.Option("--max-flips", min=0, max=1, help="Share of changed verdicts.", rich_help_panel=ANCHOR_PANEL)
]
ShiftOption = Annotated[
    float, typer.Option("--max-shift", min=0, max=1, help="Part of the scale.", rich_help_panel=ANCHOR_PANEL)
]


def audit(
    judge: JudgeOption,
    *,
    labels: LabelsOption = None,
    only: OnlyOption = None,
    items: ItemsOption = 60,
    require_pass: RequireOption = False,
    anchor: AnchorOption = None,
    max_flips: FlipsOption = 0.10,
    max_shift: ShiftOption = 0.05,
    lm: Annotated[str | None, typer.Option("--lm", help="Another model than the judge was compiled for.")] = None,
    api_base: ApiBaseOption = None,
    budget: Annotated[int | None, typer.Option("--budget", min=1, metavar="CALLS", help="Most LM calls.")] = None,
    max_cost: Annotated[float | None, typer.Option("--max-cost", metavar="USD", help="Most dollars.")] = None,
    rename: MapOption = None,
    annotators: AnnotatorsOption = None,
    accept_at: AcceptAtOption = None,
    seed: Annotated[int, typer.Option("--seed", help="Chooses items and edits.")] = 0,
    json: JsonOption = False,
    home: HomeOption = Path(),
    tracking_uri: TrackingOption = None,
) -> None:
    """Try to move a judge's verdicts by what must not count, and see whether it looks at what must."""
    from judgec.cli.output import print_json
    from judgec.cli.trust.auditing import Request, run
    from judgec.errors import GateError

    found = run(
        Request(
            judge=judge,
            labels=labels,
            only=tuple(name.strip() for name in only.split(",") if name.strip()) if only else (),
            items=items,
            anchor=anchor,
            max_flips=max_flips,
            max_shift=max_shift,
            lm=lm,
            api_base=api_base,
            budget=budget,
            max_cost=max_cost,
            rename=tuple(rename or ()),
            annotators=annotators,
            accept_at=accept_at,
            seed=seed,
            home=home,
            tracking_uri=tracking_uri,
            quiet=json,
        )
    )
    if json:
        print_json(found.report)
    if found.refused and (require_pass or anchor is not None):
        raise GateError(found.refused)
