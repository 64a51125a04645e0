"""Every finished LM call, on disk the moment it is finished, so that none is ever paid twice; and what was
worked out of items on the way (``journaled.facts``).

One SQLite file in WAL mode. Rows are only appended and the newest row of a digest wins. A commit survives the
death of the process (``kill -9``); a power cut may lose the last moments, never the file.
"""

import sqlite3
import threading
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from types import TracebackType
from typing import Any, NamedTuple, Self

from judgec.errors import ArtifactError
from judgec.private import private_file, private_folder

APPLICATION_ID = 0x6A646763  # "jdgc" in the SQLite header: this file is ours
BUSY_SECONDS = 60.0  # how long a writer waits for another process
CHECKPOINT_PAGES = 10_000  # 40 MB of log before it is folded in: a page that changes often is then written once
LOOKUP_CHUNK = 500  # digests in one SELECT; SQLite allows 999 everywhere

# The n-th script brings a file from schema n to n + 1: append, never edit.
MIGRATIONS = (
    """
    CREATE TABLE replies (
        seq INTEGER PRIMARY KEY,
        digest BLOB NOT NULL,
        model TEXT NOT NULL,
        served_by TEXT NOT NULL,
        text TEXT NOT NULL,
        finish TEXT NOT NULL,
        logprobs TEXT,
        input_tokens INTEGER NOT NULL,
        output_tokens INTEGER NOT NULL,
        usd REAL,
        finished REAL NOT NULL
    );
    CREATE INDEX replies_by_digest ON replies (digest, seq);
    """,
    """
    CREATE TABLE owners (
        id INTEGER PRIMARY KEY,
        digest BLOB NOT NULL UNIQUE,
        kind TEXT NOT NULL,
        name TEXT NOT NULL,
        made REAL NOT NULL
    );
    CREATE TABLE facts (
        seq INTEGER PRIMARY KEY,
        owner INTEGER NOT NULL,
        item BLOB NOT NULL,
        value BLOB NOT NULL
    );
    CREATE INDEX facts_by_item ON facts (owner, item, seq);
    """,
    """
    CREATE TABLE holders (
        id INTEGER PRIMARY KEY AUTOINCREMENT,
        host TEXT NOT NULL,
        pid INTEGER NOT NULL,
        started INTEGER NOT NULL,
        deadline REAL NOT NULL
    );
    CREATE TABLE leases (
        digest BLOB PRIMARY KEY,
        holder INTEGER NOT NULL
    ) WITHOUT ROWID;
    CREATE INDEX leases_by_holder ON leases (holder);
    """,
    """
    CREATE TABLE batches (
        id INTEGER PRIMARY KEY,
        nonce TEXT NOT NULL UNIQUE,
        service TEXT NOT NULL,
        identity TEXT NOT NULL,
        model TEXT NOT NULL,
        made REAL NOT NULL,
        since REAL NOT NULL,
        sent REAL,
        holder INTEGER NOT NULL,
        state TEXT NOT NULL,
        file TEXT NOT NULL DEFAULT '',
        remote TEXT
    );
    CREATE TABLE batch_calls (
        batch INTEGER NOT NULL,
        position INTEGER NOT NULL,
        digest BLOB NOT NULL,
        attempt INTEGER NOT NULL,
        prompt_tokens INTEGER NOT NULL,
        reply_tokens INTEGER NOT NULL,
        PRIMARY KEY (batch, position)
    ) WITHOUT ROWID;
    """,
)
SCHEMA = len(MIGRATIONS)


class JournaledReply(NamedTuple):
    """A reply of a model, and its cost; whether it could be read is for the judge to decide.

    Args:
        model: The model that was asked for, as in the spec.
        served_by: The model that the endpoint says answered.
        text: The reply as it came.
        finish: Why it ended: ``stop``, ``length``, ``content_filter``, ...
        logprobs: Log-probabilities of the verdict's tokens as JSON, or None.
        input_tokens: Prompt tokens billed.
        output_tokens: Reply tokens billed.
        usd: What it cost, or None when the model has no known price.
        finished: When, in seconds since the epoch.
    """

    model: str
    served_by: str
    text: str
    finish: str
    logprobs: str | None
    input_tokens: int
    output_tokens: int
    usd: float | None
    finished: float


