"""Processes that are forked from one which has imported the libraries already.

A command of judgec imports for up to 4 s of a core; what talks to MLflow imports it for 2 s and makes the tables of a
new database for 1 s more. Two processes of a test run do that once, one for commands and one for MLflow; each further
process is a copy of one of them, with its own folder, environment, arguments, streams, signals and exit code, which
then runs ``cli.py`` or the module as Python would. A new database of MLflow begins as a copy of an empty one; the rest
of its making, and all that is written to it, is what users have.
What differs from a process of its own: it did not import what it needs. That a command finds its imports alone is
shown where the documents are run (tests/docs): the first command of each name in a run starts from nothing.
So do those of ``tests/connect/tracking/test_background.py`` and all that tests kill or interrupt.
"""

import gc
import importlib
import json
import os
import runpy
import select
import shlex
import shutil
import signal
import socket
import sys
from contextlib import suppress
from pathlib import Path
from typing import Any

from judgec.connect.tracking import background

ROOT = Path(__file__).parents[3]
IMPORTED = {
    "judgec": (
        *("scipy.stats", "pandas", "pyarrow.parquet", "sklearn.linear_model", "sklearn.ensemble", "aiohttp", "dspy"),
        *("judgec.verbs.cli.app", "judgec.compile.compile", "judgec.raters.judge", "judgec.verbs.judge_file"),
        *("judgec.verbs.compilation", "judgec.verbs.evaluate"),
    ),
    "mlflow": (
        *("mlflow.store.tracking.sqlalchemy_store", "mlflow.store.model_registry.sqlalchemy_store"),
        *(
            "judgec.connect.tracking.compile_run",
            "judgec.connect.tracking.tracked_run",
            "judgec.connect.tracking.version_run",
        ),
        "judgec.connect.tracking.traces",
    ),
}
STARTS_THREADS = {"judgec": {"lancedb", "mlflow"}, "mlflow": {"lancedb"}}  # which a copy would not have
LOOK = 2000  # milliseconds between two looks whether the tests still run


def python(base: Path) -> str:
    """A program to start instead of Python; all tests of one run share the processes behind it, which end with it.

    Args:
        base: pytest's folder for temporary files.
    """
    worker = "PYTEST_XDIST_WORKER" in os.environ
    owner, folder = (os.getppid(), base.parent / "warm") if worker else (os.getpid(), base / "warm")
    folder.mkdir(exist_ok=True)
    program = folder / f"python-{os.getpid()}"
    client = Path(__file__).with_name("launch.py")
    told = shlex.join([sys.executable, "-IS", str(client), str(program), str(owner)])
    program.write_text(f'#!/bin/sh\nexec {told} "$@"\n')
    program.chmod(0o755)
    return str(program)


def spent_by(program: str) -> Path:
    """The file in which each copy that was started by a program has its processor seconds, one a line."""
    return Path(program).with_suffix(".spent")


def serve(folder: Path, owner: int, kind: str) -> list[str]:
    """Fork a process for each connection, until the tests have ended; returns what to run, in a copy only."""
    for name in [name for name in os.environ if name.startswith("MLFLOW_")]:
        del os.environ[name]
    os.environ.update(background.QUIET if kind == "mlflow" else {})
    for name in IMPORTED[kind]:
        importlib.import_module(name)
    if kind == "judgec":
        importlib.import_module("tests.waits").shorten()
    assert not STARTS_THREADS[kind] & sys.modules.keys()
    empty = folder / "empty.db"
    if kind == "mlflow":
        making = os.fork()  # so that this process never opens a database
        if not making:
            importlib.import_module("judgec.connect.tracking.client").new_database(empty)
            os._exit(0)
        assert os.waitpid(making, 0)[1] == 0
    gc.collect()
    gc.freeze()
    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind(str(folder / kind))
        listener.listen()
        ready = select.poll()
        ready.register(listener, select.POLLIN)
        while _alive(owner):
            if ready.poll(LOOK):
                connection, _ = listener.accept()
                with connection:
                    if not os.fork():
                        listener.close()
                        return _become(_watched(connection), empty)
            with suppress(ChildProcessError):
                while os.waitpid(-1, os.WNOHANG)[0]:
                    pass
    sys.exit(0)


def _alive(process: int) -> bool:
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    return True


def _watched(connection: socket.socket) -> dict[str, Any]:
    """Fork the copy, which returns what it is to be; tell the client its number and how it ended.

    The copy is killed where the client is.
    """
    said, streams, _, _ = socket.recv_fds(connection, 8, 3)
    asked = b""
    while len(asked) < int(said):
        asked += connection.recv(int(said) - len(asked))
    told = json.loads(asked)
    copy = os.fork()
    if not copy:
        connection.close()
        return {**told, "streams": streams}
    for stream in streams:
        os.close(stream)
    connection.sendall(f"{copy}\n".encode())
    ended, both = os.pidfd_open(copy), select.poll()
    both.register(ended, select.POLLIN)
    both.register(connection, select.POLLIN)
    if ended not in dict(both.poll()):
        os.kill(copy, signal.SIGKILL)
    code = os.waitstatus_to_exitcode(os.waitpid(copy, 0)[1])
    with spent_by(told["program"]).open("a") as spent:
        spent.write(f"{sum(os.times()[:4])}\n")
    with suppress(OSError):  # nobody waits for it any more
        connection.sendall(f"{code}\n".encode())
    os._exit(0)


def _become(asked: dict[str, Any], empty: Path) -> list[str]:
    os.chdir(asked["folder"])
    os.umask(asked["umask"])
    os.environ.clear()
    os.environ.update(asked["environment"])
    sys.path[1:1] = [one for one in os.environ.get("PYTHONPATH", "").split(os.pathsep) if one and one not in sys.path]
    for number, stream in enumerate(asked["streams"]):
        os.dup2(stream, number)
        os.close(stream)
    sys.stdin = os.fdopen(0, closefd=False, encoding="utf-8")
    sys.stdout = os.fdopen(1, "w", closefd=False, encoding="utf-8")
    sys.stderr = os.fdopen(2, "w", 1, closefd=False, encoding="utf-8", errors="backslashreplace")
    signal.signal(signal.SIGINT, signal.default_int_handler)
    background.PYTHON = asked["program"]
    if client := sys.modules.get("judgec.connect.tracking.client"):
        vars(client)["new_database"] = lambda draft: shutil.copyfile(empty, draft)
    arguments: list[str] = asked["arguments"]
    return arguments


if __name__ == "__main__":
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # it ends with the tests
    first, *others = serve(Path(sys.argv[1]), int(sys.argv[2]), sys.argv[3])
    if first == "-m":
        sys.argv = others
        runpy.run_module(others[0], run_name="__main__", alter_sys=True)
    elif first == "-c":
        sys.argv, sys.path[0] = [first, *others[1:]], ""
        exec(compile(others[0], "<string>", "exec"), vars(sys.modules["__main__"]))  # noqa: S102 -- as Python would
    else:
        sys.argv, sys.path[0] = [first, *others], str(ROOT)
        runpy.run_path(first, run_name="__main__")
