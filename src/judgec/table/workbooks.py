"""Reads a sheet of a workbook as a table: Excel (.xlsx, .xlsm) and OpenDocument (.ods).

A workbook is a ZIP archive of XML. Its parts are unpacked here, within bounds, and looked through for cells far out
before calamine sees them: a few kilobytes of archive, or of repeated cells, may otherwise become terabytes.
"""

import io
import re
import zipfile
import zlib
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING
from xml.parsers import expat

from judgec.errors import InputError

if TYPE_CHECKING:
    from python_calamine import CalamineSheet

SUFFIXES = (".xlsx", ".xlsm", ".ods")
MOST_BYTES = 400_000_000  # of all parts, unpacked
MOST_TEXT = 400_000_000  # characters of a workbook's cells, those that share a text each with its own
MOST_ROWS = 1_048_576  # that a sheet holds, the header among them
MOST_COLUMNS = 16_384  # XFD
MOST_CELLS = 20_000_000  # of a sheet, empty ones between filled ones included
EXACT = 1e15  # above it floats do not tell whole numbers apart
_SHARED = re.compile(rb"<(?:\w+:)?c\s[^>]*\bt=[\"']s[\"'][^>]*>\s*<(?:\w+:)?v>\s*(\d{1,9})")
_PLACE = re.compile(r"([A-Za-z]{1,4})(\d{1,8})")


@dataclass(frozen=True, slots=True)
class Sheet:
    """A sheet's cells as text.

    Args:
        name: As the workbook calls it.
        rows: The cells of each row that has any, by its number, from 1.
        errors: How many cells of the workbook hold an error such as #DIV/0!; they are read as empty.
    """

    name: str
    rows: Mapping[int, Sequence[str]]
    errors: int


def is_workbook(path: str) -> bool:
    """True for the name of a workbook, with or without ``#SHEET``."""
    return Path(split_sheet(path)[0]).suffix.lower() in SUFFIXES


def split_sheet(path: str) -> tuple[str, str | None]:
    """``FILE.xlsx#SHEET`` as file and sheet; the sheet is None where none is named or a file has just this name."""
    if "#" not in path or Path(path).exists():
        return path, None
    found = re.match(rf"(.*?(?:{'|'.join(map(re.escape, SUFFIXES))}))#(.+)", path, re.IGNORECASE | re.DOTALL)
    return (found[1], found[2]) if found else (path, None)


def read_sheets(path: str, named: str | None = None) -> list[Sheet]:
    """The visible sheets that hold anything, in the order of the workbook; or the one that is named, hidden or not.

    Formulas give the value that was computed when the file was saved, dates ISO 8601, 5.0 is 5.

    Raises:
        InputError: No workbook, a protected one, one that unpacks to more than ``MOST_BYTES`` or has cells beyond
            what sheets hold, no such sheet.
    """
    from python_calamine import CalamineError, CalamineWorkbook, SheetVisibleEnum

    parts, errors = _unpacked(path)
    try:
        with CalamineWorkbook.from_filelike(_repacked(parts)) as book:
            visible = [one.name for one in book.sheets_metadata if one.visible == SheetVisibleEnum.Visible]
            wanted = visible if named is None else [name for name in book.sheet_names if name == named]
            found = [_sheet(book.get_sheet_by_name(name), errors) for name in wanted]
            names = list(book.sheet_names)
    except CalamineError as error:
        raise _broken(path, error) from error
    except BaseException as error:  # a panic in the reader is no Exception
        if type(error).__name__ != "PanicException":
            raise
        raise _broken(path, error) from error
    if named is not None and not found:
        raise InputError([f"{path}: no sheet {named!r}; the sheets are {', '.join(names)}. Name one of these."])
    return [sheet for sheet in found if sheet.rows or named is not None]


def _sheet(sheet: "CalamineSheet", errors: int) -> Sheet:
    cells = sheet.to_python(skip_empty_area=False)
    for (top, left), (bottom, right) in sheet.merged_cell_ranges or []:
        for row in cells[top + 1 : bottom + 1] if right == left else ():  # said of each of these rows
            row[left] = cells[top][left]
    rows = {number: [cell_text(cell) for cell in row] for number, row in enumerate(cells, 1)}
    return Sheet(sheet.name, {number: row for number, row in rows.items() if any(map(str.strip, row))}, errors)


def _broken(path: str, error: BaseException) -> InputError:
    said = " ".join(str(error).split()) or type(error).__name__
    return InputError([f"{path}: not an Excel or OpenDocument workbook ({said}). Save it again, or export it as CSV."])


def cell_text(cell: object) -> str:
    """A cell as text: 5.0 is 5, dates are ISO 8601, a day at midnight is a day."""
    if isinstance(cell, str):
        return cell
    if isinstance(cell, bool):
        return "true" if cell else "false"
    if isinstance(cell, float):
        return str(int(cell)) if cell.is_integer() and abs(cell) < EXACT else repr(cell)
    if isinstance(cell, datetime):
        midnight = (cell.hour, cell.minute, cell.second, cell.microsecond) == (0, 0, 0, 0)
        return cell.date().isoformat() if midnight else cell.isoformat(sep=" ")
    return str(cell)


