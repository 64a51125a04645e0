"""A compile logged by the background process, read back from the database and the artifact folder."""

import json
import os
import sqlite3
import subprocess
import sys
from collections.abc import Iterator
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path

import pytest

from judgec.connect.tracking.apart import ask_apart
from judgec.connect.tracking.background import Tracker
from judgec.connect.tracking.runs import Logged
from judgec.connect.tracking.store import tracking_store
from judgec.errors import ServiceError
from tests.connect.tracking.examples import STARTED, compile_run


@pytest.fixture(autouse=True, scope="module")
def _python_starts_as_for_a_user() -> Iterator[None]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("judgec.connect.tracking.background.PYTHON", sys.executable)
        yield


@dataclass(frozen=True)
class Store:
    home: Path
    first: Logged
    second: Logged
    database: sqlite3.Connection

    def all(self, query: str, *values: object) -> list[tuple[object, ...]]:
        return self.database.execute(query, values).fetchall()

    def metrics(self, run_id: str) -> dict[object, object]:
        rows = self.all("SELECT key, value FROM latest_metrics WHERE run_uuid = ?", run_id)
        return {row[0]: row[1] for row in rows}

    def tags(self, run_id: str) -> dict[object, object]:
        return {row[0]: row[1] for row in self.all("SELECT key, value FROM tags WHERE run_uuid = ?", run_id)}


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Store]:
    """Two compiles: the first made a champion, the second made a better one."""
    home = tmp_path_factory.mktemp("home with spaces and % é")
    with Tracker(tracking_store(home, None, {}), os.environ) as tracker:
        first = tracker.log_compile(compile_run(home, 1, 0.5, "champion"))
        second = tracker.log_compile(compile_run(home, 2, 0.625, "champion"))
    assert tracker._process.returncode == 0
    with closing(sqlite3.connect(home / "mlruns" / "mlflow.db")) as database:
        yield Store(home, first, second, database)


def test_tracker_keeps_mlflow_out_of_this_process() -> None:
    code = "import sys, judgec.connect.tracking.background as b; print('mlflow' in sys.modules, b.__name__)"
    env = {**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, sys.path))}
    ran = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, env=env)
    assert ran.stdout.split() == ["False", "judgec.connect.tracking.background"]


def test_log_compile_has_its_tags_times_and_parameters_under_encoded_names(store: Store) -> None:
    tags = store.tags(store.first.run_id)
    assert not [name for name in tags if str(name).startswith("undefined")]
    assert (tags["judgec.labels"], tags["judgec.kind"]) == ("constructed", "compile")
    assert tags["mlflow.note.content"] == "Made up for a test."
    rows = store.all("SELECT key, value FROM params WHERE run_uuid = ?", store.first.run_id)
    assert sorted(map(str, rows)) == ["('lm', 'embedded')", "('max cost_2Btax', 'None')", "('seed', '0')"]
    (row,) = store.all("SELECT status, start_time, end_time FROM runs WHERE run_uuid = ?", store.first.run_id)
    assert row == ("FINISHED", (STARTED + 60) * 1000, (STARTED + 80) * 1000)


def test_log_compile_metrics_have_intervals_and_leave_out_the_undefined(store: Store) -> None:
    assert store.metrics(store.second.run_id) == {
        "test.tau_b": 0.625,
        "test.tau_b.low": 0.5,
        "test.tau_b.high": 0.875,
        "test.tau_b.p": 0.03125,
        "test.uncompiled.tau_b": 0.25,
        "games.agent_2Bv2": 17,
    }


def test_log_compile_makes_a_child_run_of_each_candidate(store: Store) -> None:
    children = store.all(
        "SELECT runs.name, status, start_time, latest_metrics.value FROM runs "
        "JOIN tags ON tags.run_uuid = runs.run_uuid AND tags.key = 'mlflow.parentRunId' AND tags.value = ? "
        "JOIN latest_metrics ON latest_metrics.run_uuid = runs.run_uuid ORDER BY start_time",
        store.first.run_id,
    )
    base = (STARTED + 60) * 1000
    assert children == [
        (f"candidate {i}", "FAILED" if i == 7 else "FINISHED", base + 1000 * i, i / 8) for i in range(8)
    ]


