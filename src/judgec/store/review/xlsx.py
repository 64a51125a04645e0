"""Office Open XML workbooks, as far as a sheet of labels needs: text cells out, the first sheet in.

Texts are written as text, so that no program runs what looks like a formula or turns an identifier into a number.

Source: ECMA-376 part 1, sections 18.2 to 18.4 (workbook, worksheet, shared strings).
"""

import re
import zipfile
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from typing import BinaryIO
from xml.etree import ElementTree as ET
from xml.sax.saxutils import escape

from judgec.errors import InputError

MAIN = "http://schemas.openxmlformats.org/spreadsheetml/2006/main"
MOST_BYTES = 200_000_000  # of one unpacked part; a bomb unpacks to more
MOST_CELL = 32_767  # characters that a cell holds
MOST_ROWS = 1_048_576  # that a sheet holds, the header among them
MOST_COLUMNS = 16_384  # XFD; a cell far out would make each row as long
LONGEST_NUMBER = 7  # digits of a row; a sheet has 1,048,576 rows
MOST_CELLS = 20_000_000  # of a sheet, empty ones before the last of a row included
Cell = str | float | bool
_HEAD = '<?xml version="1.0" encoding="UTF-8" standalone="yes"?>\n'
_VIEW = (
    '<sheetViews><sheetView workbookViewId="0"><pane ySplit="1" topLeftCell="A2" state="frozen"/></sheetView>'
    "</sheetViews>"
)
_INVALID = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")  # characters that XML cannot hold
_PARTS = {
    "[Content_Types].xml": '<Types xmlns="http://schemas.openxmlformats.org/package/2006/content-types">'
    '<Default Extension="rels" ContentType="application/vnd.openxmlformats-package.relationships+xml"/>'
    '<Default Extension="xml" '
    'ContentType="application/vnd.openxmlformats-officedocument.spreadsheetml.sheet.main+xml"/>'
    '<Override PartName="/xl/worksheets/sheet1.xml" '
    'ContentType="application/vnd.openxmlformats-officedocument.spreadsheetml.worksheet+xml"/>'
    '<Override PartName="/xl/styles.xml" '
    'ContentType="application/vnd.openxmlformats-officedocument.spreadsheetml.styles+xml"/></Types>',
    "_rels/.rels": '<Relationships xmlns="http://schemas.openxmlformats.org/package/2006/relationships"><Relationship '
    'Id="r1" Type="http://schemas.openxmlformats.org/officeDocument/2006/relationships/officeDocument" '
    'Target="xl/workbook.xml"/></Relationships>',
    "xl/_rels/workbook.xml.rels": '<Relationships xmlns="http://schemas.openxmlformats.org/package/2006/relationships">'
    '<Relationship Id="r1" Type="http://schemas.openxmlformats.org/officeDocument/2006/relationships/worksheet" '
    'Target="worksheets/sheet1.xml"/><Relationship Id="r2" '
    'Type="http://schemas.openxmlformats.org/officeDocument/2006/relationships/styles" Target="styles.xml"/>'
    "</Relationships>",
    "xl/workbook.xml": f'<workbook xmlns="{MAIN}" '
    'xmlns:r="http://schemas.openxmlformats.org/officeDocument/2006/relationships">'
    '<sheets><sheet name="labels" sheetId="1" r:id="r1"/></sheets></workbook>',
    "xl/styles.xml": f'<styleSheet xmlns="{MAIN}"><fonts count="1"><font/></fonts><fills count="1"><fill/></fills>'
    '<borders count="1"><border/></borders><cellStyleXfs count="1"><xf/></cellStyleXfs><cellXfs count="2"><xf/>'
    '<xf applyAlignment="1"><alignment vertical="top" wrapText="1"/></xf></cellXfs></styleSheet>',
}


def write_workbook(
    path: Path, rows: Sequence[Sequence[str]], widths: Sequence[int], choices: Sequence[Sequence[str]]
) -> None:
    """Write one sheet whose first row stays in view.

    Args:
        path: Replaced when it exists.
        rows: Cells; the first row is the header.
        widths: Of each column, in characters.
        choices: What each column may hold, offered as a list; empty for anything.
    """
    columns = "".join(f'<col min="{i}" max="{i}" width="{w}" customWidth="1"/>' for i, w in enumerate(widths, 1))
    body = "".join(
        f'<row r="{r}">{"".join(_cell(f"{letters(c)}{r}", text) for c, text in enumerate(row))}</row>'
        for r, row in enumerate(rows, 1)
    )
    lists = [
        f'<dataValidation type="list" allowBlank="1" sqref="{letters(c)}2:{letters(c)}{max(len(rows), 2)}">'
        f"<formula1>{escape(_listed(allowed))}</formula1></dataValidation>"
        for c, allowed in enumerate(choices)
        if allowed and len(_listed(allowed)) <= 255 and not any("," in one or '"' in one for one in allowed)
    ]
    offered = f'<dataValidations count="{len(lists)}">{"".join(lists)}</dataValidations>' if lists else ""
    sheet = f'<worksheet xmlns="{MAIN}">{_VIEW}<cols>{columns}</cols><sheetData>{body}</sheetData>{offered}</worksheet>'
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, text in {**_PARTS, "xl/worksheets/sheet1.xml": sheet}.items():
            archive.writestr(name, _HEAD + text)


