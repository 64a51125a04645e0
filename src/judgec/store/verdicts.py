"""Reads a file of recorded verdicts into columns: one row an item and judge, a million rows in seconds.

A cell is kept as a number into the list of its column's different values, and rows are read a few thousand at a time,
so that a large file never lies in memory as Python rows. The line of each row is kept for the messages that name it.
"""

import csv
import json
import math
import re
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import islice
from pathlib import Path

import numpy as np
import orjson
from numpy.typing import NDArray

from judgec.errors import InputError
from judgec.records.label import FloatArray, IntArray, Task
from judgec.store.rows.cells import as_id, as_text, is_missing
from judgec.store.rows.columns import listed
from judgec.store.rows.items import collect_items
from judgec.store.table import Row, Table, place
from judgec.store.tables import DELIMITERS, TableSource, name_of, opened
from judgec.tasks.registry import TASKS

ITEM, JUDGE, GRADE, PREFERENCE, ACCEPT = "item_id", "judge", "grade", "preference", "accept"
ASPECT, ORDER, RUN, REPLY, COST, SECONDS = "aspect", "order", "run", "reply", "cost_usd", "seconds"
MODEL, PROMPT = "model", "prompt"
EVERY = ""  # the aspect of a prompt that is for all
ROLES = frozenset({"system", "user", "assistant", "developer"})
CODED = (ITEM, JUDGE, GRADE, PREFERENCE, ACCEPT, ASPECT, ORDER, RUN, REPLY, MODEL, PROMPT)
NUMBERS = (COST, SECONDS)
CHANCE = "p_"  # before a grade: the recorded probability of it
CHUNK = 16384  # rows held as Python values at a time
ABOUT = "judges.json"  # STEM.judges.json beside STEM.verdicts.* or STEM.*
VERDICTS = ".verdicts"
NO_CELL = -1
LINE_END = re.compile("\r\n|\r|\n")


@dataclass(frozen=True, slots=True)
class CodedColumn:
    """A column whose cells repeat.

    Args:
        codes: Position of each row's cell in ``values``, shape (n_rows,); -1 where it is missing.
        values: The different cells.
    """

    codes: NDArray[np.int32]
    values: list[object]

    def as_ids(self) -> tuple[IntArray, list[str]]:
        """The same with cells as identifiers, of which 7 and "7" are one."""
        names: dict[str, int] = {}
        code = np.array([names.setdefault(as_id(value), len(names)) for value in self.values], dtype=np.int64)
        return np.append(code, NO_CELL)[self.codes], list(names)

    def only(self, rows: IntArray) -> "CodedColumn":
        """The cells of these rows, with the values that they have."""
        codes = self.codes[rows]
        used = np.unique(codes[codes != NO_CELL])
        place = np.full(len(self.values) + 1, NO_CELL, dtype=np.int32)
        place[used] = np.arange(len(used), dtype=np.int32)
        return CodedColumn(place[codes], [self.values[code] for code in used])

    def texts(self) -> tuple[IntArray, list[str]]:
        """The codes, and the different cells as text."""
        return self.codes.astype(np.int64), [as_text(value) for value in self.values]


@dataclass(frozen=True, slots=True)
class AboutJudge:
    """What is known of a recorded judge beside its verdicts.

    Args:
        model: The language model, or None.
        prompt: Its prompt as text, or None; of several aspects their prompts one below the other.
        note: Whatever else somebody wrote.
        messages: The prompt as it was sent: role and text of each turn, by aspect, ``""`` for all; empty when unknown.
    """

    model: str | None = None
    prompt: str | None = None
    note: str = ""
    messages: Mapping[str, tuple[tuple[str, str], ...]] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Unread:
    """Rows whose cell of a column of numbers holds something else, in order; one at least."""

    rows: IntArray = field(repr=False)

    @property
    def count(self) -> int:
        """How many there are."""
        return len(self.rows)

    @property
    def first(self) -> int:
        """The row of the first."""
        return int(self.rows[0])


