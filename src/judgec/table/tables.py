"""Any file of rows as one table: CSV, TSV, JSON lines, JSON, Parquet, Arrow, a workbook, a folder, a Hub data set."""

import codecs
import csv
import io
import json
import re
import sys
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from itertools import chain, islice
from pathlib import Path
from typing import Literal

import orjson

from judgec.errors import InputError
from judgec.records.conversation import TURNS
from judgec.records.counts import plural
from judgec.records.tasks.registry import called
from judgec.table.arrow import HUB_PREFIX, MOST_BYTES, read_arrow_file, read_data_set, read_hub, read_parquet
from judgec.table.formulas import is_own, unguarded
from judgec.table.regular import seen_at
from judgec.table.rows.columns import listed
from judgec.table.rows.header import LOOKED_THROUGH, header_row, two_rows, without_headers
from judgec.table.rows.records import with_records
from judgec.table.table import Row, Table
from judgec.table.toml import read_toml
from judgec.table.traces.items import read_traces
from judgec.table.traces.spans import HELD, holds_spans
from judgec.table.workbooks import Sheet, is_workbook, read_sheets, split_sheet

PIECE = 1_000_000  # characters of text that are taken apart at once
HEAD_BYTES = 1_000_000  # of a file, to see its encoding
MOSTLY = 0.4  # of the bytes at even or odd places: texts of letters are far above, one stray zero far below
_MULTIBYTE = re.compile(rb"[\xc2\xc3\xd0\xd1][\x80-\xbf]|[\xe0-\xef][\x80-\xbf]{2}|\xf0[\x80-\xbf]{3}")  # as in UTF-8
_HIGH = re.compile(rb"[\xdf-\xff]")  # small letters with marks of cp1252
_MAC = re.compile(
    rb"[A-Za-z][\x80\x85\x86\x8a\x8e\x8f\x9a\x9f]|[\x80\x85\x86\x8a\x8e\x8f\x9a\x9f][a-z]"
)  # a-umlaut, e acute
_SEPARATOR = re.compile(r"[\s\ufeff]*\"?(?i:sep)=([,;\t|])\"?[,;\t| ]*\n")  # as Excel takes it, and writes it anew
_LARGE = re.compile(r"\d{19}")  # perhaps a whole number that orjson makes a float of
_UNUSED = re.compile(rb"[\x81\x8d\x8f\x90\x9d]")  # no character of cp1252
PROJECT = "judgec.toml"
NOTED = 2  # columns of a table below which a line of one cell is no row, but a note
FIRST_ROWS = 50  # of delimited text, which tell its delimiter below a title
MOST_KEYS = 8  # of a JSON object, in a message
# Tools by the keys at the top of their exports that are one object, and of each of their rows; ``labels import`` reads
# Inspect's and deepeval's.
EXPORTS: Sequence[tuple[str, str, frozenset[str]]] = (
    ("promptfoo", "promptfoo", frozenset({"results", "evalId"})),
    ("langfuse", "langfuse", frozenset({"traces", "scores"})),
    ("Inspect", "other", frozenset({"eval", "samples"})),
    ("deepeval", "other", frozenset({"testCases"})),
)
EXPORTED_ROWS: Sequence[tuple[str, str, frozenset[str]]] = (
    ("Label Studio", "label-studio", frozenset({"data", "annotations"})),
)
FORMATS = ".csv, .tsv, .jsonl, .json, .parquet, .arrow, .xlsx, .ods, a folder of these, or hf:owner/name@split"
DELIMITERS = ",;\t|"  # spreadsheets in half of Europe write semicolons into .csv


TableSource = str | Table
"""A file, or rows in memory under a name for messages."""


def opened(source: TableSource) -> Table:
    """The rows; as ``read_table``."""
    return source if isinstance(source, Table) else read_table(source)


def name_of(source: TableSource) -> str:
    """Name of a source in messages."""
    return source.path if isinstance(source, Table) else source


