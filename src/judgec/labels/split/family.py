"""Keeps a split, train, dev and test by query, and the family file that counts the test uses; ``draw`` draws it."""

import os
import re
import secrets
import sqlite3
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing, contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO, Literal

from pydantic import BaseModel, ConfigDict, ValidationError

from judgec.errors import ArtifactError, UserError
from judgec.private import private_file, private_folder
from judgec.records.label import Item
from judgec.table.arrow import HUB_PREFIX
from judgec.table.regular import regular
from judgec.table.workbooks import split_sheet

SplitName = Literal["train", "dev", "test"]
SPLITS: tuple[SplitName, ...] = ("train", "dev", "test")
SHARES = (0.5, 0.2, 0.3)
PATIENCE = 600.0  # seconds to wait for another compile to finish saving, which takes about one
FAMILY_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]*")
PRIVATE = ".judgec"  # of a home: what is nobody else's business


@dataclass(frozen=True, slots=True)
class Split:
    """Item positions of each split, in file order; no query is in two of them.

    Args:
        train: Positions in the item list.
        dev: The same.
        test: The same.
        digests: By split, SHA-256 of its items, whatever their order.
        keys: The key of each item's query, where the split goes by keys.
        folds: In how many folds the test items are tested; 1 is the single split.
        fold_of: The fold of each item, from 1; empty with the single split.
    """

    train: tuple[int, ...]
    dev: tuple[int, ...]
    test: tuple[int, ...]
    digests: Mapping[SplitName, str]
    keys: tuple[str, ...] = ()
    folds: int = 1
    fold_of: tuple[int, ...] = ()

    def sizes(self) -> dict[str, int]:
        """Items by split; with folds, how many there are."""
        sizes = {"train": len(self.train), "dev": len(self.dev), "test": len(self.test)}
        return sizes if self.folds == 1 else {**sizes, "folds": self.folds}


class SplitUse(BaseModel):
    """One verification on a test split, by a version of the family; each spends some of the error level."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    version: str
    test: str  # digest of the test split


class Family(BaseModel):
    """``programs/<name>/family.json``: what all versions of a judge share."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    name: str
    salt: str
    looks: tuple[SplitUse, ...] = ()  # its name in the file
    hard: tuple[str, ...] = ()  # keys of queries chosen for labelling because the judge was unsure of them

    def used(self, version: str, test: str) -> "Family":
        """The family after one more use of a test split."""
        return self.model_copy(update={"looks": (*self.looks, SplitUse(version=version, test=test))})


def split_table(split: Split, items: Sequence[Item], salt: str) -> dict[str, object]:
    """The content of ``split.json``: salt, sizes, digests, and the split of every query."""
    assigned = {items[i].query_id: name for name in SPLITS for i in getattr(split, name)}
    return {
        "salt": salt,
        "items": split.sizes(),
        "digests": dict(split.digests),
        "queries": dict(sorted(assigned.items())),
    }


def default_family(path: str) -> str:
    """The family of a label file when nobody names one.

    It is the file's stem, the folder of a file called ``labels``, or the name of a Hub data set.
    """
    if path.startswith(HUB_PREFIX):
        stem = path.split("@", maxsplit=1)[0].removeprefix(HUB_PREFIX).partition("/")[2].partition("/")[0]
    else:
        file = Path(split_sheet(path)[0]).resolve()
        stem = file.name if file.is_dir() else file.parent.name if file.stem == "labels" else file.stem
    return re.sub(r"[^A-Za-z0-9._-]+", "-", stem).strip("._-") or "judge"


def as_family(name: str) -> str:
    """The name, once it is known to make a folder.

    Raises:
        UserError: When it does not.
    """
    if not FAMILY_NAME.fullmatch(name):
        raise UserError(
            f"--name {name!r}: not a name for a judge; letters, digits, '.', '_' and '-' are valid, "
            "a letter or digit first. Choose another."
        )
    return name


def family_path(home: Path, name: str) -> Path:
    """``programs/<name>/family.json`` under ``home``.

    Raises:
        UserError: When ``name`` cannot be a folder name.
    """
    return home / "programs" / as_family(name) / "family.json"


