"""The MLflow UI as a child process: quick to start, offline, and gone when we are."""

import contextlib
import json
import os
import signal
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from tempfile import TemporaryFile
from typing import IO, Any
from urllib.parse import quote

from judgec.connect.tracking.store import TrackingStore
from judgec.errors import ServiceError, UserError

FAST = {
    "MLFLOW_SERVER_ENABLE_JOB_EXECUTION": "false",  # its workers triple the start-up time
    "LITELLM_LOCAL_MODEL_COST_MAP": "True",  # else 3.17 hangs offline, waiting for litellm's price list
    "MLFLOW_DISABLE_TELEMETRY": "true",
    "DO_NOT_TRACK": "true",
}
PORTS_TRIED = 20
LOOKED_AT = 200  # newest compiles among which those to compare are looked for
MOST_COMPARED = 6  # columns that fit MLflow's page
POLL = 0.1  # seconds between two looks at /health
REQUEST_TIMEOUT = 5.0  # seconds, of a look at /health
ANSWER_TIMEOUT = 60.0  # seconds; the first answer of a server on a busy machine takes many
GRACE = 5.0  # seconds between asking the server to stop and stopping it
TAIL = 2000  # bytes of its log shown when it does not come up


@dataclass(frozen=True, slots=True)
class Server:
    """A running UI.

    Args:
        url: Where it answers, without a slash at the end.
        process: Its process, the leader of a process group of its own.
        seconds: How long it took to answer.
    """

    url: str
    process: subprocess.Popen[bytes]
    seconds: float


@contextlib.contextmanager
def free_port(host: str, port: int | None, default: int = 5000) -> Iterator[int]:
    """``port`` when it is free; without one, the first free of ``default`` and the 19 after it.

    It is held against other judgecs in the block: a server takes seconds until it listens, and another that had found
    the port free meanwhile would take its answers for those of its own.

    Raises:
        UserError: When the port that was asked for, or all of them, are taken.
    """
    for candidate in [port] if port is not None else range(default, default + PORTS_TRIED):
        with contextlib.ExitStack() as held:
            if _is_free(host, candidate) and (_held(host, candidate, held) or port is not None):
                yield candidate
                return
    asked = f"--port: {port} is" if port is not None else f"ports {default}-{default + PORTS_TRIED - 1}: all are"
    raise UserError(f"{asked} taken on {host}; a free port is needed. Leave --port out, or name another.")


def _held(host: str, port: int, held: contextlib.ExitStack) -> bool:
    """Take the port of this number for datagrams, which no server of pages uses and the system gives back by itself."""
    family, kind, proto, _, address = socket.getaddrinfo(host, port, type=socket.SOCK_DGRAM)[0]
    claim = held.enter_context(socket.socket(family, kind, proto))
    try:
        claim.bind(address)
    except OSError:
        return False
    return True


def _is_free(host: str, port: int) -> bool:
    try:
        family, kind, proto, _, address = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0]
        with socket.socket(family, kind, proto) as probe:
            probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)  # a port in TIME_WAIT is free
            probe.bind(address)
    except socket.gaierror as error:
        raise UserError(f"--host: {host} is not an address of this machine ({error}). Use 127.0.0.1.") from error
    except OSError:
        return False
    return True


@contextlib.contextmanager
def ui_server(
    store: TrackingStore, host: str, port: int, environ: Mapping[str, str], timeout: float = 120.0
) -> Iterator[Server]:
    """Start ``mlflow ui`` on a database and wait until it answers; leaving the block stops it.

    Args:
        store: A database, not a server.
        host: Address to listen on; 127.0.0.1 keeps it on this machine.
        port: A free port.
        environ: The environment of the process; what it sets wins over the fast flags.
        timeout: Seconds it gets to answer.

    Raises:
        ServiceError: When it ends or does not answer in time.
    """
    command = [sys.executable, "-m", "mlflow", "ui", "--backend-store-uri", store.uri]
    command += ["--host", host, "--port", str(port), "--workers", "1"]
    if store.artifacts:
        command += ["--artifacts-destination", store.artifacts]
    shown = f"[{host}]" if ":" in host else host
    url = f"http://{'127.0.0.1' if host == '0.0.0.0' else shown}:{port}"  # noqa: S104 -- compared, not bound
    started = time.monotonic()
    with TemporaryFile() as log:
        process = subprocess.Popen(  # noqa: S603 -- our own interpreter, no shell
            command,
            stdin=subprocess.DEVNULL,
            stdout=log,
            stderr=log,
            env={**FAST, **environ},
            start_new_session=True,  # its own group, so that every child can be stopped
        )
        try:
            while not _answers(url):
                elapsed = time.monotonic() - started
                if process.poll() is not None or elapsed > timeout:
                    raise ServiceError(_did_not_start(process.poll(), elapsed, log))
                with contextlib.suppress(subprocess.TimeoutExpired):
                    process.wait(POLL)
            yield Server(url, process, time.monotonic() - started)
        finally:
            _stop(process)


