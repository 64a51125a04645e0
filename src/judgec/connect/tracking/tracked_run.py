"""Logs what every run of judgec has to MLflow: parameters, metrics, tags, files.

Only explicit run ids are used: MLflow's "active run" is one per thread and gets lost between threads.
"""

import json
import shutil
from collections.abc import Callable, Mapping
from pathlib import Path
from tempfile import TemporaryDirectory

from mlflow import MlflowClient
from mlflow.entities import Metric, Param, RunTag
from mlflow.exceptions import MlflowException

from judgec.connect.tracking import runs
from judgec.connect.tracking.client import open_store, unreachable
from judgec.connect.tracking.metrics import flatten, metrics_table
from judgec.connect.tracking.names import encode_metric
from judgec.connect.tracking.store import TrackingStore
from judgec.errors import ServiceError

METRICS_TABLE = "metrics.json"
KEY_TAG = "judgec.key"
BATCH = {"metrics": 800, "params": 100, "tags": 100}  # mlflow.utils.validation: 1000 entities in all

More = Callable[[MlflowClient, str, str], int | None]
"""Logs what only one kind of run has, given the client, the experiment's id and the run's; the version registered."""


def log_run(store: TrackingStore, run: runs.TrackedRun, more: More | None = None) -> runs.Logged:
    """Log a run; one whose key is logged already is not logged again.

    The run is marked failed when logging stops half-way.

    Args:
        store: Where to log.
        run: What every run has.
        more: Logs what only its kind has.

    Raises:
        ServiceError: When the store refuses or fails.
        ArtifactError: When the database belongs to another MLflow version.
    """
    client = open_store(store)
    try:
        experiment_id = _experiment(client, run.experiment, store.artifacts)
        if run.key and (known := _logged(client, experiment_id, run.key)) is not None:
            return known
        run_id = start(client, experiment_id, run.name, run.started, _tags(run))
        try:
            numbers = flatten(run.metrics) if run.headline is None else run.headline
            log_values(client, run_id, run.params, numbers, run.ended)
            _log_files(client, run_id, run)
            version = None if more is None else more(client, experiment_id, run_id)
        except BaseException:
            client.set_terminated(run_id, status="FAILED", end_time=milliseconds(run.ended))
            raise
        client.set_terminated(run_id, status="FINISHED", end_time=milliseconds(run.ended))
    except (MlflowException, OSError) as error:
        raise unreachable(store, error) from error
    return runs.Logged(run_id=run_id, experiment_id=experiment_id, model_version=version)


def start(client: MlflowClient, experiment_id: str, name: str, started: float, tags: dict[str, str]) -> str:
    """Begin a run; its id."""
    first = dict(list(tags.items())[: BATCH["tags"]])
    run = client.create_run(experiment_id, start_time=milliseconds(started), tags=first, run_name=name)
    run_id = str(run.info.run_id)
    _log_batches(client, run_id, [], [], [RunTag(key, tags[key]) for key in list(tags)[BATCH["tags"] :]])
    return run_id


def log_values(
    client: MlflowClient,
    run_id: str,
    params: Mapping[str, runs.Param],
    metrics: Mapping[str, float],
    when: float,
    *,
    step: int = 0,
) -> None:
    """Log numbers and parameters, all numbers in one call: 20 calls cost 18 times as much as one."""
    numbers = [Metric(encode_metric(name), value, milliseconds(when), step) for name, value in metrics.items()]
    words = [Param(encode_metric(key), str(value)) for key, value in params.items()]
    _log_batches(client, run_id, numbers, words, [])


def milliseconds(seconds: float) -> int:
    """As MLflow counts time."""
    return round(seconds * 1000)


def _logged(client: MlflowClient, experiment_id: str, key: str) -> runs.Logged | None:
    """The finished run with this key, or None."""
    wanted = f"attributes.status = 'FINISHED' AND tags.`{KEY_TAG}` = '{key}'"
    for found in client.search_runs([experiment_id], wanted, max_results=1):
        registered = client.search_model_versions(f"run_id = '{found.info.run_id}'")
        version = int(registered[0].version) if registered else None
        return runs.Logged(run_id=found.info.run_id, experiment_id=experiment_id, model_version=version)
    return None


def _experiment(client: MlflowClient, name: str, artifacts: str | None) -> str:
    found = client.get_experiment_by_name(name)
    if found is None:
        try:
            return str(client.create_experiment(name, artifact_location=artifacts))
        except MlflowException:
            found = client.get_experiment_by_name(name)  # made by another process in between?
            if found is None:
                raise
    if found.lifecycle_stage == "deleted":
        raise ServiceError(
            f"experiment {name}: it was deleted in MLflow; runs need a live one. "
            f"Run: mlflow experiments restore --experiment-id {found.experiment_id}"
        )
    return str(found.experiment_id)


def _tags(run: runs.TrackedRun) -> dict[str, str]:
    tags = {encode_metric(key): value for key, value in run.tags.items()}
    tags |= {"mlflow.source.name": f"judgec {run.command}", "mlflow.source.type": "LOCAL"}
    tags |= {"judgec.kind": run.kind, "mlflow.note.content": run.description}
    tags |= {KEY_TAG: run.key} if run.key else {}
    tables = [METRICS_TABLE, *(f"{name}.json" for name in run.tables)]
    tags["mlflow.loggedArtifacts"] = json.dumps([{"path": path, "type": "table"} for path in tables])
    return tags


def _log_batches(
    client: MlflowClient, run_id: str, metrics: list[Metric], params: list[Param], tags: list[RunTag]
) -> None:
    while metrics or params or tags:
        client.log_batch(run_id, metrics[: BATCH["metrics"]], params[: BATCH["params"]], tags[: BATCH["tags"]])
        metrics, params, tags = (
            metrics[BATCH["metrics"] :],
            params[BATCH["params"] :],
            tags[BATCH["tags"] :],
        )


def _log_files(client: MlflowClient, run_id: str, run: runs.TrackedRun) -> None:
    """Lay out every file in one folder and send it in one call."""
    with TemporaryDirectory() as folder:
        for path, source in run.files().items():
            target = Path(folder, path)
            target.parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(source, target)
        Path(folder, METRICS_TABLE).write_text(json.dumps(metrics_table(run.metrics, run.headline)), encoding="utf-8")
        for name, table in run.tables.items():
            Path(folder, f"{name}.json").write_text(json.dumps(table), encoding="utf-8")
        client.log_artifacts(run_id, folder)
