"""Rows of JSON lines and of delimited text, some at a time: the reader stands behind the last row it gave."""

import csv
import json
import sys
from collections.abc import Callable, Mapping
from itertools import islice
from typing import BinaryIO

import orjson

from judgec.table.formulas import is_own
from judgec.table.table import Row
from judgec.table.tables import DELIMITERS
from judgec.table.traces.spans import holds_spans

JSON_LINES = (".jsonl", ".ndjson")


class IrregularError(Exception):
    """The file must be read whole."""


Read = Callable[[BinaryIO, int], list[Row]]
"""The next rows of a file, so many at most; none at its end."""


def _json_rows(_: BinaryIO) -> Read:
    def read(file: BinaryIO, most: int) -> list[Row]:
        rows: list[Row] = []
        while len(rows) < most and (line := file.readline()):
            try:
                row = orjson.loads(line)
            except orjson.JSONDecodeError:
                if not line.strip():
                    continue
                row = None
            if not isinstance(row, dict) or any(_inexact(value) for value in row.values() if type(value) is not str):
                try:
                    row = json.loads(line)
                except ValueError:
                    raise IrregularError from None
            if not isinstance(row, dict) or holds_spans(row):
                raise IrregularError
            rows.append(row)
        return rows

    return read


def _inexact(value: object) -> bool:
    """True if orjson may have read another number than json: it has no integers beyond 64 bits (nor NaN)."""
    if isinstance(value, list):
        return any(type(one) is not str for one in value)
    return isinstance(value, float | dict)


def _delimited_rows(usual: str) -> Callable[[BinaryIO], Read]:
    def start(file: BinaryIO) -> Read:
        """Read the header; the file then stands at the first row."""
        csv.field_size_limit(sys.maxsize)  # the default of 128 KiB is shorter than a retrieved document
        try:
            head = file.readline().decode("utf-8-sig")
        except UnicodeDecodeError:
            raise IrregularError from None
        if "\r" in head.rstrip("\r\n"):
            raise IrregularError
        delimiter = max(usual + DELIMITERS, key=lambda mark: len(next(csv.reader([head], delimiter=mark))))
        header = [cell.strip() for cell in next(csv.reader([head], delimiter=delimiter))]
        if not all(header) or len(set(header)) < len(header) or head.count('"') % 2 or is_own(header):
            raise IrregularError

        def read(file: BinaryIO, most: int) -> list[Row]:
            # The reader takes no line before it needs it, so that the file stands behind the last row.
            lines = (line.decode() for line in iter(file.readline, b""))
            rows = csv.reader(lines, delimiter=delimiter, strict=True, skipinitialspace=True)
            try:
                cells = list(islice((row for row in rows if row), most))
            except (csv.Error, UnicodeDecodeError):
                raise IrregularError from None
            if any(len(row) != len(header) or not any(map(str.strip, row)) for row in cells):
                raise IrregularError
            return [dict(zip(header, row, strict=True)) for row in cells]

        return read

    return start


READERS: Mapping[str, Callable[[BinaryIO], Read]] = {
    ".jsonl": _json_rows,
    ".ndjson": _json_rows,
    ".csv": _delimited_rows(","),
    ".tsv": _delimited_rows("\t"),
    ".tab": _delimited_rows("\t"),
}
