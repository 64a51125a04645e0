"""Options of ``judgec.compile_judge``."""

from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Literal

from judgec.verbs.options.option import Option
from judgec.verbs.options.shared import (
    BatchSpending,
    Factors,
    HasCitations,
    LabelColumns,
    LmOrRecorded,
    Orders,
    Places,
    ReflectionLm,
    Seed,
    Task,
)

if TYPE_CHECKING:
    from judgec.verbs.frames import Source
    from judgec.verbs.labels import Labels


@dataclass(frozen=True, kw_only=True)
class CompileJudgeOptions(BatchSpending, LabelColumns, Places):
    """What decides a compile."""

    labels: Annotated[
        "Labels | Source | None",
        Option(
            "Expert labels: CSV, Excel, JSONL, Parquet, ..., a folder, hf:owner/name, mlflow:EXPERIMENT.",
            metavar="FILE",
            positional=True,
            panel="What",
            project="labels",
        ),
    ] = None
    lm: LmOrRecorded = "embedded"
    name: Annotated[
        str | None, Option("Name of the judge; default: from the file.", panel="Output", project="name")
    ] = None
    objective: Annotated[str | None, Option("tau_b, accept, kappa or qwk, or a sum such as tau_b+accept.")] = None
    task: Task = None
    reflection_lm: ReflectionLm = None
    optimizer: Annotated[str, Option("auto, labeled, bootstrap, mipro, gepa, or a plugin's.")] = "auto"
    seed: Seed = 0
    evidence: Annotated[bool, Option("Use evidence features.", off=True)] = True
    abstain_below: Annotated[float | None, Option("Leave less sure judgments to a human.", metavar="CONFIDENCE")] = None
    promise: Annotated[
        float | None,
        Option("Find the confidence that promises this agreement; sets a fifth of train aside.", metavar="AGREEMENT"),
    ] = None
    risk: Annotated[float, Option("Chance that the promise may be wrong.")] = 0.1
    learning_curve: Annotated[bool, Option("Measure agreement for fewer labels too.")] = False
    folds: Annotated[
        int | None, Option("Test every query once, in N folds; 1: a single split. Default: 5 below 40.", metavar="N")
    ] = None
    assessment: Annotated[
        str | None, Option("The human feedback to read from mlflow:EXPERIMENT.", metavar="NAME", panel="What")
    ] = None
    consensus: Annotated[
        Literal["median", "dawid-skene", "soft"],
        Option("What is learned where annotators differ; tests keep the median."),
    ] = "median"
    log_traces: Annotated[
        bool, Option("Log test items on which judge and experts differ to MLflow as traces, too.", panel="Output")
    ] = False
    verdicts: Annotated[
        tuple[str, ...],
        Option(
            "Columns of FILE that hold one judge's verdicts each; in Python a DataFrame of verdicts, too.",
            metavar="COL,COL",
            commas=True,
            python="Sequence[str] | Source",
            panel="What",
        ),
    ] = ()
    judges: Annotated[
        str | None, Option("Only the recorded judges whose names match.", metavar="GLOB", panel="What")
    ] = None
    orders: Orders = None
    baseline: Annotated[
        str | None, Option("The recorded judge or juror to compare with; default: the median one.", metavar="JUDGE")
    ] = None
    panel: Annotated[
        str | None,
        Option(
            "Several recorded judges or jurors together, where they beat the best one: all, as few as are enough "
            "(auto), or the best N at most.",
            metavar="all|auto|N",
            python="str | int | None",
        ),
    ] = None
    cascade: Annotated[
        tuple[str, ...],
        Option(
            "Two recorded judges or jurors, or evidence and one: the second is asked where it pays; ships as promised.",
            metavar="CHEAP,DEAR",
            commas=True,
        ),
    ] = ()
    candidates: Annotated[
        tuple[str, ...],
        Option(
            "What may become the judge; repeat for several: a model, recorded:FILE[#GLOB], python:module:function, a "
            "compiled judge, evidence. One model's prompt is rewritten, several candidates are asked as they are.",
            flag="--candidate",
            metavar="[NAME=]SPEC",
            python="Sequence[str | Prompt | Recorded | Function | Evidence]",
            panel="What",
        ),
    ] = ()
    combine: Annotated[
        str | None,
        Option(
            "What becomes of several candidates; a pool or cascade ships where it beats the best one. Default: best.",
            metavar="best|pool[:N]|cascade[:FIRST,THEN]|auto",
        ),
    ] = None
    jury: Annotated[
        tuple[str, ...],
        Option(
            "Compiled judges, each asked with its own prompt and model: the best one ships, or with --panel or "
            "--cascade several.",
            metavar="NAME,NAME",
            commas=True,
        ),
    ] = ()
    start: Annotated[
        str | None,
        Option(
            "A compiled judge whose prompt another model, --lm, is asked with; it may lose --margin.",
            flag="--from",
            metavar="NAME[@VERSION]",
            panel="What",
        ),
    ] = None
    margin: Annotated[
        float | None,
        Option("With --from: a loss of the objective that counts as not worse; default .02.", least=0, most=1),
    ] = None
    instructions: Annotated[
        tuple[str, ...],
        Option("A prompt of yours that competes, the rubric is added; repeat for several.", metavar="FILE"),
    ] = ()
    factors: Factors = ""
    has_citations: HasCitations = False
