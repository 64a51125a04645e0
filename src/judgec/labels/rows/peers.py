"""Finds the peers of each row of a table: what other systems answered to the same query."""

from collections.abc import Sequence
from dataclasses import dataclass

from judgec.errors import InputError
from judgec.table.rows.cells import as_text, as_texts, is_missing
from judgec.table.table import Row, Table

AGENTS = "agents"  # the systems that gave one and the same answer, where a file keeps it once


@dataclass(frozen=True, slots=True)
class _Answered:
    """An answer to a query, and who gave it."""

    text: str
    agents: tuple[str, ...]


def peers_of(table: Table) -> list[tuple[str, ...]]:
    """What other systems answered to the query of each row, in the order of the file.

    A row's answer is its ``agent``'s. Where several gave it, ``agents`` lists them, and it counts once for each of the
    others. Without either, each different answer is another system's. Rows of several annotators count once; an empty
    answer is none.

    Raises:
        InputError: The table has no column ``query`` or ``answer``.
    """
    if missing := [name for name in ("query", "answer") if name not in table.columns]:
        raise InputError(
            [f"{table.path}: no column {' and '.join(missing)}; query and answer are needed. Name yours with --map."]
        )
    keys = [_query(row) for row in table.rows]
    said = [_answered(row) for row in table.rows]
    by_query: dict[str, dict[_Answered, None]] = {}
    for key, one in zip(keys, said, strict=True):
        by_query.setdefault(key, {})[one] = None
    found = {(key, one): _others(one, list(known)) for key, known in by_query.items() for one in known}
    return [found[key, one] for key, one in zip(keys, said, strict=True)]


def _query(row: Row) -> str:
    return as_text(row.get("query") if is_missing(row.get("query_id")) else row["query_id"])


def _answered(row: Row) -> _Answered:
    text = "" if is_missing(row.get("answer")) else as_text(row["answer"])
    names = () if is_missing(row.get(AGENTS)) else as_texts(row[AGENTS])[0]
    if not names and not is_missing(row.get("agent")):
        names = (as_text(row["agent"]),)
    return _Answered(text, tuple(sorted({*names})))


def _others(one: _Answered, known: Sequence[_Answered]) -> tuple[str, ...]:
    peers: list[str] = []
    for other in known:
        if other == one:
            count = len(one.agents) - 1
        elif len(one.agents) == 1 and other.agents:
            count = len({*other.agents} - {*one.agents})  # a system's second answer is no other's
        else:
            count = max(1, len(other.agents))
        peers += [other.text] * (count if other.text.strip() else 0)
    return tuple(peers)
