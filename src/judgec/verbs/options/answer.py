"""Options of ``judgec.answer``."""

from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from judgec.verbs.options.option import Option
from judgec.verbs.options.shared import (
    AgentShape,
    Columns,
    Home,
    IndexName,
    InFlight,
    QueriesTable,
    Spending,
    UnusedTracking,
)

if TYPE_CHECKING:
    from judgec.verbs.frames import Source


@dataclass(frozen=True, kw_only=True)
class AnswerOptions(AgentShape, Spending):
    """Options that decide answers."""

    rerank: Annotated[
        str | None, Option("lexical, a cross-encoder's ORG/MODEL, python:MODULE:FUNCTION.", metavar="RERANKER")
    ] = None
    grid: Annotated[
        tuple[str, ...],
        Option(
            "Agents of all combinations of agent, retriever, rerank, chunk, embedder, lm, k, variations, rrf_k.",
            metavar="NAME=A,B...",
            python="Mapping[str, Sequence[object]] | Sequence[str]",
        ),
    ] = ()
    in_flight: InFlight = 32
    queries: Annotated["Source", QueriesTable]
    agents: Annotated[
        tuple[str, ...],
        Option(
            "rag-bm25, rag-fusion-hybrid, ..., system.toml, python:module:function, NAME@V.",
            metavar="A,B,...",
            commas=True,
            panel="What",
        ),
    ] = ()
    out: Annotated[
        Path | None,
        Option(
            "The file of answers, which judgec evaluate --answers reads.",
            metavar="ANSWERS.jsonl",
            needed=True,
            panel="Output",
        ),
    ] = None
    index: Annotated[str | None, IndexName] = None
    columns: Columns = field(default_factory=dict)
    lm: Annotated[
        str,
        Option(
            "The agents' model: openai/gpt-4o-mini, ...; without one (embedded) rules quote passages.", panel="Model"
        ),
    ] = "embedded"
    home: Home = Path()
    tracking_uri: UnusedTracking = None
