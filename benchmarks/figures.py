"""The file of measured figures: each part of ``benchmarks.throughput`` replaces its own section."""

import os
import re
from collections.abc import Iterator, Sequence
from pathlib import Path

FILE = Path(__file__).with_name("throughput.md")
TITLE = """# Throughput, memory and survival

Written by `python -m benchmarks.throughput`, part by part. Figures of one section were measured in one run, the server
in a process of its own; read the ratios, not the rates: other load on the machine moves all of them.
"""


def table(header: tuple[str, ...], rows: Sequence[tuple[str, ...]]) -> Iterator[str]:
    """A Markdown table, its first column of text and the others of numbers."""
    yield f"| {' | '.join(header)} |"
    yield f"|---|{'---:|' * (len(header) - 1)}"
    yield from (f"| {' | '.join(row)} |" for row in rows)


def measured_on(load: float) -> str:
    """Where the figures of a section come from."""
    return f"{os.cpu_count()} processors; load average {load:.1f} before, {os.getloadavg()[0]:.1f} after."


def write(part: str, title: str, lines: list[str], order: list[str]) -> None:
    """Put a section into the file; the others stay as they are.

    Args:
        part: Its name.
        title: Its heading.
        lines: What is below.
        order: The names of all parts, as they stand in the file.
    """
    whole = FILE.read_text(encoding="utf-8") if FILE.exists() else ""
    found = dict(re.findall(r"<!-- (\w+) -->\n(.*?)(?=<!-- \w+ -->\n|\Z)", whole, flags=re.DOTALL))
    found[part] = "\n".join([f"## {title}", "", *lines, "", ""])
    sections = [f"<!-- {name} -->\n{found[name]}" for name in order if name in found]
    FILE.write_text("\n".join([TITLE, "".join(sections)]).rstrip() + "\n", encoding="utf-8")
