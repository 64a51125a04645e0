"""Items of a file in pieces: the whole file is checked first, then read again piece by piece; none are held.

JSON lines and delimited text are streamed as long as they are regular. Anything else (another format, a fault
somewhere) is left to ``read_item_file``, which holds the file and names every fault with its line.
"""

import hashlib
import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import numpy as np
import orjson

from judgec.errors import InputError
from judgec.records.label import IntArray, Item, Task
from judgec.store.labels import read_item_file
from judgec.store.rows.columns import TASKS, as_task, missing_columns
from judgec.store.rows.items import Collected, collect_items
from judgec.store.rows.ragelo import is_ragelo
from judgec.store.stream.lines import READERS, IrregularError
from judgec.store.tables import Row, Table

ROWS = 512  # in a piece: enough to work on as arrays, few enough to hold several
DIGEST_BYTES = 16  # of SHA-256: two of 10^9 items agree by chance with probability 10^-21


@dataclass(frozen=True, slots=True)
class Piece:
    """Items that follow one another in a file.

    Args:
        item_ids: Theirs, in order.
        digests: Of their inputs, see ``inputs_digest``.
        read: Reads the items themselves.
    """

    item_ids: tuple[str, ...]
    digests: tuple[bytes, ...]
    read: Callable[[], Sequence[Item]]


@dataclass(frozen=True, slots=True)
class ItemStream:
    """A file that was found sound.

    Args:
        items: How many it holds.
        rows: How many rows, repeated items included.
        notes: What was mended, one sentence each.
        fields: The inputs that at least one item has.
        pieces: The items, from the beginning each time it is called.
    """

    items: int
    rows: int
    notes: tuple[str, ...]
    fields: frozenset[str]
    pieces: Callable[[], Iterator[Piece]]


def inputs_digest(item: Item) -> bytes:
    """What tells the inputs of two items apart, whatever they are called."""
    try:
        text = orjson.dumps(item.inputs, option=orjson.OPT_SORT_KEYS)
    except TypeError:  # half a character
        text = json.dumps(item.inputs, sort_keys=True).encode()
    return hashlib.sha256(text).digest()[:DIGEST_BYTES]


def open_items(path: str, *, task: str, rename: Mapping[str, str] | None = None) -> ItemStream:
    """Check a file of items, labelled or not.

    Args:
        path: As for ``read_item_file``.
        task: What the items are for.
        rename: Our column names by theirs.

    Raises:
        InputError, UserError: As ``read_item_file``.
    """
    known = as_task(task)
    try:
        return _Regular(path, known, rename or {}).check()
    except IrregularError:
        whole = read_item_file(path, task=task, rename=rename)
    return ItemStream(
        len(whole.items), whole.rows, whole.notes, _fields_of(whole.items), lambda: pieces_of(whole.items)
    )


def _fields_of(items: Sequence[Item]) -> frozenset[str]:
    return frozenset(name for item in items for name, value in item.inputs.items() if value)


def pieces_of(items: Sequence[Item], *, digested: bool = True) -> Iterator[Piece]:
    """Items that are held already, in pieces; of no items one empty piece.

    Args:
        items: Any number.
        digested: False leaves the digests out, where nothing is looked up.
    """
    for start in range(0, max(len(items), 1), ROWS):
        part = items[start : start + ROWS]
        digests = tuple(map(inputs_digest, part)) if digested else ()
        yield Piece(tuple(item.item_id for item in part), digests, partial(_same, part))


def _same(items: Sequence[Item]) -> Sequence[Item]:
    return items


@dataclass(frozen=True, slots=True)
class _Mark:
    """What is remembered of a piece: where it stands, and its items' names and digests, packed."""

    start: int
    kept: IntArray | None  # None when every item of the piece is new
    item_ids: bytes
    digests: bytes


