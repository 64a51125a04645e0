"""Options of ``judgec.index``."""

from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated, Literal

from judgec.verbs.options.option import Option
from judgec.verbs.options.shared import ApiBase, Columns, Seed, UnusedPlaces


@dataclass(frozen=True, kw_only=True)
class IndexOptions(UnusedPlaces):
    """Options that decide an index."""

    paths: Annotated[
        tuple[str, ...],
        Option(
            "Folders or files: PDF, HTML, Markdown, text, DOCX; JSONL, CSV, Parquet of doc_id, text.",
            metavar="PATH...",
            positional=True,
            python="str | Path | Sequence[str | Path]",
            panel="What",
        ),
    ]
    out: Annotated[
        Path, Option("The folder of the index; a second run reads only what changed.", metavar="INDEX", panel="Output")
    ]
    chunk: Annotated[str | None, Option("1000/250 (default), 3000/150, 2000t.", metavar="SIZE/OVERLAP")] = None
    embedder: Annotated[
        str | None, Option("lsa, provider/model, sentence-transformers/MODEL.", metavar="NAME", panel="Model")
    ] = None
    language: Annotated[str | None, Option("The language of stems and stop words.")] = None
    metric: Annotated[
        Literal["cosine", "l2"] | None,
        Option("The distance of vectors: cosine (default) or l2, the squared distance."),
    ] = None
    ann: Annotated[
        Literal["auto", "exact", "ivf", "hnsw"] | None,
        Option("How nearest passages are found: compare all, an IVF index, an HNSW graph; auto: IVF from 50,000."),
    ] = None
    columns: Columns = field(default_factory=dict)
    seed: Seed = 0
    postgres: Annotated[
        str | None, Option("Publish the index to PostgreSQL with pgvector, too.", metavar="URL", panel="Output")
    ] = None
    api_base: ApiBase = None
