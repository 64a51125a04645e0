"""Reads a form with a column a grade and a cross in one of them: a row's grade is the head over its cross."""

import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace

import numpy as np

from judgec.records.label import IntArray
from judgec.table.ladders import in_order, number_of
from judgec.table.rows.columns import listed
from judgec.table.table import Table, TableColumn

CROSSES = frozenset(["x", "×", "✗", "✘", "✕", "✖", "✓", "✔", "☑", "☒", "●", "•", "*", "xx", "xxx", "(x)", "[x]"])
YES, NO = frozenset({"1", "true"}), frozenset({"0", "false", "-"})  # as tools and check boxes write it in each row
FEWEST_OF_YES = 3  # columns: of two, each may as well be a question of its own
ONE = 0.75  # share of the crossed rows with one cross, below which several may be crossed
SHOWN = 5  # rows in a note
BEGINNING = 200  # rows, in which one other cell tells that nothing is crossed
_BEHIND = re.compile(r"(.*?[^\W\d_])[\s_.\-:/|]*[(\[]?\s*(\d{1,2})\s*[)\]]?")  # Mia 4, Score (4)


def with_crosses(table: Table) -> Table:
    """The table with a column of grades in place of those that are crossed, ``grade`` or what stands before the grade.

    Several crosses in a row are no grade, and are listed.
    """
    for stem, own in _forms(table.columns).items():
        name = stem or "grade"
        beginning = {column: [row.get(column) for row in table.rows[:BEGINNING]] for column in own}
        if name in table.columns or not _begins_crossed(beginning, own):
            continue
        at = np.array([_crosses(table, column) for column in own])
        if not _is_form(table, own, at):
            continue
        count = at.sum(axis=0)
        grades = list(own.values())
        cells = [grades[where] if n == 1 else None for where, n in zip(at.argmax(axis=0), count, strict=True)]
        columns = dict.fromkeys(name if column in own else column for column in table.columns)
        note = f"Crosses under {listed(own)} are read as {name}: the head over a row's cross is its grade."
        note += _several(table, own, at, np.flatnonzero(count > 1))
        made = table.with_columns({name: TableColumn.of(cells)}, note)
        offered = tuple(dict.fromkeys((*table.offered, *grades)))
        table = replace(made, columns=tuple(columns), offered=offered)
    return table


def may_be_crossed(columns: Mapping[str, Sequence[object]]) -> bool:
    """True where the first rows may be a crossed form's: whoever reads in pieces must read such a file whole."""
    return any(_begins_crossed(columns, own) for own in _forms(tuple(columns)).values())


def _forms(columns: Sequence[str]) -> dict[str, dict[str, str]]:
    """The grade of each column that may be crossed, by what stands before it: ``Mia 1``, ``Mia 2``, or ``1``, ``2``."""
    found: dict[str, dict[str, str]] = {}
    for column in columns:
        if (number := number_of(column)) is not None:
            found.setdefault("", {})[column] = str(int(number))
        elif behind := _BEHIND.fullmatch(column.strip()):
            found.setdefault(behind[1], {})[column] = behind[2]
    words = {column: column for column in columns if in_order([column]) is not None and number_of(column) is None}
    if "" not in found and in_order(words) is not None:
        found[""] = words
    return {stem: own for stem, own in found.items() if len(own) > 1 and len(set(own.values())) == len(own)}


def _said(cell: object) -> str:
    return "" if cell is None else str(cell).strip().casefold()


def _crosses(table: Table, column: str) -> IntArray:
    """1 where a row's cell is a cross."""
    return table.column(column).holds(lambda cell: _said(cell) in CROSSES | YES).astype(np.int64)


def _begins_crossed(columns: Mapping[str, Sequence[object]], own: Collection[str]) -> bool:
    """False for most tables after few cells, so that columns of a million numbers are not looked through."""
    known = CROSSES | YES | NO | {""}
    return all(_said(cell) in known for column in own for cell in columns[column][:BEGINNING])


def _is_form(table: Table, own: Mapping[str, str], at: IntArray) -> bool:
    """True for crosses and blanks alone, nearly always one in a row; for 1 and 0 always."""
    said = {_said(cell) for column in own for cell in table.column(column).values} - {""}
    count = at.sum(axis=0)
    if not said & (CROSSES | YES) or (at.sum(axis=1) > 0).sum() < 2:
        return False
    if said <= CROSSES:
        return bool((count == 1).sum() >= ONE * (count > 0).sum())
    return said <= YES | NO and len(own) >= FEWEST_OF_YES and bool((count == 1).all())


def _several(table: Table, own: Mapping[str, str], at: IntArray, rows: IntArray) -> str:
    """A sentence that lists rows with several crosses; empty where there are none."""
    places = []
    for row in rows[:SHOWN].tolist():
        crossed = (column for column, marks in zip(own, at, strict=True) if marks[row])
        places.append(f"{table.where(row)} ({listed(crossed)})")
    more = f" and {len(rows) - SHOWN} more" if len(rows) > SHOWN else ""
    return f" Several crosses in a row are no grade: {listed(places)}{more}." if len(rows) else ""
