"""Files with one column per annotator, turned into one row per item and annotator."""

import re
import shlex
from collections import Counter
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, replace

from judgec.errors import InputError, UserError
from judgec.labels.reading import EVERYBODY
from judgec.records.label import Task
from judgec.records.scale import Grade
from judgec.records.tasks.registry import TASKS, told_by
from judgec.records.tasks.spec import ASPECT_PREFIX, PREFIXES
from judgec.table.rows.cells import as_grade, as_id, is_accept_word, is_missing
from judgec.table.rows.columns import JUDGED_BY, listed
from judgec.table.table import Row, Table

ORDERED = re.compile(r"(?<=\w)[\W_]+(ab|ba)\W*$", re.IGNORECASE)  # an order of a pair behind a name
MOST_NAMED = 12  # names in a message
NO_ANNOTATOR = ": no annotator, "  # in a note on who was left out
RATIONALE = "rationale"  # the column of the reason for a grade, and behind a name that of who gave it
GRADES = frozenset({"grade", "accept"})  # label columns that several tasks share; others tell their task


@dataclass(frozen=True, slots=True)
class People:
    """The people whose labels of a table count.

    Args:
        annotators: Those that were named, as columns or in the column ``annotator``, without judges.
        others: Names in the column ``annotator`` whose labels do not count.
        notes: Who is left out, and why.
    """

    annotators: tuple[str, ...]
    others: frozenset[str]
    notes: tuple[str, ...]


def require_apart(annotators: Iterable[str], judges: Collection[str]) -> None:
    """Refuse a grader that is named both, and the two orders of one judge that are named as two people.

    Raises:
        UserError: There is one.
    """
    names = list(annotators)
    for stem, own in ordered(judges).items():
        if len(own) > 1:
            seen = f"--judges {listed(own)}: the verdicts of {stem} in two orders of a pair; one judge is valid"
            raise UserError(f"{seen}. Name it once: --judges {stem} --orders as-shown (or mapped).")
    if both := [name for name in names if is_measured(name, judges)]:
        raise UserError(
            f"{listed(both)}: named among the annotators and among the judges; a grader is one of them. "
            "Leave it out of --annotators or of --judges."
        )
    for stem, own in ordered(names).items():
        if len(own) > 1:
            raise _two_orders(stem, own)


def ordered(columns: Iterable[str]) -> dict[str, dict[str, str]]:
    """By the judge that picked, its columns in an order of each pair (``gpt.ab``, ``gpt (BA)``), with the order."""
    found: dict[str, dict[str, str]] = {}
    for column in columns:
        if end := ORDERED.search(column):
            found.setdefault(column[: end.start()], {})[column] = end[1].casefold()
    return found


def in_orders(name: str, columns: Iterable[str]) -> dict[str, str]:
    """The columns of a judge's picks in both orders, with the order of each; empty where it has none."""
    own = ordered(columns).get(name, {})
    return own if len(own) > 1 else {}


def _two_orders(stem: str, columns: Iterable[str]) -> UserError:
    seen = f"{listed(columns)}: the verdicts of {stem} in two orders of a pair, named as people"
    return UserError(f"{seen}; a judge's are valid under --judges. Name the people alone.")


def people_of(table: Table, annotators: Sequence[str], judges: Collection[str] = ()) -> People:
    """The annotators of a table: never a judge that is measured; several names in a column are somebody's to declare.

    This is the one place of the rule: a judge that helped to make the labels would be measured against itself.

    Args:
        table: With judgec's names of columns.
        annotators: Whom somebody named, ``*`` for everybody.
        judges: What is measured: its columns, or its names.

    Raises:
        UserError: All that were named are judges that are measured, or nobody said which of several names are people.
    """
    everybody = tuple(annotators) == EVERYBODY
    names = () if everybody else rejoined(annotators, table.columns)
    measured = [name for name in names if is_measured(name, judges)]
    kept = tuple(name for name in names if name not in measured)
    for name in kept:
        if own := in_orders(name, table.columns):
            raise _two_orders(name, own)
    notes = []
    if measured and not kept:
        there = listed(name for name in table.columns if not is_measured(name, judges))
        raise UserError(
            f"{table.path}: --annotators {listed(measured)}: the judge that is measured, which is nobody's label; "
            f"other columns are valid. There are {there}: name some."
        )
    wide = any(columns_of(name, table.columns) for name in names)
    others: dict[str, int] = {}
    if "annotator" in table.columns and not wide:
        counts = Counter(filter(None, table.column("annotator").each(_named)))
        measured += [name for name in counts if is_measured(name, judges) and name not in measured]
        others = {name: counts[name] for name in counts if name in measured}
        if not annotators and len(unsaid := counts - Counter(others)) > 1:
            raise UserError(_nobody_said(table, unsaid))
    if measured:
        notes.append(measured_note(measured))
    return People(kept, frozenset(others), tuple(notes))


