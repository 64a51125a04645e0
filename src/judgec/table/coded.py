"""Reads chosen columns of a file of rows into arrays: a million rows in seconds, ten million in a few gigabytes.

A cell is kept as a number into the list of its column's different values, and rows are read a few thousand at a time,
so that a large file never lies in memory as Python rows. The line of each row is kept for the messages that name it.
"""

import csv
import math
import re
import sys
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import islice
from pathlib import Path
from types import MappingProxyType
from typing import Self

import numpy as np
import orjson

from judgec.records.label import FloatArray, IntArray
from judgec.table.formulas import is_own, unguarded
from judgec.table.rows.cells import as_text, is_missing
from judgec.table.rows.columns import named_here, renamed
from judgec.table.table import CHUNK, Coder, Row, Table, TableColumn, place
from judgec.table.tables import DELIMITERS, TableSource, missing_beside, name_of, opened

LINE_END = re.compile("\r\n|\r|\n")


@dataclass(frozen=True, slots=True)
class Unread:
    """Rows whose cell of a column of numbers holds something else, in order; one at least."""

    rows: IntArray = field(repr=False)

    @property
    def count(self) -> int:
        """Number of values."""
        return len(self.rows)

    @property
    def first(self) -> int:
        """The row of the first."""
        return int(self.rows[0])


@dataclass(frozen=True)
class CodedTable:
    """Columns of a file of rows.

    Args:
        path: The file, or what messages call rows in memory.
        n_rows: How many rows there are.
        lines: Where each row begins, as in ``table.table.Table``, shape (n_rows,).
        by_line: True when ``lines`` are lines of text.
        across: True when ``lines`` are columns.
        coded: The wanted columns that have a cell, by name.
        numbers: The wanted columns of numbers that have one, NaN where there is none.
        unread: Of each of ``numbers`` the cells that hold something that is no number, where there are any.
        columns: All columns of the file, in its order.
    """

    path: str
    n_rows: int
    lines: IntArray = field(repr=False)
    by_line: bool
    across: bool
    coded: Mapping[str, TableColumn]
    numbers: Mapping[str, FloatArray]
    unread: Mapping[str, Unread]
    columns: tuple[str, ...]

    def only(self, rows: IntArray) -> Self:
        """These rows alone, in rising order, at their places in the file."""
        unread = {}
        for name, one in self.unread.items():
            kept = np.flatnonzero(np.isin(rows, one.rows))
            if len(kept):
                unread[name] = Unread(kept)
        numbers = {name: cells[rows] for name, cells in self.numbers.items()}
        return replace(
            self,
            n_rows=len(rows),
            lines=self.lines[rows],
            coded={name: column.only(rows) for name, column in self.coded.items()},
            numbers={name: one for name, one in numbers.items() if name in unread or not np.isnan(one).all()},
            unread=unread,
        )

    def renamed(self, rename: Mapping[str, str]) -> Self:
        """The same under new names, as far as there are such columns.

        Raises:
            InputError: As ``table.rows.columns.renamed``.
        """
        own = named_here(self.columns, rename)
        columns = renamed(Table(self.path, self.columns, (), ()), own).columns
        parts = {"coded": self.coded, "numbers": self.numbers, "unread": self.unread}
        called = {part: {own.get(name, name): one for name, one in held.items()} for part, held in parts.items()}
        return replace(self, columns=columns, **called)  # type: ignore[arg-type]  # each as it was

    def where(self, row: int) -> str:
        """The place of a row as messages name it."""
        return place(self.path, int(self.lines[row]), by_line=self.by_line, across=self.across)


