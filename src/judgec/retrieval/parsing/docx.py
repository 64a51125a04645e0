"""Word documents."""

import re
from pathlib import Path
from zipfile import BadZipFile

import docx
from docx.opc.exceptions import PackageNotFoundError
from docx.table import Table

from judgec.retrieval.parsing.document import Document, Headings, Section, UnreadableError

_STYLE = re.compile(r"heading (\d)", re.IGNORECASE)


def read_docx(path: Path) -> list[Document]:
    """A .docx in sections by its heading styles, a table row a line.

    Raises:
        UnreadableError: When it is damaged or no Word document.
    """
    try:
        word = docx.Document(str(path))
        blocks = list(word.iter_inner_content())
        title = word.core_properties.title.strip()
    except (PackageNotFoundError, BadZipFile, KeyError, ValueError, OSError) as error:
        raise UnreadableError(f"not a readable .docx ({type(error).__name__}); save it again as .docx") from None
    headings = Headings()
    sections: list[Section] = []
    lines: list[str] = []
    trail = ""
    for block in blocks:
        if isinstance(block, Table):
            lines += [_row([cell.text for cell in row.cells]) for row in block.rows]
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


def _row(cells: list[str]) -> str:
    return " | ".join(" ".join(cell.split()) for cell in dict.fromkeys(cells))
