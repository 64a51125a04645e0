"""Reads a workbook with a sheet a grader: the same items and grades on each, and a sheet's name is who graded."""

import re
from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace

from judgec.errors import InputError
from judgec.records.label import REASON_NAMES
from judgec.records.tasks.registry import also_called, plain
from judgec.table.ladders import is_graded
from judgec.table.rows.cells import as_grade, as_id, as_text
from judgec.table.rows.columns import listed, renamed
from judgec.table.rows.heads import (
    ASPECTS,
    is_adjudicated,
    is_computed,
    is_counter,
    is_nobodys,
    is_summary,
    machine_words,
)
from judgec.table.rows.merged import ANSWERED, ASKED
from judgec.table.table import Row, SheetRow, Table

GRADER = "annotator"
SEVERAL = 2  # sheets
SAME = 0.5  # share of the smaller sheet's items that are in the first one, too
IDS = frozenset(map(plain, ("item_id", *also_called("item_id"))))
RATERS = frozenset(map(plain, (GRADER, *also_called(GRADER))))
GRADES = frozenset(map(plain, ("grade", *also_called("grade")))) | ASPECTS


@dataclass(frozen=True, slots=True)
class _Sheet:
    """A sheet with the heads that it shares with others.

    Args:
        name: As the workbook calls it.
        table: Its rows; ``Score Mia`` of a sheet Mia is ``Score``.
    """

    name: str
    table: Table

    @property
    def texts(self) -> list[str]:
        """The columns of questions and answers."""
        return [name for name in self.table.columns if set(plain(name).split("_")) & (ASKED | ANSWERED)]

    @property
    def ids(self) -> str | None:
        """The column that numbers or names the items, each once."""
        for name in self.table.columns:
            if plain(name) in IDS or is_counter(name):
                values = self.table.column(name).each(as_id)
                if len(set(values)) == len(values) and all(values):
                    return name
        return None

    @property
    def graded(self) -> list[str]:
        """The columns that hold numbers, or words that are grades, and that their heads say nothing against."""
        found = []
        for name in self.table.columns:
            values = [grade for cell in self.table.column(name).given() if (grade := as_grade(cell)) is not None]
            said = set(plain(name).split("_"))
            spared = is_counter(name) or is_nobodys(name) or machine_words(name) or said & {*REASON_NAMES}
            if values and not spared and plain(name) not in IDS and all(map(is_graded, values)):
                found.append(name)
        return found


def with_graders(tables: Mapping[str, Table]) -> Table:
    """The first of the sheets, with the rows of those that grade the same items, and a column of who graded.

    Args:
        tables: By sheet, the one that would be read alone first.

    Raises:
        InputError: The sheets hold the same items, and grades of several people each.
    """
    sheets = [_Sheet(name, _common(name, table)) for name, table in tables.items()]
    first, *others = sheets
    often = Counter(name for one in others for name in one.graded)
    graded = first.graded or [name for name, sheets_with in often.items() if sheets_with > 1]
    same = [found for one in others if (found := _with_texts(one, first, graded)) is not None]
    graders = [one for one in ([first] * bool(first.graded) + same) if not _sums_up(one.name)]
    if set(map(plain, first.table.columns)) & RATERS or not first.texts or len(graders) < SEVERAL:
        return next(iter(tables.values()))
    file = first.table.path
    if len(several := [name for name in graded if plain(name) not in GRADES]) > 1:
        seen = (
            f"{file}: sheets {listed(one.name for one in graders)} hold the same items with grades in {listed(several)}"
        )
        advice = f"Name one sheet: {file}#{graders[0].name}."
        raise InputError([f"{seen} each; who graded on which is not said. {advice}"])
    rows: list[Row] = [{**row, GRADER: one.name} for one in graders for row in one.table.rows]
    lines = [SheetRow(line, one.name) for one in graders for line in one.table.lines]
    columns = tuple(dict.fromkeys([*(name for one in graders for name in one.table.columns), GRADER]))
    left = [name for name in tables if name not in {one.name for one in graders}]
    note = f"Sheets {listed(one.name for one in graders)} hold the same items and are read as an annotator's each"
    note += f", not {listed(left)}" if left else ""
    kept = tuple(dict.fromkeys(said for one in graders for said in one.table.notes))
    notes = (*kept, f"{note}; {file}#SHEET names one.")
    return replace(first.table, columns=columns, rows=tuple(rows), lines=tuple(lines), notes=notes)


def _sums_up(name: str) -> bool:
    return is_computed(name) or is_adjudicated(name) or is_summary(name)


def _common(sheet: str, table: Table) -> Table:
    """The table with heads that name the sheet without its name: ``Mia`` and ``Score Mia`` of Mia's sheet."""
    said = re.compile(rf"[\s_.\-:(]*(?<!\w){re.escape(sheet)}(?!\w)(?:['\u2019]s)?[\s_.\-:)]*", re.IGNORECASE)
    new = {name: said.sub(" ", name).strip() or "grade" for name in table.columns if said.search(name)}
    kept = [name for name in table.columns if name not in new]
    return table if {*new.values()} & {*kept} or len({*new.values()}) < len(new) else renamed(table, new)


def _with_texts(one: _Sheet, first: _Sheet, graded: Collection[str]) -> _Sheet | None:
    """The sheet where it grades items of the first one, with texts where it names these by id; None of any other."""
    heads = {plain(name): name for name in first.table.columns}
    same = {name: heads[plain(name)] for name in one.table.columns if plain(name) in heads}
    table = renamed(one.table, {name: head for name, head in same.items() if name != head})
    found = _Sheet(one.name, table)
    if not {*found.graded} & {*graded} or {*graded} - {*table.columns}:
        return None
    if {*first.texts} <= {*table.columns}:
        ours, theirs = _keys(first.table, first.texts), _keys(table, first.texts)
        fits = len({*ours} & {*theirs}) >= max(1, SAME * min(len({*ours}), len({*theirs})))
        return found if fits else None
    ids = first.ids
    if ids is None or found.ids != ids:
        return None
    texts = {as_id(row[ids]): {name: row.get(name) for name in first.texts} for row in first.table.rows}
    rows = tuple({**texts.get(as_id(row.get(ids)), {}), **row} for row in table.rows)
    known = sum(as_id(row.get(ids)) in texts for row in table.rows)
    columns = tuple(dict.fromkeys((*first.texts, *table.columns)))
    return _Sheet(one.name, replace(table, columns=columns, rows=rows)) if known == len(table.rows) else None


def _keys(table: Table, columns: Sequence[str]) -> list[str]:
    return ["\0".join(" ".join(as_text(row.get(name)).split()) for name in columns) for row in table.rows]
