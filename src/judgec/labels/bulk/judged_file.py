"""Judgments written beside the rows that they are of: the same rows in the same order, repeated ones included."""

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from operator import itemgetter
from pathlib import Path

from judgec.errors import UserError
from judgec.labels.bulk.formats import FORMATS, JSON, JudgedRow, Sink, Target
from judgec.labels.bulk.items import OpenItems
from judgec.labels.split.family import writing_whole
from judgec.records.judgment import Judgments
from judgec.records.scale import Scale
from judgec.table.formulas import unguarded
from judgec.table.rows.cells import as_id, as_text
from judgec.table.rows.columns import JUDGED_BY, LEARNED
from judgec.table.table import Row
from judgec.table.tables import as_it_stands

PREFIX = "judge_"
GRADED = ("grade", "score", "accept", "confidence")  # one an aspect
ITEM_ID = "item_id"
WHOLE = ("rationale", "unscored", "probabilities", LEARNED, JUDGED_BY, "stated_confidence")  # one an item
UNPROVEN, WITHOUT = "unproven", "without"  # marks of every row: nobody measured the judge; inputs that may be missing


@dataclass(frozen=True, slots=True)
class Names:
    """Names of the columns of a judged file.

    Args:
        item_id: The column that is added for the items' names, or None where the rows have one of their own.
        added: Column by what stands in it: ``grade``, or ``grades`` or ``grade.ASPECT`` of several aspects; and so on.
    """

    item_id: str | None
    added: Mapping[str, str]

    def to_json(self) -> dict[str, str]:
        """For ``--json``."""
        return {ITEM_ID: self.item_id or ITEM_ID, **self.added}


def kind_of(out: Path) -> str:
    """The format of a judged file, by its name.

    Raises:
        UserError: When the name ends otherwise.
    """
    kind = out.suffix.lower()
    if kind not in FORMATS:
        raise UserError(
            f"--out {out}: format {kind or 'without an extension'} is not known; {', '.join(FORMATS)} are valid. "
            "Name the file so."
        )
    return kind


def names_of(
    out: Path,
    items: OpenItems,
    rename: Mapping[str, str],
    aspects: Sequence[str],
    *,
    inputs: bool,
    details: Sequence[str] = (),
) -> Names:
    """Names of the columns, so that none has the name of a column of the input.

    Args:
        out: The file that is written.
        items: What is judged.
        rename: Our column names by those of the file.
        aspects: What is graded.
        inputs: Whether the columns of the input are written too.
        details: Further columns, of the task.
    """
    if len(aspects) == 1:
        graded = list(GRADED)
    elif kind_of(out) == JSON:
        graded = [f"{name}s" for name in GRADED]
    else:
        graded = [f"{name}.{aspect}" for name in GRADED for aspect in aspects]
    keys, taken = [*graded, *WHOLE, *details], set(items.table.columns) if inputs else set()
    has_id = ITEM_ID in taken and rename.get(ITEM_ID, ITEM_ID) == ITEM_ID
    return Names(None if has_id else _free([ITEM_ID], taken) + ITEM_ID, {key: _free(keys, taken) + key for key in keys})


def _free(names: Sequence[str], taken: set[str]) -> str:
    """Prefix of all names so that none is taken."""
    before = ""
    while any(before + name in taken for name in names):
        before += PREFIX
    return before


