"""A parsed document: text in sections that know their page and headings."""

from collections.abc import Sequence
from dataclasses import dataclass

PATH_MARK = " > "


@dataclass(frozen=True, slots=True)
class Section:
    """Text under one heading, or on one page.

    Args:
        text: Its heading included.
        heading: The headings above it and its own, outermost first, joined by `` > ``.
        page: From 1, or None.
    """

    text: str
    heading: str = ""
    page: int | None = None


@dataclass(frozen=True, slots=True)
class Document:
    """One document.

    Args:
        title: Empty where it names none.
        sections: In reading order.
        doc_id: Its own id in a table of passages; None where the file's path is the id.
        faults: What of it could not be read, a sentence each.
    """

    title: str
    sections: Sequence[Section]
    doc_id: str | None = None
    faults: tuple[str, ...] = ()

    @property
    def blank(self) -> bool:
        """True when there is nothing to index."""
        return not any(section.text.strip() for section in self.sections)


class UnreadableError(Exception):
    """A file that cannot be read; the message says what was seen and what to do."""


class Headings:
    """The headings above a place, as a document is read from its beginning."""

    def __init__(self) -> None:
        self._open: list[tuple[int, str]] = []

    def enter(self, level: int, text: str) -> str:
        """A heading begins; the path to it."""
        while self._open and self._open[-1][0] >= level:
            self._open.pop()
        self._open.append((level, " ".join(text.split())))
        return PATH_MARK.join(name for _, name in self._open)
