"""Items of a file in pieces: the whole file is checked first, then read again piece by piece; none are held.

JSON lines and delimited text are streamed as long as they are regular. Anything else (another format, a fault
somewhere) is left to ``read_item_file``, which holds the file and names every fault with its line.
"""

import hashlib
import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass
from functools import partial
from itertools import chain
from pathlib import Path
from typing import TypeVar

import numpy as np
import orjson
from numpy.typing import NDArray

from judgec.errors import InputError
from judgec.labels.labels import UNREAD_LISTS, ItemFile, read_item_file
from judgec.labels.rows.conversations import columns_with, holding, with_turns
from judgec.labels.rows.items import Collected, collect_items
from judgec.labels.split.learned import LearnedQueries
from judgec.labels.stream.watch import ColumnWatch
from judgec.records.conversation import EACH, TurnChoice
from judgec.records.counts import plural
from judgec.records.label import InputCounts, IntArray, Item, Task
from judgec.records.tasks.registry import TASKS, as_task
from judgec.table.rows.cells import is_missing
from judgec.table.rows.columns import missing_columns, renamed_row
from judgec.table.rows.records import record_fields
from judgec.table.stream.lines import JSON_LINES, READERS, IrregularError
from judgec.table.stream.seen import Seen
from judgec.table.stream.stretch import Stretch
from judgec.table.table import Row, Table

T = TypeVar("T")
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

    def only(self, rows: Sequence[int]) -> "Piece":
        """The items at these positions."""

        def read() -> Sequence[Item]:
            items = self.read()
            return [items[i] for i in rows]

        return Piece(tuple(self.item_ids[i] for i in rows), tuple(self.digests[i] for i in rows), read)


@dataclass(frozen=True, slots=True)
class Block:
    """Rows that follow one another in a file, as they stand there, and whose items they are.

    Args:
        new: How many items begin here; items are numbered from 0 in the order of their first rows.
        items: The number of each row's item; None where row k is the k-th of the new items.
        first: The number of the first new item.
        rows: Reads the rows, under the file's own names of columns.
        lines: Reads the same rows as JSON objects, or None where the file is not JSON lines.
        named: Whether each row has an ``item_id`` of its own (True), none has the column (False), or neither (None).
    """

    new: int
    items: IntArray | None
    first: int
    rows: Callable[[], Sequence[Row]]
    lines: Callable[[], list[bytes]] | None = None
    named: bool | None = None


@dataclass(frozen=True, slots=True)
class ItemStream:
    """A file that was found sound.

    Args:
        items: How many it holds.
        rows: How many rows, repeated items included.
        notes: What was mended, one sentence each.
        inputs: How many items have each input.
        columns: The file's own names of its columns, in its order.
        learned: Of each item whether the judge has learned from it, shape (items,).
        labelled: The columns that hold a label of an item that the judge has not learned from, as the file names them.
        again: Numbers of the items that come again in a later block than their first, ascending.
        pieces: The items, from the beginning each time it is called.
        blocks: All rows, from the beginning each time it is called.
        rename: judgec's names of the columns by theirs: those that were said, and those that their heads say.
    """

    items: int
    rows: int
    notes: tuple[str, ...]
    inputs: InputCounts
    columns: tuple[str, ...]
    learned: NDArray[np.bool_]
    labelled: tuple[str, ...]
    again: IntArray
    pieces: Callable[[], Iterator[Piece]]
    blocks: Callable[[], Iterator[Block]]
    rename: Mapping[str, str]


def inputs_digest(item: Item) -> bytes:
    """Digest that tells the inputs of two items apart, and how their pool is shown, whatever they are called."""
    said = item.inputs if item.pool is None else (item.inputs, asdict(item.pool))
    try:
        text = orjson.dumps(said, option=orjson.OPT_SORT_KEYS)
    except TypeError:  # half a character
        text = json.dumps(said, sort_keys=True).encode()
    return hashlib.sha256(text).digest()[:DIGEST_BYTES]


