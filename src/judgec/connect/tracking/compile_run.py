"""A compile as MLflow runs: one parent, a child per candidate, a registered version."""

import base64
import contextlib
import csv
import hashlib
import io
import json
import zipfile
from functools import cache
from importlib.metadata import distribution
from pathlib import Path
from tempfile import TemporaryDirectory

import mlflow
from mlflow import MlflowClient
from mlflow.entities import Dataset, InputTag
from mlflow.entities import DatasetInput as RunInput
from mlflow.exceptions import MlflowException
from mlflow.models import ModelSignature
from mlflow.types.schema import AnyType, ColSpec, DataType, Schema

import judgec
from judgec.connect.tracking.item_traces import log_disagreements
from judgec.connect.tracking.metrics import flatten
from judgec.connect.tracking.names import encode_metric
from judgec.connect.tracking.runs import (
    FIRST,
    PROGRAM_FOLDER,
    CandidateRun,
    CompileRun,
    DatasetInput,
    Logged,
    ModelFields,
    ModelVersion,
)
from judgec.connect.tracking.store import TrackingStore
from judgec.connect.tracking.tracked_run import log_run, log_values, milliseconds, start

EPOCH = (1980, 1, 1, 0, 0, 0)  # of every file: the same code gives the same wheel
TAG = "py3-none-any"


@cache
def wheel() -> tuple[str, bytes]:
    """File name and content of a wheel of this package, from the files that are imported, however it was installed."""
    package, found = Path(judgec.__file__).parent, distribution("judgec")
    info = f"judgec-{found.version}.dist-info"
    files = {
        f"judgec/{path.relative_to(package).as_posix()}": path.read_bytes()
        for path in sorted(package.rglob("*"))
        if path.is_file() and "__pycache__" not in path.parts
    }
    for name in ("METADATA", "entry_points.txt"):
        if text := found.read_text(name):
            files[f"{info}/{name}"] = text.encode()
    files[f"{info}/WHEEL"] = f"Wheel-Version: 1.0\nGenerator: judgec\nRoot-Is-Purelib: true\nTag: {TAG}\n".encode()
    record = io.StringIO()
    rows = csv.writer(record, lineterminator="\n")
    rows.writerows([name, f"sha256={_digest(content)}", len(content)] for name, content in files.items())
    rows.writerow([f"{info}/RECORD", "", ""])
    files[f"{info}/RECORD"] = record.getvalue().encode()
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in files.items():
            archive.writestr(zipfile.ZipInfo(name, EPOCH), content, zipfile.ZIP_DEFLATED)
    return f"judgec-{found.version}-{TAG}.whl", packed.getvalue()


def _digest(content: bytes) -> str:
    return base64.urlsafe_b64encode(hashlib.sha256(content).digest()).rstrip(b"=").decode()


CODE = "api/mlflow_model.py"  # of this package; it becomes the model's own code
KINDS = {"text": DataType.string, "number": DataType.double, "whole": DataType.long, "truth": DataType.boolean}


def log_judge_model(client: MlflowClient, run_id: str, fields: ModelFields) -> None:
    """Put what MLflow needs to load a judge beside the judge's own files; nothing is loaded or predicted.

    Args:
        client: Of the store.
        run_id: The run that has the judge's files below ``PROGRAM_FOLDER``.
        fields: Columns in and out.
    """
    name, content = wheel()
    with TemporaryDirectory() as folder, contextlib.redirect_stdout(io.StringIO()):
        target = Path(folder, "model")
        mlflow.pyfunc.save_model(
            target,
            python_model=str(Path(__file__).parents[2] / CODE),
            signature=signature_of(fields),
            model_config={"home": "."},  # so that whoever loads it may say more
            pip_requirements=[f"code/{name}", f"mlflow=={mlflow.__version__}"],
        )
        (target / "code").mkdir(exist_ok=True)
        (target / "code" / name).write_bytes(content)
        client.log_artifacts(run_id, str(target), PROGRAM_FOLDER)


def signature_of(fields: ModelFields) -> ModelSignature:
    """The columns of a judge, each with its type; lists of texts may be a text, too."""
    taken = [
        ColSpec(AnyType() if kind == "texts" else KINDS[kind], name, required=name in fields.required)
        for name, kind in fields.inputs.items()
    ]
    given = [ColSpec(KINDS[kind], name, required=False) for name, kind in fields.outputs.items()]
    return ModelSignature(inputs=Schema(taken), outputs=Schema(given))


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
        page = f"#/experiments/{experiment_id}/runs/{run_id}/artifacts/{FIRST}" if FIRST in run.files() else ""
        return _register(client, run_id, run.version, page)

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


def _register(client: MlflowClient, run_id: str, version: ModelVersion, page: str) -> int:
    """The version's number; its description leads to its page."""
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
        description=f"{version.description}\n\n[The page of this version]({page})" if page else version.description,
        await_creation_for=0,
    )
    for alias in version.aliases:
        client.set_registered_model_alias(version.name, alias, str(made.version))
    return int(made.version)
