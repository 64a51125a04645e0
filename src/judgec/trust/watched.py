"""The state of a watch: which traces were sampled, what the judge and experts said of them, and when all begins anew.

One SQLite file an experiment and judge. A verdict is there before its feedback is logged, and marked afterwards, so
that a watch that was killed at any moment goes on without judging or logging twice.
"""

import fcntl
import json
import sqlite3
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from judgec.errors import ArtifactError, UserError
from judgec.private import private_file, private_folder

FORMAT = 1
_SCHEMA = """
CREATE TABLE IF NOT EXISTS facts (name TEXT PRIMARY KEY, value TEXT NOT NULL);
CREATE TABLE IF NOT EXISTS recent (trace_id TEXT PRIMARY KEY, started_ms INTEGER NOT NULL) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS verdicts (
    seq INTEGER PRIMARY KEY,
    trace_id TEXT NOT NULL UNIQUE,
    session TEXT NOT NULL,
    accept INTEGER,
    score REAL,
    unscored TEXT,
    logged INTEGER NOT NULL DEFAULT 0,
    proposed INTEGER NOT NULL DEFAULT 0,
    label INTEGER,
    said TEXT NOT NULL,
    given TEXT
);
"""
_COLUMNS = "trace_id, session, accept, score, unscored, logged, proposed, label, given"


@dataclass(frozen=True, slots=True)
class WatchedTrace:
    """A sampled trace with its verdict.

    Args:
        trace_id: Its id.
        session: Of its conversation, or empty.
        accept: 1, 0, or None without a verdict.
        score: Expected grade, None likewise.
        unscored: Why there is no verdict, or None.
        logged: Its feedback is on the trace.
        proposed: Experts were asked about it.
        label: What experts said: 1, 0, or None.
        given: The inputs that the judge saw of it; None where that was not kept, or nothing was judged.
    """

    trace_id: str
    session: str
    accept: int | None
    score: float | None
    unscored: str | None
    logged: bool = False
    proposed: bool = False
    label: int | None = None
    given: tuple[str, ...] | None = None


class WatchState:
    """An open state; ``open_state`` makes it.

    Args:
        connection: To its file.
    """

    def __init__(self, connection: sqlite3.Connection) -> None:
        self._connection = connection

    def fact(self, name: str, usual: str = "") -> str:
        """A fact by its name."""
        row = self._connection.execute("SELECT value FROM facts WHERE name = ?", (name,)).fetchone()
        return usual if row is None else str(row[0])

    def say(self, **facts: object) -> None:
        """Keep facts, all of them or none."""
        with self._connection:
            self._connection.executemany(
                "INSERT OR REPLACE INTO facts (name, value) VALUES (?, ?)",
                [(name, str(value)) for name, value in facts.items()],
            )

    def verdicts(self) -> list[WatchedTrace]:
        """All sampled traces, in the order in which they were judged."""
        rows = self._connection.execute(f"SELECT {_COLUMNS} FROM verdicts ORDER BY seq")  # noqa: S608 -- constants only
        return [
            WatchedTrace(
                trace_id,
                session,
                accept,
                score,
                unscored,
                bool(logged),
                bool(proposed),
                label,
                None if given is None else tuple(json.loads(given)),
            )
            for trace_id, session, accept, score, unscored, logged, proposed, label, given in rows
        ]

    def unlogged(self) -> dict[str, list[dict[str, object]]]:
        """The feedback of traces that may not have it yet, by trace."""
        rows = self._connection.execute("SELECT trace_id, said FROM verdicts WHERE NOT logged ORDER BY seq")
        return {str(trace_id): json.loads(said) for trace_id, said in rows}

    def judged(self, found: Iterable[tuple[WatchedTrace, list[dict[str, object]]]]) -> None:
        """Keep verdicts with the feedback that is to be logged; those that are there already stay."""
        rows = [
            (
                one.trace_id,
                one.session,
                one.accept,
                one.score,
                one.unscored,
                json.dumps(said),
                None if one.given is None else json.dumps(one.given),
            )
            for one, said in found
        ]
        with self._connection:
            self._connection.executemany(
                "INSERT OR IGNORE INTO verdicts (trace_id, session, accept, score, unscored, said, given) "
                "VALUES (?, ?, ?, ?, ?, ?, ?)",
                rows,
            )

    def logged(self, trace_ids: Iterable[str]) -> None:
        """Mark traces that have their feedback."""
        self._mark("logged", dict.fromkeys(trace_ids, 1))

    def proposed(self, trace_ids: Iterable[str]) -> None:
        """Mark traces that experts are asked about."""
        self._mark("proposed", dict.fromkeys(trace_ids, 1))

    def labelled(self, labels: Mapping[str, int | None]) -> None:
        """Keep what experts said, by trace; None takes it back."""
        self._mark("label", labels)

    def _mark(self, column: str, values: Mapping[str, int | None]) -> None:
        with self._connection:
            self._connection.executemany(
                f"UPDATE verdicts SET {column} = ? WHERE trace_id = ?",  # noqa: S608 -- our own names
                [(value, trace_id) for trace_id, value in values.items()],
            )

    def seen(self, ids: Mapping[str, int], since_ms: int) -> int:
        """Keep which traces were seen, those that may come again: how many are new."""
        with self._connection:
            before = self._connection.total_changes
            self._connection.executemany("INSERT OR IGNORE INTO recent VALUES (?, ?)", list(ids.items()))
            new = self._connection.total_changes - before
            self._connection.execute("DELETE FROM recent WHERE started_ms < ?", (since_ms,))
        return new


@contextmanager
def open_state(path: Path, *, about: Mapping[str, object]) -> Iterator[WatchState]:
    """The state, for one watch at a time.

    Args:
        path: Its file; made where there is none.
        about: What it belongs to (judge, rate, ...); another value than the file's is refused.

    Raises:
        UserError: Another watch has it open, or it belongs to something else.
        ArtifactError: It is no such file.
    """
    private_folder(path.parent)
    private_file(path)
    with path.with_name(f"{path.name}.lock").open("w") as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise UserError(
                f"{path}: another judgec watch of this experiment and judge is running; one at a time is valid. "
                "End the other, or wait for it."
            ) from None
        connection = sqlite3.connect(path)
        try:
            connection.executescript(_SCHEMA)
            if "given" not in {row[1] for row in connection.execute("PRAGMA table_info(verdicts)")}:
                connection.execute("ALTER TABLE verdicts ADD COLUMN given TEXT")  # a file from before it was kept
            state = WatchState(connection)
            _check(state, path, {"format": FORMAT, **about})
            yield state
        except sqlite3.DatabaseError as error:
            raise ArtifactError(f"{path}: {error}; a file that judgec watch wrote is needed. Move it away.") from error
        finally:
            connection.close()


def _check(state: WatchState, path: Path, about: Mapping[str, object]) -> None:
    for name, value in about.items():
        known = state.fact(name)
        if known and known != str(value):
            raise UserError(
                f"{path}: it was begun with {name} {known}, now {name} is {value}; one watch has one. "
                f"Give {known}, or move the file away to begin anew."
            )
    state.say(**{name: value for name, value in about.items() if not state.fact(name)})