def open_items(
    path: str,
    *,
    task: str,
    rename: Mapping[str, str] | None = None,
    memories: Sequence[LearnedQueries] = (),
    raters: Sequence[str] = (),
    turn: TurnChoice | None = None,
    usual: TurnChoice | None = None,
) -> ItemStream:
    """Check a file of items, labelled or not.

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
    known, theirs = as_task(task), rename or {}
    watch = ColumnWatch(known, memories, raters)
    with suppress(IrregularError):
        if turn != EACH:  # several items a row
            return _Regular(path, known, theirs, watch, turn or usual, chosen=turn is not None).check()
    whole = read_item_file(path, task=task, rename=rename, turn=turn, usual=usual)
    watch = ColumnWatch(known, memories, raters)  # the first has met a part of the items
    return _held(whole, watch)


def _held(whole: ItemFile, watch: "ColumnWatch") -> ItemStream:
    """A file that is in memory already."""
    rename = whole.rename
    item_of: IntArray = np.array(whole.item_of, dtype=np.int64)
    watch.meet(whole.items)
    ours = [rename.get(name, name) for name in whole.table.columns]
    watch.look([renamed_row(row, rename) for row in whole.table.rows], ours, item_of)
    learned, inputs = watch.learned(), InputCounts()
    inputs.add(whole.items)
    rows, blocks, first = whole.table.rows, list[Block](), 0
    for start in range(0, len(rows), ROWS):
        numbers = item_of[start : start + ROWS]
        new = max(int(numbers.max()) + 1 - first, 0)
        blocks.append(Block(new, numbers, first, partial(_same, rows[start : start + ROWS])))
        first += new
    return ItemStream(
        items=len(whole.items),
        rows=whole.rows,
        notes=whole.notes,
        inputs=inputs,
        columns=whole.table.columns,
        learned=learned,
        labelled=watch.labelled(whole.table.columns, rename, learned),
        again=_again(blocks),
        pieces=lambda: pieces_of(whole.items),
        blocks=lambda: iter(blocks),
        rename=rename,
    )


def _again(blocks: Sequence[Block]) -> IntArray:
    earlier = [block.items[block.items < block.first] for block in blocks if block.items is not None]
    return np.unique(np.concatenate(earlier)) if earlier else np.empty(0, dtype=np.int64)


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


def _same(held: Sequence[T]) -> Sequence[T]:
    return held


@dataclass(frozen=True, slots=True)
class _Mark:
    """Memory of a piece: where it stands, and its items' names and digests, packed."""

    stretch: Stretch
    kept: IntArray | None  # None when every item of the piece is new
    item_ids: bytes
    digests: bytes
    new: int
    items: IntArray | None  # see Block
    named: bool | None


