"""An index on disk: one LanceDB table of passages with full text, vectors and where each comes from."""

import asyncio
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cache, cached_property
from pathlib import Path

import lancedb
import numpy as np
import pyarrow as pa
from lancedb.background_loop import LOOP
from lancedb.query import AsyncFTSQuery, AsyncVectorQuery, MatchQuery
from lancedb.table import AsyncTable, LanceTable
from numpy.typing import NDArray
from threadpoolctl import ThreadpoolController

from judgec.errors import ArtifactError, UserError
from judgec.rag.retrieval.latent import LSA, MODEL_FILE, Embedder, LatentSemantics, Matrix
from judgec.rag.retrieval.manifest import FILE, IN_MEMORY, Manifest, partitions_of
from judgec.rag.retrieval.passages import Passage, Ranking
from judgec.rag.retrieval.stores.mapped import MappedRows, mapped_rows
from judgec.records.counts import plural

TABLE = "passages"
REFINE = 10  # times as many candidates as are asked for are re-ranked exactly: without, .52 of the best 10 are found
PROBES = 20  # partitions of an IVF index that are searched, at least
PROBED = 0.06  # share of them, where that is more: of a million passages .98 of the best 10 are found, with 20 only .84
SIDE_BY_SIDE = 8  # searches at once: one that compares all of a million vectors holds 100 MB of them
EF = 200  # neighbours that a search in an HNSW graph keeps in view
PLAIN = ("passage_id", "doc_id", "title", "section", "page", "source", "indexed", "prefix")


