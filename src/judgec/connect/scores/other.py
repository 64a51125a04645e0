"""Reads any table or JSON of scored items, whose fields the user names with ``--map``, and logs of known harnesses.

Source of these: EvalSample and Score in src/inspect_ai/{log/_log,scorer/_metric}.py of UKGovernmentBEIS/inspect_ai;
LLMApiTestCase and MetricData in deepeval/test_run/api.py of confident-ai/deepeval.
"""

from collections import Counter
from collections.abc import Mapping, Sequence

from judgec.connect.scores.records import (
    ABOUT,
    INPUTS,
    JUDGE_ERROR,
    SYSTEM_ERROR,
    ExportRecord,
    Score,
    ScoreExport,
    is_label_column,
    reason_of,
    some,
)
from judgec.errors import InputError
from judgec.labels.rows.items import ALTERNATIVES
from judgec.table.rows.cells import as_id, as_text, as_texts, is_missing
from judgec.table.rows.columns import listed
from judgec.table.table import Row
from judgec.table.traces.texts import answer_in, documents_in, flat, inputs_of, parsed, question_in

SYSTEM_ERRORS = frozenset({"error", "error.message", "output.error", "error_message", "response.error", "exception"})
STATUSES = ("status", "trace.status")
ORDERS = ("ab", "ba")  # in which two games of a row show the answers
OF_ANNOTATORS = (
    " If its names are those of annotators, and the fields items, pandas makes rows: "
    "pd.read_json({!r}, convert_axes=False).stack().rename_axis(['item_id', 'annotator']).reset_index(name='grade')"
    ".to_csv('labels.csv', index=False); the other way round, swap the two names."
)
MOST_PARTS = 20  # of a list whose parts become columns


def read_other(records: Sequence[ExportRecord], rename: Mapping[str, str]) -> ScoreExport:
    """Objects in objects are columns with dots; ``--map THEIRS=grade`` says which of them is the score."""
    items: dict[str, Row] = {}
    scores: list[Score] = []
    skipped: Counter[str] = Counter()
    records = _by_id(records)
    rows = [_expanded({name: parsed(value) for name, value in record.fields.items()}) for record in records]
    columns = list(dict.fromkeys(name for row in rows for name in row))
    labels = [name for name in columns if is_label_column(rename.get(name, name))]
    if not labels and all(_is_inspect(record.fields) or _is_deepeval(record.fields) for record in records):
        return _of_harness(records)
    if not labels:
        first = next((name for name in columns if name != "id"), "FIELD")
        lists = [name for name in columns if isinstance(rows[0].get(name), list)]
        inner = f" A list in it is read with FILE.json#NAME: {some(lists)}." if lists else ""
        inner += OF_ANNOTATORS.format(records[0].where.partition("#")[0]) if "#" in records[0].where else ""
        raise InputError(
            [
                (
                    f"{records[0].where}: the fields are {some(columns)}; none is called grade, accept, "
                    f"preference or grade.ASPECT. Name the score and the texts, for example --map {first}=grade "
                    f"--map QUESTION=query.{inner}"
                )
            ]
        )
    if len(games := [name for name in labels if rename.get(name, name) == "preference"]) > 1:
        seen = f"{records[0].where}: {listed(games)} are several games a row; one preference a row is valid"
        both = ", ".join(
            f"t.assign(preference=t[{name!r}], order={at!r})" for name, at in zip(games, ORDERS, strict=False)
        )
        make = f"Make a row of each, with t a DataFrame of the file: pd.concat([{both}])"
        raise InputError([f"{seen}. {make}; beside recorded verdicts --orders says what the second one means."])
    theirs = {rename.get(name, name): name for name in columns}
    by_raters = False
    for number, row in enumerate(rows, 1):
        if _failed(row, theirs.get("answer")):
            skipped[SYSTEM_ERROR] += 1
            continue
        about = {name: as_text(row[theirs[name]]) for name in ABOUT if not is_missing(row.get(theirs.get(name, "")))}
        item = about.get("item_id") or _id_of(row, number)
        shown = {k: v for k, v in row.items() if k not in labels and rename.get(k, k) not in ABOUT}
        items.setdefault(item, {**shown, **inputs_of({k: v for k, v in shown.items() if k not in INPUTS})})
        for name in labels:
            if any(not is_missing(row.get(one)) for one in _errors(name)):
                skipped[JUDGE_ERROR] += 1
                continue
            why = reason_of(name, row) or ""
            value = row.get(name)
            several = (
                isinstance(value, list) and len(value) > 1 and not any(isinstance(one, dict | list) for one in value)
            )
            by_raters |= several
            for rater, one in enumerate(value if several and isinstance(value, list) else [value], 1):
                if not is_missing(one):
                    scores.append(
                        Score(
                            item=item,
                            name=name,
                            value=one[0] if isinstance(one, list) and len(one) == 1 else one,
                            origin="unmarked",
                            annotator=f"rater-{rater}" if several else about.get("annotator", ""),
                            judge=about.get("judge", ""),
                            comment=about.get("rationale", "" if is_missing(row.get(why)) else as_text(row.get(why))),
                            time=about.get("created_at", ""),
                            kind="preference" if rename.get(name, name) == "preference" else "grade",
                        )
                    )
    note = "Lists of scores are those of several annotators: rater-1, rater-2, ... by their places in the list."
    return ScoreExport(items, scores, skipped, (note,) if by_raters else ())


