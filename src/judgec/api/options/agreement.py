"""Options of ``judgec.agreement``."""

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from judgec.api.options.option import Option
from judgec.api.options.shared import AcceptAt, Annotators, Epsilon, Home, UnusedTracking

if TYPE_CHECKING:
    from judgec.api.frames import Source


@dataclass(frozen=True, kw_only=True)
class AgreementOptions:
    """Which columns of a table are compared."""

    file: Annotated[
        "Source",
        Option("A table with the experts' and a judge's grades.", metavar="FILE", positional=True, panel="What"),
    ]
    expert: Annotated[str, Option("The experts' grades.", metavar="COLUMN", panel="What")]
    judge: Annotated[str, Option("The judge's grades; empty is unscored.", metavar="COLUMN", panel="What")]
    score: Annotated[str | None, Option("The judge's continuous score.", metavar="COLUMN", panel="What")] = None
    cluster: Annotated[str | None, Option("What groups rows, such as the query.", metavar="COLUMN", panel="What")] = (
        None
    )
    accept_at: AcceptAt = None
    all: Annotated[bool, Option("Keep rows that the judge has learned from (learned is true there).")] = False
    annotators: Annotators = ()
    epsilon: Epsilon = 0.2
    home: Home = Path()
    tracking_uri: UnusedTracking = None
