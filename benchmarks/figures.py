"""Figures in Markdown: tables, and the place of a file that a script writes."""

import os
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path

README = Path(__file__).with_name("README.md")


def table(header: Sequence[str], rows: Sequence[Sequence[str]]) -> Iterator[str]:
    """A Markdown table, its first column of text and the others of numbers."""
    yield f"| {' | '.join(header)} |"
    yield f"|---|{'---:|' * (len(header) - 1)}"
    yield from (f"| {' | '.join(row)} |" for row in rows)


def all_done(who: str, done: int, asked: int) -> int:
    """How many succeeded: all. The time of what failed is no figure, so that the part stops where one did not."""
    if done != asked:
        sys.exit(f"{who}: {done:,} of {asked:,} succeeded. The part stops and nothing of it is written.")
    return done


def measured_on(load: float) -> str:
    """Where the figures of a section come from."""
    return f"{os.cpu_count()} processors; load average {load:.1f} before, {os.getloadavg()[0]:.1f} after."


def write(name: str, text: str, file: Path = README) -> None:
    """Put text between the markers of this name; the rest of the file stays as it is."""
    opening, closing = f"<!-- {name}: start -->", f"<!-- {name}: end -->"
    before, start, rest = file.read_text(encoding="utf-8").partition(opening)
    _, end, after = rest.partition(closing)
    if not start or not end:
        sys.exit(f"{file}: the markers {opening} and {closing} are not both there. Put them where the text belongs.")
    file.write_text(f"{before}{opening}\n{text.rstrip()}\n{closing}{after}", encoding="utf-8")
