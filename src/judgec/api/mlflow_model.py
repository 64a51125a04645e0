"""The code of a registered judge: MLflow runs this file when ``models:/NAME@champion`` is loaded.

It stands in the model's folder beside the judge's own JSON files, which it reads; nothing in there is a pickle. Its
options are given as ``mlflow.pyfunc.load_model(uri, model_config={"lm": "openai/gpt-4o-mini", "home": "."})``.
"""

from pathlib import Path
from typing import Any

import mlflow
import pandas as pd

FOLDER = Path(__file__).parent
OPTIONS = ("home", "lm", "api_base", "budget", "max_cost")


class JudgeModel(mlflow.pyfunc.PythonModel):  # type: ignore[misc]  # MLflow's types are not followed
    """``predict(df)`` judges the rows: a frame with grade, score, accept and so on under the same index."""

    def load_context(self, context: Any) -> None:
        """Read the judge; no model is asked."""
        from judgec.api.judge import load_folder  # not before: MLflow runs this file when it saves the model, too

        config = dict(context.model_config or {})
        self._judge = load_folder(FOLDER, **{name: config[name] for name in OPTIONS if name in config})

    def predict(  # MLflow looks for these names
        self,
        context: object,  # noqa: ARG002 -- see above
        model_input: pd.DataFrame,
        params: dict[str, object] | None = None,  # noqa: ARG002 -- see above
    ) -> pd.DataFrame:
        """Judge the rows of a DataFrame with the columns of the signature.

        Raises:
            InputError: A missing column or query, with its row.
            ServiceError: The model cannot be reached.
        """
        judged = self._judge(model_input, progress=False)
        made = [name for name in judged.columns if name not in model_input.columns]
        return judged[made]


mlflow.models.set_model(JudgeModel())