_COLUMNS = ", ".join(JournaledReply._fields)
_INSERT = f"INSERT INTO replies (digest, {_COLUMNS}) VALUES (?{', ?' * len(JournaledReply._fields)})"  # noqa: S608 - constants only
_FREE = "DELETE FROM leases WHERE digest = ?"
_NEWEST = f"SELECT {_COLUMNS} FROM replies WHERE digest = ? ORDER BY seq DESC LIMIT 1"  # noqa: S608 - constants only


Value = str | bytes | int | float | None
Row = tuple[Any, ...]  # what SQLite gives; the query says what is in it


class Journal:
    """The journal at ``path``; threads share one, and several processes may write one file at once.

    Args:
        path: The SQLite file; made when absent, with its folder, for their owner alone. ``:memory:`` keeps nothing.

    Raises:
        ArtifactError: When the file is damaged, foreign, written by a newer judgec, or cannot be opened.
    """

    def __init__(self, path: Path | str) -> None:
        self.path = path
        self._lock = threading.RLock()
        self._closing: list[Callable[[], None]] = []
        self._refuse_foreign_bytes()
        with self._guarded():
            if isinstance(path, Path):
                private_folder(path.parent)
                private_file(path)
            self._db = sqlite3.connect(
                path,
                timeout=BUSY_SECONDS,
                isolation_level=None,
                check_same_thread=False,
                cached_statements=32,
            )
        try:
            self._prepare()
        except BaseException:
            self._db.close()
            raise

    def get(self, digest: bytes) -> JournaledReply | None:
        """The newest reply under ``digest``, or None."""
        with self._lock, self._guarded():
            row = self._db.execute(_NEWEST, (digest,)).fetchone()
        return None if row is None else JournaledReply._make(row)

    def get_many(self, digests: Sequence[bytes]) -> dict[bytes, JournaledReply]:
        """The newest reply of every digest that has one."""
        found: dict[bytes, JournaledReply] = {}
        for start in range(0, len(digests), LOOKUP_CHUNK):
            chunk = digests[start : start + LOOKUP_CHUNK]
            marks = ", ".join("?" * len(chunk))
            query = f"SELECT digest, {_COLUMNS} FROM replies WHERE digest IN ({marks}) ORDER BY digest, seq"  # noqa: S608 - marks only
            with self._lock, self._guarded():
                rows = self._db.execute(query, chunk).fetchall()
            found.update((row[0], JournaledReply._make(row[1:])) for row in rows)
        return found

    def put(self, digest: bytes, reply: JournaledReply) -> None:
        """Append one reply; it is durable when this returns."""
        self.put_many([(digest, reply)])

    def put_many(self, replies: Iterable[tuple[bytes, JournaledReply]]) -> None:
        """Append several replies in one commit: all or none; they are durable when this returns.

        Nobody holds their calls (``leases``) any more then.
        """
        rows = [(digest, *reply) for digest, reply in replies]
        with self._lock, self._guarded(), self._transaction():
            self._db.executemany(_INSERT, rows)
            self._db.executemany(_FREE, [row[:1] for row in rows])

    def select(self, query: str, parameters: Sequence[Value] = ()) -> list[Row]:
        """The rows of any query."""
        with self._lock, self._guarded():
            return self._db.execute(query, parameters).fetchall()

    def change(self, statement: str, rows: Iterable[Sequence[Value]]) -> None:
        """Run a statement for each row of parameters in one commit, all or none."""
        with self._lock, self._guarded(), self._transaction():
            self._db.executemany(statement, rows)

    @contextmanager
    def transaction(self) -> Iterator[None]:
        """Everything in the block is one commit, all or none; no other process writes meanwhile."""
        with self._lock, self._guarded(), self._transaction():
            yield

    def insert(self, statement: str, row: Sequence[Value]) -> int:
        """Run one statement inside of a ``transaction``; returns the identifier of the row that was last made."""
        return int(self._db.execute(statement, row).lastrowid or 0)

    def insert_many(self, statement: str, rows: Iterable[Sequence[Value]]) -> None:
        """Run a statement inside of a ``transaction`` for each row of parameters."""
        self._db.executemany(statement, rows)

    def within(self, statement: str, digests: Iterable[bytes], holder: int) -> None:
        """Run a statement inside of a ``transaction`` for each digest and the holder."""
        self._db.executemany(statement, [(digest, holder) for digest in digests])

    def at_close(self, act: Callable[[], None]) -> None:
        """Do this before the file is closed."""
        self._closing.append(act)

    def __len__(self) -> int:
        """Replies in the file, superseded ones included."""
        with self._lock, self._guarded():
            return int(self._db.execute("SELECT COUNT(*) FROM replies").fetchone()[0])

    def close(self) -> None:
        """Close the file; nothing is pending."""
        with self._lock:
            while self._closing:
                with suppress(ArtifactError):  # of a full disk, say: a lease has an end of its own
                    self._closing.pop()()
            self._db.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def _refuse_foreign_bytes(self) -> None:
        """SQLite would report a text file as damaged only later, and would fill an empty one."""
        if not isinstance(self.path, Path) or not self.path.is_file():
            return
        with self.path.open("rb") as file:
            head = file.read(16)
        if head and head != b"SQLite format 3\0":
            raise ArtifactError(
                f"{self.path}: not a judgec journal (its first bytes are not SQLite's). "
                "Move the file away; a new journal will be made."
            )

    def _prepare(self) -> None:
        with self._guarded():
            self._known_schema()  # before anything of a foreign file is changed
            # NORMAL: the log reaches the operating system at each commit and the disk at each checkpoint.
            self._retry_busy(lambda: self._db.execute("PRAGMA journal_mode = WAL"))
            self._db.execute("PRAGMA synchronous = NORMAL")
            self._db.execute(f"PRAGMA wal_autocheckpoint = {CHECKPOINT_PAGES}")
            with self._transaction():
                for script in MIGRATIONS[self._known_schema() :]:
                    for statement in filter(str.strip, script.split(";")):
                        self._db.execute(statement)
                self._db.execute(f"PRAGMA application_id = {APPLICATION_ID}")
                self._db.execute(f"PRAGMA user_version = {SCHEMA}")

    def _known_schema(self) -> int:
        version, owner = (
            int(self._db.execute(f"PRAGMA {name}").fetchone()[0]) for name in ("user_version", "application_id")
        )
        tables = int(self._db.execute("SELECT COUNT(*) FROM sqlite_master").fetchone()[0])
        if owner != APPLICATION_ID and (tables or owner):
            raise ArtifactError(
                f"{self.path}: a SQLite file, but not a judgec journal. "
                "Move it away, or choose another folder with --home."
            )
        if version > SCHEMA:
            raise ArtifactError(
                f"{self.path}: journal schema {version}; this judgec reads up to {SCHEMA}. "
                "Upgrade judgec, or choose another folder with --home."
            )
        return version

    def _retry_busy(self, act: Callable[[], object]) -> None:
        """Changing to WAL does not wait for other processes by itself, so wait for their write lock first."""
        try:
            act()
        except sqlite3.OperationalError:
            with self._transaction():
                pass
            act()

    @contextmanager
    def _transaction(self) -> Iterator[None]:
        self._db.execute("BEGIN IMMEDIATE")
        try:
            yield
        except BaseException:
            self._db.execute("ROLLBACK")
            raise
        self._db.execute("COMMIT")

    @contextmanager
    def _guarded(self) -> Iterator[None]:
        try:
            yield
        except (sqlite3.DatabaseError, OSError) as error:
            damaged = isinstance(error, sqlite3.DatabaseError) and not isinstance(error, sqlite3.OperationalError)
            remedy = (
                "Move it and its -wal and -shm files away; a new journal will be made and calls paid again."
                if damaged
                else "Check the folder's rights and free space, or choose another one with --home."
            )
            raise ArtifactError(f"{self.path}: the journal cannot be used ({error}). {remedy}") from error
