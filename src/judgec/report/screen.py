"""Tables on a screen: as wide as it is, and no name or interval is ever broken in two.

Where a table is too wide its heads wrap first, then texts between words, and what is left of its columns follows in
blocks below, each with the first column again. The first column has the names of the rows: it wraps only where these
are longer than half a screen.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from rich.cells import cell_len

if TYPE_CHECKING:
    from rich.table import Table

# What stays together: a value with its interval or what stands in brackets behind it, a score, a share, a word.
_WHOLE = re.compile(
    r"\S+ (?:% |points )?\[[^\]\s]*, [^\]\s]*\]\S*|\S+ \([^)\s]*\)\S*|\S+ (?::|\.\.) \S+|[-+\d.,]+ %|\S+"
)
_EDGES = 3  # blanks that a column takes beside its cells
_FRAME = 1


@dataclass(frozen=True, slots=True)
class TextTable:
    """A table of text.

    Args:
        title: Above it.
        heads: Of the columns; the first column and texts of several lines are left-aligned, the others right-aligned.
        rows: As many cells each as there are heads.
        legend: What words in it mean; printed below it.
    """

    title: str
    heads: Sequence[str]
    rows: Sequence[Sequence[str]]
    legend: Mapping[str, str] = field(default_factory=dict)


# Control characters, but for tab and line feed.
_SEEN = {code: f"\\x{code:02x}" for code in (*range(0x20), *range(0x7F, 0xA0)) if chr(code) not in "\t\n"}


def visible(text: str) -> str:
    """The text with characters that steer a terminal made visible: names and notes come from files of others."""
    return text.translate(_SEEN)


def print_tables(*tables: TextTable) -> None:
    """Print tables on stdout; brackets and colons in names are text, not markup."""
    from rich.console import Console

    console = Console(soft_wrap=False, markup=False, emoji=False, highlight=False)
    for table in tables:
        console.print(visible(table.title), style="bold")  # as wide as the screen, not as its table
        columns = [[visible(cell) for cell in column] for column in zip(table.heads, *table.rows, strict=True)]
        for widths in blocks(columns, console.width):
            console.width = max(console.width, sum(width + _EDGES for width in widths.values()) + _FRAME)
            console.print(_drawn({place: columns[place] for place in widths}, widths))
        for line in legend_lines(table.legend, console.width):
            console.print(line, style="dim")
        if table.legend:
            console.print()


def legend_lines(legend: Mapping[str, str], width: int) -> Iterator[str]:
    """``word  what it means``, a word a line and wrapped, the meanings below each other."""
    indent = max((cell_len(word) for word in legend), default=0) + 4
    for word, meaning in legend.items():
        first, *rest = _wrapped(meaning, max(20, width - indent - 1)).split("\n")
        yield f"  {word:<{indent - 2}}{first}"
        yield from (" " * indent + line for line in rest)


def blocks(columns: Sequence[Sequence[str]], width: int) -> Iterator[dict[int, int]]:
    """The columns that stand side by side, block for block, and how wide each is.

    Args:
        columns: The cells of each column, its head first.
        width: Of the screen. What cannot be narrower, such as a long name, is wider than that.

    Returns: By place of the column its width in cells of the terminal; the first column is in every block, and the
        second where the first alone does not tell rows apart.
    """
    natural = [max(1, *map(_longest_line, column)) for column in columns]
    least = [max(1, *map(_longest_atom, column)) for column in columns]
    if natural[0] <= width // 2:
        least[0] = natural[0]
    room = width - _FRAME - _EDGES * len(columns)
    if sum(least) <= room:
        heads_wrapped = [
            max(whole, *map(_longest_line, column[1:])) if column[1:] else whole
            for whole, column in zip(least, columns, strict=True)
        ]
        yield dict(enumerate(_widened(heads_wrapped if sum(heads_wrapped) <= room else least, natural, room)))
        return
    lead = {0: min(natural[0], max(least[0], width // 2))}
    if len(columns) > 2 and len(set(columns[0][1:])) < len(columns[0]) - 1 and natural[0] + natural[1] <= width // 2:
        lead = {0: natural[0], 1: natural[1]}
    block = dict(lead)
    for place in range(len(lead), len(columns)):
        taken = sum(block.values()) + _EDGES * (len(block) + 1) + _FRAME
        if len(block) > len(lead) and taken + least[place] > width:
            yield block
            block = dict(lead)
            taken = sum(lead.values()) + _EDGES * (len(lead) + 1) + _FRAME
        block[place] = min(natural[place], max(least[place], width - taken))
    yield block


def _widened(widths: Sequence[int], natural: Sequence[int], room: int) -> list[int]:
    """The widths with the rest of the room: always to the column that takes most lines."""
    found = list(widths)
    for _ in range(max(0, room - sum(found))):
        lines = [-(-whole // width) if width < whole else 0 for whole, width in zip(natural, found, strict=True)]
        if not any(lines):
            break
        found[lines.index(max(lines))] += 1
    return found


def _drawn(columns: Mapping[int, Sequence[str]], widths: Mapping[int, int]) -> "Table":
    from rich.box import SIMPLE_HEAD
    from rich.table import Table

    table = Table(box=SIMPLE_HEAD, padding=(0, 1))
    wrapped = {place: [_wrapped(cell, widths[place]) for cell in column] for place, column in columns.items()}
    for place, (head, *cells) in wrapped.items():
        text = not place or any("\n" in cell for cell in cells)
        table.add_column(head, justify="left" if text else "right", no_wrap=True, width=widths[place])
    for row in zip(*(column[1:] for column in wrapped.values()), strict=True):
        table.add_row(*row)
    return table


def _longest_line(text: str) -> int:
    return max(map(cell_len, text.split("\n")))


def _longest_atom(text: str) -> int:
    return max(map(cell_len, _WHOLE.findall(text)), default=0)


def _wrapped(text: str, width: int) -> str:
    """The text in lines no longer than ``width``, broken at spaces that do not hold a number together."""
    if _longest_line(text) <= width:
        return text
    lines = [""]
    for atom in _WHOLE.findall(text):
        longer = f"{lines[-1]} {atom}".lstrip()
        if lines[-1] and cell_len(longer) > width:
            lines.append(atom)
        else:
            lines[-1] = longer
    return "\n".join(lines)