def inside(folder: Path, name: str, *, where: str) -> Path:
    """The file that a data file names: in its own folder or below.

    Args:
        folder: The data file's folder.
        name: What it says; relative.
        where: The data file, for the message.

    Raises:
        InputError: When the name, or a link that it goes through, leaves the folder.
    """
    file = folder / name
    if not file.resolve().is_relative_to(folder.resolve()):
        raise InputError(
            [f"{where}: {name} is outside its folder; files in {folder} or below are valid. Copy it there."]
        )
    return file


def read_table(
    path: str, having: Collection[str] = (), *, head: int | None = None, missing: Sequence[str] = ()
) -> Table:
    """Read a whole file or data set.

    Args:
        path: What ``FORMATS`` lists; of a workbook with several sheets of rows ``FILE.xlsx#SHEET``.
        having: Columns by which the sheet of a workbook is known.
        head: Read so many rows of delimited text, whatever comes behind them.
        missing: Words that say nothing, beside those that the ``judgec.toml`` of the file names.

    CSV may be separated by commas, semicolons, tabs or bars, and may begin with a byte-order mark; blank
    lines are skipped. A folder holds ``labels.*``, or an Arrow data set as ``datasets`` saves it.

    Raises:
        InputError: No such file, unknown format, not UTF-8, a broken line, an empty file; with file and line.
        ServiceError: The Hub cannot be reached.
    """
    return as_read(as_it_stands(path, having, head), missing)


def as_read(table: Table, missing: Sequence[str] = ()) -> Table:
    """A table as ``read_table`` gives it, of rows as they stand in a file; parameters and errors as there."""
    return without(with_records(_unwrapped(table)), (*missing, *missing_beside(table.path)))


def missing_beside(path: str) -> tuple[str, ...]:
    """The words that say nothing, by the ``judgec.toml`` beside a file."""
    if path.startswith(HUB_PREFIX):
        return ()
    file = Path(split_sheet(path)[0]).parent / PROJECT
    said = read_toml(file)[1].get("missing") if file.is_file() else None
    return tuple(map(str, said)) if isinstance(said, list) else ()


def _unwrapped(table: Table) -> Table:
    """The objects in rows that say nothing but where they stand: ``{"row_idx": 0, "row": {...}}``."""
    held = [name for name, column in table.coded.items() if column.has(dict)]
    if len(held) != 1 or any(called(name) for name in table.columns if name not in held):
        return table
    (name,) = held
    objects = [row.get(name) for row in table.rows]
    inner = dict.fromkeys(key for one in objects if isinstance(one, dict) for key in one)
    if not all(isinstance(one, dict) for one in objects) or sum(map(called, inner)) < 2:
        return table
    rows = tuple(dict(one) for one in objects if isinstance(one, dict))
    beside = [one for one in table.columns if one != name]
    note = f"Each row is what {name!r} holds{f'; {listed(beside)} beside it are not read' if beside else ''}."
    return replace(table, columns=tuple(inner), rows=rows, notes=(*table.notes, note))


def without(table: Table, words: Sequence[str]) -> Table:
    """The table with nothing in cells that hold one of these words alone."""
    none = {word.strip().casefold() for word in words}

    def says_nothing(cell: object) -> bool:
        return isinstance(cell, str) and cell.strip().casefold() in none

    gone = {name: blank for name in table.coded if none and (blank := table.column(name).holds(says_nothing)).any()}
    if not gone:
        return table
    first = sorted(gone, key=lambda name: int(gone[name].argmax()))
    said = ", ".join(f"{name} ({int(gone[name].sum())})" for name in first)
    count = sum(int(blank.sum()) for blank in gone.values())
    what = plural(count, "cell that holds {0} is missing", "cells that hold {0} are missing")
    note = f"{what.format(' or '.join(dict.fromkeys(words)))}: {said}."
    made = {name: table.column(name).made(lambda cell: None if says_nothing(cell) else cell) for name in gone}
    return table.with_columns(made, note)


