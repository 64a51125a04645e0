"""Reads Label Studio: tasks with annotations and predictions (JSON), and one row an annotation (JSON_MIN, CSV).

Source: labelstud.io/guide/task_format and label_studio_sdk.converter.
"""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence

from judgec.connect.scores.records import ExportRecord, Score, ScoreExport, ScoreKind, is_label_column, some
from judgec.errors import InputError
from judgec.table.rows.cells import as_id, as_text
from judgec.table.table import Row
from judgec.table.traces.texts import flat, inputs_of, parsed

TASK_PARTS = {"data", "annotations", "completions", "predictions", "drafts", "id"}
OF_ROWS = {"id", "annotator", "annotation_id", "created_at", "updated_at", "lead_time", "agreement", "history"}
OF_ANNOTATION = {"result", "completed_by", "created_at", "history", "reviews", "prediction", "task", "project"}
SIDES = {"left": "a", "right": "b"}
NOT_ONE = "several values at once, a region or a ranking: not one grade"
CHAT = "chatmessage"


def read_label_studio(records: Sequence[ExportRecord], rename: Mapping[str, str]) -> ScoreExport:
    """Annotations are people's, predictions a model's; an annotation that names nobody is unmarked."""
    items: dict[str, Row] = {}
    scores: list[Score] = []
    skipped: Counter[str] = Counter()
    for number, record in enumerate(records, 1):
        fields = record.fields
        if "annotation_id" in fields or (record.flat and "annotations" not in fields):
            _row(record, number, rename, items, scores, skipped)
            continue
        if not {"annotations", "completions", "predictions"} & set(fields) and not {"id", "data"} <= set(fields):
            skipped["neither task nor annotation"] += 1
            continue
        item = as_id(fields.get("id", f"task-{number}"))
        data = parsed(fields.get("data"))
        shown = data if isinstance(data, Mapping) else {k: v for k, v in fields.items() if k not in TASK_PARTS}
        rest = flat({k: v for k, v in fields.items() if k not in TASK_PARTS}) if isinstance(data, Mapping) else {}
        columns: Row = dict(shown)
        items[item] = {**{f"task.{k}": v for k, v in rest.items()}, **columns, **inputs_of(columns)}
        for annotation in _dicts(fields.get("annotations", fields.get("completions"))):
            scores += _annotation(item, annotation, items[item], skipped)
        for prediction in _dicts(fields.get("predictions")):
            scores += _prediction(item, prediction, skipped)
        skipped += Counter({"drafts, not submitted": len(_dicts(fields.get("drafts")))})
    return ScoreExport(items, scores, +skipped)


def _dicts(value: object) -> list[Row]:
    value = parsed(value)
    return [dict(one) for one in value if isinstance(one, Mapping)] if isinstance(value, list) else []


def _annotation(item: str, annotation: Row, row: Row, skipped: Counter[str]) -> Iterator[Score]:
    results = _dicts(annotation.get("result"))
    if annotation.get("was_cancelled"):
        skipped["annotations that were skipped"] += max(len(results), 1)
        return
    if not results:
        skipped["annotations without a result"] += 1
    who = annotation.get("completed_by")
    person = as_id((who.get("email") or who.get("id") or "") if isinstance(who, Mapping) else who or "")
    more = flat({k: v for k, v in annotation.items() if k not in OF_ANNOTATION})
    chat = [turn for one in results if one.get("type") == CHAT and isinstance(turn := _value(one), Mapping)]
    if chat:
        skipped["turns of a chat: in column conversation"] += len(chat)
        turns = [{k: turn[k] for k in ("role", "content") if k in turn} for turn in chat]
        row["conversation"] = turns
        for column, role in (("query", "user"), ("answer", "assistant")):
            if own := [as_text(turn.get("content", "")) for turn in turns if turn.get("role") == role]:
                row[column] = own[-1]
    for one in results:
        value = _value(one)
        if one.get("type") == CHAT:
            continue
        if isinstance(value, dict | list) or value is None:
            skipped[NOT_ONE] += 1
            continue
        yield Score(
            item=item,
            name=as_text(one.get("from_name", one.get("type", "label"))),
            value=value,
            origin="human" if person else "unmarked",
            annotator=person,
            time=as_text(annotation.get("created_at", "")),
            more={**more, **({"origin": one["origin"]} if "origin" in one else {})},
            kind=_kind(one),
            marked="an annotation without completed_by",
        )


