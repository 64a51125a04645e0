"""Rows to items: inputs as text, identifiers, and rows of one item brought together."""

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass
from functools import partial

import orjson

from judgec.records.conversation import DIALOGUE
from judgec.records.label import Item, Task, Text
from judgec.records.tasks.registry import TASKS
from judgec.records.tasks.spec import TaskSpec
from judgec.table.rows.cells import as_id, as_text, as_texts, is_missing, is_unread_list, printed_list, text_in
from judgec.table.rows.lists import as_list
from judgec.table.table import Row, Table

IDS = ("item_id", "query_id")
ALTERNATIVES = " | "  # joins several references into one text, as evidence splits them again


@dataclass(frozen=True, slots=True)
class Collected:
    """The content of a table's rows.

    Args:
        items: One an item, in the order of their first rows.
        item_of: Position of each row's item, or -1 where the row has a fault.
        faults: (row, sentence) each.
        empty: Rows without an answer or document, read as empty.
        not_text: Cells that were not text and became text.
        regrouped: Rows whose agent, group or query_id differs from the item's first row.
        unread: Cells that look like a printed list and are read as one text.
    """

    items: tuple[Item, ...]
    item_of: tuple[int, ...]
    faults: tuple[tuple[int, str], ...]
    empty: int
    not_text: int
    regrouped: int
    unread: int


def collect_items(table: Table, task: Task) -> Collected:
    """Bring the rows of each item together; rows of one item may differ in label and annotator only."""
    spec = TASKS[task]
    fields = [name for name in spec.inputs if name in table.columns]
    items: dict[str, Item] = {}
    first_row: dict[str, int] = {}
    position: dict[str, int] = {}

    def read(index: int, row: Row) -> _Read:
        """A row, whose item is at the next position where no row above has its id."""
        needed = ("query",) if fields else IDS  # labels alone are told apart by these
        if all(is_missing(row.get(name)) for name in needed):
            return _Read(fault=f"no {' or '.join(needed)}; every row needs one. Fill it in, or delete the row.")
        try:
            inputs, converted, looks = _inputs(row, fields, spec)
        except ValueError as fault:
            return _Read(fault=str(fault))
        item = _item(row, inputs)
        known = items.setdefault(item.item_id, item)
        first_row.setdefault(item.item_id, index)
        at = position.setdefault(item.item_id, len(position))
        other = _difference(known, item, table.where(first_row[item.item_id])) if known.inputs != item.inputs else ""
        empty = "" in map(inputs.get, spec.graded)
        return _Read(at, other, converted, looks, empty, regrouped=known != item and not other)

    named = [name for name in (*fields, "item_id", "query_id", "agent", "group") if name in table.columns]
    same: dict[tuple[object, ...], _Read] = {}  # of several annotators each has a row of the same texts
    item_of: list[int] = []
    faults: list[tuple[int, str]] = []
    empty = not_text = regrouped = unread = 0
    before: tuple[int, object] | None = None
    for index, row in enumerate(table.rows):
        cells = tuple(map(row.get, named))
        alike = {*map(type, cells)} <= {str, type(None)} and DIALOGUE not in row
        one = (same.get(cells) if alike else None) or read(index, row)
        if alike:
            same[cells] = one
        item_of.append(one.item)
        regrouped += one.regrouped
        if one.fault:
            faults.append((index, f"{table.where(index)}: {one.fault}"))
        if before != (before := (table.lines[index], row.get("agent"))):  # raters of one row count it once
            empty, not_text, unread = empty + one.empty, not_text + one.converted, unread + one.unread
    return Collected(tuple(items.values()), tuple(item_of), tuple(faults), empty, not_text, regrouped, unread)


@dataclass(frozen=True, slots=True)
class _Read:
    """A row: the position of its item, what is wrong with it, and what ``Collected`` counts."""

    item: int = -1
    fault: str = ""
    converted: int = 0
    unread: int = 0
    empty: bool = False
    regrouped: bool = False


def item_digest(item: Item) -> str:
    """SHA-256 of everything an item says, the same from any file format."""
    said = [item.item_id, item.query_id, dict(item.inputs), item.agent, item.group]  # texts: as ``digest``, but faster
    return hashlib.sha256(orjson.dumps(said, option=orjson.OPT_SORT_KEYS)).hexdigest()


def digest(value: object) -> str:
    """SHA-256 of a JSON-ready value, as hexadecimal text; the order of keys does not matter."""
    return hashlib.sha256(encoded(value).encode()).hexdigest()


encoded = json.JSONEncoder(sort_keys=True, ensure_ascii=False, separators=(",", ":")).encode


def _inputs(row: Row, fields: list[str], spec: TaskSpec) -> tuple[dict[str, Text], int, int]:
    """The row's inputs as text, how many cells were something else, and how many look like lists and are none.

    What is graded is judged as empty where it is missing, and never left out.

    Raises:
        ValueError: A nugget of another importance than there is.
    """
    inputs: dict[str, Text] = {}
    converted = unread = 0
    for name in fields:
        value = row.get(name)
        if is_missing(value):
            if name in spec.graded:
                inputs[name] = ""
        elif name in spec.lists:
            texts, count = as_list(name, value)
            converted += count
            unread += len(texts) == 1 and texts[0] == value and is_unread_list(value)
            if texts:
                inputs[name] = texts
        elif name in spec.graded and isinstance(value, list | tuple) and DIALOGUE in row:
            inputs[name] = as_texts(value)[0]  # the turns of a whole dialogue
        elif name in spec.joined and (isinstance(value, list) or (isinstance(value, str) and _is_list(value))):
            texts, count = as_texts(value)
            converted += count
            inputs[name] = ALTERNATIVES.join(texts)
        elif isinstance(value, str):
            inputs[name] = as_text(value)
        else:
            document = text_in(value)
            inputs[name] = as_text(value) if document is None else document
            converted += document is None
    return inputs, converted, unread


def _is_list(text: str) -> bool:
    """True if texts were printed as a list; a text in brackets is one text."""
    found = printed_list(text) if text.lstrip()[:1] == "[" else None
    return bool(found) and all(isinstance(one, str) for one in found or ())


def _item(row: Row, inputs: Mapping[str, Text]) -> Item:
    agent = _optional(row, "agent")
    # Two agents may give the same answer to the same query; they are two items.
    item_id, query_id = map(partial(_optional, row), IDS)
    item_id = item_id or digest([dict(inputs) or query_id, agent] if agent else dict(inputs) or query_id)[:16]
    query_id = query_id or (digest(inputs["query"])[:16] if inputs else item_id)
    return Item(item_id, query_id, inputs, agent, _optional(row, "group"))


def _optional(row: Row, name: str) -> str | None:
    value = row.get(name)
    if value is None:
        return None
    if type(value) is str:  # as below, in a quarter of the time
        return as_text(value).strip() or None
    return None if is_missing(value) else as_id(value)


def _difference(known: Item, item: Item, first: str) -> str:
    names = [
        name for name in dict.fromkeys((*known.inputs, *item.inputs)) if known.inputs.get(name) != item.inputs.get(name)
    ]
    return (
        f"item {item.item_id} has another {' and '.join(names)} than at {first}; all rows of one "
        "item_id must "
        "have equal inputs. Fix the row, or give it its own item_id."
    )
