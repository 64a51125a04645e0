"""Writes workbooks row by row; ``table.workbooks`` reads them.

Texts are written as text, so that no program runs what looks like a formula, follows what looks like a link or turns
an identifier into a number.
"""

import re
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, BinaryIO

from judgec.errors import UserError
from judgec.records.counts import plural
from judgec.table.workbooks import MOST_COLUMNS, MOST_ROWS

MOST_CELL = 32_767  # UTF-16 units that a cell holds; most characters are one, emoji are two
MOST_LISTED = 255  # UTF-16 units of a list to choose from, its commas and quotes included
Cell = str | float | bool
_INVALID = re.compile("[^\t\n\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")  # characters that XML cannot hold
_LINE_END = re.compile("\r\n?")  # in a cell a line ends with a line feed


class _Exact(float):
    """A number that is written with all its digits: XlsxWriter writes 16, and some need 17."""

    __slots__ = ()

    def __format__(self, _: str) -> str:
        return float.__repr__(self)


@dataclass(slots=True)
class WrittenSheet:
    """The sheet of a workbook that is being written.

    Args:
        sheet: XlsxWriter's.
        text: The format of texts.
        rows: How many were written.
        cut: How many cells were longer than a cell may be.
        mended: How many cells had characters that no workbook holds.
    """

    sheet: Any  # XlsxWriter ships no types
    text: Any
    rows: int = 0
    cut: int = 0
    mended: int = 0

    def put(self, row: Sequence[Cell]) -> None:
        """Write the next row.

        Raises:
            UserError: More rows or columns than a sheet holds.
        """
        if fault := beyond(self.rows + 1, len(row)):
            raise UserError(f"{fault} Write .csv instead.")
        for column, value in enumerate(row):
            if isinstance(value, bool):
                self.sheet.write_boolean(self.rows, column, value)
            elif isinstance(value, str):
                self._put_text(column, value)
            else:
                self.sheet.write_number(self.rows, column, _Exact(value) if isinstance(value, float) else value)
        self.rows += 1

    def _put_text(self, column: int, value: str) -> None:
        kept = _INVALID.sub("\ufffd", lines := _LINE_END.sub("\n", value))
        self.mended += kept != lines
        if len(kept) > MOST_CELL // 2 and len(units := kept.encode("utf-16-le")) > 2 * MOST_CELL:
            kept = units[: 2 * MOST_CELL].decode("utf-16-le", "ignore")  # without the half of a character
            self.cut += 1
        if kept.startswith("<r>") and kept.endswith("</r>"):  # XlsxWriter would take it for its own markup
            self.sheet.write_rich_string(self.rows, column, kept[:1], self.text, kept[1:], self.text)
        elif kept:
            self.sheet.write_string(self.rows, column, kept, self.text)

    @property
    def notes(self) -> list[str]:
        """Notes on what the cells could not hold, a sentence each."""
        said = {
            f"{self.cut} cells have more than {MOST_CELL:,} characters, which no workbook holds: cut there.": self.cut,
            f"{self.mended} cells have control characters, which no workbook holds: \ufffd stands for "
            "each.": self.mended,
        }
        return [sentence for sentence, count in said.items() if count]


def beyond(rows: int, columns: int) -> str:
    """The limit that a sheet of that many rows, with its header, and columns exceeds; empty where it fits."""
    if rows > MOST_ROWS:
        return f"{plural(rows - 1, 'row', thousands=True)}; a workbook holds {MOST_ROWS - 1:,}."
    return f"{columns:,} columns; a workbook holds {MOST_COLUMNS:,}." if columns > MOST_COLUMNS else ""


@contextmanager
def sheet_writer(
    file: BinaryIO, name: str, *, widths: Sequence[int] = (), choices: Sequence[Sequence[str]] = ()
) -> Iterator[WrittenSheet]:
    """A workbook with one sheet whose first row stays in view; no row is held in memory.

    Args:
        file: Where the workbook goes.
        name: Of the sheet.
        widths: Of each column, in characters; none for the usual one.
        choices: What each column may hold, offered as a list; empty for anything.
    """
    from xlsxwriter import Workbook  # an eighth of a second
    from xlsxwriter.exceptions import FileCreateError

    with tempfile.TemporaryDirectory() as folder:
        book = Workbook(file, {"constant_memory": True, "tmpdir": folder})
        book.use_zip64()
        sheet = book.add_worksheet(name)
        sheet.freeze_panes(1, 0)
        for column, width in enumerate(widths):
            sheet.set_column(column, column, width)
        made = WrittenSheet(sheet, book.add_format({"text_wrap": True, "valign": "top"}))
        try:
            yield made
        except BaseException:
            sheet.row_data_fh.close()  # what was written so far is not put together
            raise
        for column, allowed in enumerate(choices):
            if allowed and _listable(allowed):
                offered = {"validate": "list", "source": list(allowed)}
                sheet.data_validation(1, column, max(made.rows - 1, 1), column, offered)
        try:
            book.close()
        except FileCreateError as error:
            raise error.args[0] from error  # the OSError that it stands for


def _listable(allowed: Sequence[str]) -> bool:
    """True if a sheet can offer these as a list."""
    length = len(f'"{",".join(allowed)}"'.encode("utf-16-le", "replace")) // 2
    return length <= MOST_LISTED and not any("," in one or '"' in one for one in allowed)
