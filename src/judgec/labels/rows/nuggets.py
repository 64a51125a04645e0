"""Makes a row of each nugget, where people or a judge said of nuggets whether an answer gives them."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import replace

from judgec.records.claim import CONTRADICTED, NOT_FOUND, PARTLY, SUPPORTED
from judgec.records.tasks.registry import plain
from judgec.table.rows.cells import NUGGET_TEXT, as_parts, as_text, is_missing
from judgec.table.table import Row, Table

SAID = ("verdict", "assignment", "criteria_met", "met", "label")  # keys of what was found of a nugget
_GRADES = {
    **dict.fromkeys(map(plain, (NOT_FOUND, CONTRADICTED, "not_support", "not_supported", "not met", "false", "no")), 0),
    **dict.fromkeys(map(plain, (PARTLY, "partial_support", "partially supported", "partly met", "partly")), 1),
    **dict.fromkeys(map(plain, (SUPPORTED, "support", "met", "given", "true", "yes")), 2),
}
"""Not, partly, fully: ``assignment`` is as TREC's AutoNuggetizer writes it, ``criteria_met`` as HealthBench does."""
_KEPT = ("query", "query_id", "agent", "group")


def nugget_rows(table: Table, columns: Sequence[str]) -> Table:
    """The table with a row a nugget and 0, 1 or 2 in each column; itself where one of these holds no such verdicts.

    Nuggets of two columns are the same where their texts are. One that a column says nothing of has no grade there.
    """
    if not columns or any(name not in table.columns or not _are_said(table.column(name).values) for name in columns):
        return table
    rows, lines = list[Row](), list[int]()
    for number, row in enumerate(table.rows):
        by_column = [_grades(row.get(name)) for name in columns]
        kept = {name: row[name] for name in _KEPT if name in row}
        kept.setdefault("query_id", kept.get("query", number))
        for place, text in enumerate(dict.fromkeys(text for found in by_column for text in found)):
            grades = {name: found.get(text) for name, found in zip(columns, by_column, strict=True)}
            lines.append(table.lines[number])
            rows.append({**kept, "item_id": f"{number}.{place}", "nugget": text, **grades})
    names = tuple(dict.fromkeys(name for row in rows for name in row))
    return replace(table, columns=names, rows=tuple(rows), lines=tuple(lines))


def _are_said(cells: Sequence[object]) -> bool:
    given = [cell for cell in cells if not is_missing(cell)]
    return bool(given) and all(map(_grades, given))


def _grades(cell: object) -> dict[str, int]:
    """0, 1 or 2 of each nugget of a cell by its text; those of which nothing is said are left out."""
    found: dict[str, int] = {}
    for part in [] if is_missing(cell) else as_parts(_parsed(cell)):
        if isinstance(part, Mapping):
            text = next((as_text(part[name]) for name in NUGGET_TEXT if part.get(name)), "")
            said = next((part[name] for name in SAID if part.get(name) is not None), None)
            grade = _GRADES.get(plain(as_text(said)))
            if text and grade is not None:
                found.setdefault(text.strip(), grade)
    return found


def _parsed(cell: object) -> object:
    """The list that a cell of a CSV or Parquet file holds as JSON; anything else as it is."""
    try:
        return json.loads(cell) if isinstance(cell, str) else cell
    except json.JSONDecodeError:
        return cell
