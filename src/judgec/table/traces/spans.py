"""Reads spans of OTLP/JSON: as a collector's file exporter writes them, one export a line, or as one object.

Source: the OpenTelemetry protocol, JSON encoding: ids are texts, times are nanoseconds as texts, an attribute's value
is an object that names its type.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from judgec.errors import InputError
from judgec.table.rows.cells import as_id, as_text

HELD = ("resourceSpans", "resource_spans", "resourceLogs", "resource_logs")
DEEP = 64  # objects in objects; what is deeper no application writes
NANO = 1e9
FAILED = (2, "2", "STATUS_CODE_ERROR", "ERROR")


@dataclass(frozen=True, slots=True)
class SpanEvent:
    """An event at some moment of a span.

    Args:
        name: For example ``gen_ai.choice``.
        attributes: By name; of a log record what its body holds, too.
    """

    name: str
    attributes: Mapping[str, object]


@dataclass(slots=True)
class TracedSpan:
    """One step.

    Args:
        trace: The id of its trace.
        span: Its own.
        parent: Of the step that it is a part of, or empty.
        name: What it is called.
        start: Seconds since 1970.
        end: The same.
        attributes: By name, decoded; those of its resource behind ``resource.``.
        events: In order.
        error: What failed, or empty.
        line: Where the export that holds it begins.
    """

    trace: str
    span: str
    parent: str
    name: str
    start: float
    end: float
    attributes: Mapping[str, object]
    events: list[SpanEvent] = field(default_factory=list)
    error: str = ""
    line: int = 1


def holds_spans(value: object) -> bool:
    """True if an object of a file is an export of spans, or of the log records that belong to them."""
    return isinstance(value, Mapping) and any(isinstance(value.get(name), list) for name in HELD)


def read_spans(path: str, exports: Sequence[tuple[int, Mapping[str, object]]]) -> list[TracedSpan]:
    """All spans, with the log records of each as its events.

    Args:
        path: For messages.
        exports: Each with the line where it begins.

    Raises:
        InputError: A span without an id, or with a time that is none; with its place.
    """
    spans: dict[tuple[str, str], TracedSpan] = {}
    faults: list[str] = []
    for line, export in exports:
        for place, raw, resource in _parts(export, ("resourceSpans", "resource_spans"), "spans"):
            try:
                span = _span(raw, resource, line)
            except ValueError as error:
                faults.append(f"{path}:{line}: {place}: {error}. Export the traces again.")
            else:
                spans[span.trace, span.span] = span  # an export that was sent twice counts once
    if faults:
        raise InputError(faults)
    for _, export in exports:
        for _, raw, _ in _parts(export, ("resourceLogs", "resource_logs"), "logRecords"):
            key = as_id(_get(raw, "traceId") or ""), as_id(_get(raw, "spanId") or "")
            if key in spans:
                spans[key].events.append(_record(raw))
    return list(spans.values())


def _parts(
    export: Mapping[str, object], names: tuple[str, ...], leaf: str
) -> Iterator[tuple[str, Mapping[str, object], Mapping[str, object]]]:
    """Spans or log records, each with its place and its resource's attributes."""
    for r, whole in enumerate(_objects(next((export[name] for name in names if name in export), None))):
        held = whole.get("resource")
        resource = _attributes(held.get("attributes")) if isinstance(held, Mapping) else {}
        scopes = next((whole[name] for name in _scopes(leaf) if name in whole), None)
        for s, scope in enumerate(_objects(scopes)):
            for n, raw in enumerate(_objects(scope.get(leaf, scope.get("log_records")))):
                yield f"resource {r + 1}, scope {s + 1}, {leaf[:-1]} {n + 1}", raw, resource


def _scopes(leaf: str) -> tuple[str, ...]:
    if leaf == "spans":
        return "scopeSpans", "scope_spans", "instrumentationLibrarySpans"
    return "scopeLogs", "scope_logs"


def _objects(value: object) -> Iterator[Mapping[str, object]]:
    yield from (one for one in value if isinstance(one, Mapping)) if isinstance(value, list) else ()


