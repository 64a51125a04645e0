"""Reads Langfuse: traces with their scores, and scores in files of their own.

Source: fern/apis/server/definition/scores-v3.yml and the blob storage export of langfuse/langfuse.
"""

from collections import Counter
from collections.abc import Collection, Mapping, Sequence

from judgec.connect.scores.records import SYSTEM_ERROR, ExportRecord, Origin, Score, ScoreExport, ScoreKind
from judgec.records.tasks.registry import plain
from judgec.table.rows.cells import as_grade, as_id, as_text, is_accept_word, is_missing
from judgec.table.table import Row
from judgec.table.traces.texts import answer_in, documents_in, flat, inputs_of, parsed, question_in

ORIGINS: Mapping[str, Origin] = {"ANNOTATION": "human", "EVAL": "machine"}  # API may be either
TRACE_PARTS = ("scores", "corrections", "observations", "input", "output", "id")
CORRECTION, OUTPUT = "correction", "output"  # the type, or name, of a person's correction; the name of one of an answer
TEXTS = ("long_string_value", "string_value")
KNOWN = {
    *("name", "value", "string_value", "long_string_value", "data_type", "source", "comment", "timestamp", "trace_id"),
    *("observation_id", "session_id", "dataset_run_id", "author_user_id", "subject", "annotation", "project_id"),
}


def read_langfuse(records: Sequence[ExportRecord], rename: Mapping[str, str]) -> ScoreExport:
    """Scores of traces and observations; those of sessions and experiment runs have no answer of their own."""
    del rename
    traces: dict[str, Row] = {}
    observations: dict[str, list[Row]] = {}
    given: list[Row] = []
    skipped: Counter[str] = Counter()
    for record in records:
        whole = parsed(record.fields.get("trace"))
        held = (
            record.fields
            if not isinstance(whole, Mapping)
            else {**whole, "observations": record.fields.get("observations")}
        )
        fields = _named(held)
        if "name" in fields and ("value" in fields or "string_value" in fields):
            given.append(fields)
        elif "trace_id" in fields and "type" in fields:
            observations.setdefault(as_id(fields["trace_id"]), []).append(fields)
        elif "id" in fields and {"input", "output", "scores"} & set(fields):
            trace = as_id(fields["id"])
            traces[trace] = fields
            observations.setdefault(trace, []).extend(_rows(fields.get("observations")))
            given += [
                {"trace_id": trace, **one} for part in ("scores", "corrections") for one in _rows(fields.get(part))
            ]
        else:
            skipped["neither trace nor score"] += 1
    items = {trace: _item(fields, observations.get(trace, [])) for trace, fields in traces.items()}
    scores: list[Score] = []
    metrics = {as_text(one["name"]) for one in given if "name" in one and not _corrects(one)} - {OUTPUT}
    for fields in given:
        if "name" not in fields:
            skipped["without a name"] += 1
            continue
        found = _score(fields, metrics)
        if found is None:
            skipped["of a session or an experiment run, which has no answer of its own"] += 1
            continue
        trace = as_id(fields.get("trace_id", found.item))
        if trace in items and _failed(items[trace], traces[trace], *observations[trace]):
            skipped[SYSTEM_ERROR] += 1
            continue
        if found.item not in items and trace in items:
            own = [one for one in observations[trace] if as_id(one.get("id")) == found.item]
            items[found.item] = {**items[trace], **(_item(own[0], []) if own else {}), "trace_id": trace}
        scores.append(found)
    scored = {score.item for score in scores}
    used = {as_id(item.get("trace_id")) for item in items.values() if "trace_id" in item}
    failed = {trace for trace, fields in traces.items() if _failed(items[trace], fields, *observations[trace])}
    kept = {k: v for k, v in items.items() if (k in scored or k not in used) and k not in failed}
    skipped[SYSTEM_ERROR] += len(failed - {as_id(one.get("trace_id", "")) for one in given})
    return ScoreExport(kept, scores, +skipped)


def _failed(item: Row, *steps: Row) -> bool:
    """True if the system or a step of it failed and there is no answer."""
    return is_missing(item.get("answer")) and any(str(one.get("level", "")).upper() == "ERROR" for one in steps)


