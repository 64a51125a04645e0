"""Options of ``judgec.compile_judge``."""

from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Literal

from judgec.verbs.options.option import Option
from judgec.verbs.options.shared import (
    BatchSpending,
    Consensus,
    Factors,
    HasCitations,
    LabelColumns,
    LmOrRecorded,
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
    """Options that decide a compile."""

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
    objective: Annotated[
        str | None,
        Option("tau_b, accept, kappa or qwk, or a sum such as tau_b+accept; of numbers also spearman and mae."),
    ] = None
    task: Task = None
    reflection_lm: ReflectionLm = None
    adapter: Annotated[
        Literal["chat", "json", "terse"],
        Option("The form of the prompt: DSPy's chat or JSON, or a terse one with fewer tokens.", panel="Model"),
    ] = "chat"
    reasoning_effort: Annotated[
        Literal["low", "medium", "high"] | None,
        Option("How long the model thinks, where it takes this.", panel="Model"),
    ] = None
    optimizer: Annotated[
        str,
        Option(
            "auto, labeled, mipro, gepa, or none: the prompt as it is. With several candidates, their prompts are "
            "rewritten only if you name labeled, mipro or gepa, or --reflection-lm."
        ),
    ] = "auto"
    seed: Seed = 0
    consensus: Consensus = "share"
    evidence: Annotated[bool, Option("Use evidence features.", off=True)] = True
    abstain_below: Annotated[
        float | None, Option("Leave judgments of lower confidence to a human.", metavar="CONFIDENCE")
    ] = None
    folds: Annotated[
        int | None,
        Option(
            "Test every query once, in N folds; 1: a single split. Default: 5 below 40 queries, and below 150 where "
            "verdicts are recorded.",
            metavar="N",
        ),
    ] = None
    assessment: Annotated[
        str | None, Option("The human feedback to read from mlflow:EXPERIMENT.", metavar="NAME", panel="What")
    ] = None
    log_traces: Annotated[
        bool, Option("Also log the test items on which judge and experts differ to MLflow as traces.", panel="Output")
    ] = False
    verdicts: Annotated[
        "Source | None",
        Option("A table of recorded verdicts: item_id, judge, grade.", python_only=True, panel="What"),
    ] = None
    baseline: Annotated[
        str | None, Option("The recorded judge or juror to compare with; default: the median one.", metavar="JUDGE")
    ] = None
    panel: Annotated[
        str | None,
        Option(
            "Combine recorded judges or jurors, if together they beat the best one: all, the smallest sufficient "
            "number (auto, the default), or at most N; best: always a single judge.",
            metavar="auto|all|best|N",
            python="str | int | None",
        ),
    ] = None
    cascade: Annotated[
        tuple[str, ...],
        Option(
            "Two judges, or evidence and a judge: judgec asks the second only where the first is unsure.",
            metavar="CHEAP,DEAR",
            commas=True,
        ),
    ] = ()
    candidates: Annotated[
        tuple[str, ...],
        Option(
            "A candidate for the judge; repeat for several: a model, prompt:FILE[@MODEL], recorded:FILE[#GLOB], "
            "python:module:function, a compiled judge, evidence. One model's prompt is rewritten, several candidates "
            "are asked as they are.",
            flag="--candidate",
            metavar="[NAME=]SPEC",
            python="Sequence[str | Prompt | Recorded | Function | Evidence]",
            panel="What",
        ),
    ] = ()
    combine: Annotated[
        str | None,
        Option(
            "How several candidates are combined; a pool ships where it agrees better out of fold. Default: auto.",
            metavar="best|pool[:N]|cascade[:FIRST,THEN]|auto",
        ),
    ] = None
    prompts: Annotated[
        int | None,
        Option(
            "Ask the model with N different prompts of the task; as few as are enough become the judge.",
            metavar="N",
            least=2,
            most=8,
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
    instructions: Annotated[
        tuple[str, ...],
        Option("A prompt of your own that competes; the rubric is added to it. Repeat for several.", metavar="FILE"),
    ] = ()
    factors: Factors = ""
    has_citations: HasCitations = False
