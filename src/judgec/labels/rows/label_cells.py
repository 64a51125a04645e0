"""Reads the cells of a column of labels or verdicts by what the whole column holds: marks of nothing, 20%, 1,0."""

import re
from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from types import MappingProxyType

import numpy as np

from judgec.records.counts import plural
from judgec.records.label import Task
from judgec.records.scale import Grade, Scale
from judgec.records.tasks.registry import TASKS, told_by
from judgec.records.tasks.spec import PAIR_AGENTS
from judgec.records.tasks.winners import UNSCORED, strength_dropped, winner_of, words_by_grader
from judgec.table.rows.cells import MISSING_WORDS, as_grade, as_id, as_number, as_text, is_accept_word, is_missing
from judgec.table.rows.columns import listed
from judgec.table.table import Table, TableColumn

MARKS = frozenset({"none", "-", "–", "—"})  # no value beside numbers, yes and no, or a tie; among words perhaps one
MOST_SHOWN = 10  # rows in a note
LONGEST_SHOWN = 40  # characters of one in a note
_PERCENT = re.compile(r"([-+]?\d+(?:[.,]\d+)?)\s*%")
_COMMA = re.compile(r"[-+]?\d+(?:,\d+)?")
_THOUSANDS = re.compile(r"[-+]?[1-9]\d{0,2}(?:[.,]\d{3})+")
_DECIMAL = re.compile(r"[-+]?\d+(?:[.,]\d+)?")  # 1,5 typed as text, beside the 1.5 of a cell that is a number


def label_cells(
    cells: Sequence[object],
    scale: Scale | None = None,
    beside: Collection[str] = (),
    said: Collection[str] = (),
) -> tuple[object, ...]:
    """The cells of a column of labels or verdicts: None where a mark says nothing, numbers where a text is one.

    ``n/a`` and the like are missing, and so are ``None`` and ``-`` where a scale is declared or the other cells are
    numbers, yes and no, or winners with a tie among them; never a word that is on the declared scale. Any other word
    is off the scale until somebody says that it means nothing.
    ``20%`` (0.2) and ``1,0`` are numbers where all of the column's cells are.

    Args:
        cells: All of the column, or each different one.
        scale: The declared one.
        beside: Words in other columns of the same scale.
        said: Words of which it is known what they mean.
    """
    words = {text.strip() for text in cells if isinstance(text, str)}
    on_scale = set() if scale is None else {str(grade).casefold() for grade in scale.grades}
    told = frozenset(word.casefold() for word in said)
    marks = _marks(words, {*words, *beside}, on_scale, told)
    numbers = _numbers({word for word in words - marks if as_grade(word) is not None})

    def read(cell: object) -> object:
        if not isinstance(cell, str):
            return cell
        return None if cell.strip() in marks else numbers.get(cell.strip(), cell)

    return tuple(map(read, cells))


def without_rows_apart(
    table: Table,
    task: Task | None,
    columns: Collection[str],
    scale: Scale | None = None,
    said: Mapping[str, str] = MappingProxyType({}),
    *,
    whole: bool = False,
) -> Table:
    """The table without rows that are no item: sums, headings and notes, which lack the question or what is graded.

    A row that lacks one of the two stays where somebody gave it a grade of the scale: an answer may be empty.

    Args:
        table: With judgec's names of columns.
        task: Of the labels, where it is known.
        columns: Those of labels.
        scale: Of the labels, where somebody declared one.
        said: What words for the winner mean.
        whole: Grades are whole numbers, of which somebody said the best: a mean is no grade.
    """
    spec = told_by(table.columns) if task is None else TASKS[task]
    if spec is None or not {spec.required[0], *spec.graded} <= set(table.columns):
        return table
    asked = ~table.column(spec.required[0]).missing
    answered = np.logical_or.reduce([~table.column(name).missing for name in spec.graded])
    graded = np.zeros(len(table.rows), dtype=np.bool_)
    for name in (one for one in columns if one in table.columns):
        graded |= table.column(name).holds(lambda cell: _is_a_label(cell, scale, said, whole))
    gone = np.flatnonzero(~asked & ~answered | (asked ^ answered) & ~graded).tolist()
    if not gone:
        return table
    shown = [f"{table.where(at)} {_words_in(table, at)}".strip() for at in gone[:MOST_SHOWN]]
    more = f"; {len(gone) - MOST_SHOWN} more" if len(gone) > MOST_SHOWN else ""
    rows = plural(len(gone), "row", "rows")
    note = f"{rows} left out, without {spec.required[0]} or {' or '.join(spec.graded)}: {'; '.join(shown)}{more}."
    return table.only(np.setdiff1d(np.arange(len(table.rows)), gone), note)


