"""An MLflow server on loopback, and an application whose runs it traces.

``python -m tests.service.mlflow_server URI EXPERIMENT`` logs a trace for each line of JSON on stdin, with MLflow's own
API: query, answer, steps; and prints its id.
"""

import json
import os
import signal
import sqlite3
import subprocess
import sys
import threading
from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager
from http import HTTPStatus
from http.client import HTTPConnection, HTTPException
from pathlib import Path
from urllib.parse import quote

from tests.service.postgres import free_port

ROOT = Path(__file__).parents[2]
ENVIRONMENT = {
    "MLFLOW_DISABLE_TELEMETRY": "true",
    "MLFLOW_ENABLE_ASYNC_TRACE_LOGGING": "false",
    "LITELLM_LOCAL_MODEL_COST_MAP": "True",
    "PYTHONWARNINGS": "ignore",
}
STARTED = 300  # seconds that a server has to begin


@contextmanager
def mlflow_server(database: str, folder: Path) -> Iterator[str]:
    """The server's URL until the context ends.

    Args:
        database: Where it keeps runs and traces.
        folder: For artifacts and its log.
    """
    port = free_port()
    arguments = ["--backend-store-uri", database, "--artifacts-destination", str(folder / "artifacts")]
    with (folder / "server.log").open("w") as log:
        process = subprocess.Popen(
            [sys.executable, "-m", "mlflow", "server", *arguments, "--workers", "1", "--port", str(port)],
            cwd=folder,
            env={**os.environ, **ENVIRONMENT},
            stdout=log,
            stderr=log,
            start_new_session=True,
        )
    try:
        _await(port, process, folder / "server.log")
        yield f"http://127.0.0.1:{port}"
    finally:
        os.killpg(process.pid, signal.SIGTERM)
        try:
            process.wait(60)
        except subprocess.TimeoutExpired:  # its workers have ended and its parent has not, as seen on a busy machine
            os.killpg(process.pid, signal.SIGKILL)
            process.wait()


def side_by_side(server: str, database: Path) -> str:
    """MLflow's page that compares the two newest compiles of its database, the older first."""
    newest = (
        "SELECT run_uuid, experiment_id FROM runs JOIN tags USING (run_uuid) "
        "WHERE key = 'judgec.kind' AND value = 'compile' AND status = 'FINISHED' ORDER BY start_time DESC LIMIT 2"
    )
    with closing(sqlite3.connect(database)) as opened:
        older, newer = reversed(opened.execute(newest).fetchall())
    runs, experiments = (quote(json.dumps(ids)) for ids in ([older[0], newer[0]], [str(newer[1])]))
    return f"{server}/#/compare-runs?runs={runs}&experiments={experiments}"


def _await(port: int, process: "subprocess.Popen[bytes]", log: Path) -> None:
    turn = threading.Event()
    for _ in range(STARTED * 4):
        assert process.poll() is None, log.read_text()
        try:
            with closing(HTTPConnection("127.0.0.1", port, timeout=5)) as connection:
                connection.request("GET", "/health")
                if connection.getresponse().status == HTTPStatus.OK:
                    return
        except (HTTPException, OSError):
            turn.wait(0.25)
    raise AssertionError(log.read_text())


def log_runs(uri: str, experiment: str, rows: Sequence[dict[str, object]]) -> list[str]:
    """Trace runs by a process of its own: their ids, in order.

    Args:
        uri: The server, or its database, which is faster.
        experiment: Made where there is none.
        rows: Of ``tests.verbs.cli.test_trajectory.runs``.
    """
    done = subprocess.run(
        [sys.executable, "-m", "tests.service.mlflow_server", uri, experiment],
        input="".join(json.dumps(row) + "\n" for row in rows),
        cwd=ROOT,
        env={**os.environ, **ENVIRONMENT},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    ids = [line.removeprefix("trace ") for line in done.stdout.splitlines() if line.startswith("trace ")]
    assert len(ids) == len(rows)
    return ids


def main() -> None:
    """Trace what stdin says."""
    import mlflow
    from mlflow.entities import SpanType

    uri, experiment = sys.argv[1:]
    mlflow.set_tracking_uri(uri)
    mlflow.set_experiment(experiment)
    for line in sys.stdin:
        row = json.loads(line)
        with mlflow.start_span("run", span_type=SpanType.AGENT) as run:
            run.set_inputs({"question": row["query"]})
            for step in row["steps"]:
                with mlflow.start_span(step["name"], span_type=SpanType.TOOL) as call:
                    call.set_inputs(step["arguments"])
                    if "error" in step:
                        call.set_status("ERROR")
                    else:
                        call.set_outputs(step["result"])
            run.set_outputs(row["answer"])
        sys.stdout.write(f"trace {run.trace_id}\n")


if __name__ == "__main__":
    main()
