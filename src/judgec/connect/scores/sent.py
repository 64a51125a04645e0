"""Judgments and labels in the forms in which label and trace tools take scores."""

import hashlib
import re
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from judgec.connect.scores.records import INPUTS, LABELS
from judgec.errors import InputError
from judgec.records.tasks.spec import ASPECT_PREFIX
from judgec.table.formulas import unguarded
from judgec.table.rows.cells import as_accept, as_grade, as_id, as_text, is_accept_word, is_missing
from judgec.table.rows.columns import aspect_columns, listed
from judgec.table.rows.heads import JUDGED_BY
from judgec.table.table import Row, Table
from judgec.table.traces.texts import parsed

ITEM_ID = "item_id"
NO_GRADE, NO_NUMBER, REPEATED = "without a grade", "a word, where the tool takes numbers", "in rows that repeat an item"
_JUDGED = re.compile(rf"((?:judge_)*){JUDGED_BY}")  # ``judgec judge`` puts judge_ before names that are taken


@dataclass(frozen=True, slots=True)
class SentScore:
    """One score on its way back.

    Args:
        item: The tool's own id of what was scored.
        name: Of the score.
        value: The grade: a number, a word, or true and false.
        judge: ``NAME@VERSION``, or empty for a person's.
        annotator: The person, or empty for a judge's.
        comment: Why, or empty.
        more: Expected score, confidence, acceptance.
        row: The row that it stands in.
    """

    item: str
    name: str
    value: bool | float | str
    judge: str = ""
    annotator: str = ""
    comment: str = ""
    more: Mapping[str, object] = field(default_factory=dict)
    row: Row = field(default_factory=dict)


def scores_of(table: Table, name: str | None, default: str) -> tuple[list[SentScore], Counter[str]]:
    """The scores of a judged file, or the labels of a label file, and the cells that are none, by reason.

    Args:
        table: Rows with the tool's ids in ``item_id``.
        name: What the score is to be called; default: the judge's name, else ``default``. Aspects keep their own.
        default: The name for labels.

    Raises:
        InputError: No ``item_id``, no grades.
    """
    judged = next((match for column in table.columns if (match := _JUDGED.fullmatch(column))), None)
    prefix = judged[1] if judged else ""
    guards = judged is not None and not table.path.endswith((".jsonl", ".parquet"))
    item = next((column for column in (ITEM_ID, f"{prefix}{ITEM_ID}") if column in table.columns), None)
    columns = _grade_columns(table, prefix, judged=judged is not None)
    if item is None or not columns:
        raise InputError(
            [
                (
                    f"{table.path}:1: the columns are {listed(table.columns)}; item_id with the tool's ids and a grade "
                    "are needed. Give a file of judgec judge --out, or labels that labels import took from the tool."
                )
            ]
        )
    found: dict[tuple[str, str, str, str], SentScore] = {}
    skipped: Counter[str] = Counter()
    for index, written in enumerate(table.rows):
        row = {k: unguarded(v) if isinstance(v, str) else v for k, v in written.items()} if guards else written
        if is_missing(row.get(item)):
            raise InputError([f"{table.where(index)}: no {item}; every row needs the tool's id. Fill it in."])
        for aspect, cell, more in _cells(row, columns, prefix):
            value = _value(cell)
            if value is None:
                skipped[NO_GRADE] += 1
                continue
            judge = as_text(row.get(f"{prefix}{JUDGED_BY}") or "") if judged else ""
            whole = name or judge.partition("@")[0] or default
            said = (f"{whole}.{aspect}" if judge or name else aspect) if aspect else whole
            person = "" if judged else as_id(row.get("annotator") or "")
            why = as_text(row.get(f"{prefix}rationale") or "")
            key = (as_id(row[item]), said, judge, person)
            skipped[REPEATED] += key in found
            found.setdefault(key, SentScore(key[0], said, value, judge, person, why, more, row))
    return list(found.values()), +skipped


