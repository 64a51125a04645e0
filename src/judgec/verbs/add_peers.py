"""Writes a label file anew with the column ``peers``: what other systems answered to the same query."""

import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from judgec.errors import InputError, UserError
from judgec.labels.split.family import write_whole
from judgec.records.tasks.spec import PEERS
from judgec.report.report import Report
from judgec.table.datasheet import NAME as DATASHEET
from judgec.table.datasheet import find_datasheet
from judgec.table.rows.cells import as_text, as_texts, is_missing
from judgec.table.rows.columns import renamed
from judgec.table.table import Row, Table
from judgec.table.tables import read_table
from judgec.verbs.options.labels import LabelsOptions
from judgec.verbs.typed import command

AGENTS = "agents"  # the systems that gave one and the same answer, where a file keeps it once


@dataclass(frozen=True, slots=True)
class _Answered:
    """An answer to a query, and who gave it."""

    text: str
    agents: tuple[str, ...]


def peers_of(table: Table) -> list[tuple[str, ...]]:
    """Answers of other systems to the query of each row, in the order of the file.

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


@dataclass(frozen=True)
class AddedPeers:
    """The file that was written.

    Args:
        out: The file with the column.
        datasheet: That of the file, copied beside it, or None where there is none.
        rows: Rows.
        alone: Rows without a peer.
        peers: Most peers that a row has.
    """

    out: Path
    datasheet: Path | None
    rows: int
    alone: int
    peers: int

    def to_json(self) -> dict[str, object]:
        """The JSON that ``labels --peers OUT --json`` prints."""
        return {
            "out": str(self.out),
            "datasheet": None if self.datasheet is None else str(self.datasheet),
            "rows": self.rows,
            "without_peers": self.alone,
            "most_peers": self.peers,
        }


def add_peers(options: LabelsOptions) -> AddedPeers:
    """Write ``options.peers``: all rows and columns of ``options.file``, under our names, and ``peers``.

    Raises:
        UserError: The target is no new JSONL file in a folder that is there, or the file has such a column already.
        InputError: What ``read_table`` raises; no query or no answer.
    """
    out = options.peers
    if out is None or out.suffix.lower() != ".jsonl":
        raise UserError(
            f"--peers {out}: a list a row is written as JSON; a name that ends in .jsonl is valid. Rename it."
        )
    if not out.parent.is_dir():
        raise UserError(f"--peers {out}: no such folder {out.parent}; create it, or name another.")
    beside = out.with_name(f"{out.stem}.{DATASHEET}")
    if there := [str(path) for path in (out, beside) if path.exists()]:
        raise UserError(f"--peers {out}: {', '.join(there)} is there; a new file is valid. Move it, or name another.")
    table = renamed(read_table(options.file), options.columns)
    if PEERS in table.columns:
        raise UserError(f"{options.file}: it has a column {PEERS}, which would be lost. Use it as it is, or rename it.")
    found = peers_of(table)
    rows = [{**row, PEERS: list(peers)} for row, peers in zip(table.rows, found, strict=True)]
    write_whole(out, "".join(json.dumps(row, ensure_ascii=False, default=str) + "\n" for row in rows))
    sheet = find_datasheet(options.file)
    if sheet is not None:
        write_whole(beside, sheet.read_text(encoding="utf-8"))
    return AddedPeers(
        out=out,
        datasheet=None if sheet is None else beside,
        rows=len(rows),
        alone=sum(not peers for peers in found),
        peers=max(map(len, found), default=0),
    )


def peers_report(added: AddedPeers, options: LabelsOptions) -> Report:
    """Report on how many rows have peers, and what to do with them."""
    return Report(
        data=added.to_json(),
        verdict=[
            f"{added.out}: {added.rows} rows, {added.rows - added.alone} of them with peers, {added.peers} at most"
        ],
        lines=[] if added.datasheet is None else [f"{added.datasheet}: as that of {options.file}"],
        next=[command("labels", str(added.out), home=options.home)],
    )