class _Regular:
    """A file whose pieces can be read one by one."""

    def __init__(self, path: str, task: Task, rename: Mapping[str, str]) -> None:
        self._path = Path(path)
        self._shown = path
        self._task = task
        self._rename = rename
        self._fields = TASKS[task].inputs
        self._marks: list[_Mark] = []
        open_rows = READERS.get(self._path.suffix.lower())
        if open_rows is None or not self._path.is_file():
            raise IrregularError
        self._open_rows = open_rows

    def check(self) -> ItemStream:
        """Read the file once."""
        columns: set[str] = set()
        present: frozenset[str] = frozenset()
        rows = empty = not_text = items = 0
        seen = _Seen()
        with self._path.open("rb") as file:
            read = self._open_rows(file)
            while True:
                start = file.tell()
                raw = read(file, ROWS)
                if not raw:
                    break
                columns.update(*map(dict.keys, raw))
                table = self._table(raw)
                found = self._collect(table)
                if len(present) < len(self._fields):
                    present |= _fields_of(found.items)
                kept, digests = seen.new(found.items)
                names = [found.items[i].item_id for i in kept]
                everything = None if len(kept) == len(found.items) else kept
                self._marks.append(_Mark(start, everything, orjson.dumps(names), b"".join(digests)))
                rows, items = rows + len(table.rows), items + len(kept)
                empty, not_text = empty + found.empty, not_text + found.not_text
        ours = [self._rename.get(name, name) for name in columns]
        regular = self._rename.keys() <= columns and len(set(ours)) == len(ours)
        if (
            not regular
            or missing_columns(ours, self._task, labelled=False)
            or is_ragelo(Table(self._shown, tuple(ours), (), ()))
        ):
            raise IrregularError
        counted = {
            f"{rows - items} rows repeat an item and are judged once.": rows - items,
            f"{empty} rows have no answer; they are judged as empty answers.": empty,
            f"{not_text} input cells are not text and became text.": not_text,
        }
        notes = tuple(sentence for sentence, count in counted.items() if count)
        return ItemStream(items, rows, notes, present, self.pieces)

    def pieces(self) -> Iterator[Piece]:
        """The pieces; the file is opened again only for those whose items are wanted."""
        for mark in self._marks:
            names = tuple(orjson.loads(mark.item_ids))
            cuts = range(0, len(mark.digests), DIGEST_BYTES)
            digests = tuple(mark.digests[cut : cut + DIGEST_BYTES] for cut in cuts)
            if names:
                yield Piece(names, digests, partial(self._read, mark, names))

    def _read(self, mark: _Mark, names: tuple[str, ...]) -> Sequence[Item]:
        try:
            with self._path.open("rb") as file:
                read = self._open_rows(file)
                file.seek(mark.start)
                found = self._collect(self._table(read(file, ROWS))).items
            items = found if mark.kept is None else tuple(found[i] for i in mark.kept)
        except (OSError, IrregularError, IndexError):  # gone; no longer what was checked; shorter
            items = ()
        same = tuple(item.item_id for item in items) == names
        if not same or b"".join(map(inputs_digest, items)) != mark.digests:  # verdicts are kept under these
            raise InputError([f"{self._shown}: the file changed while it was read. Run the command again."])
        return items

    def _table(self, rows: list[Row]) -> Table:
        ours = [{self._rename.get(name, name): value for name, value in row.items()} for row in rows]
        # Every field, so that a piece without a column reads like the whole file that has it.
        return Table(self._shown, self._fields, tuple(ours if self._rename else rows), tuple(range(len(rows))))

    def _collect(self, table: Table) -> Collected:
        found = collect_items(table, self._task)
        if found.faults:
            raise IrregularError
        return found


class _Seen:
    """Items met so far, as 64-bit numbers: sorted runs that double in size."""

    def __init__(self) -> None:
        self._runs: list[tuple[IntArray, IntArray]] = []

    def new(self, items: Sequence[Item]) -> tuple[IntArray, list[bytes]]:
        """Positions of the items not met before, and the digests of these.

        Raises:
            IrregularError: When an item_id comes again with other inputs (or, hardly ever, seems to).
        """
        digests = [inputs_digest(item) for item in items]
        names = np.array([hash(item.item_id) for item in items], dtype=np.int64)
        inputs = np.frombuffer(b"".join(digests), dtype=np.int64)[::2]
        fresh = np.ones(len(names), dtype=bool)
        for known, known_inputs in self._runs:
            at = np.minimum(np.searchsorted(known, names), len(known) - 1)
            again = known[at] == names
            if (known_inputs[at] != inputs)[again].any():
                raise IrregularError
            fresh &= ~again
        kept = np.flatnonzero(fresh)
        self._add(names[kept], inputs[kept])
        return kept, [digests[i] for i in kept]

    def _add(self, names: IntArray, inputs: IntArray) -> None:
        while self._runs and len(self._runs[-1][0]) <= len(names):
            known, known_inputs = self._runs.pop()
            names, inputs = np.concatenate([known, names]), np.concatenate([known_inputs, inputs])
        order = np.argsort(names)
        if len(order):
            self._runs.append((names[order], inputs[order]))
