"""Reads MLflow traces: their human feedback, a row a trace and annotator, or what they did, as spans; logs verdicts.

As in ``background``, a command that only reads them does so through a process of its own and never imports MLflow.
"""

import contextlib
import hashlib
import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from judgec.connect.tracking.apart import Asked, answer_apart, ask_apart
from judgec.connect.tracking.store import TrackingStore
from judgec.connect.tracking.trace_pages import all_traces
from judgec.errors import InputError
from judgec.records.counts import plural

if TYPE_CHECKING:
    from mlflow import MlflowClient
    from mlflow.entities import Assessment, Trace, TraceInfo

Row = dict[str, object]
NewTraces = tuple[dict[str, str], dict[str, dict[str, object]], int]
MLFLOW_PREFIX = "mlflow:"
HUMAN = "HUMAN"
SESSION = "mlflow.trace.session"
READS = "reads traces"  # what the process does that imports MLflow
BATCH = 100  # traces a request
LATE_MS = 600_000  # how much later than others of its time a trace may arrive
RUNNING_MS = 86_400_000  # a trace that has not ended after a day never will
RUNNING = "IN_PROGRESS"


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


@dataclass(frozen=True, slots=True)
class WantedTraces:
    """What a watch wants of an experiment.

    Args:
        experiment: Its name, or its id.
        since_ms: Traces that began then or later.
        rate: Share of them that is sampled.
        judged: Those that were judged before; of them only labels are wanted.
        assessment: Name of people's feedback.
        file: Where the spans of new sampled traces are written, as by ``save_traces``.
        sessions: Write the other traces of their sessions, too.
    """

    experiment: str
    since_ms: int
    rate: float
    judged: Sequence[str]
    assessment: str
    file: str
    sessions: bool


def feedback_of(traces: Iterable["Trace"], assessment: str, where: str) -> Feedback:
    """The human feedback called ``assessment``, that of every rater.

    ``query`` is the root span's input (the text where it is one, JSON where it is more), ``answer`` its output,
    ``reference`` the human expectations, ``contexts`` what its retrievers returned. Names are compared without case,
    as MLflow does. Of several pieces of feedback by one annotator on one trace the newest counts.

    Args:
        traces: With spans and assessments.
        assessment: The feedback's name.
        where: What messages call the traces.

    Raises:
        InputError: When no trace has such feedback, naming what there is.
    """
    wanted, rows, bare = assessment.strip().lower(), list[Row](), 0
    seen: set[str] = set()
    for trace in traces:
        seen |= {found.name for found in trace.info.assessments or [] if _is_human_feedback(found)}
        by_rater = _by_rater(trace.info, wanted)
        bare += not by_rater
        inputs = trace_inputs(trace) if by_rater else {}
        for rater, found in sorted(by_rater.items()):
            rows.append({**inputs, "annotator": rater, "label": found.feedback.value, "rationale": found.rationale})
    if not rows:
        there = ", ".join(sorted(seen)) or "none at all"
        raise InputError([f"{where}: no human feedback {assessment!r}; there is {there}. Correct --assessment."])
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


def is_sampled(trace_id: str, rate: float) -> bool:
    """True if a trace is in the sample: SHA-256 of its id below the rate; the same wherever and whenever."""
    return int.from_bytes(hashlib.sha256(trace_id.encode()).digest()[:8], "big") < rate * 2**64


def new_traces(store: TrackingStore, wanted: WantedTraces, environ: Mapping[str, str]) -> NewTraces:
    """Sampled traces with their sessions, people's labels by trace and annotator, and from when to look next time."""
    found = ask_apart(__name__, {"wanted": asdict(wanted)}, store, environ, READS)
    return found["sampled"], found["labels"], found["next_ms"]


def log_verdicts(store: TrackingStore, feedback: Sequence[Mapping[str, object]], environ: Mapping[str, str]) -> None:
    """Write feedback on traces, but for what is there already; deleted traces get none.

    Each has trace_id, name, value or error, rationale, source, kind and metadata.
    """
    if feedback:
        ask_apart(__name__, {"log": list(feedback)}, store, environ, "logs verdicts")


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
    from judgec.connect.tracking.client import open_store

    client = open_store(store)
    yield from all_traces(client, _experiment_id(client, store, experiment))


