"""Reads any table or JSON of scored items, whose fields the user names with ``--map``."""

from collections.abc import Mapping, Sequence

from judgec.errors import InputError
from judgec.store.rows.cells import as_id, as_text, is_missing
from judgec.store.scores.records import ABOUT, INPUTS, ExportRecord, Score, ScoreExport, is_label_column, some
from judgec.store.scores.texts import flat, inputs_of, parsed
from judgec.store.table import Row

MOST_PARTS = 20  # of a list whose parts become columns


def read_other(records: Sequence[ExportRecord], rename: Mapping[str, str]) -> ScoreExport:
    """Objects in objects are columns with dots; ``--map THEIRS=grade`` says which of them is the score."""
    items: dict[str, Row] = {}
    scores: list[Score] = []
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
    for number, row in enumerate(rows, 1):
        about = {name: as_text(row[theirs[name]]) for name in ABOUT if not is_missing(row.get(theirs.get(name, "")))}
        item = about.get("item_id") or as_id(row.get("id", f"row-{number}"))
        shown = {k: v for k, v in row.items() if k not in labels and rename.get(k, k) not in ABOUT}
        items.setdefault(item, {**shown, **inputs_of({k: v for k, v in shown.items() if k not in INPUTS})})
        scores += [
            Score(
                item=item,
                name=name,
                value=row[name],
                origin="unmarked",
                annotator=about.get("annotator", ""),
                judge=about.get("judge", ""),
                comment=about.get("rationale", ""),
                time=about.get("created_at", ""),
                kind="preference" if rename.get(name, name) == "preference" else "grade",
            )
            for name in labels
            if not is_missing(row.get(name))
        ]
    return ScoreExport(items, scores)


def _expanded(fields: Mapping[str, object], name: str = "") -> Row:
    """Objects in objects, and objects in lists by their number: ``output.choices.0.message.content``."""
    row = flat(fields, name)
    for column, value in list(row.items()):
        parts = value[:MOST_PARTS] if isinstance(value, list) else []
        for number, part in enumerate(parts):
            if isinstance(part, Mapping):
                row |= _expanded(part, f"{column}.{number}")
    return row