@dataclass(frozen=True)
class VerdictColumns:
    """A file of recorded verdicts as columns.

    Args:
        path: The file, or what messages call rows in memory.
        n_rows: How many rows there are.
        lines: Where each row begins, as in ``store.table.Table``, shape (n_rows,).
        by_line: True when ``lines`` are lines of text.
        coded: The columns that have a cell, by name.
        numbers: ``cost_usd``, ``seconds`` and the ``p_<grade>`` columns, NaN where there is no number.
        unread: Of each of ``numbers`` the cells that hold something that is no number, where there are any.
        names: All columns of the first row.
        notes: What reading assumed.
        about: What ``judges.json`` says, by judge.
    """

    path: str
    n_rows: int
    lines: IntArray = field(repr=False)
    by_line: bool
    coded: Mapping[str, CodedColumn]
    numbers: Mapping[str, FloatArray]
    unread: Mapping[str, Unread]
    names: tuple[str, ...]
    notes: tuple[str, ...] = ()
    about: Mapping[str, AboutJudge] = field(default_factory=dict)

    def only(self, rows: IntArray) -> "VerdictColumns":
        """These rows alone, in rising order, at their places in the file."""
        unread = {}
        for name, one in self.unread.items():
            kept = np.flatnonzero(np.isin(rows, one.rows))
            if len(kept):
                unread[name] = Unread(kept)
        numbers = {name: cells[rows] for name, cells in self.numbers.items()}
        return replace(
            self,
            n_rows=len(rows),
            lines=self.lines[rows],
            coded={name: column.only(rows) for name, column in self.coded.items()},
            numbers={name: one for name, one in numbers.items() if name in unread or not np.isnan(one).all()},
            unread=unread,
        )

    def where(self, row: int) -> str:
        """The place of a row as messages name it."""
        return place(self.path, int(self.lines[row]), by_line=self.by_line)

    def require(self, *columns: str) -> None:
        """Refuse a file without one of these columns.

        Raises:
            InputError: Naming what is missing and what there is.
        """
        missing = [name for name in columns if name not in self.coded]
        if empty := [name for name in missing if name in self.names]:
            raise InputError(
                [f"{self.path}:1: no row has a {listed(empty)}; fill in what judges said, or name another file."]
            )
        if missing:
            raise InputError(
                [
                    (
                        f"{self.path}:1: no {listed(missing)}; recorded verdicts have item_id, judge, and grade or "
                        f"preference, and the columns are {listed(self.names)}. Rename the column in the file."
                    )
                ]
            )

    def missing_cells(self, name: str) -> list[str]:
        """A sentence for each row that lacks a cell which every row needs."""
        rows = np.flatnonzero(self.coded[name].codes == NO_CELL)
        return [
            f"{self.where(int(row))}: no {name}; every row needs one. Fill it in, or delete the row." for row in rows
        ]


def read_verdicts(source: TableSource, grades: Sequence[object]) -> VerdictColumns:
    """Read a file of verdicts, in any format of a table.

    Args:
        source: The file, or rows in memory.
        grades: Of the scale: each may have a column ``p_<grade>``.

    Raises:
        InputError: As ``store.tables.read_table``, and for a ``judges.json`` that is not one.
    """
    path = name_of(source)
    about = read_about(Path(path))
    return _gathered(source, [f"{CHANCE}{grade}" for grade in grades]).columns(path, about)