def as_it_stands(path: str, having: Collection[str] = (), head: int | None = None) -> Table:
    """A file as ``read_table`` reads it, before objects within its rows become rows."""
    if path.startswith(HUB_PREFIX):
        return _binary(path, read_hub(path))
    if is_workbook(path):
        return read_sheets_of(path, having)
    file = Path(path)
    if file.is_dir():
        labels = _labels_in(file)
        return as_it_stands(str(labels), having, head) if labels else _binary(path, read_data_set(file))
    _need_file(path)
    kind = file.suffix.lower()
    if kind == ".parquet":
        return _binary(path, read_parquet(file))
    if kind in {".arrow", ".feather"}:
        return _binary(path, read_arrow_file(file))
    if kind in {".csv", ".tsv", ".tab"}:
        usual = "," if kind == ".csv" else "\t"
        text, note = _text_of(path) if head is None else (_begin_of(path, head), "")
        return _noted(without_headers(_read_delimited(path, text, usual)), note)
    if kind in {".jsonl", ".ndjson", ".json"}:
        text, note = _text_of(path)
        begin = next((found[0] for found in re.finditer(r"\S", text)), "")
        if kind == ".json" and begin == "{" and (traces := _whole_traces(path, text)) is not None:
            return traces
        if begin == "{" and (found := _one_object(path, text)) is not None:
            return _noted(found, note)
        whole = begin == "[" and (kind == ".json" or _is_array(text))
        table = _from_json(path, _array(text) if whole else _lines(text))
        first = table.rows[0] if table.rows else {}
        export = next(
            (one for one in EXPORTED_ROWS if all(isinstance(first.get(key), (dict, list)) for key in one[2])), None
        )
        if export is not None:
            raise _export(path, export, first)
        return _noted(table, note)
    raise InputError(
        [(f"{path}: format {kind or 'without an extension'} is not known; valid are {FORMATS}. Rename the file.")]
    )


def _need_file(path: str) -> None:
    file = Path(path)
    if not file.exists():
        raise InputError([f"{path}: no such file; give one of {FORMATS}. Check the path."])
    if not file.is_file():
        raise InputError([f"{path}: {seen_at(file)}; a file is valid, it is read twice. Write it to one first."])


def _noted(table: Table, *notes: str) -> Table:
    return replace(table, notes=(*filter(None, notes), *table.notes))


def read_sheets_of(path: str, having: Collection[str] = ()) -> Table:
    """A sheet of a workbook; its cells are texts.

    Args:
        path: ``FILE.xlsx`` or ``FILE.xlsx#SHEET``.
        having: As ``read_table``.

    Raises:
        InputError: No such file, no workbook, no such sheet, no rows, or rows on several sheets.
    """
    file, named = split_sheet(path)
    _need_file(file)
    sheets = read_sheets(file, named)
    if not sheets:
        raise InputError([f"{file}:row 1: the workbook is empty; a header and rows are needed. Export it again."])
    headed = [(sheet, *_whole_header(sheet.rows, header_row(sheet.rows))) for sheet in sheets]
    fits = [one for one in headed if having and set(having) <= set(one[2])] or headed
    sheet, first, header = max(fits, key=lambda one: len(one[0].rows))  # of several as long the first
    long = [one[0].name for one in fits if 2 * (len(one[0].rows) - 1) > len(sheet.rows) - 1 > 0]
    if len(long) > 1:
        raise InputError([on_several_sheets(file, long)])
    table = _of_sheet(path, sheet, first, header)
    if len(sheets) < 2:
        return table
    names = ", ".join(one.name for one in sheets if one is not sheet)
    note = f"Sheet {sheet.name!r} is read, not {names}; {file}#SHEET names another."
    return replace(table, notes=(note, *table.notes))


def on_several_sheets(file: str, names: Sequence[str]) -> str:
    """The fault of a workbook of which several sheets may be meant, with the lines of pandas that join them."""
    seen = f"{file}: the sheets {', '.join(names)} all hold rows; one is read. Name it with {file}#{names[0]}"
    return f"""{seen}, or put them together:
    import pandas as pd
    sheets = pd.read_excel({file!r}, sheet_name={[*names]})
    rows = pd.concat([rows.assign(sheet=name) for name, rows in sheets.items()])
    rows.to_csv("together.csv", index=False)"""


