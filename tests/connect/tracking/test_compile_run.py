"""Faults of the store, two processes at once, and kills. In this process, which therefore imports MLflow."""

import os
import signal
import sqlite3
import time
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from judgec.connect.tracking.background import Tracker
from judgec.connect.tracking.runs import CompileRun, Logged
from judgec.connect.tracking.store import TrackingStore, tracking_store
from judgec.errors import ArtifactError, ServiceError
from tests.connect.tracking.examples import compile_run

pytestmark = [
    pytest.mark.full,
    pytest.mark.filterwarnings("ignore"),  # MLflow's imports warn; they are not ours to mend
]


def database(home: Path) -> sqlite3.Connection:
    return sqlite3.connect(home / "mlruns" / "mlflow.db")


def until(condition: Callable[[], bool], seconds: float = 60) -> None:
    deadline = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < deadline


def log(store: TrackingStore, run: CompileRun) -> Logged:
    from judgec.connect.tracking.compile_run import log_compile

    return log_compile(store, run)


def opened(store: TrackingStore) -> Any:  # a client of MLflow
    from judgec.connect.tracking.client import open_store

    return open_store(store)


def without_report(run: CompileRun) -> CompileRun:
    return run.model_copy(update={"artifacts": {"report.json": Path("missing.json")}})


def test_log_compile_failure_half_way_marks_the_run_failed(tmp_path: Path) -> None:
    store = tracking_store(tmp_path, None, {})
    with pytest.raises(ServiceError, match=r"missing.json.*judgec doctor"):
        log(store, without_report(compile_run(tmp_path, 1, 0.5)))
    with closing(database(tmp_path)) as rows:
        assert rows.execute("SELECT status FROM runs").fetchall() == [("FAILED",)]


def test_log_compile_of_a_run_with_a_key_that_is_logged_already_returns_that_run(tmp_path: Path) -> None:
    store = tracking_store(tmp_path, None, {})
    run = compile_run(tmp_path, 1, 0.5, "champion").model_copy(update={"key": "0a1b"})
    with pytest.raises(ServiceError):
        log(store, without_report(run))
    first = log(store, run)  # what failed half-way does not count
    assert log(store, run) == first
    assert first.model_version == 1
    assert log(store, run.model_copy(update={"key": "2c3d"})).run_id != first.run_id


def test_log_compile_deleted_experiment_says_how_to_restore_it(tmp_path: Path) -> None:
    store, run = tracking_store(tmp_path, None, {}), compile_run(tmp_path, 1, 0.5)
    logged = log(store, run)
    opened(store).delete_experiment(logged.experiment_id)
    with pytest.raises(ServiceError, match=f"restore --experiment-id {logged.experiment_id}"):
        log(store, run)


def test_log_compile_hundreds_of_metrics_parameters_and_tags_all_arrive(tmp_path: Path) -> None:
    many = {
        "metrics": {f"m{i}": float(i) for i in range(1900)},
        "params": {f"p{i}": i for i in range(250)},
        "tags": {f"t{i}": str(i) for i in range(250)},
    }
    store, run = tracking_store(tmp_path, None, {}), compile_run(tmp_path, 1, 0.5).model_copy(update=many)
    data = opened(store).get_run(log(store, run).run_id).data
    assert (data.metrics, len(data.params)) == (run.metrics, 250)
    assert {key: data.tags[key] for key in run.tags} == run.tags


def test_open_store_other_schema_version_says_how_to_upgrade(tmp_path: Path) -> None:
    opened(tracking_store(tmp_path, None, {}))
    copy = tmp_path / "old.db"
    with closing(database(tmp_path)) as source, closing(sqlite3.connect(copy)) as target:
        source.backup(target)
        target.execute("UPDATE alembic_version SET version_num = 'bd07f7e963c5'")
        target.commit()
    with pytest.raises(ArtifactError, match=r"mlflow db upgrade 'sqlite:///.*old.db'"):
        opened(TrackingStore(f"sqlite:///{copy}", None))


def test_open_store_place_that_cannot_be_made_is_a_service_error(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    bad = TrackingStore(f"sqlite:///{tmp_path}/file/mlflow.db", None)
    with Tracker(bad, os.environ) as tracker, pytest.raises(ServiceError, match="judgec doctor"):
        tracker.wait()


def test_trackers_two_at_once_on_a_fresh_home_both_log(tmp_path: Path) -> None:
    store = tracking_store(tmp_path, None, {})
    with Tracker(store, os.environ) as one, Tracker(store, os.environ) as other:
        one.log_compile(compile_run(tmp_path, 1, 0.5))
        other.log_compile(compile_run(tmp_path, 2, 0.25))
    with closing(database(tmp_path)) as rows:
        assert rows.execute("SELECT count(*) FROM runs WHERE status = 'FINISHED'").fetchone() == (16,)
        assert rows.execute("SELECT count(*) FROM experiments WHERE name = 'judgec'").fetchone() == (1,)
    assert not list((tmp_path / "mlruns").glob(".new-*"))


def test_tracker_killed_while_making_the_database_leaves_none_by_halves(tmp_path: Path) -> None:
    store = tracking_store(tmp_path, None, {})
    with Tracker(store, os.environ) as killed:
        until((tmp_path / "mlruns").exists)  # it has begun
        os.kill(killed._process.pid, signal.SIGKILL)
    assert not (tmp_path / "mlruns" / "mlflow.db").exists()
    with Tracker(store, os.environ) as tracker:
        assert tracker.log_compile(compile_run(tmp_path, 1, 0.5)).model_version == 1


def test_tracker_whose_parent_is_killed_ends_by_itself(tmp_path: Path) -> None:
    store = tracking_store(tmp_path, None, {})
    with Tracker(store, os.environ) as tracker:
        tracker.wait()
        assert tracker._process.stdin is not None
        tracker._process.stdin.close()  # what the kernel does for a killed parent
        assert tracker._process.wait(30) == 0
