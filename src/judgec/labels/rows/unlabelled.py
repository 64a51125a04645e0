"""Finds the items of a file that nobody has labelled yet."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from judgec.errors import InputError
from judgec.labels.rows.conversations import with_turns
from judgec.labels.rows.items import collect_items
from judgec.labels.rows.modes import with_modes
from judgec.labels.rows.raters import columns_of, rejoined
from judgec.records.conversation import TurnChoice
from judgec.records.label import Item, Task
from judgec.records.tasks.registry import TASKS
from judgec.records.tasks.spec import PREFIXES
from judgec.table.rows.cells import as_grade
from judgec.table.rows.columns import renamed, require_columns
from judgec.table.table import Table
from judgec.table.tables import read_table


@dataclass(frozen=True, slots=True)
class Unlabelled:
    """Items to choose from.

    Args:
        items: Those without a label, in file order.
        labelled: How many items have one.
    """

    items: tuple[Item, ...]
    labelled: int


def read_unlabelled(
    path: str,
    *,
    task: Task,
    rename: Mapping[str, str] | None = None,
    annotators: Sequence[str] = (),
    turn: TurnChoice | None = None,
    usual: TurnChoice | None = None,
) -> Unlabelled:
    """Read a file that may hold items with and without labels; any annotator's label counts.

    Args:
        path: Any file that ``read_table`` reads; it may have no label column at all.
        task: What the labels are of.
        rename: Our column names by theirs.
        annotators: Columns that hold one rater's labels each.
        turn: What of a conversation is judged; as ``with_turns``.
        usual: As ``with_turns``.

    Raises:
        InputError: A missing column, an item_id with different inputs, what ``read_table`` raises.
    """
    table = with_modes(with_turns(renamed(read_table(path), rename or {}), turn, usual), task)
    require_columns(table, task, labelled=False)
    collected = collect_items(table, task)
    if collected.faults:
        raise InputError([sentence for _, sentence in collected.faults])
    columns = _label_columns(table, task, annotators)
    labelled = {
        item
        for row, item in zip(table.rows, collected.item_of, strict=True)
        if any(as_grade(row.get(column)) is not None for column in columns)
    }
    items = tuple(item for i, item in enumerate(collected.items) if i not in labelled)
    return Unlabelled(items, len(labelled))


def _label_columns(table: Table, task: Task, annotators: Sequence[str]) -> list[str]:
    own = [
        column
        for name in rejoined(annotators, table.columns)
        for column, field in columns_of(name, table.columns).items()
        if field != "rationale"
    ]
    return [*own, *(name for name in table.columns if name.startswith(PREFIXES)), *TASKS[task].labels]
