"""``judgec ui`` as a real process with a real MLflow server behind it."""

import os
import signal
import subprocess
import sys
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from judgec.connect.tracking.background import Tracker
from judgec.connect.tracking.store import TrackingStore
from tests.connect.tracking.examples import compile_run
from tests.service.postgres import free_port

ROOT = Path(__file__).parents[3]


def command(*arguments: str) -> list[str]:
    return [sys.executable, str(ROOT / "cli.py"), "ui", *arguments]


@contextmanager
def running(home: Path) -> Iterator[tuple[subprocess.Popen[str], str]]:
    """The process and where it answers."""
    port = free_port()
    with subprocess.Popen(
        command("--home", str(home), "--port", str(port)), stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
    ) as process:
        try:
            assert process.stdout is not None
            url = f"http://127.0.0.1:{port}"
            assert any(f"running on {url}" in line for line in process.stdout)
            yield process, url
        finally:
            process.send_signal(signal.SIGTERM)
            process.wait(120)


def get(url: str) -> bytes:
    with urllib.request.urlopen(url, timeout=120) as response:  # noqa: S310 -- loopback
        return bytes(response.read())


def children(pid: int) -> list[int]:
    listed = subprocess.run(["ps", "-eo", "pid=,ppid="], capture_output=True, text=True, check=True).stdout
    pairs = [tuple(map(int, line.split())) for line in listed.splitlines()]
    direct = [child for child, parent in pairs if parent == pid]
    return direct + [grandchild for child in direct for grandchild in children(child)]


def cpu_seconds(pids: list[int]) -> int:
    listed = subprocess.run(
        ["ps", "-o", "cputimes=", "-p", ",".join(map(str, pids))], capture_output=True, text=True, check=True
    )
    return sum(map(int, listed.stdout.split()))


def alive(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    return True


@pytest.mark.full
def test_ui_starts_answers_and_ctrl_c_stops_it_with_its_children(tmp_path: Path) -> None:
    (tmp_path / "mlruns").mkdir()
    (tmp_path / "mlruns" / "mlflow.db").touch()  # MLflow fills an empty database itself
    with running(tmp_path) as (process, url):
        assert get(f"{url}/health") == b"OK"
        assert b"<title>MLflow</title>" in get(f"{url}/")
        family = children(process.pid)
        assert family
        assert cpu_seconds(family) < 20  # what it costs to come up, however busy the machine is
        process.send_signal(signal.SIGINT)
        assert process.wait(120) == 0
        assert not any(alive(pid) for pid in family)


def test_ui_without_runs_says_what_to_run_first(tmp_path: Path) -> None:
    environ = {key: value for key, value in os.environ.items() if key != "MLFLOW_TRACKING_URI"}
    typed = command("--home", str(tmp_path))
    ran = subprocess.run(typed, capture_output=True, text=True, env=environ, check=False, timeout=280)
    assert ran.returncode == 2
    assert "Run judgec compile-judge LABELS" in ran.stderr
    assert list(tmp_path.iterdir()) == []


@pytest.mark.full
def test_ui_server_takes_a_compile_from_another_tracker(tmp_path: Path) -> None:
    (tmp_path / "mlruns").mkdir()
    (tmp_path / "mlruns" / "mlflow.db").touch()
    with running(tmp_path) as (_, url):
        with Tracker(TrackingStore(url, None), os.environ) as tracker:
            logged = [tracker.log_compile(compile_run(tmp_path, k, 0.5, "champion")) for k in (1, 2)]
        listing = f"{url}/api/2.0/mlflow/artifacts/list?run_id={logged[1].run_id}&path=judge"
        assert b"judge/tree.json" in get(listing)
    assert [each.model_version for each in logged] == [1, 2]
