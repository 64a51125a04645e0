"""Keeps what a watch knows between two passes: one JSON file, and a line for each judged trace in a file beside it.

A line is there before its feedback is logged, and the JSON file says afterwards how many are.
"""

import fcntl
import json
import os
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, BinaryIO  # JSON

from judgec.errors import ArtifactError, UserError
from judgec.labels.split.family import write_whole
from judgec.private import private_file, private_folder


@dataclass(frozen=True, slots=True)
class JudgedTrace:
    """A sampled trace: its session, the inputs that it has, and what the judge said, as a row of ``judge``.

    ``learned`` says that the judge has learned from its query.
    """

    trace_id: str
    session: str
    given: Sequence[str]
    learned: bool
    said: Mapping[str, Any]

    def of(self, aspect: str, name: str) -> object:
        """A cell of the row, of one aspect; with several each column is a mapping."""
        return self.said[f"{name}s"][aspect] if f"{name}s" in self.said else self.said[name]


@dataclass(slots=True)
class WatchState:
    """An open state: what it belongs to, its lines, how many of them are logged, and from when the next pass looks."""

    path: Path
    lines: BinaryIO
    judged: list[JudgedTrace]
    about: Mapping[str, object]
    logged: int = 0
    next_ms: int = 0

    def add(self, traces: Sequence[JudgedTrace]) -> None:
        """Keep judged traces: they are on the disk when this returns."""
        self.lines.write("".join(json.dumps(asdict(one)) + "\n" for one in traces).encode())
        self.lines.flush()
        os.fsync(self.lines.fileno())
        self.judged += traces

    def save(self) -> None:
        """Write the JSON file, whole or not at all."""
        kept = {"about": self.about, "logged": self.logged, "next_ms": self.next_ms}
        write_whole(self.path, json.dumps(kept) + "\n")


@contextmanager
def open_state(path: Path, about: Mapping[str, object]) -> Iterator[WatchState]:
    """The state in a JSON file, made where there is none, for one pass at a time.

    Raises:
        UserError: Another pass has it open, or it belongs to something else.
        ArtifactError: It is no such file.
    """
    private_folder(path.parent)
    private_file(path.with_suffix(".jsonl"))
    with path.with_suffix(".jsonl").open("a+b") as lines:
        try:
            fcntl.flock(lines, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise UserError(f"{path}: another pass has it open; one at a time is valid. Wait for its end.") from None
        lines.seek(0)
        whole, end, _ = lines.read().rpartition(b"\n")
        lines.truncate(len(whole) + len(end))  # a pass that was killed has begun a line
        try:
            judged = [JudgedTrace(**json.loads(line)) for line in whole.splitlines()]
            known = json.loads(path.read_bytes()) if path.exists() else {"about": about}
            state = WatchState(path, lines, judged, **known)
        except (ValueError, TypeError) as error:
            raise ArtifactError(f"{path}: {error}; a file that judgec watch wrote is needed. Move it away.") from error
        if state.about != about:
            raise UserError(f"{path}: begun with {state.about}, not {about}. Give that, or move {path.stem}.* away.")
        yield state
