"""MLflow in a process of its own, started while the compile still runs.

Importing MLflow and opening its SQLite store cost 5-8 s, once a process. Here that happens beside the
compile, on another core, and the compile's own process never imports MLflow: no import locks, no patched
modules, no log lines, nothing on stdout. ``python -m judgec.connect.tracking.background`` is that process; it ends
when its stdin closes, so a killed compile leaves nothing running.
"""

import contextlib
import json
import os
import re
import signal
import subprocess
import sys
from collections.abc import Callable, Mapping, Sequence
from tempfile import TemporaryFile
from types import TracebackType
from typing import Annotated, Self, TextIO

from pydantic import Field, TypeAdapter

from judgec.connect.tracking.runs import (
    AnyRun,
    AuditRun,
    CompileRun,
    Logged,
    ProbeRun,
    SystemsRun,
    TournamentRun,
    TrackedRun,
)
from judgec.connect.tracking.store import TrackingStore
from judgec.errors import ArtifactError, JudgecError, ServiceError, UserError

PYTHON = sys.executable  # runs the processes that import MLflow
QUIET = {
    "MLFLOW_DISABLE_TELEMETRY": "true",  # no calls home, and none to wait for offline
    "MLFLOW_SUPPRESS_PRINTING_URL_TO_STDOUT": "true",
    "MLFLOW_ENABLE_ASYNC_TRACE_LOGGING": "false",  # a trace is there when the call that made it returns
    "LITELLM_LOCAL_MODEL_COST_MAP": "True",  # MLflow 3.17 imports litellm, which downloads its price list
}
ERRORS: dict[str, type[JudgecError]] = {kind.__name__: kind for kind in (ArtifactError, ServiceError, UserError)}
CLOSE_TIMEOUT = 10  # seconds the process gets to end by itself
TAIL = 2000  # bytes of its stderr shown when it dies
RAISED = re.compile(r"[\w.]+(?:Error|Exception)\b")  # the line of a traceback that says what happened
RUNS: TypeAdapter[AnyRun] = TypeAdapter(Annotated[AnyRun, Field(discriminator="kind")])


class Tracker:
    """A background process that opens the store now and logs when asked.

    Use it as a context manager around the compile; constructing it returns at once.

    Args:
        store: Where to log.
        environ: The environment of the process.
        notes: What the description of every run begins with, asked when it is logged.
    """

    def __init__(
        self, store: TrackingStore, environ: Mapping[str, str], notes: Callable[[], Sequence[str]] = list
    ) -> None:
        self.store = store
        self._notes = notes
        self._ready = False
        self._stderr = TemporaryFile()  # noqa: SIM115 -- close() closes it
        path = os.pathsep.join(entry for entry in sys.path if entry)
        self._process = subprocess.Popen(  # noqa: S603 -- our own module, no shell
            [PYTHON, "-m", __name__],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=self._stderr,
            env={**QUIET, **environ, "PYTHONPATH": path},
            text=True,
            encoding="utf-8",
            start_new_session=True,  # Ctrl-C is for the compile; this one ends with its stdin
        )
        self._send(json.dumps({"uri": store.uri, "artifacts": store.artifacts}))

    def wait(self) -> None:
        """Wait until the store is open; a second call returns at once.

        Raises:
            JudgecError: Whatever opening the store raised.
        """
        if not self._ready:
            self._receive()
            self._ready = True

    def log_compile(self, run: CompileRun) -> Logged:
        """Log a compile; see ``compile_run.log_compile``.

        Raises:
            ServiceError: When the store refuses or fails, or the process died.
            ArtifactError: When the database belongs to another MLflow version.
        """
        return self._log(run)

    def log_tournament(self, run: TournamentRun) -> Logged:
        """Log a tournament; see ``version_run.log_tournament``. Raises as ``log_compile``."""
        return self._log(run)

    def log_audit(self, run: AuditRun) -> Logged:
        """Log an audit; see ``version_run.log_audit``. Raises as ``log_compile``."""
        return self._log(run)

    def log_alone(self, run: ProbeRun | SystemsRun) -> Logged:
        """Log a run that is no version's; see ``tracked_run.log_run``. Raises as ``log_compile``."""
        return self._log(run)

    def close(self) -> None:
        """End the process; safe to call twice."""
        process = self._process
        for pipe in (process.stdin, process.stdout):
            if pipe and not pipe.closed:
                with contextlib.suppress(BrokenPipeError):  # it is gone already
                    pipe.close()
        if not self._ready:
            process.terminate()  # still importing; nobody waits for that
        try:
            process.wait(CLOSE_TIMEOUT)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()
        self._stderr.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    def _log(self, run: TrackedRun) -> Logged:
        self.wait()
        described = "\n\n".join(filter(None, (*self._notes(), run.description)))
        self._send(run.model_copy(update={"description": described}).model_dump_json())
        return Logged.model_validate(self._receive())

    def _send(self, line: str) -> None:
        assert self._process.stdin is not None
        try:
            self._process.stdin.write(line + "\n")
            self._process.stdin.flush()
        except BrokenPipeError:
            raise self._died() from None

    def _receive(self) -> dict[str, object]:
        assert self._process.stdout is not None
        line = self._process.stdout.readline()
        if not line:
            raise self._died()
        reply: dict[str, object] = json.loads(line)
        if "error" in reply:
            raise ERRORS[str(reply["kind"])](str(reply["error"]))
        return reply

    def _died(self) -> ServiceError:
        self._process.kill()
        code = self._process.wait()
        self._stderr.seek(0, os.SEEK_END)
        self._stderr.seek(max(0, self._stderr.tell() - TAIL))
        why = last_words(self._stderr.read().decode("utf-8", "replace"))
        return ServiceError(f"{self.store.shown}: the tracking process ended (exit {code}: {why}). Run judgec doctor.")


def last_words(stderr: str) -> str:
    """The line of a process that died which says why."""
    said = stderr.strip().splitlines()
    return next((line for line in reversed(said) if RAISED.match(line)), said[-1] if said else "nothing was said")


def serve(requests: TextIO, replies: TextIO) -> None:
    """Answer requests, one JSON object a line: first the store, then runs to log, until the input ends."""

    def reply(message: object) -> None:
        replies.write(json.dumps(message) + "\n")
        replies.flush()

    store = TrackingStore(**json.loads(requests.readline()))
    try:
        from judgec.connect.tracking import client, compile_run, tracked_run, version_run  # MLflow, nowhere else

        client.open_store(store)
        reply({})
        for line in requests:
            run = RUNS.validate_json(line)
            if isinstance(run, CompileRun):
                logged = compile_run.log_compile(store, run)
            elif isinstance(run, TournamentRun):
                logged = version_run.log_tournament(store, run)
            elif isinstance(run, AuditRun):
                logged = version_run.log_audit(store, run)
            else:
                logged = tracked_run.log_run(store, run)
            reply(logged.model_dump())
    except JudgecError as error:
        reply({"error": str(error), "kind": type(error).__name__})


def main() -> None:
    """Serve stdin on stdout; whatever else prints goes to stderr."""
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))  # so that temporary files are removed
    replies = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)
    serve(sys.stdin, replies)
    os._exit(0)  # everything is committed; MLflow's own farewell takes a second


if __name__ == "__main__":
    main()
