"""Any file of rows as one table: CSV, TSV, JSON lines, JSON, Parquet, Arrow, a workbook, a folder, a Hub data set."""

import csv
import io
import json
import re
import sys
from collections.abc import Collection, Iterator, Sequence
from itertools import islice
from pathlib import Path
from typing import Literal

from judgec.errors import InputError
from judgec.store.arrow import HUB_PREFIX, MOST_BYTES, read_arrow_file, read_data_set, read_hub, read_parquet
from judgec.store.formulas import is_own, unguarded
from judgec.store.table import Row, Table
from judgec.store.traces.items import read_traces
from judgec.store.traces.spans import HELD, holds_spans
from judgec.store.workbooks import Sheet, is_workbook, read_sheets, split_sheet
from judgec.tasks.registry import called

FORMATS = ".csv, .tsv, .jsonl, .json, .parquet, .arrow, .xlsx, .ods, a folder of these, or hf:owner/name@split"
DELIMITERS = ",;\t|"  # spreadsheets in half of Europe write semicolons into .csv


TableSource = str | Table
"""A file, or rows in memory under a name for messages."""


def opened(source: TableSource) -> Table:
    """The rows; as ``read_table``."""
    return source if isinstance(source, Table) else read_table(source)


def name_of(source: TableSource) -> str:
    """What messages call it."""
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


def read_table(path: str, having: Collection[str] = (), *, head: int | None = None) -> Table:
    """Read a whole file or data set.

    Args:
        path: What ``FORMATS`` lists; of a workbook with several sheets ``FILE.xlsx#SHEET``, or the first that has the
            columns.
        having: Columns by which the sheet of a workbook is known; default: those that judgec knows.
        head: Read so many rows of delimited text, whatever comes behind them.

    CSV may be separated by commas, semicolons, tabs or bars, and may begin with a byte-order mark; blank
    lines are skipped. A folder holds ``labels.*``, or an Arrow data set as ``datasets`` saves it.

    Raises:
        InputError: No such file, unknown format, not UTF-8, a broken line, an empty file; with file and line.
        ServiceError: The Hub cannot be reached.
    """
    if path.startswith(HUB_PREFIX):
        return _binary(path, read_hub(path))
    if is_workbook(path):
        return read_sheet(path, having)
    file = Path(path)
    if file.is_dir():
        labels = _labels_in(file)
        return read_table(str(labels)) if labels else _binary(path, read_data_set(file))
    if not file.is_file():
        raise InputError([f"{path}: no such file; give one of {FORMATS}. Check the path."])
    kind = file.suffix.lower()
    if kind == ".parquet":
        return _binary(path, read_parquet(file))
    if kind in {".arrow", ".feather"}:
        return _binary(path, read_arrow_file(file))
    if kind in {".csv", ".tsv", ".tab"}:
        usual = "," if kind == ".csv" else "\t"
        return _read_delimited(path, _text_of(path) if head is None else _begin_of(path, head), usual)
    if kind in {".jsonl", ".ndjson", ".json"}:
        text = _text_of(path)
        begin = text.lstrip()[:1] if kind == ".json" else ""
        if begin == "{" and (traces := _whole_traces(path, text)) is not None:
            return traces
        return _from_json(path, _array(text) if begin == "[" else _lines(text))
    raise InputError(
        [(f"{path}: format {kind or 'without an extension'} is not known; valid are {FORMATS}. Rename the file.")]
    )


