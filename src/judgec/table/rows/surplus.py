"""Tells a sheet's header from titles above it, and its rows from sums, notes, headings and the header once more."""

from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from functools import partial
from itertools import islice
from statistics import median_low

import numpy as np

from judgec.records.counts import plural
from judgec.records.label import IntArray
from judgec.records.tasks.registry import called
from judgec.table.rows.cells import as_number, is_missing
from judgec.table.rows.heads import is_computed, is_summary
from judgec.table.table import BoolArray, Row, Table, TableColumn

LOOKED_THROUGH = 100  # first rows of a file, which tell how many cells a row has
MOST_TOTALS = 6  # last rows of a table that sum up the others: sum, mean, median, deviation, least, most
LONGEST_TOTAL = 30  # characters of what such a row is called
CLOSE = 0.0051  # a mean is written with two digits
FEW = 0.2  # share of the rows up to which those of one cell are notes and headings
SHOWN = 60  # characters of one in a note


def header_row(rows: Mapping[int, Sequence[str]], headings: Collection[int] = ()) -> int:
    """The number of the row that names the columns: titles and dates above it have fewer cells than the rows below.

    Args:
        rows: The cells of each row that has any, by its number.
        headings: Rows with a cell that was merged over several columns, which may name few columns.
    """
    first_rows = islice(rows.items(), LOOKED_THROUGH)
    widths = {number: sum(bool(cell.strip()) for cell in row) for number, row in first_rows}
    most = max(widths.values(), default=0)
    typical = median_low(widths.values()) if widths else 0
    able = [number for number, width in widths.items() if width > 1 or most == 1]
    able = [n for n in able if 2 * widths[n] > typical or (n in headings and widths[n] > 1)] or able
    first = next(iter(able), 1)
    if widths.get(first, 0) >= typical or first in headings or any(map(called, _cells(rows.get(first, ())))):
        return first
    wider = (n for n in able if widths[n] >= typical and any(map(called, _cells(rows[n]))))
    return next(wider, first)


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
    led = [f"{h} {name}" if name else h for name, h in zip(under, heading, strict=True)]
    return (led, True) if len(set(led)) == len(led) else None


def _spread(headings: Sequence[str], width: int) -> list[str]:
    """Each heading over the columns without one to its right, too."""
    cells = [cell.strip() for cell in (*headings, *[""] * width)][:width]
    return [next((one for one in reversed(cells[: at + 1]) if one), "") for at in range(width)]


def _cells(row: Sequence[str]) -> list[str]:
    return [text for cell in row if (text := cell.strip())]


def _filled_cells(table: Table) -> IntArray:
    """Number of cells of each row that are not missing, shape (n_rows,)."""
    filled = np.zeros(len(table.rows), dtype=np.int64)
    for column in table.coded.values():
        filled += ~column.missing
    return filled


def _left_out(table: Table, gone: Collection[int], why: str) -> Table:
    out = set(gone)
    return table.only((at for at in range(len(table.rows)) if at not in out), why) if gone else table


def _without_headers(table: Table) -> Table:
    """The table without its header once more."""
    same = _filled_cells(table) > 1
    for name, column in table.coded.items():
        if same.any():
            same &= column.missing | column.holds(partial(_says, name))
    gone = np.flatnonzero(same).tolist()
    return _left_out(table, gone, f"{plural(len(gone), 'row')} left out as the header once more.")


def _says(name: str, cell: object) -> bool:
    return str(cell).strip() == name


def without_notes(table: Table) -> Table:
    """A sheet without its header once more, and without rows of one text where rows have more cells: below all others,
    or of another kind than these.

    A question alone stays: nobody answered or graded it.
    """
    table = _without_headers(table)
    filled = _filled_cells(table)
    if not len(filled) or median_low(filled.tolist()) < 3:
        return table
    rows = {at: _filled(table.rows[at])[0] for at in np.flatnonzero(filled == 1).tolist()}
    alone = {at: own for at, own in rows.items() if _is_words(own[1])}
    if not alone or len(alone) > FEW * len(filled):
        return table
    among = np.ones(len(filled), dtype=np.bool_)
    among[list(alone)] = False
    last = int(np.flatnonzero(among)[-1])
    told = {name: _tells_apart(table.column(name), among) for name in {name for name, _ in alone.values()}}
    gone = {at: text for at, (name, text) in alone.items() if at > last or (told[name] and _written(text) is None)}
    gone = {at: text for at, text in gone.items() if not str(text).rstrip().endswith("?")}
    said = [f"{table.where(at)} {_short(str(text))}" for at, text in gone.items()]
    return _left_out(table, gone, f"{plural(len(gone), 'row')} left out as notes or headings: {'; '.join(said)}.")


