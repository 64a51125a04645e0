"""An index in PostgreSQL with pgvector, for corpora and readers that outgrow one folder.

Words are ranked by BM25 as in the embedded index, in plain SQL: every posting carries its weight, so that a query is a
sum over its terms. PostgreSQL's own text search configuration finds the stems. Vectors are ranked by pgvector.
"""

import csv
import io
import threading
import weakref
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from functools import cached_property
from itertools import chain
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, unquote, urlsplit

import pg8000.native
from pg8000.exceptions import DatabaseError, InterfaceError

from judgec.errors import ArtifactError, ServiceError, UserError
from judgec.rag.retrieval.latent import LSA, MODEL_FILE, Embedder, LatentSemantics, Matrix
from judgec.rag.retrieval.manifest import Manifest, location_shown
from judgec.rag.retrieval.passages import Passage, Ranking
from judgec.rag.retrieval.stores.lance import LanceIndex, open_hosted

K1, B = 1.2, 0.75  # Lucene's, and those of the embedded index
INDEXED = 20_000  # passages from which vectors get an HNSW index; below, every one is compared
MOST_DIMENSIONS = 2_000  # that pgvector can index
SEARCHED = 100  # candidates of the HNSW index: at least the depth of a fused ranking
SCHEMA = "judgec_index"
BATCH = 2_000

_TABLES = """
DROP SCHEMA IF EXISTS judgec_index CASCADE;
CREATE SCHEMA judgec_index;
CREATE TABLE judgec_index.facts (name text PRIMARY KEY, content bytea NOT NULL);
CREATE TABLE judgec_index.passages (
    id bigint PRIMARY KEY, passage_id text NOT NULL, doc_id text NOT NULL, title text NOT NULL, section text NOT NULL,
    page integer, source text NOT NULL, body text NOT NULL, vector vector({dimensions}) NOT NULL
);
"""
_POSTINGS = f"""
CREATE TABLE judgec_index.postings AS
WITH counted AS (
    SELECT p.id, t.lexeme AS term, cardinality(t.positions)::real AS tf
    FROM judgec_index.passages p, unnest(to_tsvector('{{config}}', CASE
        WHEN strpos(left(p.body, length(p.title) + 80), p.title) > 0 THEN p.body ELSE p.title || ' ' || p.body END)) t
), lengths AS (SELECT id, sum(tf) AS length FROM counted GROUP BY id),
corpus AS (SELECT (SELECT count(*) FROM judgec_index.passages)::real AS n, avg(length) AS mean FROM lengths),
frequencies AS (SELECT term, count(*)::real AS df FROM counted GROUP BY term)
SELECT c.term, c.id,
    (ln(1 + (corpus.n - f.df + 0.5) / (f.df + 0.5)) * c.tf * ({K1} + 1)
        / (c.tf + {K1} * (1 - {B} + {B} * l.length / corpus.mean)))::real AS weight
FROM counted c JOIN lengths l USING (id) JOIN frequencies f USING (term) CROSS JOIN corpus;
CREATE INDEX postings_by_term ON judgec_index.postings (term) INCLUDE (id, weight);
"""  # noqa: S608 - constants only
_BY_TEXT = """
SELECT p.id, sum(p.weight)::real AS score FROM judgec_index.postings p
WHERE p.term IN (SELECT t.lexeme FROM unnest(to_tsvector(cast(:config AS regconfig), :query)) t)
GROUP BY p.id ORDER BY score DESC, p.id LIMIT :k
"""
_BY_VECTOR = """
SELECT id, -(vector <#> cast(:vector AS vector)) FROM judgec_index.passages
ORDER BY vector <#> cast(:vector AS vector), id LIMIT :k
"""
_COLUMNS = "passage_id, doc_id, body, title, page, section, source"


