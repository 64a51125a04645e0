"""A table that holds the failure modes that experts see and those that a judge flags, a column each."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from judgec.errors import InputError, UserError
from judgec.labels.rows.graded import InPlace, not_learned
from judgec.labels.rows.grades import position_of, respelled
from judgec.labels.rows.modes import with_modes
from judgec.records.judgment import UNSCORED
from judgec.records.label import UNLABELLED, IntArray
from judgec.records.ratings import GradePairs, stacked
from judgec.records.scale import PRESENCE_SCALE
from judgec.records.tasks.modes import TASK
from judgec.table.rows.cells import as_grade, as_id
from judgec.table.table import Table

MODES = "*"  # stands for the name of a mode


@dataclass(frozen=True, slots=True)
class GradedModes:
    """The pairs of a table by mode.

    Args:
        parts: By mode: the rows that an expert labelled, with the same codes of queries.
        together: All of these rows.
        notes: What reading assumed.
        learned: How many rows the judge has learned from, or None where no column says so.
        out_of_fold: For how many of these stand judgments from before it learned from them.
    """

    parts: Mapping[str, GradePairs]
    together: GradePairs
    notes: tuple[str, ...]
    learned: int | None
    out_of_fold: int


def graded_modes(
    table: Table, *, expert: str, judge: str, cluster: str | None, every: bool = False, in_place: InPlace | None = None
) -> GradedModes:
    """The modes that both sides have; a column of objects, such as ``grades``, counts as one column a key.

    Args:
        table: A file as read, or rows in memory.
        expert: The experts' columns, ``mode.*``.
        judge: The judge's, ``grade.*`` or ``grades.*``.
        cluster: Column that groups rows; every row stands alone when None.
        every: Keep the rows that the judge has learned from.
        in_place: Looks for judgments out of fold of such rows.

    Raises:
        UserError: No mode that both have, a pattern without its star, or no such cluster column.
        InputError: A cell that is neither present nor absent.
    """
    for option, pattern in (("--expert", expert), ("--judge", judge)):
        if pattern.count(MODES) != 1:
            raise UserError(f"{option} {pattern}: one * stands for the name of a mode. Write it as mode.* is written.")
    notes = list(table.notes)
    table, learned, out_of_fold = not_learned(table, judge, notes, every=every, in_place=in_place)
    table = _flat(with_modes(table, TASK.name))
    theirs, ours = _named(table.columns, expert), _named(table.columns, judge)
    both = [mode for mode in theirs if mode in ours]
    if not both:
        seen = f"{table.path}: {expert} fits {_listed(theirs)}, {judge} fits {_listed(ours)}"
        raise UserError(f"{seen}; a mode that both have is needed. The columns are {', '.join(table.columns)}.")
    if cluster is not None and cluster not in table.columns:
        raise UserError(
            f"{table.path}: --cluster {cluster}: no such column; there are {', '.join(table.columns)}. "
            "Name one of these."
        )
    if apart := [mode for mode in (*theirs, *ours) if mode not in both]:
        notes.append(f"on one side only, so not compared: {', '.join(dict.fromkeys(apart))}")
    codes = _codes(table, cluster)
    faults: list[str] = []
    whole = {mode: _pairs(table, theirs[mode], ours[mode], codes, faults) for mode in both}
    if faults:
        raise InputError(faults)
    parts = {mode: pairs.where(pairs.expert != UNLABELLED) for mode, pairs in whole.items()}
    if empty := [mode for mode, pairs in parts.items() if not len(pairs.expert)]:
        raise InputError([f"{table.path}: no row has a label of {', '.join(empty)}. Fill it in, or drop the column."])
    return GradedModes(parts, stacked(list(parts.values())), tuple(notes), learned, out_of_fold)


def _flat(table: Table) -> Table:
    """The table with each key of a column of objects as a column of its own."""
    nested = [name for name in table.columns if any(isinstance(row.get(name), Mapping) for row in table.rows)]
    if not nested:
        return table
    rows, added = [], dict[str, None]()
    for row in table.rows:
        cells = {
            f"{name}.{key}": value
            for name in nested
            if isinstance(held := row.get(name), Mapping)
            for key, value in held.items()
        }
        added.update(dict.fromkeys(cells))
        rows.append({**row, **cells})
    return replace(table, columns=tuple(dict.fromkeys((*table.columns, *added))), rows=tuple(rows))


def _named(columns: Sequence[str], pattern: str) -> dict[str, str]:
    """The columns that fit a pattern, by what its star stands for."""
    begin, _, end = pattern.partition(MODES)
    fits = (name for name in columns if name.startswith(begin) and name.endswith(end))
    return {mode: name for name in fits if (mode := name[len(begin) : len(name) - len(end)])}


def _listed(found: Mapping[str, str]) -> str:
    return ", ".join(found.values()) or "no column"


def _codes(table: Table, cluster: str | None) -> IntArray:
    keys = [
        (number, None) if cluster is None or as_grade(cell := row.get(cluster)) is None else as_id(cell)
        for number, row in enumerate(table.rows)
    ]
    codes: dict[object, int] = {}
    return np.array([codes.setdefault(key, len(codes)) for key in keys], dtype=np.int64)


def _pairs(table: Table, expert: str, judge: str, codes: IntArray, faults: list[str]) -> GradePairs:
    one, other = (_positions(table, column, faults) for column in (expert, judge))
    said = np.where(other < 0, UNSCORED, other)
    unknown = np.full(len(one), UNLABELLED, dtype=np.int64)
    score = np.where(other < 0, np.nan, other.astype(np.float64))
    n_clusters = int(codes.max(initial=-1)) + 1
    return GradePairs(one, said, score, unknown, unknown.copy(), codes, PRESENCE_SCALE.values, n_clusters)


def _positions(table: Table, column: str, faults: list[str]) -> IntArray:
    """0 or 1 of each row, -1 where the cell is empty."""
    found = np.full(len(table.rows), UNLABELLED, dtype=np.int64)
    for index, row in enumerate(table.rows):
        grade = as_grade(row.get(column))
        if grade is None:
            continue
        position = position_of(respelled(grade, TASK.spellings), PRESENCE_SCALE)
        if position is None:
            faults.append(
                f"{table.where(index)}: {column} is {grade}; 1 (present) or 0 (absent) is valid. Fix the row."
            )
        else:
            found[index] = position
    return found
