"""A file of queries."""

from collections.abc import Mapping
from dataclasses import dataclass

from judgec.errors import InputError
from judgec.labels.rows.items import ALTERNATIVES, digest
from judgec.records.claim import NUGGETS
from judgec.table.rows.cells import as_id, as_nuggets, as_text, as_texts, is_missing
from judgec.table.rows.columns import listed, renamed
from judgec.table.table import Row
from judgec.table.tables import TableSource, name_of, opened


@dataclass(frozen=True, slots=True)
class Query:
    """One query.

    Args:
        query_id: Its own, or a hash of the text.
        text: As the user asks it.
        reference: A correct answer; empty where none is known.
        nuggets: What a good answer says; empty where nobody wrote it.
    """

    query_id: str
    text: str
    reference: str = ""
    nuggets: tuple[str, ...] = ()


def read_queries(source: TableSource, rename: Mapping[str, str]) -> tuple[Query, ...]:
    """The queries of a table of ``query`` and optionally ``query_id`` (or ``qid``) and ``reference``, in order.

    The same query twice is one.

    Args:
        source: A file, or its rows.
        rename: Our column names by theirs.

    Raises:
        InputError: All faults: no such column, an empty query, two texts of one id; each with its line.
    """
    table = opened(source)
    path = name_of(source)
    table = renamed(table, {theirs: ours for theirs, ours in rename.items() if theirs in table.columns})
    if "qid" in table.columns and "query_id" not in table.columns:
        table = renamed(table, {"qid": "query_id"})
    if "query" not in table.columns:
        raise InputError(
            [f"{path}:1: no column query; the columns are {listed(table.columns)}. Rename with --map THEIRS=query."]
        )
    found: dict[str, Query] = {}
    faults: list[str] = []
    for index, row in enumerate(table.rows):
        if is_missing(row.get("query")):
            faults.append(f"{table.where(index)}: no query text; every row needs one. Fill it in.")
            continue
        text = as_text(row["query"])
        query_id = digest(text)[:16] if is_missing(row.get("query_id")) else as_id(row["query_id"])
        given = row.get("reference")
        reference = "" if is_missing(given) else as_text(given)
        if isinstance(given, list):
            reference = ALTERNATIVES.join(as_texts(given)[0])
        known = found.setdefault(query_id, Query(query_id, text, reference, _nuggets(table.where(index), row, faults)))
        if known.text != text:
            faults.append(
                f"{table.where(index)}: another text for query_id {query_id!r}; one is valid. Give it another id."
            )
    if faults:
        raise InputError(faults)
    return tuple(found.values())


def _nuggets(where: str, row: Row, faults: list[str]) -> tuple[str, ...]:
    """The rubric of a query's row; what is wrong with it joins the faults."""
    try:
        return () if is_missing(row.get(NUGGETS)) else as_nuggets(row[NUGGETS])[0]
    except ValueError as fault:
        faults.append(f"{where}: {fault}")
        return ()
