"""Options of ``judgec.compile_agent``."""

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Annotated

from judgec.verbs.options.option import Option
from judgec.verbs.options.shared import (
    AcceptAt,
    AgentShape,
    Annotators,
    Best,
    Columns,
    Grades,
    IndexName,
    Places,
    QueriesTable,
    ReflectionLm,
    Seed,
    Spending,
    Unproven,
)

if TYPE_CHECKING:
    from judgec.verbs.frames import Source
    from judgec.verbs.judge import Judge
    from judgec.verbs.labels import Labels


@dataclass(frozen=True, kw_only=True)
class CompileAgentOptions(AgentShape, Spending, Places):
    """Options that decide the compile of an agent."""

    agent: Annotated[str, Option("rag-bm25, rag-fusion-hybrid, ...", metavar="AGENT", positional=True, panel="What")]
    index: Annotated[str, IndexName]
    queries: Annotated["Source", QueriesTable]
    judge: Annotated[
        "Judge | str | None",
        Option("Maximize the score of this judge; it or --labels is needed.", metavar="NAME[@VERSION]", panel="What"),
    ] = None
    labels: Annotated[
        "Labels | Source | None",
        Option(
            "Answers that experts accepted: maximize the similarity to them, instead of a judge's score.",
            metavar="FILE",
            panel="What",
        ),
    ] = None
    unproven: Unproven = False
    name: Annotated[str | None, Option("Name of the compiled agent; default: the agent's.", panel="Output")] = None
    lm: Annotated[
        str,
        Option(
            "The agent's model: openai/gpt-4o-mini, ...; without one (embedded) settings are searched.", panel="Model"
        ),
    ] = "embedded"
    columns: Columns = field(default_factory=dict)
    annotators: Annotators = ()
    best: Best = None
    grades: Grades = ()
    accept_at: AcceptAt = None
    optimizer: Annotated[str, Option("auto, settings, labeled, bootstrap or gepa.")] = "auto"
    reflection_lm: ReflectionLm = None
    seed: Seed = 0