def _of_sheet(path: str, sheet: Sheet, first: int, header: Sequence[str]) -> Table:
    numbers = tuple(number for number in sheet.rows if number > first)  # of the sheet, as people see them
    faults = list(_repeated(path, first, header))
    if not numbers:
        faults.append(f"{path}:row {first}: a header without rows; rows are needed. Add them.")
    if faults:
        raise InputError(faults)
    as_was = unguarded if is_own(header) else str
    rows: list[Row] = [
        {name: as_was(cell) for name, cell in zip(header, [*sheet.rows[i], *[""] * len(header)], strict=False) if name}
        for i in numbers
    ]
    whole = list(header) == [cell.strip() for cell in sheet.rows[first]]  # else a row above leads its names
    above = [number for number in sheet.rows if whole and number < first]
    errors = f"{plural(sheet.errors, 'cell')} of the workbook with an error (#N/A and the like): read as empty."
    notes = [
        *([f"The header is in row {first}; what stands above it is not read."] if above else []),
        *([errors] * bool(sheet.errors)),
    ]
    columns = tuple(name for name in header if name)
    return without_headers(Table(path, columns, tuple(rows), numbers, by_line=False, notes=tuple(notes)))


def _whole_header(rows: Mapping[int, Sequence[str]], first: int) -> tuple[int, list[str]]:
    """The last row of the header that is in row ``first``, and the names in it, where it may be of two rows."""
    header = [cell.strip() for cell in rows.get(first, ())]
    numbers = sorted(rows)
    at = numbers.index(first) if first in rows else 0
    above = rows[numbers[at - 1]] if at else ()
    below = rows[numbers[at + 1]] if at + 1 < len(numbers) else ()
    found = two_rows(header, above, [cell.strip() for cell in below])
    if found is None:
        return first, header
    return (numbers[at + 1] if found[1] else first), found[0]


def _labels_in(folder: Path) -> Path | None:
    """The label file of a train set folder (``labels.jsonl`` beside its ``datasheet.toml``), if there is one."""
    kinds = (".jsonl", ".csv", ".tsv", ".parquet", ".json")
    return next((file for kind in kinds if (file := folder / f"labels{kind}").is_file()), None)


def _binary(path: str, content: tuple[Sequence[str], Sequence[Row]]) -> Table:
    columns, rows = content
    if not rows:
        raise InputError([f"{path}:row 1: there are no rows; rows are needed. Check the file."])
    return Table(path, tuple(columns), tuple(rows), tuple(range(1, len(rows) + 1)), by_line=False)


def _begin_of(path: str, lines: int) -> str:
    """The first lines, up to one that ends a row: a quoted cell may span several."""
    with Path(path).open("rb") as raw:
        begin = raw.read(HEAD_BYTES)
    encoding = _encoding(begin)
    with Path(path).open(encoding=encoding or "utf-8-sig", errors="replace", newline="") as file:
        first = list(islice(file, lines))
    while len(first) > 1 and "".join(first).count('"') % 2:
        first.pop()
    return "".join(first)


def _text_of(path: str) -> tuple[str, str]:
    """The file as text, without its byte-order mark, and in a sentence which encoding other than UTF-8 it has."""
    if (size := Path(path).stat().st_size) > MOST_BYTES:
        raise InputError([f"{path}: {size} bytes; at most {MOST_BYTES} are read at once. Split the file."])
    data = Path(path).read_bytes()
    if not data or data.isspace():
        raise InputError([f"{path}:1: the file is empty; a header and rows are needed. Export it again."])
    note, encoding = "", None
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError:
        text = ""
    if not text or "\0" in text:
        encoding = _encoding(data)
        try:
            text = data.decode(encoding or "utf-8-sig")
        except UnicodeDecodeError:
            raise InputError(list(_undecodable(path, data))) from None
    if encoding:
        text = text.replace("\ufeff", "")  # a mark, also in the middle where files were joined
        found = re.search(r"[^\W\d_]*[^\x00-\x7f][^\W\d_]*", text)
        example = f", so that it says {found[0]!r}" if found else ""
        note = f"{Path(path).name} is not UTF-8; it is read as {encoding.upper()}{example}."
    if "\0" in text:
        line = text.count("\n", 0, text.index("\0")) + 1
        raise InputError([f"{path}:{line}: a NUL character, as in UTF-16; the text must be UTF-8. Save it as UTF-8."])
    if not text or text.isspace():
        raise InputError([f"{path}:1: the file is empty; a header and rows are needed. Export it again."])
    return text, note


