"""Writes passages into the LanceDB table so that a killed build can be gone on with."""

from collections.abc import Sequence
from pathlib import Path
from typing import TypedDict, cast

import lancedb
import numpy as np
import pyarrow as pa
from lancedb.index import FTS, HnswSq, IvfSq, lang_mapping
from lancedb.table import LanceTable

from judgec.errors import ArtifactError
from judgec.rag.retrieval.latent import LSA, MODEL_FILE, Embedder, LatentSemantics, Matrix
from judgec.rag.retrieval.manifest import Manifest, SourceFile, partitions_of
from judgec.rag.retrieval.stores.lance import PLAIN as SHOWN
from judgec.rag.retrieval.stores.lance import TABLE
from judgec.rag.retrieval.stores.mapped import remove_mapped, write_mapped

LANGUAGES = tuple(sorted(lang_mapping.values()))  # whose stems and stop words are known
COMMIT = 2_000  # passages embedded and written at once by an embedder that is paid for
REFIT = 0.2  # share of new or removed passages from which the latent semantics are fitted again
IN_ONE_GRAPH = 1_000_000  # passages that share an HNSW graph


class Row(TypedDict):
    """A passage as the table holds it."""

    passage_id: str
    doc_id: str
    source: str
    ordinal: int
    title: str
    section: str
    page: int | None
    digest: str
    indexed: str
    prefix: int


PLAIN = pa.schema(
    [
        *((name, pa.string()) for name in ("passage_id", "doc_id", "source")),
        ("ordinal", pa.int32()),
        ("title", pa.string()),
        ("section", pa.string()),
        ("page", pa.int32()),
        ("digest", pa.string()),
        ("indexed", pa.string()),
        ("prefix", pa.int32()),
    ]
)


