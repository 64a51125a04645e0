"""A column that lists the failure modes of each answer, made into one column a mode."""

import json
from collections.abc import Iterable
from dataclasses import replace

from judgec.errors import InputError
from judgec.records.tasks.registry import TASKS, finds_modes
from judgec.records.tasks.spec import MODE_PREFIX, PREFIXES
from judgec.table.rows.cells import is_missing
from judgec.table.rows.columns import MODES_LIST as LIST
from judgec.table.rows.columns import aspect_columns
from judgec.table.table import Table

_VALID = 'a list of names, or names separated by commas, is needed; [] where there are none. Write ["hallucination"]'


def with_modes(table: Table, task: str | None, known: Iterable[str] = ()) -> Table:
    """The table with ``mode.NAME`` columns in place of the column ``modes``; others are as they were.

    A list says 1 of each mode that it names and 0 of all others: those of any row, of columns of their own, and known
    ones. An empty cell says nothing. Where a row has a cell of its own for a mode, that counts.

    Args:
        table: Under judgec's names of columns.
        task: Which task the labels are of, or None where the columns are to tell.
        known: Further modes.

    Raises:
        InputError: Every cell that is no list of names.
    """
    other = task is not None and not finds_modes(task)
    if LIST not in table.columns or other or (task is None and _labelled_otherwise(table)):
        return table
    faults: list[str] = []
    said: list[tuple[str, ...] | None] = []
    for index, row in enumerate(table.rows):
        try:
            said.append(_names(row.get(LIST)))
        except ValueError as fault:
            faults.append(f"{table.where(index)}: {LIST} is {fault}; {_VALID}.")
    if faults:
        raise InputError(faults)
    own = [name.removeprefix(MODE_PREFIX) for name in aspect_columns(table.columns, MODE_PREFIX)]
    names = dict.fromkeys([*own, *sorted({name for one in said for name in one or ()} | set(known))])
    rows = []
    for row, listed in zip(table.rows, said, strict=True):
        cells = {} if listed is None else {f"{MODE_PREFIX}{name}": int(name in listed) for name in names}
        rest = {name: value for name, value in row.items() if name != LIST}
        given = {name: rest[name] for name in cells if not is_missing(rest.get(name))}
        rows.append(rest | cells | given)
    columns = [name for name in table.columns if name != LIST]
    columns += [column for name in names if (column := f"{MODE_PREFIX}{name}") not in columns]
    return replace(table, columns=tuple(columns), rows=tuple(rows))


def _labelled_otherwise(table: Table) -> bool:
    """True if columns hold labels of another task, beside which a list may be anything."""
    others = {name for spec in TASKS.values() if not spec.by_aspect for name in spec.labels}
    graded = any(name.startswith(PREFIXES) and not name.startswith(MODE_PREFIX) for name in table.columns)
    return graded or not others.isdisjoint(table.columns)


def _names(value: object) -> tuple[str, ...] | None:
    """The names in a cell, None where it is empty.

    Raises:
        ValueError: It holds something else.
    """
    if not isinstance(value, list | tuple) and (is_missing(value) or not str(value).strip()):
        return None  # an empty list says that there are none
    given = value
    if isinstance(value, str):
        if value.lstrip().startswith("["):
            try:
                given = json.loads(value)
            except json.JSONDecodeError as error:
                raise ValueError(f"no JSON ({error.msg} at {error.pos})") from None
        else:
            given = value.split(",")
    if not isinstance(given, list | tuple) or not all(isinstance(name, str) and name.strip() for name in given):
        raise ValueError(repr(value)[:60])
    return tuple(name.strip() for name in given)
