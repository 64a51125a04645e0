"""The formats of a judged file: JSON lines, delimited text, Parquet, a workbook; each takes rows block by block."""

import json
import math
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass
from functools import partial
from itertools import chain, repeat
from pathlib import Path
from typing import BinaryIO, NamedTuple, Protocol

import orjson

from judgec.errors import UserError
from judgec.labels.stream.pieces import Block
from judgec.table.formulas import NUMBER, guarded
from judgec.table.rows.cells import as_text, is_missing
from judgec.table.stream.columnar import EXACT, parquet_rows
from judgec.table.table import Row
from judgec.table.workbooks import cell_text
from judgec.table.xlsx import Cell, WrittenSheet, beyond, sheet_writer

JSON, WORKBOOK = ".jsonl", ".xlsx"
SIGNS = re.compile(r"-+|\++")  # a blank, or a grade: of nothing else no program makes a formula
SHOWN_DIGITS = 11  # characters of a number that spreadsheets show whole


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

    def values(self, block: Block, judged: Sequence[JudgedRow]) -> Iterator[list[object]]:
        """The cells of each row, in the order of ``header``."""
        rows: Sequence[Row] = block.rows() if self.inputs else [{}] * len(judged)
        for row, one in zip(rows, judged, strict=True):
            own = [row.get(name) for name in self.columns]
            if self.item_id is not None:
                own.insert(0, one.item_id)
            elif is_missing(row.get("item_id")):
                own[self.columns.index("item_id")] = one.item_id
            yield own + [one.cells[name] for name in self.added]


class Sink(Protocol):
    """A destination of judged rows."""

    def write(self, block: Block, judged: Sequence[JudgedRow]) -> None:
        """Write the rows of a block, each with its judgment."""


Blocks = Callable[[], Iterator[Block]]
Make = Callable[[BinaryIO, Target, Blocks, list[str]], AbstractContextManager[Sink]]


@dataclass(frozen=True, slots=True)
class _JsonLines:
    file: BinaryIO
    target: Target

    def write(self, block: Block, judged: Sequence[JudgedRow]) -> None:
        named = block.named is not False if self.target.item_id is None else False
        if self.target.inputs and block.lines is not None and block.named is not None:
            lines = block.lines()
            front = None if named else (self.target.item_id or "item_id")
            # The bytes of the row stay: so do its numbers, however many digits they have.
            spliced = map(_spliced, lines, judged, repeat(front))
            self.file.write(b"".join(chain.from_iterable(spliced)))
            return
        rows: Sequence[Row] = block.rows() if self.target.inputs else [{}] * len(judged)
        self.file.write(b"".join(map(self._line, rows, judged)))

    def _line(self, row: Row, one: JudgedRow) -> bytes:
        if self.target.item_id is not None:
            row = {self.target.item_id: one.item_id, **row}
        elif is_missing(row.get("item_id")):
            row = {**row, "item_id": one.item_id}
        whole = {**row, **one.cells}
        try:
            return orjson.dumps(whole) + b"\n" if not _odd(row) else _plain(whole)
        except TypeError:  # half a character, a number of more than 64 bits, a value that JSON has no form of
            return _plain(whole)


def _spliced(line: bytes, one: JudgedRow, front: str | None) -> Iterable[bytes]:
    """A JSON object with further members: the item's name before the others, the judgment behind them."""
    behind = orjson.dumps(one.cells, option=orjson.OPT_APPEND_NEWLINE)[1:]
    if front is None:
        return line[:-1], b",", behind
    return orjson.dumps({front: one.item_id})[:-1], b",", line[1:-1], b",", behind


def _odd(row: Row) -> bool:
    """True if there is a number in it that orjson would write as null."""
    return any(isinstance(value, float) and not math.isfinite(value) for value in row.values())


def _plain(row: Mapping[str, object]) -> bytes:
    return json.dumps(row, default=as_text).encode() + b"\n"


@contextmanager
def _json_lines(file: BinaryIO, target: Target, _blocks: Blocks, _notes: list[str]) -> Iterator[Sink]:
    yield _JsonLines(file, target)


@dataclass(frozen=True, slots=True)
class _Delimited:
    file: BinaryIO
    target: Target
    delimiter: str
    quoted: re.Pattern[str]

    def put(self, rows: Iterator[Sequence[object]]) -> None:
        lines = (self.delimiter.join(map(self._cell, row)) + "\n" for row in rows)
        self.file.write("".join(lines).encode())

    def write(self, block: Block, judged: Sequence[JudgedRow]) -> None:
        self.put(iter(self.target.values(block, judged)))

    def _cell(self, value: object) -> str:
        # A NUL character would make the file unreadable to every reader of delimited text, ours included.
        text = _shown(value).replace("\0", "\ufffd")
        return '"' + text.replace('"', '""') + '"' if self.quoted.search(text) else text


@contextmanager
def _delimited(file: BinaryIO, target: Target, _blocks: Blocks, _notes: list[str], *, delimiter: str) -> Iterator[Sink]:
    # Spaces at the edges are kept by quotes alone.
    sink = _Delimited(file, target, delimiter, re.compile(rf'["\r\n{delimiter}]|^\s|\s$'))
    sink.put(iter([target.header]))
    yield sink


@dataclass(frozen=True, slots=True)
class _Workbook:
    sheet: WrittenSheet
    target: Target

    def write(self, block: Block, judged: Sequence[JudgedRow]) -> None:
        for row in self.target.values(block, judged):
            self.sheet.put([_workbook_cell(value) for value in row])


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
def _workbook(file: BinaryIO, target: Target, _blocks: Blocks, notes: list[str]) -> Iterator[Sink]:
    with sheet_writer(file, "judged") as sheet:
        sheet.put([_shown(name) for name in target.header])
        yield _Workbook(sheet, target)
    notes.extend(sheet.notes)


@dataclass(frozen=True, slots=True)
class _Parquet:
    put: Callable[[Sequence[object]], None]
    target: Target

    def write(self, block: Block, judged: Sequence[JudgedRow]) -> None:
        for row in self.target.values(block, judged):
            self.put(row)


@contextmanager
def _parquet(file: BinaryIO, target: Target, blocks: Blocks, _notes: list[str]) -> Iterator[Sink]:
    kinds = dict(target.kinds) | ({} if target.item_id is None else {target.item_id: str})

    def values() -> Iterator[Sequence[object]]:
        for block in blocks():
            for row in block.rows():
                yield [row.get(name) for name in target.columns]

    with parquet_rows(file, target.header, kinds, values) as rows:
        yield _Parquet(rows.put, target)


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
