"""The page of a command that prints tables: its sentence, the same tables, what to do next, and the items."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal

from judgec.labels.splits import write_whole
from judgec.report import kit
from judgec.report.cases import BrowsedCase
from judgec.report.items import WORDS, embedded, item_lines
from judgec.report.screen import TextTable

LONG = 60  # characters of a cell that is a sentence
NAMED = ("title", "facts", "stamps", "verdict", "standing", "next", "notes", "items_title")  # as the template says
ITEMS = ".items.jsonl"  # behind the page's name without its ending


@dataclass(frozen=True, slots=True)
class TablesPage:
    """What the page shows.

    Args:
        title: Plain text.
        facts: Below it: what was read, and when.
        verdict: The answer, a sentence.
        standing: Its mark: ``better``, ``even``, ``below`` or ``none``.
        tables: As on the screen.
        next: What to do, a sentence each.
        notes: What the reader has to know.
        stamps: What nobody may overlook, above the verdict.
        items: The items most worth reading, or none.
        items_title: Above them.
        words: What the browser calls things.
        head: Of the table that stands where no script runs.
        further: Tables that come after all that, for those who want to know more.
    """

    title: str
    facts: str
    verdict: str
    standing: Literal["better", "even", "below", "none"]
    tables: Sequence[TextTable]
    next: Sequence[str]
    notes: Sequence[str] = ()
    stamps: Sequence[str] = ()
    items: Sequence[BrowsedCase] = ()
    items_title: str = "Items"
    words: Mapping[str, str] = field(default_factory=lambda: WORDS)
    head: Sequence[str] = ("item", "what was said")
    further: Sequence[TextTable] = ()


def _kind(table: TextTable) -> str:
    """Sentences in cells wrap, numbers do not."""
    return "words" if any(len(cell) > LONG for row in table.rows for cell in row) else ""


def _sections(tables: Sequence[TextTable]) -> list[dict[str, object]]:
    return [
        {
            "title": table.title or "Numbers",
            "table": kit.table(
                list(table.heads), [list(row) for row in table.rows], _kind(table), label=table.title or "Numbers"
            ),
            "legend": table.legend,
        }
        for table in tables
    ]


def items_path(path: Path) -> Path:
    """Where the page's items are: beside it, ``report.items.jsonl`` of ``report.html``."""
    return path.with_name(path.stem + ITEMS)


def write_tables_page(shown: TablesPage, path: Path) -> None:
    """Write the page, and where it has items the JSON lines that hold all of them.

    Raises:
        OSError: When the folder cannot be written.
    """
    file = items_path(path)
    items = embedded(shown.items, words=shown.words, head=shown.head, file=file.name) if shown.items else None
    values: dict[str, object] = {name: getattr(shown, name) for name in NAMED}
    write_whole(
        path,
        kit.page(
            "tables.html",
            {**values, "sections": _sections(shown.tables), "further": _sections(shown.further), "items": items},
        ),
    )
    if shown.items:
        write_whole(file, "".join(item_lines(shown.items)))
