"""``judgec watch`` against a real MLflow server with PostgreSQL: kills, drift, labels of experts, alerts."""

import json
import os
import shutil
import signal
import sqlite3
import subprocess
import sys
import threading
from collections import Counter
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from judgec.connect.tracking import background
from judgec.connect.tracking.watched_traces import is_sampled
from judgec.errors import UserError
from judgec.verbs.cli.watch import duration
from tests.service.mlflow_server import ENVIRONMENT, log_runs, mlflow_server
from tests.service.postgres import postgres
from tests.verbs.cli.process import ROOT
from tests.verbs.cli.process import judgec as run
from tests.verbs.cli.test_trajectory import graded, runs, write

RATE = 0.4
LABEL = """
import json, sys
import mlflow
from mlflow.entities import AssessmentSource

mlflow.set_tracking_uri(sys.argv[1])
for trace, accept in json.load(sys.stdin).items():
    mlflow.log_feedback(trace_id=trace, name="runs", value=accept, source=AssessmentSource("HUMAN", "ann"))
"""
HEEDING = """
import runpy, signal, sys

signal.signal(signal.SIGINT, signal.default_int_handler)  # as in a terminal: background jobs of a shell ignore it
sys.argv = sys.argv[1:]
runpy.run_path(sys.argv[0], run_name="__main__")
"""
COUNT = """
import json, sys
from mlflow import MlflowClient

client = MlflowClient(sys.argv[1])
token, found = None, []
while True:
    experiment = client.get_experiment_by_name("weather").experiment_id
    page = client.search_traces(locations=[experiment], max_results=500, page_token=token, include_spans=False)
    for trace in page:
        said = [one for one in trace.info.assessments if one.source.source_id == "runs@1"]
        found.append([trace.info.trace_id, len(said), trace.info.tags.get("judgec.review")])
    token = page.token
    if not token:
        break
print("found", json.dumps(found))
"""