def _did_not_start(code: int | None, elapsed: float, log: IO[bytes]) -> str:
    log.seek(0, os.SEEK_END)
    log.seek(max(0, log.tell() - TAIL))
    said = log.read().decode("utf-8", "replace").strip()
    seen = f"ended with exit {code}" if code is not None else "did not answer"
    return f"mlflow ui: it {seen} after {elapsed:.0f} s; it should answer on /health. Run judgec doctor.\n{said}"


def _answers(url: str) -> bool:
    try:
        with urllib.request.urlopen(f"{url}/health", timeout=REQUEST_TIMEOUT) as response:  # noqa: S310 -- http
            return bool(response.status == 200)
    except (OSError, urllib.error.URLError):
        return False


def _stop(process: subprocess.Popen[bytes]) -> None:
    """Ask the whole group to end, then end it."""
    for signum in (signal.SIGTERM, signal.SIGKILL):
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(process.pid, signum)
        with contextlib.suppress(subprocess.TimeoutExpired):
            process.wait(GRACE)


def runs_url(server: str, experiment: str = "judgec") -> str | None:
    """The page of an experiment's runs, which MLflow shows only after *Model training* is chosen; None without runs.

    Args:
        server: URL of an MLflow server.
        experiment: Its name.

    Raises:
        ServiceError: When the server does not answer.
    """
    experiment_id = _experiment_id(server, experiment)
    return experiment_id and f"{server}/#/experiments/{experiment_id}/runs?workflowType=machine_learning"


def compare_url(server: str, experiment: str = "judgec") -> str | None:
    """The page that compares the versions of the newest compile's family, oldest first; None without two to compare.

    Where that has a single version, it is compared with the newest of another family of its task: a judge and an agent
    share no number that could be compared.

    Args:
        server: URL of an MLflow server.
        experiment: The experiment they are in.

    Raises:
        ServiceError: When the server does not answer.
    """
    experiment_id = _experiment_id(server, experiment)
    if experiment_id is None:
        return None
    newest = {
        "experiment_ids": [experiment_id],
        "filter": "tags.`judgec.kind` = 'compile' AND attributes.status = 'FINISHED'",
        "order_by": ["attributes.start_time DESC"],
        "max_results": LOOKED_AT,
    }
    runs: list[dict[str, Any]] = (_found(server, "runs/search", newest) or {}).get("runs", [])
    family = [_param(row, "program") for row in runs]
    versions = [row for row, name in zip(runs, family, strict=True) if name is not None and name == family[0]]
    tasks = [_param(row, "task") for row in runs]
    alike = (
        [row for row, one in zip(runs, tasks, strict=True) if one == task][:2]
        for task in tasks
        if tasks.count(task) > 1
    )
    compared = versions[:MOST_COMPARED] if len(versions) > 1 else next(alike, [])
    if not compared:
        return None
    run_ids = [row["info"]["run_id"] for row in reversed(compared)]
    return f"{server}/#/compare-runs?runs={quote(json.dumps(run_ids))}&experiments={quote(json.dumps([experiment_id]))}"


def _experiment_id(server: str, experiment: str) -> str | None:
    found = _found(server, f"experiments/get-by-name?experiment_name={quote(experiment)}", None)
    return None if found is None else str(found["experiment"]["experiment_id"])


def _found(server: str, path: str, body: dict[str, object] | None) -> dict[str, Any] | None:  # Any: as _rest
    """The reply, or None where there is no such thing."""
    try:
        return _rest(server, path, body)
    except urllib.error.HTTPError as error:
        if error.code == 404:
            return None
        raise ServiceError(f"{server}: the MLflow server said {error}. Run judgec doctor.") from error
    except OSError as error:
        raise ServiceError(f"{server}: the MLflow server does not answer ({error}). Run judgec ui.") from error


def _param(row: Mapping[str, Any], name: str) -> str | None:
    params: list[dict[str, str]] = row["data"].get("params", [])
    return next((one["value"] for one in params if one["key"] == name), None)


# The reply is MLflow's JSON; only the few fields above are read.
def _rest(server: str, path: str, body: dict[str, object] | None) -> dict[str, Any]:
    request = urllib.request.Request(  # noqa: S310 -- the server the user named
        f"{server}/api/2.0/mlflow/{path}",
        data=None if body is None else json.dumps(body).encode(),
        headers={"Content-Type": "application/json"},
    )
    with urllib.request.urlopen(request, timeout=ANSWER_TIMEOUT) as response:  # noqa: S310 -- as above
        reply: dict[str, Any] = json.load(response)
        return reply