def _is_a_label(cell: object, scale: Scale | None, said: Mapping[str, str], whole: bool) -> bool:
    grade = None if is_missing(cell) else as_grade(label_cells([cell], scale)[0])
    if whole and isinstance(grade, float):
        return False
    if grade is None or scale is None or winner_of(grade, said) is not None:
        return grade is not None
    return any(grade == one or str(grade).casefold() == str(one).casefold() for one in scale.grades)


def _words_in(table: Table, at: int) -> str:
    words = [cell for cell in table.rows[at].values() if isinstance(cell, str) and not is_missing(cell)]
    return _cut(next((word for word in words if as_number(word) is None), ""))


def _cut(text: str) -> str:
    one = " ".join(text.split())
    return repr(one if len(one) <= LONGEST_SHOWN else one[: LONGEST_SHOWN - 1] + "\u2026")


def _marks(words: Collection[str], theirs: Collection[str], scale: Collection[str], told: frozenset[str]) -> set[str]:
    """The words among these that say nothing; ``theirs`` are all of the scale's columns."""
    empty = MISSING_WORDS | MARKS
    others = [word for word in theirs if word.casefold() not in empty | told]
    tied = any(winner_of(word) == "tie" for word in others)
    if not scale and not all(_is_number(word) or is_accept_word(word) or (tied and winner_of(word)) for word in others):
        empty = MISSING_WORDS
    return {word for word in words if word and word.casefold() in empty - {*scale, *told}}


def _is_number(word: str) -> bool:
    """True for a number, however written."""
    return as_number(word) is not None or bool(_PERCENT.fullmatch(word) or _COMMA.fullmatch(word))


def _numbers(words: set[str]) -> dict[str, float]:
    """The numbers that these words write with a percent sign or a decimal comma; nothing where one writes none."""
    percents = {word: found[1] for word in words if (found := _PERCENT.fullmatch(word))}
    if words and len(percents) == len(words):
        return {word: round(float(text.replace(",", ".")) / 100, 12) for word, text in percents.items()}
    commas = [word for word in words if "," in word]
    points = [word for word in words if "." in word]
    if not commas or not all(map(_DECIMAL.fullmatch, words)) or all(map(_THOUSANDS.fullmatch, commas)):
        return {}  # "1,000" is one, or a thousand
    if points and all(map(_THOUSANDS.fullmatch, points)):
        return {}
    return {word: float(word.replace(",", ".")) for word in words}


def spellings(words: Counter[str]) -> dict[str, str]:
    """By word, the most frequent way to write it, where several differ in case and spaces alone: ``Ja`` and ``ja``."""
    alike: dict[str, list[str]] = {}
    for word in words:
        alike.setdefault(" ".join(word.split()).casefold(), []).append(word)
    usual = {key: max(own, key=lambda word: (words[word], word.casefold() == word)) for key, own in alike.items()}
    return {word: usual[key] for key, own in alike.items() if len(own) > 1 for word in own if word != usual[key]}


def with_sides_of_agents(table: Table, columns: Iterable[str], said: Mapping[str, str] = MappingProxyType({})) -> Table:
    """The table with a and b in cells of these columns that name one of the row's agents instead of its side.

    Args:
        table: With judgec's names of columns.
        columns: Those that say who won.
        said: What words mean, as ``winner_words`` makes it; these, and words of sides, stay.
    """
    if not {*PAIR_AGENTS} <= {*table.columns}:
        return table
    first, second = (table.column(name).each(_name) for name in PAIR_AGENTS)
    agents = {*first, *second} - {""}
    read: dict[str, TableColumn] = {}
    for name in dict.fromkeys(columns):
        own = table.column(name)
        if not any(_name(cell) in agents and winner_of(str(cell), said) is None for cell in own.values):
            continue
        names = own.each(lambda cell: "" if winner_of(str(cell), said) else _name(cell))
        read[name] = TableColumn.of(
            cell if not won or one == other or won not in {one, other} else "a" if won == one else "b"
            for cell, won, one, other in zip(own.cells(), names, first, second, strict=True)
        )
    note = f"{listed(list(read))}: the names of the agents, row by row, say which side won"
    return table.with_columns(read, note) if read else table


