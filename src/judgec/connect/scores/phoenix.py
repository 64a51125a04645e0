"""Reads Arize Phoenix: OpenInference spans, and the annotations on them.

Source: phoenix.client.__generated__.v1, and the OpenInference specification.
"""

import re
from collections import Counter
from collections.abc import Mapping, Sequence

from judgec.connect.scores.records import ExportRecord, Origin, Score, ScoreExport
from judgec.records.tasks.registry import plain
from judgec.table.rows.cells import as_id, as_text, is_missing
from judgec.table.table import Row
from judgec.table.traces.texts import answer_in, documents_in, flat, parsed, question_in

ORIGINS: Mapping[str, Origin] = {"HUMAN": "human", "LLM": "machine", "CODE": "machine"}
KNOWN = {
    "name",
    "annotation_name",
    "annotator_kind",
    "result",
    "label",
    "score",
    "explanation",
    "created_at",
    "user_id",
}
NOTE = "note"  # the name of annotations that are remarks
_NUMBERED = re.compile(r"^(?P<list>.+?)\.(?P<at>\d+)\.(?P<rest>.+)$")


def read_phoenix(records: Sequence[ExportRecord], rename: Mapping[str, str]) -> ScoreExport:
    """Annotations on spans and traces; those on sessions and single documents are left out."""
    del rename
    spans: dict[str, Row] = {}
    given: list[Row] = []
    skipped: Counter[str] = Counter()
    for record in records:
        fields: Row = {plain(k) if "." not in k else k: v for k, v in record.fields.items() if not is_missing(v)}
        span_id = _span_id(fields)
        if "annotator_kind" in fields or ({"annotation_name", "result"} & set(fields) and "attributes" not in fields):
            given.append(fields)
        elif span_id and any(name == "attributes" or name.startswith("attributes.") for name in fields):
            spans[span_id] = fields
            given += [{"span_id": span_id, **one} for one in _annotations(fields)]
        else:
            skipped["neither span nor annotation"] += 1
    retrieved: dict[str, list[str]] = {}
    attributes = {name: _attributes(span) for name, span in spans.items()}
    for name, span in spans.items():
        documents = documents_in(attributes[name].get("retrieval.documents"))
        retrieved.setdefault(_trace_id(span), []).extend(documents)
    items = {name: _item(span, attributes[name], retrieved) for name, span in spans.items()}
    roots = {_trace_id(span): name for name, span in spans.items() if "parent_id" not in span}
    scores: list[Score] = []
    for fields in given:
        target = {f"{as_text(fields.get('target_type', 'span'))}_id": fields.get("target_id"), **fields}
        item, trace = as_id(target.get("span_id") or ""), as_id(target.get("trace_id") or "")
        if "document_position" in fields:
            skipped["of a single retrieved document"] += 1
        elif not item and not trace:
            skipped["of a session, which has no answer of its own"] += 1
        else:
            scores.append(_score(fields, item or roots.get(trace, trace)))
    scored = {score.item for score in scores}
    wanted = {name: item for name, item in items.items() if name in scored or name in roots.values()}
    return ScoreExport(wanted, scores, skipped)


def _annotations(span: Row) -> list[Row]:
    found = parsed(span.get("annotations"))
    if not isinstance(found, list):
        return []
    return [{plain(k): v for k, v in one.items() if not is_missing(v)} for one in found if isinstance(one, Mapping)]


def _span_id(fields: Row) -> str:
    context = parsed(fields.get("context"))
    own = context.get("span_id") if isinstance(context, Mapping) else None
    return as_id(own or fields.get("context.span_id") or fields.get("span_id") or "")


def _trace_id(fields: Row) -> str:
    context = parsed(fields.get("context"))
    own = context.get("trace_id") if isinstance(context, Mapping) else None
    return as_id(own or fields.get("context.trace_id") or fields.get("trace_id") or "")


def _score(fields: Row, item: str) -> Score:
    held = parsed(fields.get("result"))
    result: Row = {name: fields.get(name, fields.get(f"result.{name}")) for name in ("label", "score", "explanation")}
    if isinstance(held, Mapping):
        result = {**result, **held}
    kind = str(fields.get("annotator_kind", "")).upper()
    name = as_text(fields.get("annotation_name", fields.get("name", "annotation")))
    said = result.get("label") if not is_missing(result.get("label")) else result.get("score")
    remark = name == NOTE or is_missing(said)
    person = fields.get("user_id") or fields.get("identifier") or ""
    more = {k: v for k, v in flat(fields).items() if k.partition(".")[0] not in {*KNOWN, "span_id", "context"}}
    both = not is_missing(result.get("label")) and not is_missing(result.get("score"))
    return Score(
        item=item,
        name=name,
        value=result.get("explanation") if remark else said,
        origin=ORIGINS.get(kind, "unmarked"),
        annotator=as_id(person) if kind == "HUMAN" else "",
        judge=as_id(fields.get("identifier", "")) if kind != "HUMAN" else "",
        comment="" if remark else as_text(result.get("explanation") or ""),
        time=as_text(fields.get("created_at", "")),
        more={**more, "score": result["score"]} if both else more,
        kind="text" if remark else "grade",
        marked=f"annotator_kind {kind}" if kind else "no annotator_kind",
    )


def _attributes(span: Row) -> Row:
    """The attributes of a span by OpenInference name; lists that OTLP numbers (``retrieval.documents.0``) are lists."""
    held = parsed(span.get("attributes"))
    dotted: Row = {k.removeprefix("attributes."): v for k, v in span.items() if k.startswith("attributes.")}
    if isinstance(held, Mapping):
        dotted.update(flat(held))
    found: Row = {}
    lists: dict[str, dict[int, Row]] = {}
    for name, value in dotted.items():
        part = _NUMBERED.match(name)
        if part:
            lists.setdefault(part["list"], {}).setdefault(int(part["at"]), {})[part["rest"]] = value
        else:
            found[name] = value
    return {**found, **{name: [rows[at] for at in sorted(rows)] for name, rows in lists.items()}}


def _item(span: Row, attributes: Row, retrieved: Mapping[str, list[str]]) -> Row:
    parts = ("attributes", "annotations", "events")
    row: Row = flat({name: cell for name, cell in span.items() if not name.startswith(parts)}, "span")
    asked = attributes.get("llm.input_messages") or attributes.get("input.value")
    said = attributes.get("output.value") or attributes.get("llm.output_messages")
    if asked is not None:
        row["query"] = question_in(asked)
    if said is not None:
        row["answer"] = answer_in(said)
    if contexts := retrieved.get(_trace_id(span)):
        row["contexts"] = contexts
    own = {"input.value", "output.value", "llm.input_messages", "llm.output_messages", "retrieval.documents"}
    return {**row, **{f"attributes.{name}": value for name, value in attributes.items() if name not in own}}