def read_coded(
    source: TableSource,
    coded: Collection[str],
    numbers: Collection[str] = (),
    rename: Mapping[str, str] = MappingProxyType({}),
) -> CodedTable:
    """Read some columns of a file, in any format of a table.

    In pieces where format and file allow it, and else as a whole, by the reader that knows every dialect.

    Args:
        source: The file, or rows in memory.
        coded: Columns whose cells are kept as they are; the others are passed over.
        numbers: Columns of numbers.
        rename: Names of these by names that the file may use.

    Raises:
        InputError: As ``table.tables.read_table``; two columns of one name.
    """
    if rename:
        cells, amounts = ([*own, *(name for name in rename if rename[name] in own)] for own in (coded, numbers))
        return read_coded(source, cells, amounts).renamed(rename)
    if not isinstance(source, Table) and (file := Path(source)).is_file() and not missing_beside(source):
        gather = _PIECEWISE.get(file.suffix.lower())
        found = _Gathered(coded, numbers)
        try:
            if gather is not None:
                gather(file, found)
        except (_IrregularFileError, ValueError, csv.Error):
            found.n_rows = 0
        if found.n_rows:
            return found.table(name_of(source))
    found, table = _Gathered(coded, numbers), opened(source)  # says what is wrong with it
    found.rows(table.rows, np.array(table.lines, dtype=np.int64))
    found.names = dict.fromkeys(table.columns)
    found.by_line, found.across = table.by_line, table.across
    return found.table(name_of(source))


class _Parser:
    """Reads the numbers of a column as they come."""

    def __init__(self) -> None:
        self.pieces: list[FloatArray] = []
        self.unread: list[IntArray] = []  # rows of cells that hold something else
        self.n = 0

    def skip(self, rows: int) -> None:
        """No cells in so many rows."""
        self.pieces.append(np.full(rows, np.nan))
        self.n += rows

    def add(self, cells: Sequence[object]) -> None:
        """Cells of the next rows."""
        n = len(cells)
        self.n += n
        try:
            texts = isinstance(cells[0], str)
            plain = [float(str(cell)) for cell in cells] if texts else list(cells)  # an empty text raises
            numbers = np.array(plain, dtype=np.float64)
        except (TypeError, ValueError):
            numbers = np.fromiter(map(self._number, cells), dtype=np.float64, count=n)
        odd = (numbers < 0) | np.isinf(numbers)
        if odd.any():
            self.unread.append(self.n - n + np.flatnonzero(odd))
        self.pieces.append(np.where(odd, np.nan, numbers))

    @staticmethod
    def _number(cell: object) -> float:
        """A number, NaN where there is no cell, infinity for what is neither."""
        if is_missing(cell):
            return math.nan
        try:
            if isinstance(cell, str) and "." not in cell:  # 0,75 as half of Europe writes it
                return float(cell.replace(",", "."))
            return float(cell)  # type: ignore[arg-type]  # whatever is no number raises
        except (TypeError, ValueError):
            return math.inf

    def column(self) -> FloatArray | None:
        """The column, or None where no row has a number."""
        numbers = np.concatenate(self.pieces) if self.pieces else np.empty(0)
        return None if np.isnan(numbers).all() and not self.unread else numbers


class _Gathered:
    """Columns in the making."""

    def __init__(self, coded: Collection[str], numbers: Collection[str]) -> None:
        self.coders = {name: Coder() for name in coded}
        self.parsers = {name: _Parser() for name in numbers}
        self.names: dict[str, None] = {}
        self.n_rows = 0
        self.lines: list[IntArray] = []
        self.by_line, self.across = True, False

    def wanted(self, name: str) -> bool:
        """True if a column is read."""
        return name in self.coders or name in self.parsers

    def add(self, cells: Mapping[str, Sequence[object]], lines: IntArray) -> None:
        """The cells of the next rows, by column, and where these rows begin; a column that is not there has none."""
        n = len(lines)
        for name, column in (self.coders | self.parsers).items():
            if name in cells:
                column.add(cells[name])
            else:
                column.skip(n)
        self.lines.append(lines)
        self.n_rows += n

    def next_lines(self, n: int) -> IntArray:
        """Lines on which the next rows begin in a file of one row a line."""
        return np.arange(self.n_rows + 1, self.n_rows + n + 1)

    def rows(self, rows: Sequence[Row], lines: IntArray) -> None:
        """The next rows, and where they begin."""
        if not rows:
            return
        self.names |= dict.fromkeys(rows[0])
        present: set[str] = set().union(*rows)
        if not present <= self.names.keys():
            self.names |= dict.fromkeys(name for row in rows for name in row)
        self.add({name: [row.get(name) for row in rows] for name in present if self.wanted(name)}, lines)

    def table(self, path: str) -> CodedTable:
        """The table that was gathered."""
        parsers = self.parsers.items()
        coded = {name: coder.column().made(_flat).present() for name, coder in self.coders.items()}
        return CodedTable(
            path=path,
            n_rows=self.n_rows,
            lines=np.concatenate(self.lines) if self.lines else np.empty(0, dtype=np.int64),
            by_line=self.by_line,
            across=self.across,
            coded={name: column for name, column in coded.items() if column.values},
            numbers={name: found for name, parser in parsers if (found := parser.column()) is not None},
            unread={name: Unread(np.concatenate(one.unread)) for name, one in parsers if one.unread},
            columns=tuple(self.names),
        )


