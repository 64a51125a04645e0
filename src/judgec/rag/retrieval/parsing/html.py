"""HTML pages."""

import re
from collections.abc import Iterator
from pathlib import Path

from bs4 import BeautifulSoup
from bs4.element import NavigableString, PageElement, Tag

from judgec.rag.retrieval.parsing.document import Document, Headings, Section, UnreadableError

SILENT = ["script", "style", "noscript", "template", "nav", "svg", "iframe", "head"]
MOST_CONTROLS = 0.01  # of a page's bytes; random bytes have 11 %
_HEADING = re.compile(r"h[1-6]")
_TAG = re.compile(rb"<[!/?]?[A-Za-z]")
_CONTROLS = bytes({*range(32), 127} - set(b"\t\n\f\r\x1b"))  # escape is part of ISO-2022 encodings
# fmt: off
_BLOCKS = frozenset(
    {
        "address", "article", "aside", "blockquote", "body", "br", "caption", "center", "dd", "details",
        "div", "dl", "dt", "fieldset", "figcaption", "figure", "footer", "form", "header", "hr", "html", "li",
        "main", "ol", "p", "pre", "section", "summary", "table", "tbody", "tfoot", "thead", "tr", "ul",
    }
)
# fmt: on
_SPACE = re.compile(r"[ \t\r\f\v\n]+")
_HEAD = "\0"  # before a heading in the stream of lines: "\0" level text


def read_html(path: Path) -> list[Document]:
    """A page in sections by its headings; scripts, styles and navigation left out, a table row a line.

    Raises:
        UnreadableError: When there is no markup at all, or it is binary.
    """
    data = path.read_bytes()
    wide = data.decode("utf-16", "replace") if data.startswith((b"\xff\xfe", b"\xfe\xff")) else None
    data = data if wide is None else wide.encode("utf-8", "replace")
    if len(data) - len(data.translate(None, _CONTROLS)) > MOST_CONTROLS * len(data):
        raise UnreadableError("binary data, no HTML page; give it the ending of what it is, or save the page again")
    if not _TAG.search(data):
        raise UnreadableError("no HTML tag in it; rename it to .txt if it is text")
    soup = BeautifulSoup(wide or data, "lxml")  # what a page in UTF-16 says about its encoding may be wrong
    title = _SPACE.sub(" ", soup.title.get_text()).strip() if soup.title else ""
    for tag in soup(SILENT):
        tag.decompose()
    headings = Headings()
    sections: list[Section] = []
    lines: list[str] = []
    trail = ""
    for line in _lines(soup):
        if line.startswith(_HEAD):
            sections.append(Section("\n".join(lines), trail))
            lines, trail = [line[2:]], headings.enter(int(line[1]), line[2:])
            title = title or line[2:]
        else:
            lines.append(line)
    sections.append(Section("\n".join(lines), trail))
    return [Document(title, tuple(section for section in sections if section.text.strip()))]


def _lines(soup: Tag) -> Iterator[str]:
    """The page's text, a block a line; headings marked."""
    text: list[str] = []

    def flush() -> Iterator[str]:
        line = _SPACE.sub(" ", "".join(text)).strip(" |")
        text.clear()
        if line:
            yield line

    def walk(node: PageElement) -> Iterator[str]:
        if not isinstance(node, Tag):
            if type(node) is NavigableString:  # comments and declarations are subclasses
                text.append(str(node))
            return
        if _HEADING.fullmatch(node.name):
            yield from flush()
            for broken in node("br"):
                broken.replace_with(" ")
            said = _SPACE.sub(" ", node.get_text()).strip()
            if said:
                yield f"{_HEAD}{node.name[1]}{said}"
            return
        if node.name == "pre":
            yield from flush()
            yield node.get_text().replace(_HEAD, "")
            return
        block = node.name in _BLOCKS
        if block:
            yield from flush()
        for child in node.children:
            yield from walk(child)
        if node.name in {"td", "th"}:
            text.append(" | ")
        if block:
            yield from flush()

    yield from walk(soup)
    yield from flush()