class PassageWriter:
    """One build of the index in ``folder``.

    A version of the table counts once the manifest names it; what a killed build left behind is undone. Vectors of
    latent semantics are written at the end, when all passages are known; others as the files are read.

    Args:
        folder: Of the index.
        manifest: As it is, or of a new index.
        api_base: Where a hosted embedder is asked.
        seed: Of the latent semantics.
    """

    def __init__(self, folder: Path, manifest: Manifest, *, api_base: str | None, seed: int) -> None:
        self.manifest = manifest
        self.texts: dict[str, str] = {}
        self.documents: dict[str, str] = {}
        self._folder = folder
        self._api_base = api_base
        self._seed = seed
        self._files = dict(manifest.files)
        self._pending: list[pa.Table] = []
        self._pending_files: dict[str, SourceFile] = {}
        self._moved = 0
        self._table: LanceTable | None = None

    def begin(self, leaving: Sequence[str]) -> None:
        """Open the table as the manifest knows it, and take the passages of ``leaving`` out.

        Raises:
            ArtifactError: When the table is damaged.
        """
        self._folder.mkdir(parents=True, exist_ok=True)
        self.manifest = self.manifest.model_copy(update={"complete": False})
        if self.manifest.table_version:
            self._open()
            present = [name for name in leaving if name in self._files]
            for start in range(0, len(present), 200):
                quoted = ", ".join("'" + name.replace("'", "''") + "'" for name in present[start : start + 200])
                self._opened.delete(f"source IN ({quoted})")
            for name in present:
                self._moved += self._files.pop(name).passages
            held = self._opened.search().select(["digest", "source", "doc_id"]).to_arrow()
            self.texts = dict(zip(held["digest"].to_pylist(), held["source"].to_pylist(), strict=True))
            self.documents = dict(zip(held["doc_id"].to_pylist(), held["source"].to_pylist(), strict=True))
            self._commit()
        else:
            self.manifest.write(self._folder)
            lancedb.connect(self._folder).drop_table(TABLE, ignore_missing=True)  # of a build that was killed

    def add(self, name: str, file: SourceFile, rows: Sequence[Row]) -> None:
        """The passages of one file."""
        self._pending.append(pa.Table.from_pylist(list(rows), schema=PLAIN))
        self._pending_files[name] = file
        self._moved += len(rows)
        if self.manifest.embedder != LSA and sum(map(len, self._pending)) >= COMMIT:
            self._flush(self._embedder())

    def finish(self) -> Manifest:
        """Write what is left, index text and vectors, and make the manifest say that it is whole."""
        if self.manifest.embedder == LSA:
            self._finish_latent()
        else:
            self._flush(self._embedder())
        table = self._opened
        table.create_index(
            "indexed",
            config=FTS(
                base_tokenizer="simple",
                language=self.manifest.language,
                lower_case=True,
                stem=True,
                remove_stop_words=True,
                ascii_folding=True,
                with_position=False,
            ),
            replace=True,
        )
        self._index_vectors(table)
        table.optimize()
        if self.manifest.model_copy(update={"files": self._files}).approximate:
            write_mapped(table, self._folder, SHOWN, self.manifest.dimensions)
        else:
            remove_mapped(self._folder)
        self._commit(complete=True)
        return self.manifest

    def _index_vectors(self, table: LanceTable) -> None:
        rows, metric = table.count_rows(), self.manifest.metric
        kind = self.manifest.model_copy(update={"files": self._files}).approximate
        if kind == "ivf":
            config = IvfSq(distance_type=metric, num_partitions=partitions_of(rows))
            table.create_index("vector", config=config, replace=True)
        if kind == "hnsw":
            graphs = max(1, round(rows / IN_ONE_GRAPH))
            table.create_index("vector", config=HnswSq(distance_type=metric, num_partitions=graphs), replace=True)

    def _finish_latent(self) -> None:
        from judgec.rag.retrieval.embed import fit_latent  # scikit-learn and DSPy: only for a fit

        known, moved = self.manifest.fitted_on, self.manifest.added_since + self._moved
        if known is not None and moved <= REFIT * known:
            self.manifest = self.manifest.model_copy(update={"added_since": moved})
            self._flush(LatentSemantics.load(self._folder / MODEL_FILE))
            return
        if self._table is not None:
            held = self._table.search().select(PLAIN.names).to_arrow()
            self._pending.insert(0, held.cast(PLAIN))
        whole = pa.concat_tables(self._pending)
        model, vectors = fit_latent(whole["indexed"].to_pylist(), self._seed)
        self._table = None
        fresh = {"table_version": 0, "files": {}, "fitted_on": len(whole), "added_since": 0}
        self.manifest = self.manifest.model_copy(update=fresh)
        self.manifest.write(self._folder)  # killed from here on, the next build reads everything again
        lancedb.connect(self._folder).drop_table(TABLE, ignore_missing=True)
        (self._folder / MODEL_FILE).write_bytes(model.dump())
        self._flush(model, vectors)

    def _flush(self, embedder: Embedder, known: Matrix | None = None) -> None:
        """Embed what is pending (``known`` are its vectors), write it and commit it."""
        whole = pa.concat_tables(self._pending) if self._pending else PLAIN.empty_table()
        for start in range(0, len(whole), 10 * COMMIT):
            part = whole.slice(start, 10 * COMMIT)
            vectors = (
                embedder.documents(part["indexed"].to_pylist()) if known is None else known[start : start + len(part)]
            )
            self._append(part.append_column("vector", _column(vectors)), vectors.shape[1])
        self._files |= self._pending_files
        self._pending, self._pending_files = [], {}
        if self._table is not None:
            self._commit()

    def _append(self, part: pa.Table, dimensions: int) -> None:
        if self._table is None:
            self._table = lancedb.connect(self._folder).create_table(TABLE, part)
            self.manifest = self.manifest.model_copy(update={"dimensions": dimensions})
        elif dimensions != self.manifest.dimensions:
            raise ArtifactError(
                f"{self._folder}: its vectors have {self.manifest.dimensions} numbers, {self.manifest.embedder} now "
                f"gives {dimensions}; the model has changed. Build the index again in a new folder."
            )
        else:
            self._table.add(part)

    def _open(self) -> None:
        try:
            table: LanceTable = lancedb.connect(self._folder).open_table(TABLE)
            if table.version != self.manifest.table_version:
                table.checkout(self.manifest.table_version)
                table.restore()
        except (ValueError, OSError, RuntimeError) as error:
            raise ArtifactError(
                f"{self._folder}: the table cannot be opened ({str(error).splitlines()[0][:160]}). "
                "Build the index again in a new folder."
            ) from error
        self._table = table

    @property
    def _opened(self) -> LanceTable:
        if self._table is None:
            self._open()
        return cast("LanceTable", self._table)  # _open sets it or raises

    def _embedder(self) -> Embedder:
        from judgec.rag.retrieval.embed import open_embedder

        return open_embedder(self.manifest.embedder, api_base=self._api_base)

    def _commit(self, *, complete: bool = False) -> None:
        self.manifest = self.manifest.model_copy(
            update={
                "table_version": self._opened.version,
                "files": dict(sorted(self._files.items())),
                "complete": complete,
            }
        )
        self.manifest.write(self._folder)


def _column(vectors: Matrix) -> pa.FixedSizeListArray:
    return pa.FixedSizeListArray.from_arrays(pa.array(np.ascontiguousarray(vectors).ravel()), vectors.shape[1])
