"""A folder of this machine or a bucket, through pyarrow's file systems: what is in it, bytes read and written.

Object stores have no rename: an object is there whole or not at all, and nothing else is promised.
"""

import os
import re
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any
from urllib.parse import urlencode, urlsplit

from judgec.errors import ServiceError, UserError

REMOTE = ("s3", "gs")
SUFFIXES = (".parquet", ".jsonl", ".ndjson")
CHUNK = 1 << 22  # bytes copied at a time
GCS_PATIENCE = 30  # seconds of retries: Google's client retries without credentials, too, else for a quarter of an hour
_URL = re.compile(rf"^({'|'.join(REMOTE)}):/+")
_WILD = re.compile(r"[*?\[]")


@dataclass(frozen=True, slots=True)
class Found:
    """A file of a place.

    Args:
        name: Below the place, with slashes.
        size: Bytes.
        changed: When, in nanoseconds since the epoch; 0 where nobody knows.
    """

    name: str
    size: int
    changed: int


class ShardPlace:
    """A folder, wherever it is.

    Args:
        shown: As users write it: a path, ``s3://BUCKET/FOLDER`` or ``gs://BUCKET/FOLDER``.

    Raises:
        ServiceError: When the store does not know such a place, or cannot be reached.
    """

    def __init__(self, shown: str) -> None:
        from pyarrow.fs import FileSystem, LocalFileSystem

        self.shown = shown.rstrip("/") or "/"
        self.local = not is_remote(shown)
        self._files: Any  # pyarrow is untyped
        if self.local:
            self._files, self._root = LocalFileSystem(), str(Path(self.shown).absolute())
        else:
            with self._named():
                self._files, self._root = FileSystem.from_uri(_uri(self.shown))

    def of(self, name: str) -> str:
        """Name of a file in messages."""
        return f"{self.shown}/{name}"

    def files(self) -> list[Found]:
        """All files, folders below included, by name."""
        from pyarrow.fs import FileSelector, FileType

        with self._named():
            infos = self._files.get_file_info(FileSelector(self._root, recursive=True, allow_not_found=True))
        cut = len(self._root.rstrip("/")) + 1
        found = [
            Found(info.path[cut:], info.size or 0, info.mtime_ns or 0) for info in infos if info.type == FileType.File
        ]
        return sorted(found, key=lambda one: one.name)

    def read(self, name: str) -> bytes:
        """The content of a file."""
        with self._named(name), self._files.open_input_stream(self._path(name)) as file:
            content: bytes = file.read()
        return content

    def write(self, name: str, content: bytes) -> None:
        """A file with this content; it replaces one of the name."""
        self._make_room(name)
        with self._named(name), self._files.open_output_stream(self._path(name)) as file:
            file.write(content)

    def remove(self, name: str) -> None:
        """Take a file away, if it is there."""
        from pyarrow.fs import FileType

        with self._named(name):
            if self._files.get_file_info(self._path(name)).type == FileType.File:
                self._files.delete_file(self._path(name))

    def fetch(self, name: str, folder: Path) -> Path:
        """The file on this machine: where it is, or copied into a folder."""
        if self.local:
            return Path(self._path(name))
        path = folder / Path(name).name
        with self._named(name), self._files.open_input_stream(self._path(name)) as source, path.open("wb") as target:
            shutil.copyfileobj(source, target, CHUNK)
        return path

    def store(self, path: Path, name: str) -> None:
        """Copy a file of this machine here."""
        self._make_room(name)
        with (
            path.open("rb") as source,
            self._named(name),
            self._files.open_output_stream(self._path(name)) as target,
        ):
            shutil.copyfileobj(source, target, CHUNK)

    def _path(self, name: str) -> str:
        return f"{self._root.rstrip('/')}/{name}"

    def _make_room(self, name: str) -> None:
        if self.local:  # buckets have no folders
            with self._named(name):
                self._files.create_dir(self._path(name).rpartition("/")[0], recursive=True)

    @contextmanager
    def _named(self, name: str = "") -> Iterator[None]:
        try:
            yield
        except (OSError, ValueError) as error:
            if self.local:
                raise
            where = self.of(name) if name else self.shown
            reason = str(error).splitlines()[0].partition(" error_info=")[0]
            other = "STORAGE_EMULATOR_HOST" if self.shown.startswith("gs:") else "AWS_ENDPOINT_URL"
            raise ServiceError(
                f"{where}: {reason}; a bucket that this machine may read and write is valid. Look at the name, at the "
                f"credentials in the environment and, of other stores than the provider's own, at {other}."
            ) from error


def is_remote(shown: str) -> bool:
    """True if it is in a bucket."""
    return _URL.match(shown) is not None


def _uri(shown: str) -> str:
    """A bucket as pyarrow wants to hear of it; where Google's is says the variable that its own clients read."""
    if not shown.startswith("gs:"):
        return shown
    options = {"retry_limit_seconds": str(GCS_PATIENCE)}
    if host := os.environ.get("STORAGE_EMULATOR_HOST"):
        address = urlsplit(host if "://" in host else f"http://{host}")
        options |= {"scheme": address.scheme, "endpoint_override": address.netloc}
        shown = shown.replace("gs://", "gs://anonymous@", 1)
    return f"{shown}?{urlencode(options)}"


def as_shown(path: str | Path) -> str:
    """A path or URL as users write it; ``Path`` has taken one of a URL's slashes."""
    return _URL.sub(r"\1://", str(path))


def is_wild(shown: str) -> bool:
    """True if it is a pattern."""
    return _WILD.search(shown) is not None


def shards_of(shown: str) -> tuple[ShardPlace, list[Found]]:
    """The shards that a folder holds, or that a pattern names, by name.

    What begins with ``_`` or ``.``, the folders above included, is no shard.

    Args:
        shown: A folder, or a pattern such as ``s3://BUCKET/items/2026-*/part-*.parquet``.

    Raises:
        UserError: When there is none.
        ServiceError: As ``ShardPlace``.
    """
    parts = shown.split("/")
    wild = next((number for number, part in enumerate(parts) if is_wild(part)), None)
    place = ShardPlace(shown if wild is None else "/".join(parts[:wild]) or ("/" if shown.startswith("/") else "."))
    pattern = None if wild is None else parts[wild:]
    files = [one for one in place.files() if one.name.endswith(SUFFIXES) and not _hidden(one.name)]
    if pattern is not None:
        files = [one for one in files if _fits(one.name.split("/"), pattern)]
    if not files:
        raise UserError(f"{shown}: no shards; files named {', '.join(SUFFIXES)} are shards. Name their folder.")
    return place, files


def _hidden(name: str) -> bool:
    return any(part[:1] in {"_", "."} for part in name.split("/"))


def _fits(parts: list[str], pattern: list[str]) -> bool:
    return len(parts) == len(pattern) and all(map(fnmatchcase, parts, pattern))