def _experiment_id(client: "MlflowClient", store: TrackingStore, experiment: str) -> str:
    from mlflow.exceptions import MlflowException

    found = client.get_experiment_by_name(experiment)
    if found is None:
        with contextlib.suppress(MlflowException):  # not an id either
            found = client.get_experiment(experiment)
    if found is None:
        names = ", ".join(sorted(each.name for each in client.search_experiments()))
        where = f"{MLFLOW_PREFIX}{experiment}"
        raise InputError([f"{where}: no such experiment in {store.shown}; there are {names}. Name one of these."])
    return str(found.experiment_id)


def _new_traces(store: TrackingStore, wanted: WantedTraces) -> Mapping[str, object]:
    from judgec.connect.tracking.client import open_store

    client, newest = open_store(store), wanted.since_ms
    experiment = _experiment_id(client, store, wanted.experiment)
    judged, sampled, running = set(wanted.judged), dict[str, str](), list[int]()
    for trace in all_traces(client, experiment, only=f"attributes.timestamp_ms >= {newest}", spans=False):
        info, newest = trace.info, trace.info.timestamp_ms
        if info.state.value == RUNNING:
            running.append(newest)
        elif is_sampled(info.trace_id, wanted.rate) and info.trace_id not in judged:
            sampled[info.trace_id] = str(info.trace_metadata.get(SESSION) or "")
    written = dict.fromkeys(sampled)
    for session in dict.fromkeys(filter(None, sampled.values())) if wanted.sessions else ():
        quoted = session.replace("'", "''")
        only = f"metadata.`{SESSION}` = '{quoted}'"
        written |= {one.info.trace_id: None for one in all_traces(client, experiment, only=only, spans=False)}
    tracing = client._tracing_client  # noqa: SLF001 -- MlflowClient has no public call for many traces at once
    with Path(wanted.file).open("w", encoding="utf-8") as out:
        for trace in _many(tracing.batch_get_traces, written):
            out.write(json.dumps(span_export(trace), ensure_ascii=False, default=str) + "\n")
    labels = {
        info.trace_id: {who: one.feedback.value for who, one in _by_rater(info, wanted.assessment.lower()).items()}
        for info in _many(tracing.store.batch_get_trace_infos, [*wanted.judged, *sampled])
    }
    next_ms = min([max(0, newest - LATE_MS), *(at for at in running if at > newest - RUNNING_MS)])
    return {"sampled": sampled, "labels": labels, "next_ms": next_ms}


def _many(get: Callable[[list[str]], Iterable[Any]], ids: Iterable[str]) -> Iterator[Any]:
    rest = list(ids)
    for start in range(0, len(rest), BATCH):
        yield from get(rest[start : start + BATCH])


def _log(store: TrackingStore, feedback: Sequence[Mapping[str, Any]]) -> None:
    from mlflow.entities import AssessmentError, AssessmentSource
    from mlflow.entities import Feedback as Logged

    from judgec.connect.tracking.client import open_store

    tracing = open_store(store)._tracing_client  # noqa: SLF001 -- as above
    there = {
        info.trace_id: {(found.name, found.source.source_id) for found in info.assessments or []}
        for info in _many(tracing.store.batch_get_trace_infos, {one["trace_id"] for one in feedback})
    }
    for one in feedback:
        trace = one["trace_id"]
        if trace in there and (one["name"], one["source"]) not in there[trace]:
            said = {key: one[key] for key in ("name", "value", "rationale", "metadata")}
            error = None if one["error"] is None else AssessmentError("UNSCORED", one["error"])
            made = Logged(**said, error=error, source=AssessmentSource(one["kind"], one["source"]))
            tracing.log_assessment(trace, made)


def _by_rater(info: "TraceInfo", wanted: str) -> dict[str, "Assessment"]:
    """The newest feedback of each person under a name in lower case."""
    given = [found for found in info.assessments or [] if _is_human_feedback(found)]
    return {
        found.source.source_id: found
        for found in sorted(given, key=lambda found: found.last_update_time_ms or found.create_time_ms or 0)
        if found.name.strip().lower() == wanted
    }


def _is_human_feedback(found: "Assessment") -> bool:
    return found.feedback is not None and found.source.source_type == HUMAN and found.valid is not False


def _answer(store: TrackingStore, request: Asked) -> Mapping[str, object]:
    if "wanted" in request:
        return _new_traces(store, WantedTraces(**request["wanted"]))
    if "log" in request:
        _log(store, request["log"])
        return {"logged": len(request["log"])}
    if "file" in request:
        return {"traces": fetch_spans(store, request["experiment"], Path(request["file"]))}
    found = fetch(store, request["experiment"], request["assessment"])
    return {"rows": found.rows, "notes": found.notes}


if __name__ == "__main__":
    answer_apart(_answer)