def _nobody_said(table: Table, counts: Counter[str]) -> str:
    """Names the line to type where several graded: which of them are people no name tells."""
    more = f" and {len(counts) - MOST_NAMED} more" if len(counts) > MOST_NAMED else ""
    names = ", ".join(f"{name} ({count})" for name, count in counts.most_common(MOST_NAMED))
    said = "annotators=[...], judges=[...] with their names, or annotators='*' where all are people"
    if not table.in_memory:
        said = (
            "--annotators ? --judges ? with their names, --annotators '*' where all are people, or judgec init "
            f'{shlex.quote(table.path)}; annotators = ["*"] in a datasheet.toml says it for good'
        )
    return (
        f"{table.path}: column annotator names {names}{more}, and nobody said who of them is a person and who a judge; "
        f"both are needed. Type {said}."
    )


def measured_note(names: Iterable[str]) -> str:
    """Says that judges which are measured were left out."""
    return f"{listed(names)}{NO_ANNOTATOR}it is measured."


def left_out(notes: Iterable[str]) -> list[str]:
    """Those of the notes on labels that say who is no annotator."""
    return [note for note in notes if NO_ANNOTATOR in note]


def is_measured(name: str, judges: Collection[str]) -> bool:
    """True for an annotator of a judge's name, or with a column of it: ``gpt`` has ``gpt`` and ``gpt.ASPECT``."""
    return any(
        name == judge or judge.startswith(f"{name}.") or re.match(rf"{re.escape(judge)}\.\S", name) is not None
        for judge in judges
    )


def fields() -> frozenset[str]:
    """Valid values of <field> in NAME.<field> besides an aspect."""
    return frozenset({RATIONALE, *(name for spec in TASKS.values() if not spec.by_aspect for name in spec.labels)})


def unpivot(
    table: Table,
    annotators: Sequence[str],
    *,
    task: Task | None = None,
) -> Table:
    """One row per item and annotator, from one column per annotator.

    The column ``alice`` holds Alice's label: a grade; accept or reject when all annotators' columns hold only
    yes/no words; a preference where there is ``answer_a``. ``alice.<aspect>`` holds her grade of one aspect,
    ``alice.accept`` and ``alice.rationale`` what they say. An annotator who left an item blank gets no row for it.

    A file that has a row an annotator already, and no such columns, keeps the labels of these annotators.

    Raises:
        InputError: An annotator's column is missing, or the file has an ``annotator`` column as well.
    """
    if not annotators:
        return table
    annotators = rejoined(annotators, table.columns)
    columns = {name: columns_of(name, table.columns) for name in annotators}
    if "annotator" in table.columns and not any(columns.values()):
        said = set(table.column("annotator").each(_named))
        if said & set(annotators):
            return _labels_of(table, annotators)
    faults = [
        f"{table.path}:1: no column {name!r} or '{name}.<aspect>'; the columns are {listed(table.columns)}. "
        "Correct --annotators."
        for name, own in columns.items()
        if not own
    ]
    if len(set(annotators)) < len(annotators):
        faults.append(f"{table.path}:1: --annotators names {listed(annotators)}; each may appear once. Drop one.")
    if "annotator" in table.columns:
        faults.append(
            f"{table.path}:1: there is an 'annotator' column already; --annotators is for files "
            "with one column "
            "an annotator. Drop --annotators, or --map annotator=something_else."
        )
    if faults:
        raise InputError(faults)
    label, note = _label_column(table, annotators, task)
    known, prefix = fields(), (TASKS[task].prefix if task else "") or ASPECT_PREFIX
    theirs = {
        name: {column: label if field == "" else _field(field, label, known, prefix) for column, field in own.items()}
        for name, own in columns.items()
    }
    return _long(table, theirs, note)


