"""Fills in what stands once above several rows, as merged cells are exported: a question above its answers."""

from dataclasses import replace

from judgec.records.tasks.registry import also_called, plain
from judgec.table.rows.cells import is_missing
from judgec.table.rows.columns import listed
from judgec.table.table import Table

OFTEN = 0.25  # share of the rows without a question from which on the one above is meant, and none was forgotten
FEWEST = 2  # of them
VAGUE = frozenset({"q", "input", "instruction", "topic"})  # words of heads of many kinds
ASKED = frozenset(name for name in ("query", *also_called("query")) if "_" not in name) - VAGUE
ANSWERED = frozenset(name for name in ("answer", *also_called("answer"), "document") if "_" not in name)
BESIDE = frozenset(
    plain(name) for ours in ("reference", "query_id", "group") for name in (ours, *also_called(ours))
)  # what is blank where the question is, and is of the question


def filled_down(table: Table) -> Table:
    """The table in which each answer has its question, where rows of answers below the first have none."""
    heads = {name: set(plain(name).split("_")) for name in table.columns}
    asked = next((name for name, words in heads.items() if words & ASKED and not words & ANSWERED), None)
    answers = [name for name, words in heads.items() if words & ANSWERED and not words & ASKED]
    if asked is None or not answers or not table.rows or is_missing(table.rows[0].get(asked)):
        return table
    blank = [at for at, row in enumerate(table.rows) if is_missing(row.get(asked))]
    answered = all(any(not is_missing(table.rows[at].get(name)) for name in answers) for at in blank)
    if not answered or len(blank) < max(FEWEST, OFTEN * len(table.rows)):
        return table
    beside = [name for name in table.columns if plain(name) in BESIDE]
    below = [asked, *(n for n in beside if n != asked and all(is_missing(table.rows[at].get(n)) for at in blank))]
    rows = [dict(row) for row in table.rows]
    for at in blank:
        rows[at] |= {name: rows[at - 1].get(name) for name in below}
    note = f"{len(blank)} rows without {asked} are of the row above, whose {listed(below)} they get."
    return replace(table, rows=tuple(rows), notes=(*table.notes, note))
