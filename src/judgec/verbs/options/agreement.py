"""Options of ``judgec.agreement``."""

from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from judgec.verbs.options.option import Option
from judgec.verbs.options.shared import (
    Annotators,
    Columns,
    Epsilon,
    Home,
    LabelScale,
    Missing,
    Orders,
    Repeats,
    Rounding,
    Turn,
    UnusedTracking,
    WinnerWords,
)

if TYPE_CHECKING:
    from judgec.verbs.frames import Source

MOST_MEASURED = 20_000  # items; of more, verbs about labels name the command and do not measure a judge beside them


@dataclass(frozen=True, kw_only=True)
class AgreementOptions:
    """Options of ``agreement``: the columns that are compared."""

    file: Annotated[
        "Source",
        Option(
            "A table with the experts' and a judge's grades; with --labels recorded verdicts.",
            metavar="FILE",
            positional=True,
            panel="What",
            project="file",
        ),
    ]
    expert: Annotated[
        tuple[str, ...],
        Option(
            "The column of the experts' grades; repeat for several; mode.*: all modes. Default: the --annotators.",
            metavar="COLUMN",
            python="str | Sequence[str] | None",
            panel="What",
        ),
    ] = ()
    judge: Annotated[
        tuple[str, ...],
        Option(
            "The column of the judge's grades or score; repeat for several; COLUMN#range=0..1 gives its range.",
            metavar="COLUMN",
            python="str | Sequence[str] | None",
            panel="What",
            project="judges",
        ),
    ] = ()
    labels: Annotated[
        "Source | None", Option("The experts' labels of items that FILE has verdicts on.", metavar="FILE", panel="What")
    ] = None
    judges: Annotated[
        str | None, Option("Takes only the recorded judges whose names match.", metavar="GLOB", panel="What")
    ] = None
    score: Annotated[
        str | None, Option("The column of the judge's continuous score.", metavar="COLUMN", panel="What")
    ] = None
    cluster: Annotated[
        str | None, Option("The column that groups dependent rows, such as the query.", metavar="COLUMN", panel="What")
    ] = None
    group: Annotated[
        str | None,
        Option("The column whose values are also measured apart, such as the subject area.", metavar="COLUMN"),
    ] = None
    confidence: Annotated[
        str | None,
        Option("The column of the confidence that the judge states, for the page.", metavar="COLUMN"),
    ] = None
    accept_at: Annotated[
        str | None,
        Option("The lowest grade that counts as accepted.", metavar="GRADE", panel="What", project="accept_at"),
    ] = None
    reversed: Annotated[bool, Option("Lower numbers of the judge mean better grades.")] = False
    round: Rounding = None
    repeats: Repeats = None
    columns: Columns = field(default_factory=dict)
    scale: LabelScale = None
    all: Annotated[bool, Option("Keep the rows that the judge has learned from (column learned).")] = False
    annotators: Annotators = ()
    turn: Turn = None
    orders: Orders = None
    winner_words: WinnerWords = field(default_factory=dict)
    missing: Missing = ()
    epsilon: Epsilon = 0.2
    home: Home = Path()
    tracking_uri: UnusedTracking = None
