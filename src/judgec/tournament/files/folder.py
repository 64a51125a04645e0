"""The folder that an evaluation leaves behind."""

import csv
import io
from collections.abc import Mapping, Sequence
from pathlib import Path

from judgec.errors import UserError
from judgec.labels.split.family import write_whole
from judgec.table.formulas import guarded


def write_folder(
    folder: Path,
    tables: Mapping[str, Sequence[Sequence[object]]],
    texts: Mapping[str, str],
    stale: Sequence[str] = (),
) -> None:
    """Write each table as ``NAME.csv`` and each text under its name, every file whole or not at all.

    ``stale`` names files of an earlier run: those that are not written now are removed.

    Raises:
        UserError: When the folder cannot be written to.
    """
    try:
        folder.mkdir(parents=True, exist_ok=True)
        for name in set(stale) - {*texts, *(f"{name}.csv" for name in tables)}:
            (folder / name).unlink(missing_ok=True)
        for name, rows in tables.items():
            out = io.StringIO(newline="")
            safe = ([guarded(cell) if isinstance(cell, str) else cell for cell in row] for row in rows)
            csv.writer(out, lineterminator="\n").writerows(safe)
            write_whole(folder / f"{name}.csv", out.getvalue())
        for name, text in texts.items():
            write_whole(folder / name, text)
    except OSError as error:
        raise UserError(f"--out {folder}: {error.strerror}; a folder to write to is needed. Name another.") from error
