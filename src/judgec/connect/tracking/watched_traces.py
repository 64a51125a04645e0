"""Reads the new traces of an MLflow experiment, a sample of them with their spans, and writes feedback on them.

As in ``traces``, a process of its own imports MLflow.
"""

import contextlib
import hashlib
import json
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from judgec.connect.tracking.apart import Asked, answer_apart, ask_apart
from judgec.connect.tracking.store import TrackingStore
from judgec.connect.tracking.trace_pages import all_traces
from judgec.connect.tracking.traces import HUMAN, MLFLOW_PREFIX, READS, SESSION, span_export
from judgec.errors import InputError

if TYPE_CHECKING:
    from mlflow import MlflowClient
    from mlflow.entities import Assessment, TraceInfo

AT_ONCE = 8  # requests that wait for a server
BATCH = 100  # traces with spans a request
LATE_MS = 600_000  # how much later than others of its time a trace may arrive
RUNNING_MS = 86_400_000  # a trace that has not ended after a day never will
REVIEW_TAG = "judgec.review"
ENDED = frozenset({"OK", "ERROR", "STATE_UNSPECIFIED"})


@dataclass(frozen=True, slots=True)
class SampledTrace:
    """A trace that is to be judged.

    Args:
        trace_id: Its id.
        started_ms: When it began, since 1970.
        session: Of its conversation, or empty.
        feedback: The judge's feedback is on it already.
    """

    trace_id: str
    started_ms: int
    session: str
    feedback: bool


@dataclass(frozen=True, slots=True)
class ExpertLabel:
    """A person's label of a trace.

    Args:
        trace_id: Its id.
        annotator: Who.
        value: What.
    """

    trace_id: str
    annotator: str
    value: str | float | bool


@dataclass(frozen=True, slots=True)
class TraceLook:
    """The traces that are wanted of an experiment.

    Args:
        experiment: Its name, or its id.
        since_ms: Traces that began then or later.
        rate: Share of the traces that is sampled.
        known: Sampled traces that were seen before.
        unmarked: Those of them whose feedback may be missing.
        judged: Those of them whose labels are wanted.
        feedback: Name of the judge's feedback.
        source: ``NAME@VERSION``.
        assessment: Name of the experts' feedback.
        file: Where the sampled traces' spans are written.
        sessions: Write the other traces of their sessions too.
    """

    experiment: str
    since_ms: int
    rate: float
    known: tuple[str, ...]
    unmarked: tuple[str, ...]
    judged: tuple[str, ...]
    feedback: str
    source: str
    assessment: str
    file: str
    sessions: bool


@dataclass(frozen=True, slots=True)
class TracesSeen:
    """The traces that were found.

    Args:
        ids: All traces that have ended since, with when they began.
        next_ms: From when to look next time.
        running: How many have not ended.
        sampled: Those to judge, in the order in which they began.
        labels: By people.
    """

    ids: Mapping[str, int]
    next_ms: int
    running: int
    sampled: tuple[SampledTrace, ...]
    labels: tuple[ExpertLabel, ...]


def is_sampled(trace_id: str, rate: float) -> bool:
    """True if a trace is in the sample: SHA-256 of its id below the rate; the same wherever and whenever."""
    return int.from_bytes(hashlib.sha256(trace_id.encode()).digest()[:8], "big") < rate * 2**64


def look_at_traces(store: TrackingStore, look: TraceLook, environ: Mapping[str, str]) -> TracesSeen:
    """Look once.

    Raises:
        InputError: No such experiment.
        ServiceError: When the store does not work.
        ArtifactError: When the database belongs to another MLflow version.
    """
    reply = ask_apart(__name__, {"do": "look", "look": asdict(look)}, store, environ, READS)
    return TracesSeen(
        ids=dict(reply["ids"]),
        next_ms=int(reply["next_ms"]),
        running=int(reply["running"]),
        sampled=tuple(SampledTrace(**one) for one in reply["sampled"]),
        labels=tuple(ExpertLabel(**one) for one in reply["labels"]),
    )


def log_judged(
    store: TrackingStore,
    feedback: Sequence[Mapping[str, object]],
    tags: Mapping[str, str],
    environ: Mapping[str, str],
) -> None:
    """Write feedback on traces, and tag those that experts are asked about.

    Args:
        store: Where the traces are.
        feedback: Each with trace_id, name, value or error, rationale, source, kind and metadata.
        tags: Values of ``judgec.review`` by trace; an empty one takes it off.
        environ: The environment of the process.

    Raises:
        ServiceError: When the store does not work; what was written stays.
    """
    if feedback or tags:
        asked = {"do": "log", "feedback": list(feedback), "tags": dict(tags)}
        ask_apart(__name__, asked, store, environ, "logs verdicts")


def _look(client: "MlflowClient", store: TrackingStore, look: TraceLook) -> dict[str, object]:
    experiment = _experiment(client, store, look.experiment)
    known, running, next_ms = set(look.known), 0, look.since_ms
    ids: dict[str, int] = {}
    chosen: list[TraceInfo] = []
    waiting: list[int] = []
    for info in _infos(client, experiment, look.since_ms):
        next_ms = max(next_ms, info.timestamp_ms)
        if info.state.value not in ENDED:
            running += 1
            waiting.append(info.timestamp_ms)
            continue
        ids[str(info.trace_id)] = info.timestamp_ms
        if is_sampled(str(info.trace_id), look.rate) and info.trace_id not in known:
            chosen.append(info)
    tracing = client._tracing_client  # noqa: SLF001 -- MlflowClient has no public call for many traces at once
    again = [info for part in _parts(look.unmarked) for info in tracing.store.batch_get_trace_infos(part)]
    asked = [info for part in _parts(look.judged) for info in tracing.store.batch_get_trace_infos(part)]
    _write_spans(client, experiment, [*again, *chosen], look)
    since = max(0, next_ms - LATE_MS)
    return {
        "ids": ids,
        "next_ms": min([since, *(at for at in waiting if at > next_ms - RUNNING_MS)]),
        "running": running,
        "sampled": [asdict(_sampled(info, look)) for info in [*again, *chosen]],
        "labels": [asdict(label) for info in asked for label in _labels(info, look.assessment)],
    }


