"""Makes the folder of a registered judge a pyfunc model: models-from-code, an explicit signature, the wheel."""

import contextlib
import io
from pathlib import Path
from tempfile import TemporaryDirectory

import mlflow
from mlflow import MlflowClient
from mlflow.models import ModelSignature
from mlflow.types.schema import AnyType, ColSpec, DataType, Schema

from judgec.connect.tracking.runs import PROGRAM_FOLDER, ModelFields
from judgec.connect.tracking.wheel import wheel

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