def _encoding(data: bytes) -> str | None:
    """The encoding of text that is not UTF-8; None where it is, or where nothing can be told.

    UTF-16 has a mark, or a zero beside nearly every letter of markup. One byte a character is what Excel writes as
    "CSV": on Windows cp1252, on a Mac its own set, in which small letters with marks lie where cp1252 has signs.
    A file in which some characters are UTF-8 and others are not is damaged, and is none of these.
    """
    if data.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        return "utf-16"
    head = data[:HEAD_BYTES]
    for encoding, zeros in (("utf-16-le", head[1::2]), ("utf-16-be", head[::2])):
        if len(head) > 3 and zeros.count(0) > len(zeros) * MOSTLY and head.count(0) == zeros.count(0):
            return encoding
    try:
        data.decode("utf-8-sig")
    except UnicodeDecodeError:
        pass
    else:
        return None
    if b"\0" in head or _MULTIBYTE.search(data):  # a file cut within a character is of the latter kind, too
        return None
    if not _HIGH.search(data) and _MAC.search(data):
        return "mac_roman"
    return None if _UNUSED.search(data) else "cp1252"


def _undecodable(path: str, data: bytes) -> Iterator[str]:
    for number, line in enumerate(data.split(b"\n"), 1):
        try:
            line.decode("utf-8")
        except UnicodeDecodeError as error:
            yield (
                f"{path}:{number}: byte 0x{line[error.start]:02x} at position {error.start + 1} is "
                "not UTF-8; "
                "the whole file must be. Save it as UTF-8 (in Excel: 'CSV UTF-8')."
            )


def _read_delimited(path: str, text: str, usual: str) -> Table:
    said = _SEPARATOR.match(text)
    text = text if said is None else text[said.end() - 1 :]  # the line stays, so that rows keep their numbers
    delimiter = _delimiter(text, usual) if said is None else said[1]
    table, faults = _delimited(path, text, delimiter, csv.QUOTE_MINIMAL)
    if faults and delimiter == "\t":
        # Many tools write TSV without any quoting, so that a quote is an ordinary character.
        unquoted, none = _delimited(path, text, delimiter, csv.QUOTE_NONE)
        if not none:
            return unquoted
    if faults:
        raise InputError([*_stray_returns(path, text), *faults])
    return table


def _delimiter(text: str, usual: str) -> str:
    """The mark that parts the first line into the most cells; below a title the one that parts the most rows alike."""
    head = next(line for lines in _lines_of(text) for line in lines.splitlines() if line.strip())
    first = max(usual + DELIMITERS, key=lambda mark: len(next(csv.reader([head], delimiter=mark))))

    def alike(mark: str) -> tuple[int, int, int]:
        """Rows of one number of cells, and whether the first one is among them."""
        rows = islice(csv.reader(_lines_of(text), delimiter=mark, skipinitialspace=True), FIRST_ROWS)
        with suppress(csv.Error):
            widths = [len(row) for row in rows if row]
            ((width, count),) = Counter(widths).most_common(1)
            return int(width > 1 and widths[0] == width), count * (width > 1), width
        return 0, 0, 0

    csv.field_size_limit(sys.maxsize)  # the default of 128 KiB is shorter than a retrieved document
    found = alike(first)
    return first if found[0] else max(first + usual + DELIMITERS, key=lambda mark: alike(mark)[1:])


