"""The rows of an index in memory-mapped files, to compare exactly what an approximate index found and to show it.

LanceDB reads hundreds of vectors from its table in a tenth of a second, and the columns of five passages in ten
milliseconds; from a mapped file both take one. The files belong to one version of the table, which their names have.
"""

from bisect import bisect_right
from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np
import pyarrow as pa
from lancedb.table import LanceTable
from numpy.typing import NDArray

from judgec.errors import ArtifactError
from judgec.rag.retrieval.latent import Matrix
from judgec.rag.retrieval.manifest import Metric

NAMES = ("rows-{}.npy", "vectors-{}.npy", "passages-{}.arrow")  # by the version of the table
BATCH = 10_000  # rows held at once while writing


class MappedRows:
    """Vectors and passages by the row ids of the table.

    Args:
        folder: Of the index.
        version: Of its table.

    Raises:
        ArtifactError: When a file is damaged.
    """

    def __init__(self, folder: Path, version: int) -> None:
        rows, vectors, passages = (folder / name.format(version) for name in NAMES)
        try:
            held = np.load(rows, allow_pickle=False)
            self._vectors: Matrix = np.load(vectors, mmap_mode="r", allow_pickle=False)
            self._batches = pa.ipc.open_file(pa.memory_map(str(passages)))
            sizes = [self._batches.get_batch(number).num_rows for number in range(self._batches.num_record_batches)]
        except (OSError, ValueError, EOFError) as error:
            first = str(error).splitlines()[0][:160]
            raise ArtifactError(
                f"{folder}: the files of its rows cannot be read ({first}). Build the index again in a new folder."
            ) from error
        if not len(held) == len(self._vectors) == sum(sizes):
            raise ArtifactError(
                f"{folder}: {len(held)} rows, {len(self._vectors)} vectors and {sum(sizes)} passages in its files; as "
                "many of each are needed. Build the index again in a new folder."
            )
        self._order: NDArray[np.int64] = np.argsort(held, kind="stable")
        self._rows: NDArray[np.int64] = held[self._order]
        self._begins: list[int] = [0, *np.cumsum(sizes).tolist()]

    def scores(self, rows: NDArray[np.int64], query: Matrix, metric: Metric) -> Matrix:
        """Cosines with the query, or squared distances with a minus.

        Args:
            rows: Row ids of the table.
            query: Shape (dimensions,).
            metric: Of the index.
        """
        held = self._vectors[self._places(rows)]
        if metric == "l2":
            return np.asarray(-((held - query) ** 2).sum(axis=1))
        lengths = np.linalg.norm(held, axis=1) * np.linalg.norm(query)
        return np.asarray(held @ query / np.maximum(lengths, 1e-12))

    def passages(self, rows: Sequence[int]) -> dict[int, Mapping[str, object]]:
        """The columns of passages by row id."""
        found: dict[int, Mapping[str, object]] = {}
        for row, place in zip(rows, self._places(np.asarray(rows, np.int64)).tolist(), strict=True):
            batch = bisect_right(self._begins, place) - 1
            (found[row],) = self._batches.get_batch(batch).slice(place - self._begins[batch], 1).to_pylist()
        return found

    def _places(self, rows: NDArray[np.int64]) -> NDArray[np.int64]:
        places: NDArray[np.int64] = self._order[np.searchsorted(self._rows, rows)]
        return places


def mapped_rows(folder: Path, version: int) -> MappedRows | None:
    """The files of a version; None without: all vectors are compared, or an older judgec built the index."""
    return MappedRows(folder, version) if all((folder / name.format(version)).is_file() for name in NAMES) else None


def write_mapped(table: LanceTable, folder: Path, columns: Sequence[str], dimensions: int) -> None:
    """Write the files of a table's version, a batch at a time, and remove those of other versions.

    Args:
        table: As it is searched.
        folder: Of the index.
        columns: Of the passages that are shown.
        dimensions: Of the vectors.
    """
    remove_mapped(folder)
    rows, vectors, passages = (folder / name.format(table.version) for name in NAMES)
    shape, begin = (table.count_rows(), dimensions), 0
    ids = np.empty(shape[0], np.int64)
    whole = np.lib.format.open_memmap(vectors, mode="w+", dtype=np.float32, shape=shape)
    batches = table.search().select(["vector", *columns]).with_row_id(True).to_batches(BATCH)
    schema = pa.schema([batches.schema.field(name) for name in columns])
    with pa.ipc.new_file(str(passages), schema) as file:
        for batch in batches:
            end = begin + batch.num_rows
            ids[begin:end] = batch["_rowid"].to_numpy()
            whole[begin:end] = batch["vector"].flatten().to_numpy(zero_copy_only=False).reshape(-1, dimensions)
            file.write_batch(batch.select(list(columns)))
            begin = end
    whole.flush()
    np.save(rows, ids)


def remove_mapped(folder: Path) -> None:
    """Remove the files of all versions."""
    for name in NAMES:
        for path in folder.glob(name.format("*")):
            path.unlink()
