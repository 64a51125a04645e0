"""Reads a file of recorded verdicts: one row an item and judge."""

import json
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from types import MappingProxyType
from typing import Self

import numpy as np

from judgec.errors import InputError
from judgec.labels.rows.label_cells import label_cells
from judgec.labels.rows.ranges import Range
from judgec.raters.replies import is_form
from judgec.records.label import FloatArray, IntArray, JudgedCell, Task
from judgec.records.tasks.registry import TASKS, plain
from judgec.table.rows.cells import as_number, as_text, is_missing
from judgec.table.rows.columns import listed, named_here, renamed
from judgec.table.table import NO_CELL, Table, TableColumn
from judgec.table.tables import TableSource, name_of, opened

ITEM, JUDGE, GRADE, PREFERENCE, ACCEPT = "item_id", "judge", "grade", "preference", "accept"
VERDICT = frozenset({GRADE, PREFERENCE, ACCEPT})
ASPECT, ORDER, RUN, REPLY, COST, SECONDS = "aspect", "order", "run", "reply", "cost_usd", "seconds"
MODEL, PROMPT = "model", "prompt"
EVERY = ""  # the aspect of a prompt that is for all
ROLES = frozenset({"system", "user", "assistant", "developer"})
CODED = (ITEM, JUDGE, GRADE, PREFERENCE, ACCEPT, ASPECT, ORDER, RUN, REPLY, MODEL, PROMPT)
NUMBERS = (COST, SECONDS)
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
        numbers: ``cost_usd``, ``seconds`` and the ``p_<grade>`` columns that have a cell, NaN where there is none.
        unread: Of each of ``numbers`` the rows whose cell is something that is no number, where there are any.
        notes: What reading assumed.
        about: What ``judges.json`` says, by judge.
        order: What it says of the order of all judges whose entry says nothing.
    """

    table: Table
    coded: Mapping[str, TableColumn]
    numbers: Mapping[str, FloatArray]
    unread: Mapping[str, IntArray]
    notes: tuple[str, ...] = ()
    about: Mapping[str, AboutJudge] = field(default_factory=dict)
    order: str | None = None

    @property
    def path(self) -> str:
        """The file, or what messages call rows in memory."""
        return self.table.path

    @property
    def n_rows(self) -> int:
        """How many rows there are."""
        return len(self.table.rows)

    def where(self, row: int) -> str:
        """The place of a row as messages name it."""
        return self.table.where(row)

    def only(self, rows: IntArray) -> Self:
        """These rows alone, in rising order, at their places in the file."""
        coded = {name: column.only(rows) for name, column in self.coded.items()}
        kept = {name: np.flatnonzero(np.isin(rows, own)) for name, own in self.unread.items()}
        unread = {name: own for name, own in kept.items() if len(own)}
        numbers = {name: cells[rows] for name, cells in self.numbers.items()}
        there = {name: own for name, own in numbers.items() if name in unread or not np.isnan(own).all()}
        return replace(self, table=self.table.only(rows.tolist()), coded=coded, numbers=there, unread=unread)

    def require(self, *columns: str) -> None:
        """Refuse a file without one of these columns.

        Raises:
            InputError: Naming what is missing and what there is.
        """
        missing = [name for name in columns if name not in self.coded]
        if empty := [name for name in missing if name in self.table.columns]:
            raise InputError(
                [f"{self.path}:1: no row has a {listed(empty)}; fill in what judges said, or name another file."]
            )
        if missing:
            raise InputError(
                [
                    (
                        f"{self.path}:1: no {listed(missing)}; recorded verdicts have item_id, judge, and grade or "
                        f"preference, and the columns are {listed(self.table.columns)}. Rename with --map, for "
                        f"example --map THEIR_COLUMN={missing[0]}."
                    )
                ]
            )

    def missing_cells(self, name: str) -> list[str]:
        """A sentence for each row that lacks a cell which every row needs."""
        rows = np.flatnonzero(self.coded[name].codes == NO_CELL)
        return [
            f"{self.where(int(row))}: no {name}; every row needs one. Fill it in, or delete the row." for row in rows
        ]


def read_verdicts(
    source: TableSource,
    grades: Sequence[object],
    words: Collection[str] = (),
    rename: Mapping[str, str] = MappingProxyType({}),
) -> VerdictColumns:
    """Read a file of verdicts, in any format of a table.

    Args:
        source: The file, or rows in memory.
        grades: Of the scale: each may have a column ``p_<grade>``.
        words: For the winner, whose meaning somebody said.
        rename: Names of ours by names that the file may use.

    Raises:
        InputError: As ``table.tables.read_table``, and for a ``judges.json`` that is not one.
    """
    path = name_of(source)
    about, order = read_about(Path(path))
    wanted = (*NUMBERS, *(f"{CHANCE}{grade}" for grade in grades))
    table = opened(source)
    table = renamed(table, named_here(table.columns, rename))
    strange = [name for name in table.columns if name.startswith(CHANCE) and name not in wanted]
    notes = [f"{listed(strange)}: no grade of the scale, so not read as a probability"] if strange else []
    known = {*words, *map(str, grades)}
    coded = {name: table.column(name).made(_flat).present() for name in CODED if name in table.columns}
    numbers, unread = dict[str, FloatArray](), dict[str, IntArray]()
    for name in wanted:
        read = np.array([*map(_number, table.column(name).values), np.nan])[table.column(name).codes]
        odd = (read < 0) | np.isinf(read)
        if odd.any() or not np.isnan(read).all():
            numbers[name] = np.where(odd, np.nan, read)
        if odd.any():
            unread[name] = np.flatnonzero(odd)
    return VerdictColumns(
        table,
        {name: _said(one, known) if name in VERDICT else one for name, one in coded.items() if one.values},
        numbers,
        unread,
        tuple(notes),
        about,
        order,
    )


def _flat(cell: object) -> object:
    return as_text(cell) if isinstance(cell, (list, dict)) else cell


def _number(cell: object) -> float:
    """A number, NaN where there is no cell, infinity for what is neither."""
    if is_missing(cell):
        return np.nan
    try:
        if isinstance(cell, str) and "." not in cell:  # 0,75 as half of Europe writes it
            return float(cell.replace(",", "."))
        return float(cell)  # type: ignore[arg-type]  # whatever is no number raises
    except (TypeError, ValueError):
        return np.inf


def _said(column: TableColumn, known: Collection[str]) -> TableColumn:
    """A column of verdicts, missing where a mark says nothing, and with the numbers that 20% and 1,0 write."""
    cells = label_cells(column.values, said=known)
    if cells == tuple(column.values):
        return column
    place: dict[object, int] = {None: NO_CELL}
    codes = [place.setdefault(cell, len(place) - 1) for cell in cells]
    return TableColumn(
        np.array([*codes, NO_CELL], dtype=np.int32)[column.codes], [cell for cell in place if cell is not None]
    )


def as_recorded(
    path: str,
    judged: Mapping[str, Sequence[JudgedCell]],
    task: Task,
    aspects: Sequence[str],
    *,
    failed: bool = False,
) -> Table:
    """What judges said in a table of labels, as recorded verdicts: one row an item, judge and aspect, at its line.

    Args:
        path: The table, for messages.
        judged: By judge.
        task: What the items are for.
        aspects: Of the labels.
        failed: A judge was asked where its cell is empty, and failed; else it was not asked.
    """
    verdict = TASKS[task].labels[0] if not TASKS[task].by_aspect else GRADE
    several = len(aspects) > 1
    said = [(name, one) for name, own in judged.items() for one in own if failed or one.cell is not None]
    rows = [
        {ITEM: one.item_id, JUDGE: name, verdict: one.cell, **({ASPECT: one.aspect} if several else {}), **one.more}
        for name, one in said
    ]
    orders = [ORDER] if any(ORDER in one.more for _, one in said) else []
    columns = (ITEM, JUDGE, verdict, *([ASPECT] if several else []), *orders, REPLY, *NUMBERS)
    return Table(path, columns, tuple(rows), tuple(one.line for _, one in said))


def read_about(path: Path) -> tuple[dict[str, AboutJudge], str | None]:
    """Reads what ``STEM.judges.json`` beside the file says of each judge, and of the order of all; nothing without one.

    Raises:
        InputError: When it is not an object of objects, beside ``"order"``, or that is another one; or a range is none.
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
    said = [order, *(one.get(ORDER) for one in content.values())]
    if strange := [one for one in said if one is not None and plain(str(one)) not in ORDERS]:
        raise InputError(
            [f"{file}:1: order {strange[0]!r}; {' or '.join(map(repr, ORDERS))} is valid. Correct it: {EXPLAINED}."]
        )
    about = {
        str(name): AboutJudge(
            _text(one.get("model")),
            _prompt(one.get("prompt")),
            _text(one.get("note")) or "",
            messages_of(one.get("prompt")),
            _range(one["range"], f"{file}:1: {name}") if "range" in one else None,
            None if one.get(ORDER) is None else plain(str(one[ORDER])),
            _verdict(one["verdict"], f"{file}:1: {name}") if "verdict" in one else None,
        )
        for name, one in content.items()
    }
    return about, None if order is None else plain(order)


def _range(value: object, where: str) -> Range:
    ends = [as_number(one) for one in value] if isinstance(value, list) else []
    worst, best = ends if len(ends) == 2 else (None, None)
    if worst is None or best is None or worst == best:
        raise InputError([f"{where}: range is {value!r}; [WORST, BEST] such as [0, 1] is valid. Fix the file."])
    return Range(worst, best)


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
