"""Tables of passages: JSON lines, CSV, TSV, Parquet, one document a row."""

from collections.abc import Mapping
from pathlib import Path

from judgec.errors import InputError
from judgec.rag.retrieval.parsing.document import Document, Section, UnreadableError
from judgec.table.rows.cells import as_id, as_text, is_missing
from judgec.table.rows.columns import listed, renamed
from judgec.table.tables import read_table

COLUMNS = ("doc_id", "text")
ALSO = {"id": "doc_id", "docno": "doc_id", "did": "doc_id", "document": "text", "contents": "text", "passage": "text"}


def read_rows(path: Path, rename: Mapping[str, str]) -> tuple[list[Document], list[str]]:
    """The rows as documents, and the faults of the rows that are left out, each with its line.

    Args:
        path: Columns ``doc_id``, ``text`` and optionally ``title`` and ``section``.
        rename: Our column names by theirs.

    Raises:
        UnreadableError: When it is no table, or has no such columns.
    """
    try:
        table = read_table(str(path))
    except InputError as error:
        raise UnreadableError("; ".join(error.faults[:3])) from None
    table = renamed(table, {theirs: ours for theirs, ours in rename.items() if theirs in table.columns})
    usual = {old: new for old, new in ALSO.items() if old in table.columns and new not in table.columns}
    table = renamed(table, _once(usual))
    missing = [name for name in COLUMNS if name not in table.columns]
    if missing:
        raise UnreadableError(
            f"no column {listed(missing)}; the columns are {listed(table.columns)}; rename with --map, for example "
            f"--map THEIR_COLUMN={missing[0]}"
        )
    documents, faults, seen = [], [], set()
    for index, row in enumerate(table.rows):
        doc_id = "" if is_missing(row.get("doc_id")) else as_id(row["doc_id"])
        if not doc_id or is_missing(row.get("text")):
            faults.append(f"{table.where(index)}: {'text' if doc_id else 'doc_id'} is empty; the row is left out.")
        elif doc_id in seen:
            faults.append(f"{table.where(index)}: doc_id {doc_id!r} again; the row is left out.")
        else:
            seen.add(doc_id)
            title = "" if is_missing(row.get("title")) else as_text(row["title"])
            heading = "" if is_missing(row.get("section")) else as_text(row["section"])
            documents.append(Document(title, (Section(as_text(row["text"]), heading),), doc_id))
    return documents, faults


def _once(usual: Mapping[str, str]) -> dict[str, str]:
    """One of their columns for each of ours: the first in ``ALSO``."""
    chosen: dict[str, str] = {}
    for theirs, ours in usual.items():
        if ours not in chosen.values():
            chosen[theirs] = ours
    return chosen