def _sampled(info: "TraceInfo", look: TraceLook) -> SampledTrace:
    there = any(
        one.feedback is not None and one.name == look.feedback and one.source.source_id == look.source
        for one in info.assessments or []
    )
    return SampledTrace(str(info.trace_id), info.timestamp_ms, str(info.trace_metadata.get(SESSION) or ""), there)


def _labels(info: "TraceInfo", assessment: str) -> Iterator[ExpertLabel]:
    """The newest label of each person."""
    given: dict[str, Assessment] = {}
    for one in sorted(info.assessments or [], key=lambda one: one.last_update_time_ms or one.create_time_ms or 0):
        human = one.feedback is not None and one.source.source_type == HUMAN and one.valid is not False
        if human and one.name.strip().lower() == assessment.strip().lower():
            given[one.source.source_id] = one
    for annotator, one in sorted(given.items()):
        if one.feedback is not None and isinstance(one.feedback.value, str | int | float | bool):
            yield ExpertLabel(str(info.trace_id), annotator, one.feedback.value)


def _infos(client: "MlflowClient", experiment: str, since_ms: int, more: str = "") -> "Iterator[TraceInfo]":
    """Traces without their spans, in the order in which they began."""
    filters = [f"attributes.timestamp_ms >= {since_ms}"] if since_ms else []
    filters += [more] if more else []
    named = all_traces(client, experiment, only=" AND ".join(filters) or None, spans=False)
    yield from (trace.info for trace in named)


def _write_spans(client: "MlflowClient", experiment: str, infos: "Sequence[TraceInfo]", look: TraceLook) -> None:
    """The traces, and of their sessions what went before, a line each, whole or not at all."""
    wanted = dict.fromkeys(str(info.trace_id) for info in infos)
    if look.sessions:
        for session in dict.fromkeys(str(info.trace_metadata.get(SESSION) or "") for info in infos):
            if session:
                quoted = session.replace("'", "''")
                found = _infos(client, experiment, 0, f"metadata.`{SESSION}` = '{quoted}'")
                wanted |= dict.fromkeys(str(info.trace_id) for info in found)
    file = Path(look.file)
    file.parent.mkdir(parents=True, exist_ok=True)
    partial = file.with_name(f"{file.name}.part")
    tracing = client._tracing_client  # noqa: SLF001 -- as above
    with partial.open("w", encoding="utf-8") as out:
        for part in _parts(tuple(wanted)):
            for trace in tracing.batch_get_traces(part):
                out.write(json.dumps(span_export(trace), ensure_ascii=False, default=str) + "\n")
    partial.replace(file)


def _parts(ids: Sequence[str]) -> Iterator[list[str]]:
    yield from (list(ids[start : start + BATCH]) for start in range(0, len(ids), BATCH))


def _experiment(client: "MlflowClient", store: TrackingStore, name: str) -> str:
    from mlflow.exceptions import MlflowException

    found = client.get_experiment_by_name(name)
    if found is None:
        with contextlib.suppress(MlflowException):  # not an id either
            found = client.get_experiment(name)
    if found is None:
        names = ", ".join(sorted(each.name for each in client.search_experiments()))
        where = f"{MLFLOW_PREFIX}{name}"
        raise InputError([f"{where}: no such experiment in {store.shown}; there are {names}. Name one of these."])
    return str(found.experiment_id)


def _log(
    client: "MlflowClient", store: TrackingStore, feedback: Sequence[Mapping[str, Any]], tags: Mapping[str, str]
) -> dict[str, object]:
    from mlflow.entities import AssessmentError, AssessmentSource, Feedback

    tracing = client._tracing_client  # noqa: SLF001 -- as above

    def log(one: Mapping[str, Any]) -> None:
        made = Feedback(
            name=one["name"],
            value=one["value"],
            error=None if one["error"] is None else AssessmentError("UNSCORED", one["error"]),
            rationale=one["rationale"] or None,
            source=AssessmentSource(one["kind"], one["source"]),
            metadata=one["metadata"],
        )
        tracing.log_assessment(one["trace_id"], made)

    with ThreadPoolExecutor(AT_ONCE if store.is_server else 1) as threads:
        for _ in threads.map(log, feedback):
            pass  # the first that failed raises
    for trace_id, value in tags.items():
        client.set_trace_tag(trace_id, REVIEW_TAG, value) if value else client.delete_trace_tag(trace_id, REVIEW_TAG)
    return {"logged": len(feedback)}


def _answer(store: TrackingStore, request: Asked) -> Mapping[str, object]:
    from judgec.connect.tracking.client import open_store

    client = open_store(store)
    if request["do"] == "log":
        return _log(client, store, request["feedback"], request["tags"])
    raw = request["look"]
    lists = {name: tuple(raw[name]) for name in ("known", "unmarked", "judged")}
    return _look(client, store, TraceLook(**{**raw, **lists}))


if __name__ == "__main__":
    answer_apart(_answer)
