"""Options of what is done with a label file: check it, grade it, choose what to label next."""

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Literal

from judgec.verbs.options.option import Option
from judgec.verbs.options.shared import LabelColumns, Places, Seed, Spending, Task


@dataclass(frozen=True, kw_only=True)
class LabelsOptions(LabelColumns, Spending, Places):
    """A label file, how it is read, and what is wanted of it."""

    file: Annotated[
        str,
        Option(
            "CSV, TSV, JSONL, Parquet, Excel, OpenDocument, an Arrow folder or hf:owner/name@split.",
            metavar="FILE",
            positional=True,
            panel="What",
            project="labels",
        ),
    ]
    task: Task = None
    name: Annotated[
        str | None,
        Option(
            "The judge family whose split is shown, or the score's name; default: the file's.",
            panel="What",
            project="name",
        ),
    ] = None
    next: Annotated[int | None, Option("Choose N unlabelled items to grade.", metavar="N", least=1, panel="What")] = (
        None
    )
    judge: Annotated[
        str | None, Option("Whose doubts to go by with --next.", metavar="NAME[@VERSION]", panel="What")
    ] = None
    out: Annotated[Path, Option("Where the items of --next go.", metavar="OUT.csv", panel="Output")] = Path("next.csv")
    seed: Seed = 0
    export: Annotated[
        str | None,
        Option(
            "A sheet for each annotator, a review queue in MLflow, or the scores of FILE for the tool they came from.",
            metavar="OUT.csv|OUT.xlsx|mlflow:EXPERIMENT|TOOL:OUT.json",
            panel="Output",
        ),
    ] = None
    peers: Annotated[
        Path | None,
        Option(
            "Write FILE anew with a column of what other systems answered to the same query.",
            metavar="OUT.jsonl",
            panel="Output",
        ),
    ] = None
    import_: Annotated[
        str | None,
        Option(
            "Put the labels that came back into FILE: of a sheet (.csv, .xlsx) or mlflow:EXPERIMENT; of TOOL:FILE "
            "make a new one: langfuse, langsmith, phoenix, opik, label-studio, argilla, promptfoo, other.",
            flag="--import",
            metavar="SOURCE",
            panel="What",
        ),
    ] = None
    as_: Annotated[
        Literal["labels", "verdicts"] | None,
        Option("What scores of TOOL:FILE are that do not say who gave them.", flag="--as", panel="What"),
    ] = None