def from_columns(table: Table, names: Sequence[str], task: Task, aspects: Sequence[str]) -> Table:
    """Columns of a file of items as recorded verdicts: one row an item, judge and aspect, at its line.

    The column ``gpt-4`` holds a judge's grades, of several aspects ``gpt-4.ASPECT``; ``gpt-4.reply``,
    ``gpt-4.cost_usd`` and ``gpt-4.seconds`` what else is known. An empty cell is a judge that was not asked. Rows of
    one item (several annotators) must hold the same verdict.

    Args:
        table: With judgec's names of columns.
        names: The judges.
        task: What the items are for.
        aspects: Of the labels.

    Raises:
        InputError: A column that is not there, or two verdicts of a judge on one item.
    """
    verdict = TASKS[task].labels[0] if not TASKS[task].by_aspect else GRADE
    several = len(aspects) > 1
    columns = {name: {a: f"{name}.{a}" if several else name for a in aspects} for name in names}
    missing = [column for own in columns.values() for column in own.values() if column not in table.columns]
    if missing:
        raise InputError(
            [
                (
                    f"{table.path}:1: no column {listed(missing)}; the columns are {listed(table.columns)}. "
                    "Correct --verdicts."
                )
            ]
        )
    collected = collect_items(table, task)
    rows: list[Row] = []
    lines: list[int] = []
    first: dict[tuple[int, str, str], tuple[object, int]] = {}
    faults = []
    for index, (row, item) in enumerate(zip(table.rows, collected.item_of, strict=True)):
        for name, own in columns.items() if item >= 0 else ():
            more = {what: row.get(f"{name}.{what}") for what in (REPLY, *NUMBERS)}
            for aspect, column in own.items():
                cell = row.get(column)
                if is_missing(cell):
                    continue
                known, at = first.setdefault((item, name, aspect), (cell, index))
                if at == index:
                    place = {ITEM: collected.items[item].item_id, JUDGE: name, verdict: cell}
                    rows.append({**place, **({ASPECT: aspect} if several else {}), **more})
                    lines.append(table.lines[index])
                elif known != cell:
                    faults.append(
                        f"{table.where(index)}: {column} is {cell} here and {known} at {table.where(at)}, of the same "
                        "item; all rows of one item must have one verdict of a judge. Fix one of them."
                    )
    if faults:
        raise InputError(faults)
    names_of_columns = (ITEM, JUDGE, verdict, *([ASPECT] if several else []), REPLY, *NUMBERS)
    return Table(table.path, names_of_columns, tuple(rows), tuple(lines), table.by_line)


def read_about(path: Path) -> dict[str, AboutJudge]:
    """What ``STEM.judges.json`` beside the file says of each judge; nothing where there is none.

    Raises:
        InputError: When it is not an object of objects.
    """
    stems = dict.fromkeys((path.name.partition(VERDICTS)[0], path.stem))
    file = next((one for name in stems if (one := path.parent / f"{name}.{ABOUT}").is_file()), None)
    if file is None:
        return {}
    try:
        content = json.loads(file.read_text(encoding="utf-8-sig"))
    except (ValueError, UnicodeDecodeError) as error:
        line = getattr(error, "lineno", 1)
        raise InputError([f"{file}:{line}: not JSON in UTF-8; an object of judges is needed. Fix the file."]) from error
    if not isinstance(content, dict) or not all(isinstance(one, dict) for one in content.values()):
        raise InputError(
            [f"{file}:1: not an object of objects; {{JUDGE: {{model, prompt}}}} is valid. Fix the file, or remove it."]
        )
    return {
        str(name): AboutJudge(
            _text(one.get("model")),
            _prompt(one.get("prompt")),
            _text(one.get("note")) or "",
            messages_of(one.get("prompt")),
        )
        for name, one in content.items()
    }


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


class _Coder:
    """Numbers the different cells of a column as they come."""

    def __init__(self) -> None:
        self.index: dict[object, int] = {None: NO_CELL}
        self.pieces: list[NDArray[np.int32]] = []
        self.n = 0

    def fill(self, rows: int) -> None:
        """No cells, up to so many rows."""
        if rows > self.n:
            self.pieces.append(np.full(rows - self.n, NO_CELL, dtype=np.int32))
            self.n = rows

    def add(self, cells: Sequence[object], n: int) -> None:
        """Cells of the next rows."""
        index = self.index
        self.n += n
        try:
            codes = [index[cell] if cell in index else self._new(cell) for cell in cells]
        except TypeError:  # a list or an object, which cannot be looked up
            codes = [self._new(cell if isinstance(cell, str | int | float | None) else as_text(cell)) for cell in cells]
        self.pieces.append(np.fromiter(codes, dtype=np.int32, count=n))

    def _new(self, cell: object) -> int:
        if cell not in self.index:
            self.index[cell] = NO_CELL if is_missing(cell) else len(self.index)
        return self.index[cell]

    def column(self) -> CodedColumn | None:
        """The column, or None where no row has a cell."""
        codes = np.concatenate(self.pieces) if self.pieces else np.empty(0, dtype=np.int32)
        known = {code: cell for cell, code in self.index.items() if code != NO_CELL}
        if not known:
            return None
        places = np.full(len(self.index) + 1, NO_CELL, dtype=np.int32)
        places[list(known)] = np.arange(len(known), dtype=np.int32)
        return CodedColumn(places[codes], list(known.values()))


