"""Stands for Python's start: runs what it is given in a copy of a process that has imported it already; see ``warm``.

``launch.py PROGRAM OWNER cli.py ARGUMENTS``, ``... -c CODE`` or ``... -m judgec.connect.tracking.MODULE``, with this
process's folder, environment and streams; anything else is run by Python itself. Imports next to nothing.
"""

import fcntl
import json
import os
import signal
import socket
import sys
import time
from pathlib import Path

ROOT = Path(__file__).parents[3]
TURN = 0.02  # seconds


def main() -> int:
    """Ask for the copy, pass signals on to it, end as it does."""
    program, owner, *arguments = sys.argv[1:]
    if arguments[0] in {str(ROOT / "cli.py"), "-c"}:
        kind = "judgec"
    elif arguments[0] == "-m" and arguments[1].startswith("judgec.connect.tracking."):
        kind = "mlflow"
    else:
        os.execv(sys.executable, [sys.executable, *arguments])  # noqa: S606 -- as Python would
    umask = os.umask(0)  # which can only be read so
    asked = {"program": program, "arguments": arguments, "folder": str(Path.cwd()), "umask": umask}
    sent = json.dumps({**asked, "environment": dict(os.environ)}).encode()
    connection = _connected(Path(program).parent, owner, kind)
    socket.send_fds(connection, [f"{len(sent):8}".encode()], [0, 1, 2])
    connection.sendall(sent)
    for stream in (0, 1):  # the copy's now: who reads or writes them waits for it alone
        os.close(stream)
    replies = connection.makefile()
    copy = int(replies.readline())
    for passed in (signal.SIGINT, signal.SIGTERM):
        signal.signal(passed, lambda number, _: os.kill(copy, number))
    code = int(replies.readline() or 1)
    if code < 0:
        signal.signal(-code, signal.SIG_DFL)
        os.kill(os.getpid(), -code)
    return code


def _connected(folder: Path, owner: str, kind: str) -> socket.socket:
    with (folder / f"{kind}.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        try:
            return _connect(folder, kind)
        except OSError:
            return _started(folder, owner, kind)


def _connect(folder: Path, kind: str) -> socket.socket:
    connection = socket.socket(socket.AF_UNIX)
    try:
        connection.connect(str(folder / kind))
    except OSError:
        connection.close()
        raise
    return connection


def _started(folder: Path, owner: str, kind: str) -> socket.socket:
    import subprocess

    with (folder / f"{kind}.log").open("a") as log:
        server = subprocess.Popen(
            [sys.executable, "-m", "tests.verbs.cli.warm", str(folder), owner, kind],
            cwd=ROOT,
            stdin=subprocess.DEVNULL,
            stdout=log,
            stderr=log,
            start_new_session=True,
        )
    while server.poll() is None:
        try:
            return _connect(folder, kind)
        except OSError:
            time.sleep(TURN)
    raise SystemExit(f"{folder}/{kind}.log: the process that has imported {kind} ended")


if __name__ == "__main__":
    sys.exit(main())
