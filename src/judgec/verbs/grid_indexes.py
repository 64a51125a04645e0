"""Opens the indexes of a grid's agents: one for each chunk size and embedder, built once and shared."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from judgec.errors import UserError
from judgec.labels.rows.items import digest
from judgec.lm.executor import Progress
from judgec.lm.usage import Spent
from judgec.lm.watch import Watch
from judgec.rag.retrieval.index import Index, open_index
from judgec.rag.retrieval.latent import LSA
from judgec.rag.retrieval.manifest import FILE, Manifest
from judgec.rag.retrieval.parsing.chunking import Chunking


@dataclass(frozen=True)
class GridIndexes:
    """Indexes of the same documents, cut and embedded in several ways.

    Args:
        location: A folder of documents, or a file of them; or an index, which has one chunk size and one embedder.
        home: Built indexes are kept below its ``.judgec/indexes``, so that the next run builds none.
        api_base: Where a hosted embedder is asked.
    """

    location: str
    home: Path
    api_base: str | None = None

    @cached_property
    def given(self) -> Index | None:
        """The index that the location is; None where it holds documents.

        Raises:
            UserError: Nothing is there.
        """
        path = Path(self.location)
        if self.location.startswith(("postgresql://", "postgres://")) or (path / FILE).is_file():
            return open_index(self.location, api_base=self.api_base)
        if not path.exists():
            raise UserError(
                f"--index {self.location}: no such file or folder; an index, or a folder of documents, is needed."
            )
        return None

    def folder(self, chunk: str, embedder: str) -> Path:
        """Where the index of a chunk size and an embedder is kept."""
        made_of = [str(Path(self.location).resolve()), str(_chunking(chunk)), embedder or LSA]
        return self.home / ".judgec" / "indexes" / digest(made_of)[:16]

    def missing(self, wanted: Iterable[tuple[str, str]]) -> int:
        """How many of these have to be built first."""
        if self.given is not None:
            return 0
        found = [Manifest.read(self.folder(*one)) for one in dict.fromkeys(wanted)]
        return sum(manifest is None or not manifest.complete for manifest in found)

    def opened(self, chunk: str, embedder: str, watch: Watch) -> Index:
        """The index of a chunk size and an embedder, brought up to date with the documents; empty is the usual one.

        Raises:
            UserError: An index was given, and it was built otherwise; or nothing can be read.
        """
        if self.given is not None:
            self._require(self.given.manifest, chunk, embedder)
            return self.given
        from judgec.rag.retrieval.build import build_index  # LanceDB: 1.5 s of a core, for those who build

        out = self.folder(chunk, embedder)
        watch.stage("index", f"{self.location}, chunks {_chunking(chunk)}, {embedder or LSA}")
        build_index(
            [self.location],
            out,
            chunking=_chunking(chunk),
            embedder=embedder or LSA,
            api_base=self.api_base,
            on_file=_told(watch),
        )
        return open_index(out, api_base=self.api_base)

    def _require(self, manifest: Manifest, chunk: str, embedder: str) -> None:
        asked = {
            "chunk": (chunk and str(_chunking(chunk)), manifest.chunking),
            "embedder": (embedder, manifest.embedder),
        }
        for name, (wanted, built) in asked.items():
            if wanted and wanted != built:
                raise UserError(
                    f"--grid {name}={wanted}: the index {self.location} was built with {built}, and one index has one. "
                    "Give --index the folder of documents: an index is then built for each."
                )


def _chunking(chunk: str) -> Chunking:
    return Chunking.parse(chunk) if chunk else Chunking()


def _told(watch: Watch) -> Callable[[int, int], None]:
    return lambda done, total: watch.progress(Progress(done, total, 0, Spent(), of="files"))
