"""Sheets that hold labels, and layouts that are no row an answer with the lines of pandas that make one of them."""

import re
from collections import Counter
from collections.abc import Collection, Sequence
from contextlib import suppress
from functools import partial
from itertools import combinations
from pathlib import Path

import numpy as np

from judgec.errors import InputError
from judgec.labels.roles import LABELS, SAID, Roles, propose
from judgec.table.rows.cells import as_text
from judgec.table.table import Table
from judgec.table.tables import read_table
from judgec.table.workbooks import is_workbook, read_sheets, split_sheet

MOST_COLUMNS = 12  # beside few rows
MOSTLY = 0.8  # of the rows
TWO = 2
LABEL = "grade"
_WORD = re.compile(r"\w+")


def sheets_of_labels(path: str, having: Collection[str] = ()) -> list[str]:
    """The sheets of a workbook with texts and what may be grades, as ``FILE#SHEET``; empty where one is named.

    Args:
        path: The file.
        having: Columns that such a sheet has.

    Raises:
        InputError: As ``read_sheets``.
    """
    if not is_workbook(path) or split_sheet(path)[1] is not None or not Path(path).is_file():
        return []
    sheets = [f"{path}#{sheet.name}" for sheet in read_sheets(path)]
    found = []
    for one in sheets if len(sheets) > 1 else ():
        with suppress(InputError):  # a heading alone
            table = read_table(one)
            roles = propose(table, {})
            texts = any(seen.kind == "text" for seen in roles.seen.values())
            found += [one] if texts and roles.graded and set(having) <= set(table.columns) else []
    return found


def require_one_row_an_answer(table: Table, roles: Roles) -> None:
    """Check that each row is an answer: crossed forms, items across and several answers a row are no such table.

    Raises:
        InputError: What is seen, and the lines of pandas that make one of it.
    """
    reader = "read_excel" if table.path.rpartition("#")[0] or table.path.endswith((".xlsx", ".ods")) else "read_csv"
    opened = f"    import pandas as pd\n    rows = pd.{reader}({table.path!r}, sep=None, engine='python')\n"
    opened = opened if reader == "read_csv" else opened.replace(", sep=None, engine='python'", "")
    end = '\n    rows.to_csv("rows.csv", index=False)'
    if len(table.columns) > max(MOST_COLUMNS, 2 * len(table.rows)):
        seen = f"{len(table.columns)} columns beside {len(table.rows)} rows: items stand in columns"
        turned = "    rows = rows.set_index(rows.columns[0]).T.rename_axis('item_id').reset_index()"
        raise InputError([f"{table.path}: {seen}; a row an answer is needed. Turn it round:\n{opened}{turned}{end}"])
    if crossed := _crossed(table, roles):
        seen = f"of {', '.join(crossed)} a row has one crossed: a crossed form"
        made = (
            f"    crossed = {crossed}\n    rows['grade'] = (rows[crossed] == {_mark(roles, crossed)!r}).idxmax(axis=1)"
        )
        made += "\n    rows = rows.drop(columns=crossed)"
        raise InputError([f"{table.path}: {seen}; one column of grades is needed. Make one:\n{opened}{made}{end}"])
    if beside := _beside(table, roles):
        (one, other), answers = beside
        seen = f"{' and '.join(answers)} stand beside each other, and grades of each: several answers a row"
        made = (
            "    parts = [rows.filter(regex=rf'\\b{one}\\b').rename(columns=lambda head: head.replace(one, '').strip())"
        )
        made += (
            f".assign(agent=one).join(rows[[{roles.theirs('query')!r}]])\n             for one in ({one!r}, {other!r})]"
        )
        made += "\n    rows = pd.concat(parts)"
        needed = (
            "a row an answer is needed. Name the answer where these are remarks (--map THEIRS=answer), or make rows"
        )
        raise InputError([f"{table.path}: {seen}; {needed}:\n{opened}{made}{end}"])


def _mark(roles: Roles, crossed: Sequence[str]) -> str:
    """The value that says yes in columns of one grade each: the only one, else the rarer."""
    counts: Counter[str] = Counter()
    for name in crossed:
        counts.update(roles.seen[name].values)
    return min(counts, key=lambda word: (counts[word], word))


def _crossed(table: Table, roles: Roles) -> list[str]:
    """Columns of a mark each, of which nearly every row has one."""
    alike: dict[frozenset[str], list[str]] = {}
    for name, seen in roles.seen.items():
        if roles.columns.get(name, LABEL) in LABELS and 0 < seen.different <= TWO:
            alike.setdefault(frozenset(word.casefold() for word in seen.values), []).append(name)
    for names in (one for one in alike.values() if len(one) > TWO):
        mark = _mark(roles, names)
        crosses = [table.column(name).holds(partial(_says, mark)) for name in names]
        times, rows = np.unique(np.sum(crosses, axis=0), return_counts=True)
        often = int(times[rows.argmax()])  # once, or once by each of several people
        if 0 < often * TWO < len(names) and rows.max() >= MOSTLY * len(table.rows):
            return names
    return []


def _says(mark: str, cell: object) -> bool:
    return as_text(cell).strip() == mark


def _beside(table: Table, roles: Roles) -> tuple[tuple[str, str], tuple[str, str]] | None:
    """Two texts whose heads differ in one word in which heads of grades differ, too; and these words."""
    texts = [name for name in table.columns if roles.seen[name].kind == "text"]
    if (answer := roles.theirs("answer")) and roles.why[answer] == SAID:
        return None  # the others are remarks
    for one, other in combinations(texts, TWO):
        mine, theirs = _WORD.findall(one), _WORD.findall(other)
        odd = [pair for pair in zip(mine, theirs, strict=False) if pair[0] != pair[1]]
        if len(mine) != len(theirs) or len(odd) != 1:
            continue
        ((a, b),) = odd
        swapped = {" ".join(b if word == a else word for word in _WORD.findall(name)) for name in roles.graded
                   if a in _WORD.findall(name)}  # fmt: skip
        if swapped & {" ".join(_WORD.findall(name)) for name in roles.graded}:
            return (a, b), (one, other)
    return None
