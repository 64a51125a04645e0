"""Judged rows as Parquet: the type of each column follows from all of its values, which are looked at first."""

import json
import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import date, datetime, time, timedelta
from typing import Any, BinaryIO

from judgec.table.rows.cells import as_text

GROUP = 8192  # rows of a group: so many are held
EXACT = 2**53  # floats tell whole numbers apart up to it
WIDEST = 2**63  # of Parquet's whole numbers
OTHERS = (bytes, date, datetime, time, timedelta)  # what Parquet knows besides numbers, truths and texts


Values = Callable[[], Iterable[Sequence[object]]]
"""Rows as lists of cells, from the beginning each time it is called."""


@dataclass(slots=True)
class ParquetRows:
    """Takes rows and writes them in groups.

    Args:
        writer: Of pyarrow.
        schema: The same.
        form: Of each column what makes its values fit, or None where they do.
    """

    writer: Any  # pyarrow is untyped
    schema: Any
    form: Sequence[Callable[[object], object] | None]
    _rows: list[Sequence[object]] = field(default_factory=list)

    def put(self, row: Sequence[object]) -> None:
        """Write a row, sooner or later."""
        self._rows.append(row)
        if len(self._rows) == GROUP:
            self.flush()

    def flush(self) -> None:
        """Write what waits."""
        import pyarrow as pa

        columns: list[Sequence[object]] = list(zip(*self._rows, strict=True)) or [()] * len(self.schema)
        fitted = [
            column if form is None else [None if value is None else form(value) for value in column]
            for column, form in zip(columns, self.form, strict=True)
        ]
        arrays = [pa.array(column, kind) for column, kind in zip(fitted, self.schema.types, strict=True)]
        self.writer.write_table(pa.Table.from_arrays(arrays, schema=self.schema))
        self._rows.clear()


@contextmanager
def parquet_rows(
    file: BinaryIO, header: Sequence[str], kinds: Mapping[str, type], values: Values
) -> Iterator[ParquetRows]:
    """Write a Parquet file.

    Args:
        file: Where it goes.
        header: Names of the columns.
        kinds: What columns hold of which that is known: ``str``, ``int``, ``float`` or ``bool``.
        values: The cells of the columns of which it is not, in order.
    """
    import pyarrow as pa
    import pyarrow.parquet as pq

    unknown = [name for name in header if name not in kinds]
    seen: list[dict[str, object]] = [{} for _ in unknown]
    for row in values() if unknown else ():
        for column, value in zip(seen, row, strict=True):
            if value is not None:
                column.setdefault(_kind(value), value)
    found = dict(zip(unknown, map(_form, seen), strict=True))
    basic = {str: pa.string(), int: pa.int64(), float: pa.float64(), bool: pa.bool_()}
    forms = [(basic[kinds[name]], _known(kinds[name])) if name in kinds else found[name] for name in header]
    schema = pa.schema([pa.field(name, kind) for name, (kind, _) in zip(header, forms, strict=True)])
    with pq.ParquetWriter(file, schema) as writer:
        rows = ParquetRows(writer, schema, [form for _, form in forms])
        yield rows
        rows.flush()


def _known(kind: type) -> Callable[[object], object] | None:
    return as_text if kind is str else float_of if kind is float else None


def float_of(value: object) -> float:
    """A number as a float."""
    assert isinstance(value, int | float)
    return float(value)


def _kind(value: object) -> str:
    """Kind of a value, as far as columns tell it apart."""
    if isinstance(value, int) and not isinstance(value, bool):
        return "int" if abs(value) <= EXACT else "long" if -WIDEST <= value < WIDEST else "other"
    if isinstance(value, list):
        return "texts" if all(isinstance(one, str) for one in value) else "other"
    name = type(value).__name__
    return name if isinstance(value, (bool, float, str, *OTHERS)) else "other"


def _form(seen: Mapping[str, object]) -> tuple[Any, Callable[[object], object] | None]:
    """A column's type, and what makes its values fit; what fits no type together is text, lists and objects JSON."""
    import pyarrow as pa

    kinds = set(seen)
    if kinds == {"bool"}:
        return pa.bool_(), None
    if kinds and kinds <= {"int", "long"}:
        return pa.int64(), None
    if kinds and kinds <= {"int", "float"}:
        return pa.float64(), float_of
    if kinds == {"texts"}:
        return pa.list_(pa.string()), _texts
    if len(kinds) == 1 and isinstance(example := next(iter(seen.values())), OTHERS):
        return pa.infer_type([example]), None
    return pa.string(), _text


def _texts(value: object) -> list[str]:
    assert isinstance(value, list)
    return list(map(as_text, value))


def _text(value: object) -> str:
    if isinstance(value, float) and math.isfinite(value):
        return json.dumps(value)
    return as_text(value)