class JudgedFile:
    """A file that judgments go into as they come.

    Args:
        sink: Where rows go.
        items: What is judged.
        names: Of the columns.
        scale: The judge's.
        same: What stands in every row alike, by key.
    """

    def __init__(self, sink: Sink, items: OpenItems, names: Names, scale: Scale, same: Row) -> None:
        self._sink, self._items, self._scale, self._same = sink, items, scale, same
        self._judged = 0  # items
        self._rows = zip(items.table.rows, items.item_of, strict=True)
        self._next = next(self._rows, None)
        self._waiting: dict[int, JudgedRow] = {}  # judgments of items that a row below has
        self._left = Counter(items.item_of)  # rows of each item that are not written
        self._columns = tuple(names.added.values())
        self._values = _values_of(tuple(names.added))

    def add(self, judgments: Judgments) -> None:
        """Judgments of the next items, in their order."""
        for number, row in enumerate(judgments.rows(self._scale), self._judged):
            row |= {LEARNED: bool(self._items.learned[number]), **self._same}
            cells = dict(zip(self._columns, self._values(row), strict=True))
            self._waiting[number] = JudgedRow(str(row[ITEM_ID]), cells)
        self._judged += len(judgments.item_ids)
        self._sink.write(self._ready())

    def _ready(self) -> Iterator[tuple[Row, JudgedRow]]:
        """The next rows, up to one whose item is not judged yet."""
        while self._next is not None and self._next[1] < self._judged:
            row, item = self._next
            yield row, self._waiting[item]
            self._left[item] -= 1
            if not self._left[item]:
                del self._waiting[item]
            self._next = next(self._rows, None)


def _values_of(keys: tuple[str, ...]) -> Callable[[Row], tuple[object, ...]]:
    """A function that reads these from a row of judgments; ``grade.ASPECT`` stands there as ``grades`` by aspect."""
    if not any("." in key for key in keys):
        return itemgetter(*keys)
    parts = [key.partition(".") for key in keys]

    def values(row: Row) -> tuple[object, ...]:
        found = []
        for key, _, aspect in parts:
            value = row[f"{key}s"] if aspect else row[key]
            found.append(value[aspect] if aspect and isinstance(value, dict) else value)
        return tuple(found)

    return values


@contextmanager
def judged_file(
    out: Path, items: OpenItems, names: Names, scale: Scale, *, same: Row, inputs: bool = True
) -> Iterator[tuple[JudgedFile, list[str]]]:
    """A judged file, and notes on what its format could not hold; it appears when it is complete, or not at all.

    Args:
        out: Its path; the ending is the format.
        items: What is judged.
        names: From ``names_of``.
        scale: The judge's.
        same: What stands in every row alike, by key: ``judged_by``, and marks.
        inputs: Whether the columns of the input are written too.

    Raises:
        UserError: When the format is not known, or cannot hold so many rows.
        OSError: As ``writing_whole``.
    """
    target = Target(
        columns=items.table.columns if inputs else (),
        item_id=names.item_id,
        added=tuple(names.added.values()),
        kinds=_kinds(names, scale),
        rows=items.rows,
        inputs=inputs,
        path=out,
    )
    make, notes = FORMATS[kind_of(out)], list[str]()
    target.check()
    with writing_whole(out) as file, make(file, target, items, notes) as sink:
        yield JudgedFile(sink, items, names, scale, same), notes


def _kinds(names: Names, scale: Scale) -> dict[str, type]:
    """Type of each added column."""
    kinds = {type(grade) for grade in scale.grades}
    grade: type = next(iter(kinds)) if len(kinds) == 1 else float if kinds == {int, float} else str
    by_name = {"grade": grade, "score": float, "accept": bool, "confidence": float, UNPROVEN: bool}
    by_name |= {"stated_confidence": float, LEARNED: bool, "vital_recall": float, "nugget_recall": float}
    return {column: by_name.get(key.partition(".")[0], str) for key, column in names.added.items()}


def judged_rows(path: Path) -> Sequence[Row]:
    """The rows of a judged file; from text as text."""
    return as_it_stands(str(path)).rows


def item_id_in(row: Row, column: str) -> str:
    """The item that a judged row is of."""
    return unguarded(as_id(row[column]))


def number_in(row: Row, column: str, aspect: str | None = None) -> float:
    """A number or a truth of a judged row; NaN where there is none.

    Args:
        row: From ``judged_rows``.
        column: Which.
        aspect: Of which aspect, where the column holds those of all.
    """
    value = row.get(column)
    if isinstance(value, dict):
        value = value.get(aspect)
    if value is None or value == "":
        return float("nan")
    truths = {"true": 1.0, "false": 0.0}
    text = as_text(value)
    return truths[text] if text in truths else float(text)