def _grade_columns(table: Table, prefix: str, *, judged: bool) -> tuple[str, ...]:
    if not judged:
        return aspect_columns(table.columns) or tuple(column for column in LABELS if column in table.columns)
    of_aspects = tuple(column for column in table.columns if column.startswith(f"{prefix}{ASPECT_PREFIX}"))
    return of_aspects or tuple(name for name in (f"{prefix}grade", f"{prefix}grades") if name in table.columns)


def _cells(row: Row, columns: Sequence[str], prefix: str) -> Iterator[tuple[str, object, Row]]:
    """Aspect, grade and what else is known of it; the objects of a judge of several aspects are taken apart."""
    for column in columns:
        aspect = column.removeprefix(prefix).removeprefix("grade").removeprefix(".")
        held = parsed(row.get(column)) if aspect == "s" else None
        if isinstance(held, Mapping):
            for name, grade in held.items():
                kept = {what: parsed(row.get(f"{prefix}{what}s")) for what in ("score", "confidence", "accept")}
                yield str(name), grade, {k: v[name] for k, v in kept.items() if isinstance(v, Mapping) and name in v}
            continue
        names = {what: f"{prefix}{what}{'.' * bool(aspect)}{aspect}" for what in ("score", "confidence", "accept")}
        more = {what: row[own] for what, own in names.items() if own != column and not is_missing(row.get(own))}
        yield aspect if column not in LABELS else "", row.get(column), more


def _value(cell: object) -> bool | float | str | None:
    grade = as_grade(cell)
    if grade is not None and is_accept_word(grade):
        return as_accept(grade)
    return grade


def _number(value: bool | float | str) -> float | None:
    """A grade as a number; None for a word."""
    return None if isinstance(value, str) else float(value)


def _kept(**fields: object) -> Row:
    return {name: value for name, value in fields.items() if not is_missing(value) and value != {}}


def _about(score: SentScore) -> Row:
    return _kept(judge=score.judge, annotator=score.annotator, **score.more)


def _id(score: SentScore) -> str:
    return hashlib.sha256(f"{score.name}\n{score.judge}\n{score.annotator}\n{score.item}".encode()).hexdigest()[:32]


def langfuse(scores: Sequence[SentScore]) -> list[Row]:
    """Bodies of ``POST /api/public/scores``; the same score sent again replaces itself by its id."""
    kinds: Mapping[type, str] = {bool: "BOOLEAN", str: "CATEGORICAL"}
    return [
        _kept(
            id=_id(one),
            traceId=one.row.get("trace_id", one.item),
            observationId=one.item if "trace_id" in one.row else None,
            name=one.name,
            value=int(one.value) if isinstance(one.value, bool) else one.value,
            dataType=kinds.get(type(one.value), "NUMERIC"),
            comment=one.comment,
            source="API" if one.judge else "ANNOTATION",
            metadata=_about(one),
        )
        for one in scores
    ]


def langsmith(scores: Sequence[SentScore]) -> list[Row]:
    """Bodies of ``POST /feedback``: a number is the score, a word the value."""
    return [
        _kept(
            run_id=one.item,
            trace_id=one.row.get("run.trace_id", one.item),
            key=one.name,
            score=_number(one.value),
            value=one.value if isinstance(one.value, str) else None,
            comment=one.comment,
            feedback_source={"type": "model" if one.judge else "api", "metadata": _about(one)},
        )
        for one in scores
    ]


def phoenix(scores: Sequence[SentScore]) -> list[Row]:
    """Annotations of ``POST /v1/span_annotations``; the identifier lets the same one replace itself."""
    return [
        _kept(
            span_id=one.item,
            name=one.name,
            annotator_kind="LLM" if one.judge else "HUMAN",
            result=_kept(
                label=one.value if isinstance(one.value, str) else None,
                score=_number(one.value),
                explanation=one.comment,
            ),
            identifier=one.judge or one.annotator,
            metadata=_about(one),
        )
        for one in scores
    ]


