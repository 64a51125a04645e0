"""Items as MLflow traces, for people who read or grade them in its UI; imports MLflow, so only its own process may.

Needs ``MLFLOW_ENABLE_ASYNC_TRACE_LOGGING=false`` (``background.QUIET``): otherwise a trace is written after the call
that made it, and nothing can be linked to it yet.
"""

from collections.abc import Mapping, Sequence

import mlflow
from mlflow import MlflowClient
from mlflow.entities import AssessmentError, AssessmentSource

from judgec.connect.tracking.runs import DisagreementTrace
from judgec.connect.tracking.store import TrackingStore

MOST_LINKS = 100  # traces that one call links to a run, MlflowClient.link_traces_to_run
DISAGREEMENT_TAG = "judgec.disagreement"
EXPERTS = AssessmentSource("HUMAN", "experts")


def log_item(inputs: Mapping[str, object], graded: Sequence[str], tags: Mapping[str, str]) -> str:
    """The item as a trace: what was asked goes in, what is graded comes out; the reference and contexts beside it.

    Returns:
        The trace's id.
    """
    among = [name for name in graded if name in inputs]
    with mlflow.start_span("item") as span:
        span.set_inputs({name: value for name, value in inputs.items() if name not in among})
        outputs = {name: inputs[name] for name in among}
        span.set_outputs(outputs if len(outputs) != 1 else next(iter(outputs.values())))
        mlflow.update_current_trace(tags=dict(tags))
    return str(span.trace_id)


def log_disagreements(
    client: MlflowClient, store: TrackingStore, experiment_id: str, run_id: str, found: Sequence[DisagreementTrace]
) -> None:
    """Traces of the items on which judge and experts differ, linked to the run.

    The experts' grade is an expectation of the trace and the judge's a feedback, so that MLflow shows both in columns;
    neither is an annotator's own label, so ``mlflow:EXPERIMENT`` does not read them as labels.
    """
    mlflow.set_tracking_uri(store.uri)
    mlflow.set_experiment(experiment_id=experiment_id)
    ids = [_log_disagreement(one) for one in found]
    for start in range(0, len(ids), MOST_LINKS):
        client.link_traces_to_run(ids[start : start + MOST_LINKS], run_id)


def _log_disagreement(one: DisagreementTrace) -> str:
    trace_id = log_item(one.inputs, one.graded, {DISAGREEMENT_TAG: one.item_id})
    judge = AssessmentSource("CODE", one.judge)
    for aspect, grade in one.expert.items():
        mlflow.log_expectation(trace_id=trace_id, name=aspect, value=grade, source=EXPERTS)
    for aspect, verdict in one.verdict.items():
        mlflow.log_feedback(
            trace_id=trace_id,
            name=f"judge.{aspect}",
            value=verdict,
            source=judge,
            rationale=one.reason or None,
            error=AssessmentError("UNSCORED", one.unscored or "") if verdict is None else None,
        )
    return trace_id