def _stray_returns(path: str, text: str) -> list[str]:
    """The first carriage return that ends a line which a line feed does not: the columns end there, too."""
    found = re.search(r"\r(?!\n)", text) if "\n" in text else None
    if found is None:
        return []
    line = text.count("\n", 0, found.start()) + 1
    seen = f"a carriage return (CR) without line feed behind {text[: found.start()][-20:]!r}"
    return [f"{path}:{line}: {seen}; it ends a row, unless it is quoted. Delete it, or quote the cell."]


def _delimited(path: str, text: str, delimiter: str, quoting: Literal[0, 3]) -> tuple[Table, list[str]]:
    reader = csv.reader(_lines_of(text), delimiter=delimiter, quoting=quoting, strict=True, skipinitialspace=True)
    broken: list[str] = []
    blank = 0

    def filled() -> Iterator[tuple[int, list[str]]]:
        """The rows with a value, and where they begin."""
        nonlocal blank
        line = 1
        try:
            for cells in reader:
                if any(map(str.strip, cells)):
                    yield line, cells
                else:
                    blank += bool(cells)
                line = reader.line_num + 1
        except csv.Error as error:  # the reader has lost its place
            seen = f"{path}:{line}: the row that begins here is broken ({error})"
            broken.append(f'{seen}; a cell that contains a quote is written "like ""this""". Fix the quotes.')

    rows = filled()
    head = dict(islice(rows, LOOKED_THROUGH))
    first = header_row(head)
    first, header = _whole_header(head, first)
    below = ((line, cells) for line, cells in head.items() if line > first)
    found, lines, odd = _by_column(header, chain(below, rows))
    faults = [
        f"{path}:{line}: {plural(width, 'cell')}; the header names {plural(len(header), 'column')}. "
        f"Quote cells that contain {delimiter!r}, or complete the row."
        for line, width in odd
    ]
    faults = [*_repeated(path, first, header), *broken, *faults]
    if not lines and not faults:
        faults.append(f"{path}:1: a header without rows; rows are needed. Add them.")
    notes = [f"{plural(blank, 'row')} left out as empty."] if blank else []
    if first > min(head, default=first) and header == [cell.strip() for cell in head[first]]:
        notes.append(f"The header is in line {first}; what stands above it is not read.")
    columns = tuple(name for name in header if name)
    return Table(path, columns, tuple(found), tuple(lines), notes=tuple(notes)), faults


def _lines_of(text: str) -> Iterator[str]:
    """The lines with their ends, of whatever kind; a copy of all of a large text would be four times as large."""
    at = 0
    while at < len(text):
        end = text.find("\n", at + PIECE) + 1 or len(text)
        yield from io.StringIO(text[at:end], newline="")
        at = end


def _by_column(
    header: Sequence[str], rows: Iterable[tuple[int, list[str]]]
) -> tuple[list[Row], list[int], list[tuple[int, int]]]:
    """Rows below a header, where each begins, and where those begin that do not fit it, with how many cells they have.

    Rows of one cell below all others are notes, which are no rows; the other cells of one are empty.
    """
    own, width = is_own(header), len(header)
    found, lines, odd = list[Row](), list[int](), list[tuple[int, int]]()
    notes: list[tuple[int, list[str]]] = []

    def keep(line: int, cells: Sequence[str]) -> None:
        found.append(dict(zip(header, map(unguarded, cells) if own else cells, strict=False)))
        found[-1].pop("", None)  # of a column without a name
        lines.append(line)

    for line, cells in rows:
        if len(cells) == 1 and width > NOTED:
            notes.append((line, cells))
            continue
        odd += [(number, 1) for number, _ in notes]
        notes.clear()
        if len(cells) < width or (len(cells) > width and any(map(str.strip, cells[width:]))):
            odd.append((line, len(cells)))
        else:
            keep(line, cells)
    for line, cells in notes:
        keep(line, [*cells, *[""] * (width - 1)])
    return found, lines, odd


def _repeated(path: str, line: int, header: Sequence[str]) -> list[str]:
    repeated = dict.fromkeys(name for name in header if name and header.count(name) > 1)
    return [
        f"{path}:{line}: column {name!r} appears {header.count(name)} times; names must differ. Rename one, or write "
        "heads of two rows into one."
        for name in repeated
    ]


