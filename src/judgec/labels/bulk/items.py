"""Items of a file that is about to be judged, and the bytes of its lines."""

import io
import json
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, fields
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from judgec.errors import InputError
from judgec.labels.labels import ItemFile, read_item_file
from judgec.labels.split.queries import LearnedQueries
from judgec.records.conversation import TurnChoice
from judgec.records.label import Task
from judgec.records.tasks.registry import as_task
from judgec.table.rows.cells import as_grade
from judgec.table.rows.columns import label_columns
from judgec.table.table import Table
from judgec.table.tables import as_it_stands, as_read

MARK = b"\xef\xbb\xbf"  # of UTF-8, at the beginning of a file


@dataclass(frozen=True, slots=True, kw_only=True)
class OpenItems(ItemFile):
    """A file of items that is about to be judged.

    Args:
        learned: Of each item whether a judge has learned from it, shape (items,).
        labelled: The columns that hold a label of an item that no judge has learned from, as the file names them.
        content: The bytes of JSON lines, one row a line, None of any other file: rows are written as they stood there.
    """

    learned: NDArray[np.bool_]
    labelled: tuple[str, ...]
    content: bytes | None


def open_items(
    path: str,
    *,
    task: str,
    rename: Mapping[str, str] | None = None,
    memories: Sequence[LearnedQueries] = (),
    raters: Sequence[str] = (),
    turn: TurnChoice | None = None,
    usual: TurnChoice | None = None,
) -> OpenItems:
    """Read a file of items, labelled or not, that is about to be judged.

    Args:
        path: As for ``read_item_file``.
        task: What the items are for.
        rename: Our column names by theirs.
        memories: What the judges have learned from that are about to judge the items.
        raters: Columns that may hold labels beside those of the task.
        turn: What of a conversation is judged; as ``with_turns``.
        usual: The same where nobody chooses and there are conversations.

    Raises:
        InputError, UserError: As ``read_item_file``.
    """
    stands, content = _with_content(path, rename or ())
    known = as_task(task)
    file = read_item_file(as_read(stands), task=task, rename=rename, turn=turn, usual=usual)
    learned = np.zeros(len(file.items), dtype=np.bool_)
    for memory in memories:
        learned |= memory.among(file.items)
    return OpenItems(
        **{one.name: getattr(file, one.name) for one in fields(file)},
        learned=learned,
        labelled=_labelled(file, known, raters, learned),
        content=content if file.table.rows is stands.rows else None,
    )


def _with_content(path: str, having: Collection[str]) -> tuple[Table, bytes | None]:
    """A file as it stands, and the bytes of JSON lines.

    Raises:
        InputError: The file changed while it was read.
    """
    file = Path(path)
    if file.suffix.lower() not in {".jsonl", ".ndjson"} or not file.is_file():
        return as_it_stands(path, having), None
    before, table = file.stat(), as_it_stands(path, having)
    content, after = file.read_bytes().removeprefix(MARK), file.stat()
    if (before.st_mtime_ns, before.st_size) != (after.st_mtime_ns, after.st_size):
        raise InputError([f"{path}: the file changed while it was read. Run the command again."])
    try:
        content.decode()
        first = json.loads(next(lines_of(content)))
    except ValueError:
        return table, None
    # A list on one line, spans, rows within an object are not a row a line.
    alike = isinstance(first, dict) and first.keys() == table.rows[0].keys()
    return table, content if alike and sum(1 for _ in lines_of(content)) == len(table.rows) else None


def lines_of(content: bytes) -> Iterator[bytes]:
    """The lines that are not blank."""
    return filter(None, map(bytes.strip, io.BytesIO(content)))


def _labelled(file: ItemFile, task: Task, raters: Sequence[str], learned: NDArray[np.bool_]) -> tuple[str, ...]:
    """The columns with a label of an item that no judge has learned from; the task's own before raters'."""
    theirs = {file.rename.get(name, name): name for name in file.table.columns}
    fresh = [row for row, item in zip(file.table.rows, file.item_of, strict=True) if not learned[item]]
    names = [name for name in dict.fromkeys((*label_columns(list(theirs), task), *raters)) if name in theirs]
    return tuple(theirs[one] for one in names if any(as_grade(row.get(theirs[one])) is not None for row in fresh))
