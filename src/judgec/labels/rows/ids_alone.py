"""Ids that say which rows are one item: in place of texts that a table lacks, and where texts are the same."""

from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np

from judgec.labels.rows.items import digest
from judgec.labels.rows.raters import columns_of
from judgec.records.counts import plural
from judgec.records.label import Task
from judgec.records.tasks.registry import TASKS, USUAL
from judgec.records.tasks.winners import winner_of
from judgec.table.rows.cells import as_grade, as_id, is_missing
from judgec.table.rows.columns import label_columns, missing_columns, without_texts
from judgec.table.table import Table, TableColumn

TELL = ("query_id", "query", "agent", "agent_a", "agent_b", "turn")  # which item a row is of, where no id is there
PREFERENCE, ITEM, QUERY = "preference", "item_id", "query_id"
TEXTS = frozenset({*(name for spec in TASKS.values() for name in spec.inputs), "agent"})  # what makes an item
NOTE = "No text is there: an item is what {told} says."
EACH = "Nothing says which rows are of one item: each is one of its own; the column item_id says it."


def with_ids_for_texts(
    table: Table, task: Task | None, annotators: Sequence[str], winner_words: Mapping[str, str]
) -> Table:
    """The table with the item's id in each text that a task needs and the table lacks; itself where it lacks none.

    Args:
        table: With judgec's names of columns.
        task: Of the labels, where somebody says it.
        annotators: Columns of people.
        winner_words: What words mean, where somebody says it: then pairs are compared.
    """
    if task is not None or any(not missing_columns(table.columns, one, labelled=False) for one in TASKS):
        return table
    if without_texts(table) and _told_by_ids(table):
        return table  # which has no text at all
    spec = TASKS[task_of_ids(table, annotators, winner_words)]
    lacks = [name for name in spec.required if name not in table.columns]
    lacks += spec.one_of[:1] if spec.one_of and not {*spec.one_of} & {*table.columns} else ()
    if not lacks:
        return table
    told = [name for name in TELL if name in table.columns]
    if ITEM in table.columns:
        told = [ITEM]
    elif not {"agent", "agent_a"} & {*told}:
        told = []  # several answers of a query
    cells = [table.column(name).each(lambda cell: "" if is_missing(cell) else as_id(cell)) for name in told]
    ids = [
        " ".join(own) if any(own := [column[row] for column in cells]) else f"row {row + 1}"
        for row in range(len(table.lines))
    ]
    made = {name: TableColumn.of(ids) for name in (*lacks, ITEM)}
    if "query" in lacks and "query_id" in table.columns:
        made["query"] = table.column("query_id")
    note = NOTE.format(told=" and ".join(told)) if told else EACH
    columns = tuple(dict.fromkeys((*table.columns, *made)))
    return replace(table.with_columns(made, note), columns=columns)


def task_of_ids(table: Table, annotators: Sequence[str], winner_words: Mapping[str, str]) -> Task:
    """The task of labels that stand beside ids alone: what their columns tell, or words that say which of two won."""
    if winner_words or _are_sides(table, annotators):
        return PREFERENCE
    return next((task for task in (PREFERENCE, "answer") if label_columns(table.columns, task)), USUAL)


def under_several_ids(table: Table, names: Sequence[str], ids: str) -> np.ndarray:
    """Rows whose cells in some columns stand under several ids, shape (n_rows,)."""
    columns = [table.column(name).codes for name in names]
    if not columns:
        return np.zeros(len(table.rows), dtype=bool)
    alike = np.unique(np.stack(columns), axis=1, return_inverse=True)[1].reshape(-1)
    pairs = np.unique(np.stack([alike, table.column(ids).codes]), axis=1)
    return np.asarray((np.bincount(pairs[0]) > 1)[alike])


def with_ids_apart(table: Table) -> Table:
    """The table with an id of the item in rows of the same texts under several query_ids: ids hold rows apart."""
    names = [name for name in table.columns if name in TEXTS]
    if ITEM in table.columns or QUERY not in table.columns:
        return table
    apart = under_several_ids(table, names, QUERY)
    if not apart.any():
        return table
    ids = [
        digest([as_id(row.get(QUERY)), *(str(row.get(name)) for name in names)])[:16] if own else None
        for row, own in zip(table.rows, apart, strict=True)
    ]
    note = f"{plural(len({*ids} - {None}), 'item')} of the same texts told apart by {QUERY}."
    made = table.with_columns({ITEM: TableColumn.of(ids)}, note)
    return replace(made, columns=(*table.columns, ITEM))


def _are_sides(table: Table, annotators: Sequence[str]) -> bool:
    """True if all labels say which of two won, in words that nobody has to explain."""
    columns = [column for name in annotators for column in columns_of(name, table.columns)]
    words = {as_grade(cell) for name in columns for cell in table.column(name).given()}
    sides = {winner_of(word) if isinstance(word, str) else None for word in words}
    return None not in sides and {"a", "b"} <= sides


def _told_by_ids(table: Table) -> bool:
    """True if one id of a row says of which item it is: with a row an item and annotator the query's does."""
    return ITEM in table.columns or ("annotator" in table.columns and not {"agent_a", "turn"} & {*table.columns})
