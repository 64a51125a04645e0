"""Tells a sheet's header from titles above it, and its rows from sums, notes, headings and the header once more."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from statistics import median_low

from judgec.records.tasks.registry import called
from judgec.table.rows.cells import as_number, is_missing
from judgec.table.rows.heads import is_computed, is_summary
from judgec.table.table import Row, Table

LOOKED_THROUGH = 100  # rows below the header that tell how many cells a row has
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
    widths = {number: sum(bool(cell.strip()) for cell in row) for number, row in rows.items()}
    most = max(widths.values(), default=0)
    typical = median_low([*widths.values()][:LOOKED_THROUGH]) if widths else 0
    able = [number for number, width in widths.items() if width > 1 or most == 1]
    able = [n for n in able if 2 * widths[n] > typical or (n in headings and widths[n] > 1)] or able
    first = next(iter(able), 1)
    if widths.get(first, 0) >= typical or first in headings or any(map(called, _cells(rows.get(first, ())))):
        return first
    wider = (n for n in able if widths[n] >= typical and any(map(called, _cells(rows[n]))))
    return next(wider, first)


def _cells(row: Sequence[str]) -> list[str]:
    return [text for cell in row if (text := cell.strip())]


def without_surplus(table: Table) -> Table:
    """The table without rows that are none, each named in a note: its header once more, headings of sections and notes,
    and last rows that sum up the others (``Total``, ``Mittelwert``, or bare sums).
    """
    return _without_totals(_without_notes(_without_headers(table)))


def _left_out(table: Table, gone: Collection[int], why: str) -> Table:
    if not gone:
        return table
    kept = [at for at in range(len(table.rows)) if at not in gone]
    rows, lines = tuple(table.rows[at] for at in kept), tuple(table.lines[at] for at in kept)
    return replace(table, rows=rows, lines=lines, notes=(*table.notes, why))


def _without_headers(table: Table) -> Table:
    gone = {
        at
        for at, row in enumerate(table.rows)
        if (filled := _filled(row)) and len(filled) > 1 and all(str(value).strip() == name for name, value in filled)
    }
    return _left_out(table, gone, f"{len(gone)} rows repeat the header, and are left out.")


def _without_notes(table: Table) -> Table:
    """The table without rows of one text, where rows have more cells: below all others, or of another kind than these.

    A question alone stays: nobody answered or graded it. So does any row of a file whose rows name their own columns.
    """
    if any(len(row) < len(table.columns) for row in table.rows):
        return table
    filled = [_filled(row) for row in table.rows]
    alone = {at: own[0] for at, own in enumerate(filled) if len(own) == 1 and _is_words(own[0][1])}
    if not alone or len(alone) > FEW * len(filled) or median_low(map(len, filled)) < 3:
        return table
    last = max(at for at in range(len(filled)) if at not in alone)
    gone = {at: text for at, (name, text) in alone.items() if at > last or _is_other(table, name, text, alone)}
    gone = {at: text for at, text in gone.items() if not str(text).rstrip().endswith("?")}
    said = [f"{table.where(at)} {_short(str(text))}" for at, text in gone.items()]
    return _left_out(table, gone, f"Notes and headings are no rows, and are left out: {'; '.join(said)}.")


def _is_other(table: Table, name: str, text: object, alone: Collection[int]) -> bool:
    """True for words among numbers, and for a text without a question mark among questions."""
    others = [row.get(name) for at, row in enumerate(table.rows) if at not in alone and not is_missing(row.get(name))]
    numbers = sum(_written(value) is not None for value in others)
    asked = sum(str(value).rstrip().endswith(("?", "\uff1f")) for value in others)
    return 2 * max(numbers, asked) > len(others) and _written(text) is None


def _is_words(value: object) -> bool:
    return isinstance(value, str) and _written(value) is None


def _filled(row: Row) -> list[tuple[str, object]]:
    return [(name, value) for name, value in row.items() if not is_missing(value)]


def _short(text: str) -> str:
    one = " ".join(text.split())
    return repr(one if len(one) <= SHOWN else one[: SHOWN - 1] + "\u2026")


def _without_totals(table: Table) -> Table:
    last = len(table.rows)
    while last > MOST_TOTALS and last > len(table.rows) - MOST_TOTALS and _is_total(table.rows[:last]):
        last -= 1
    gone = range(last, len(table.rows))
    named = [str(value) for at in gone for _, value in _filled(table.rows[at]) if _written(value) is None]
    below = f"{table.where(last)}{' and below' if len(gone) > 1 else ''}" if gone else ""
    said = f" ({', '.join(named)})" if named else ""
    return _left_out(table, gone, f"{below}: sums up the other rows{said}, and is left out.")


def _is_total(rows: Sequence[Row]) -> bool:
    """Whether the last of these rows holds nothing but numbers and a word such as ``Total``, where others have texts.

    Without the word its numbers have to be the sums or means of those above it.
    """
    *others, last = rows
    cells = {name: cell for name, cell in last.items() if not is_missing(cell)}
    numbers = {name: number for name, cell in cells.items() if (number := _written(cell)) is not None}
    words = [cell for name, cell in cells.items() if name not in numbers]
    lacking = [name for name in last if name not in cells and not is_missing(others[0].get(name))]
    if not numbers or not lacking or len(words) > 1 or any(not isinstance(word, str) for word in words):
        return False
    if words:
        word = str(words[0]).strip().rstrip(":")
        return len(word) <= LONGEST_TOTAL and (is_computed(word) or is_summary(word))
    if all(_written(others[0].get(name)) is not None for name in lacking):
        return False  # a row that nobody finished
    for name, number in numbers.items():
        above = [one for row in others if (one := _written(row.get(name))) is not None]
        total, mean = sum(above), sum(above) / max(len(above), 1)
        if not above or min(abs(number - total), abs(number - mean)) > CLOSE:
            return False
    return True


def _written(cell: object) -> float | None:
    """A number, also as 20% or 1,0."""
    text = cell.strip().removesuffix("%").replace(",", ".") if isinstance(cell, str) else cell
    return as_number(text)
