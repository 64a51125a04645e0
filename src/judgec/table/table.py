"""Rows as they stand in a file, whatever its format, kept by column.

A column keeps each different cell once: what is said of a cell is worked out for the different ones alone.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import chain
from typing import Self, TypeVar, overload

import numpy as np
from numpy.typing import NDArray

from judgec.records.label import IntArray
from judgec.table.rows.cells import as_id, is_missing

BoolArray = NDArray[np.bool_]
Row = dict[str, object]
T = TypeVar("T")
CHUNK = 16384  # rows held as Python values at a time
LETTERS = 26
NO_CELL = -1  # the code of a row that has no such cell
_ABSENT = object()


@dataclass(frozen=True, eq=False)
class TableColumn:
    """The cells of a column.

    Args:
        codes: Position of each row's cell in ``values``, shape (n_rows,); -1 where a row has none, which reads as None.
        values: The different cells, in the order in which they first stand there, each of some row.
    """

    codes: NDArray[np.int32]
    values: Sequence[object]

    @classmethod
    def of(cls, cells: Iterable[object]) -> "TableColumn":
        """The column with these cells."""
        coder = Coder()
        coder.add(list(cells))
        return coder.column()

    def each(self, rule: Callable[[object], T]) -> list[T]:
        """Applies a rule to each row's cell."""
        found = [*map(rule, self.values), *([rule(None)] if (self.codes == NO_CELL).any() else [])]
        return [found[code] for code in self.codes.tolist()]

    def cells(self) -> list[object]:
        """Each row's cell."""
        return self.each(lambda cell: cell)

    def given(self) -> list[object]:
        """The cells that are not missing, row by row."""
        return [cell for cell, missing in zip(self.cells(), self.missing.tolist(), strict=True) if not missing]

    def holds(self, rule: Callable[[object], bool]) -> BoolArray:
        """Of which rows' cells a rule holds."""
        return np.array([*map(rule, self.values), rule(None)], dtype=np.bool_)[self.codes]

    def made(self, rule: Callable[[object], object]) -> "TableColumn":
        """The column with what a rule makes of the cells that there are."""
        return TableColumn(self.codes, list(map(rule, self.values)))

    def only(self, rows: IntArray) -> "TableColumn":
        """The cells of these rows."""
        used, first, codes = np.unique(self.codes[rows], return_index=True, return_inverse=True)
        order = np.argsort(np.where(used == NO_CELL, NO_CELL, first), kind="stable")
        place = np.empty(len(used), dtype=np.int32)
        place[order] = np.arange(len(used)) - (NO_CELL in used)
        return TableColumn(place[codes], [self.values[code] for code in used[order].tolist() if code != NO_CELL])

    def as_ids(self) -> tuple[IntArray, list[str]]:
        """The codes and different cells as identifiers, of which 7 and "7" are one."""
        names: dict[str, int] = {}
        code = np.array([names.setdefault(as_id(value), len(names)) for value in self.values], dtype=np.int64)
        return np.append(code, NO_CELL)[self.codes], list(names)

    def present(self) -> "TableColumn":
        """The column in which a missing cell is none."""
        if not any(map(is_missing, self.values)):
            return self
        kept = [code for code, value in enumerate(self.values) if not is_missing(value)]
        place = np.full(len(self.values) + 1, NO_CELL, dtype=np.int32)
        place[kept] = np.arange(len(kept), dtype=np.int32)
        return TableColumn(place[self.codes], [self.values[code] for code in kept])

    @cached_property
    def missing(self) -> BoolArray:
        """Mask of the rows whose cells are missing."""
        return self.holds(is_missing)

    @cached_property
    def counts(self) -> list[int]:
        """Number of rows that have each of the values."""
        found = np.bincount(self.codes + 1, minlength=len(self.values) + 1)
        return [int(count) for count in found[1:]]

    def has(self, *kinds: type) -> bool:
        """True if a cell is of one of these types."""
        return any(isinstance(value, kinds) for value in self.values if type(value) is not str)


class _Codes(dict[object, int]):
    """The codes of the different cells of one type, in a list that all types share."""

    def __init__(self, values: list[object], made: Callable[[object], object]) -> None:
        super().__init__()
        self._values, self._made = values, made

    def __missing__(self, key: object) -> int:
        code = self[key] = len(self._values)
        self._values.append(self._made(key))
        return code