class LanceIndex:
    """The index in ``folder``.

    Raises:
        UserError: When there is none.
        ArtifactError: When it is unfinished, damaged, or of another format.
    """

    def __init__(self, folder: Path, api_base: str | None = None) -> None:
        manifest = Manifest.read(folder)
        if manifest is None:
            raise UserError(f"{folder}: no index ({FILE} is missing). Build one: judgec index PATH... --out {folder}")
        if not manifest.complete:
            raise ArtifactError(
                f"{folder}: its building was interrupted. Run the same judgec index again to finish it."
            )
        self.folder = folder
        self._manifest = manifest
        self._api_base = api_base
        session = lancedb.Session()  # one cache for both doors
        try:
            self._table: LanceTable = lancedb.connect(folder, session=session).open_table(TABLE)
            self._table.checkout(manifest.table_version)
            self._searched: AsyncTable = LOOP.run(_searchable(folder, session, manifest.table_version))
            rows = self._table.count_rows()
            self._table.head(1)  # its files may be gone while their list is there
        except (ValueError, OSError, RuntimeError) as error:
            raise ArtifactError(
                f"{folder}: the table cannot be opened ({str(error).splitlines()[0][:160]}). "
                "Build the index again in a new folder."
            ) from error
        if rows != manifest.passages:
            raise ArtifactError(
                f"{folder}: {plural(rows, 'passage')} in the table, {manifest.passages} in {FILE}. "
                "Build the index again in a new folder."
            )

    @property
    def manifest(self) -> Manifest:
        """Description of what it was made of."""
        return self._manifest

    @cached_property
    def embedder(self) -> Embedder:
        """The embedder that turns queries into vectors.

        Raises:
            ArtifactError: When its vectors have another length than the index's.
        """
        name = self._manifest.embedder
        found = LatentSemantics.load(self.folder / MODEL_FILE) if name == LSA else open_hosted(name, self._api_base)
        if isinstance(found, LatentSemantics) and found.components.shape[1] != self._manifest.dimensions:
            raise _other_embedder(str(self.folder), found.components.shape[1], self._manifest)
        return found

    def by_text(self, queries: Sequence[str], k: int) -> list[Ranking]:
        """BM25 with k1 = 1.2, b = .75 (Lance's, as Lucene's), the queries side by side."""
        found = _together(self._text_search(query, k) for query in queries)
        return [_ordered(one["_rowid"].to_pylist(), one["_score"].to_pylist()) for one in found]

    def by_vector(self, queries: Sequence[str], k: int) -> list[Ranking]:
        """By the index's metric: all compared, or an approximate index's candidates exactly re-ranked.

        Scores are cosines, or squared distances with a minus.
        """
        vectors = self.embedder.queries(queries)
        if len(queries) and vectors.shape[1] != self._manifest.dimensions:
            raise _other_embedder(str(self.folder), vectors.shape[1], self._manifest)
        return self.nearest(vectors, k) if self._kind else self.nearest_of_all(vectors, k)

    def nearest(self, vectors: Matrix, k: int, *, exact: bool = False) -> list[Ranking]:
        """Rankings by the approximate index, one a vector; of a vector of zeros an empty one.

        Args:
            vectors: Of queries.
            k: How many passages each.
            exact: Pass the index by, and compare all without holding them.
        """
        mapped, metric = None if exact else self._mapped, self._manifest.metric
        asked = [vector for vector in vectors if vector.any()]
        near = (self._near(vector, REFINE * k if mapped else k, refine=mapped is None) for vector in asked)
        found = _together(one.bypass_vector_index() if exact else one for one in near)
        if mapped is not None:
            candidates = [one["_rowid"].to_numpy().astype(np.int64) for one in found]
            pairs = zip(candidates, asked, strict=True)
            ranked = iter([top(rows, mapped.scores(rows, vector, metric), k) for rows, vector in pairs])
        else:
            ranked = iter([_by_distance(one, 0.0 if metric == "l2" else 1.0) for one in found])
        return [next(ranked) if vector.any() else [] for vector in vectors]

    def nearest_of_all(self, vectors: Matrix, k: int) -> list[Ranking]:
        """The same by comparing all, which holds them in memory."""
        rows, matrix = self._vectors
        with _blas().limit(limits=1):  # the product waits for memory: more threads only wait for each other
            scored = vectors @ matrix.T
        if self._manifest.metric == "l2":
            scored = 2.0 * scored - (vectors**2).sum(axis=1)[:, None] - (matrix**2).sum(axis=1)[None, :]
        pairs = zip(vectors, scored, strict=True)
        return [top(rows, scores, k) if vector.any() else [] for vector, scores in pairs]

    def fetch(self, rows: Sequence[int]) -> dict[int, Passage]:
        """The passages of row ids."""
        if not rows:
            return {}
        if len(self) <= IN_MEMORY:
            table, place = self._texts
            return {
                row: _passage(one)
                for row, one in zip(rows, table.take([place[row] for row in rows]).to_pylist(), strict=True)
            }
        if self._mapped is not None:
            return {row: _passage(one) for row, one in self._mapped.passages(rows).items()}
        found = self._table.take_row_ids(list(rows)).select([*PLAIN]).with_row_id().to_arrow().to_pylist()
        return {one["_rowid"]: _passage(one) for one in found}

    def passages(self) -> Iterator[Passage]:
        """All passages, in order of file and place."""
        table = self._table.search().select([*PLAIN, "ordinal"]).to_arrow()
        for batch in table.sort_by([("source", "ascending"), ("ordinal", "ascending")]).to_batches(max_chunksize=1000):
            yield from map(_passage, batch.to_pylist())

    def __len__(self) -> int:
        """Number of passages."""
        return self._manifest.passages

    def vectors(self) -> Matrix:
        """The vectors in the order of ``passages``."""
        table = self._table.search().select(["source", "ordinal", "vector"]).to_arrow()
        return _matrix(table.sort_by([("source", "ascending"), ("ordinal", "ascending")]), self._manifest.dimensions)

    def _text_search(self, query: str, k: int) -> AsyncFTSQuery:
        # A MatchQuery is analysed, not parsed: no text can be a command of a query language.
        search = self._searched.query().nearest_to_text(MatchQuery(query, "indexed"))
        return search.select(["_score"]).with_row_id().limit(k)

    def _near(self, vector: Matrix, k: int, *, refine: bool) -> AsyncVectorQuery:
        """The ``k`` nearest, which LanceDB re-ranks from the table where ``refine``."""
        search = self._searched.query().nearest_to(vector).column("vector").distance_type(self._manifest.metric)
        search = search.nprobes(self._probes)
        if self._kind == "hnsw":
            search = search.ef(max(EF, 2 * (REFINE * k if refine else k)))
        if refine:
            search = search.refine_factor(REFINE)
        return search.select(["_distance"]).with_row_id().limit(k)

    @cached_property
    def _kind(self) -> str | None:
        return self._manifest.approximate

    @cached_property
    def _probes(self) -> int:
        return PROBES if self._kind == "hnsw" else max(PROBES, round(PROBED * partitions_of(len(self))))

    @cached_property
    def _mapped(self) -> MappedRows | None:
        return mapped_rows(self.folder, self._manifest.table_version)

    @cached_property
    def _vectors(self) -> tuple[NDArray[np.int64], Matrix]:
        table = self._table.search().select(["vector"]).with_row_id(True).to_arrow()
        return table["_rowid"].to_numpy().astype(np.int64), _matrix(table, self._manifest.dimensions)

    @cached_property
    def _texts(self) -> tuple[pa.Table, Mapping[int, int]]:
        table = self._table.search().select([*PLAIN]).with_row_id(True).to_arrow().combine_chunks()
        return table, {row: place for place, row in enumerate(table["_rowid"].to_pylist())}


