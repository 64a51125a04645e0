"""Reads the experts' queries that generated ones should be like."""

from collections.abc import Sequence

from judgec.errors import InputError
from judgec.table.rows.cells import as_text, is_missing
from judgec.verbs.frames import Source, as_table


def expert_queries(source: Source | Sequence[str]) -> tuple[str, ...]:
    """The experts' queries.

    Args:
        source: A table with a column ``query`` (or ``question``), or the queries themselves.

    Raises:
        InputError: No column ``query``, or nothing in it.
    """
    if isinstance(source, list | tuple) and source and all(isinstance(one, str) for one in source):
        return tuple(str(one) for one in source)
    table = as_table(source)
    column = next((name for name in ("query", "question") if name in table.columns), None)
    if column is None:
        raise InputError(
            [f"{table.path}:1: no column 'query'; the columns are {', '.join(table.columns)}. Rename one."]
        )
    queries = tuple(as_text(row[column]) for row in table.rows if not is_missing(row.get(column)))
    if not queries:
        raise InputError([f"{table.path}:1: column {column} is empty; at least one query is needed. Fill it in."])
    return queries