def with_words_of_graders(table: Table, said: Mapping[str, str | Mapping[str, str]], columns: Collection[str]) -> Table:
    """The table with a, b and tie in cells of graders whose words have a sense of their own.

    Args:
        table: With judgec's names of columns.
        said: Sides by word, by ``GRADER:word``, or by grader and word.
        columns: Those of labels, in rows of which a column says who graded.
    """
    who = table.column("annotator")
    names = dict.fromkeys([*table.columns, *(as_id(cell) for cell in who.values if not is_missing(cell))])
    notes: list[str] = []
    for name, own in words_by_grader(said, names).items():
        rows = np.full(len(table.rows), name in table.columns) | who.holds(partial(is_named, name))
        used: dict[Grade, str | None] = {}
        read = {}
        for column in [name] if name in table.columns else [one for one in columns if one in table.columns]:
            cells = table.column(column).cells()
            sides = [None if is_missing(cell) else winner_of(as_text(cell), own) for cell in cells]
            used |= {as_text(cells[at]): sides[at] for at in np.flatnonzero(rows).tolist() if sides[at]}
            read[column] = TableColumn.of(
                cell if side is None or not mine else None if side == UNSCORED else side
                for cell, side, mine in zip(cells, sides, rows.tolist(), strict=True)
            )
        table = table.with_columns(read)
        notes += [f"{name}: {said}" for said in [strength_dropped(used)] if said]
    return replace(table, notes=(*table.notes, *notes)) if notes else table


def is_named(name: str, cell: object) -> bool:
    """True for a cell that holds this name."""
    return not is_missing(cell) and as_id(cell) == name


def _name(cell: object) -> str:
    """An agent's name, the same however it is spaced and capitalized; empty where there is none."""
    return "" if is_missing(cell) else " ".join(as_id(cell).split()).casefold()


def with_label_cells(
    table: Table, columns: Iterable[str], scale: Scale | None = None, said: Collection[str] = ()
) -> Table:
    """The table with these columns as ``label_cells`` reads them, and words that differ in case or spaces alone in one
    way; what was missing or written otherwise is noted.
    """
    read: dict[str, TableColumn] = {}
    notes: list[str] = []
    cells = {name: table.column(name) for name in columns if name in table.columns}
    counts: Counter[str] = Counter()
    for own in cells.values():
        for value, n in zip(own.values, own.counts, strict=True):
            counts.update({value.strip(): n} if isinstance(value, str) else {})
    on_scale = set() if scale is None else set(map(str, scale.grades))
    usual = {word: other for word, other in spellings(counts).items() if word not in on_scale}
    written = {
        name: [usual.get(c.strip(), c) if isinstance(c, str) else c for c in own.values] for name, own in cells.items()
    }
    words = {cell.strip() for own in written.values() for cell in own if isinstance(cell, str)}
    for name, one in written.items():
        found = label_cells(one, scale, words, said)
        marks: Counter[str] = Counter()
        numbers: Counter[str] = Counter()
        for text, cell, n in zip(one, found, cells[name].counts, strict=True):
            if isinstance(text, str) and cell != text:
                (marks if cell is None else numbers)[text.strip()] += n
        if marks:
            each = ", ".join(f"{mark} ({count})" for mark, count in marks.items())
            nothing = plural(marks.total(), "cell says nothing and is", "cells say nothing and are")
            notes.append(f"Column {name}: {nothing} missing: {each}.")
        if numbers:
            said_as = {str(text).strip(): as_text(cell) for text, cell in zip(one, found, strict=True)}
            example = next(text for text in numbers if "%" in text or "," in text)
            read_so = plural(numbers.total(), "cell is read as a number", "cells are read as numbers")
            notes.append(f"Column {name}: {read_so}: {example} is {said_as[example]}.")
        if list(found) != cells[name].values:
            read[name] = TableColumn(cells[name].codes, found)
    return table.with_columns(read, *notes) if read else table