def publish(folder: Path, url: str) -> None:
    """Copy an index into PostgreSQL, all of it or nothing; one that is there is replaced.

    Raises:
        UserError: When ``url`` is none.
        ArtifactError: When the folder holds no whole index.
        ServiceError: When the database cannot be reached or lacks pgvector.
    """
    index = LanceIndex(folder)
    manifest = index.manifest
    connection = _connect(url)
    try:
        config = _config(connection, manifest.language)
        connection.run("BEGIN")
        connection.run("CREATE EXTENSION IF NOT EXISTS vector")
        for statement in filter(str.strip, _TABLES.format(dimensions=manifest.dimensions).split(";")):
            connection.run(statement)
        rows = zip(index.passages(), index.vectors(), strict=True)
        for start, row in enumerate(_batches(rows)):
            copied = "COPY judgec_index.passages FROM STDIN WITH (FORMAT csv, NULL '\\N')"
            connection.run(copied, stream=_csv(start * BATCH, row))
        for statement in filter(str.strip, _POSTINGS.format(config=config).split(";")):
            connection.run(statement)
        if len(index) >= INDEXED and manifest.dimensions <= MOST_DIMENSIONS:
            connection.run("CREATE INDEX ON judgec_index.passages USING hnsw (vector vector_ip_ops)")
        facts = {"manifest": manifest.model_dump_json().encode(), "config": config.encode()}
        if manifest.embedder == LSA:
            facts["lsa"] = (folder / MODEL_FILE).read_bytes()
        for name, content in facts.items():
            connection.run("INSERT INTO judgec_index.facts VALUES (:name, :content)", name=name, content=content)
        connection.run("COMMIT")
    except (DatabaseError, InterfaceError, OSError) as error:
        raise ServiceError(
            f"{location_shown(url)}: the index could not be published ({_said(error)}). Check the rights and that the "
            "pgvector extension is installed there."
        ) from error
    finally:
        connection.close()


class PostgresIndex:
    """An index that was published to PostgreSQL.

    Args:
        url: ``postgresql://user:password@host:port/database``; a socket's folder as ``?host=/path``.
        api_base: Where a hosted embedder is asked.

    Raises:
        UserError: When there is none.
        ServiceError: When the database cannot be reached.
        ArtifactError: When it is of another format.
    """

    def __init__(self, url: str, api_base: str | None = None) -> None:
        self._shown = location_shown(url)
        self._api_base = api_base
        self._lock = threading.Lock()
        self._connection = _connect(url)
        self._closing = weakref.finalize(self, _close, self._connection)
        try:
            self._config = bytes(self._fact("config")).decode()
            self._manifest = Manifest.parse(bytes(self._fact("manifest")), self._shown)
            self._run(f"SET hnsw.ef_search = {SEARCHED}")
        except DatabaseError as error:
            self._closing()
            raise UserError(
                f"{self._shown}: no index there ({_said(error)}). Publish one: judgec index PATH... --out INDEX "
                "--postgres URL"
            ) from error

    @property
    def manifest(self) -> Manifest:
        """Description of what it was made of."""
        return self._manifest

    @cached_property
    def embedder(self) -> Embedder:
        """The embedder that turns queries into vectors."""
        name = self._manifest.embedder
        if name == LSA:
            return LatentSemantics.parse(bytes(self._fact("lsa")), self._shown)
        return open_hosted(name, self._api_base)

    def by_text(self, queries: Sequence[str], k: int) -> list[Ranking]:
        """BM25 with k1 = 1.2, b = .75; the query is analysed as text, it holds no operators."""
        return [
            [
                (int(row), float(score))
                for row, score in self._run(_BY_TEXT, query=_clean(query), config=self._config, k=k)
            ]
            for query in queries
        ]

    def by_vector(self, queries: Sequence[str], k: int) -> list[Ranking]:
        """Cosine: exact below 20,000 passages, by an HNSW index from there."""
        vectors = self.embedder.queries(queries)
        if len(queries) and vectors.shape[1] != self._manifest.dimensions:
            raise ArtifactError(
                f"{self._shown}: its vectors have {self._manifest.dimensions} numbers, the embedder's "
                f"{vectors.shape[1]}; the index belongs to another embedder. Build and publish it again."
            )
        return [self._near(vector, k) if vector.any() else [] for vector in vectors]

    def fetch(self, rows: Sequence[int]) -> dict[int, Passage]:
        """The passages of row ids."""
        query = f"SELECT id, {_COLUMNS} FROM {SCHEMA}.passages WHERE id = ANY(:ids)"  # noqa: S608 - constants only
        return {int(row[0]): _passage(row[1:]) for row in self._run(query, ids=list(rows))} if rows else {}

    def passages(self) -> Iterator[Passage]:
        """All passages, in order of file and place."""
        query = f"SELECT {_COLUMNS} FROM {SCHEMA}.passages WHERE id >= :low AND id < :high ORDER BY id"  # noqa: S608 - constants only
        for low in range(0, len(self), BATCH):
            yield from map(_passage, self._run(query, low=low, high=low + BATCH))

    def __len__(self) -> int:
        """Number of passages."""
        return self._manifest.passages

    def _near(self, vector: Matrix, k: int) -> Ranking:
        return [(int(row), float(score)) for row, score in self._run(_BY_VECTOR, vector=_vector(vector), k=k)]

    def _fact(self, name: str) -> bytes:
        found = self._run(f"SELECT content FROM {SCHEMA}.facts WHERE name = :name", name=name)  # noqa: S608 - constants only
        if not found:
            raise ArtifactError(f"{self._shown}: the index has no {name}. Publish it again.")
        return bytes(found[0][0])

    def _run(self, statement: str, **values: object) -> list[list[Any]]:  # Any: what the columns hold
        with self._lock:
            try:
                rows: list[list[Any]] | None = self._connection.run(statement, **values)
            except (InterfaceError, OSError) as error:
                raise ServiceError(f"{self._shown}: the database went away ({_said(error)}). Run again.") from error
        return rows or []


