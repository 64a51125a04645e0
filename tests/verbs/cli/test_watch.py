"""``judgec watch`` as a user runs it, with a real store of MLflow: judged and logged once, whatever is killed."""

import json
import os
import sqlite3
import subprocess
import sys
import threading
from collections import Counter
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from judgec.connect.tracking.traces import is_sampled
from tests.service.mlflow_server import ENVIRONMENT, log_runs
from tests.verbs.cli.process import judgec
from tests.verbs.cli.test_trajectory import graded, runs, write

RATE = 0.6
LABEL = """
import json, sys
import mlflow
from mlflow.entities import AssessmentSource

mlflow.set_tracking_uri(sys.argv[1])
for trace, accept in json.load(sys.stdin).items():
    mlflow.log_feedback(trace_id=trace, name="runs", value=accept, source=AssessmentSource("HUMAN", "ann"))
"""


def logged(database: Path) -> Counter[str]:
    """How often the judge's feedback is on each trace."""
    with closing(sqlite3.connect(database)) as connection:
        rows = connection.execute("SELECT trace_id FROM assessments WHERE source_id = 'runs@1'").fetchall()
    return Counter(trace for (trace,) in rows)


def run(folder: Path, *arguments: object) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(judgec(folder, *arguments, "--json").stdout)
    return found


@pytest.mark.full
def test_passes_judge_and_log_each_sampled_trace_once_and_correct_the_rate_by_labels(tmp_path: Path) -> None:
    database = tmp_path / "traced.db"
    uri = f"sqlite:///{database}"
    write(tmp_path / "labels.jsonl", graded(runs(200)))
    run(tmp_path, "compile-judge", "labels.jsonl", "--name", "runs")
    rows = runs(60, seed=7)
    ids = log_runs(uri, "weather", rows)
    truth = {trace: row["kind"] in {"good", "again"} for trace, row in zip(ids, rows, strict=True)}
    wanted = [trace for trace in ids if is_sampled(trace, RATE)]
    watch = ["watch", "--source", "mlflow:weather", "--judge", "runs@1", "--rate", RATE, "--tracking-uri", uri]

    first = run(tmp_path, *watch)
    assert (first["traces"], first["sampled"], first["asked"]) == (60, len(wanted), len(wanted))
    assert first["accept"]["value"] is None
    assert first["labels_missing"] == 10
    assert logged(database) == dict.fromkeys(wanted, 1)

    # Killed between logging and keeping that it was logged, and before the pass was kept.
    state = tmp_path / ".judgec" / "watch" / "weather.runs@1.json"
    kept = json.loads(state.read_text())
    state.write_text(json.dumps({**kept, "logged": 3, "next_ms": 0, "traces": 0, "recent": []}))
    with closing(sqlite3.connect(database)) as connection, connection:
        connection.execute("DELETE FROM assessments WHERE trace_id = ?", (wanted[-1],))
    again = run(tmp_path, *watch)
    assert (again["traces"], again["sampled"], again["asked"]) == (60, len(wanted), 0)
    assert logged(database) == dict.fromkeys(wanted, 1)

    people = {trace: truth[trace] for trace in wanted[:8]}
    subprocess.run(
        [sys.executable, "-c", LABEL, uri],
        input=json.dumps(people),
        env={**os.environ, **ENVIRONMENT},
        text=True,
        check=True,
    )
    (tmp_path / "more.csv").write_text(
        "trace_id,accept,stratum\n"
        + "".join(f"{trace},{str(truth[trace]).lower()},random\n" for trace in wanted[8:20])
        + f"{wanted[20]},true,uncertain\n"
    )
    more = log_runs(uri, "weather", runs(10, seed=8))
    known = run(tmp_path, *watch, "--labels", "more.csv", "--alert", "accept<.05")
    lines = map(json.loads, state.with_suffix(".jsonl").read_text().splitlines())
    learned = {one["trace_id"] for one in lines if one["learned"]}  # the same questions as in the judge's labels
    assert (known["labelled"], known["new_traces"]) == (len({*wanted[:20]} - learned), 10)
    assert known["asked"] == sum(is_sampled(trace, RATE) for trace in more)
    share = sum(truth.values()) / len(truth)
    assert known["accept"]["low"] <= share <= known["accept"]["high"]
    assert known["alerts"]["accept<.05"] == {"fired": False, "why": None}


def test_process_that_logs_ends_when_nobody_waits_for_it_any_more(tmp_path: Path) -> None:
    """Killed while it logs, a watch leaves nobody behind who would log what the next one logs."""
    database = tmp_path / "traced.db"
    ids = log_runs(f"sqlite:///{database}", "weather", runs(60, seed=7))
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
    request = {"log": feedback, "uri": f"sqlite:///{database}", "artifacts": ""}
    command = [sys.executable, "-m", "judgec.connect.tracking.traces"]
    turn = threading.Event()
    with subprocess.Popen(
        command, stdin=subprocess.PIPE, env={**os.environ, **ENVIRONMENT}, stderr=subprocess.DEVNULL
    ) as process:
        assert process.stdin is not None
        process.stdin.write(f"{json.dumps(request)}\n".encode())
        process.stdin.flush()
        while not logged(database):
            assert process.poll() is None
            turn.wait(0.01)
    assert process.returncode == 1
    assert 0 < logged(database).total() < len(feedback)