def _tells_apart(column: TableColumn, among: BoolArray) -> bool:
    """True for a column of numbers or questions, in which words without a question mark are of another kind."""
    others = among & ~column.missing
    numbers = (column.holds(lambda cell: _written(cell) is not None) & others).sum()
    asked = (column.holds(lambda cell: str(cell).rstrip().endswith(("?", "\uff1f"))) & others).sum()
    return bool(2 * max(numbers, asked) > others.sum())


def _is_words(value: object) -> bool:
    return isinstance(value, str) and _written(value) is None


def _filled(row: Row) -> list[tuple[str, object]]:
    return [(name, value) for name, value in row.items() if not is_missing(value)]


def _short(text: str) -> str:
    one = " ".join(text.split())
    return repr(one if len(one) <= SHOWN else one[: SHOWN - 1] + "\u2026")


def without_totals(table: Table) -> Table:
    """The table without rows that sum up others: ``Total``, ``Mittelwert``, or bare sums or counts below all others."""
    rows = table.rows
    usual = [name for name in table.columns if 2 * (~table.column(name).missing).sum() > len(rows)]
    lacking = np.zeros(len(rows), dtype=np.bool_)
    for name in usual:
        lacking |= table.column(name).missing
    odd = np.flatnonzero(lacking & (_filled_cells(table) > 1)).tolist()
    gone = {at for at in odd if _sums_up_by_name(rows[at])}
    last = len(rows) - 1
    while last > MOST_TOTALS and last > len(rows) - 1 - MOST_TOTALS and _is_below(table, last, gone):
        gone.add(last)
        last -= 1
    if not gone or len(gone) > FEW * len(rows) + 1:
        return table
    places = "; ".join(" ".join([table.where(at), *_words_of(rows[at])]) for at in sorted(gone))
    return _left_out(table, gone, f"{plural(len(gone), 'row')} left out as totals or means of others: {places}.")


def _is_below(table: Table, at: int, gone: Collection[int]) -> bool:
    return at in gone or _sums_up(table, at) or _counts(table, at)


def _words_of(row: Row) -> list[str]:
    return [_short(value) for _, value in _filled(row) if isinstance(value, str) and _written(value) is None]


def _sums_up_by_name(row: Row) -> bool:
    """True if a row holds nothing but numbers and a word such as ``Total``; it lacks what others have."""
    words = [value for _, value in _filled(row) if _written(value) is None]
    word = words[0].strip().rstrip(":") if len(words) == 1 and isinstance(words[0], str) else ""
    return 0 < len(word) <= LONGEST_TOTAL and (is_computed(word) or is_summary(word))


def _sums_up(table: Table, at: int) -> bool:
    """True if a row holds nothing but sums or means of those above it, where others have texts."""
    first, last = table.rows[0], table.rows[at]
    numbers = {name: _written(value) for name, value in _filled(last)}
    lacking = [name for name in last if name not in numbers and not is_missing(first.get(name))]
    if not lacking or all(_written(first.get(name)) is not None for name in lacking):
        return False  # a row that nobody finished
    for name, number in numbers.items():
        above = [one for one in table.column(name).each(_written)[:at] if one is not None]
        if number is None or not above:
            return False
        if min(abs(number - sum(above)), abs(number - sum(above) / len(above))) > CLOSE:
            return False
    return bool(numbers)


def _counts(table: Table, at: int) -> bool:
    """True if a row holds nothing but counts of words above it and what it counts: ``ja`` 31, ``A wins`` 22."""
    filled = _filled(table.rows[at])
    counted = [name for name, value in filled if (number := _written(value)) is not None and number <= at]
    said = [value for name, value in filled if name not in counted]
    named = len(said) == 1 and isinstance(said[0], str) and len(said[0].strip()) <= LONGEST_TOTAL
    return named and bool(counted) and all(_is_of_words(table.column(name), at) for name in counted)


def _is_of_words(column: TableColumn, upto: int) -> bool:
    """True where the cells above a row are words, few of them different."""
    above = [cell for cell in column.cells()[:upto] if not is_missing(cell)]
    few = 0 < len({str(cell).strip() for cell in above}) <= max(1, len(above) // 3)
    return few and all(_is_words(cell) for cell in above[:-MOST_TOTALS]) and _is_words(above[0])


def _written(cell: object) -> float | None:
    """A number, also as 20% or 1,0."""
    text = cell.strip().removesuffix("%").replace(",", ".") if isinstance(cell, str) else cell
    return as_number(text)
