"""The formats of a judged file: JSON lines, delimited text, Parquet, a workbook."""

import json
import math
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass, field
from functools import partial
from itertools import repeat
from pathlib import Path
from typing import Any, BinaryIO, NamedTuple, Protocol

import orjson

from judgec.errors import UserError
from judgec.labels.bulk.items import OpenItems, lines_of
from judgec.table.formulas import NUMBER, guarded
from judgec.table.rows.cells import as_text, is_missing
from judgec.table.table import Row
from judgec.table.workbooks import cell_text
from judgec.table.xlsx import Cell, WrittenSheet, beyond, sheet_writer

JSON, WORKBOOK = ".jsonl", ".xlsx"
SIGNS = re.compile(r"-+|\++")  # a blank, or a grade: of nothing else no program makes a formula
SHOWN_DIGITS = 11  # characters of a number that spreadsheets show whole
GROUP = 8192  # rows of a group of Parquet
EXACT = 2**53  # floats tell whole numbers apart up to it


class JudgedRow(NamedTuple):
    """The output of one item: its name, and the cells of the added columns by name."""

    item_id: str
    cells: Mapping[str, object]


@dataclass(frozen=True, slots=True)
class Target:
    """The form of a judged file.

    Args:
        columns: The columns of the input that are written.
        item_id: The column that is added before them, or None where ``item_id`` is one of them.
        added: The columns that are added behind them.
        kinds: What each of these holds.
        rows: How many rows there will be.
        inputs: Whether the columns of the input are written.
        path: The file.
    """

    columns: tuple[str, ...]
    item_id: str | None
    added: tuple[str, ...]
    kinds: Mapping[str, type]
    rows: int
    inputs: bool
    path: Path

    @property
    def header(self) -> list[str]:
        """All columns, in order."""
        return [*([] if self.item_id is None else [self.item_id]), *self.columns, *self.added]

    def check(self) -> None:
        """Look whether the format holds so many rows and columns.

        Raises:
            UserError: When it does not.
        """
        fault = beyond(self.rows + 1, len(self.header)) if self.path.suffix.lower() == WORKBOOK else ""
        if fault:
            raise UserError(f"--out {self.path}: {fault} Name a .parquet, .csv or .jsonl file.")

    def values(self, row: Row, one: JudgedRow) -> list[object]:
        """The cells of a row, in the order of ``header``."""
        own = [row.get(name) for name in self.columns]
        if self.item_id is not None:
            own.insert(0, one.item_id)
        elif is_missing(row.get("item_id")):
            own[self.columns.index("item_id")] = one.item_id
        return own + [one.cells[name] for name in self.added]


Rows = Iterable[tuple[Row, JudgedRow]]


class Sink(Protocol):
    """A destination of judged rows."""

    def write(self, rows: Rows) -> None:
        """Write rows, each with its judgment."""


Make = Callable[[BinaryIO, Target, OpenItems, list[str]], AbstractContextManager[Sink]]


@dataclass(frozen=True, slots=True)
class _JsonLines:
    file: BinaryIO
    target: Target
    lines: Iterator[bytes | None]  # as the rows stood in the file, where that was JSON lines

    def write(self, rows: Rows) -> None:
        self.file.writelines(map(self._line, rows, self.lines))

    def _line(self, both: tuple[Row, JudgedRow], line: bytes | None) -> bytes:
        row, one = both
        named = self.target.item_id is None
        if line is not None and not (named and is_missing(row.get("item_id"))):
            # The bytes of the row stay: so do its numbers, however many digits they have.
            behind = orjson.dumps(one.cells, option=orjson.OPT_APPEND_NEWLINE)[1:]
            front = b"{" if named else orjson.dumps({self.target.item_id: one.item_id})[:-1] + b","
            return b"".join((front, line[1:-1], b",", behind))
        given = row if self.target.inputs else {}
        if not named:
            given = {self.target.item_id or "": one.item_id, **given}
        elif is_missing(given.get("item_id")):
            given = {**given, "item_id": one.item_id}
        whole = {**given, **one.cells}
        try:
            return orjson.dumps(whole) + b"\n" if not _odd(given) else _plain(whole)
        except TypeError:  # half a character, a number of more than 64 bits, a value that JSON has no form of
            return _plain(whole)


def _odd(row: Row) -> bool:
    """True if there is a number in it that orjson would write as null."""
    return any(isinstance(value, float) and not math.isfinite(value) for value in row.values())


def _plain(row: Mapping[str, object]) -> bytes:
    return json.dumps(row, default=as_text).encode() + b"\n"


@contextmanager
def _json_lines(file: BinaryIO, target: Target, items: OpenItems, _notes: list[str]) -> Iterator[Sink]:
    yield _JsonLines(
        file, target, repeat(None) if items.content is None or not target.inputs else lines_of(items.content)
    )


