"""Reads MLflow traces: their human feedback, a row a trace and annotator, or what they did, as spans.

As in ``background``, a command that only reads them does so through a process of its own and never imports MLflow.
"""

import contextlib
import json
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from judgec.connect.tracking.apart import Asked, answer_apart, ask_apart
from judgec.connect.tracking.store import TrackingStore
from judgec.connect.tracking.trace_pages import all_traces
from judgec.errors import InputError
from judgec.records.counts import plural

if TYPE_CHECKING:
    from mlflow.entities import Assessment, Trace

Row = dict[str, object]
MLFLOW_PREFIX = "mlflow:"
HUMAN = "HUMAN"
SESSION = "mlflow.trace.session"
READS = "reads traces"  # what the process does that imports MLflow


@dataclass(frozen=True, slots=True)
class Feedback:
    """Human feedback as rows of a label table, before anybody interprets the labels.

    Args:
        rows: One a trace and annotator: item_id, query, answer, reference and contexts where there are any, annotator,
            label, rationale.
        notes: What was left out.
    """

    rows: tuple[Row, ...]
    notes: tuple[str, ...]


def feedback_of(
    traces: Iterable["Trace"], assessment: str, where: str, advice: str = "Correct --assessment."
) -> Feedback:
    """The human feedback called ``assessment``, that of every rater.

    ``query`` is the root span's input (the text where it is one, JSON where it is more), ``answer`` its output,
    ``reference`` the human expectations, ``contexts`` what its retrievers returned. Names are compared without case,
    as MLflow does. Of several pieces of feedback by one annotator on one trace the newest counts.

    Args:
        traces: With spans and assessments.
        assessment: The feedback's name.
        where: What messages call the traces.
        advice: What to do when there is none.

    Raises:
        InputError: When no trace has such feedback, naming what there is.
    """
    wanted, rows, bare = assessment.strip().lower(), list[Row](), 0
    seen: set[str] = set()
    for trace in traces:
        given = [found for found in trace.info.assessments or [] if _is_human_feedback(found)]
        seen |= {found.name for found in given}
        by_rater = {
            found.source.source_id: found
            for found in sorted(given, key=lambda found: found.last_update_time_ms or found.create_time_ms or 0)
            if found.name.strip().lower() == wanted
        }
        bare += not by_rater
        inputs = trace_inputs(trace) if by_rater else {}
        for rater, found in sorted(by_rater.items()):
            rows.append({**inputs, "annotator": rater, "label": found.feedback.value, "rationale": found.rationale})
    if not rows:
        there = ", ".join(sorted(seen)) or "none at all"
        raise InputError([f"{where}: no human feedback {assessment!r}; there is {there}. {advice}"])
    notes = (f"{plural(bare, 'trace')} without human feedback {assessment!r} are left out.",) if bare else ()
    return Feedback(tuple(rows), notes)


def trace_inputs(trace: "Trace") -> Row:
    """A trace as what is graded: item_id, query, answer, and reference and contexts where it has them."""
    from mlflow.genai.utils.trace_utils import extract_retrieval_context_from_trace

    root = next((span for span in trace.data.spans if span.parent_id is None), None)
    row: Row = {
        "item_id": trace.info.trace_id,
        "query": as_one_text(None if root is None else root.inputs),
        "answer": as_one_text(None if root is None else root.outputs),
    }
    if expected := _expected(trace):
        row["reference"] = as_one_text(expected)
    retrieved = [chunk for chunks in extract_retrieval_context_from_trace(trace).values() for chunk in chunks]
    if retrieved:
        row["contexts"] = [str(chunk["content"]) for chunk in retrieved]
    return row


def _expected(trace: "Trace") -> dict[str, object]:
    """Answers that people expected, by name."""
    return {
        found.name: found.expectation.value
        for found in trace.info.assessments or []
        if found.expectation is not None and found.source.source_type == HUMAN and found.valid is not False
    }


def as_one_text(value: object) -> str:
    """A text as it is; an object with a single text is that text; anything else is JSON; nothing is empty."""
    if isinstance(value, Mapping) and len(value) == 1:
        (value,) = value.values()
    if value is None:
        return ""
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, sort_keys=True, default=str)


def read_feedback(store: TrackingStore, experiment: str, assessment: str, environ: Mapping[str, str]) -> Feedback:
    """The human feedback on an experiment's traces, read by a process of its own.

    Args:
        store: Where the traces are.
        experiment: The experiment's name, or its id.
        assessment: The feedback's name.
        environ: The environment of the process.

    Raises:
        InputError: No such experiment, or no such feedback.
        ServiceError: When the store does not work.
        ArtifactError: When the database belongs to another MLflow version.
    """
    reply = ask_apart(__name__, {"experiment": experiment, "assessment": assessment}, store, environ, READS)
    return Feedback(tuple(reply["rows"]), tuple(reply["notes"]))


