"""Cells that hold a list of texts: contexts, nuggets, steps."""

from judgec.records.claim import NUGGETS
from judgec.records.trajectory import STEPS
from judgec.table.rows.cells import as_nuggets, as_texts
from judgec.table.rows.steps import step_texts

_READERS = {NUGGETS: as_nuggets, STEPS: step_texts}


def as_list(name: str, value: object) -> tuple[tuple[str, ...], int]:
    """The texts in a cell of an input that is a list, and how many had to be made texts.

    Args:
        name: The input.
        value: Its cell.

    Raises:
        ValueError: A nugget that is none.
    """
    return _READERS.get(name, as_texts)(value)