def _prediction(item: str, prediction: Row, skipped: Counter[str]) -> Iterator[Score]:
    for one in _dicts(prediction.get("result")):
        value = _value(one)
        if isinstance(value, dict | list) or value is None:
            skipped[NOT_ONE] += 1
        else:
            judge = as_text(prediction.get("model_version", ""))
            more = {"score": prediction["score"]} if prediction.get("score") is not None else {}
            name = as_text(one.get("from_name", one.get("type", "label")))
            yield Score(item, name, value, "machine", judge=judge, more=more, kind=_kind(one), marked="a prediction")


def _kind(result: Row) -> ScoreKind:
    kind = result.get("type")
    return "preference" if kind == "pairwise" else "text" if kind == "textarea" else "grade"


def _value(result: Row) -> object:
    """The chosen value: the one choice, the rating, the side; a list or an object where there are several."""
    kind, value = str(result.get("type", "")), parsed(result.get("value"))
    if not isinstance(value, Mapping):
        return value
    if kind == "pairwise":
        return SIDES.get(str(value.get("selected")), value.get("selected"))
    if {"start", "end", "x", "y"} & set(value):
        return dict(value)  # of a region
    inner = value.get(kind, value.get("text", value.get("choices")))
    if kind == "textarea" and isinstance(inner, list):
        return "\n".join(map(as_text, inner))
    while isinstance(inner, list) and len(inner) == 1:
        (inner,) = inner
    return inner


def _row(
    record: ExportRecord,
    number: int,
    rename: Mapping[str, str],
    items: dict[str, Row],
    scores: list[Score],
    skipped: Counter[str],
) -> None:
    """One row of JSON_MIN or CSV: which columns are labels, only ``history`` or ``--map`` tells."""
    fields = record.fields
    item = as_id(fields.get("id", f"row-{number}"))
    told = {
        as_text(one.get("from_name")) for past in _dicts(fields.get("history")) for one in _dicts(past.get("result"))
    }
    named = {name for name, ours in rename.items() if is_label_column(ours)}
    controls = [name for name in fields if name in told | named or _is_control(fields[name])]
    data = {k: v for k, v in fields.items() if k not in {*controls, *OF_ROWS}}
    if not controls:
        raise InputError(
            [
                (
                    f"{record.where}: the fields are {some(fields)}; this form of export does not say which of "
                    f"{some(data)} are labels. Name them, for example --map {next(iter(data), 'COLUMN')}=grade, "
                    "or export JSON."
                )
            ]
        )
    items.setdefault(item, {**data, **inputs_of(data)})
    person = as_id(fields.get("annotator", ""))
    more: Row = {k: fields[k] for k in ("annotation_id", "updated_at", "lead_time", "agreement") if k in fields}
    for name in controls:
        value = _plain(fields[name])
        if isinstance(value, dict | list):
            skipped[NOT_ONE] += 1
            continue
        scores.append(
            Score(
                item=item,
                name=name,
                value=value,
                origin="human" if person else "unmarked",
                annotator=person,
                time=as_text(fields.get("created_at", "")),
                more=more,
                marked="a row without annotator",
            )
        )


def _plain(value: object) -> object:
    value = parsed(value)
    inner = value.get("choices", value) if isinstance(value, Mapping) else value
    while isinstance(inner, list) and len(inner) == 1 and not isinstance(inner[0], Mapping):
        (inner,) = inner
    return inner


def _is_control(value: object) -> bool:
    """A cell that only an annotator's control writes: ``{"choices": [...]}``, or a list of regions."""
    value = parsed(value)
    if isinstance(value, list):
        return bool(value) and all(
            isinstance(one, Mapping) and {"x", "start", "original_width"} & set(one) for one in value
        )
    return isinstance(value, Mapping) and set(value) == {"choices"}
