"""``judgec answer``."""

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import typer

from judgec.cli.options import (
    INDEX,
    QUERIES,
    AgentShape,
    HomeOption,
    JsonOption,
    LmOption,
    MapOption,
    Spending,
    command_of,
)


@dataclass(frozen=True, kw_only=True)
class Request(AgentShape, Spending):
    """The command line of ``answer``, as typed."""

    queries: Annotated[str, QUERIES]
    agents: Annotated[
        str,
        typer.Option(
            "--agents",
            metavar="A,B,...",
            help="rag-bm25, rag-fusion-hybrid, ..., system.toml, python:module:function, NAME@V.",
        ),
    ]
    out: Annotated[Path, typer.Option("--out", metavar="ANSWERS.jsonl", help="What judgec evaluate --answers reads.")]
    index: Annotated[str | None, INDEX] = None
    citations: Annotated[bool, typer.Option("--citations/--no-citations", help="Cite passages.")] = True
    rerank: Annotated[
        str | None, typer.Option("--rerank", metavar="python:MODULE:FUNCTION", help="Scores (query, texts).")
    ] = None
    rename: MapOption = ()
    lm: LmOption = "embedded"
    in_flight: Annotated[int, typer.Option("--in-flight", min=1, help="Most calls at once.")] = 32
    json: JsonOption = False
    home: HomeOption = Path()


@command_of(Request)
def answer(request: Request) -> None:
    """Let RAG agents answer queries; an interrupted run goes on where it was."""
    from judgec.cli.corpus.answering import run_answers

    run_answers(request)
