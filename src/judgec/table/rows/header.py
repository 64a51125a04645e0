"""Tells a sheet's header from titles above it, and its rows from the header once more."""

from collections import Counter
from collections.abc import Mapping, Sequence
from functools import partial
from itertools import islice

import numpy as np

from judgec.records.counts import plural
from judgec.table.table import Table

LOOKED_THROUGH = 100  # first rows of a file, which tell how many cells a row has
WIDE = 0.75  # share of the cells that most rows have, from which on a row may be the header


def header_row(rows: Mapping[int, Sequence[str]]) -> int:
    """The number of the row that names the columns: the first that is three quarters as wide as most, alone or with
    the one below.

    Args:
        rows: The cells of each row that has any, by its number.
    """
    widths = {n: _width(row) for n, row in islice(rows.items(), LOOKED_THROUGH)}
    if not widths:
        return 1
    ((usual, _),) = Counter(widths.values()).most_common(1)
    for n, width in widths.items():
        below = [cell.strip() for cell in rows.get(n + 1, ())]
        led = two_rows([cell.strip() for cell in rows[n]], (), below) if min(2, usual) <= width < usual else None
        if width >= min(2, usual) and max(width, len(led[0]) if led else 0) >= WIDE * usual:
            return n
    return next(iter(widths))


def _width(row: Sequence[str]) -> int:
    """Number of cells that hold something; an index without a name counts, too."""
    filled = [bool(cell.strip()) for cell in row]
    return len(filled) if len(filled) > 1 and all(filled[1:]) else sum(filled)


def two_rows(header: Sequence[str], above: Sequence[str], below: Sequence[str]) -> tuple[list[str], bool] | None:
    """The heads of a header of two rows, as exported where headings span several columns, and whether the second is the
    one below; None where one row names all.

    A heading stands over its first column and leads the names of all: ``Lena 1``, ``Lena 2``. Names that stand once do
    not need theirs.
    """
    if any(count > 1 for name, count in Counter(header).items() if name):
        heading = _spread(above, len(header))
        led = [f"{h} {name}" if h and header.count(name) > 1 else name for name, h in zip(header, heading, strict=True)]
        return (led, False) if len(set(led) - {""}) == sum(map(bool, led)) else None
    under = [*below, *[""] * (len(header) - len(below))]
    heading = _spread(header, len(under))
    at = {i for i, name in enumerate(under) if name}
    spans = {i for i in range(len(under)) if heading[i] and i not in at and not (i < len(header) and header[i])}
    headed = {i for i, name in enumerate(header) if name}
    starts = {max(h for h in headed if h < i) for i in at - headed if any(h < i for h in headed)}
    if not at - headed or spans or at & headed != starts or any(i < min(headed) for i in at):
        return None
    led = [
        h if not name else f"{h} {name}" if under.count(name) > 1 else name
        for name, h in zip(under, heading, strict=True)
    ]
    return (led, True) if len(set(led)) == len(led) else None


def _spread(headings: Sequence[str], width: int) -> list[str]:
    """Each heading over the columns without one to its right, too."""
    cells = [cell.strip() for cell in (*headings, *[""] * width)][:width]
    return [next((one for one in reversed(cells[: at + 1]) if one), "") for at in range(width)]


def without_headers(table: Table) -> Table:
    """The table without its header once more, as on each page of a print."""
    same, filled = np.ones(len(table.rows), dtype=np.bool_), np.zeros(len(table.rows), dtype=np.int64)
    for name, column in table.coded.items():
        same &= column.missing | column.holds(partial(_says, name))
        filled += ~column.missing
    gone = np.flatnonzero(same & (filled > 1))
    if not len(gone):
        return table
    kept = np.setdiff1d(np.arange(len(table.rows)), gone)
    return table.only(kept, f"{plural(len(gone), 'row')} left out as the header once more.")


def _says(name: str, cell: object) -> bool:
    return str(cell).strip() == name
