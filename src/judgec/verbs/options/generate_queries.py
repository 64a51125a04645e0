"""Options of ``judgec.generate_queries``."""

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from judgec.verbs.options.option import Option
from judgec.verbs.options.shared import (
    Corpus,
    Home,
    Passages,
    PassageSize,
    PerPassage,
    Seed,
    Spending,
    Temperature,
    UnusedTracking,
)

if TYPE_CHECKING:
    from judgec.verbs.frames import Source


@dataclass(frozen=True, kw_only=True)
class GenerateQueriesOptions(Spending):
    """Options that decide which queries are written."""

    index: Corpus
    experts: Annotated[
        "Source | None",
        Option(
            "Experts' queries (a column 'query'), as examples.",
            metavar="FILE",
            python="Source | Sequence[str] | None",
            panel="What",
        ),
    ] = None
    lm: Annotated[
        tuple[str, ...],
        Option(
            "The models that write: openai/...; embedded: rules, without a model.",
            metavar="A,B,...",
            commas=True,
            panel="Model",
        ),
    ] = ("embedded",)
    per_passage: PerPassage = 10
    sample: Annotated[
        tuple[str, ...],
        Option(
            "Number of queries of each model. Default: all.",
            metavar="A=100,B=50",
            commas=True,
            python="str | int | Mapping[str, int] | Sequence[str]",
            panel="Cost",
        ),
    ] = ()
    out: Annotated[Path, Option("The queries, JSON lines.", metavar="FILE", panel="Output")] = Path("queries.jsonl")
    references: Annotated[bool, Option("Write a reference answer from the passage, too.")] = False
    rubrics: Annotated[bool, Option("Write what a good answer says (nuggets, vital and okay) from it, too.")] = False
    reliability: Annotated[str, Option("The filter of queries: a compiled judge, rules, or none.", metavar="NAME")] = (
        "rules"
    )
    generator: Annotated[
        str | None, Option("A generator from judgec compile-queries.", metavar="NAME", panel="What")
    ] = None
    passages: Passages = None
    passage_size: PassageSize = "2000t"
    seed: Seed = 0
    temperature: Temperature = 0.7
    home: Home = Path()
    tracking_uri: UnusedTracking = None