def script(code: str, *arguments: str, given: object = None) -> str:
    done = subprocess.run(
        [sys.executable, "-c", code, *arguments],
        input=json.dumps(given),
        env={**os.environ, **ENVIRONMENT},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.mark.parametrize(("text", "seconds"), [("30s", 30), ("10m", 600), ("1.5h", 5400), ("1d", 86400)])
def test_durations_are_read(text: str, seconds: float) -> None:
    assert duration(text) == seconds


@pytest.mark.parametrize("text", ["10", "m", "0m", "-1m", "ten minutes"])
def test_other_durations_say_what_is_valid(text: str) -> None:
    with pytest.raises(UserError, match=r"--every .*; 30s, 10m, 2h or 1d are valid|--every .*: 30s"):
        duration(text)


@pytest.fixture(scope="module")
def judged_home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    home = tmp_path_factory.mktemp("watch")
    rows = graded(runs(200))
    write(home / "labels.jsonl", [{name: row[name] for name in row if name != "steps"} for row in rows])
    run(home, "compile-judge", "labels.jsonl", "--name", "runs", "--json")
    return home


@pytest.fixture(scope="module")
def stores(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[str, str]]:
    """A server's URL, and that of its database."""
    with postgres() as url:
        database = url.replace("postgresql://", "postgresql+pg8000://")
        with mlflow_server(database, tmp_path_factory.mktemp("mlflow")) as server:
            yield server, database


def killed_midway(home: Path, server: str) -> None:
    """Begin to watch, and kill it without a warning once something was judged."""
    command = [sys.executable, str(ROOT / "cli.py"), "watch", "--source", "mlflow:weather", "--judge", "runs@1"]
    process = subprocess.Popen(
        [*command, "--rate", str(RATE), "--every", "1d", "--tracking-uri", server, "--json"],
        cwd=home,
        env={**os.environ, **ENVIRONMENT},
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    state, turn = home / ".judgec" / "watch" / "weather.runs@1.db", threading.Event()
    while process.poll() is None:
        if state.exists() and _verdicts(state):
            os.kill(process.pid, signal.SIGKILL)
            break
        turn.wait(0.02)
    process.wait(60)


def _verdicts(state: Path) -> int:
    connection = sqlite3.connect(state)
    try:
        return int(connection.execute("SELECT count(*) FROM verdicts").fetchone()[0])
    except sqlite3.OperationalError:  # not made yet
        return 0
    finally:
        connection.close()


@pytest.mark.full
@pytest.mark.parametrize("how", [signal.SIGTERM, signal.SIGINT])
def test_a_watch_that_is_stopped_says_so_and_goes_on_without_judging_twice(
    judged_home: Path, tmp_path: Path, how: signal.Signals
) -> None:
    """Stopped while it waits for its next look: what it judged is kept, and logged once."""
    database, home = f"sqlite:///{tmp_path / 'traced.db'}", tmp_path / "home"
    shutil.copytree(judged_home, home, ignore=shutil.ignore_patterns(".judgec"))
    ids = log_runs(database, "weather", runs(40, seed=7))
    wanted = {trace for trace in ids if is_sampled(trace, RATE)}
    watch = [sys.executable, str(ROOT / "cli.py"), "watch", "--source", "mlflow:weather", "--judge", "runs@1"]
    watch += ["--rate", str(RATE), "--tracking-uri", database, "--json"]
    environment = {**os.environ, **ENVIRONMENT}
    with subprocess.Popen(
        [sys.executable, "-c", HEEDING, *watch[1:], "--every", "1d"],
        cwd=home,
        env=environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    ) as process:
        assert process.stdout is not None
        first = process.stdout.readline()  # the first look's report: it waits for the next one
        assert first, process.communicate()[1]
        process.send_signal(how)
        said = process.communicate()[1]
    assert process.returncode == 128 + how, said
    assert "interrupted; what was finished is kept" in said
    assert "Traceback" not in said
    assert json.loads(first)["new_sampled"] == len(wanted)
    done = subprocess.run([*watch, "--once"], cwd=home, env=environment, capture_output=True, text=True, check=True)
    report = json.loads(done.stdout)
    assert (report["new_traces"], report["new_sampled"], report["sampled"]) == (0, 0, len(wanted))
    found = json.loads(script(COUNT, database).rpartition("found ")[2])
    assert {trace: said for trace, said, _ in found if said} == dict.fromkeys(wanted, 1)


def test_process_that_logs_ends_when_nobody_waits_for_it_any_more(tmp_path: Path) -> None:
    """Killed while it logs, a watch leaves nobody behind who would log what the next one logs."""
    database = f"sqlite:///{tmp_path / 'traced.db'}"
    ids = log_runs(database, "weather", runs(60, seed=7))
    one = {
        "name": "runs",
        "value": 1,
        "error": None,
        "rationale": "",
        "kind": "CODE",
        "source": "runs@1",
        "metadata": {},
    }
    feedback = [{**one, "trace_id": trace} for trace in ids] * 20  # more than can be logged before anybody looks
    request = {"do": "log", "feedback": feedback, "tags": {}, "uri": database, "artifacts": ""}

    def logged() -> int:
        with closing(sqlite3.connect(tmp_path / "traced.db")) as connection:
            return int(connection.execute("SELECT count(*) FROM assessments").fetchone()[0])

    command = [sys.executable, "-m", "judgec.connect.tracking.watched_traces"]
    environment, turn = {**os.environ, **ENVIRONMENT}, threading.Event()
    with subprocess.Popen(command, stdin=subprocess.PIPE, env=environment, stderr=subprocess.DEVNULL) as process:
        assert process.stdin is not None
        process.stdin.write(f"{json.dumps(request)}\n".encode())
        process.stdin.flush()
        while not logged():
            assert process.poll() is None
            turn.wait(0.01)
    assert process.returncode == 1
    assert 0 < logged() < len(feedback)


@pytest.mark.parametrize(
    "count", [pytest.param(400, marks=pytest.mark.full), pytest.param(10_000, marks=pytest.mark.soak)]
)
def test_watch_of_a_server_with_postgresql(judged_home: Path, stores: tuple[str, str], count: int) -> None:
    server, database = stores
    rows = runs(count, seed=5)
    ids = log_runs(database, "weather", rows)
    killed_midway(judged_home, server)
    watch = ["watch", "--source", "mlflow:weather", "--judge", "runs@1", "--rate", RATE, "--tracking-uri", server]

    def look(*more: object, code: int = 0) -> dict[str, Any]:
        done = subprocess.run(
            [background.PYTHON, str(ROOT / "cli.py"), *map(str, [*watch, "--once", "--json", *more])],
            cwd=judged_home,
            env={**os.environ, **ENVIRONMENT},
            capture_output=True,
            text=True,
            check=False,
        )
        assert done.returncode == code, done.stderr
        assert "Traceback" not in done.stderr
        report: dict[str, Any] = json.loads(done.stdout)
        return report

    first = look()
    sampled = {trace for trace in ids if is_sampled(trace, RATE)}
    assert abs(len(sampled) / count - RATE) < 0.1
    assert (first["traces"], first["sampled"], first["unscored"]) == (count, len(sampled), 0)
    found = json.loads(script(COUNT, server).rpartition("found ")[2])
    assert Counter(said for trace, said, _ in found if trace in sampled) == {1: len(sampled)}  # none twice, none not
    assert not any(said for trace, said, _ in found if trace not in sampled)
    assert {trace for trace, _, tag in found if tag} == set(first["propose"])
    truth = sum(row["kind"] in {"good", "again"} for row in rows[-2000:]) / len(rows[-2000:])
    assert first["accept"]["low"] <= truth <= first["accept"]["high"]
    assert not first["withdrawn"]
    assert "error rates are those on its" in first["assumes"]
    again = look("--alert", "accept<.99", code=1)  # exit 1: shown to be below
    assert (again["new_traces"], again["new_sampled"]) == (0, 0)
    assert again["alerts"]["accept<.99"]["fired"]
    assert not look("--alert", "accept<.05")["alerts"]["accept<.05"]["fired"]

    # Other traffic: results that say nothing, answers in words. No mix of the test items' scores explains that.
    odd = [{**row, "answer": "Hard to say, dear friend; the wind knows.", "steps": []} for row in runs(500, seed=9)]
    kinds = dict(zip(ids, rows, strict=True)) | dict(zip(log_runs(database, "weather", odd), odd, strict=True))
    drifted = look("--alert", "drift", code=1)
    assert drifted["withdrawn"]
    assert drifted["accept"]["value"] is None
    assert drifted["raw"]["value"] is not None
    assert drifted["labels_needed"] == 50
    # Experts label what is proposed and some of the usual traces that follow: they accept a few, and reject others.
    usual = runs(160, seed=10)
    followed = log_runs(database, "weather", usual)
    kinds |= dict(zip(followed, usual, strict=True))
    asked = look("--alert", "accept<.99")["propose"]  # not known, so no alert
    assert len(asked) >= 50
    asked += [trace for trace in followed if is_sampled(trace, RATE) and trace not in asked]
    said = {trace: kinds[trace]["steps"] != [] and kinds[trace]["kind"] in {"good", "again"} for trace in asked}
    script(LABEL, server, given=said)
    renewed = look()
    assert not renewed["withdrawn"], renewed
    assert renewed["accept"]["value"] is not None
    assert "labels since the last drift" in renewed["assumes"]
