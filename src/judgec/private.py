"""Folders and files for their owner alone: replies of models, and the texts that they are about, lie in them."""

import os
from contextlib import suppress
from pathlib import Path

OTHERS = 0o077


def private_folder(folder: Path) -> None:
    """Make a folder for its owner alone; one that exists stays as it is."""
    folder.parent.mkdir(parents=True, exist_ok=True)
    with suppress(FileExistsError):
        folder.mkdir(mode=0o700)


def private_file(path: Path) -> None:
    """Make an empty file, or one that exists, its owner's alone; not in a folder that they may read."""
    if not path.parent.stat().st_mode & OTHERS:
        try:
            os.close(os.open(path, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600))
        except FileExistsError:
            with suppress(PermissionError):  # another user's
                path.chmod(path.stat().st_mode & ~OTHERS)