class Coder:
    """Numbers the different cells of a column as they come; 1, 1.0 and true are different ones."""

    def __init__(self) -> None:
        self._values: list[object] = []
        self._codes = {kind: _Codes(self._values, lambda key: key) for kind in (str, int, bool, type(None), bytes)}
        self._floats = _Codes(self._values, lambda key: float(str(key)))  # -0.0 is another than 0.0, and NaN the same
        self._pieces: list[NDArray[np.int32]] = []

    def add(self, cells: Sequence[object]) -> None:
        """Cells of the next rows."""
        kinds = set(map(type, cells))
        one = self._codes.get(next(iter(kinds))) if len(kinds) == 1 else None
        codes = map(self._code, cells) if one is None else map(one.__getitem__, cells)
        self._pieces.append(np.fromiter(codes, dtype=np.int32, count=len(cells)))

    def skip(self, rows: int) -> None:
        """No cells in so many rows."""
        self._pieces.append(np.full(rows, NO_CELL, dtype=np.int32))

    def _code(self, cell: object) -> int:
        kind = type(cell)
        if kind in self._codes:
            return self._codes[kind][cell]
        if kind is float:
            return self._floats[repr(cell)]
        if cell is _ABSENT:
            return NO_CELL
        self._values.append(cell)  # a list, an object, a time: never the same as another
        return len(self._values) - 1

    def column(self) -> TableColumn:
        """The column that was added."""
        return TableColumn(np.concatenate([np.empty(0, dtype=np.int32), *self._pieces]), self._values)


class ColumnRows(Sequence[Row]):
    """Rows that are kept by column: each is made when it is asked for.

    Args:
        columns: By name, in order.
        n: How many rows there are.
    """

    __slots__ = ("columns", "n")

    def __init__(self, columns: Mapping[str, TableColumn], n: int) -> None:
        self.columns = columns
        self.n = n

    @classmethod
    def of(cls, rows: Sequence[Row]) -> "ColumnRows":
        """Rows by column; themselves where they are."""
        if isinstance(rows, ColumnRows):
            return rows
        names = dict.fromkeys(chain.from_iterable(rows))
        return cls({name: TableColumn.of(row.get(name, _ABSENT) for row in rows) for name in names}, len(rows))

    def __len__(self) -> int:
        return self.n

    @overload
    def __getitem__(self, at: int) -> Row: ...
    @overload
    def __getitem__(self, at: slice) -> tuple[Row, ...]: ...
    def __getitem__(self, at: int | slice) -> Row | tuple[Row, ...]:
        if isinstance(at, slice):
            return tuple(self[one] for one in range(*at.indices(self.n)))
        if not -self.n <= at < self.n:
            raise IndexError(at)
        found = ((name, column, column.codes[at]) for name, column in self.columns.items())
        return {name: column.values[code] for name, column, code in found if code != NO_CELL}

    def __iter__(self) -> Iterator[Row]:
        return self.some(range(self.n))

    def some(self, rows: Sequence[int]) -> Iterator[Row]:
        """These rows."""
        names = tuple(self.columns)
        values = [[*column.values, _ABSENT] for column in self.columns.values()]
        for start in range(0, len(rows), CHUNK):
            here = np.array(rows[start : start + CHUNK])
            codes = [column.codes[here].tolist() for column in self.columns.values()]
            cells = [[own[code] for code in part] for own, part in zip(values, codes, strict=True)]
            whole = all(NO_CELL not in part for part in codes)
            for row in zip(*cells, strict=True) if cells else [()] * len(here):
                pairs = zip(names, row, strict=True)
                yield dict(pairs) if whole else {name: cell for name, cell in pairs if cell is not _ABSENT}

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Sequence) and len(self) == len(other) and all(map(dict.__eq__, self, other))

    __hash__ = None  # type: ignore[assignment]  # as of a list


class RowBuilder:
    """Rows in the making, by column."""

    def __init__(self) -> None:
        self._coders: dict[str, Coder] = {}
        self._n = 0

    def add(self, cells: Mapping[str, Sequence[object]], n: int) -> None:
        """Cells of the next rows; a column that is not there has none."""
        for name in cells:
            if name not in self._coders:
                self._coders[name] = Coder()
                self._coders[name].skip(self._n)
        for name, coder in self._coders.items():
            if name in cells:
                coder.add(cells[name])
            else:
                coder.skip(n)
        self._n += n

    def add_rows(self, rows: Sequence[Row]) -> None:
        """The next rows."""
        names = dict.fromkeys(chain.from_iterable(rows))
        self.add({name: [row.get(name, _ABSENT) for row in rows] for name in names}, len(rows))

    def rows(self) -> ColumnRows:
        """The rows that were added."""
        return ColumnRows({name: coder.column() for name, coder in self._coders.items()}, self._n)


class SheetRow(int):
    """The number of a row within one of several sheets that make a table.

    Args:
        number: As people see it, from 1.
        sheet: The sheet's name.
    """

    sheet: str

    def __new__(cls, number: int, sheet: str) -> Self:
        """The number, which knows its sheet."""
        found = super().__new__(cls, number)
        found.sheet = sheet
        return found