def read_family(home: Path, name: str) -> Family:
    """The family as saved, or a new one whose salt is its name.

    Raises:
        ArtifactError: When the file is damaged or belongs to another family.
        UserError: When ``name`` cannot be a folder name.
    """
    path = family_path(home, name)
    try:
        family = Family.model_validate_json(regular(path).read_bytes())
    except FileNotFoundError:
        return Family(name=name, salt=name)
    except OSError as error:
        raise ArtifactError(f"{path}: {error.strerror}; the file of a family is needed. Restore it.") from error
    except ValidationError as error:
        raise ArtifactError(
            f"{path}: not a family file ({error.error_count()} faults); name, salt and looks are "
            "needed, and without "
            "the salt the test items of this judge are not known. Restore it from a backup."
        ) from error
    if family.name != name:
        raise ArtifactError(f"{path}: belongs to family {family.name!r}, not {name!r}. Rename the folder back.")
    return family


def write_family(home: Path, family: Family) -> Path:
    """Save the family whole or not at all, and return the file."""
    path = family_path(home, family.name)
    write_whole(path, family.model_dump_json(indent=2) + "\n")
    return path


@contextmanager
def locked_family(home: Path, name: str) -> Iterator[None]:
    """One process at a time changes a family; another one waits, and a killed one lets go at once.

    The lock is an empty SQLite database that stays behind; deleting it while nobody holds it does no harm.

    Raises:
        ArtifactError: When another process holds it for ten minutes, or the file cannot be locked.
        UserError: When ``name`` cannot be a folder name.
    """
    with _locked(family_path(home, name).with_name(".lock"), "changes a judge"):
        yield


@contextmanager
def locked_home(home: Path) -> Iterator[None]:
    """One process at a time saves a judge in a home, in the same way; taken before ``locked_family``.

    Raises:
        ArtifactError: As ``locked_family``.
    """
    with _locked(home / PRIVATE / "programs.lock", "saves a judge in a home"):
        yield


@contextmanager
def _locked(path: Path, does: str) -> Iterator[None]:
    if path.parent.name == PRIVATE:
        private_folder(path.parent)
        private_file(path)
    path.parent.mkdir(parents=True, exist_ok=True)
    with closing(sqlite3.connect(path, timeout=PATIENCE, isolation_level=None)) as connection:
        try:
            connection.execute("BEGIN EXCLUSIVE")
        except sqlite3.Error as error:
            raise ArtifactError(
                f"{path}: cannot be locked ({error}); one process at a time {does}. "
                "Wait for the other one to end, or delete the file when there is none."
            ) from error
        yield


def write_whole(path: Path, text: str) -> None:
    """Write a file under another name and rename it, so that nobody ever sees half of it."""
    with writing_whole(path) as file:
        file.write(text.encode())


@contextmanager
def writing_whole(path: Path) -> Iterator[BinaryIO]:
    """The same for what is written bit by bit; leaving by an exception leaves the file as it was.

    Who may read it is for the umask to say. What killed processes left of the same file is removed.

    Raises:
        OSError: With ``path`` as its file name, when the folder cannot be written or the disk is full.
    """
    temporary = None
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        _remove_abandoned(path)
        with _begun(path) as (wanted, file):
            temporary = str(wanted)
            yield file
            file.flush()
            os.fsync(file.fileno())
        wanted.replace(path)
    except BaseException as error:
        if temporary is not None:
            Path(temporary).unlink(missing_ok=True)
        if isinstance(error, OSError) and error.errno and (temporary is None or error.filename in {None, temporary}):
            error.filename = str(path)  # a write that fails names no file, and nobody knows the temporary one
        raise


@contextmanager
def _begun(path: Path) -> Iterator[tuple[Path, BinaryIO]]:
    """A file beside ``path`` that is locked for as long as its owner lives."""
    while True:
        wanted = path.with_name(f".{path.name}.{secrets.token_hex(4)}")
        with wanted.open("xb") as file:
            if not _taken(file) or not wanted.exists():  # another process took it for an abandoned one
                continue
            yield wanted, file
            return


def _remove_abandoned(path: Path) -> None:
    """Remove what processes that died left beside a file: nobody holds its lock any more."""
    own = re.compile(re.escape(f".{path.name}.") + "[0-9a-f]{8}")
    for left in [one for one in path.parent.iterdir() if own.fullmatch(one.name)]:
        with suppress(OSError), left.open("rb") as file:
            if _taken(file):
                left.unlink(missing_ok=True)


def _taken(file: BinaryIO) -> bool:
    """Take the lock of an open file; False where another has it. Where there are no locks nothing is removed."""
    try:
        import fcntl
    except ImportError:  # not on this system
        return "x" in file.mode
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    except OSError:  # a file system without locks
        return "x" in file.mode
    return True
