"""Markdown and plain text."""

from itertools import pairwise
from pathlib import Path

import yaml
from markdown_it import MarkdownIt

from judgec.rag.retrieval.parsing.document import Document, Headings, Section, UnreadableError

FENCE = "---"


def read_plain(path: Path) -> list[Document]:
    """A text file as one section.

    Raises:
        UnreadableError: When it is not UTF-8, or UTF-16 with its mark.
    """
    return [Document("", (Section(text_of(path)),))]


def read_markdown(path: Path) -> list[Document]:
    """A Markdown file in sections; the source itself is the text, so that tables stay readable.

    The title is the front matter's ``title``, else the first heading.

    Raises:
        UnreadableError: As ``read_plain``.
    """
    title, text = _front_matter(text_of(path))
    lines = text.split("\n")
    headings = Headings()
    sections, start, path_so_far = [], 0, ""
    tokens = MarkdownIt("commonmark").parse(text)
    for token, content in pairwise(tokens):
        if token.type != "heading_open" or token.map is None or token.level:
            continue
        sections.append(Section("\n".join(lines[start : token.map[0]]), path_so_far))
        start, path_so_far = token.map[0], headings.enter(int(token.tag[1]), content.content)
        title = title or content.content
    sections.append(Section("\n".join(lines[start:]), path_so_far))
    return [Document(title, tuple(section for section in sections if section.text.strip()))]


def text_of(path: Path) -> str:
    """The file as text, without a byte-order mark.

    Raises:
        UnreadableError: When it is not UTF-8, or UTF-16 with its mark.
    """
    data = path.read_bytes()
    wide = data.startswith((b"\xff\xfe", b"\xfe\xff"))
    try:
        text = data.decode("utf-16" if wide else "utf-8-sig")
    except UnicodeDecodeError as error:
        raise UnreadableError(f"byte 0x{data[error.start]:02x} is not UTF-8; save it as UTF-8") from None
    if "\0" in text:
        raise UnreadableError("it holds NUL characters; a text is needed")
    return text.replace("\r\n", "\n").replace("\r", "\n")


def _front_matter(text: str) -> tuple[str, str]:
    """The title that YAML front matter gives, and the text after it; a broken one is text."""
    if not text.startswith(FENCE + "\n"):
        return "", text
    head, fence, rest = text[len(FENCE) + 1 :].partition("\n" + FENCE + "\n")
    try:
        fields = yaml.safe_load(head) if fence else None
    except (yaml.YAMLError, ValueError):  # ValueError: a date that is none
        fields = None
    if not isinstance(fields, dict):
        return "", text
    title = fields.get("title")
    plain = not isinstance(title, list | dict)  # aliases in it could grow without bound once written out
    return str(title or "") if plain else "", rest
