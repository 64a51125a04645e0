"""The options ``--estimate`` and ``--labels`` of ``judgec judge``."""

from typing import Annotated

import typer

PANEL = "Corrected estimates"
EstimateOption = Annotated[
    str | None,
    typer.Option(
        "--estimate", metavar="accept_rate", help="The rate over all items, corrected by labels.", rich_help_panel=PANEL
    ),
]
EstimateLabelsOption = Annotated[
    str | None,
    typer.Option("--labels", metavar="FILE", help="A random sample of the items, labelled.", rich_help_panel=PANEL),
]
