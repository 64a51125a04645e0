"""Options that several commands share, each defined once."""

from pathlib import Path
from typing import Annotated

import typer

JsonOption = Annotated[bool, typer.Option("--json", help="Print one JSON object on stdout.")]
HomeOption = Annotated[
    Path,
    typer.Option("--home", help="Folder that holds programs/, mlruns/ and .judgec/.", rich_help_panel="Places"),
]
MapOption = Annotated[
    list[str] | None,
    typer.Option("--map", metavar="THEIRS=OURS", help="Rename a column; repeat for several."),
]
AnnotatorsOption = Annotated[
    str | None,
    typer.Option("--annotators", metavar="A,B,...", help="Columns that hold one rater's labels each."),
]
AcceptAtOption = Annotated[
    str | None, typer.Option("--accept-at", metavar="GRADE", help="The lowest grade that counts as accepted.")
]
TaskOption = Annotated[
    str | None,
    typer.Option("--task", help="answer, grade, preference, rejection, relevance, reliability; default: by columns."),
]
ApiBaseOption = Annotated[
    str | None,
    typer.Option("--api-base", metavar="URL", help="An OpenAI-compatible endpoint (vLLM, a gateway)."),
]
TrackingOption = Annotated[
    str | None,
    typer.Option("--tracking-uri", metavar="URI", help="Another MLflow store.", rich_help_panel="Places"),
]
