"""Options of ``judgec.rubric``."""

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

from judgec.verbs.options.option import Option
from judgec.verbs.options.shared import Home, UnusedTracking

ALL = "all"


@dataclass(frozen=True, kw_only=True)
class RubricOptions:
    """Options of ``rubric``: the judge whose criteria are looked at, and the lines that a person takes over."""

    judge: Annotated[
        str,
        Option(
            "A compiled judge: @champion, @latest or a number.",
            metavar="NAME[@VERSION]",
            positional=True,
            panel="What",
        ),
    ]
    labels: Annotated[
        str | None,
        Option(
            "The label file that the judge was compiled on, if it was moved; its datasheet lies beside it.",
            metavar="FILE",
            panel="What",
        ),
    ] = None
    accept: Annotated[
        tuple[str, ...],
        Option("Numbers of the lines to write into the datasheet, or all.", metavar="N,N", commas=True),
    ] = ()
    edit: Annotated[tuple[str, ...], Option("Accept a line in your own words.", metavar="N=TEXT")] = ()
    home: Home = Path()
    tracking_uri: UnusedTracking = None
