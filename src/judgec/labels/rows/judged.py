"""Takes what judges said out of a table of labels: columns of their verdicts, or their rows of the column annotator."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace

from judgec.errors import InputError
from judgec.labels.rows.items import Collected, collect_items
from judgec.labels.rows.label_cells import with_sides_of_agents
from judgec.labels.rows.raters import columns_of, in_orders
from judgec.records.label import JudgedCell, Task
from judgec.records.tasks.registry import TASKS, compares
from judgec.table.rows.cells import as_id, is_missing
from judgec.table.rows.columns import label_columns
from judgec.table.table import Table

ANNOTATOR, ORDER = "annotator", "order"
MORE = ("reply", "cost_usd", "seconds")  # behind NAME. of a column, or in the rows of a judge

Place = tuple[str, str, str]  # an aspect, the column of its verdicts, and in which order they saw pairs; or empty


def without_judges(table: Table, judges: Collection[str]) -> Table:
    """The table without the columns of judges."""
    gone = {column for name in judges for column in _all_of(name, table.columns)}
    return replace(table, columns=tuple(name for name in table.columns if name not in gone)) if gone else table


def _all_of(name: str, columns: Sequence[str]) -> set[str]:
    return {*columns_of(name, columns), *in_orders(name, columns)}


def verdicts_in(
    table: Table, judges: Collection[str], task: Task, aspects: Sequence[str]
) -> dict[str, tuple[JudgedCell, ...]]:
    """Each judge's verdicts, one an item, aspect and order of a pair; a judge that the table does not have is left out.

    The column ``gpt-4`` holds a judge's grades, of several aspects ``gpt-4.ASPECT``, or objects by aspect;
    ``gpt-4.reply``, ``gpt-4.cost_usd`` and ``gpt-4.seconds`` what else is known; ``gpt-4.ab`` and ``gpt-4.ba`` its
    picks of pairs in both orders, which the column ``order`` tells apart in rows. A judge without a column may be one
    of the names in the column ``annotator``: its verdicts are the labels of its own rows.

    Args:
        table: With judgec's names of columns.
        judges: Their names.
        task: What the items are for.
        aspects: Of the labels.

    Raises:
        InputError: Two verdicts of a judge on one item.
    """
    names = table.column(ANNOTATOR).each(lambda cell: "" if is_missing(cell) else as_id(cell))
    spec, several, found = TASKS[task], len(aspects) > 1, dict[str, tuple[JudgedCell, ...]]()
    shared = spec.columns(tuple(aspects)) if spec.by_aspect else label_columns(table.columns, task)[:1]
    own = {name: _columns(name, table.columns, aspects, several=several) for name in judges}
    among = {name for name, columns in own.items() if not columns and name in names}
    own |= {name: [(*pair, "") for pair in zip(aspects, shared, strict=False)] for name in among}
    if not any(own.values()):
        return found
    collected = collect_items(table, task)
    if compares(task):
        table = with_sides_of_agents(table, [column for places in own.values() for _, column, _ in places])
    faults: list[str] = []
    for name, places in own.items():
        rows = [i for i, who in enumerate(names) if who == name] if name in among else range(len(table.rows))
        kinds = (*MORE, ORDER) if compares(task) else MORE
        more = {what: what if name in among else f"{name}.{what}" for what in kinds}
        if places:
            found[name] = _cells(table, collected, rows, places, more, faults)
    if faults:
        raise InputError(faults)
    return found


def _columns(name: str, columns: Sequence[str], aspects: Sequence[str], *, several: bool) -> list[Place]:
    """The judge's column of each aspect, or of each order; one column of objects has all aspects."""
    theirs = {aspect: f"{name}.{aspect}" if several or name not in columns else name for aspect in aspects}
    found = [(aspect, column, "") for aspect, column in theirs.items() if column in columns]
    picks = in_orders(name, columns).items()
    found = found or [(aspect, column, order) for column, order in picks for aspect in aspects]
    return found or [(aspect, name, "") for aspect in aspects if name in columns]


def _cells(
    table: Table,
    collected: Collected,
    rows: Sequence[int],
    places: Sequence[Place],
    more: Mapping[str, str],
    faults: list[str],
) -> tuple[JudgedCell, ...]:
    """A judge's first cell of each item, aspect and order that is not empty, in the order of the items' first rows."""
    among = ", or a column order of ab and ba" if ORDER in more else ""
    found: dict[tuple[int, str, str], JudgedCell] = {}
    at: dict[tuple[int, str, str], int] = {}
    for index in rows:
        row = table.rows[index]
        item = collected.item_of[index]
        for aspect, column, shown in places if item >= 0 else ():
            cell = row.get(column)
            cell = cell.get(aspect) if isinstance(cell, Mapping) else cell
            said = {what: row[theirs] for what, theirs in more.items() if theirs in row}
            said |= {ORDER: shown} if shown else {}
            cell, key = None if is_missing(cell) else cell, (item, aspect, str(said.get(ORDER, "")))
            known = found.get(key)
            if known is None or known.cell is None:
                found[key] = JudgedCell(collected.items[item].item_id, aspect, cell, table.lines[index], said)
                at[key] = index
            elif cell is not None and cell != known.cell:
                faults.append(
                    f"{table.where(index)}: {column} is {cell} here and {known.cell} at {table.where(at[key])}, of the "
                    f"same item; all rows of one item must have one verdict of a judge{among}. Fix one of them."
                )
    return tuple(found.values())


def cells_in(table: Table, names: Collection[str], task: Task) -> dict[str, dict[str, object]]:
    """Cells of further columns by item, the first that is not empty; of a column with aspects, see ``verdicts_in``."""
    there = list(dict.fromkeys(one for one in names if one in table.columns))
    found: dict[str, dict[str, object]] = {}
    if not there:
        return found
    collected = collect_items(table, task)
    for name in there:
        cells = found[name] = {}
        for item, cell in zip(collected.item_of, table.column(name).cells(), strict=True):
            if item >= 0 and not is_missing(cell):
                cells.setdefault(collected.items[item].item_id, cell)
    return found
