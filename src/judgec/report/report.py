"""One value that says what a verb found: screen, page, JSON and what build servers read are made of it.

A verb fills a ``Report`` where it makes its result. What a surface leaves out is decided here once: the screen shows
the answer, one table, the notes and what to type next; ``-v`` shows every table; the page has all of it and the items.
How a file was read is one line of a screen: what no longer counts, by kind.
"""

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal

from judgec.labels.split.family import write_whole
from judgec.records.counts import plural
from judgec.report import kit
from judgec.report.cases import BrowsedCase
from judgec.report.gates import Gates
from judgec.report.items import WORDS, embedded, item_lines
from judgec.report.screen import TextTable

LONG = 60  # characters of a cell that is a sentence
PAGE = ("title", "facts", "stamps", "standing", "items_title", "charts")  # what the template takes as it is
ITEMS = ".items.jsonl"  # behind the page's name without its ending
WIDTH = 80  # characters of a line of a screen
# Of how a file was read, what nobody may overlook: who is a person, what is a grade, what has been learned from.
MUST_BE_SEEN = re.compile(
    r"no annotator|one person|only their order counts|has learned from|too few|is the worst|#SHEET names another"
)
_GONE = re.compile(  # "2 rows left out as empty", "Column Mia: 3 cells say nothing and are missing"
    r"\b(?P<count>[\d,]+)(?: of [\d,]+)? (?P<what>row|cell|grading|label|verdict|judge value)s?\b.*?"
    r"\b(?P<gone>left out|missing|unscored|repeated)\b"
)


@dataclass(frozen=True, slots=True)
class Report:
    """The result of a verb.

    Args:
        data: For programs: the object that ``--json`` prints; its keys are promises.
        gates: What was demanded of it, and what that came to; None where nothing was.

        verdict: The answer, a sentence each; it stands first.
        tables: What the answer rests on: one screenful.
        full: Every table, for ``-v``; None where ``tables`` are all.
        lines: Sentences below the tables.
        details: Further sentences, with ``-v`` alone.
        notes: What the reader has to know.
        reading: How the file was read, a sentence each: counted on the screen, in full with ``-v`` and on the page.
        more: What ``-v`` adds, for those who have not typed it.
        stamps: What nobody may overlook: first on the page; on the screen last, or among the notes where these have it.
        file: The page, where one was written.
        next: Commands to type next, as they run.

        title: Of the page, plain text.
        facts: Below it: what was read, and when.
        standing: The mark of the answer: ``better``, ``even``, ``below`` or ``none``.
        steps: What to do, a sentence each; the page has them in place of commands.
        items: The items most worth reading, or none.
        items_title: Above them.
        words: What the browser of items calls things.
        head: Of the table of items that stands where no script runs.
        charts: Drawings of the page, below its first tables.
        further: Tables of the page that come after all that.
    """

    data: Mapping[str, object] = field(default_factory=dict)
    gates: Gates | None = None
    verdict: Sequence[str] = ()
    tables: Sequence[TextTable] = ()
    full: Sequence[TextTable] | None = None
    lines: Sequence[str] = ()
    details: Sequence[str] = ()
    notes: Sequence[str] = ()
    reading: Sequence[str] = ()
    more: str = ""
    stamps: Sequence[str] = ()
    file: Path | None = None
    next: Sequence[str] = ()
    title: str = ""
    facts: str = ""
    standing: Literal["better", "even", "below", "none"] = "even"
    steps: Sequence[str] = ()
    items: Sequence[BrowsedCase] = ()
    items_title: str = "Items"
    words: Mapping[str, str] = field(default_factory=lambda: WORDS)
    head: Sequence[str] = ("item", "what was said")
    charts: str = ""
    further: Sequence[TextTable] = ()

    def shown(self, *, verbose: bool = False) -> Sequence[TextTable]:
        """The tables of a screen."""
        return self.full if verbose and self.full is not None else self.tables

    def noted(self, *, verbose: bool = True) -> list[str]:
        """The notes, each once; without ``verbose`` those on how the file was read only where they must be seen."""
        read = [note for note in self.reading if verbose or MUST_BE_SEEN.search(note)]
        return list(dict.fromkeys([*read, *self.notes]))

    def below(self, *, verbose: bool = False) -> list[str]:
        """The lines below the tables of a screen."""
        return [
            *self.lines,
            *(self.details if verbose else ()),
            *(f"note: {note}" for note in self.noted(verbose=verbose)),
            *([] if verbose else self._shortened()),
            *([f"report: {self.file}"] if self.file is not None else []),
            *(f"{'     ' if place else 'Next:'} {command}" for place, command in enumerate(self.next)),
            *(stamp for stamp in self.stamps if stamp not in self.notes),
        ]

    def _shortened(self) -> list[str]:
        """What ``-v`` adds, in a line; of a single short note on how the file was read the note."""
        notes = [note for note in dict.fromkeys(self.reading) if not MUST_BE_SEEN.search(note)]
        alone = [f"note: {note}" for note in notes] if len(notes) == 1 else []
        if any(len(line) > WIDTH for line in alone):
            alone = []
        more = ", ".join(filter(None, [self.more, "" if alone else _counted(notes) if notes else ""]))
        return [*alone, *([f"{more}: -v"] if more else [])]


def _counted(notes: Sequence[str]) -> str:
    """How the file was read: how much no longer counts, by kind, and how many notes say more."""
    gone: Counter[tuple[str, str]] = Counter()
    for found in filter(None, map(_GONE.search, notes)):
        gone[found["what"], found["gone"]] += int(found["count"].replace(",", ""))
    said = ", ".join(f"{plural(count, what, thousands=True)} {how}" for (what, how), count in gone.items())
    counted = f"{plural(len(notes), 'note')} on how the file was read"
    return f"{counted}{f' ({said})' if said else ''}"


def items_path(path: Path) -> Path:
    """Path of the page's items: beside it, ``report.items.jsonl`` of ``report.html``."""
    return path.with_name(path.stem + ITEMS)


def write_page(report: Report, path: Path) -> None:
    """Write the page, and where it has items the JSON lines that hold all of them.

    Raises:
        OSError: When the folder cannot be written.
    """
    file = items_path(path)
    items = embedded(report.items, words=report.words, head=report.head, file=file.name) if report.items else None
    parts = {
        **{name: getattr(report, name) for name in PAGE},
        "verdict": " ".join(report.verdict),
        "notes": [note for note in report.noted() if note not in report.stamps],
        "next": report.steps,
        "sections": _sections(report.tables),
        "further": _sections(report.further),
        "items": items,
    }
    write_whole(path, kit.page("tables.html", parts))
    if report.items:
        write_whole(file, "".join(item_lines(report.items)))


def _sections(tables: Sequence[TextTable]) -> list[dict[str, object]]:
    return [
        {
            "title": title,
            "table": kit.table(list(table.heads), [list(row) for row in table.rows], _kind(table), label=title),
            "legend": table.legend,
        }
        for table in tables
        if (title := table.title or "Numbers")
    ]


def _kind(table: TextTable) -> str:
    """Sentences in cells wrap, numbers do not."""
    return "words" if any(len(cell) > LONG for row in table.rows for cell in row) else ""