class _Parser:
    """Reads the numbers of a column as they come."""

    def __init__(self) -> None:
        self.pieces: list[FloatArray] = []
        self.unread: list[IntArray] = []  # rows of cells that hold something else
        self.n = 0

    def fill(self, rows: int) -> None:
        """No cells, up to so many rows."""
        if rows > self.n:
            self.pieces.append(np.full(rows - self.n, np.nan))
            self.n = rows

    def add(self, cells: Sequence[object], n: int) -> None:
        """Cells of the next rows."""
        self.n += n
        try:
            texts = isinstance(cells[0], str)
            plain = [float(str(cell)) for cell in cells] if texts else list(cells)  # an empty text raises
            numbers = np.array(plain, dtype=np.float64)
        except (TypeError, ValueError):
            numbers = np.fromiter(map(self._number, cells), dtype=np.float64, count=n)
        odd = (numbers < 0) | np.isinf(numbers)
        if odd.any():
            self.unread.append(self.n - n + np.flatnonzero(odd))
        self.pieces.append(np.where(odd, np.nan, numbers))

    @staticmethod
    def _number(cell: object) -> float:
        """A number, NaN where there is no cell, infinity for what is neither."""
        if is_missing(cell):
            return math.nan
        try:
            return float(cell)  # type: ignore[arg-type]  # whatever is no number raises
        except (TypeError, ValueError):
            return math.inf

    def column(self) -> FloatArray | None:
        """The column, or None where no row has a number."""
        numbers = np.concatenate(self.pieces) if self.pieces else np.empty(0)
        return None if np.isnan(numbers).all() and not self.unread else numbers


class _Gathered:
    """Columns in the making."""

    def __init__(self, chances: Sequence[str]) -> None:
        self.coders = {name: _Coder() for name in CODED}
        self.parsers = {name: _Parser() for name in (*NUMBERS, *chances)}
        self.names: tuple[str, ...] = ()
        self.n_rows = 0
        self.lines: list[IntArray] = []
        self.by_line = True

    def wanted(self, name: str) -> bool:
        """Whether a column is read."""
        return name in self.coders or name in self.parsers

    def add(self, cells: Mapping[str, Sequence[object]], lines: IntArray) -> None:
        """The cells of the next rows, by column, and where these rows begin; a column that is not there has none."""
        n = len(lines)
        for name, column in (self.coders | self.parsers).items():
            if name in cells:
                column.fill(self.n_rows)
                column.add(cells[name], n)
        self.lines.append(lines)
        self.n_rows += n

    def next_lines(self, n: int) -> IntArray:
        """Where the next rows begin in a file of one row a line."""
        return np.arange(self.n_rows + 1, self.n_rows + n + 1)

    def rows(self, rows: Sequence[Row], lines: IntArray) -> None:
        """The next rows, and where they begin."""
        if not rows:
            return
        self.names = self.names or tuple(rows[0])
        present: set[str] = set().union(*rows)
        self.add({name: [row.get(name) for row in rows] for name in present if self.wanted(name)}, lines)

    def columns(self, path: str, about: Mapping[str, AboutJudge]) -> VerdictColumns:
        """What was gathered."""
        for coder in self.coders.values():
            coder.fill(self.n_rows)
        for parser in self.parsers.values():
            parser.fill(self.n_rows)
        coded = {name: column for name, coder in self.coders.items() if (column := coder.column()) is not None}
        numbers = {name: found for name, parser in self.parsers.items() if (found := parser.column()) is not None}
        parsers = self.parsers.items()
        unread = {name: Unread(np.concatenate(one.unread)) for name, one in parsers if one.unread}
        strange = [name for name in self.names if name.startswith(CHANCE) and name not in self.parsers]
        notes = [f"{listed(strange)}: no grade of the scale, so not read as a probability"] if strange else []
        return VerdictColumns(
            path=path,
            n_rows=self.n_rows,
            lines=np.concatenate(self.lines) if self.lines else np.empty(0, dtype=np.int64),
            by_line=self.by_line,
            coded=coded,
            numbers=numbers,
            unread=unread,
            names=self.names,
            notes=tuple(notes),
            about=about,
        )