def save_traces(store: TrackingStore, experiment: str, file: Path, environ: Mapping[str, str]) -> None:
    """Write an experiment's traces to a file as spans of OTLP/JSON, a line a trace, by a process of its own.

    ``table.traces`` reads the file. It is there whole or as it was before.

    Args:
        store: Where the traces are.
        experiment: The experiment's name, or its id.
        file: To write.
        environ: The environment of the process.

    Raises:
        InputError: No such experiment, or one without traces.
        ServiceError: When the store does not work.
        ArtifactError: When the database belongs to another MLflow version.
    """
    ask_apart(__name__, {"experiment": experiment, "file": str(file)}, store, environ, READS)


def fetch(store: TrackingStore, experiment: str, assessment: str) -> Feedback:
    """``read_feedback`` in this process, which therefore imports MLflow."""
    traces = sorted(_traces_of(store, experiment), key=lambda trace: str(trace.info.trace_id))
    return feedback_of(traces, assessment, f"{MLFLOW_PREFIX}{experiment}")


def fetch_spans(store: TrackingStore, experiment: str, file: Path) -> int:
    """``save_traces`` in this process: how many traces there are. Of them one page at a time is held."""
    count = 0
    file.parent.mkdir(parents=True, exist_ok=True)
    partial = file.with_name(f"{file.name}.part")
    with partial.open("w", encoding="utf-8") as out:
        for trace in _traces_of(store, experiment):
            out.write(json.dumps(span_export(trace), ensure_ascii=False, default=str) + "\n")
            count += 1
    if not count:
        partial.unlink()
        where = f"{MLFLOW_PREFIX}{experiment}: an experiment without traces; traces are needed"
        advice = "Trace the application (@mlflow.trace, mlflow.openai.autolog() and its like), or name another."
        raise InputError([f"{where}. {advice}"])
    partial.replace(file)
    return count


def span_export(trace: "Trace") -> dict[str, object]:
    """A trace as one export of OTLP/JSON, under the trace's own id.

    The root carries the session, and what people said that the answer should be.
    """
    expected = _expected(trace)
    session = trace.info.trace_metadata.get(SESSION)
    spans = []
    for span in trace.data.spans:
        attributes = {name: value for name, value in span.attributes.items() if value is not None}
        usage = attributes.get("mlflow.chat.tokenUsage")
        for name in ("input_tokens", "output_tokens"):
            if isinstance(usage, Mapping) and name in usage:
                attributes[f"gen_ai.usage.{name}"] = usage[name]
        cost = attributes.get("mlflow.llm.cost")
        if isinstance(cost, Mapping) and "total_cost" in cost:
            attributes["gen_ai.usage.cost"] = cost["total_cost"]
        if span.parent_id is None:
            attributes |= {"session.id": session} if session else {}
            attributes |= {"judgec.expected": as_one_text(expected)} if expected else {}
        spans.append(
            {
                "traceId": trace.info.trace_id,
                "spanId": span.span_id,
                "parentSpanId": span.parent_id or "",
                "name": span.name,
                "startTimeUnixNano": span.start_time_ns,
                "endTimeUnixNano": span.end_time_ns or span.start_time_ns,
                "attributes": attributes,
                "events": [{"name": one.name, "attributes": dict(one.attributes)} for one in span.events],
                "status": {"code": span.status.status_code.value, "message": span.status.description},
            }
        )
    return {"resourceSpans": [{"scopeSpans": [{"spans": spans}]}]}


def _traces_of(store: TrackingStore, experiment: str) -> Iterator["Trace"]:
    """An experiment's traces, a page at a time."""
    from mlflow.exceptions import MlflowException

    from judgec.connect.tracking.client import open_store

    client = open_store(store)
    where = f"{MLFLOW_PREFIX}{experiment}"
    found = client.get_experiment_by_name(experiment)
    if found is None:
        with contextlib.suppress(MlflowException):  # not an id either
            found = client.get_experiment(experiment)
    if found is None:
        names = ", ".join(sorted(each.name for each in client.search_experiments()))
        raise InputError([f"{where}: no such experiment in {store.shown}; there are {names}. Name one of these."])
    yield from all_traces(client, found.experiment_id)


def _is_human_feedback(found: "Assessment") -> bool:
    return found.feedback is not None and found.source.source_type == HUMAN and found.valid is not False


def _answer(store: TrackingStore, request: Asked) -> Mapping[str, object]:
    if "file" in request:
        return {"traces": fetch_spans(store, request["experiment"], Path(request["file"]))}
    found = fetch(store, request["experiment"], request["assessment"])
    return {"rows": found.rows, "notes": found.notes}


if __name__ == "__main__":
    answer_apart(_answer)
