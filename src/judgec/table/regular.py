"""Refuses what is no file of bytes: opening a pipe waits until somebody writes into it, which may be for ever."""

import errno
from pathlib import Path


def seen_at(path: Path, needed: str = "file") -> str:
    """Describes what stands where a file, or a file or folder, is needed, for messages."""
    if not path.exists():
        return f"no such {needed}"
    return "a folder" if path.is_dir() else "a pipe, socket or device"


def regular(path: Path) -> Path:
    """The path, for opening; a link counts as what it leads to.

    Raises:
        FileNotFoundError: There is nothing.
        OSError: A pipe, socket, device or folder.
    """
    path.stat()
    if not path.is_file():
        raise OSError(errno.EINVAL, "a pipe, device or folder; a file is needed", str(path))
    return path