def read_sheet(path: str, having: Collection[str] = ()) -> Table:
    """A sheet of a workbook; its cells are texts.

    Args:
        path: ``FILE.xlsx`` or ``FILE.xlsx#SHEET``.
        having: As ``read_table``.

    Raises:
        InputError: No such file, no workbook, no such sheet, no rows.
    """
    file, named = split_sheet(path)
    if not Path(file).is_file():
        raise InputError([f"{file}: no such file; give one of {FORMATS}. Check the path."])
    sheets = read_sheets(file, named)
    if not sheets:
        raise InputError([f"{file}:row 1: the workbook is empty; a header and rows are needed. Export it again."])
    headed = [(sheet, *_header(sheet)) for sheet in sheets]
    fits = [one for one in headed if having and set(having) <= set(one[2])]
    fits += [one for one in headed if any(map(called, one[2])) and len(one[0].rows) > 1]
    sheet, first, header = next(iter(fits or [one for one in headed if len(one[0].rows) > 1] or headed))
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
    others = [one.name for one in sheets if one is not sheet]
    above = [number for number in sheet.rows if number < first and number not in sheet.wide]
    notes = [
        *([f"Sheet {sheet.name!r} is read, not {', '.join(others)}; {file}#SHEET names another."] if others else []),
        *([f"The header is in row {first}; what stands above it is not read."] if above else []),
        *(
            [f"{sheet.errors} cells of the workbook hold errors (#N/A and the like), read as empty."]
            * bool(sheet.errors)
        ),
    ]
    return Table(path, tuple(name for name in header if name), tuple(rows), numbers, by_line=False, notes=tuple(notes))


def _header(sheet: Sheet) -> tuple[int, list[str]]:
    """The row of the header and the names in it.

    Titles above it, a single cell each, are passed over. Where a heading spans several columns (merged cells), the row
    below names them; a name that several headings share is led by its heading: ``Anna relevance``.
    """
    widths = {number: sum(bool(cell.strip()) for cell in row) for number, row in sheet.rows.items()}
    most = max(widths.values(), default=0)
    first = next((number for number, width in widths.items() if width > 1 or most == 1), 1)
    header = [cell.strip() for cell in sheet.rows.get(first, [])]
    below = next((number for number in sheet.rows if number > first), None)
    spans = [span for span in sheet.wide.get(first, ()) if span[0] < len(header) and header[span[0]]]
    if not spans or below is None:
        return first, header
    under = [cell.strip() for cell in sheet.rows[below]]
    if not all(any(under[left : right + 1]) for left, right in spans):
        return first, header
    heading = {column: header[left] for left, right in spans for column in range(left, right + 1)}
    names = [name if at not in heading else under[at] for at, name in enumerate(header)]
    merged = [
        f"{heading[at]} {name}" if at in heading and name and names.count(name) > 1 else name
        for at, name in enumerate(names)
    ]
    return below, merged


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
    with Path(path).open(encoding="utf-8-sig", errors="replace", newline="") as file:
        first = list(islice(file, lines))
    while len(first) > 1 and "".join(first).count('"') % 2:
        first.pop()
    return "".join(first)


def _text_of(path: str) -> str:
    """The file as text, without its byte-order mark."""
    if (size := Path(path).stat().st_size) > MOST_BYTES:
        raise InputError([f"{path}: {size} bytes; at most {MOST_BYTES} are read at once. Split the file."])
    data = Path(path).read_bytes()
    if not data.strip():
        raise InputError([f"{path}:1: the file is empty; a header and rows are needed. Export it again."])
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError:
        raise InputError(list(_undecodable(path, data))) from None
    if "\0" in text:
        line = text.count("\n", 0, text.index("\0")) + 1
        raise InputError([f"{path}:{line}: a NUL character, as in UTF-16; the text must be UTF-8. Save it as UTF-8."])
    if not text.strip():
        raise InputError([f"{path}:1: the file is empty; a header and rows are needed. Export it again."])
    return text


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
    head = next(line for line in text.splitlines() if line.strip())
    delimiter = max(usual + DELIMITERS, key=lambda mark: len(next(csv.reader([head], delimiter=mark))))
    table, faults = _delimited(path, text, delimiter, csv.QUOTE_MINIMAL)
    if faults and delimiter == "\t":
        # Many tools write TSV without any quoting, so that a quote is an ordinary character.
        unquoted, none = _delimited(path, text, delimiter, csv.QUOTE_NONE)
        if not none:
            return unquoted
    if faults:
        raise InputError([*_stray_returns(path, text), *faults])
    return table


