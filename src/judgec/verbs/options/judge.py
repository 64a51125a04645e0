"""Options of ``judgec.judge_file``, and how judges are asked."""

import re
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Annotated

from judgec.verbs.options.option import Option
from judgec.verbs.options.shared import (
    BatchSpending,
    Columns,
    Home,
    JudgeName,
    OtherLm,
    TrackingUri,
    Turn,
)

WRITTEN = (".jsonl", ".csv", ".tsv", ".parquet", ".xlsx")


@dataclass(frozen=True, kw_only=True)
class Asking(BatchSpending):
    """Options of the model that a judge asks."""

    lm: OtherLm = None
    abstain_below: Annotated[
        float | None,
        Option(
            "Leave judgments of lower confidence to a human; 0 judges all. Default: as compiled.",
            metavar="CONFIDENCE",
        ),
    ] = None
    samples: Annotated[int, Option("Number of replies for an item, which are combined.", least=1, panel="Cost")] = 1
    temperature: Annotated[
        float | None,
        Option(
            "Default: the judge's own; 0.7 where that is 0 and there are several samples.",
            least=0,
            most=2,
            panel="Model",
        ),
    ] = None
    structured: Annotated[
        bool,
        Option("Ask for JSON under a schema in the first call, not only after an unreadable reply.", panel="Model"),
    ] = False
    engine: Annotated[
        str,
        Option(
            "Where the work is done: in this process, or by Ray.",
            metavar="local|ray",
            panel="Cost",
        ),
    ] = "local"
    ray_address: Annotated[str | None, Option("A running Ray cluster.", metavar="HOST:PORT", panel="Cost")] = None


@dataclass(frozen=True, kw_only=True)
class JudgeFileOptions(Asking):
    """Options of ``judge``: the items, the judge or the jury, and where the rows go."""

    file: Annotated[
        str,
        Option(
            "Items to judge, unlabelled: a table, OTLP traces, mlflow:EXPERIMENT, a folder or bucket of files.",
            positional=True,
            python="str | Path",
            panel="What",
            project="file",
        ),
    ]
    judge: Annotated[str | None, replace(JudgeName, project="judge")] = None
    jury: Annotated[
        tuple[str, ...],
        Option(
            "Several judges of one task and scale, in place of one.", metavar="A,B@3,...", commas=True, panel="What"
        ),
    ] = ()
    out: Annotated[
        Path,
        Option(
            "Where the judged rows go: .jsonl, .csv, .tsv, .parquet or .xlsx; default: STEM.judged beside FILE.",
            metavar="FILE",
            panel="Output",
        ),
    ] = Path()
    max_unscored: Annotated[
        float | None,
        Option(
            "Exit 1 when a larger share of what was asked failed; default: no limit.",
            metavar="SHARE",
            least=0,
            most=1,
            panel="Output",
        ),
    ] = None
    workers: Annotated[
        int | None,
        Option(
            "Number of parallel processes, for evidence without a model or for shards; default: one per processor.",
            least=1,
            panel="Cost",
        ),
    ] = None
    without: Annotated[
        tuple[str, ...],
        Option(
            "Judge items that lack inputs of the judge all the same: rows are marked, their confidence is empty.",
            metavar="reference,...",
            commas=True,
            panel="Output",
        ),
    ] = ()
    inputs: Annotated[bool, Option("Keep the columns of FILE beside the judgments.", off=True, panel="Output")] = True
    columns: Columns = field(default_factory=dict)
    turn: Turn = None
    home: Home = Path()
    allow_modified: Annotated[
        bool, Option("Read judges whose files were modified since they were compiled; reports say so.", panel="Output")
    ] = False
    tracking_uri: TrackingUri = None

    def __post_init__(self) -> None:
        """Name the file that is written, where nobody did."""
        if self.out == Path():
            object.__setattr__(self, "out", judged_beside(str(self.file)))


def judged_beside(file: str) -> Path:
    """``STEM.judged.SUFFIX`` beside a file, in its format where that can be written, else JSON lines."""
    path = Path(file.partition("#")[0] if not Path(file).exists() else file)
    if ":" in file[:4] or file.startswith("mlflow:"):  # of the Hub, of a tracking store
        path = Path(re.sub(r"[^A-Za-z0-9._-]+", "-", file.partition(":")[2]))
        return Path(f"{path}.judged.jsonl")
    return path.with_name(f"{path.stem}.judged{path.suffix.lower() if path.suffix.lower() in WRITTEN else '.jsonl'}")
