"""Turns a table whose items stand across, with a row for the questions, for the answers and for each annotator."""

from collections.abc import Mapping, Sequence
from itertools import islice

from judgec.records.tasks.registry import called, plain
from judgec.table.rows.merged import ANSWERED, ASKED

MOST_ROWS = 60  # of such a table: what stands in its first column names a row
LONGEST_NAME = 60  # characters of it
FEWEST_ITEMS = 2
NOTE = "Items stand across, and who graded them down: it is read turned, and places are columns."


def turned(rows: Mapping[int, Sequence[str]]) -> dict[int, list[str]]:
    """The rows of the turned table by column of the file, from 1, the header first; empty for any other table.

    Its first column names the question and the answer among others, and its first row does not.

    Args:
        rows: The cells of each row that has any, all of the file or one more than ``MOST_ROWS``.
    """
    first = list(islice(rows.values(), MOST_ROWS + 1))
    own = [row for row in first if sum(map(bool, map(str.strip, row))) > 1]
    if len(first) > MOST_ROWS or len(own) < len((ASKED, ANSWERED)):
        return {}
    names, top = [row[0].strip() for row in own], [cell.strip() for cell in own[0][1:]]
    said = [set(plain(name).split("_")) for name in names]
    known = any(one & ASKED for one in said) and any(one & ANSWERED and not one & ASKED for one in said)
    if not known or any(map(called, top)) or len(set(names)) < len(names) or max(map(len, names)) > LONGEST_NAME:
        return {}
    width = max(at + 1 for row in own for at, cell in enumerate(row) if cell.strip())
    names[0] = names[0] or "item_id"
    columns = {at + 1: [row[at] if at < len(row) else "" for row in own] for at in range(1, width)}
    filled = {at: cells for at, cells in columns.items() if any(map(str.strip, cells))}
    return {1: names, **filled} if len(filled) >= FEWEST_ITEMS and all(names) else {}


def across_head(first: Sequence[str]) -> bool:
    """True where a first row alone allows items across: whoever reads in pieces must read such a file whole."""
    return not any(map(called, first[1:]))
