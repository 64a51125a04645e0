"""Reads a file of recorded verdicts: one row an item and judge."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from judgec.errors import InputError, UserError
from judgec.labels.reading import NOTHING_SAID, Reading
from judgec.labels.rows.label_cells import label_cells
from judgec.raters.about_judges import ORDER, AboutJudge, messages_of, read_about
from judgec.records.counts import plural
from judgec.records.label import FloatArray, IntArray, JudgedCell, Task
from judgec.records.tasks.registry import TASKS
from judgec.table.rows.cells import as_number, as_text, is_missing
from judgec.table.rows.columns import listed, named_here, renamed, shortly
from judgec.table.table import NO_CELL, Table, TableColumn
from judgec.table.tables import TableSource, name_of, opened

ITEM, JUDGE, GRADE, PREFERENCE, ACCEPT = "item_id", "judge", "grade", "preference", "accept"
VERDICT = frozenset({GRADE, PREFERENCE, ACCEPT})
ASPECT, RUN, REPLY, COST = "aspect", "run", "reply", "cost_usd"
MODEL, PROMPT = "model", "prompt"
CODED = (ITEM, JUDGE, GRADE, PREFERENCE, ACCEPT, ASPECT, ORDER, RUN, REPLY, MODEL, PROMPT)
CHANCE = "p_"  # before a grade: the recorded probability of it


@dataclass(frozen=True)
class VerdictColumns:
    """A file of recorded verdicts as columns.

    Args:
        table: The rows.
        coded: Its columns that have a cell and are no numbers, by name.
        numbers: ``cost_usd`` and the ``p_<grade>`` columns that have a cell: NaN where there is none, infinite where it
            is no number from 0.
        notes: What reading assumed.
        about: What ``judges.json`` says, by judge.
        order: What it says of the order of all judges whose entry says nothing.
    """

    table: Table
    coded: Mapping[str, TableColumn]
    numbers: Mapping[str, FloatArray]
    notes: tuple[str, ...] = ()
    about: Mapping[str, AboutJudge] = field(default_factory=dict)
    order: str | None = None
    _ids: dict[str, tuple[IntArray, list[str]]] = field(default_factory=dict, init=False, repr=False)

    @property
    def path(self) -> str:
        """The file, or what messages call rows in memory."""
        return self.table.path

    def where(self, rows: Sequence[int] | IntArray) -> str:
        """The place of the first of these rows as messages name it, and that more are below."""
        return f"{self.table.where(int(np.min(rows)))}{' and below' if len(rows) > 1 else ''}"

    def column(self, name: str) -> TableColumn:
        """A column; without a cell where the file has none of that name."""
        none = np.full(0 if name in self.coded else len(self.table.rows), NO_CELL, dtype=np.int32)
        return self.coded.get(name, TableColumn(none, []))

    def ids(self, name: str) -> tuple[IntArray, list[str]]:
        """The codes and different cells of a column of identifiers, read once."""
        if name not in self._ids:
            self._ids[name] = self.column(name).as_ids()
        return self._ids[name]

    def of_judges(self, wanted: str | Collection[str] | None) -> IntArray:
        """The rows of judges by name or pattern; a ``UserError`` where one is not there."""
        codes, names = self.ids(JUDGE)
        by_name = () if wanted is None or isinstance(wanted, str) else wanted
        matches = [fnmatchcase(one, wanted) if isinstance(wanted, str) else one in (by_name or names) for one in names]
        lacks = [name for name in by_name if name not in names]
        if lacks or not any(matches):
            said = f"#{wanted}: matches none" if isinstance(wanted, str) else f"--judges {listed(lacks)}: none"
            raise UserError(f"{said} of the judges in {self.path}, {shortly(sorted(names))}. Correct the name.")
        return np.flatnonzero(np.array(matches)[codes])

    def cell(self, name: str, row: int) -> object:
        """The cell of a row; None where there is none."""
        return next(iter(self.column(name).only(np.array([row])).values), None)

    def texts(self, name: str) -> NDArray[np.object_]:
        """A column as texts, empty where a row has none."""
        column = self.column(name)
        return np.array([*map(as_text, column.values), ""], dtype=object)[column.codes]

    def described(self, judge: str, row: int) -> AboutJudge:
        """Facts known of a judge: ``judges.json``, else the columns ``model`` and ``prompt`` of its first row."""
        model, prompt = (None if (cell := self.cell(what, row)) is None else str(cell) for what in (MODEL, PROMPT))
        return self.about.get(judge) or AboutJudge(model, prompt, messages=messages_of(prompt))

    def number(self, name: str, rows: IntArray) -> FloatArray:
        """The numbers of a column in these rows, NaN where there is none."""
        cells = self.numbers[name][rows] if name in self.numbers else np.full(len(rows), np.nan)
        return np.where(np.isinf(cells), np.nan, cells)

    def unread(self, rows: IntArray) -> list[str]:
        """Notes on costs that are unknown, and on cells among these rows that are no number from 0."""
        notes = []
        for name, cells in self.numbers.items():
            odd, none = rows[np.isinf(cells[rows])], rows[~np.isfinite(cells[rows])]
            if name == COST and len(none) and not np.isnan(cells[rows]).all():
                first = f", {len(odd):,} of them no number (the first is {self.where(odd[:1])})" if len(odd) else ""
                of = f"{len(none):,} of {plural(len(rows), 'row', thousands=True)} without a {COST}"
                notes.append(f"{self.where(none)}: {of}{first}: unknown, not 0")
            elif name != COST and len(odd):
                notes.append(f"{self.where(odd)}: {len(odd):,} cells of {name} are no probability: left out")
        return notes

    def require(self, *columns: str) -> None:
        """Refuse a file without one of these columns, or with a row that lacks an item or judge.

        Raises:
            InputError: Naming what is missing and what there is.
        """
        if missing := [name for name in columns if name not in self.coded]:
            kind = "row has a" if {*missing} <= {*self.table.columns} else "column"
            seen = f"{self.path}:1: no {kind} {listed(missing)}; item_id, judge, and grade or preference are needed"
            typed = f"rename with --map, for example --map THEIR_COLUMN={missing[0]}"
            raise InputError([f"{seen}, and the columns are {listed(self.table.columns)}. Fill it in, or {typed}."])
        none = {name: np.flatnonzero(self.coded[name].codes == NO_CELL).tolist() for name in (ITEM, JUDGE)}
        if any(none.values()):
            raise InputError(
                [
                    f"{self.where([row])}: no {name}; every row needs one. Fill it in, or delete the row."
                    for name, rows in none.items()
                    for row in rows
                ]
            )


def read_verdicts(source: TableSource, grades: Sequence[object], reading: Reading = NOTHING_SAID) -> VerdictColumns:
    """Read a file of verdicts, in any format of a table.

    Args:
        source: The file, or rows in memory.
        grades: Of the scale: each may have a column ``p_<grade>``.
        reading: Names of the file's columns, and words for the winner whose meaning somebody said.

    Raises:
        InputError: As ``table.tables.read_table``, and for a ``judges.json`` that is not one.
    """
    about, order = read_about(Path(name_of(source)))
    table = opened(source)
    table = renamed(table, named_here(table.columns, reading.columns))
    wanted = (COST, *(f"{CHANCE}{grade}" for grade in grades))
    strange = [name for name in table.columns if name.startswith(CHANCE) and name not in wanted]
    notes = [f"{listed(strange)}: no grade of the scale, so not read as a probability"] if strange else []
    coded = {name: table.column(name).made(_flat).present() for name in CODED if name in table.columns}
    known = {*reading.words, *map(str, grades)}
    read = {name: table.column(name) for name in wanted if name in table.columns}
    numbers = {name: np.array([*map(_number, one.values), np.nan])[one.codes] for name, one in read.items()}
    return VerdictColumns(
        table,
        {name: _said(one, known) if name in VERDICT else one for name, one in coded.items() if one.values},
        {name: cells for name, cells in numbers.items() if not np.isnan(cells).all()},
        tuple(notes),
        about,
        order,
    )


def _flat(cell: object) -> object:
    return as_text(cell) if isinstance(cell, (list, dict)) else cell


def _number(cell: object) -> float:
    """A number from 0, NaN where there is no cell, infinity for what is neither."""
    if is_missing(cell):
        return np.nan
    comma = isinstance(cell, str) and "." not in cell  # 0,75 as half of Europe writes it
    number = as_number(str(cell).replace(",", ".") if comma else cell)
    return np.inf if number is None or number < 0 else number


def _said(column: TableColumn, known: Collection[str]) -> TableColumn:
    """A column of verdicts, missing where a mark says nothing, and with the numbers that 20% and 1,0 write."""
    return TableColumn(column.codes, [*label_cells(column.values, said=known)]).present()


def as_recorded(path: str, judged: Mapping[str, Sequence[JudgedCell]], task: Task, *, failed: bool = False) -> Table:
    """What judges said in a table of labels, as recorded verdicts: one row an item, judge and aspect, at its line.

    Args:
        path: The table, for messages.
        judged: By judge.
        task: What the items are for.
        failed: A judge was asked where its cell is empty, and failed; else it was not asked.
    """
    verdict = GRADE if TASKS[task].by_aspect else TASKS[task].labels[0]
    said = [(name, one) for name, own in judged.items() for one in own if failed or one.cell is not None]
    rows = [{ITEM: one.item_id, JUDGE: name, verdict: one.cell, ASPECT: one.aspect, **one.more} for name, one in said]
    columns = dict.fromkeys((ITEM, JUDGE, verdict, *(name for row in rows for name in row)))
    return Table(path, tuple(columns), tuple(rows), tuple(one.line for _, one in said))