def _get(raw: Mapping[str, object], name: str) -> object:
    """A field, whichever of the two spellings of protocol buffers the file has."""
    snake = "".join(f"_{letter.lower()}" if letter.isupper() else letter for letter in name)
    return raw.get(name, raw.get(snake))


def _span(raw: Mapping[str, object], resource: Mapping[str, object], line: int) -> TracedSpan:
    trace, span = as_id(_get(raw, "traceId") or ""), as_id(_get(raw, "spanId") or "")
    if not trace or not span:
        raise ValueError("no traceId or no spanId; both are needed")
    attributes = {f"resource.{name}": value for name, value in resource.items()} | _attributes(raw.get("attributes"))
    events = [
        SpanEvent(as_text(one.get("name", "")), _attributes(one.get("attributes")))
        for one in _objects(raw.get("events"))
    ]
    return TracedSpan(
        trace=trace,
        span=span,
        parent=as_id(_get(raw, "parentSpanId") or ""),
        name=as_text(raw.get("name", "")),
        start=_seconds(raw, "startTimeUnixNano"),
        end=_seconds(raw, "endTimeUnixNano"),
        attributes=attributes,
        events=events,
        error=_error(raw, attributes, events),
        line=line,
    )


def _seconds(raw: Mapping[str, object], name: str) -> float:
    given = _get(raw, name)
    try:
        return int(str(given)) / NANO
    except (ValueError, OverflowError):
        raise ValueError(f"{name} {given!r}; nanoseconds since 1970 are needed") from None


def _error(raw: Mapping[str, object], attributes: Mapping[str, object], events: Sequence[SpanEvent]) -> str:
    """Kind and message of what failed, or empty."""
    status = raw.get("status")
    kind, said = as_text(attributes.get("error.type", "")), ""
    failed = isinstance(status, Mapping) and status.get("code") in FAILED
    if failed and isinstance(status, Mapping):
        said = as_text(status.get("message", ""))
    for event in events:
        if event.name == "exception":
            kind = kind or as_text(event.attributes.get("exception.type", ""))
            said = said or as_text(event.attributes.get("exception.message", ""))
    if not failed and not kind and not said:
        return ""
    return ": ".join(part for part in (kind, said) if part) or "failed"


def _record(raw: Mapping[str, object]) -> SpanEvent:
    """A log record as an event of its span; the body's fields stand among the attributes."""
    attributes = _attributes(raw.get("attributes"))
    body = _decoded(raw.get("body"))
    name = as_text(_get(raw, "eventName") or attributes.get("event.name", ""))
    inner: dict[str, object] = {}
    if isinstance(body, Mapping):
        inner = {str(key): value for key, value in body.items()}
    elif body is not None:
        inner = {"content": body}
    return SpanEvent(name, {**attributes, **inner})


def _attributes(value: object) -> dict[str, object]:
    """Attributes by name; a plain object, as some exporters write it, is taken as it is."""
    if isinstance(value, Mapping):
        return {str(name): one for name, one in value.items()}
    return {as_text(one["key"]): _decoded(one.get("value")) for one in _objects(value) if "key" in one}


def _decoded(value: object, deep: int = DEEP) -> object:
    """The value of an ``AnyValue``."""
    if not isinstance(value, Mapping) or len(value) != 1:
        return value
    if not deep:
        raise ValueError(f"attributes of more than {DEEP} objects in objects")
    ((kind, held),) = value.items()
    if kind in {"arrayValue", "array_value"}:
        inner = held.get("values") if isinstance(held, Mapping) else None
        return [_decoded(one, deep - 1) for one in inner] if isinstance(inner, list) else []
    if kind in {"kvlistValue", "kvlist_value"}:
        inner = held.get("values") if isinstance(held, Mapping) else None
        return {as_text(one["key"]): _decoded(one.get("value"), deep - 1) for one in _objects(inner) if "key" in one}
    if kind in {"intValue", "int_value"}:
        return int(str(held)) if str(held).lstrip("-").isdigit() else held
    return held if kind.lower().replace("_", "") in {"stringvalue", "boolvalue", "doublevalue", "bytesvalue"} else value
