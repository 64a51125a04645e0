"""A PostgreSQL server of the suite's own.

Binaries come from the ``pgserver`` wheel, else from ``PATH``; as root the server runs as ``nobody``.
"""

import os
import shutil
import socket
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from importlib.util import find_spec
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest


def binaries() -> Path | None:
    """Where a PostgreSQL with pgvector is, if anywhere."""
    found = find_spec("pgserver")
    if found is not None and found.origin is not None:
        return Path(found.origin).parent / "pginstall" / "bin"
    place = shutil.which("initdb")
    if place is None:
        return None
    share = subprocess.run(["pg_config", "--sharedir"], capture_output=True, text=True, check=False).stdout.strip()
    return Path(place).resolve().parent if share and Path(share, "extension", "vector.control").is_file() else None


def readable(found: Path, folder: Path) -> Path:
    """The wheel's binaries where ``nobody`` may run them; its libraries are found beside them."""
    packages = found.parents[2]
    if found.parent.name == "pginstall":
        for part in ("pgserver/pginstall", "pgserver.libs"):
            if (packages / part).is_dir():
                shutil.copytree(packages / part, folder / "packages" / part, symlinks=True)
        return folder / "packages" / "pgserver" / "pginstall" / "bin"
    return found


def free_port() -> int:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port: int = free.getsockname()[1]
        return port


@contextmanager
def postgres() -> Iterator[str]:
    """The URL of a server that lives until the context ends; skips where there is no PostgreSQL."""
    found = binaries()
    if found is None:
        pytest.skip("no PostgreSQL with pgvector: neither the pgserver wheel nor initdb with vector.control is here")
    with TemporaryDirectory(prefix="judgec-pg-") as folder:
        data = Path(folder, "data")
        as_other = ["runuser", "-u", "nobody", "--"] if os.geteuid() == 0 else []
        if as_other:
            shutil.chown(folder, "nobody")
            found = readable(found, Path(folder))
        port = free_port()

        def run(program: str, *arguments: str) -> None:
            command = [*as_other, str(found / program), *arguments]
            done = subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=120, check=False)
            assert done.returncode == 0, done.stderr

        run("initdb", "-D", str(data), "-U", "judgec", "-A", "trust", "-E", "UTF8", "--no-sync")
        options = f"-p {port} -k {folder} -c listen_addresses=127.0.0.1 -c fsync=off"
        run("pg_ctl", "-D", str(data), "-o", options, "-l", str(Path(folder, "log")), "-w", "start")
        try:
            yield f"postgresql://judgec:secret@127.0.0.1:{port}/postgres"
        finally:
            run("pg_ctl", "-D", str(data), "-m", "immediate", "-w", "stop")
