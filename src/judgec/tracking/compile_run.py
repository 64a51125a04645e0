"""A compile as MLflow runs: one parent, a child per candidate, a registered version.

Only explicit run ids are used: MLflow's "active run" is one per thread and gets lost between threads.
"""

import json
import logging
import os
import re
import shutil
import sqlite3
from collections.abc import Mapping
from contextlib import closing
from pathlib import Path
from tempfile import TemporaryDirectory

from mlflow import MlflowClient
from mlflow.entities import Dataset, InputTag, Metric, Param, RunTag
from mlflow.entities import DatasetInput as RunInput
from mlflow.exceptions import MlflowException

from judgec.errors import ArtifactError, ServiceError
from judgec.tracking import runs
from judgec.tracking.metrics import flatten, metrics_table, undefined_tags
from judgec.tracking.names import encode_metric
from judgec.tracking.store import SQLITE, TrackingStore

JUDGE_FOLDER = "judge"  # artifact path of the registered version
METRICS_TABLE = "metrics.json"
KEY_TAG = "judgec.key"
KEPT_SUFFIXES = (".json", ".html")
BATCH = {"metrics": 800, "params": 100, "tags": 100}  # mlflow.utils.validation: 1000 entities in all
_UNSAFE = re.compile(r"[/\\\x00-\x1f]|^\.+")  # what could make a file name a path
MAX_DIGEST = 36  # mlflow.utils.validation.MAX_DATASET_DIGEST_SIZE
NOISY_LOGGERS = ("alembic", "mlflow.store.db.utils")  # one INFO line for each of 60 migrations


def open_store(store: TrackingStore) -> MlflowClient:
    """A client of the store; a SQLite database that does not exist yet is made, whole or not at all.

    Raises:
        ArtifactError: When the database belongs to another MLflow version or is damaged.
        ServiceError: When the store cannot be reached.
    """
    for name in NOISY_LOGGERS:
        logging.getLogger(name).setLevel(logging.WARNING)
    try:
        if store.database is not None and not store.database.exists():
            _create_database(store.database)
        client = MlflowClient(tracking_uri=store.uri)
        client.search_experiments(max_results=1)
    except MlflowException as error:
        if "out-of-date database schema" in error.message:
            raise ArtifactError(
                f"{store.shown}: the database was written by another MLflow version. "
                f"Back it up, then run: mlflow db upgrade '{store.shown}'"
            ) from error
        raise _unreachable(store, error) from error
    except (OSError, sqlite3.Error) as error:
        raise _unreachable(store, error) from error
    return client


def log_compile(store: TrackingStore, run: runs.CompileRun) -> runs.Logged:
    """Log a compile, and register the judge it made; one that was logged already is not logged again.

    The parent run is marked failed when logging stops half-way.

    Raises:
        ServiceError: When the store refuses or fails.
        ArtifactError: When the database belongs to another MLflow version.
    """
    client = open_store(store)
    try:
        experiment_id = _experiment(client, run.experiment, store.artifacts)
        if run.key and (known := _logged(client, experiment_id, run.key)) is not None:
            return known
        run_id = _start(client, experiment_id, run.name, run.started, _parent_tags(run))
        try:
            _log_values(client, run_id, run.params, run.metrics, run.ended)
            _log_inputs(client, run_id, run.datasets)
            _log_files(client, run_id, run)
            for candidate in run.candidates:
                _log_candidate(client, experiment_id, run_id, candidate)
            version = _register(client, run_id, run.version) if run.version else None
        except BaseException:
            client.set_terminated(run_id, status="FAILED", end_time=_milliseconds(run.ended))
            raise
        client.set_terminated(run_id, status="FINISHED", end_time=_milliseconds(run.ended))
    except (MlflowException, OSError) as error:
        raise _unreachable(store, error) from error
    return runs.Logged(run_id=run_id, experiment_id=experiment_id, model_version=version)


def _logged(client: MlflowClient, experiment_id: str, key: str) -> runs.Logged | None:
    """The finished run with this key, or None."""
    wanted = f"attributes.status = 'FINISHED' AND tags.`{KEY_TAG}` = '{key}'"
    for found in client.search_runs([experiment_id], wanted, max_results=1):
        registered = client.search_model_versions(f"run_id = '{found.info.run_id}'")
        version = int(registered[0].version) if registered else None
        return runs.Logged(run_id=found.info.run_id, experiment_id=experiment_id, model_version=version)
    return None


def _unreachable(store: TrackingStore, error: Exception) -> ServiceError:
    said = str(error).strip().splitlines() or [type(error).__name__]
    return ServiceError(
        f"{store.shown}: the MLflow store did not work ({said[0]}). "
        "Run judgec doctor, or choose another store with --tracking-uri."
    )


