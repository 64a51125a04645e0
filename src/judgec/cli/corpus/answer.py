"""``judgec answer``."""

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import typer

from judgec.cli.options import (
    INDEX,
    QUERIES,
    AgentRun,
    HomeOption,
    JsonOption,
    LmOption,
    MapOption,
    Spending,
    command_of,
)


@dataclass(frozen=True, kw_only=True)
class Request(AgentRun, Spending):
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
    rename: MapOption = ()
    lm: LmOption = "embedded"
    json: JsonOption = False
    home: HomeOption = Path()


@command_of(Request)
def answer(request: Request) -> None:
    """Let RAG agents answer queries; an interrupted run goes on where it was."""
    from judgec.cli.corpus.answering import run_answers

    run_answers(request)
