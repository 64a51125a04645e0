"""Writes Office Open XML workbooks, as far as a sheet of labels needs; ``store.workbooks`` reads them.

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
from xml.sax.saxutils import escape

MAIN = "http://schemas.openxmlformats.org/spreadsheetml/2006/main"
MOST_CELL = 32_767  # characters that a cell holds
MOST_ROWS = 1_048_576  # that a sheet holds, the header among them
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


@cache
def letters(column: int) -> str:
    """A column's letters: 0 is A, 26 is AA."""
    name = ""
    column += 1
    while column:
        column, rest = divmod(column - 1, 26)
        name = chr(65 + rest) + name
    return name


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