def _by_id(records: Sequence[ExportRecord]) -> Sequence[ExportRecord]:
    """The rows of a document that is one object of objects by their ids, which share a field."""
    held = records[0].fields if len(records) == 1 else {}
    rows = {name: dict(row) for name, row in held.items() if isinstance(row, Mapping)}
    if len(rows) < len(held) or len(rows) < 2 or not set.intersection(*map(set, rows.values())):
        return records
    return [ExportRecord(f"{records[0].where}#{name}", {"id": name, **row}) for name, row in rows.items()]


def _of_harness(records: Sequence[ExportRecord]) -> ScoreExport:
    """The scores of Inspect's samples and deepeval's test cases, each a machine's."""
    items: dict[str, Row] = {}
    scores: list[Score] = []
    skipped: Counter[str] = Counter()
    for number, record in enumerate(records, 1):
        fields = record.fields
        row = _expanded(fields)
        answer = answer_in(fields.get("output") if _is_inspect(fields) else fields.get("actualOutput"))
        if _failed(row | {"answer": answer}, "answer"):
            skipped[SYSTEM_ERROR] += 1
            continue
        item = _id_of(fields, number)
        known = {"query": question_in(fields.get("input")), "answer": answer}
        wanted = fields.get("target", fields.get("expectedOutput"))
        known |= {} if is_missing(wanted) else {"reference": ALTERNATIVES.join(as_texts(wanted)[0])}
        contexts = documents_in(fields.get("retrievalContext"))
        items[item] = known | ({"contexts": contexts} if contexts else {})
        if "agent" in fields:
            items[item]["agent"] = fields["agent"]
        for name, given in _given(fields):
            if not is_missing(given.get("error")) or given.get("skipped") is True:
                skipped[JUDGE_ERROR] += 1
                continue
            value = given.get("value", given.get("score"))
            parts = value.items() if isinstance(value, Mapping) else [("", value)]
            why = as_text(given.get("explanation") or given.get("reason") or "")
            for part, one in parts:
                called = f"{name}.{part}" if part else name
                scores.append(Score(item=item, name=called, value=one, origin="machine", judge=name, comment=why))
    return ScoreExport(items, scores, +skipped)


def _is_inspect(fields: Row) -> bool:
    return "epoch" in fields and isinstance(fields.get("scores", {}), Mapping | None) and "input" in fields


def _is_deepeval(fields: Row) -> bool:
    return isinstance(fields.get("metricsData"), list) and "input" in fields


def _given(fields: Row) -> list[tuple[str, Row]]:
    """Names of scorers or metrics, and what each gave."""
    held = fields.get("metricsData", fields.get("scores"))
    if isinstance(held, Mapping):
        return [(str(name), dict(one)) for name, one in held.items() if isinstance(one, Mapping)]
    parts = [dict(one) for one in held if isinstance(one, Mapping)] if isinstance(held, list) else []
    return [(as_text(one.get("name") or "metric"), one) for one in parts]


def _id_of(row: Row, number: int) -> str:
    """A row's id; of a sample that is answered several times with the number of the time."""
    item = as_id(row.get("id", f"row-{number}"))
    return item if row.get("epoch") in {None, 1, "1"} else f"{item}#{as_id(row['epoch'])}"


def _failed(row: Row, answer: str | None) -> bool:
    """True if the system gave an error instead of an answer.

    Args:
        row: With objects in objects as columns with dots.
        answer: The column that somebody calls the answer.
    """
    # An Inspect sample that ended in an error: what it said till then is no answer.
    if "epoch" in row and any(name.startswith("error.") for name in row):
        return True
    told = any(not is_missing(value) and value is not False for name, value in row.items() if name in SYSTEM_ERRORS)
    told |= any(as_text(row.get(name, "")).upper() in {"ERROR", "ERRORED", "FAILED"} for name in STATUSES)
    said = row.get(answer) if answer else inputs_of({k: v for k, v in row.items() if k not in INPUTS}).get("answer")
    return told and is_missing(said)


def _errors(name: str) -> list[str]:
    """The fields that say that whoever was to give a score gave an error."""
    inside = name.rpartition(".")[0]
    return [f"{name}_error", f"{name}.error", *([f"{inside}.error", f"{inside}.error.message"] if inside else [])]


def _expanded(fields: Mapping[str, object], name: str = "") -> Row:
    """Objects in objects, and objects in lists by their number: ``output.choices.0.message.content``."""
    row = flat(fields, name)
    for column, value in list(row.items()):
        parts = value[:MOST_PARTS] if isinstance(value, list) else []
        for number, part in enumerate(parts):
            if isinstance(part, Mapping):
                row |= _expanded(part, f"{column}.{number}")
    return row
