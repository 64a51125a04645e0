"""Reads LangSmith: runs, and the feedback on them.

Source: docs.langchain.com/langsmith/feedback-data-format and run-data-format.
"""

from collections import Counter
from collections.abc import Mapping, Sequence

from judgec.connect.scores.records import ExportRecord, Origin, Score, ScoreExport
from judgec.table.rows.cells import as_id, as_text, is_missing
from judgec.table.table import Row
from judgec.table.traces.texts import answer_in, documents_in, flat, inputs_of, parsed, question_in

ORIGINS: Mapping[str, Origin] = {"app": "human", "model": "machine", "auto_eval": "machine"}  # api may be either
RUN_PARTS = {"inputs", "outputs", "events", "child_runs", "serialized", "feedback_stats", "feedback", "id"}
KNOWN = {"id", "run_id", "trace_id", "key", "score", "value", "comment", "feedback_source", "created_at", "correction"}


def read_langsmith(records: Sequence[ExportRecord], rename: Mapping[str, str]) -> ScoreExport:
    """Feedback on runs; the answers' documents come from the retrievers of the same trace."""
    del rename
    runs: dict[str, Row] = {}
    given: list[Row] = []
    skipped: Counter[str] = Counter()
    averaged = 0
    for record in records:
        for fields in _sent(record.fields):
            if "key" in fields and ("feedback_source" in fields or "run_id" in fields):
                given.append(fields)
            elif "id" in fields and {"inputs", "outputs", "run_type"} & set(fields):
                run_id = as_id(fields["id"])
                runs[run_id] = {**runs.get(run_id, {}), **fields}
                given += [{"run_id": run_id, **one} for one in _dicts(fields.get("feedback"))]
                averaged += not is_missing(parsed(fields.get("feedback_stats")) or None)
            else:
                skipped["neither run nor feedback"] += 1
    retrieved: dict[str, list[str]] = {}
    for run in runs.values():
        if run.get("run_type") == "retriever":
            retrieved.setdefault(as_id(run.get("trace_id", run["id"])), []).extend(documents_in(run.get("outputs")))
    scores: list[Score] = []
    for fields in given:
        if "comparative_experiment_id" in fields:
            skipped["of runs compared with each other: its feedback_group_id joins them"] += 1
        elif fields.get("run_id", fields.get("trace_id")) is None:
            skipped["of a session, which has no answer of its own"] += 1
        else:
            scores.append(_score(fields))
    scored = {score.item for score in scores}
    roots = {name for name, run in runs.items() if "parent_run_id" not in run and not _dicts(run.get("parent_run_ids"))}
    items = {name: _item(run, retrieved) for name, run in runs.items() if name in scored | roots}
    notes = (
        (f"feedback_stats of {averaged} runs are averages without people; feedback itself is read.",)
        if averaged
        else ()
    )
    return ScoreExport(items, scores, skipped, notes)


def _sent(fields: Row) -> list[Row]:
    """A record, or the runs of what the SDK sends: ``post`` makes them, ``patch`` adds their outputs."""
    sent = [one for name in ("post", "patch") for one in _dicts(fields.get(name))]
    kept = [{name: value for name, value in one.items() if not is_missing(value)} for one in sent or [fields]]
    return [{**one, "id": one.get("id", one.get("trace_id"))} if sent else one for one in kept]


def _dicts(value: object) -> list[Row]:
    value = parsed(value)
    return [dict(one) for one in value if isinstance(one, Mapping)] if isinstance(value, list) else []


def _score(fields: Row) -> Score:
    source = parsed(fields.get("feedback_source"))
    source = source if isinstance(source, Mapping) else {}
    kind = str(source.get("type") or fields.get("feedback_source.type") or "")
    who = (source.get(name) or fields.get(f"feedback_source.{name}") for name in ("user_name", "user_id"))
    said, number = parsed(fields.get("value")), fields.get("score")
    alone = is_missing(said) or (isinstance(said, dict | list) and not is_missing(number))
    value = number if alone else said
    correction = parsed(fields.get("correction"))
    more = {name: cell for name, cell in flat(fields).items() if name.partition(".")[0] not in KNOWN}
    other = {"value": said} if alone else {"score": number}
    more |= {name: cell for name, cell in other.items() if not is_missing(cell)}
    return Score(
        item=as_id(fields.get("run_id", fields.get("trace_id"))),
        name=as_text(fields["key"]),
        value=value,
        origin=ORIGINS.get(kind, "unmarked"),
        annotator=next((as_id(name) for name in who if name), ""),
        comment=as_text(fields.get("comment", "")),
        time=as_text(fields.get("created_at", "")),
        more=more if is_missing(correction) else {**more, "correction": answer_in(correction)},
        kind="text" if isinstance(value, dict | list) else "grade",
        marked=f"feedback_source {kind}" if kind else "no feedback_source",
    )


def _item(run: Row, retrieved: Mapping[str, list[str]]) -> Row:
    asked = parsed(run.get("inputs"))
    row: Row = flat({name: value for name, value in run.items() if name not in RUN_PARTS}, "run")
    more = inputs_of(flat(asked)) if isinstance(asked, Mapping) else {}
    if not is_missing(asked):
        row["query"] = question_in(asked)
    if not is_missing(run.get("outputs")):
        row["answer"] = answer_in(run["outputs"])
    if contexts := retrieved.get(as_id(run.get("trace_id", run["id"]))) or more.get("contexts"):
        row["contexts"] = contexts
    if "reference" in more:
        row["reference"] = more["reference"]
    return row
