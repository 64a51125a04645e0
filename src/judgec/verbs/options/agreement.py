"""Options of ``judgec.agreement``."""

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from judgec.verbs.options.option import Option
from judgec.verbs.options.shared import Consensus, Epsilon, Home, LabelColumns, UnusedTracking

if TYPE_CHECKING:
    from judgec.verbs.frames import Source


@dataclass(frozen=True, kw_only=True)
class AgreementOptions(LabelColumns):
    """Options of ``agreement``: labels of people, and judges beside them."""

    file: Annotated[
        "Source",
        Option(
            "A table with people's labels and judges' verdicts; with --labels, recorded verdicts.",
            metavar="FILE",
            positional=True,
            panel="What",
            project="file",
        ),
    ]
    labels: Annotated[
        "Source | None",
        Option(
            "People's labels of the items that FILE has verdicts on; --judges are then names in FILE's column judge.",
            metavar="FILE",
            panel="What",
        ),
    ] = None
    score: Annotated[
        str | None, Option("The column of the judge's continuous score.", metavar="COLUMN", panel="What")
    ] = None
    cluster: Annotated[
        str | None, Option("The column that groups dependent rows. Default: the query.", metavar="COLUMN", panel="What")
    ] = None
    group: Annotated[
        str | None,
        Option("The column whose values are also measured apart, such as the subject area.", metavar="COLUMN"),
    ] = None
    confidence: Annotated[
        str | None,
        Option("The column of the confidence that the judge states, for the page.", metavar="COLUMN"),
    ] = None
    consensus: Consensus = "share"
    all: Annotated[bool, Option("Keep the rows that the judge has learned from (column learned).")] = False
    epsilon: Epsilon = 0.2
    home: Home = Path()
    tracking_uri: UnusedTracking = None
