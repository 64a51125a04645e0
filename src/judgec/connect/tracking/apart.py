"""Asks one question of a process that imports MLflow, which would cost every command 2 s; and answers it there.

The process ends where the one that asked does: whoever goes on after a kill asks what is written already, and a process
that still writes would write it a second time.
"""

import contextlib
import json
import os
import subprocess
import sys
from collections.abc import Callable, Mapping
from tempfile import TemporaryFile
from threading import Thread
from typing import IO, Any, cast

from judgec.connect.tracking import background
from judgec.connect.tracking.background import ERRORS, QUIET, last_words
from judgec.connect.tracking.store import TrackingStore
from judgec.errors import InputError, JudgecError, ServiceError

Asked = Mapping[str, Any]  # JSON
Told = dict[str, Any]  # JSON


def ask_apart(
    module: str, request: Mapping[str, object], store: TrackingStore, environ: Mapping[str, str], doing: str
) -> Told:
    """Asks a process of its own, and returns its reply.

    Args:
        module: What it runs: one whose ``main`` is ``answer_apart``.
        request: As that one reads it.
        store: Which it opens.
        environ: Its environment.
        doing: What it does, for the error when it dies: "the process that ...".

    Raises:
        InputError, ServiceError, ArtifactError: What the process raised.
        ServiceError: It died.
    """
    path, written = os.pathsep.join(entry for entry in sys.path if entry), ""
    asked = json.dumps({**request, "uri": store.uri, "artifacts": store.artifacts})
    with TemporaryFile("w+", encoding="utf-8", errors="replace") as said:
        with (
            contextlib.suppress(BrokenPipeError),  # it ended before it had read everything
            subprocess.Popen(  # noqa: S603 -- our own module, no shell
                [background.PYTHON, "-m", module],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=said,
                env={**QUIET, **environ, "PYTHONPATH": path},
                text=True,
                encoding="utf-8",
            ) as process,
        ):
            ask, reply = cast("IO[str]", process.stdin), cast("IO[str]", process.stdout)  # both are pipes
            ask.write(f"{asked}\n")
            ask.flush()
            written = reply.read()
            process.wait()  # before stdin ends
        if process.returncode or not written:
            said.seek(0)
            seen = f"exit {process.returncode}: {last_words(said.read())}"
            raise ServiceError(f"{store.shown}: the process that {doing} ended ({seen}). Run judgec doctor.")
    found: Told = json.loads(written)  # as ``answer_apart`` writes it
    if "faults" in found:
        raise InputError(found["faults"])
    if "error" in found:
        raise ERRORS[found["kind"]](found["error"])
    return found


def answer_apart(answer: Callable[[TrackingStore, Asked], Mapping[str, object]]) -> None:
    """Answer the request in stdin's first line with one JSON object on stdout, and end this process.

    Whatever else prints goes to stderr.
    """
    from mlflow.exceptions import MlflowException

    request = json.loads(sys.stdin.readline())
    Thread(target=_end_with_the_parent, daemon=True).start()
    replies = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)
    store = TrackingStore(uri=request["uri"], artifacts=request["artifacts"])
    reply: Mapping[str, object]
    try:
        reply = answer(store, request)
    except InputError as error:
        reply = {"faults": error.faults}
    except MlflowException as error:
        reply = {"error": f"{store.shown}: MLflow refused ({error.message}).", "kind": ServiceError.__name__}
    except JudgecError as error:
        kind = type(error).__name__
        reply = {"error": str(error), "kind": kind if kind in ERRORS else ServiceError.__name__}
    with replies:
        json.dump(reply, replies, default=str)
    os._exit(0)  # MLflow's own farewell takes a second


def _end_with_the_parent() -> None:
    """End this process when the one that asked is gone, which the end of stdin says."""
    while os.read(0, 1024):
        pass
    os._exit(1)
