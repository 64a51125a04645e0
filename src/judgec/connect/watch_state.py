"""Keeps what a watch knows between two passes: one JSON file, and a line for each judged trace in a file beside it.

A line is there before its feedback is logged, and the JSON file says afterwards how many are, so that a pass that was
killed at any moment loses nothing, and the next one judges and logs nothing twice.
"""

import fcntl
import json
import os
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any  # JSON

from judgec.errors import ArtifactError, UserError
from judgec.labels.split.family import write_whole
from judgec.private import private_file, private_folder

FORMAT = 2
SAVED = ("logged", "next_ms", "traces", "recent")


@dataclass(frozen=True, slots=True)
class WatchedTrace:
    """A sampled trace with its verdict.

    Args:
        trace_id: Its id.
        started_ms: When it began, since 1970.
        session: Of its conversation, or empty.
        asked: Tells the judge apart where it is asked otherwise.
        accept: 1, 0, or None without a verdict.
        score: Expected grade, None likewise.
        unscored: Why there is no verdict, or None.
        given: The inputs that the judge saw of it; None where nothing was judged.
        learned: The judge has learned from its query.
        feedback: What is logged on the trace.
    """

    trace_id: str
    started_ms: int
    session: str
    asked: str
    accept: int | None
    score: float | None
    unscored: str | None
    given: tuple[str, ...] | None
    learned: bool = False
    feedback: tuple[Mapping[str, Any], ...] = ()


@dataclass(slots=True)
class WatchState:
    """An open state; ``open_state`` makes it.

    Args:
        path: Of the JSON file.
        about: What it belongs to.
        judged: All judged traces, in order.
        logged: How many of the first of them have their feedback.
        next_ms: From when on the next pass looks.
        traces: How many have ended so far.
        recent: Those of them that the next pass will see again.
    """

    path: Path
    about: Mapping[str, object]
    judged: list[WatchedTrace] = field(default_factory=list)
    logged: int = 0
    next_ms: int = 0
    traces: int = 0
    recent: Sequence[str] = ()

    def add(self, traces: Sequence[WatchedTrace]) -> None:
        """Keep judged traces: they are on the disk when this returns."""
        with lines_of(self.path).open("ab") as file:
            file.write("".join(json.dumps(asdict(one)) + "\n" for one in traces).encode())
            file.flush()
            os.fsync(file.fileno())
        self.judged += traces

    def save(self) -> None:
        """Write the JSON file, whole or not at all."""
        kept = {name: getattr(self, name) for name in SAVED}
        write_whole(self.path, json.dumps({"format": FORMAT, **self.about, **kept}) + "\n")


def lines_of(path: Path) -> Path:
    """The file of judged traces beside the JSON file of a state."""
    return path.with_suffix(".jsonl")


@contextmanager
def open_state(path: Path, about: Mapping[str, object]) -> Iterator[WatchState]:
    """The state, for one pass at a time.

    Args:
        path: Its JSON file; made where there is none.
        about: What it belongs to (judge, rate, ...); another value than the file's is refused.

    Raises:
        UserError: Another pass has it open, or it belongs to something else.
        ArtifactError: It is no such file.
    """
    private_folder(path.parent)
    private_file(lines_of(path))
    with path.with_name(f"{path.name}.lock").open("w") as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise UserError(
                f"{path}: another judgec watch of this experiment and judge is running; one at a time is valid. "
                "End the other, or wait for it."
            ) from None
        try:
            state = _read(path, about)
        except (ValueError, TypeError, KeyError) as error:
            raise ArtifactError(f"{path}: {error}; a file that judgec watch wrote is needed. Move it away.") from error
        yield state


def _read(path: Path, about: Mapping[str, object]) -> WatchState:
    known = json.loads(path.read_bytes()) if path.exists() else {"format": FORMAT, **about}
    for name, value in {"format": FORMAT, **about}.items():
        if known[name] != value:
            raise UserError(
                f"{path}: it was begun with {name} {known[name]}, now {name} is {value}; one watch has one. "
                f"Give {known[name]}, or move it and {lines_of(path).name} away to begin anew."
            )
    judged = []
    for line in _whole_lines(lines_of(path)):
        row = json.loads(line)
        given = None if row["given"] is None else tuple(row["given"])
        judged.append(WatchedTrace(**{**row, "given": given, "feedback": tuple(row["feedback"])}))
    state = WatchState(path, about, judged)
    for name in SAVED:
        setattr(state, name, known.get(name, getattr(state, name)))
    return state


def _whole_lines(path: Path) -> list[bytes]:
    """The lines of a file, without what a pass that was killed had begun to write."""
    path.touch()
    with path.open("r+b") as file:
        whole, end, _ = file.read().rpartition(b"\n")
        file.truncate(len(whole) + len(end))
    return whole.splitlines()
