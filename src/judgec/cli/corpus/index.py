"""``judgec index``."""

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import typer

from judgec.cli.options import ApiBaseOption, JsonOption, MapOption, SeedOption, command_of


@dataclass(frozen=True, kw_only=True)
class Request:
    """The command line of ``index``, as typed."""

    paths: Annotated[
        tuple[str, ...],
        typer.Argument(
            metavar="PATH...",
            help="Folders or files: PDF, HTML, Markdown, text, DOCX; JSONL, CSV, Parquet of doc_id, text.",
        ),
    ]
    out: Annotated[Path, typer.Option("--out", metavar="INDEX", help="The index's folder; again: only changes.")]
    chunk: Annotated[
        str | None, typer.Option("--chunk", metavar="SIZE/OVERLAP", help="1000/250 (default), 3000/150, 2000t.")
    ] = None
    embedder: Annotated[
        str | None, typer.Option("--embedder", metavar="NAME", help="lsa, provider/model, sentence-transformers/MODEL.")
    ] = None
    language: Annotated[str | None, typer.Option("--language", help="Of stems and stop words.")] = None
    rename: MapOption = ()
    seed: SeedOption = 0
    postgres: Annotated[
        str | None,
        typer.Option("--postgres", metavar="URL", help="Publish the index to PostgreSQL with pgvector, too."),
    ] = None
    api_base: ApiBaseOption = None
    json: JsonOption = False


@command_of(Request)
def index(request: Request) -> None:
    """Make documents searchable by words and by meaning; run again, it reads only what changed."""
    from judgec.cli.corpus.indexing import run_index

    run_index(request)
