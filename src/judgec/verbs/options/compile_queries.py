"""Options of ``judgec.compile_queries``."""

from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated

from judgec.verbs.options.option import Option
from judgec.verbs.options.shared import (
    Corpus,
    Passages,
    PassageSize,
    PerPassage,
    Places,
    ReflectionLm,
    Seed,
    Spending,
    Temperature,
)

if TYPE_CHECKING:
    from judgec.verbs.frames import Source
    from judgec.verbs.labels import Labels


@dataclass(frozen=True, kw_only=True)
class CompileQueriesOptions(Spending, Places):
    """Options that decide a compile of a query generator."""

    index: Corpus
    experts: Annotated[
        "Source",
        Option("Experts' queries (a column 'query').", metavar="FILE", python="Source | Sequence[str]", panel="What"),
    ]
    lm: Annotated[
        str,
        Option("The model that writes: openai/gpt-4o-mini, ...; without one (embedded) rules write.", panel="Model"),
    ] = "embedded"
    judge: Annotated[
        str,
        Option("The judge that accepts queries: a compiled reliability judge, or rules.", metavar="NAME", panel="What"),
    ] = "rules"
    labels: Annotated[
        "Labels | Source | None",
        Option(
            "Experts' labels of question and passage; judgec compiles the judge from them.",
            metavar="FILE",
            panel="What",
        ),
    ] = None
    name: Annotated[str, Option("Name of the generator.", panel="Output")] = "queries"
    per_passage: PerPassage = 5
    passages: Passages = None
    passage_size: PassageSize = "2000t"
    reflection_lm: ReflectionLm = None
    seed: Seed = 0
    temperature: Temperature = 0.7
