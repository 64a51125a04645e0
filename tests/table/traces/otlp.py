"""OTLP/JSON as an exporter writes it: ids in hex, times in nanoseconds as texts, values that name their types."""

from collections.abc import Mapping
from typing import Any

Json = dict[str, Any]


def value(given: object) -> Json:
    """An ``AnyValue``."""
    if isinstance(given, bool):
        return {"boolValue": given}
    if isinstance(given, int):
        return {"intValue": str(given)}
    if isinstance(given, float):
        return {"doubleValue": given}
    if isinstance(given, list):
        return {"arrayValue": {"values": [value(one) for one in given]}}
    if isinstance(given, dict):
        return {"kvlistValue": {"values": attributes(given)}}
    return {"stringValue": str(given)}


def attributes(given: Mapping[str, object]) -> list[Json]:
    return [{"key": name, "value": value(one)} for name, one in given.items()]


def span(trace: str, name: str, given: Mapping[str, object], **more: Any) -> Json:
    """A span; ``at`` and ``took`` in seconds, ``parent``, ``events`` as pairs of name and attributes, ``failed``."""
    at, took = more.get("at", 0.0), more.get("took", 1.0)
    begin = int(1_700_000_000 + at) * 10**9
    made: Json = {
        "traceId": trace,
        "spanId": more.get("span", f"{trace}-{name}-{at}"),
        "name": name,
        "startTimeUnixNano": str(begin),
        "endTimeUnixNano": str(begin + int(took * 1e9)),
        "attributes": attributes(given),
        "events": [{"name": event, "attributes": attributes(held)} for event, held in more.get("events", [])],
        "status": {"code": 2, "message": more["failed"]} if "failed" in more else {},
    }
    return made | ({"parentSpanId": more["parent"]} if "parent" in more else {})


def export(*spans: Json, service: str = "shop-bot") -> Json:
    """One export."""
    resource = {"attributes": attributes({"service.name": service})}
    return {"resourceSpans": [{"resource": resource, "scopeSpans": [{"scope": {"name": "x"}, "spans": [*spans]}]}]}