async def _searchable(folder: Path, session: lancedb.Session, version: int) -> AsyncTable:
    """The table as several searches at once want it: LanceDB's blocking door crosses threads five times a search."""
    connection = await lancedb.connect_async(folder, session=session)
    table = await connection.open_table(TABLE)
    await table.checkout(version)
    return table


async def _found(search: AsyncFTSQuery | AsyncVectorQuery) -> pa.Table:
    """All of what a search finds; its ``to_arrow`` would look for large objects too, at a sixth of the time."""
    reader = await search.to_batches()
    return pa.Table.from_batches(await reader.read_all(), schema=reader.schema)


def _together(searches: Iterable[AsyncFTSQuery | AsyncVectorQuery]) -> list[pa.Table]:
    """Results of the searches, some side by side, on the loop that LanceDB's own blocking calls use."""

    async def all_of_them() -> list[pa.Table]:
        free = asyncio.Semaphore(SIDE_BY_SIDE)

        async def one(search: AsyncFTSQuery | AsyncVectorQuery) -> pa.Table:
            async with free:
                return await _found(search)

        return await asyncio.gather(*map(one, searches))

    found: list[pa.Table] = LOOP.run(all_of_them())
    return found


@cache
def _blas() -> ThreadpoolController:
    return ThreadpoolController()


def top(rows: NDArray[np.int64], scores: Matrix, k: int) -> Ranking:
    """The ``k`` best of a score for each row; scores that are equal to five places in order of the row.

    Several queries are multiplied at once, which rounds differently from one: the order must not depend on that.
    """
    scores = scores.round(5)
    if k < len(scores):
        least = np.partition(scores, len(scores) - k)[len(scores) - k]
        chosen = np.flatnonzero(scores >= least)
    else:
        chosen = np.arange(len(scores))
    order = chosen[np.lexsort((rows[chosen], -scores[chosen]))][:k]
    return [(int(rows[place]), float(scores[place])) for place in order]


def _by_distance(found: pa.Table, base: float) -> Ranking:
    return _ordered(found["_rowid"].to_pylist(), [base - distance for distance in found["_distance"].to_pylist()])


def _ordered(rows: Sequence[int], scores: Sequence[float]) -> Ranking:
    return sorted(zip(rows, scores, strict=True), key=lambda pair: (-pair[1], pair[0]))


def _matrix(table: pa.Table, dimensions: int) -> Matrix:
    flat = table["vector"].combine_chunks().flatten().to_numpy(zero_copy_only=False)
    return np.ascontiguousarray(flat.reshape(-1, dimensions), np.float32)


def _passage(row: Mapping[str, object]) -> Passage:
    page = row["page"]
    return Passage(
        passage_id=str(row["passage_id"]),
        doc_id=str(row["doc_id"]),
        text=str(row["indexed"])[int(str(row["prefix"])) :],
        title=str(row["title"]),
        page=page if isinstance(page, int) else None,
        section=str(row["section"]),
        source=str(row["source"]),
    )


def open_hosted(name: str, api_base: str | None) -> Embedder:
    """An embedder that does not belong to the index.

    Raises:
        UserError: As ``embed.open_embedder``.
    """
    from judgec.rag.retrieval.embed import open_embedder  # DSPy and scikit-learn: only where they are needed

    return open_embedder(name, api_base=api_base)


def _other_embedder(where: str, length: int, manifest: Manifest) -> ArtifactError:
    return ArtifactError(
        f"{where}: its vectors have {manifest.dimensions} numbers, those of {manifest.embedder} have {length}; "
        "the index belongs to another embedder. Build it again with judgec index, in a new folder."
    )