def opik(scores: Sequence[SentScore]) -> list[Row]:
    """Scores of ``PUT /v1/private/traces/feedback-scores``; a word goes with the judge's expected score."""
    sent = []
    for one in scores:
        number = _number(one.value)
        expected = one.more.get("score") if number is None else number
        if expected is not None:
            category = one.value if isinstance(one.value, str) else None
            sent.append(
                _kept(
                    id=one.item,
                    name=one.name,
                    value=float(as_text(expected)),
                    category_name=category,
                    reason=one.comment,
                    source="sdk",
                )
            )
    return sent


def label_studio(scores: Sequence[SentScore]) -> list[Row]:
    """Tasks with predictions, one an item, for controls of the type Choices that stand at the object ``answer``."""
    tasks: dict[str, Row] = {}
    predictions: dict[tuple[str, str], Row] = {}
    for one in scores:
        data = {name: one.row[name] for name in INPUTS if not is_missing(one.row.get(name))}
        task = tasks.setdefault(one.item, {"data": {ITEM_ID: one.item, **data}, "predictions": []})
        by = one.judge or one.annotator
        if (one.item, by) not in predictions:
            predictions[one.item, by] = _kept(model_version=by, score=one.more.get("confidence")) | {"result": []}
            listing = task["predictions"]
            assert isinstance(listing, list)  # made above
            listing.append(predictions[one.item, by])
        results = predictions[one.item, by]["result"]
        assert isinstance(results, list)  # made above
        choice = as_text(one.value)
        results.append({"from_name": one.name, "to_name": "answer", "type": "choices", "value": {"choices": [choice]}})
    return list(tasks.values())


def argilla(scores: Sequence[SentScore]) -> list[Row]:
    """Records as ``records.from_json`` reads them: a judge's score is a suggestion, a person's a response."""
    records: dict[str, Row] = {}
    for one in scores:
        fields = {name: as_text(one.row[name]) for name in INPUTS if not is_missing(one.row.get(name))}
        record = records.setdefault(
            one.item, {"id": one.item, "fields": fields, "metadata": {}, "suggestions": {}, "responses": {}}
        )
        suggestions, responses = record["suggestions"], record["responses"]
        assert isinstance(suggestions, dict)  # made above
        assert isinstance(responses, dict)  # made above
        value = as_text(one.value) if isinstance(one.value, bool) else one.value
        if one.judge:
            suggestions[one.name] = {"value": value, "score": one.more.get("confidence"), "agent": one.judge}
        else:
            responses.setdefault(one.name, []).append({"value": value, "user_id": one.annotator or None})
    return list(records.values())


@dataclass(frozen=True, slots=True)
class Sender:
    """The form in which a tool takes scores.

    Args:
        make: The bodies.
        envelope: The key that they stand under in a whole document, or empty for a list.
        how: What takes the file, in one sentence.
    """

    make: Callable[[Sequence[SentScore]], list[Row]]
    envelope: str
    how: str


SENDERS: Mapping[str, Sender] = {
    "langfuse": Sender(langfuse, "", "Send each to POST /api/public/scores."),
    "langsmith": Sender(langsmith, "", "Send each to POST /feedback."),
    "phoenix": Sender(phoenix, "data", "Send it to POST /v1/span_annotations."),
    "opik": Sender(opik, "scores", "Send it to PUT /v1/private/traces/feedback-scores."),
    "label-studio": Sender(label_studio, "", "Import it as tasks with predictions."),
    "argilla": Sender(argilla, "", "dataset.records.from_json takes it."),
}


def sent(tool: str, scores: Sequence[SentScore]) -> tuple[list[Row], Counter[str]]:
    """The bodies for a tool, and the scores that it cannot take, by reason."""
    bodies = SENDERS[tool].make(scores)
    lost = len(scores) - len(bodies) if tool == "opik" else 0
    return bodies, +Counter({NO_NUMBER: lost})