def _unpacked(path: str) -> tuple[dict[str, bytes], int]:
    """The XML parts, once they are known to be small enough, and how many cells hold errors."""
    try:
        with zipfile.ZipFile(path) as archive:
            wanted = [
                part for part in archive.infolist() if part.filename.endswith((".xml", ".rels")) or _is_type(part)
            ]
            if (size := sum(part.file_size for part in wanted)) > MOST_BYTES:
                raise InputError(
                    [f"{path}: unpacks to {size:,} bytes; at most {MOST_BYTES:,} are read. Split it, or export CSV."]
                )
            # What an archive declares may be a lie: zipfile reads no further than that, and compares checksums.
            parts = {part.filename: archive.read(part) for part in wanted}
    except (zipfile.BadZipFile, zlib.error, OSError, RuntimeError, NotImplementedError, EOFError) as error:
        raise _broken(path, error) from error
    errors, sharing, strings = 0, 0, list[int]()
    for name, data in parts.items():
        if name.endswith(".xml"):
            extent = _Extent(path, name)
            extent.read(data)
            errors += extent.errors
            strings += extent.lengths
            sharing += extent.sharing
    if sharing * max(strings, default=0) > MOST_TEXT:
        _check_shared(path, parts, strings)
    return parts, errors


def _check_shared(path: str, parts: Mapping[str, bytes], lengths: Sequence[int]) -> None:
    """Refuse cells that share more text than is read: the reader makes a copy for each."""
    places = (int(found[1]) for data in parts.values() for found in _SHARED.finditer(data))
    if sum(lengths[place] for place in places if place < len(lengths)) > MOST_TEXT:
        raise _too_much_text(path)


def _too_much_text(path: str) -> InputError:
    seen = f"{path}: its cells hold more than {MOST_TEXT:,} characters, most of them the same"
    return InputError([f"{seen}; that many are not read. Split it, or export CSV."])


def _is_type(part: zipfile.ZipInfo) -> bool:
    return part.filename == "mimetype"


def _repacked(parts: Mapping[str, bytes]) -> io.BytesIO:
    """The same parts in an archive that holds what it declares."""
    whole = io.BytesIO()
    with zipfile.ZipFile(whole, "w", zipfile.ZIP_STORED) as archive:
        for name, data in parts.items():
            archive.writestr(name, data)
    whole.seek(0)
    return whole


@dataclass(slots=True)
class _Extent:
    """Extent of the cells of a part.

    Excel numbers its cells; OpenDocument repeats cells and rows by a count.
    """

    path: str
    part: str
    errors: int = 0
    sharing: int = 0  # cells whose text is shared
    lengths: list[int] = field(default_factory=list)  # of the texts that cells share
    _length: int = 0  # of the text of an OpenDocument cell, and below of those of its row and table
    _row_length: int = 0
    _table_length: int = 0
    _cells: int = 1
    _row: int = 0
    _column: int = 0
    _repeat: int = 1
    _filled: int = 0
    _box: list[int] = field(default_factory=lambda: [0, 0])

    def read(self, data: bytes) -> None:
        """Look through the part.

        Raises:
            InputError: A document type, or cells beyond what sheets hold.
        """
        parser = expat.ParserCreate()
        parser.StartElementHandler = self._start
        parser.EndElementHandler = self._end
        parser.StartDoctypeDeclHandler = self._typed
        if self.part.endswith(("sharedStrings.xml", "content.xml")):
            parser.CharacterDataHandler = self._text
        with suppress(expat.ExpatError):  # calamine says what is wrong, or does not read the part
            parser.Parse(data, True)

    def _typed(self, *_: object) -> None:
        raise InputError(
            [f"{self.path}: {self.part} declares a document type; workbooks have none. Save it again."]
        )  # entities could grow without bound

    def _start(self, name: str, given: dict[str, str]) -> None:
        tag = name.rpartition(":")[2]
        if tag == "c" and (found := _PLACE.fullmatch(given.get("r", ""))):
            column = 0
            for letter in found[1].upper():
                column = column * 26 + ord(letter) - 64
            self._reach(int(found[2]), column)
            self.errors += given.get("t") == "e"
            self.sharing += given.get("t") == "s"
        elif tag == "si":
            self.lengths.append(0)
        elif tag == "row" and given.get("r", "").isdecimal():
            self._reach(int(given["r"][:9]), 0)
        elif tag == "table":
            self._row, self._box = 0, [0, 0]
        elif tag == "table-row":
            self._column = self._filled = self._row_length = 0
            self._repeat = _repeated(given, "number-rows-repeated")
        elif tag in {"table-cell", "covered-table-cell"}:
            self._cells = _repeated(given, "number-columns-repeated")
            self._column += self._cells
            self._length = 0
            if any(key.endswith("value-type") for key in given):
                self._filled = self._column
                self.errors += given.get("calcext:value-type") == "error"

    def _text(self, text: str) -> None:
        self._length += len(text)
        if self.lengths:
            self.lengths[-1] += len(text)

    def _end(self, name: str) -> None:
        tag = name.rpartition(":")[2]
        if tag == "table-cell":
            self._row_length += self._length * self._cells
        elif tag == "table-row":
            self._table_length += self._row_length * self._repeat
            if self._table_length > MOST_TEXT:
                raise _too_much_text(self.path)
            self._row += self._repeat
            if self._filled:
                self._reach(self._row, self._filled)

    def _reach(self, row: int, column: int) -> None:
        self._box = [max(self._box[0], row), max(self._box[1], column)]
        rows, columns = self._box
        if rows > MOST_ROWS or columns > MOST_COLUMNS or rows * columns > MOST_CELLS:
            seen = f"{self.path}: {self.part} reaches to row {row}, column {column}"
            raise InputError([f"{seen}; at most {MOST_CELLS:,} cells are read. Delete what is far out, or export CSV."])


def _repeated(given: Mapping[str, str], name: str) -> int:
    """Number of repetitions of a cell or row, whatever prefix its attribute has."""
    said = [value for key, value in given.items() if key.endswith(name) and value.isdecimal()]
    return max([1, *(int(value[:9]) for value in said)])
