"""Folders and files for their owner alone: replies of models, and the texts that they are about, lie in them."""

import os
from contextlib import suppress
from pathlib import Path

FOLDERS = (".judgec", "mlruns")  # of a home
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


def share(home: Path) -> None:
    """Let others read these folders of a home and the files in them, as far as the umask does."""
    mask = os.umask(0o077)
    os.umask(mask)
    for folder in (home / name for name in FOLDERS):
        folder.mkdir(parents=True, exist_ok=True)
        folder.chmod(folder.stat().st_mode | 0o777 & ~mask)
        for path in folder.iterdir():
            path.chmod(path.stat().st_mode | (0o777 if path.is_dir() else 0o666) & ~mask)
