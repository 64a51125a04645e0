"""Columnar sources of rows: Parquet and Arrow files, data set folders, data sets on the Hugging Face Hub.

Everything heavy is imported where it is used: reading a CSV must not pay two seconds for ``datasets``.
"""

import re
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

from judgec.errors import InputError, ServiceError
from judgec.table.table import Row

HUB_PREFIX = "hf:"
MOST_BYTES = 4 * 2**30  # of a file once it is unpacked; a few kilobytes of Parquet can unpack to terabytes
BATCH_ROWS = 256

Content = tuple[list[str], Sequence[Row]]


def read_parquet(path: Path) -> Content:
    """Columns and rows of one Parquet file.

    Raises:
        InputError: When it is not Parquet, or damaged.
    """
    import pyarrow as pa
    import pyarrow.parquet as pq

    try:
        with pq.ParquetFile(path) as file:
            table = _gathered(path, file.iter_batches(BATCH_ROWS), file.schema_arrow)
    except (pa.ArrowInvalid, OSError) as error:
        raise _damaged(path, "Parquet", error) from error
    return list(table.column_names), table.to_pylist()


def read_arrow_file(path: Path) -> Content:
    """Columns and rows of one Arrow IPC file (also called Feather), in the file or the stream format.

    Raises:
        InputError: When it is neither, or damaged.
    """
    import pyarrow as pa
    from pyarrow import ipc

    try:
        with pa.memory_map(str(path)) as source:
            try:
                file = ipc.open_file(source)
                table = _gathered(path, (file.get_batch(i) for i in range(file.num_record_batches)), file.schema)
            except pa.ArrowInvalid:
                source.seek(0)
                stream = ipc.open_stream(source)
                table = _gathered(path, stream, stream.schema)
    except (pa.ArrowInvalid, OSError) as error:
        raise _damaged(path, "Arrow", error) from error
    return list(table.column_names), table.to_pylist()


def _gathered(path: Path, batches: Iterable[Any], schema: Any) -> Any:  # pyarrow is untyped
    """The batches as one table, given up as soon as they are too large together."""
    import pyarrow as pa

    kept, size = [], 0
    for batch in batches:
        size += batch.nbytes
        if size > MOST_BYTES:
            raise InputError(
                [f"{path}: more than {MOST_BYTES} bytes once unpacked; so much is not read. Split the file."]
            )
        kept.append(batch)
    return pa.Table.from_batches(kept, schema)


def is_data_set(folder: Path) -> bool:
    """True for a folder of labels, or one that ``Dataset.save_to_disk`` wrote."""
    return any(folder.glob("labels.*")) or any(
        (folder / name).is_file() for name in ("state.json", "dataset_dict.json")
    )


def read_data_set(folder: Path) -> Content:
    """A folder written by ``Dataset.save_to_disk``, or one of Parquet or Arrow files, read in name order.

    A ``DatasetDict`` with several splits needs one of them named: ``FOLDER/train``.

    Raises:
        InputError: When the folder holds none of these, or several splits.
    """
    if (folder / "dataset_dict.json").is_file():
        splits = sorted(part.name for part in folder.iterdir() if (part / "state.json").is_file())
        if len(splits) != 1:
            raise InputError(
                [(f"{folder}: a data set with splits {', '.join(splits)}; one is needed. Give {folder}/{splits[0]}.")]
                if splits
                else [f"{folder}: a data set without splits; at least one is needed. Save it again."]
            )
        return read_data_set(folder / splits[0])
    if (folder / "state.json").is_file():
        import datasets

        try:
            return _content(datasets.load_from_disk(str(folder)))
        except (OSError, ValueError, KeyError) as error:
            raise _damaged(folder, "an Arrow data set", error) from error
    for pattern, read in (("*.parquet", read_parquet), ("*.arrow", read_arrow_file)):
        if parts := [read(file) for file in sorted(folder.glob(pattern))]:
            columns = dict.fromkeys(name for names, _ in parts for name in names)
            return list(columns), [row for _, rows in parts for row in rows]
    raise InputError(
        [
            (
                f"{folder}: a folder without labels.jsonl (or .csv, .tsv, .parquet, .json), Arrow data "
                "set or Parquet "
                "files; one of them is needed. Name the file itself."
            )
        ]
    )


def read_hub(path: str) -> Content:
    """A data set of the Hugging Face Hub: ``hf:owner/name@split``, or ``hf:owner/name/config@split``.

    Without a split the data set must have only one.

    Raises:
        InputError: When the name, configuration or split is wrong.
        ServiceError: When the Hub cannot be reached and the data set is not in the local cache.
    """
    match = re.fullmatch(r"hf:([\w.-]+/[\w.-]+)(?:/([\w.-]+))?(?:@([\w.\[\]:%+-]+))?", path)
    if match is None:
        raise InputError([f"{path}: not a data set name; valid is hf:owner/name@split. Correct the name."])
    name, config, split = match.groups()
    import datasets

    try:
        loaded = datasets.load_dataset(name, config, split=split)
    except datasets.exceptions.DatasetNotFoundError as error:
        raise InputError([f"{path}: {_first_line(error)}; check owner, name and access on the Hub."]) from error
    except (
        ValueError,
        datasets.exceptions.DatasetGenerationError,
    ) as error:  # the message lists valid splits
        raise InputError([f"{path}: {_first_line(error)} Correct hf:owner/name/config@split."]) from error
    except OSError as error:
        raise ServiceError(
            f"{path}: the Hugging Face Hub did not give the data set ({_first_line(error)}); "
            "reading hf: needs the "
            "network or a cached copy. Go online, or save the data set as Parquet and give that file."
        ) from error
    if isinstance(loaded, dict):
        if len(loaded) != 1:
            raise InputError(
                [(f"{path}: no split named; the splits are {', '.join(loaded)}. Give {path}@{next(iter(loaded))}.")]
            )
        loaded = next(iter(loaded.values()))
    return _content(loaded)


def _content(data_set: Any) -> Content:  # datasets has no types
    """Columns and rows of a ``datasets.Dataset``; class labels become their names."""
    rows: list[dict[str, object]] = data_set.to_list()
    for column, feature in data_set.features.items():
        names = getattr(feature, "names", None)
        if names:
            for row in rows:
                code = row[column]
                row[column] = names[code] if isinstance(code, int) and code >= 0 else None
    return list(data_set.column_names), rows


def _first_line(error: BaseException) -> str:
    return next(iter(str(error).splitlines()), type(error).__name__).rstrip(".;")


def _damaged(path: Path, kind: str, error: BaseException) -> InputError:
    return InputError(
        [(f"{path}:row 1: not readable as {kind} ({_first_line(error)}); a whole file is needed. Export it again.")]
    )