class _Regular:
    """A file whose pieces can be read one by one."""

    def __init__(
        self,
        path: str,
        task: Task,
        rename: Mapping[str, str],
        watch: ColumnWatch,
        turn: TurnChoice | None,
        *,
        chosen: bool,
    ) -> None:
        self._path = Path(path)
        self._shown = path
        self._task = task
        self._rename = rename
        self._watch = watch
        self._fields = TASKS[task].inputs
        self._turn = turn
        self._needs_turns = chosen
        self._holding = False
        self._marks: list[_Mark] = []
        self._notes: tuple[str, ...] = ()
        open_rows = READERS.get(self._path.suffix.lower())
        if open_rows is None or not self._path.is_file():
            raise IrregularError
        self._open_rows = open_rows

    def check(self) -> ItemStream:
        """Read the file once."""
        columns: dict[str, None] = {}
        inputs = InputCounts()
        rows = empty = not_text = unread = items = 0
        seen = Seen(inputs_digest)
        with self._path.open("rb") as file:
            read = self._open_rows(file)
            while True:
                start = file.tell()
                raw = read(file, ROWS)
                if not raw:
                    break
                columns |= dict.fromkeys(chain.from_iterable(raw))
                if not self._marks and record_fields(columns, raw):
                    raise IrregularError
                self._holding = bool(holding(self._rename.get(name, name) for name in columns))
                table = self._table(raw)
                found = self._collect(table)
                met = seen.meet(found.items)
                item_of: IntArray = np.array(found.item_of, dtype=np.int64)
                numbers = met.numbers[item_of]
                kept = [found.items[i] for i in met.kept]
                inputs.add(kept)
                self._watch.meet(kept)
                self._watch.look(table.rows, [self._rename.get(name, name) for name in columns], numbers)
                alone = len(met.kept) == len(raw)  # each row a new item
                self._marks.append(
                    _Mark(
                        stretch=Stretch.between(self._path, self._shown, start, file.tell()),
                        kept=None if len(met.kept) == len(found.items) else met.kept,
                        item_ids=orjson.dumps([found.items[i].item_id for i in met.kept]),
                        digests=b"".join(met.digests),
                        new=len(met.kept),
                        items=None if alone else numbers,
                        named=self._named(raw),
                    )
                )
                rows, items = rows + len(table.rows), items + len(met.kept)
                empty, not_text = empty + found.empty, not_text + found.not_text
                unread += found.unread
        self._require_regular(columns)
        learned = self._watch.learned()
        repeating = plural(rows - items, "row repeats an item and is", "rows repeat an item and are")
        counted = {
            f"{repeating} judged once.": rows - items,
            f"{plural(empty, 'row')} without an answer: judged as empty answers.": empty,
            f"{plural(not_text, 'input cell')} that held no text became text.": not_text,
            UNREAD_LISTS.format(plural(unread, "cell")): unread,
        }
        return ItemStream(
            items=items,
            rows=rows,
            notes=(*self._notes, *(sentence for sentence, count in counted.items() if count)),
            inputs=inputs,
            columns=tuple(columns),
            learned=learned,
            labelled=self._watch.labelled(tuple(columns), self._rename, learned),
            again=_again(list(self.blocks())),
            pieces=self.pieces,
            blocks=self.blocks,
            rename=self._rename,
        )

    def pieces(self) -> Iterator[Piece]:
        """The pieces; the file is opened again only for those whose items are wanted."""
        for mark in self._marks:
            names = tuple(orjson.loads(mark.item_ids))
            cuts = range(0, len(mark.digests), DIGEST_BYTES)
            digests = tuple(mark.digests[cut : cut + DIGEST_BYTES] for cut in cuts)
            if names:
                yield Piece(names, digests, partial(self._read, mark, names))

    def blocks(self) -> Iterator[Block]:
        """The rows of all pieces."""
        first, lines = 0, self._path.suffix.lower() in JSON_LINES
        for mark in self._marks:
            read = mark.stretch.lines if lines else None
            yield Block(mark.new, mark.items, first, partial(self._rows, mark), read, mark.named)
            first += mark.new

    def _read(self, mark: _Mark, names: tuple[str, ...]) -> Sequence[Item]:
        found = self._collect(self._table(self._rows(mark))).items
        items = found if mark.kept is None else tuple(found[i] for i in mark.kept)
        same = tuple(item.item_id for item in items) == names
        if not same or b"".join(map(inputs_digest, items)) != mark.digests:  # verdicts are kept under these
            raise mark.stretch.changed()
        return items

    def _rows(self, mark: _Mark) -> list[Row]:
        try:
            return mark.stretch.read(self._open_rows, ROWS)
        except IrregularError:
            raise mark.stretch.changed() from None

    def _named(self, rows: Sequence[Row]) -> bool | None:
        if "item_id" not in rows[0]:
            return None if any("item_id" in row for row in rows) else False
        return None if any(map(is_missing, [row.get("item_id") for row in rows])) else True

    def _require_regular(self, columns: Mapping[str, None]) -> None:
        ours = [self._rename.get(name, name) for name in columns]
        regular = self._rename.keys() <= columns.keys() and len(set(ours)) == len(ours)
        if (
            not regular
            or missing_columns(columns_with(ours), self._task, labelled=False)
            or (self._needs_turns and not self._holding)
        ):
            raise IrregularError

    def _table(self, rows: list[Row]) -> Table:
        ours = [renamed_row(row, self._rename) for row in rows] if self._rename else rows
        if self._holding and (columns := dict.fromkeys(chain.from_iterable(ours))) and holding(columns):
            plain = Table(self._shown, tuple(columns), tuple(ours), tuple(range(len(rows))))
            try:
                ours = list(with_turns(plain, self._turn, every=True).rows)
            except InputError:
                raise IrregularError from None
        # Every field, so that a piece without a column reads like the whole file that has it.
        return Table(self._shown, self._fields, tuple(ours), tuple(range(len(rows))))

    def _collect(self, table: Table) -> Collected:
        found = collect_items(table, self._task)
        if found.faults:
            raise IrregularError
        return found
