"""``judgec index``."""

from pathlib import Path
from typing import Annotated

import typer

from judgec.cli.options import ApiBaseOption, JsonOption, MapOption

CUTTING = "Cutting and ranking (of a new index)"

PathsArgument = Annotated[
    list[str],
    typer.Argument(
        metavar="PATH...",
        help="Folders or files: PDF, HTML, Markdown, text, DOCX; JSONL, CSV, Parquet of doc_id, text.",
    ),
]
OutOption = Annotated[Path, typer.Option("--out", metavar="INDEX", help="The index's folder; again: only changes.")]
ChunkOption = Annotated[
    str | None,
    typer.Option(
        "--chunk", metavar="SIZE/OVERLAP", help="1000/250 (default), 3000/150, 2000t.", rich_help_panel=CUTTING
    ),
]
EmbedderOption = Annotated[
    str | None,
    typer.Option(
        "--embedder", metavar="NAME", help="lsa, provider/model, sentence-transformers/MODEL.", rich_help_panel=CUTTING
    ),
]
LanguageOption = Annotated[
    str | None, typer.Option("--language", help="Of stems and stop words.", rich_help_panel=CUTTING)
]
SeedOption = Annotated[int, typer.Option("--seed", help="Of the latent semantics.", rich_help_panel=CUTTING)]
PostgresOption = Annotated[
    str | None, typer.Option("--postgres", metavar="URL", help="Publish the index to PostgreSQL with pgvector, too.")
]


def index(
    paths: PathsArgument,
    *,
    out: OutOption,
    chunk: ChunkOption = None,
    embedder: EmbedderOption = None,
    language: LanguageOption = None,
    rename: MapOption = None,
    seed: SeedOption = 0,
    postgres: PostgresOption = None,
    api_base: ApiBaseOption = None,
    json: JsonOption = False,
) -> None:
    """Make documents searchable by words and by meaning; run again, it reads only what changed."""
    from judgec.cli.corpus.indexing import Request, run_index

    run_index(
        Request(
            paths=tuple(paths),
            out=out,
            chunk=chunk,
            embedder=embedder,
            language=language,
            rename=tuple(rename or ()),
            seed=seed,
            postgres=postgres,
            api_base=api_base,
            json=json,
        )
    )
