"""Options of what is done with a label file: check it, grade it, choose what to label next."""

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Literal, TypeAlias

from judgec.verbs.options.option import Option
from judgec.verbs.options.shared import Consensus, LabelColumns, OtherLm, Places, Seed, Spending, Task

File: TypeAlias = Annotated[
    str,
    Option(
        "CSV, TSV, JSONL, Parquet, Excel, OpenDocument, an Arrow folder or hf:owner/name@split.",
        metavar="FILE",
        positional=True,
        panel="What",
        project="labels",
    ),
]
Given: TypeAlias = Annotated[
    str,
    Option("The label file.", metavar="FILE", positional=True, needed=True, panel="What", project="file"),
]
"""The same where a second word follows: it is typed always."""
OfJudge: TypeAlias = Annotated[
    str | None, Option("A judge whose scale the sheets have.", metavar="NAME[@VERSION]", panel="What")
]


@dataclass(frozen=True, kw_only=True)
class LabelsOptions(LabelColumns, Places):
    """A label file, and how it is read."""

    file: File
    task: Task = None
    name: Annotated[
        str | None,
        Option(
            "The judge family whose split is shown; default: the file's.",
            panel="What",
            project="name",
        ),
    ] = None
    pool: Annotated[
        tuple[str, ...],
        Option(
            "Also test pools of agents: rag=rag-*,fusion=rag-fusion-*.",
            metavar="NAME=PATTERN,...",
            commas=True,
        ),
    ] = ()
    consensus: Consensus = "share"


@dataclass(frozen=True, kw_only=True)
class ReviewOptions(LabelColumns, Places):
    """A label file that is graded on a page."""

    file: File
    task: Task = None
    judge: OfJudge = None


@dataclass(frozen=True, kw_only=True)
class LabelExportOptions(LabelColumns, Places):
    """A label file that goes out to be graded."""

    file: Given
    export: Annotated[
        str,
        Option(
            "A sheet for each annotator (.csv, .xlsx).",
            metavar="TO",
            positional=True,
            panel="What",
        ),
    ]
    task: Task = None
    judge: OfJudge = None


@dataclass(frozen=True, kw_only=True)
class LabelImportOptions(LabelColumns, Places):
    """Labels that come back into a label file, or make a new one."""

    file: Given
    import_: Annotated[
        str,
        Option(
            "A sheet (.csv, .xlsx): into FILE; TOOL:FILE: a new FILE. Tools: langfuse, langsmith, "
            "phoenix, opik, label-studio, argilla, promptfoo, other.",
            metavar="SOURCE",
            positional=True,
            panel="What",
        ),
    ]
    task: Task = None
    judge: OfJudge = None
    as_: Annotated[
        Literal["labels", "verdicts"] | None,
        Option(
            "Read scores of TOOL:FILE that name no author as labels of people, or as verdicts of a judge.",
            flag="--as",
            panel="What",
        ),
    ] = None


@dataclass(frozen=True, kw_only=True)
class NextOptions(LabelColumns, Spending, Places):
    """Unlabelled items of which some are chosen to be graded."""

    file: Given
    next: Annotated[int, Option("How many.", metavar="N", positional=True, least=1, panel="What")]
    judge: Annotated[
        str | None,
        Option(
            "The judge that picks the items it is unsure of; zero-shot[:TASK] needs no labels.",
            metavar="NAME[@VERSION]",
            panel="What",
        ),
    ] = None
    for_: Annotated[
        Literal["systems"] | None,
        Option(
            "Tell systems apart: whole queries at random, of those that judgec systems does not tell apart.",
            flag="--for",
            panel="What",
        ),
    ] = None
    lm: OtherLm = None
    out: Annotated[Path, Option("Where the chosen items go.", metavar="OUT.csv", panel="Output")] = Path("next.csv")
    seed: Seed = 0
