"""A label file as a spreadsheet that an expert takes away, and back: CSV or XLSX, one sheet an annotator.

An expert sees the items and their own labels; nobody else's, no judge's, not which agent answered.
"""

import csv
import io
from collections.abc import Sequence
from pathlib import Path

from judgec.errors import InputError, UserError
from judgec.labels.labels import DEFAULT_ANNOTATOR
from judgec.labels.review.sheet import Given, LabelSheet, reason_in
from judgec.labels.split.family import write_whole, writing_whole
from judgec.records.tasks.registry import TASKS
from judgec.table.formulas import guarded, unguarded
from judgec.table.rows.cells import as_grade, as_number, is_missing
from judgec.table.rows.columns import STRATUM, listed
from judgec.table.table import Row
from judgec.table.tables import read_table
from judgec.table.xlsx import sheet_writer

XLSX = ".xlsx"
WIDE, NARROW = 60, 16  # characters


def export_sheet(sheet: LabelSheet, path: Path, annotator: str) -> tuple[int, list[str]]:
    """Write the items with one annotator's labels.

    Args:
        sheet: The label file.
        path: ``.csv`` or ``.xlsx``.
        annotator: Whose sheet it is.

    Returns:
        How many of the items are still blank, and what the sheet could not hold, a sentence each.

    Raises:
        UserError: Another format, or more items than a workbook holds.
    """
    form, given = sheet.form, sheet.given(annotator)
    spec = TASKS[form.task]
    fields = [name for name in spec.inputs if name not in spec.hidden]
    fields = [name for name in fields if any(name in item.inputs for item in sheet.items)]
    header = ["item_id", *fields, *form.columns, "rationale", "annotator"]
    rows = [header]
    for item in sheet.items:
        label = given.get(item.item_id, Given({}))
        cells = [form.options[label.grades[aspect]] if aspect in label.grades else "" for aspect in form.aspects]
        rows.append([item.item_id, *(item.text(name) for name in fields), *cells, label.rationale, annotator])
    rows = [[guarded(cell) for cell in row] for row in rows]  # in workbooks too: they are saved as CSV later
    kind, notes = path.suffix.lower(), list[str]()
    if kind == XLSX:
        widths = [NARROW, *[WIDE] * len(fields), *[NARROW] * len(form.columns), WIDE, NARROW]
        choices = [form.options if name in form.columns else () for name in header]
        with writing_whole(path) as file, sheet_writer(file, "labels", widths=widths, choices=choices) as workbook:
            for row in rows:
                workbook.put(row)
        notes = [f"{path}: {note}" for note in workbook.notes]
    elif kind == ".csv":
        text = io.StringIO(newline="")
        csv.writer(text).writerows(rows)
        write_whole(path, "\ufeff" + text.getvalue())  # the mark makes Excel read UTF-8
    else:
        raise UserError(
            f"labels export {path}: format {kind or 'none'}; .csv and .xlsx are valid. Choose one of these."
        )
    return sum(len(given.get(item.item_id, Given({})).grades) < len(form.aspects) for item in sheet.items), notes


def import_sheet(
    sheet: LabelSheet, path: Path, annotator: str | None = None, *, among: Sequence[str] = ()
) -> dict[str, int]:
    """Put the labels of a sheet that came back into the file, all or none; returns how many, by annotator.

    Rows without a label change nothing. Texts in the sheet are not read: an item is known by its ``item_id``.

    Args:
        sheet: The label file.
        path: What ``read_table`` reads, or a workbook; needs ``item_id`` and the label columns.
        annotator: Whose labels they are; default: the sheet's ``annotator`` column.
        among: Whose they may be; empty for anybody's.

    Raises:
        InputError: A missing column, an unknown item, a grade off the scale, somebody who is not ``among``
            the annotators; each with its line.
    """
    table = read_table(str(path))
    sheet.widen(number for name in sheet.form.columns for number in map(as_number, table.column(name).values))
    form = sheet.form
    missing = [name for name in ("item_id", *form.columns) if name not in table.columns]
    if missing:
        raise InputError(
            [f"{path}:1: no column {listed(missing)}; the columns are {listed(table.columns)}. Export the sheet again."]
        )
    known = {item.item_id for item in sheet.items}
    labels: list[tuple[str, str, Given]] = []
    faults: list[str] = []
    for index, row in enumerate(table.rows):
        item_id = unguarded(_said(row, "item_id"))
        grades: dict[str, int] = {}
        for aspect, column in zip(form.aspects, form.columns, strict=True):
            if (said := as_grade(row.get(column))) is None:
                continue
            position = form.position(said)
            if position is None:
                valid = listed(form.options)
                faults.append(f"{table.where(index)}: {column} {said} is not on the scale; valid are {valid}. Fix it.")
            else:
                grades[aspect] = position
        if not grades:
            continue
        if item_id not in known:
            faults.append(f"{table.where(index)}: item {item_id!r} is not in {sheet.path.name}. Restore its item_id.")
        said_by = unguarded(_said(row, "annotator"))
        name = annotator or said_by or DEFAULT_ANNOTATOR
        if among and name not in among:
            seen = f"annotator {said_by}" if said_by else "no annotator"
            faults.append(f"{table.where(index)}: {seen}; --annotators names {listed(among)}. Name one of these.")
        labels.append((item_id, name, Given(grades, unguarded(reason_in(row).strip()), _said(row, STRATUM))))
    if faults:
        raise InputError(faults)
    sheet.save_all(labels)
    names = [name for _, name, _ in labels]
    return {name: names.count(name) for name in sorted(set(names))}


def _said(row: Row, column: str) -> str:
    value = row.get(column)
    return "" if is_missing(value) else str(value).strip()