def _connect(url: str) -> pg8000.native.Connection:
    parts = urlsplit(url)
    socket = parse_qs(parts.query).get("host", [""])[0]
    try:
        port = parts.port or 5432
        return pg8000.native.Connection(
            user=unquote(parts.username or "postgres"),
            password=None if parts.password is None else unquote(parts.password),
            host=parts.hostname or "localhost",
            port=port,
            database=parts.path.lstrip("/") or "postgres",
            unix_sock=f"{socket}/.s.PGSQL.{port}" if socket else None,
            application_name="judgec",
        )
    except ValueError:
        raise UserError(f"{location_shown(url)}: not a postgresql:// URL. Correct it.") from None
    except (DatabaseError, InterfaceError, OSError) as error:
        raise ServiceError(
            f"{location_shown(url)}: PostgreSQL cannot be reached ({_said(error)}). Start it, or check the URL."
        ) from error


def _close(connection: pg8000.native.Connection) -> None:
    with suppress(DatabaseError, InterfaceError, OSError):
        connection.close()


def _config(connection: pg8000.native.Connection, language: str) -> str:
    """The text search configuration of a language; ``simple`` (no stems) where there is none."""
    found = connection.run("SELECT cfgname FROM pg_ts_config WHERE cfgname = :name", name=language.lower())
    return str(found[0][0]) if found else "simple"


def _batches(rows: Iterable[tuple[Passage, Matrix]]) -> Iterator[list[tuple[Passage, Matrix]]]:
    batch: list[tuple[Passage, Matrix]] = []
    for row in rows:
        batch.append(row)
        if len(batch) == BATCH:
            yield batch
            batch = []
    if batch:
        yield batch


def _csv(first: int, batch: Sequence[tuple[Passage, Matrix]]) -> io.BytesIO:
    text = io.StringIO(newline="")
    writer = csv.writer(text)
    for number, (passage, vector) in enumerate(batch, first):
        page = "\\N" if passage.page is None else passage.page
        texts = map(_clean, (passage.passage_id, passage.doc_id, passage.title, passage.section))
        writer.writerow([number, *chain(texts, [page]), _clean(passage.source), _clean(passage.text), _vector(vector)])
    return io.BytesIO(text.getvalue().encode("utf-8", "replace"))


def _vector(vector: Matrix) -> str:
    return f"[{','.join(f'{value:.7g}' for value in vector.tolist())}]"


def _clean(text: str) -> str:
    """PostgreSQL stores no NUL."""
    return text.replace("\0", " ")


def _passage(row: Sequence[object]) -> Passage:
    passage_id, doc_id, body, title, page, section, source = row
    return Passage(
        passage_id=str(passage_id),
        doc_id=str(doc_id),
        text=str(body),
        title=str(title),
        page=page if isinstance(page, int) else None,
        section=str(section),
        source=str(source),
    )


def _said(error: BaseException) -> str:
    """The server's message, without the statement's values."""
    given = error.args[0] if error.args else ""
    text = str(given.get("M", given)) if isinstance(given, dict) else str(given)
    return (text.strip().splitlines() or [type(error).__name__])[0][:160]
