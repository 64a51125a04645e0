"""A compile as MLflow runs: one parent, a child per candidate, a registered version."""

import json

from mlflow import MlflowClient
from mlflow.entities import Dataset, InputTag
from mlflow.entities import DatasetInput as RunInput
from mlflow.exceptions import MlflowException

from judgec.connect.tracking.item_traces import log_disagreements
from judgec.connect.tracking.judge_model import log_judge_model
from judgec.connect.tracking.metrics import flatten
from judgec.connect.tracking.names import encode_metric
from judgec.connect.tracking.runs import PROGRAM_FOLDER, CandidateRun, CompileRun, DatasetInput, Logged, ModelVersion
from judgec.connect.tracking.store import TrackingStore
from judgec.connect.tracking.tracked_run import log_run, log_values, milliseconds, start

MAX_DIGEST = 36  # mlflow.utils.validation.MAX_DATASET_DIGEST_SIZE


def log_compile(store: TrackingStore, run: CompileRun) -> Logged:
    """Log a compile, and register what it made; one that was logged already is not logged again.

    The parent run is marked failed when logging stops half-way.

    Raises:
        ServiceError: When the store refuses or fails.
        ArtifactError: When the database belongs to another MLflow version.
    """

    def more(client: MlflowClient, experiment_id: str, run_id: str) -> int | None:
        _log_inputs(client, run_id, run.datasets)
        for candidate in run.candidates:
            _log_candidate(client, experiment_id, run_id, candidate)
        if run.disagreements:
            log_disagreements(client, store, experiment_id, run_id, run.disagreements)
        if run.version is None:
            return None
        if run.version.fields is not None:
            log_judge_model(client, run_id, run.version.fields)
        return _register(client, run_id, run.version)

    return log_run(store, run, more)


def _log_inputs(client: MlflowClient, run_id: str, datasets: tuple[DatasetInput, ...]) -> None:
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


def _log_candidate(client: MlflowClient, experiment_id: str, parent_id: str, candidate: CandidateRun) -> None:
    tags = {encode_metric(key): value for key, value in candidate.tags.items()}
    tags |= {"mlflow.parentRunId": parent_id, "judgec.kind": "candidate"}
    run_id = start(client, experiment_id, candidate.name, candidate.started, tags)
    log_values(client, run_id, candidate.params, flatten(candidate.metrics), candidate.ended)
    client.set_terminated(run_id, status=candidate.status, end_time=milliseconds(candidate.ended))


def _register(client: MlflowClient, run_id: str, version: ModelVersion) -> int:
    try:
        client.create_registered_model(version.name)
    except MlflowException as error:
        if error.error_code != "RESOURCE_ALREADY_EXISTS":
            raise
    made = client.create_model_version(
        version.name,
        source=f"runs:/{run_id}/{PROGRAM_FOLDER}",
        run_id=run_id,
        tags=dict(version.tags),
        description=version.description,
        await_creation_for=0,
    )
    for alias in version.aliases:
        client.set_registered_model_alias(version.name, alias, str(made.version))
    return int(made.version)
