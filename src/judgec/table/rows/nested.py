"""Rows of JSON whose label, annotator or agent stands within an object: ``feedback.score``, ``meta.model``."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace

from judgec.records.label import REASON_NAMES
from judgec.records.tasks.registry import also_called, plain
from judgec.table.rows.cells import is_missing, printed_list
from judgec.table.table import ColumnRows, Row, Table

FEEDBACK = frozenset(  # words of columns whose objects say what somebody thought of an answer
    [
        *(
            "feedback",
            "feedbacks",
            "annotation",
            "annotations",
            "label",
            "labels",
            "evaluation",
            "evaluations",
            "review",
        ),
        *("reviews", "rating", "ratings", "human", "assessment", "assessments", "judgement", "judgment", "grading"),
    ]
)
ASPECTS = frozenset(
    ["relevance", "correctness", "usefulness", "helpfulness", "faithfulness", "accuracy", "quality"]
)  # names of a single grade elsewhere
BY = ("by", "user", "author", "name", "who", "email", "source")  # within such an object: who thought so
LABELS = {"grade": ("grade", *also_called("grade"), "value"), "accept": ("accept", "accepted")}
OF_FEEDBACK = {
    "annotator": ("annotator", *also_called("annotator"), *BY),
    "rationale": REASON_NAMES,
}
LISTED = {  # columns whose lists are scores
    **{
        f"{name}{end}": "grade"
        for name in ("grade", "score", "rating", "label", "human_score", "human_rating")
        for end in ("", "s")
    },
    "annotations": "grade",
    "votes": "grade",
    "accept": "accept",
    "accepts": "accept",
}
OF_ANY = {"agent": ("agent", *also_called("agent"))}


def with_nested(table: Table) -> Table:
    """The table with labels, annotators, reasons and agents that stand within objects as columns of judgec's names.

    A list of such feedback gives a row for each. Nothing is looked for that the rows name themselves.
    """
    places = nested_places(table.columns, table.rows)
    if not places:
        return table
    rows: list[Row] = []
    lines: list[int] = []
    feedback = next((column for ours, (column, _) in places.items() if ours in LABELS), None)
    for row, line in zip(table.rows, table.lines, strict=True):
        said = _objects(row.get(feedback)) if feedback else []
        for one in said or [{}]:
            cells = {
                ours: value
                for ours, (column, key) in places.items()
                for value in [(one if column == feedback else next(iter(_objects(row.get(column))), {})).get(key)]
                if not is_missing(value)
            }
            rows.append({name: value for name, value in row.items() if name != feedback} | cells)
            lines.append(line)
    columns = dict.fromkeys([*(name for name in table.columns if name != feedback), *places])
    said_so = ", ".join(f"{column}.{key} is read as {ours}" for ours, (column, key) in places.items())
    notes = (*table.notes, f"{said_so}.")
    return replace(table, columns=tuple(columns), rows=tuple(rows), lines=tuple(lines), notes=notes)


def with_raters(table: Table) -> Table:
    """The table with a row for each score of a cell that lists those of several annotators: ``[4, 5, 3]``.

    A list of one is the score itself. Tables that name their annotators are as they were.
    """
    names = [name for name in table.columns if plain(name) in LISTED]
    cells = {name: table.column(name).each(_scores) for name in names}
    listed = {
        name: own
        for name, own in cells.items()
        if any(own) and not any(_objects(cell) for cell in table.column(name).values if isinstance(cell, list))
    }
    most = max((len(one) for own in listed.values() for one in own if one), default=0)
    if not listed or (
        most > 1 and (len(listed) > 1 or any(plain(n) in OF_FEEDBACK["annotator"] for n in table.columns))
    ):
        return table
    rows: list[Row] = []
    lines: list[int] = []
    ((name, own),) = list(listed.items())[:1]
    ours = LISTED[plain(name)]
    column = ours if ours not in table.columns else name
    for row, line, scores in zip(table.rows, table.lines, own, strict=True):
        rest = {key: value for key, value in row.items() if key != name}
        if scores is None or most == 1:
            rows.append(rest | {column: row.get(name) if scores is None else (scores or [None])[0]})
            lines.append(line)
            continue
        rows += [{**rest, "annotator": f"rater-{at}", column: one} for at, one in enumerate(scores or [None], 1)]
        lines += [line] * max(len(scores), 1)
    columns = [column if each == name else each for each in table.columns] + ["annotator"] * (most > 1)
    note = f"Lists in {name} are the scores of up to {most} annotators: rater-1, rater-2, ... by their places."
    notes = (*table.notes, note) if most > 1 else table.notes
    return replace(table, columns=tuple(columns), rows=tuple(rows), lines=tuple(lines), notes=notes)


def _scores(cell: object) -> list[object] | None:
    """The numbers or words in a list of them; None of anything else."""
    found = printed_list(cell) if isinstance(cell, str) else cell
    if not isinstance(found, list) or any(isinstance(one, dict | list) for one in found):
        return None
    return found


def nested_places(columns: Collection[str], rows: Sequence[Row]) -> dict[str, tuple[str, str]]:
    """Places of judgec's columns within objects: the column and the key in it."""
    objects: dict[str, dict[str, None]] = {}
    if isinstance(rows, ColumnRows) and not any(column.has(dict, list) for column in rows.columns.values()):
        return {}
    for row in rows:
        for name, value in row.items():
            for one in _objects(value) if isinstance(value, dict | list) else ():
                scalars = (key for key, cell in one.items() if not isinstance(cell, dict | list))
                objects.setdefault(name, {}).update(dict.fromkeys(scalars))
    if not objects:
        return {}
    known = set(map(plain, columns))
    found: dict[str, tuple[str, str]] = {}
    told = [name for name in objects if FEEDBACK & set(plain(name).split("_"))]
    for ours, names in LABELS.items():
        taken = {plain(name) for name in (ours, *also_called(ours))} | {"grade", "accept", "preference"}
        likely = {name: _keys(objects[name], names) for name in told}
        places = [(name, own[0]) for name, own in likely.items() if own and (len(own) == 1 or not _aspects(own))]
        if places and not found and not (known - set(map(plain, told))) & taken:
            found[ours] = places[0]
    if found:
        (column, _), *_ = found.values()
        for ours, names in OF_FEEDBACK.items():
            if ours not in known and (keys := _keys(objects[column], names)):
                found[ours] = (column, keys[0])
    if "messages" in columns or found:
        for ours, names in OF_ANY.items():
            places = [(name, key) for name in objects if name not in told for key in _keys(objects[name], names)]
            if places and not known & {plain(name) for name in names}:
                found[ours] = places[0]
    return found


def _aspects(keys: Collection[str]) -> bool:
    """True if several grades stand in one object, each of an aspect."""
    return bool(ASPECTS & set(map(plain, keys)))


def _objects(value: object) -> list[Mapping[str, object]]:
    """An object, or those of a list of objects; messages are none."""
    values = value if isinstance(value, list) else [value]
    return (
        [one for one in values if isinstance(one, dict) and "role" not in one]
        if all(isinstance(one, dict) for one in values)
        else []
    )


def _keys(there: Collection[str], names: Sequence[str]) -> list[str]:
    """The keys that are called so, the likeliest first."""
    return [key for wanted in names for key in there if plain(key) == plain(wanted)]
