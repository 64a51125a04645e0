"""Opens an index: a folder with a LanceDB table, or a PostgreSQL database; retrievers see no difference."""

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Protocol

from judgec.errors import UserError
from judgec.rag.retrieval.manifest import Manifest
from judgec.rag.retrieval.passages import Passage, Ranking


class Index(Protocol):
    """Interface of an index to retrievers, wherever it is kept."""

    @property
    def manifest(self) -> Manifest:
        """Description of what it was made of."""
        ...

    def by_text(self, queries: Sequence[str], k: int) -> list[Ranking]:
        """BM25 rankings, one a query; a query without a known word has an empty one."""
        ...

    def by_vector(self, queries: Sequence[str], k: int) -> list[Ranking]:
        """Rankings by cosine, one a query; a query without a known word has an empty one."""
        ...

    def fetch(self, rows: Sequence[int]) -> dict[int, Passage]:
        """The passages of row ids."""
        ...

    def passages(self) -> Iterator[Passage]:
        """All passages, in order of file and place."""
        ...

    def __len__(self) -> int:
        """Number of passages."""
        ...


def open_index(location: str | Path, *, api_base: str | None = None, embedder: str | None = None) -> Index:
    """The index in a folder, or in PostgreSQL at ``postgresql://...``.

    Args:
        location: From ``judgec index --out``, or a URL that an index was published to.
        api_base: Where a hosted embedder is asked, if not at its provider.
        embedder: Refuse an index of another one.

    Raises:
        UserError: No index there, or one of another embedder.
        ArtifactError: An index that is unfinished, damaged, or of another format.
    """
    if str(location).startswith(("postgresql://", "postgres://")):
        from judgec.rag.retrieval.stores.postgres import PostgresIndex

        found: Index = PostgresIndex(str(location), api_base)
    else:
        from judgec.rag.retrieval.stores.lance import LanceIndex  # 1.5 s of a core, for those who search

        found = LanceIndex(Path(location), api_base)
    if embedder is not None and found.manifest.embedder != embedder:
        raise UserError(
            f"{location}: the index was made with {found.manifest.embedder}, not {embedder}; vectors of two embedders "
            "do not compare. Leave --embedder out, or build another index."
        )
    return found
