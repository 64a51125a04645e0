"""Reads a file of recorded verdicts: one row an item and judge."""

import json
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from judgec.errors import InputError
from judgec.labels.reading import NOTHING_SAID, Reading
from judgec.labels.rows.label_cells import label_cells
from judgec.labels.rows.ranges import Range
from judgec.raters.replies import is_form
from judgec.records.counts import plural
from judgec.records.label import FloatArray, IntArray, JudgedCell, Task
from judgec.records.tasks.registry import TASKS, plain
from judgec.table.rows.cells import as_number, as_text, is_missing
from judgec.table.rows.columns import listed, named_here, renamed
from judgec.table.table import NO_CELL, Table, TableColumn
from judgec.table.tables import TableSource, name_of, opened

ITEM, JUDGE, GRADE, PREFERENCE, ACCEPT = "item_id", "judge", "grade", "preference", "accept"
VERDICT = frozenset({GRADE, PREFERENCE, ACCEPT})
ASPECT, ORDER, RUN, REPLY, COST = "aspect", "order", "run", "reply", "cost_usd"
MODEL, PROMPT = "model", "prompt"
EVERY = ""  # the aspect of a prompt that is for all
ROLES = frozenset({"system", "user", "assistant", "developer"})
CODED = (ITEM, JUDGE, GRADE, PREFERENCE, ACCEPT, ASPECT, ORDER, RUN, REPLY, MODEL, PROMPT)
CHANCE = "p_"  # before a grade: the recorded probability of it
ABOUT = "judges.json"  # STEM.judges.json beside STEM.verdicts.* or STEM.*
VERDICTS = ".verdicts"
A_FORM = "a text with {v} in the place of the grade, such as 'Score: {v}', is valid"
AS_SHOWN, MAPPED = ORDERS = ("as_shown", "mapped")  # what a verdict on a pair in the other order says
EXPLAINED = "as shown, A is the answer that stood first; mapped back, A is answer_a in both orders"


@dataclass(frozen=True, slots=True)
class AboutJudge:
    """Facts known of a recorded judge beside its verdicts.

    Args:
        model: The language model, or None.
        prompt: Its prompt as text, or None; of several aspects their prompts one below the other.
        note: Whatever else somebody wrote.
        messages: The prompt as it was sent: role and text of each turn, by aspect, ``""`` for all; empty when unknown.
        range: From the worst to the best of its numbers, where these are not grades of the scale.
        order: What a verdict on a pair in the other order means, a key of ``ORDERS``; None where nobody says.
        verdict: The form of its replies, with ``{v}`` in the place of the grade, which alone is read; None for any.
    """

    model: str | None = None
    prompt: str | None = None
    note: str = ""
    messages: Mapping[str, tuple[tuple[str, str], ...]] = field(default_factory=dict)
    range: Range | None = None
    order: str | None = None
    verdict: str | None = None


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


def read_about(path: Path) -> tuple[dict[str, AboutJudge], str | None]:
    """Reads what ``STEM.judges.json`` beside the file says of each judge, and of the order of all; nothing without one.

    Raises:
        InputError: When it is not an object of objects, beside ``"order"``, or that is another one.
        UserError: A range is none.
    """
    stems = dict.fromkeys((path.name.partition(VERDICTS)[0], path.stem))
    file = next((one for name in stems if (one := path.parent / f"{name}.{ABOUT}").is_file()), None)
    if file is None:
        return {}, None
    try:
        content = json.loads(file.read_text(encoding="utf-8-sig"))
    except (ValueError, UnicodeDecodeError) as error:
        line = getattr(error, "lineno", 1)
        raise InputError([f"{file}:{line}: not JSON in UTF-8; an object of judges is needed. Fix the file."]) from error
    order = content.pop(ORDER) if isinstance(content, dict) and isinstance(content.get(ORDER), str) else None
    if not isinstance(content, dict) or not all(isinstance(one, dict) for one in content.values()):
        raise InputError(
            [f"{file}:1: not an object of objects; {{JUDGE: {{model, prompt}}}} is valid. Fix the file, or remove it."]
        )
    orders = [plain(str(one)) for one in (order, *(own.get(ORDER) for own in content.values())) if one is not None]
    if strange := [one for one in orders if one not in ORDERS]:
        raise InputError(
            [f"{file}:1: order {strange[0]!r}; {' or '.join(map(repr, ORDERS))} is valid. Correct it: {EXPLAINED}."]
        )
    about = {
        name: AboutJudge(
            _text(one.get("model")),
            _prompt(one.get("prompt")),
            _text(one.get("note")) or "",
            messages_of(one.get("prompt")),
            Range.parse(_ends(one["range"]), f"{file}:1: {name}") if "range" in one else None,
            None if one.get(ORDER) is None else plain(str(one[ORDER])),
            _verdict(one["verdict"], f"{file}:1: {name}") if "verdict" in one else None,
        )
        for name, one in content.items()
    }
    return about, None if order is None else plain(order)


def _ends(value: object) -> str:
    return "..".join(map(str, value)) if isinstance(value, list) else str(value)


def _verdict(value: object, where: str) -> str:
    if not isinstance(value, str) or not is_form(value):
        raise InputError([f"{where}: verdict is {value!r}; {A_FORM}. Fix the file."])
    return value


def _text(value: object) -> str | None:
    return None if is_missing(value) else as_text(value)


def _prompt(value: object) -> str | None:
    """A prompt as one text: a system and a user turn, or one prompt an aspect, under their names."""
    if isinstance(value, dict):
        return "\n\n".join(f"[{name}]\n{_prompt(one)}" for name, one in value.items() if not is_missing(one)) or None
    return _text(value)


def messages_of(prompt: object) -> dict[str, tuple[tuple[str, str], ...]]:
    """A prompt as it was sent: one text, turns by role, or either of these by aspect; nothing where there is none.

    A turn may be one text for all aspects, or one for each: ``{"system": TEXT, "user": {ASPECT: TEXT}}``.
    """
    if not isinstance(prompt, dict):
        return {} if is_missing(prompt) else {EVERY: (("user", as_text(prompt)),)}
    known = {str(name): one for name, one in prompt.items() if not is_missing(one)}
    if not known or not known.keys() <= ROLES:
        return {name: found[EVERY] for name, one in known.items() if EVERY in (found := messages_of(one))}
    texts = {role: one if isinstance(one, dict) else {EVERY: one} for role, one in known.items()}
    aspects = dict.fromkeys(str(name) for own in texts.values() for name in own)
    if len(aspects) > 1:
        aspects.pop(EVERY, None)
    turns = {
        aspect: tuple((role, as_text(own.get(aspect, own.get(EVERY)))) for role, own in texts.items())
        for aspect in aspects
        if all(not is_missing(own.get(aspect, own.get(EVERY))) for own in texts.values())
    }
    return {aspect: one for aspect, one in turns.items() if one}
