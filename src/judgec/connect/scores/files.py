"""Reads the files of an export, whole or page by page, into records."""

import json
import zipfile
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

from judgec.connect.scores.records import ExportRecord
from judgec.errors import InputError
from judgec.table.arrow import MOST_BYTES
from judgec.table.rows.cells import is_missing
from judgec.table.table import Row
from judgec.table.tables import as_it_stands

EVAL = ".eval"  # of Inspect
SUFFIXES = (EVAL, ".json", ".jsonl", ".ndjson", ".csv", ".tsv", ".parquet")
WRAPPERS = ("data", "items", "content", "scores", "runs", "feedback", "annotations", "records", "traces", "spans")
PAGING = {"meta", "next_cursor", "nextCursor", "cursor", "cursors", "page", "size", "total", "limit", "links"}


def read_export(path: str) -> tuple[ExportRecord, ...]:
    """Every record of a file, of all files of a folder, or of a list in a JSON document (``FILE.json#NAME``).

    A tool that writes scores and traces into files of their own is read from a folder that holds both. Pages of an
    API (``{"data": [...], "meta": ...}``) become the records in them.

    Raises:
        InputError: No such file, no file in the folder, no JSON, as ``table.tables.read_table``.
    """
    whole, _, inner = path.partition("#")
    if inner and whole.endswith(".json"):
        return tuple(_listed(whole, inner))
    folder = Path(path)
    if not folder.is_dir():
        return tuple(_read(path))
    files = sorted(file for file in folder.rglob("*") if file.suffix.lower() in SUFFIXES and file.is_file())
    if not files:
        raise InputError([f"{path}: no file in this folder; valid are {', '.join(SUFFIXES)}. Name the export."])
    return tuple(record for file in files for record in _read(str(file)))


def _listed(path: str, name: str) -> Iterator[ExportRecord]:
    """The records of a list inside a JSON document, ``name`` with dots."""
    value: object = [record.fields for record in _read(path)]
    value = value[0] if isinstance(value, list) and len(value) == 1 else value
    seen: list[str] = []
    for part in name.split("."):
        seen = [str(key) for key in value] if isinstance(value, dict) else []
        value = value.get(part) if isinstance(value, dict) else None
    if not isinstance(value, list):
        raise InputError(
            [f"{path}#{name}: no such list; there are {', '.join(seen) or 'no fields'}. Name one of these."]
        )
    yield from _unwrapped(f"{path}#{name}", value)


def _samples(path: str) -> Iterator[ExportRecord]:
    """The samples of an Inspect log as it is written by default: a zip of JSON files."""
    try:
        with zipfile.ZipFile(path) as log:
            names = sorted(name for name in log.namelist() if name.startswith("samples/") and name.endswith(".json"))
            if (size := sum(log.getinfo(name).file_size for name in names)) > MOST_BYTES:
                raise InputError([f"{path}: {size} bytes; at most {MOST_BYTES} are read at once. Log fewer samples."])
            head = json.loads(log.read("header.json"))
            samples = [json.loads(log.read(name)) for name in names]
    except (zipfile.BadZipFile, KeyError, ValueError, OSError) as fault:
        raise InputError([f"{path}: no Inspect log ({fault}); a zip with header.json is. Export it again."]) from None
    yield from _unwrapped(path, {**head, "samples": samples})


def _read(path: str) -> Iterator[ExportRecord]:
    if Path(path).suffix.lower() == EVAL and Path(path).is_file():
        yield from _samples(path)
        return
    if Path(path).suffix.lower() == ".json" and Path(path).is_file():
        try:
            document = json.loads(Path(path).read_text(encoding="utf-8-sig"))
        except json.JSONDecodeError:
            document = None  # lines, or broken: the reader of tables says which line
        except (UnicodeDecodeError, RecursionError) as error:
            raise InputError([f"{path}: {error}; JSON in UTF-8 is valid. Export it again."]) from None
        if isinstance(document, dict | list):
            yield from _unwrapped(path, document)
            return
    table = as_it_stands(path)  # the tool's reader knows its lists
    flat = Path(path).suffix.lower() in {".csv", ".tsv", ".parquet"}
    for index, row in enumerate(table.rows):
        if flat:
            yield ExportRecord(table.where(index), {k: v for k, v in row.items() if not is_missing(v)}, flat=True)
        else:
            yield from _unwrapped(table.where(index), row)


def _unwrapped(where: str, value: object) -> Iterator[ExportRecord]:
    if isinstance(value, list):
        for number, element in enumerate(value, 1):
            yield from _unwrapped(f"{where}#{number}", element)
    elif isinstance(value, dict):
        inner = next((name for name in WRAPPERS if isinstance(value.get(name), list)), None)
        if {"eval", "samples"} <= value.keys() and isinstance(value["samples"], list):  # an Inspect log
            model = value["eval"].get("model") if isinstance(value["eval"], dict) else None
            for number, one in enumerate(value["samples"], 1):
                for record in _unwrapped(f"{where}#samples{number}", one):
                    yield replace(record, fields={**record.fields, **({"agent": model} if model else {})})
        elif isinstance(value.get("testCases"), list) and any(
            isinstance(one, dict) and "metricsData" in one for one in value["testCases"]
        ):  # a deepeval run
            yield from _unwrapped(f"{where}#testCases", value["testCases"])
        elif inner is not None and set(value) - {inner} <= PAGING:
            yield from _unwrapped(where, value[inner])
        else:
            fields: Row = {str(name): field for name, field in value.items()}
            yield ExportRecord(where, fields)
    else:
        raise InputError([f"{where}: {json.dumps(value)[:80]}; an object is valid. Export it again as JSON."])