def _stray_returns(path: str, text: str) -> list[str]:
    """The first carriage return that ends a line which a line feed does not: the columns end there, too."""
    found = re.search(r"\r(?!\n)", text) if "\n" in text else None
    if found is None:
        return []
    line = text.count("\n", 0, found.start()) + 1
    seen = f"a carriage return (CR) without line feed behind {text[: found.start()][-20:]!r}"
    return [f"{path}:{line}: {seen}; it ends a row, unless it is quoted. Delete it, or quote the cell."]


def _delimited(path: str, text: str, delimiter: str, quoting: Literal[0, 3]) -> tuple[Table, list[str]]:
    csv.field_size_limit(sys.maxsize)  # the default of 128 KiB is shorter than a retrieved document
    reader = csv.reader(
        io.StringIO(text, newline=""),
        delimiter=delimiter,
        quoting=quoting,
        strict=True,
        skipinitialspace=True,
    )
    header: list[str] = []
    rows: list[Row] = []
    lines: list[int] = []
    faults: list[str] = []
    blank, own = 0, False
    while True:
        line = reader.line_num + 1
        try:
            cells = next(reader, None)
        except csv.Error as error:
            faults.append(
                f"{path}:{line}: the row that begins here is broken ({error}); a cell that contains "
                "a quote is "
                'written "like ""this""". Fix the quotes.'
            )
            break  # the reader has lost its place
        if cells is None:
            break
        if not any(cell.strip() for cell in cells):
            blank += bool(cells)
        elif not header:
            header = [cell.strip() for cell in cells]
            own = is_own(header)
            faults += _repeated(path, line, header)
        elif len(cells) < len(header) or any(cell.strip() for cell in cells[len(header) :]):
            faults.append(
                f"{path}:{line}: {len(cells)} cells; the header names {len(header)} columns. "
                f"Quote cells that contain {delimiter!r}, or complete the row."
            )
        else:
            cells = [unguarded(cell) for cell in cells] if own else cells
            rows.append({name: cell for name, cell in zip(header, cells, strict=False) if name})
            lines.append(line)
    if not rows and not faults:
        faults.append(f"{path}:1: a header without rows; rows are needed. Add them.")
    notes = (f"{blank} rows without any value were skipped.",) if blank else ()
    return Table(path, tuple(name for name in header if name), tuple(rows), tuple(lines), notes=notes), faults


def _repeated(path: str, line: int, header: Sequence[str]) -> list[str]:
    repeated = dict.fromkeys(name for name in header if name and header.count(name) > 1)
    return [
        f"{path}:{line}: column {name!r} appears {header.count(name)} times; names must differ. Rename one."
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
    for number, line in enumerate(text.split("\n"), 1):
        if line.strip():
            try:
                yield number, json.loads(line)
            except json.JSONDecodeError as error:
                yield number, error
            except RecursionError:
                yield number, json.JSONDecodeError("nested too deeply", line, 0)


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
    columns: dict[str, None] = {}
    for line, value in values:
        if isinstance(value, json.JSONDecodeError):
            faults.append(
                f"{path}:{line}: not JSON ({value.msg} at column {value.colno}); one object a line "
                "is needed. "
                "Fix the line."
            )
        elif not isinstance(value, dict):
            kind = _KINDS.get(type(value), "null")
            faults.append(f"{path}:{line}: {kind}; one object a row is needed. Fix the row.")
        else:
            rows.append(value)
            lines.append(line)
            columns.update(dict.fromkeys(value))
    if not rows and not faults:
        faults.append(f"{path}:1: there are no rows; rows are needed. Add them.")
    if faults:
        raise InputError(faults)
    if holds_spans(rows[0]):
        return read_traces(path, list(zip(lines, rows, strict=True)))
    return Table(path, tuple(columns), tuple(rows), tuple(lines))