_KINDS = {
    dict: "an object",
    list: "a list",
    str: "text",
    bool: "a boolean",
    int: "a number",
    float: "a number",
}


def _lines(text: str) -> Iterator[tuple[int, object | json.JSONDecodeError]]:
    """One JSON value a line; only a line feed ends a line (U+2028 may stand inside a text)."""
    exact = _LARGE.search(text) is not None
    for number, found in enumerate(re.finditer(r"[^\n]*\n?", text), 1):
        if not found[0].isspace() and (line := found[0].removesuffix("\n")):
            try:
                yield number, _loaded(line) if not exact else json.loads(line)
            except json.JSONDecodeError as error:
                yield number, error
            except RecursionError:
                yield number, json.JSONDecodeError("nested too deeply", line, 0)


def _loaded(line: str) -> object:
    """The value, as ``json.loads`` gives it."""
    try:
        return orjson.loads(line)
    except orjson.JSONDecodeError:  # NaN, half a character, or none of JSON
        return json.loads(line)


def _array(text: str) -> Iterator[tuple[int, object | json.JSONDecodeError]]:
    """The elements of one JSON array, each with the line where it begins."""
    try:
        elements = json.loads(text)
    except json.JSONDecodeError as error:
        yield error.lineno, error
        return
    except RecursionError:
        yield 1, json.JSONDecodeError("nested too deeply", text, 0)
        return
    decoder = json.JSONDecoder()
    position = text.index("[") + 1
    line = text.count("\n", 0, position) + 1
    for element in elements:
        begin = position
        while text[begin] in " \t\r\n,":
            begin += 1
        line += text.count("\n", position, begin)
        yield line, element
        position = decoder.raw_decode(text, begin)[1]
        line += text.count("\n", begin, position)


def _is_array(text: str) -> bool:
    """True if lines of JSON are one array on several of them."""
    try:
        value = json.loads(text)
    except (json.JSONDecodeError, RecursionError):
        return False
    return isinstance(value, list) and all(isinstance(one, dict) for one in value)


def _one_object(path: str, text: str) -> Table | None:
    """The rows within a file that is one JSON object on several lines or of several rows; None of any other.

    Rows are the only list of objects in it (``{"data": [...]}``), or columns: lists of one length, as ``datasets`` and
    ragas write them, objects by row as pandas does, or ``columns`` and ``data``.

    Raises:
        InputError: There are no such rows, or several lists of them.
    """
    try:
        value = json.loads(text)
    except (json.JSONDecodeError, RecursionError):
        return None  # lines
    if not isinstance(value, dict) or holds_spans(value) or set(HELD) & value.keys():
        return None
    export = next((one for one in EXPORTS if one[2] <= value.keys()), None)
    inner = value.get("results")
    if export is None and isinstance(inner, dict) and isinstance(inner.get("results"), list):
        export = EXPORTS[0]  # promptfoo's without an id
    if export is not None:
        raise _export(path, export, value)
    lists = {name: one for name, one in value.items() if isinstance(one, list) and one}
    rows = {name: one for name, one in lists.items() if all(isinstance(each, dict) for each in one)}
    if {"features", "rows"} == rows.keys():  # as the dataset viewer of Hugging Face gives a page
        del rows["features"]
    if len(rows) == 1 and not any(called(key) or key in {"messages", *TURNS} for key in value):
        ((name, records),) = rows.items()
        table = _from_json(path, ((1, one) for one in records))
        numbers = tuple(range(1, len(table.rows) + 1))
        left = [key for key in value if key != name]
        more = f"; {', '.join(left[:MOST_KEYS])} beside it are not read" if left else ""
        return replace(
            table, lines=numbers, by_line=False, notes=(f"The rows are those of {name!r} in the file{more}.",)
        )
    names, data = value.get("columns"), value.get("data")
    if isinstance(names, list) and isinstance(data, list) and data and all(map(_is_row_of(len(names)), data)):
        return _of_rows(path, [dict(zip(map(str, names), one, strict=True)) for one in data], "columns and data")
    if len(value) > 1 and len(lists) == len(value) and len(rows) < 2 and len(set(map(len, lists.values()))) == 1:
        count = len(next(iter(lists.values())))
        if count > 1:
            return _of_rows(
                path, [{name: one[at] for name, one in lists.items()} for at in range(count)], "lists by column"
            )
    objects = [one for one in value.values() if isinstance(one, dict)]
    if (
        len(value) > 1
        and len(objects) == len(value)
        and all(one and one.keys() == objects[0].keys() for one in objects)
    ):
        made = [{name: one[at] for name, one in value.items()} for at in objects[0]]
        return _of_rows(path, made, "objects by column")
    if "\n" not in text.strip():
        return None  # a row
    if any(map(called, value)):
        return _from_json(path, iter([(1, value)]))
    found = (
        f"; lists of objects in it are {', '.join(f'{name} ({len(one)})' for name, one in rows.items())}"
        if rows
        else ""
    )
    first = next(iter(rows), "LIST")
    seen = f"{path}:1: one JSON object with {', '.join(list(value)[:MOST_KEYS])}{found}"
    advice = f"Read one list with judgec labels import OUT.jsonl other:{path}#{first} --map THEIRS=grade."
    raise InputError([f"{seen}; a row is an object, of a list or a line each. {advice}"])