@contextmanager
def sheet_writer(file: BinaryIO, name: str) -> Iterator[Callable[[Sequence[Cell]], None]]:
    """Write one sheet row by row, holding none of them; the first row stays in view.

    Args:
        file: Where the workbook goes.
        name: Of the sheet.
    """
    parts = {**_PARTS, "xl/workbook.xml": _PARTS["xl/workbook.xml"].replace('name="labels"', f'name="{name}"')}
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as archive:
        for part, text in parts.items():
            archive.writestr(part, _HEAD + text)
        with archive.open("xl/worksheets/sheet1.xml", "w", force_zip64=True) as sheet:
            sheet.write(f'{_HEAD}<worksheet xmlns="{MAIN}">{_VIEW}<sheetData>'.encode())
            number = 0

            def put(row: Sequence[Cell]) -> None:
                nonlocal number
                number += 1
                cells = "".join(_cell(f"{letters(c)}{number}", value) for c, value in enumerate(row))
                sheet.write(f'<row r="{number}">{cells}</row>'.encode())

            yield put
            sheet.write(b"</sheetData></worksheet>")


def read_workbook(path: Path) -> dict[int, list[str]]:
    """The first sheet's cells as text, by the number of their row; numbers as the sheet shows them without format.

    Rows that were never filled in are not in a workbook, and not here.

    Raises:
        InputError: When it is no workbook, unpacks to more than 200 MB, or has cells beyond what sheets hold.
    """
    try:
        with zipfile.ZipFile(path) as archive:
            names = archive.namelist()
            sheets = sorted(name for name in names if re.fullmatch(r"xl/worksheets/sheet\d+\.xml", name))
            shared = _part(archive, "xl/sharedStrings.xml", path) if "xl/sharedStrings.xml" in names else None
            sheet = _part(archive, min(sheets, key=lambda name: (len(name), name)), path)
    except (zipfile.BadZipFile, ET.ParseError, ValueError, OSError, RuntimeError, NotImplementedError) as error:
        raise InputError([f"{path}: not an .xlsx workbook ({error}). Save it again, or export it as CSV."]) from error
    texts = [] if shared is None else [_text(one) for one in shared.iter(f"{{{MAIN}}}si")]
    rows: dict[int, list[str]] = {}
    held = last = 0
    for row in sheet.iter(f"{{{MAIN}}}row"):
        said = (row.get("r") or "")[:LONGEST_NUMBER]
        last = max(last + 1, int(said) if said.isdecimal() else 0)
        cells: dict[int, str] = {}
        for place, cell in enumerate(row.iter(f"{{{MAIN}}}c")):
            reference = re.match("[A-Z]+", cell.get("r") or "")
            cells[place if reference is None else _number(reference[0])] = _value(cell, texts)
        width = max(cells, default=-1) + 1
        held += width
        if width > MOST_COLUMNS or held > MOST_CELLS:
            raise InputError([f"{path}: row {last} reaches to column {width}; a sheet of labels is smaller."])
        rows[last] = [cells.get(i, "") for i in range(width)]
    return rows


@cache
def letters(column: int) -> str:
    """A column's letters: 0 is A, 26 is AA."""
    name = ""
    column += 1
    while column:
        column, rest = divmod(column - 1, 26)
        name = chr(65 + rest) + name
    return name


def _number(name: str) -> int:
    number = 0
    for letter in name[:4]:
        number = number * 26 + ord(letter) - 64
    return number - 1


def _cell(place: str, value: Cell) -> str:
    if isinstance(value, bool):
        return f'<c r="{place}" t="b"><v>{int(value)}</v></c>'
    if not isinstance(value, str):
        return f'<c r="{place}"><v>{value!r}</v></c>'
    text = value
    kept = escape(_INVALID.sub("\ufffd", text[:MOST_CELL]))
    return f'<c r="{place}" s="1" t="inlineStr"><is><t xml:space="preserve">{kept}</t></is></c>' if text else ""


def _listed(allowed: Sequence[str]) -> str:
    return '"' + ",".join(allowed) + '"'


def _part(archive: zipfile.ZipFile, name: str, path: Path) -> ET.Element:
    with archive.open(name) as part:
        data = part.read(MOST_BYTES + 1)
    if len(data) > MOST_BYTES:
        raise InputError([f"{path}: {name} unpacks to more than {MOST_BYTES:,} bytes. Split the sheet."])
    if b"<!DOCTYPE" in data or b"<!ENTITY" in data:  # entities could grow without bound
        raise InputError([f"{path}: {name} declares a document type; workbooks have none. Save it again."])
    return ET.fromstring(data)  # noqa: S314 -- without a document type there are no entities


def _text(element: ET.Element) -> str:
    return "".join(one.text or "" for one in element.iter(f"{{{MAIN}}}t"))


def _value(cell: ET.Element, texts: Sequence[str]) -> str:
    kind = cell.get("t")
    if kind == "inlineStr":
        return _text(cell)
    found = cell.find(f"{{{MAIN}}}v")
    value = "" if found is None else found.text or ""
    if kind == "s":
        return texts[int(value)] if value.isdecimal() and int(value) < len(texts) else ""
    if kind == "b":
        return "true" if value == "1" else "false"
    return value