def _named(fields: Mapping[str, object]) -> Row:
    return {plain(name): value for name, value in fields.items() if not is_missing(value)}


def _rows(value: object) -> list[Row]:
    value = parsed(value)
    return [_named(one) for one in value if isinstance(one, Mapping)] if isinstance(value, list) else []


def _corrects(fields: Row) -> bool:
    """True if a person put what is right in place of what the tool has: an answer, or the value of a score."""
    return CORRECTION in {plain(as_text(fields.get(name, ""))) for name in ("data_type", "name")}


def _corrected(fields: Row, metrics: Collection[str]) -> tuple[str, object, ScoreKind]:
    """The metric, the value and the kind of a correction: a label where it is of a score, else a text."""
    name, told = as_text(fields["name"]), [fields[one] for one in TEXTS if one in fields]
    value = told[0] if told else fields.get("value")
    metric = name if name in metrics else next(iter(metrics)) if len(metrics) == 1 else CORRECTION
    word = as_grade(value)
    graded = isinstance(word, int | float) or (word is not None and is_accept_word(word))
    if name == OUTPUT or not (graded or name in metrics):
        return CORRECTION, value, "text"
    return metric, value, "grade"


def _score(fields: Row, metrics: Collection[str]) -> Score | None:
    subject, person = parsed(fields.get("subject")), parsed(fields.get("annotation"))
    about = _named(subject) if isinstance(subject, Mapping) else {}
    who = {**fields, **(_named(person) if isinstance(person, Mapping) else {})}
    item = about.get("id") if str(about.get("kind")) in {"trace", "observation"} else None
    item = item or fields.get("observation_id") or fields.get("trace_id")
    if item is None:
        return None
    source = str(fields.get("source", "")).upper()
    kind = str(fields.get("data_type", "")).upper()
    name = as_text(fields["name"])
    of: ScoreKind = "text" if kind == "TEXT" else "grade"
    value: object = fields.get("value")
    if correction := _corrects(fields):
        name, value, of = _corrected(fields, metrics)
    elif kind in {"CATEGORICAL", "TEXT"}:
        value = fields.get("string_value", value)
    elif kind == "BOOLEAN" and not isinstance(value, bool):
        value = str(value).casefold() in {"1", "1.0", "true"}
    return Score(
        item=as_id(item),
        name=name,
        value=value,
        origin="human" if correction and "author_user_id" in who else ORIGINS.get(source, "unmarked"),
        annotator=as_id(who["author_user_id"]) if "author_user_id" in who else "",
        comment=as_text(fields.get("comment", "")),
        time=as_text(fields.get("timestamp", fields.get("created_at", ""))),
        more={name: cell for name, cell in fields.items() if name not in KNOWN},
        kind=of,
        marked=f"source {source}" if source else "no source",
    )


def _item(fields: Row, observations: Sequence[Row]) -> Row:
    """A trace, or an observation; of a trace without texts those of its root, else of its last model call."""
    timed = sorted(observations, key=lambda one: str(one.get("start_time", "")))
    roots = [one for one in timed if "parent_observation_id" not in one]
    calls = [one for one in timed if one.get("type") == "GENERATION"]
    told = [fields, *roots[:1], *reversed(calls)]
    asked = next((one["input"] for one in told if not is_missing(one.get("input"))), None)
    said = next((one["output"] for one in told if not is_missing(one.get("output"))), None)
    rest = {name: parsed(cell) for name, cell in fields.items() if name not in TRACE_PARTS}
    row: Row = flat(rest, "trace")
    named = parsed(asked)
    more = inputs_of(flat(named)) if isinstance(named, Mapping) else {}
    if asked is not None:
        row["query"] = question_in(asked)
    if said is not None:
        row["answer"] = answer_in(said)
    texts = [text for one in timed if one.get("type") == "RETRIEVER" for text in documents_in(one.get("output"))]
    if contexts := texts or more.get("contexts"):
        row["contexts"] = contexts
    if reference := more.get("reference", fields.get("expected_output")):
        row["reference"] = answer_in(reference)
    return row
