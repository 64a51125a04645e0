"""Rows of JSON with a list of objects, one field of which is a grade: each object becomes a row."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace

from judgec.records.tasks.registry import TASKS
from judgec.table.rows.cells import NUGGET_TEXT, as_grade, is_missing, text_in
from judgec.table.rows.columns import listed
from judgec.table.table import Row, Table

NOBODY = "(nobody named)"
MOST_GRADES = 12  # different words of a scale
LONGEST = 24  # characters of a grade or a name
APART = frozenset({"role", "from", "type", *NUGGET_TEXT})  # fields of a turn, a step, an image or a nugget


def with_records(table: Table) -> Table:
    """The table with a row for each object of the one column that lists grades; its small fields become columns.

    Where such a field says nothing and another object's does, it is ``(nobody named)``.
    """
    found = record_fields(table.columns, table.rows)
    if found is None:
        return table
    column, fields, grade = found
    rows: list[Row] = []
    lines: list[int] = []
    for row, line in zip(table.rows, table.lines, strict=True):
        rest = {name: value for name, value in row.items() if name != column}
        objects = _objects(row.get(column)) or [{}]
        for one in objects:
            named = {f: NOBODY if is_missing(one.get(f)) and one and f != grade else one.get(f) for f in fields}
            rows.append(rest | {f"{column}.{field}": value for field, value in named.items()})
        lines += [line] * len(objects)
    names = [f"{column}.{field}" for field in fields]
    columns = (*(name for name in table.columns if name != column), *names)
    note = f"Each object in {column} is a row: {listed(names)}."
    return replace(table, columns=columns, rows=tuple(rows), lines=tuple(lines), notes=(*table.notes, note))


def record_fields(columns: Collection[str], rows: Sequence[Row]) -> tuple[str, tuple[str, ...], str] | None:
    """The column that lists objects of which exactly one field is a grade, their small fields, and that one."""
    own = {name for spec in TASKS.values() for name in (*spec.inputs, *spec.labels)}
    held: dict[str, list[Mapping[str, object]]] = {}
    for row in rows:
        for name, value in row.items():
            if isinstance(value, list | dict) and name not in own:
                held.setdefault(name, []).extend(_objects(value))
    for name in (one for one in columns if one in held):
        objects = held[name]
        if not objects or any(APART & one.keys() or text_in(one) is not None for one in objects):
            continue
        fields = tuple(dict.fromkeys(field for one in objects for field in one))
        small = tuple(field for field in fields if all(_is_small(one.get(field)) for one in objects))
        graded = [field for field in small if _is_graded([one.get(field) for one in objects])]
        if len(graded) == 1:
            return name, small, graded[0]
    return None


def _is_small(value: object) -> bool:
    return (
        value is None
        or isinstance(value, bool | int | float)
        or (isinstance(value, str) and len(value) <= 10 * LONGEST)
    )


def _is_graded(values: Sequence[object]) -> bool:
    """True for numbers and truth values, of which several are different."""
    given = [value for value in values if not is_missing(value)]
    return len(set(map(str, given))) > 1 and all(not isinstance(as_grade(one), str) for one in given)


def _objects(value: object) -> list[Mapping[str, object]]:
    values = value if isinstance(value, list) else [value]
    return [one for one in values if isinstance(one, dict)] if all(isinstance(one, dict) for one in values) else []
