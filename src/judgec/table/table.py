"""Rows as they stand in a file, whatever its format."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Self, TypeVar

import numpy as np
from numpy.typing import NDArray

from judgec.records.label import IntArray
from judgec.table.rows.cells import as_id, is_missing

BoolArray = NDArray[np.bool_]
Row = dict[str, object]
T = TypeVar("T")
NO_CELL = -1  # the code of a row that has no such cell
IN_MEMORY = "DataFrame"  # what messages call a table that has no file
_ABSENT = object()
_ALIKE = (int, float, bool, bytes, type(None))  # types of cells that may be the same as others


@dataclass(frozen=True, eq=False)
class TableColumn:
    """The cells of a column, each different one once: what is said of a cell is worked out for these alone.

    Args:
        codes: Position of each row's cell in ``values``, shape (n_rows,); -1 where a row has none, which reads as None.
        values: The different cells, in the order in which they first stand there, each of some row.
    """

    codes: NDArray[np.int32]
    values: Sequence[object]

    @classmethod
    def of(cls, cells: Iterable[object]) -> "TableColumn":
        """The column with these cells; 1, 1.0 and true are different ones."""
        keys = cells = list(cells)
        if {*map(type, cells)} != {str}:
            # A list, an object, a time is never the same as another; NaN is, and -0.0 is another than 0.0.
            keys = [
                cell
                if (kind := type(cell)) is str or cell is _ABSENT
                else (kind, repr(cell))
                if kind in _ALIKE
                else object()
                for cell in cells
            ]
        values = dict(zip(keys, cells, strict=True))
        values.pop(_ABSENT, None)
        place = {_ABSENT: NO_CELL} | {key: code for code, key in enumerate(values)}
        return cls(np.fromiter(map(place.__getitem__, keys), np.int32, len(keys)), list(values.values()))

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


@dataclass(frozen=True, slots=True)
class Table:
    """Rows as they stand in a file, before anybody interprets them.

    Args:
        path: The file, as the user named it; messages begin with it.
        columns: Names in file order.
        rows: Values by column. Text formats give text; JSON, Parquet and Arrow give Python values. A column that a
            JSON row lacks is absent from that row.
        lines: Where each row begins: the line of a text file, or the row number of a binary one; from 1.
        by_line: True when ``lines`` are lines of text.
        notes: What reading assumed or mended, one sentence each.
    """

    path: str
    columns: tuple[str, ...]
    rows: Sequence[Row]
    lines: tuple[int, ...]
    by_line: bool = True
    notes: tuple[str, ...] = ()
    _coded: dict[str, TableColumn] = field(default_factory=dict, init=False, repr=False, compare=False)

    @property
    def in_memory(self) -> bool:
        """True for rows that came from Python: messages then name arguments in place of options."""
        return self.path == IN_MEMORY

    @property
    def coded(self) -> Mapping[str, TableColumn]:
        """The rows by column."""
        return {name: self.column(name) for name in self.columns}

    def column(self, name: str) -> TableColumn:
        """The cells of a column; none where there is no such."""
        if name not in self._coded:
            self._coded[name] = TableColumn.of(row.get(name, _ABSENT) for row in self.rows)
        return self._coded[name]

    def with_columns(self, columns: Mapping[str, TableColumn], *notes: str) -> Self:
        """The table with these columns in place of those of their names, and with further notes."""
        rows = tuple(map(dict, self.rows))
        for name, column in columns.items():
            for row, code in zip(rows, column.codes.tolist(), strict=True):
                if code != NO_CELL:
                    row[name] = column.values[code]
                else:
                    row.pop(name, None)
        return replace(self, rows=rows, notes=(*self.notes, *notes))

    def only(self, rows: Iterable[int], *notes: str) -> Self:
        """These rows alone, and further notes."""
        kept = list(rows)
        lines = tuple(self.lines[row] for row in kept)
        return replace(self, rows=tuple(self.rows[row] for row in kept), lines=lines, notes=(*self.notes, *notes))

    def where(self, index: int) -> str:
        """The place of row ``index`` as messages name it: ``labels.csv:7``, or ``labels.parquet:row 7``."""
        return place(self.path, self.lines[index], by_line=self.by_line)


def place(path: str, line: int, *, by_line: bool = True) -> str:
    """A place in a file as messages name it."""
    return f"{path}:{line}" if by_line else f"{path}:row {line}"
