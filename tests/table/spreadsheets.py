"""Workbooks for tests, as Excel and LibreOffice write them; the writer is another than the reader's makers'."""

import datetime as dt
import zipfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from xml.sax.saxutils import escape, quoteattr

MAIN = "http://schemas.openxmlformats.org/spreadsheetml/2006/main"
EPOCH = dt.date(1899, 12, 30)  # day 0 of Excel's calendar
Rows = Sequence[Sequence[object]]
_RELATIONSHIPS = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
_HEAD = '<?xml version="1.0" encoding="UTF-8" standalone="yes"?>\n'
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
}
_NAMES = " ".join(
    f'xmlns:{short}="urn:oasis:names:tc:opendocument:xmlns:{name}:1.0"'
    for short, name in (("office", "office"), ("table", "table"), ("text", "text"))
)


class Formula(str):
    """A formula's result, as text."""

    __slots__ = ()


class Error(str):
    """An error such as #N/A."""

    __slots__ = ()


def write_xlsx(path: Path, sheets: Mapping[str, Rows], *, merged: Sequence[str] = (), parts: object = None) -> Path:
    """Write sheets of text, numbers, booleans, dates, formulas and errors; ``merged`` is of the first sheet."""
    files = dict(_PARTS)
    files["xl/styles.xml"] = (
        f'<styleSheet xmlns="{MAIN}"><fonts count="1"><font/></fonts><fills count="1"><fill/></fills>'
        '<borders count="1"><border/></borders><cellStyleXfs count="1"><xf/></cellStyleXfs><cellXfs count="2"><xf/>'
        '<xf numFmtId="14" applyNumberFormat="1"/></cellXfs></styleSheet>'
    )
    listed, related = "", ""
    for i, (name, rows) in enumerate(sheets.items(), 1):
        body = "".join(
            f'<row r="{r}">{"".join(_xlsx_cell(f"{letters(c)}{r}", v) for c, v in enumerate(row))}</row>'
            for r, row in enumerate(rows, 1)
        )
        spans = "".join(f'<mergeCell ref="{one}"/>' for one in merged if i == 1)
        spans = f'<mergeCells count="{len(merged)}">{spans}</mergeCells>' if spans else ""
        files[f"xl/worksheets/sheet{i}.xml"] = (
            f'<worksheet xmlns="{MAIN}"><sheetData>{body}</sheetData>{spans}</worksheet>'
        )
        listed += f'<sheet name={quoteattr(name)} sheetId="{i}" r:id="s{i}"/>'
        related += f'<Relationship Id="s{i}" Type="{_RELATIONSHIPS}/worksheet" Target="worksheets/sheet{i}.xml"/>'
    files["xl/workbook.xml"] = (
        f'<workbook xmlns="{MAIN}" xmlns:r="{_RELATIONSHIPS}"><sheets>{listed}</sheets></workbook>'
    )
    files["xl/_rels/workbook.xml.rels"] = (
        '<Relationships xmlns="http://schemas.openxmlformats.org/package/2006/relationships">'
        f'{related}<Relationship Id="st" Type="{_RELATIONSHIPS}/styles" Target="styles.xml"/></Relationships>'
    )
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, text in (files | (parts if isinstance(parts, dict) else {})).items():
            archive.writestr(name, _HEAD + text)
    return path


def letters(column: int) -> str:
    """A column's letters: 0 is A, 26 is AA."""
    before, last = divmod(column, 26)
    return (letters(before - 1) if before else "") + chr(65 + last)


def _xlsx_cell(place: str, value: object) -> str:
    if value is None or value == "":
        return ""
    if isinstance(value, Formula):
        return f'<c r="{place}" t="str"><f>A1</f><v>{escape(value)}</v></c>'
    if isinstance(value, Error):
        return f'<c r="{place}" t="e"><v>{escape(value)}</v></c>'
    if isinstance(value, bool):
        return f'<c r="{place}" t="b"><v>{int(value)}</v></c>'
    if isinstance(value, int | float):
        return f'<c r="{place}"><v>{value!r}</v></c>'
    if isinstance(value, dt.date):
        return f'<c r="{place}" s="1"><v>{(value - EPOCH).days}</v></c>'
    return f'<c r="{place}" t="inlineStr"><is><t xml:space="preserve">{escape(str(value))}</t></is></c>'


def write_ods(path: Path, sheets: Mapping[str, Rows], *, raw: str | None = None) -> Path:
    """Write the same as OpenDocument; ``raw`` is the XML of the tables instead."""
    tables = "".join(
        f"<table:table table:name={quoteattr(name)}>"
        + "".join(f"<table:table-row>{''.join(map(_ods_cell, row))}</table:table-row>" for row in rows)
        + "</table:table>"
        for name, rows in sheets.items()
    )
    body = f"<office:body><office:spreadsheet>{tables if raw is None else raw}</office:spreadsheet></office:body>"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("mimetype", "application/vnd.oasis.opendocument.spreadsheet")
        archive.writestr(
            "META-INF/manifest.xml",
            '<?xml version="1.0"?><manifest:manifest '
            'xmlns:manifest="urn:oasis:names:tc:opendocument:xmlns:manifest:1.0"/>',
        )
        archive.writestr(
            "content.xml", f'<?xml version="1.0"?><office:document-content {_NAMES}>{body}</office:document-content>'
        )
    return path


def _ods_cell(value: object) -> str:
    if value is None or value == "":
        return "<table:table-cell/>"
    if isinstance(value, bool):
        kind, own = "boolean", f' office:boolean-value="{str(value).lower()}"'
    elif isinstance(value, int | float):
        kind, own = "float", f' office:value="{value!r}"'
    elif isinstance(value, dt.date):
        kind, own = "date", f' office:date-value="{value.isoformat()}"'
    else:
        lines = "".join(f"<text:p>{_spaced(line)}</text:p>" for line in str(value).split("\n"))
        return f'<table:table-cell office:value-type="string">{lines}</table:table-cell>'
    return f'<table:table-cell office:value-type="{kind}"{own}><text:p>{escape(str(value))}</text:p></table:table-cell>'


def _spaced(text: str) -> str:
    """Every space as its own element: XML would join them."""
    return escape(text).replace(" ", "<text:s/>").replace("\t", "<text:tab/>")
