"""Word documents."""

import re
from collections.abc import Iterator
from pathlib import Path
from zipfile import ZipFile, is_zipfile

import docx
from docx.document import Document as Word
from docx.oxml import parse_xml
from docx.oxml.ns import qn
from docx.oxml.xmlchemy import BaseOxmlElement
from docx.table import Table, _Cell

from judgec.rag.retrieval.parsing.document import Document, Headings, Section, UnreadableError

MOST_BYTES = 200_000_000  # of all parts once unpacked; a bomb unpacks to more
MOST_ELEMENTS = 1_000_000  # of all XML; a book of 1,000 pages has some 200,000
WRAPS = ("w:sdt", "w:ins", "w:moveTo", "w:smartTag", "w:customXml", "w:fldSimple")  # text within which is not read
NOTES = ("endnote", "footnote")  # of one paragraph, the last placed comes first
_COMPATIBLE = "{http://schemas.openxmlformats.org/markup-compatibility/2006}"
_STYLE = re.compile(r"heading (\d)", re.IGNORECASE)


def read_docx(path: Path) -> list[Document]:
    """A .docx in sections by its heading styles, a table row a line; text boxes and notes below their paragraph.

    Raises:
        UnreadableError: When it is damaged, no Word document, or unpacks to more than 200 MB or a million elements.
    """
    if is_zipfile(path) and (size := _unpacked(path)) > MOST_BYTES:
        raise UnreadableError(f"it unpacks to {size} bytes, at most {MOST_BYTES} are read; split it")
    if is_zipfile(path) and (count := _elements(path)) > MOST_ELEMENTS:
        raise UnreadableError(f"its XML has some {count} elements, at most {MOST_ELEMENTS} are read; split it")
    try:
        word = docx.Document(str(path))
        _place_notes(word)
        _place_boxes(word)
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


def _elements(path: Path) -> int:
    """About how many elements its XML has, each of which takes a hundred times the bytes that it is written in."""
    try:
        with ZipFile(path) as archive:
            parts = [name for name in archive.namelist() if name.endswith((".xml", ".rels"))]
            return sum(archive.read(name).count(b"<") for name in parts) // 2
    except Exception:  # noqa: BLE001 - damaged: python-docx says so
        return 0


def _place_notes(word: Word) -> None:
    """Put what footnotes and endnotes say below the paragraph that refers to them: it is in parts of its own."""
    for kind in NOTES:
        parts = [rel.target_part for rel in word.part.rels.values() if rel.reltype.endswith(f"/{kind}s")]
        notes = {note.get(qn("w:id")): note for part in parts for note in parse_xml(part.blob).iter(qn(f"w:{kind}"))}
        for reference in reversed(list(word.element.body.iter(qn(f"w:{kind}Reference")))):
            if (note := notes.get(reference.get(qn("w:id")))) is not None:
                _place_below(reference, note)


def _place_boxes(word: Word) -> None:
    """Put what text boxes say below the paragraph that they are anchored in; of two forms of a box, the first."""
    for both in list(word.element.body.iter(f"{_COMPATIBLE}AlternateContent")):
        if both.find(f"{_COMPATIBLE}Choice") is not None:
            for other in both.findall(f"{_COMPATIBLE}Fallback"):
                both.remove(other)
    for box in reversed(list(word.element.body.iter(qn("w:txbxContent")))):
        _place_below(box, box)


def _place_below(anchor: BaseOxmlElement, holder: BaseOxmlElement) -> None:
    """Move the holder's paragraphs and tables below the anchor's paragraph; called last to first, they keep order."""
    paragraph = next(anchor.iterancestors(qn("w:p")), None)
    if paragraph is not None:
        for block in reversed(list(holder)):
            paragraph.addnext(block)


def _unwrap(word: Word) -> None:
    """Take text out of content controls, tracked insertions and fields: python-docx skips what is in them."""
    for wrap in list(word.element.body.iter(*map(qn, WRAPS))):
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
