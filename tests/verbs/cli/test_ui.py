"""``judgec ui`` as a real process with a real MLflow server behind it."""

import os
import re
import shutil
import signal
import socket
import subprocess
import sys
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from judgec.connect.tracking.background import Tracker
from judgec.connect.tracking.server.ui import compare_url, free_port, runs_url
from judgec.connect.tracking.store import TrackingStore, tracking_store
from tests.connect.tracking.examples import compile_run

ROOT = Path(__file__).parents[3]
CHROMIUM = [  # the page is a script: virtual time lets it run until it is idle
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--window-size=1500,2600",
    "--virtual-time-budget=20000",
]


def command(*arguments: str) -> list[str]:
    return [sys.executable, str(ROOT / "cli.py"), "ui", *arguments]


def run(*arguments: str) -> subprocess.CompletedProcess[str]:
    environ = {key: value for key, value in os.environ.items() if key != "MLFLOW_TRACKING_URI"}
    return subprocess.run(command(*arguments), capture_output=True, text=True, env=environ, check=False, timeout=280)


@contextmanager
def running(home: Path) -> Iterator[tuple[subprocess.Popen[str], str]]:
    """The process and the line in which it says where it answers."""
    with subprocess.Popen(
        command("--home", str(home)),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env={**os.environ, "PYTHONUNBUFFERED": "1"},
    ) as process:
        try:
            assert process.stdout is not None
            yield process, process.stdout.readline()
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


def test_ui_starts_answers_and_ctrl_c_stops_it_with_its_children(tmp_path: Path) -> None:
    (tmp_path / "mlruns").mkdir()
    (tmp_path / "mlruns" / "mlflow.db").touch()  # MLflow fills an empty database itself
    with running(tmp_path) as (process, line):
        found = re.search(r"MLflow UI: (http://127\.0\.0\.1:\d+)  \(up in \d+ s", line)
        assert found, process.stderr and process.stderr.read()
        assert get(f"{found[1]}/health") == b"OK"
        assert b"<title>MLflow</title>" in get(f"{found[1]}/")
        assert compare_url(found[1]) is None
        assert runs_url(found[1]) is None
        family = children(process.pid)
        assert family
        assert cpu_seconds(family) < 20  # what it costs to come up, however busy the machine is
        process.send_signal(signal.SIGINT)
        assert process.wait(120) == 0
        assert not any(alive(pid) for pid in family)


def test_ui_without_runs_says_what_to_run_first(tmp_path: Path) -> None:
    ran = run("--home", str(tmp_path))
    assert ran.returncode == 2
    assert "nothing is tracked here yet" in ran.stderr
    assert "Run judgec compile-judge LABELS" in ran.stderr
    assert list(tmp_path.iterdir()) == []


def test_ui_port_in_use_is_refused_by_name(tmp_path: Path) -> None:
    (tmp_path / "mlruns").mkdir()
    (tmp_path / "mlruns" / "mlflow.db").touch()
    with socket.create_server(("127.0.0.1", 0)) as busy:
        port = busy.getsockname()[1]
        ran = run("--home", str(tmp_path), "--port", str(port))
        assert ran.returncode == 2
        assert f"--port: {port} is taken" in ran.stderr
        with free_port("127.0.0.1", None, default=port) as free:
            assert free > port


def test_two_that_look_for_a_port_at_once_find_two() -> None:
    with socket.create_server(("127.0.0.1", 0)) as busy:
        default = busy.getsockname()[1] + 1
    with free_port("127.0.0.1", None, default=default) as one, free_port("127.0.0.1", None, default=default) as other:
        assert one != other  # though no server listens on the first yet
    with free_port("127.0.0.1", None, default=default) as again:
        assert again == one


def test_ui_remote_server_prints_its_address_without_the_password() -> None:
    ran = run("--tracking-uri", "https://me:secret@tracking.example")
    assert ran.returncode == 0
    assert "https://me:***@tracking.example" in ran.stdout


def test_ui_folder_as_tracking_uri_is_bad_usage() -> None:
    ran = run("--tracking-uri", "mlruns")
    assert ran.returncode == 2
    assert "Use sqlite:///mlruns/mlflow.db" in ran.stderr


@pytest.mark.full
def test_ui_two_compiles_line_up_in_the_compare_page(tmp_path: Path) -> None:
    browser = shutil.which("chromium") or shutil.which("google-chrome")
    if browser is None:
        pytest.skip("NOT RUN: no chromium on this machine, the compare page was not looked at")
    with Tracker(tracking_store(tmp_path, None, {}), os.environ) as tracker:
        for number, tau_b in ((1, 0.4375), (2, 0.6875)):
            tracker.log_compile(compile_run(tmp_path, number, tau_b, "champion"))
    with running(tmp_path) as (process, line):
        assert "MLflow UI: " in line
        assert process.stdout is not None
        url = process.stdout.readline().split()[-1]
        profile = f"--user-data-dir={tmp_path / 'profile'}"
        page = subprocess.run(
            [browser, *CHROMIUM, profile, "--dump-dom", url], capture_output=True, text=True, check=True
        ).stdout
    text = re.sub(r"(\s*<[^>]+>\s*)+", "|", page)
    assert "|sensors 0001|sensors 0002|" in text
    names = "games.agent_2Bv2|test.tau_b|test.tau_b.high|test.tau_b.low|test.tau_b.p|test.uncompiled.tau_b"
    # the table's first column, then its rows: one value of each run
    assert f"|{names}|17|17|0.438|0.688|0.688|0.938|0.313|0.563|0.031|0.031|0.25|0.25|" in text


@pytest.mark.full
def test_ui_server_takes_a_compile_from_another_tracker(tmp_path: Path) -> None:
    (tmp_path / "mlruns").mkdir()
    (tmp_path / "mlruns" / "mlflow.db").touch()
    with running(tmp_path) as (_, line):
        url = line.split()[2]
        with Tracker(TrackingStore(url, None), os.environ) as tracker:
            logged = [tracker.log_compile(compile_run(tmp_path, k, 0.5, "champion")) for k in (1, 2)]
        compared = compare_url(url)
        assert compared is not None
        assert compared.index(logged[0].run_id) < compared.index(logged[1].run_id)
        listing = f"{url}/api/2.0/mlflow/artifacts/list?run_id={logged[1].run_id}&path=judge"
        assert b"judge/program.json" in get(listing)
    assert [each.model_version for each in logged] == [1, 2]