def test_log_compile_inputs_have_digests_and_no_texts(store: Store) -> None:
    rows = store.all(
        "SELECT datasets.name, datasets.digest, dataset_profile, dataset_schema FROM inputs "
        "JOIN datasets ON datasets.dataset_uuid = inputs.source_id "
        "WHERE inputs.destination_id = ? ORDER BY datasets.name",
        store.first.run_id,
    )
    assert [row[0] for row in rows] == ["labels.csv/dev", "labels.csv/test", "labels.csv/train"]
    assert {row[1] for row in rows} == {("0123456789abcdef" * 4)[:36]}
    assert json.loads(str(rows[1][2])) == {"num_rows": 90, "sha256": "0123456789abcdef" * 4}
    assert json.loads(str(rows[1][3]))["mlflow_colspec"][0] == {"type": "string", "name": "query"}


def test_log_compile_artifacts_are_the_files_without_pickles(store: Store) -> None:
    folder = store.home / "mlruns" / "artifacts" / store.second.run_id / "artifacts"
    files = {path.relative_to(folder).as_posix(): path for path in folder.rglob("*") if path.is_file()}
    assert sorted(files) == ["judge/card.json", "judge/tree.json", "metrics.json", "report.json"]
    assert json.loads(files["judge/tree.json"].read_text()) == {"version": 2}
    metrics = json.loads(files["metrics.json"].read_text())["data"]
    assert ["test.majority.tau_b", "test.majority.tau_b", None, None, None, "all grades equal"] in metrics
    assert ["games.agent+v2", "games.agent_2Bv2", 17, None, None, ""] in metrics
    assert sorted(path.name for path in (store.home / "mlruns").iterdir()) == ["artifacts", "mlflow.db"]


def test_log_compile_alias_moves_to_the_newest_version(store: Store) -> None:
    assert (store.first.model_version, store.second.model_version) == (1, 2)
    assert store.all("SELECT name, alias, version FROM registered_model_aliases") == [("sensors", "champion", 2)]
    versions = store.all("SELECT version, source, run_id FROM model_versions ORDER BY version")
    assert versions[1] == (2, f"runs:/{store.second.run_id}/judge", store.second.run_id)
    tags = store.all("SELECT key, value FROM model_version_tags WHERE version = 1 ORDER BY key")
    assert tags == [("promoted", "true"), ("test.tau_b", "0.5")]


def test_tracker_dead_process_is_a_service_error_with_the_last_error_in_one_line(tmp_path: Path) -> None:
    said = b"Traceback ...\nsqlalchemy.exc.OperationalError: database is locked\n[SQL: BEGIN]\n(Background on this)\n"
    for wrote, last in ((b"", r"mlflow.db: .* \(exit -9: "), (said, r"OperationalError: database is locked\)")):
        with Tracker(tracking_store(tmp_path, None, {}), os.environ) as tracker:
            tracker._process.kill()
            tracker._stderr.write(wrote)
            with pytest.raises(ServiceError, match=last) as caught:
                tracker.wait()
        assert "\n" not in str(caught.value)


def test_tracker_closed_while_importing_leaves_nothing(tmp_path: Path) -> None:
    with Tracker(tracking_store(tmp_path, None, {}), os.environ) as tracker:
        pass
    assert tracker._process.returncode is not None
    assert not (tmp_path / "mlruns").exists()


def test_process_apart_that_dies_says_the_last_error_in_one_line(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "dies.py").write_text("raise OSError('database is locked\\n[SQL: BEGIN]\\n(Background on this)')")
    monkeypatch.syspath_prepend(tmp_path)
    store = tracking_store(tmp_path, None, {})
    with pytest.raises(ServiceError) as caught:
        ask_apart("dies", {}, store, os.environ, "reads traces")
    said = str(caught.value)
    assert said.startswith(f"{store.shown}: ")
    assert "(exit 1: OSError: database is locked). Run judgec doctor." in said
