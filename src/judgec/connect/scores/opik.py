"""Reads Opik: traces and experiment items with feedback scores, and the CSV of an experiment.

Source: comet.com/docs/opik, "Export data", "Export experiment results", REST "Stream experiment items".
"""

from collections import Counter
from collections.abc import Mapping, Sequence

from judgec.connect.scores.records import ExportRecord, Origin, Score, ScoreExport, is_label_column, reason_of, some
from judgec.errors import InputError
from judgec.records.tasks.registry import plain
from judgec.table.rows.cells import as_id, as_text, is_missing
from judgec.table.table import Row
from judgec.table.traces.texts import answer_in, documents_in, flat, inputs_of, parsed, question_in

ORIGINS: Mapping[str, Origin] = {"ui": "human", "online_scoring": "machine"}  # sdk may be either
KNOWN = {"name", "category_name", "value", "reason", "source", "created_at", "last_updated_at", "created_by"}
PARTS = {"input", "output", "dataset_item_data", "evaluation_task_output", "feedback_scores", "id"}
OUTPUT = "output"
DATA = ("dataset.", "input.")
SCORES = ("feedback_scores.", "evaluation_scores.")
TEXTS = {"input", "output", "dataset_item_data", "evaluation_task_output"}  # a trace or an item has one


def read_opik(records: Sequence[ExportRecord], rename: Mapping[str, str]) -> ScoreExport:
    """Feedback scores of traces and experiment items. A CSV does not say who gave its scores."""
    items: dict[str, Row] = {}
    scores: list[Score] = []
    skipped: Counter[str] = Counter()
    for number, record in enumerate(records, 1):
        fields = {k if "." in k else plain(k): v for k, v in record.fields.items() if not is_missing(v)}
        held = parsed(fields.get("feedback_scores"))
        if record.flat and "feedback_scores" not in fields:
            item, row, given = _row_of_csv(record, number, rename)
        elif isinstance(held, list) or ("id" in fields and TEXTS & set(fields)):
            item, row = as_id(fields.get("id", f"item-{number}")), _item(fields)
            given = (
                [_score(item, dict(one)) for one in held or [] if isinstance(one, Mapping)]
                if isinstance(held, list)
                else []
            )
        else:
            skipped["neither trace nor experiment item"] += 1
            continue
        items[item] = row
        scores += given
    return ScoreExport(items, scores, skipped)


def _score(item: str, fields: Row) -> Score:
    source = str(fields.get("source", "")).casefold()
    said = fields.get("category_name")
    more = {name: cell for name, cell in flat(fields).items() if name not in KNOWN}
    return Score(
        item=item,
        name=as_text(fields.get("name", "score")),
        value=fields.get("value") if is_missing(said) else said,
        origin=ORIGINS.get(source, "unmarked"),
        annotator=as_id(fields.get("created_by") or fields.get("last_updated_by") or "") if source == "ui" else "",
        comment=as_text(fields.get("reason") or ""),
        time=as_text(fields.get("last_updated_at") or fields.get("created_at") or ""),
        more=more if is_missing(said) else {**more, "value": fields.get("value")},
        marked=f"source {source}" if source else "no source",
    )


def _item(fields: Row) -> Row:
    asked = parsed(fields.get("dataset_item_data", fields.get("input")))
    said = parsed(fields.get("evaluation_task_output", fields.get("output")))
    row: Row = flat({name: value for name, value in fields.items() if name not in PARTS}, "trace")
    more = inputs_of(flat(asked)) if isinstance(asked, Mapping) else {}
    if not is_missing(asked):
        row["query"] = question_in(asked)
    if not is_missing(said):
        row["answer"] = answer_in(said)
    retrieved = said.get("context", said.get("contexts")) if isinstance(said, Mapping) else None
    if contexts := documents_in(retrieved) or more.get("contexts"):
        row["contexts"] = contexts
    if "reference" in more:
        row["reference"] = more["reference"]
    return row


def _row_of_csv(record: ExportRecord, number: int, rename: Mapping[str, str]) -> tuple[str, Row, list[Score]]:
    fields = record.fields
    data = {name: value for name, value in fields.items() if name.startswith(DATA)}
    said = {name: value for name, value in fields.items() if name == OUTPUT or name.startswith(f"{OUTPUT}.")}
    if not data or (not said and not any(name.startswith(SCORES) for name in fields)):
        raise InputError(
            [
                (
                    f"{record.where}: the fields are {some(fields)}; an experiment's CSV has dataset.FIELD or "
                    "input.FIELD, output and a column a score. Read another table with labels import OUT other:FILE "
                    "and --map."
                )
            ]
        )
    item = as_id(fields.get("id", fields.get("dataset_item_id", f"row-{number}")))
    texts = {name.removeprefix(f"{OUTPUT}."): value for name, value in said.items()}
    answer = fields[OUTPUT] if OUTPUT in fields else inputs_of(texts).get("answer", next(iter(texts.values()), ""))
    row: Row = {**data, **inputs_of(data), "answer": answer_in(answer)}
    rest = {name: value for name, value in fields.items() if name not in {*data, *said, "id", "dataset_item_id"}}
    reasons = {name: why for name in rest if (why := reason_of(name, rest)) is not None}
    rest = {name: value for name, value in rest.items() if name not in reasons.values()}
    named = {name for name, ours in rename.items() if is_label_column(ours)}
    marks = {name for name, value in rest.items() if name in named or (not named and _is_number(value))}
    row |= {name: value for name, value in rest.items() if name not in marks}
    return (
        item,
        row,
        [
            Score(
                item,
                _metric(name) if name not in named else name,
                rest[name],
                "unmarked",
                comment=as_text(fields.get(reasons.get(name, ""), "")),
                marked="a CSV without source",
            )
            for name in rest
            if name in marks
        ],
    )


def _metric(column: str) -> str:
    """The metric's own name: ``correct`` of ``feedback_scores.correct``."""
    return next((column.removeprefix(one) for one in SCORES if column.startswith(one)), column)


def _is_number(value: object) -> bool:
    try:
        float(as_text(value))
    except ValueError:
        return False
    return True
