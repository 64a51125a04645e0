"""Fills in what stands once above several rows, as merged cells are exported: a question above its answers."""

import numpy as np

from judgec.records.counts import plural
from judgec.records.tasks.registry import also_called, plain
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
    if asked is None or not answers or not table.rows or table.column(asked).missing[0]:
        return table
    blank = table.column(asked).missing
    answered = np.logical_or.reduce([~table.column(name).missing for name in answers])
    if not answered[blank].all() or blank.sum() < max(FEWEST, OFTEN * len(table.rows)):
        return table
    beside = [name for name in table.columns if plain(name) in BESIDE]
    below = [asked, *(n for n in beside if n != asked and table.column(n).missing[blank].all())]
    above = np.maximum.accumulate(np.where(blank, 0, np.arange(len(blank))))
    count = int(blank.sum())
    rows = plural(count, f"row without {asked} is", f"rows without {asked} are")
    note = f"{rows} of the row above, and so is what it says as {listed(below)}."
    return table.with_columns({name: table.column(name).only(above) for name in below}, note)
