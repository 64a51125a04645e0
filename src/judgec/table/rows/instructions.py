"""Rows of instruction data (Alpaca, PandaLM): an instruction, and beside it an input that may be empty."""

from collections.abc import Collection
from dataclasses import replace

from judgec.records.tasks.registry import also_called, plain
from judgec.table.rows.cells import as_text, is_missing
from judgec.table.table import Row, Table

INSTRUCTION, INPUT = PARTS = ("instruction", "input")


def is_instructed(columns: Collection[str], having: Collection[str] = ()) -> bool:
    """True where both columns are there, no other one is the query, and nobody names one of them."""
    queries = {plain(name) for name in ("query", *also_called("query"))}
    return {*PARTS} == {*PARTS} & set(columns) == {n for n in columns if plain(n) in queries} and not {*PARTS} & {
        *having
    }


def with_instructions(table: Table, having: Collection[str] = ()) -> Table:
    """The table with the input below its instruction, as a model was asked both."""
    if not is_instructed(table.columns, having):
        return table

    def asked(row: Row) -> Row:
        parts = [as_text(row[name]) for name in PARTS if not is_missing(row.get(name))]
        rest = {name: value for name, value in row.items() if name not in PARTS}
        return {INSTRUCTION: "\n\n".join(parts), **rest}

    columns = tuple(name for name in table.columns if name != INPUT)
    note = f"The {INPUT} stands below its {INSTRUCTION}: together they are the query."
    return replace(table, columns=columns, rows=tuple(map(asked, table.rows)), notes=(*table.notes, note))