@dataclass(frozen=True, slots=True)
class _Delimited:
    file: BinaryIO
    target: Target
    delimiter: str
    quoted: re.Pattern[str]

    def put(self, row: Sequence[object]) -> None:
        self.file.write((self.delimiter.join(map(self._cell, row)) + "\n").encode())

    def write(self, rows: Rows) -> None:
        for row, one in rows:
            self.put(self.target.values(row, one))

    def _cell(self, value: object) -> str:
        # A NUL character would make the file unreadable to every reader of delimited text, ours included.
        text = _shown(value).replace("\0", "\ufffd")
        return '"' + text.replace('"', '""') + '"' if self.quoted.search(text) else text


@contextmanager
def _delimited(
    file: BinaryIO, target: Target, _items: OpenItems, _notes: list[str], *, delimiter: str
) -> Iterator[Sink]:
    # Spaces at the edges are kept by quotes alone.
    sink = _Delimited(file, target, delimiter, re.compile(rf'["\r\n{delimiter}]|^\s|\s$'))
    sink.put(target.header)
    yield sink


@dataclass(frozen=True, slots=True)
class _Workbook:
    sheet: WrittenSheet
    target: Target

    def write(self, rows: Rows) -> None:
        for row, one in rows:
            self.sheet.put([_workbook_cell(value) for value in self.target.values(row, one)])


def _workbook_cell(value: object) -> Cell:
    if isinstance(value, bool) or (isinstance(value, float) and math.isfinite(value)):
        return value
    if isinstance(value, str) and len(value) <= SHOWN_DIGITS and NUMBER.fullmatch(value):
        number = float(value)
        return number if cell_text(number) == value else value  # 5 and 2.5 as they were; 007 and 1.10 are texts
    if isinstance(value, str) and SIGNS.fullmatch(value):
        return value
    return value if isinstance(value, int) and abs(value) <= EXACT else _shown(value)


@contextmanager
def _workbook(file: BinaryIO, target: Target, _items: OpenItems, notes: list[str]) -> Iterator[Sink]:
    with sheet_writer(file, "judged") as sheet:
        sheet.put([_shown(name) for name in target.header])
        yield _Workbook(sheet, target)
    notes.extend(sheet.notes)


@dataclass(frozen=True, slots=True)
class _Parquet:
    writer: Any  # pyarrow is untyped
    target: Target
    schema: Any
    waiting: list[list[object]] = field(default_factory=list)

    def write(self, rows: Rows) -> None:
        for row, one in rows:
            self.waiting.append(self.target.values(row, one))
            if len(self.waiting) == GROUP:
                self.flush()

    def flush(self) -> None:
        import pyarrow as pa

        columns: list[Sequence[object]] = list(zip(*self.waiting, strict=True)) or [()] * len(self.schema)
        texts, lists = pa.string(), pa.list_(pa.string())
        fitted = [
            [None if cell is None else _as_json(cell) for cell in column]
            if kind == texts
            else [None if cell is None else [*map(as_text, cell)] for cell in column]  # type: ignore[call-overload]  # lists
            if kind == lists
            else column
            for column, kind in zip(columns, self.schema.types, strict=True)
        ]
        arrays = [pa.array(column, kind) for column, kind in zip(fitted, self.schema.types, strict=True)]
        self.writer.write_table(pa.Table.from_arrays(arrays, schema=self.schema))
        self.waiting.clear()


@contextmanager
def _parquet(file: BinaryIO, target: Target, items: OpenItems, _notes: list[str]) -> Iterator[Sink]:
    """The type of each of the input's columns follows from all of its values."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    basic = {str: pa.string(), int: pa.int64(), float: pa.float64(), bool: pa.bool_()}
    added = {name: basic[kind] for name, kind in target.kinds.items()}
    if target.item_id is not None:
        added[target.item_id] = pa.string()
    types = [added[name] if name in added else _type_of(items.table.column(name).values) for name in target.header]
    schema = pa.schema([pa.field(name, kind) for name, kind in zip(target.header, types, strict=True)])
    with pq.ParquetWriter(file, schema) as writer:
        sink = _Parquet(writer, target, schema)
        yield sink
        sink.flush()


def _type_of(values: Sequence[object]) -> Any:
    """A column's type; what has none together is text, lists and objects JSON."""
    import pyarrow as pa

    given = [value for value in values if value is not None]
    kinds = {*map(type, given)}
    if kinds == {list} and all(isinstance(one, str) for value in given for one in value):  # type: ignore[attr-defined]
        return pa.list_(pa.string())
    if not kinds or kinds & {str, list, dict} or not (len(kinds) == 1 or kinds == {int, float}):
        return pa.string()
    try:
        return pa.array(given).type
    except (pa.ArrowException, OverflowError):
        return pa.string()


def _as_json(value: object) -> str:
    if isinstance(value, float) and math.isfinite(value):
        return json.dumps(value)
    return as_text(value)


FORMATS: Mapping[str, Make] = {
    JSON: _json_lines,
    ".csv": partial(_delimited, delimiter=","),
    ".tsv": partial(_delimited, delimiter="\t"),
    ".parquet": _parquet,
    WORKBOOK: _workbook,
}


def _shown(value: object) -> str:
    """A cell as text that no spreadsheet takes for a formula; empty where there is no value."""
    if value is None or (isinstance(value, float) and math.isnan(value)):
        return ""
    text = as_text(value)
    return text if NUMBER.fullmatch(text) else guarded(text)
