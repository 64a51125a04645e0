"""Records what an index was made of and how, and checks whether this judgec can use it."""

from collections.abc import Mapping
from math import sqrt
from pathlib import Path
from typing import Literal, Self
from urllib.parse import urlsplit

from pydantic import BaseModel, ConfigDict, ValidationError

from judgec.errors import ArtifactError
from judgec.labels.split.family import write_whole

FORMAT = 1  # raise it when an older index would be read wrongly
FILE = "index.json"
IN_MEMORY = 50_000  # passages up to which vectors are compared exactly, in memory; above, by an IVF index


MOST_PARTITIONS = 1_000  # of an IVF index
Metric = Literal["cosine", "l2"]
Ann = Literal["auto", "exact", "ivf", "hnsw"]


class SourceFile(BaseModel):
    """One file of the corpus.

    Args:
        digest: SHA-256 of its bytes.
        passages: How many of it are in the index.
        duplicates: Passages left out because their text was there already.
        copies_of: The files that hold those texts, or the doc_ids of documents left out: when one changes, this file
            is read again.
        faults: Rows that were left out, a sentence each.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    digest: str
    passages: int
    duplicates: int = 0
    copies_of: tuple[str, ...] = ()
    faults: tuple[str, ...] = ()


class Manifest(BaseModel):
    """The description of an index, in ``index.json``.

    Args:
        format: Of the folder.
        embedder: Its name.
        dimensions: Of the vectors; 0 before there are any.
        chunking: As ``Chunking.parse`` reads it.
        language: Whose stems and stop words the full-text index uses.
        metric: What makes vectors near: ``cosine``, or ``l2``, the squared Euclidean distance.
        ann: How the nearest are found: ``exact``, ``ivf``, ``hnsw``; ``auto`` is exact up to 50,000 passages, then IVF.
        table_version: The version of the table that this manifest describes; later ones are unfinished work.
        fitted_on: How many passages the latent semantics were fitted on; None for other embedders.
        added_since: Passages added or removed since then.
        rename: Our column names by theirs, in tables of passages.
        files: By name.
        complete: False while the index is being built.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    format: int = FORMAT
    embedder: str
    dimensions: int = 0
    chunking: str
    language: str = "English"
    metric: Metric = "cosine"
    ann: Ann = "auto"
    table_version: int = 0
    fitted_on: int | None = None
    added_since: int = 0
    rename: Mapping[str, str] = {}
    files: Mapping[str, SourceFile] = {}
    complete: bool = False

    @property
    def passages(self) -> int:
        """Number of passages in the index."""
        return sum(file.passages for file in self.files.values())

    @property
    def approximate(self) -> str | None:
        """``ivf`` or ``hnsw`` where the nearest vectors are found by such an index, None where all are compared."""
        if self.ann == "auto":
            return "ivf" if self.passages > IN_MEMORY else None
        return None if self.ann == "exact" else self.ann

    def write(self, folder: Path) -> None:
        """Write it whole or not at all."""
        write_whole(folder / FILE, self.model_dump_json(indent=1) + "\n")

    @classmethod
    def read(cls, folder: Path) -> Self | None:
        """The manifest in ``folder``; None when there is none.

        Raises:
            ArtifactError: When it is damaged or of another format.
        """
        path = folder / FILE
        return cls.parse(path.read_bytes(), str(path)) if path.is_file() else None

    @classmethod
    def parse(cls, data: bytes, where: str) -> Self:
        """The manifest in ``data``.

        Raises:
            ArtifactError: When it is damaged or of another format.
        """
        try:
            found = cls.model_validate_json(data)
        except ValidationError as error:
            version = _format_of(data)
            if version is not None and version != FORMAT:
                raise _other_format(where, version) from None
            place = ".".join(map(str, error.errors()[0]["loc"])) or "the file"
            raise ArtifactError(
                f"{where}: damaged at {place}; only judgec index writes it. Build the index again in a new folder."
            ) from None
        if found.format != FORMAT:
            raise _other_format(where, found.format)
        return found


def partitions_of(passages: int) -> int:
    """Partitions of an IVF index of so many passages."""
    return min(MOST_PARTITIONS, round(sqrt(passages)))


class _Format(BaseModel):
    format: int


def _format_of(data: bytes) -> int | None:
    try:
        return _Format.model_validate_json(data).format
    except ValidationError:
        return None


def _other_format(where: str, version: int) -> ArtifactError:
    return ArtifactError(
        f"{where}: index format {version}; this judgec reads format {FORMAT}. "
        "Build the index again with judgec index, in a new folder."
    )


def location_shown(location: str) -> str:
    """An index's location without the password that a URL may hold: for messages and files."""
    parts = urlsplit(location)
    if not parts.password:
        return location
    return parts._replace(netloc=parts.netloc.replace(f":{parts.password}@", ":***@")).geturl()