def _labels_of(table: Table, annotators: Sequence[str]) -> Table:
    """The table without the labels of anybody else; their items stay."""
    others = Counter(n for n in table.column("annotator").each(_named) if n and n not in annotators)
    found = without_labels_of(table, others)
    if not others:
        return found
    left = ", ".join(f"{name} ({count})" for name, count in others.items())
    note = f"{others.total()} rows left out, of others than --annotators {listed(annotators)}: {left}."
    return replace(found, notes=(*found.notes, note))


def without_labels_of(table: Table, others: Collection[str]) -> Table:
    """The table without the labels of these annotators; their items stay."""
    if not others:
        return table
    label = {"annotator", *fields()}
    rows = [
        {key: row[key] for key in row if key not in label and not key.startswith(PREFIXES)}
        if _rater(row) in others
        else row
        for row in table.rows
    ]
    return replace(table, rows=tuple(rows))


def _rater(row: Row) -> str:
    return _named(row.get("annotator"))


def _named(value: object) -> str:
    return "" if is_missing(value) else as_id(value)


def rejoined(names: Sequence[str], columns: Sequence[str]) -> tuple[str, ...]:
    """Names that were split at a comma of their own, put together again: ``"Lee"``, ``"Kim"`` where there is a
    column ``"Lee, Kim"`` and none ``"Lee"``.
    """
    whole: dict[tuple[str, ...], str] = {}
    for column in columns:
        for name in (column, *(column[:at] for at, mark in enumerate(column) if mark == ".")):
            whole.setdefault(tuple(part for piece in name.split(",") if (part := piece.strip())), name)
    found: list[str] = []
    at = 0
    while at < len(names):
        ends = (end for end in range(at + 1, len(names) + 1) if tuple(names[at:end]) in whole)
        end = next(ends, None)
        found.append(names[at] if end is None else whole[tuple(names[at:end])])
        at = at + 1 if end is None else end
    return tuple(found)


def columns_of(name: str, columns: Sequence[str]) -> dict[str, str]:
    """The annotator's columns, each with the part after ``NAME.``; empty for the column ``NAME`` itself."""
    return {
        column: column[len(name) + 1 :]
        for column in columns
        if column == name or (column.startswith(f"{name}.") and len(column) > len(name) + 1)
    }


def _field(field: str, label: str, known: Collection[str], prefix: str) -> str:
    if field in known or field.startswith(PREFIXES):
        return field
    return prefix + field if label in GRADES else field


def _label_column(table: Table, annotators: Sequence[str], task: Task | None) -> tuple[str, str]:
    """The kind of the plain ``NAME`` columns, and the sentence that says so."""
    spec = told_by(table.columns) if task is None else TASKS[task]
    if spec is not None and not spec.by_aspect and spec.labels[0] not in GRADES:
        return spec.labels[0], ""
    seen: set[Grade] = {
        grade
        for name in annotators
        if name in table.columns
        for value in table.column(name).values
        if (grade := as_grade(value)) is not None
    }
    if seen and all(map(is_accept_word, seen)):
        return (
            "accept",
            f"The annotators' columns hold only {listed(sorted(map(str, seen)))}: read as accept / reject.",
        )
    return "grade", ""


def _long(table: Table, theirs: dict[str, dict[str, str]], note: str) -> Table:
    own = {column for fields in theirs.values() for column in fields}
    labels = dict.fromkeys(field for fields in theirs.values() for field in fields.values())
    said = {*GRADES, RATIONALE} if JUDGED_BY in table.columns else set[str]()  # a judge's
    shared = [name for name in table.columns if name not in {*own, *labels, *said}]
    rows: list[Row] = []
    lines: list[int] = []
    for row, line in zip(table.rows, table.lines, strict=True):
        rest = {name: row[name] for name in shared if name in row}
        before = len(rows)
        for annotator, fields in theirs.items():
            values = {field: row.get(column) for column, field in fields.items()}
            if any(as_grade(value) is not None for field, value in values.items() if field != RATIONALE):
                rows.append({**rest, "annotator": annotator, **values})
                lines.append(line)
        if len(rows) == before:  # nobody labelled it; the item stays, unlabelled
            rows.append(rest)
            lines.append(line)
    dropped = [name for name in table.columns if name in {*labels, *said} and name not in own]
    notes = [*table.notes, note] if note else list(table.notes)
    if dropped:
        notes.append(f"Column {listed(dropped)} is not used: --annotators names the labels.")
    return replace(
        table,
        columns=(*shared, "annotator", *labels),
        rows=tuple(rows),
        lines=tuple(lines),
        notes=tuple(notes),
    )
