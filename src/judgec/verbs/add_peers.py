"""Writes a label file anew with the column ``peers``: what other systems answered to the same query."""

import json
from dataclasses import dataclass
from pathlib import Path

from judgec.errors import UserError
from judgec.labels.rows.peers import peers_of
from judgec.labels.splits import write_whole
from judgec.records.tasks.spec import PEERS
from judgec.table.datasheet import NAME as DATASHEET
from judgec.table.datasheet import find_datasheet
from judgec.table.rows.columns import renamed
from judgec.table.tables import read_table
from judgec.verbs.options.labels import LabelsOptions


@dataclass(frozen=True)
class AddedPeers:
    """What was written.

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
        """What ``labels --peers OUT --json`` prints."""
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
