"""Options of ``judgec.init``."""

from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated

from judgec.verbs.options.option import Option
from judgec.verbs.options.shared import (
    AcceptAt,
    Annotators,
    ApiBase,
    Best,
    CallCap,
    Columns,
    Grades,
    Judges,
    MaxCost,
    Missing,
    Orders,
    Repeats,
    Rounding,
    Task,
    Turn,
    UnusedTracking,
    WinnerWords,
)


@dataclass(frozen=True, kw_only=True)
class InitOptions:
    """Options of ``init``: what the user says about a label file; the rest is seen in it."""

    file: Annotated[
        str,
        Option(
            "Your labels: CSV, TSV, JSONL, Parquet, Excel, OpenDocument, a folder or hf:owner/name@split.",
            metavar="FILE",
            positional=True,
            python="str | Path",
            panel="What",
        ),
    ]
    task: Task = None
    columns: Columns = field(default_factory=dict)
    winner_words: WinnerWords = field(default_factory=dict)
    annotators: Annotators = ()
    missing: Missing = ()
    judges: Judges = field(default_factory=dict)
    orders: Orders = None
    best: Best = None
    grades: Grades = ()
    accept_at: AcceptAt = None
    turn: Turn = None
    round: Rounding = None
    repeats: Repeats = None
    name: Annotated[str | None, Option("Name of the judge; default: from the file.", panel="Output")] = None
    lm: Annotated[
        str, Option("The model that the judge will ask; without one (embedded) the evidence judges.", panel="Model")
    ] = "embedded"
    propose_lm: Annotated[
        str | None, Option("The model that proposes what the columns are, in any language; you confirm.", panel="Model")
    ] = None
    api_base: ApiBase = None
    budget: CallCap = None
    max_cost: MaxCost = None
    home: Annotated[
        Path, Option("Folder of the journal of the calls of propose_lm.", python_only=True, panel="Output")
    ] = Path()
    tracking_uri: UnusedTracking = None
    replace: Annotated[bool, Option("Write over a judgec.toml that is there.", panel="Output")] = False
