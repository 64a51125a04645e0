"""Rows of human feedback, as ``connect.tracking.traces`` reads them, to a label table."""

from collections.abc import Sequence

from judgec.table.rows.cells import as_accept
from judgec.table.table import Row, Table

LABEL = "label"


def feedback_table(rows: Sequence[Row], where: str, *, notes: Sequence[str] = (), column: str | None = None) -> Table:
    """The label table of feedback whose value stands in ``label``.

    Args:
        rows: At least one.
        where: What messages call the table.
        notes: What the user should know.
        column: The label column; default: ``accept`` where all values are true / false, yes / no and the like, else
            ``grade``.
    """
    name = column or ("accept" if all(_is_accept(row[LABEL]) for row in rows) else "grade")
    labelled = tuple({name if key == LABEL else key: value for key, value in row.items()} for row in rows)
    columns = tuple(dict.fromkeys(key for row in labelled for key in row))
    return Table(where, columns, labelled, tuple(range(1, len(rows) + 1)), by_line=False, notes=tuple(notes))


def _is_accept(value: object) -> bool:
    return isinstance(value, bool) or (isinstance(value, str) and as_accept(value) is not None and not value.isdigit())
