"""Word documents."""

import re
from collections.abc import Iterator
from pathlib import Path
from zipfile import ZipFile, is_zipfile

import docx
from docx.document import Document as Word
from docx.oxml.ns import qn
from docx.table import Table, _Cell

from judgec.retrieval.parsing.document import Document, Headings, Section, UnreadableError

MOST_BYTES = 200_000_000  # of all parts once unpacked; a bomb unpacks to more
_STYLE = re.compile(r"heading (\d)", re.IGNORECASE)


def read_docx(path: Path) -> list[Document]:
    """A .docx in sections by its heading styles, a table row a line.

    Raises:
        UnreadableError: When it is damaged, no Word document, or unpacks to more than 200 MB.
    """
    if is_zipfile(path) and (size := _unpacked(path)) > MOST_BYTES:
        raise UnreadableError(f"it unpacks to {size} bytes, at most {MOST_BYTES} are read; split it")
    try:
        word = docx.Document(str(path))
        _unwrap(word)
        blocks = list(word.iter_inner_content())
        title = word.core_properties.title.strip()
    except Exception as error:  # noqa: BLE001 - a damaged .docx raises whatever its bytes lead to
        raise UnreadableError(f"not a readable .docx ({type(error).__name__}); save it again as .docx") from None
    headings = Headings()
    sections: list[Section] = []
    lines: list[str] = []
    trail = ""
    for block in blocks:
        if isinstance(block, Table):
            lines += _rows(block)
            continue
        style = block.style.name if block.style is not None else None
        level = 1 if style == "Title" else int(found[1]) if style and (found := _STYLE.fullmatch(style)) else 0
        if level and block.text.strip():
            sections.append(Section("\n".join(lines), trail))
            lines, trail = [block.text], headings.enter(0 if style == "Title" else level, block.text)
            title = title or block.text.strip()
        else:
            lines.append(block.text)
    sections.append(Section("\n".join(lines), trail))
    return [Document(title, tuple(section for section in sections if section.text.strip()))]


def _unpacked(path: Path) -> int:
    """Bytes of all parts, as stated; no part is unpacked beyond the size that it states."""
    with ZipFile(path) as archive:
        return sum(part.file_size for part in archive.infolist())


def _unwrap(word: Word) -> None:
    """Take paragraphs, tables and runs out of content controls and tracked insertions: python-docx skips them."""
    for wrap in list(word.element.body.iter(qn("w:sdt"), qn("w:ins"), qn("w:smartTag"))):
        inner = wrap.find(qn("w:sdtContent")) if wrap.tag == qn("w:sdt") else wrap
        for child in [] if inner is None else list(inner):
            wrap.addprevious(child)
        wrap.getparent().remove(wrap)


def _rows(table: Table) -> Iterator[str]:
    """A line a row; merged cells once, cells that say the same as often as they are there."""
    for row in table.rows:
        yield " | ".join(_text(cell) for cell in {cell._tc: cell for cell in row.cells}.values())  # noqa: SLF001 - no public name


def _text(cell: _Cell) -> str:
    parts = (" ".join(_rows(block)) if isinstance(block, Table) else block.text for block in cell.iter_inner_content())
    return " ".join(" ".join(parts).split())
