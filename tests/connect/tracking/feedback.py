"""An MLflow store with traces and human feedback, written by MLflow itself."""

import os
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path

from tests.service.grading_world import rows

EXPERIMENT, ASSESSMENT = "support bot", "quality"
QUIET = {
    "MLFLOW_DISABLE_TELEMETRY": "true",
    "MLFLOW_ENABLE_ASYNC_TRACE_LOGGING": "false",  # a trace can be given feedback at once
    "LITELLM_LOCAL_MODEL_COST_MAP": "True",
}


@contextmanager
def environment() -> Iterator[None]:
    """MLflow quiet and at once, and its marks on the environment gone afterwards: other tests start processes."""
    before = dict(os.environ)
    os.environ.update(QUIET)
    try:
        yield
    finally:
        os.environ.clear()
        os.environ.update(before)


def write_feedback(folder: Path, n: int, per_query: int = 1) -> tuple[str, list[dict[str, object]]]:
    """``n`` answers of the grading world as traces; alice grades all as the rule says, bob every third a grade higher.

    Call it within ``environment``.

    Returns: The store's URI and the rows of the world.
    """
    import mlflow
    from mlflow.entities import AssessmentSource

    uri = f"sqlite:///{folder / 'mlflow.db'}"
    mlflow.set_tracking_uri(uri)
    mlflow.set_experiment(EXPERIMENT)
    world = rows(n, per_query=per_query)
    for number, row in enumerate(world):
        with mlflow.start_span("answer") as span:
            span.set_inputs({"question": row["query"]})
            with mlflow.start_span("search", span_type="RETRIEVER") as search:
                contexts = row["contexts"]
                assert isinstance(contexts, Iterable)
                search.set_outputs([{"page_content": text} for text in contexts])
            span.set_outputs(row["answer"])
        grade = row["grade"]
        assert isinstance(grade, int)
        given = {"alice": grade} | ({"bob": min(grade + 1, 5)} if number % 3 == 0 else {})
        for rater, value in given.items():
            source = AssessmentSource("HUMAN", rater)
            mlflow.log_feedback(
                trace_id=span.trace_id, name=ASSESSMENT, value=value, rationale=f"{rater} says so", source=source
            )
    return uri, world
