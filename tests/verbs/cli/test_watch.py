"""``judgec watch`` as a user runs it, with a real store of MLflow: judged and logged once, whatever is killed."""

import json
import os
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

from judgec.connect.tracking.traces import is_sampled
from tests.compile.small import compiled_from
from tests.service.fake_openai import FakeOpenAI
from tests.service.mlflow_server import ENVIRONMENT, log_runs
from tests.service.planted_judge import MODEL
from tests.service.replies import Call, Outcome, answer
from tests.verbs.cli.process import judgec
from tests.verbs.cli.test_trajectory import runs

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
    found: dict[str, Any] = json.loads(judgec(folder, *arguments, "--json", OPENAI_API_KEY="test").stdout)
    return found


def replies(count: int, name: str) -> list[dict[str, object]]:
    """Answers of which three in five are good."""
    return [
        {
            "query": f"Which {name}{number}?",
            "answer": f"It is {'right' if number % 5 < 3 else 'wrong'}, {name}{number}.",
            "grade": 5 if number % 5 < 3 else 1,
            "steps": [],
        }
        for number in range(count)
    ]


def grader(call: Call) -> Outcome:
    right = "right" in call.prompt.inputs.get("answer", "")
    return answer(call, {one.name: one.labels[-1 if right else 0] for one in call.prompt.outputs if one.labels})


@pytest.fixture
def server() -> Iterator[FakeOpenAI]:
    with FakeOpenAI(grader) as server:
        yield server


@pytest.mark.full
def test_passes_judge_and_log_each_sampled_trace_once_and_correct_the_rate_by_labels(
    tmp_path: Path, server: FakeOpenAI, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "test")
    database = tmp_path / "traced.db"
    uri = f"sqlite:///{database}"
    labels = [{name: value for name, value in row.items() if name != "steps"} for row in replies(120, "label")]
    compiled_from(tmp_path, labels, lm=MODEL, api_base=server.base_url, name="runs", accept_at="3")
    rows = [*replies(5, "label"), *replies(55, "trace")]
    ids = log_runs(uri, "weather", rows)
    truth = {trace: row["grade"] == 5 for trace, row in zip(ids, rows, strict=True)}
    wanted = [trace for trace in ids if is_sampled(trace, RATE)]
    watch = ["watch", "--source", "mlflow:weather", "--judge", "runs@1", "--rate", RATE, "--tracking-uri", uri]
    watch += ["--api-base", server.base_url]

    first = run(tmp_path, *watch)
    assert (first["sampled"], first["asked"]) == (len(wanted), len(wanted))
    assert first["accept"]["value"] is None
    assert first["labels_missing"] == 10
    assert logged(database) == dict.fromkeys(wanted, 1)

    # Killed between logging and keeping that it was logged, and before the pass was kept.
    state = tmp_path / ".judgec" / "watch" / "weather.runs@1.json"
    kept = json.loads(state.read_text())
    state.write_text(json.dumps({**kept, "logged": 3, "next_ms": 0}))
    with closing(sqlite3.connect(database)) as connection, connection:
        connection.execute("DELETE FROM assessments WHERE trace_id = ?", (wanted[-1],))
    again = run(tmp_path, *watch)
    assert (again["sampled"], again["asked"]) == (len(wanted), 0)
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
    more = log_runs(uri, "weather", replies(10, "more"))
    known = run(tmp_path, *watch, "--labels", "more.csv", "--alert", "accept<.05")
    lines = map(json.loads, state.with_suffix(".jsonl").read_text().splitlines())
    learned = {one["trace_id"] for one in lines if one["learned"]}  # questions of the judge's labels
    assert learned <= {*ids[:5]}
    assert known["labelled"] == len({*wanted[:20]} - learned)
    assert known["asked"] == sum(is_sampled(trace, RATE) for trace in more)
    share = sum(truth.values()) / len(truth)
    assert known["accept"]["low"] <= share <= known["accept"]["high"]
    assert known["alerts"]["accept<.05"] == {"fired": False, "why": None}


@pytest.mark.full
def test_process_that_logs_ends_when_nobody_waits_for_it_any_more(tmp_path: Path) -> None:
    """Killed while it logs, a watch leaves nobody behind who would log what the next one logs."""
    database = tmp_path / "traced.db"
    ids = log_runs(f"sqlite:///{database}", "weather", runs(10))
    one = {
        "name": "runs",
        "value": 1,
        "error": None,
        "rationale": "",
        "kind": "CODE",
        "source": "runs@1",
        "metadata": {},
    }
    feedback = [{**one, "trace_id": trace} for trace in ids] * 120  # more than can be logged before anybody looks
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