def _export(path: str, found: tuple[str, str, frozenset[str]], value: Row) -> InputError:
    """The error of a file of another tool, with the command that reads it."""
    name, tool, _ = found
    seen = f"{path}:1: an export of {name}, with {', '.join(list(value)[:MOST_KEYS])}; a table of rows is needed"
    return InputError([f"{seen}. Make one of it with judgec labels import OUT.jsonl {tool}:{path}."])


def _is_row_of(width: int) -> Callable[[object], bool]:
    return lambda one: isinstance(one, list) and len(one) == width


def _of_rows(path: str, rows: Sequence[Row], shape: str) -> Table:
    columns = tuple(dict.fromkeys(name for row in rows for name in row))
    numbers = tuple(range(1, len(rows) + 1))
    return Table(path, columns, tuple(rows), numbers, by_line=False, notes=(f"The file holds {shape}.",))


def _whole_traces(path: str, text: str) -> Table | None:
    """The traces of a file that is one export of spans, on however many lines; None of any other file."""
    if not any(f'"{name}"' in text for name in HELD):
        return None
    try:
        value = json.loads(text)
    except (json.JSONDecodeError, RecursionError):
        return None  # read line by line, which says where
    return read_traces(path, [(1, value)]) if holds_spans(value) else None


def _from_json(path: str, values: Iterator[tuple[int, object | json.JSONDecodeError]]) -> Table:
    rows: list[Row] = []
    lines: list[int] = []
    faults: list[str] = []
    commas = 0
    for line, value in values:
        if isinstance(value, json.JSONDecodeError):
            faults.append(
                f"{path}:{line}: not JSON ({value.msg} at column {value.colno}); one object a line "
                "is needed. "
                "Fix the line."
            )
            commas += value.msg == "Extra data" and value.doc.rstrip().endswith("},")
        elif not isinstance(value, dict):
            kind = _KINDS.get(type(value), "null")
            faults.append(f"{path}:{line}: {kind}; one object a row is needed. Fix the row.")
        else:
            rows.append(value)
            lines.append(line)
    if not lines and not faults:
        faults.append(f"{path}:1: there are no rows; rows are needed. Add them.")
    if commas > 1:
        seen = f"{path}: {commas} lines end in a comma, as within a list"
        raise InputError(
            [f"{seen}; one object a line is needed. Delete the commas, or put [ ] around all and name it .json."]
        )
    if faults:
        raise InputError(faults)
    if holds_spans(rows[0]):
        return read_traces(path, list(zip(lines, rows, strict=True)))
    return Table(path, tuple(dict.fromkeys(chain.from_iterable(rows))), tuple(rows), tuple(lines))
