"""Puts ids in place of texts that a table lacks: grades and ids are enough to say how far graders agree."""

from collections.abc import Mapping, Sequence
from dataclasses import replace

from judgec.labels.rows.raters import columns_of
from judgec.records.label import Task
from judgec.records.tasks.registry import TASKS, USUAL
from judgec.records.tasks.winners import winner_of
from judgec.table.rows.cells import as_grade, as_id, is_missing
from judgec.table.rows.columns import missing_columns, without_texts
from judgec.table.table import Table, TableColumn

TELL = ("query_id", "query", "agent", "agent_a", "agent_b", "turn")  # which item a row is of, where no id is there
PREFERENCE, ITEM = "preference", "item_id"
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
    task = PREFERENCE if winner_words or PREFERENCE in table.columns or _are_sides(table, annotators) else USUAL
    spec = TASKS[task]
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


def _are_sides(table: Table, annotators: Sequence[str]) -> bool:
    """True if all labels say which of two won, in words that nobody has to explain."""
    columns = [column for name in annotators for column in columns_of(name, table.columns)]
    words = {as_grade(cell) for name in columns for cell in table.column(name).given()}
    sides = {winner_of(word) if isinstance(word, str) else None for word in words}
    return None not in sides and {"a", "b"} <= sides


def _told_by_ids(table: Table) -> bool:
    """True if one id of a row says of which item it is: with a row an item and annotator the query's does."""
    return ITEM in table.columns or ("annotator" in table.columns and not {"agent_a", "turn"} & {*table.columns})
