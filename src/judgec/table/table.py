"""Rows as they stand in a file, whatever its format."""

from collections.abc import Mapping
from dataclasses import dataclass, field

Row = dict[str, object]


@dataclass(frozen=True, slots=True)
class Wide:
    """Several answers beside each other in a row.

    Args:
        agents: Who gave them: the part in which heads differ.
        columns: The heads with ``{agent}`` in its place, the answer's first.
    """

    agents: tuple[str, ...]
    columns: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Table:
    """Rows as they stand in a file, before anybody interprets them.

    Args:
        path: The file, as the user named it; messages begin with it.
        columns: Names in file order.
        rows: Values by column. Text formats give text; JSON, Parquet and Arrow give Python values. A column
            that a JSON row lacks is absent from that row.
        lines: Where each row begins: the line of a text file, or the row number of a binary one; from 1.
        by_line: True when ``lines`` are lines of text.
        notes: What reading assumed or mended, one sentence each.
        wide: How several answers a row were made rows, where they were.
        legends: What values mean, by sheet of the same workbook and value.
    """

    path: str
    columns: tuple[str, ...]
    rows: tuple[Row, ...]
    lines: tuple[int, ...]
    by_line: bool = True
    notes: tuple[str, ...] = ()
    wide: Wide | None = None
    legends: Mapping[str, Mapping[str, str]] = field(default_factory=dict)

    def where(self, index: int) -> str:
        """The place of row ``index`` as messages name it: ``labels.csv:7``, or ``labels.parquet:row 7``."""
        return place(self.path, self.lines[index], by_line=self.by_line)


def place(path: str, line: int, *, by_line: bool = True) -> str:
    """A place in a file as messages name it."""
    return f"{path}:{line}" if by_line else f"{path}:row {line}"