@dataclass(frozen=True, slots=True)
class Wide:
    """Several answers beside each other in a row.

    Args:
        agents: Who gave them: the part in which heads differ.
        columns: The heads with ``{agent}`` in its place, the answer's first.
    """

    agents: tuple[str, ...]
    columns: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Table:
    """Rows as they stand in a file, before anybody interprets them.

    Args:
        path: The file, as the user named it; messages begin with it.
        columns: Names in file order.
        rows: Values by column, a row made when it is asked for, or rows in memory. Text formats give text; JSON,
            Parquet and Arrow give Python values. A column that a JSON row lacks is absent from that row.
        lines: Where each row begins: the line of a text file, or the row number of a binary one; from 1. Where items
            stood ``across``, the number of the column.
        by_line: True when ``lines`` are lines of text.
        notes: What reading assumed or mended, one sentence each.
        wide: How several answers a row were made rows, where they were.
        legends: What values mean, by sheet of the same workbook and value.
        across: True where items stood in columns and were turned into rows.
        offered: The grades of a crossed form, those that nobody crossed among them.
    """

    path: str
    columns: tuple[str, ...]
    rows: Sequence[Row]
    lines: tuple[int, ...]
    by_line: bool = True
    notes: tuple[str, ...] = ()
    wide: Wide | None = None
    legends: Mapping[str, Mapping[str, str]] = field(default_factory=dict)
    across: bool = False
    offered: tuple[str, ...] = ()
    _coded: dict[str, TableColumn] = field(default_factory=dict, init=False, repr=False, compare=False)

    @property
    def coded(self) -> Mapping[str, TableColumn]:
        """The rows by column."""
        if isinstance(self.rows, ColumnRows):
            return self.rows.columns
        if not self._coded:
            self._coded.update(ColumnRows.of(self.rows).columns)
        return self._coded

    def column(self, name: str) -> TableColumn:
        """The cells of a column; none where there is no such."""
        return self.coded.get(name) or TableColumn(np.full(len(self.rows), NO_CELL, dtype=np.int32), ())

    def some(self, rows: Sequence[int]) -> Iterator[Row]:
        """The rows at these places."""
        return self.rows.some(rows) if isinstance(self.rows, ColumnRows) else (self.rows[row] for row in rows)

    def alike(self, names: Iterable[str]) -> tuple[list[int], IntArray]:
        """The first rows of the different ones in these columns, rising, and to which of them each row is alike.

        Rows in memory are taken for different ones.
        """
        code = np.arange(n := len(self.rows))
        if isinstance(self.rows, ColumnRows):
            code = np.zeros(n, dtype=np.int64)
            for column in map(self.column, names):
                code = np.unique(code * (len(column.values) + 1) + column.codes, return_inverse=True)[1]
        _, first, code = np.unique(code, return_index=True, return_inverse=True)
        place = np.empty(len(first), dtype=np.int64)
        place[np.argsort(first)] = np.arange(len(first))
        return sorted(first.tolist()), place[code]

    def with_columns(self, columns: Mapping[str, TableColumn], *notes: str) -> Self:
        """The table with these columns in place of those of their names, and with further notes."""
        rows = ColumnRows({**self.coded, **columns}, len(self.rows))
        return replace(self, rows=rows, notes=(*self.notes, *notes))

    def only(self, rows: Iterable[int], *notes: str) -> Self:
        """These rows alone, and further notes."""
        kept = np.array(list(rows), dtype=np.int64)
        columns = {name: own for name, one in self.coded.items() if len((own := one.only(kept)).values)}
        lines = tuple(self.lines[row] for row in kept.tolist())
        return replace(self, rows=ColumnRows(columns, len(lines)), lines=lines, notes=(*self.notes, *notes))

    def where(self, index: int) -> str:
        """The place of row ``index`` as messages name it: ``labels.csv:7``, or ``labels.parquet:row 7``."""
        return place(self.path, self.lines[index], by_line=self.by_line, across=self.across)


def place(path: str, line: int, *, by_line: bool = True, across: bool = False) -> str:
    """A place in a file as messages name it."""
    path = f"{path}#{line.sheet}" if isinstance(line, SheetRow) else path
    if across:
        return f"{path}:column {column_letters(line)}"
    return f"{path}:{line}" if by_line else f"{path}:row {line}"


def column_letters(number: int) -> str:
    """A column as spreadsheets name it: 1 is A, 28 is AB."""
    before, last = divmod(number - 1, LETTERS)
    return (column_letters(before) if before else "") + chr(ord("A") + last)
