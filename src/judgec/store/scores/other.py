"""Reads any table or JSON of scored items, whose fields the user names with ``--map``."""

from collections import Counter
from collections.abc import Mapping, Sequence

from judgec.errors import InputError
from judgec.store.rows.cells import as_id, as_text, is_missing
from judgec.store.scores.records import (
    ABOUT,
    INPUTS,
    JUDGE_ERROR,
    REASONS,
    SYSTEM_ERROR,
    ExportRecord,
    Score,
    ScoreExport,
    is_label_column,
    reason_of,
    some,
)
from judgec.store.scores.texts import flat, inputs_of, parsed
from judgec.store.table import Row

SYSTEM_ERRORS = frozenset({"error", "error.message", "output.error", "error_message", "response.error", "exception"})
MOST_PARTS = 20  # of a list whose parts become columns


def read_other(records: Sequence[ExportRecord], rename: Mapping[str, str]) -> ScoreExport:
    """Objects in objects are columns with dots; ``--map THEIRS=grade`` says which of them is the score."""
    items: dict[str, Row] = {}
    scores: list[Score] = []
    skipped: Counter[str] = Counter()
    rows = [_expanded({name: parsed(value) for name, value in record.fields.items()}) for record in records]
    columns = list(dict.fromkeys(name for row in rows for name in row))
    labels = [name for name in columns if is_label_column(rename.get(name, name))]
    if not labels:
        first = next(iter(columns), "FIELD")
        lists = [name for name in columns if isinstance(rows[0].get(name), list)]
        inner = f" A list in it is read with FILE.json#NAME: {some(lists)}." if lists else ""
        raise InputError(
            [
                (
                    f"{records[0].where}: the fields are {some(columns)}; none is called grade, accept, "
                    f"preference or grade.ASPECT. Name the score and the texts, for example --map {first}=grade "
                    f"--map QUESTION=query.{inner}"
                )
            ]
        )
    theirs = {rename.get(name, name): name for name in columns}
    by_raters = False
    for number, row in enumerate(rows, 1):
        if _failed(row):
            skipped[SYSTEM_ERROR] += 1
            continue
        about = {name: as_text(row[theirs[name]]) for name in ABOUT if not is_missing(row.get(theirs.get(name, "")))}
        item = about.get("item_id") or as_id(row.get("id", f"row-{number}"))
        shown = {k: v for k, v in row.items() if k not in labels and rename.get(k, k) not in ABOUT}
        items.setdefault(item, {**shown, **inputs_of({k: v for k, v in shown.items() if k not in INPUTS})})
        for name in labels:
            if any(not is_missing(row.get(one)) for one in _errors(name)):
                skipped[JUDGE_ERROR] += 1
                continue
            why = reason_of(name, row) or (next((one for one in REASONS if one in row), "") if len(labels) == 1 else "")
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
    note = "Lists of scores are those of several raters: rater-1, rater-2, ... by their places in the list."
    return ScoreExport(items, scores, skipped, (note,) if by_raters else ())


def _failed(row: Row) -> bool:
    """Whether the system gave an error instead of an answer."""
    told = any(not is_missing(value) and value is not False for name, value in row.items() if name in SYSTEM_ERRORS)
    return told and is_missing(
        inputs_of({k: v for k, v in row.items() if k not in INPUTS}).get("answer", row.get("answer"))
    )


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