def _create_database(database: Path) -> None:
    """Build the schema elsewhere and link it in whole: neither a kill nor a second process can halve it."""
    database.parent.mkdir(parents=True, exist_ok=True)
    with TemporaryDirectory() as elsewhere, TemporaryDirectory(dir=database.parent, prefix=".new-") as near:
        draft, whole = Path(elsewhere, "draft.db"), Path(near, "whole.db")
        MlflowClient(tracking_uri=f"{SQLITE}{draft}").search_experiments(max_results=1)
        with closing(sqlite3.connect(draft)) as source, closing(sqlite3.connect(whole)) as target:
            source.backup(target)  # MLflow keeps its connection open; a plain copy would miss the log
        try:
            os.link(whole, database)
        except FileExistsError:
            return  # another process was first, and its database is as good
        except OSError:  # a file system without hard links
            whole.replace(database)


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


def _start(client: MlflowClient, experiment_id: str, name: str, started: float, tags: dict[str, str]) -> str:
    first = dict(list(tags.items())[: BATCH["tags"]])
    run = client.create_run(experiment_id, start_time=_milliseconds(started), tags=first, run_name=name)
    run_id = str(run.info.run_id)
    _log_batches(client, run_id, [], [], [RunTag(key, tags[key]) for key in list(tags)[BATCH["tags"] :]])
    return run_id


def _milliseconds(seconds: float) -> int:
    return round(seconds * 1000)


def _parent_tags(run: runs.CompileRun) -> dict[str, str]:
    command = {"compile": "compile-judge", "tournament": "evaluate", "audit": "audit", "probe": "probe"}[run.kind]
    tags = {encode_metric(key): value for key, value in run.tags.items()}
    tags |= {"mlflow.source.name": f"judgec {command}", "mlflow.source.type": "LOCAL"}
    tags |= {"judgec.kind": run.kind, "mlflow.note.content": run.description}
    tags |= {KEY_TAG: run.key} if run.key else {}
    tags["mlflow.loggedArtifacts"] = json.dumps([{"path": METRICS_TABLE, "type": "table"}])
    return tags | undefined_tags(run.metrics)


def _log_values(
    client: MlflowClient, run_id: str, params: Mapping[str, runs.Param], metrics: runs.Metrics, when: float
) -> None:
    """All numbers in one call: 20 calls cost 18 times as much as one."""
    numbers = [Metric(encode_metric(name), value, _milliseconds(when), 0) for name, value in flatten(metrics).items()]
    words = [Param(encode_metric(key), str(value)) for key, value in params.items()]
    _log_batches(client, run_id, numbers, words, [])


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


def _log_inputs(client: MlflowClient, run_id: str, datasets: tuple[runs.DatasetInput, ...]) -> None:
    inputs = [
        RunInput(
            dataset=Dataset(
                name=f"{data.name}/{data.split}",  # MLflow merges inputs of one name and digest
                digest=data.digest[:MAX_DIGEST],
                source_type="local",
                source=json.dumps({"uri": data.source}),
                schema=json.dumps(
                    {"mlflow_colspec": [{"type": kind, "name": name} for name, kind in data.columns.items()]}
                ),
                profile=json.dumps({"num_rows": data.n_rows, "sha256": data.digest, **data.profile}),
            ),
            tags=[InputTag("mlflow.data.context", data.split)],
        )
        for data in datasets
    ]
    if inputs:
        client.log_inputs(run_id, inputs)


def _log_files(client: MlflowClient, run_id: str, run: runs.CompileRun) -> None:
    """Lay out every file in one folder and send it in one call."""
    with TemporaryDirectory() as folder:
        files = {Path(folder, path): source for path, source in run.artifacts.items()}
        if run.version:
            files |= {
                Path(folder, JUDGE_FOLDER, source.name): source
                for source in sorted(run.version.folder.iterdir())
                if source.suffix in KEPT_SUFFIXES
            }
        for target, source in files.items():
            target.parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(source, target)
        for name, png in run.figures.items():
            figure = Path(folder, "figures", f"{_UNSAFE.sub('_', name)}.png")  # an aspect's name comes from a file
            figure.parent.mkdir(exist_ok=True)
            figure.write_bytes(png)
        Path(folder, METRICS_TABLE).write_text(json.dumps(metrics_table(run.metrics)), encoding="utf-8")
        client.log_artifacts(run_id, folder)


def _log_candidate(client: MlflowClient, experiment_id: str, parent_id: str, candidate: runs.CandidateRun) -> None:
    tags = {encode_metric(key): value for key, value in candidate.tags.items()}
    tags |= {"mlflow.parentRunId": parent_id, "judgec.kind": "candidate", **undefined_tags(candidate.metrics)}
    run_id = _start(client, experiment_id, candidate.name, candidate.started, tags)
    _log_values(client, run_id, candidate.params, candidate.metrics, candidate.ended)
    client.set_terminated(run_id, status=candidate.status, end_time=_milliseconds(candidate.ended))


def _register(client: MlflowClient, run_id: str, version: runs.ModelVersion) -> int:
    try:
        client.create_registered_model(version.name)
    except MlflowException as error:
        if error.error_code != "RESOURCE_ALREADY_EXISTS":
            raise
    made = client.create_model_version(
        version.name,
        source=f"runs:/{run_id}/{JUDGE_FOLDER}",
        run_id=run_id,
        tags=dict(version.tags),
        description=version.description,
        await_creation_for=0,
    )
    for alias in version.aliases:
        client.set_registered_model_alias(version.name, alias, str(made.version))
    return int(made.version)