def _flat(cell: object) -> object:
    return as_text(cell) if isinstance(cell, (list, dict)) else cell


class _IrregularFileError(Exception):
    """The file must be read whole, by the reader that knows every dialect."""


def _json_lines(file: Path, into: _Gathered) -> None:
    with file.open("rb") as lines:
        while chunk := [orjson.loads(line) for line in islice(lines, CHUNK)]:
            if not all(type(row) is dict for row in chunk):
                raise _IrregularFileError
            into.rows(chunk, into.next_lines(len(chunk)))


def _delimited(file: Path, into: _Gathered) -> None:
    csv.field_size_limit(sys.maxsize)  # a reply may be longer than the default of 128 KiB
    with file.open(encoding="utf-8-sig", newline="") as text:
        head = text.readline()
        usual = "," if file.suffix.lower() == ".csv" else "\t"
        delimiter = max(usual + DELIMITERS, key=lambda mark: len(next(csv.reader([head], delimiter=mark))))
        names = [cell.strip() for cell in next(csv.reader([head], delimiter=delimiter))]
        into.names = dict.fromkeys(names)
        if not all(names) or len(into.names) < len(names) or head.count('"') % 2:
            raise _IrregularFileError
        guarded, before = is_own(names), 0
        rows = csv.reader(text, delimiter=delimiter, strict=True, skipinitialspace=True)
        while chunk := list(islice(rows, CHUNK)):
            lines, before = _begins(chunk, before, rows.line_num), rows.line_num
            if not all(chunk):  # lines without anything
                lines = lines[[bool(row) for row in chunk]]
                chunk = [row for row in chunk if row]
            if not chunk:
                continue
            if set(map(len, chunk)) != {len(names)}:
                raise _IrregularFileError
            columns = dict(zip(names, zip(*chunk, strict=True), strict=True))
            cells: dict[str, Sequence[object]] = {}
            blank = True  # perhaps a row without any value, which does not count
            for name in filter(into.wanted, names):
                column = tuple(map(unguarded, columns[name])) if guarded else columns[name]
                blank = blank and not all(map(str.strip, column))
                cells[name] = column
            if blank:
                raise _IrregularFileError
            into.add(cells, lines)


def _begins(rows: Sequence[Sequence[str]], before: int, after: int) -> IntArray:
    """The lines on which rows begin that were read from line ``before`` to ``after`` below the header.

    Raises:
        _IrregularFileError: The line ends within their cells do not add up to these.
    """
    spans = np.ones(len(rows), dtype=np.int64)
    if after - before > len(rows):
        spans += [len(LINE_END.findall("".join(row))) for row in rows]
    if spans.sum() != after - before:
        raise _IrregularFileError
    return np.asarray(before + 2 + np.cumsum(spans) - spans)


def _parquet(file: Path, into: _Gathered) -> None:
    import pyarrow as pa
    import pyarrow.parquet as pq

    try:
        with pq.ParquetFile(file) as opened_file:
            into.names = dict.fromkeys(opened_file.schema_arrow.names)
            kept = [name for name in into.names if into.wanted(name)]
            into.by_line = False
            for batch in opened_file.iter_batches(CHUNK, columns=kept):
                cells = {name: batch.column(name).to_pylist() for name in kept}
                into.add(cells, into.next_lines(batch.num_rows))
    except (pa.ArrowInvalid, OSError):
        raise _IrregularFileError from None


_PIECEWISE: Mapping[str, Callable[[Path, _Gathered], None]] = {
    ".parquet": _parquet,
    ".jsonl": _json_lines,
    ".ndjson": _json_lines,
    ".csv": _delimited,
    ".tsv": _delimited,
    ".tab": _delimited,
}
