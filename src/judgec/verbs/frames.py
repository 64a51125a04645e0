"""Tables from what Python users hold: a path, a DataFrame, a list of dicts, a Hugging Face data set."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Protocol, TypeGuard

import numpy as np
import pandas as pd

from judgec.errors import UserError
from judgec.report.numbers import number
from judgec.report.page.notebook import notebook
from judgec.report.report import Report
from judgec.report.screen import TextTable
from judgec.table.table import IN_MEMORY, Row, Table
from judgec.table.tables import TableSource, read_table, without


class ToPandas(Protocol):
    """Anything that becomes a DataFrame by itself: ``datasets.Dataset``, a pyarrow or polars table."""

    def to_pandas(self) -> pd.DataFrame:
        """As a DataFrame."""


Source = str | Path | pd.DataFrame | Sequence[Mapping[str, object]] | ToPandas
"""A path or ``hf:owner/name``, a DataFrame, a list of dicts, or a ``datasets.Dataset``."""


def is_path(source: object) -> TypeGuard[str | Path]:
    """True for what is read from disk or from the Hub."""
    return isinstance(source, str | Path)


def as_table(source: object, missing: Sequence[str] = ()) -> Table:
    """The rows of any source, in which words that somebody calls missing say nothing.

    Raises:
        UserError: Something else than the sources that ``Source`` names, or no rows.
        InputError: As ``table.tables.read_table``.
    """
    if is_path(source):
        return read_table(str(source), missing=missing)
    rows = _rows(source)
    if not rows:
        raise UserError(f"{IN_MEMORY}: there are no rows; rows are needed. Check what is passed.")
    columns = dict.fromkeys(name for row in rows for name in row)
    table = Table(IN_MEMORY, tuple(columns), tuple(rows), tuple(range(1, len(rows) + 1)), by_line=False)
    return without(table, missing)


def named_table(source: object, name: str, missing: Sequence[str] = ()) -> Table:
    """The rows of any source, as ``as_table``; those from memory go by ``name`` in messages."""
    table = as_table(source, missing)
    return table if is_path(source) else replace(table, path=name)


def table_source(source: object, name: str, missing: Sequence[str] = ()) -> TableSource:
    """A path as it is, for whoever reads it piece by piece; the rows of it where words in it are missing.

    Rows from memory go by ``name`` in messages.
    """
    return str(source) if is_path(source) and not missing else named_table(source, name, missing)


def as_frame(source: Source) -> pd.DataFrame:
    """Any source as a DataFrame; a DataFrame is returned as it is."""
    if isinstance(source, pd.DataFrame):
        return source
    table = as_table(source)
    return pd.DataFrame(list(table.rows), columns=list(table.columns))


def _rows(source: object) -> list[Row]:
    if not isinstance(source, str | Path | pd.DataFrame | Sequence) and hasattr(source, "to_pandas"):
        source = source.to_pandas()
    if isinstance(source, pd.DataFrame):
        names = [str(name) for name in source.columns]
        return [dict(zip(names, map(_plain, row), strict=True)) for row in source.itertuples(index=False, name=None)]
    if isinstance(source, Sequence):
        rows = [row for row in source if isinstance(row, Mapping)]
        if len(rows) == len(source):
            return [{str(name): _plain(value) for name, value in row.items()} for row in rows]
    raise UserError(
        f"labels or items: a {type(source).__name__}; a path, hf:owner/name, a DataFrame, a list of dicts or a "
        "datasets.Dataset is valid. Pass one of these."
    )


def _plain(value: object) -> object:
    """The value as Python has it; what pandas calls missing is None."""
    if isinstance(value, np.ndarray):
        return value.tolist()
    if isinstance(value, np.generic):
        value = value.item()
    return None if value is pd.NA or value is pd.NaT or (isinstance(value, float) and np.isnan(value)) else value


def frame_part(sentence: str, frame: pd.DataFrame, *, digits: int = 2) -> str:
    """HTML that ``_repr_html_`` shows of rows: a sentence, and the frame as a table; every text escaped."""
    index = ["" if each is None else str(each) for each in frame.index.names]
    rows = [
        [*map(str, key if isinstance(key, tuple) else (key,)), *(_written(value, digits) for value in values)]
        for key, values in zip(frame.index, frame.itertuples(index=False, name=None), strict=True)
    ]
    return notebook(Report(verdict=[sentence], tables=[TextTable("", [*index, *map(str, frame.columns)], rows)]))


def _written(value: object, digits: int) -> str:
    return number(value, digits) if isinstance(value, float) else str(value)