def _gathered(source: TableSource, chances: Sequence[str]) -> _Gathered:
    """The columns of a file or table; in pieces where the format allows it, and else as a whole."""
    if not isinstance(source, Table) and (file := Path(source)).is_file():
        gather = _PIECEWISE.get(file.suffix.lower())
        found = _Gathered(chances)
        try:
            if gather is not None:
                gather(file, found)
        except (_IrregularFileError, ValueError, csv.Error):
            found.n_rows = 0
        if found.n_rows:
            return found
    found, table = _Gathered(chances), opened(source)  # says what is wrong with it
    found.rows(table.rows, np.array(table.lines, dtype=np.int64))
    found.by_line = table.by_line
    return found


class _IrregularFileError(Exception):
    """The file must be read whole, by the reader that knows every dialect."""


def _json_lines(file: Path, into: _Gathered) -> None:
    with file.open("rb") as lines:
        while chunk := [orjson.loads(line) for line in islice(lines, CHUNK)]:
            if not all(type(row) is dict for row in chunk):
                raise _IrregularFileError
            into.rows(chunk, into.next_lines(len(chunk)))


def _delimited(file: Path, into: _Gathered) -> None:
    csv.field_size_limit(sys.maxsize)  # a reply may be longer than the default of 128 KiB
    with file.open(encoding="utf-8-sig", newline="") as text:
        head = text.readline()
        usual = "," if file.suffix.lower() == ".csv" else "\t"
        delimiter = max(usual + DELIMITERS, key=lambda mark: len(next(csv.reader([head], delimiter=mark))))
        into.names = tuple(cell.strip() for cell in next(csv.reader([head], delimiter=delimiter)))
        if not all(into.names) or len(set(into.names)) < len(into.names) or head.count('"') % 2:
            raise _IrregularFileError
        rows = csv.reader(text, delimiter=delimiter, strict=True, skipinitialspace=True)
        before = 0
        while chunk := list(islice(rows, CHUNK)):
            if set(map(len, chunk)) != {len(into.names)}:
                raise _IrregularFileError
            lines, before = _begins(chunk, before, rows.line_num), rows.line_num
            columns = dict(zip(into.names, zip(*chunk, strict=True), strict=True))
            if not all(map(str.strip, columns.get(ITEM, ()))):  # perhaps a blank row, which does not count
                raise _IrregularFileError
            into.add({name: cells for name, cells in columns.items() if into.wanted(name)}, lines)


def _begins(rows: Sequence[Sequence[str]], before: int, after: int) -> IntArray:
    """The lines on which rows begin that were read from line ``before`` to ``after`` below the header.

    Raises:
        _IrregularFileError: The line ends within their cells do not add up to these.
    """
    spans = np.ones(len(rows), dtype=np.int64)
    if after - before > len(rows):
        spans += [len(LINE_END.findall("".join(row))) for row in rows]
    if spans.sum() != after - before:
        raise _IrregularFileError
    return np.asarray(before + 2 + np.cumsum(spans) - spans)


def _parquet(file: Path, into: _Gathered) -> None:
    import pyarrow as pa
    import pyarrow.parquet as pq

    try:
        with pq.ParquetFile(file) as opened_file:
            into.names = tuple(opened_file.schema_arrow.names)
            kept = [name for name in into.names if into.wanted(name)]
            into.by_line = False
            for batch in opened_file.iter_batches(CHUNK, columns=kept):
                cells = {name: batch.column(name).to_pylist() for name in kept}
                into.add(cells, into.next_lines(batch.num_rows))
    except (pa.ArrowInvalid, OSError):
        raise _IrregularFileError from None


_PIECEWISE: Mapping[str, Callable[[Path, _Gathered], None]] = {
    ".parquet": _parquet,
    ".jsonl": _json_lines,
    ".ndjson": _json_lines,
    ".csv": _delimited,
    ".tsv": _delimited,
    ".tab": _delimited,
}
