"""Label files to a ``LabelSet``, and item files to items.

Every fault of a file is collected and raised together, each with its line.
"""

import hashlib
import shlex
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from json.encoder import encode_basestring
from operator import itemgetter

import numpy as np

from judgec.errors import InputError, UserError
from judgec.labels.contradictions import require_no_one_against
from judgec.labels.reading import NOTHING_SAID, Datasheet, Reading, read_datasheet
from judgec.labels.rows.conversations import holding, require_labelled_turns, with_turns
from judgec.labels.rows.grades import NO_END, RawLabels, one_class, position_of, raw_labels, settle_scale
from judgec.labels.rows.ids_alone import task_of_ids, with_ids_apart, with_ids_for_texts
from judgec.labels.rows.items import Collected, collect_items, digest, encoded, item_digest
from judgec.labels.rows.judged import ORDER, cells_in, verdicts_in, without_judges
from judgec.labels.rows.label_cells import (
    with_label_cells,
    with_sides_of_agents,
    with_words_of_graders,
    without_rows_apart,
)
from judgec.labels.rows.modes import with_modes
from judgec.labels.rows.question_sets import TASK as QUESTION_SET
from judgec.labels.rows.question_sets import as_pairs, is_question_set, with_verdicts
from judgec.labels.rows.raters import (
    RATIONALE,
    columns_of,
    is_measured,
    measured_note,
    people_of,
    rejoined,
    unpivot,
    without_labels_of,
)
from judgec.labels.rows.repeats import ERROR, GRADED_AT, MEDIAN, SelfAgreement, graded_again, once, times_of
from judgec.records.conversation import EACH, TurnChoice
from judgec.records.counts import plural
from judgec.records.label import Item, Label, LabelSet, Task
from judgec.records.scale import ACCEPT_SCALE, Grade, Scale
from judgec.records.tasks.registry import TASKS, as_task, compares
from judgec.table.rows.cells import as_id, is_missing
from judgec.table.rows.columns import (
    JUDGED,
    JUDGED_BY,
    MODES_LIST,
    infer_task,
    label_columns,
    listed,
    renamed,
    require_columns,
    task_of_labels,
    without_texts,
)
from judgec.table.table import Table
from judgec.table.tables import TableSource, read_table

Graded = tuple[tuple[str, Grade], ...]  # by aspect
DEFAULT_ANNOTATOR = "expert"
UNREAD_LISTS = "Printed lists that are cut or broken are read as one text each, in {}; JSON lists are sure."
NOT_READ = "Columns that nobody reads: "  # begins a note
BESIDE = ("query_id", "item_id", "agent", "group", RATIONALE, "annotator", GRADED_AT)  # read, and no input and no label
MOST_NAMED = 12  # columns in a note
FEW_ITEMS = 30  # below this no split leaves enough to test on

__all__ = [
    "ItemFile",
    "LabelFile",
    "item_digest",
    "label_file",
    "read_item_file",
    "read_label_file",
    "read_labels",
]


@dataclass(frozen=True, slots=True)
class LabelFile:
    """A label set and what was counted while reading it.

    Args:
        labels: The set.
        rows: Rows in the file (with one column per annotator: items).
        empty_answers: Labelled rows whose answer or document is missing, read as empty.
        not_text: Input cells that were not text and became text.
        unlabelled: Items that nobody labelled; they stay in the set.
        scale_inferred: True when nobody declared the scale: it is the task's own.
        repeats: Of those who graded an item again, how often they gave the same.
        cells: Of the columns that were ``kept``, by item.
    """

    labels: LabelSet
    rows: int
    empty_answers: int
    not_text: int
    unlabelled: int
    scale_inferred: bool
    repeats: tuple[SelfAgreement, ...] = ()
    cells: Mapping[str, Mapping[str, object]] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class ItemFile:
    """Items, the rows they came from, and what was mended.

    Args:
        items: One an item, in the order of their first rows.
        rows: How many rows there are.
        notes: What was mended, one sentence each.
        table: The rows, under the file's own names of columns.
        item_of: Position of each row's item.
        rename: judgec's names of the columns by theirs: those that were said, and those that their heads say.
    """

    items: tuple[Item, ...]
    rows: int
    notes: tuple[str, ...]
    table: Table
    item_of: tuple[int, ...]
    rename: Mapping[str, str] = field(default_factory=dict)


def read_labels(path: str, reading: Reading = NOTHING_SAID) -> LabelSet:
    """Read a label file; as ``read_label_file``."""
    return read_label_file(path, reading).labels


def read_label_file(path: str, reading: Reading = NOTHING_SAID, *, texts: bool = True) -> LabelFile:
    """Read a label file of any format, with its datasheet.

    Args:
        path: A file, a folder, or ``hf:owner/name@split``.
        reading: How it is read; it goes before the datasheet.
        texts: What was graded is needed; else labels may stand beside ids alone.

    Raises:
        InputError: All faults of the file: missing columns, grades off the scale, duplicates, no labels, and
            whatever ``read_table`` raises.
        UserError: ``accept_at`` off the scale.
    """
    table = read_table(path, reading.columns, missing=reading.missing)
    return label_file(table, read_datasheet(path), reading, texts=texts)


def label_file(
    file: Table,
    sheet: Datasheet,
    reading: Reading = NOTHING_SAID,
    usual: TurnChoice | None = None,
    *,
    texts: bool = True,
    kept: Collection[str] = (),
) -> LabelFile:
    """Make a label set of a table, wherever its rows come from.

    Args:
        file: The table.
        sheet: Its datasheet.
        reading: How it is read; it goes before the datasheet.
        usual: What of a conversation is judged where the reading does not say.
        texts: As ``read_label_file``; where none is needed, words are classes.
        kept: Further columns of which the cells are wanted.

    Raises:
        InputError, UserError: As ``read_label_file``.
    """
    how = reading.over(sheet)
    if reading.best is not None and reading.scale is None:
        how = how.model_copy(update={"scale": None})  # what is typed goes first
    if not how.named:
        _require_people(file, how.columns, how.judges)
    table = renamed(file, how.columns)
    if not texts and how.judges and not holding(table.columns):  # their verdicts say that a row is an item
        table = with_ids_for_texts(table, how.task, how.annotators, how.words)
    bare = without_texts(table)
    if bare and texts:
        seen = f"{file.path}:1: no texts beside the labels; the columns are {listed(table.columns)}"
        asks = "Only judgec labels and agreement need none: add what was asked and answered by item_id, or name it"
        raise UserError(f"{seen}. {asks} with --map THEIRS=query --map THEIRS=answer.")
    if bare:
        how = how.model_copy(update={"task": how.task or task_of_ids(table, how.named, how.words)})
    return _label_file(table, how, usual, kept, texts=texts)


def _label_file(
    file: Table, how: Datasheet, usual: TurnChoice | None, kept: Collection[str], *, texts: bool
) -> LabelFile:
    """A label set of a table under judgec's names."""
    before, shaped, known = _shaped(file, how, usual)
    table = replace(shaped, notes=(*shaped.notes, *_not_read(shaped, known, kept)))
    if texts or not without_texts(table):
        require_columns(table, known, labelled=True)
    if compares(known):
        table = with_sides_of_agents(table, TASKS[known].labels, how.words)
    collected = collect_items(table, known)
    raw = raw_labels(table, known, how.scale, how.round, how.words)
    _require_labels(table, raw)
    earlier = [*collected.faults, *raw.faults]
    theirs = {ours: name for name, ours in how.columns.items()}
    wide = "annotator" in table.columns and "annotator" not in before.columns
    columns = {} if wide else {theirs.get(name, name): name for name in raw.columns.values()}
    try:
        scale, accept_only, assumed = settle_scale(
            table, known, raw, how.scale, how.accept_at, how.best, columns=columns, classes=not texts
        )
    except InputError as error:
        raise InputError([*_in_line_order(earlier), *error.faults]) from error
    aspects = ("grade",) if accept_only else raw.aspects
    if scale.interval:
        scale = scale.with_values(_values_in(raw, collected))
    scale = scale if accept_only else how.told(scale, how.path)
    if unused := sorted({name for name in how.aspects if name.casefold() not in map(str.casefold, aspects)}):
        assumed.append(f"{how.path} describes {', '.join(unused)}; the labels have {', '.join(aspects)}.")
    given, faults = _labels(table, collected, raw, scale, how, accept_only=accept_only)
    if earlier or faults:
        raise InputError(_in_line_order([*earlier, *faults]))
    times = times_of(table)
    when = None if times is None else [one for one, row in zip(times, raw.rows, strict=True) if row is not None]
    labels, again = once(given, when, ordered=scale.level != "nominal")
    unlabelled = len(collected.items) - len({label.item_id for label in labels})
    counts = _counts(collected, raw, unlabelled, aspects, labels)
    found = LabelSet(
        task=known,
        scale=scale,
        aspects=aspects,
        items=collected.items,
        labels=labels,
        accept_only=accept_only,
        digest=_digest(collected.items, labels, scale),
        source=how.source,
        instructions=how.instructions,
        notes=(*table.notes, *raw.notes, *assumed, *counts, *_again(again, latest=when is not None)),
        judged=verdicts_in(before, how.judges, known, aspects) if how.judges else {},
    )
    require_no_one_against(found, file.path, how.checked)
    return LabelFile(
        labels=found,
        rows=len(file.rows),
        empty_answers=collected.empty,
        not_text=collected.not_text,
        unlabelled=unlabelled,
        scale_inferred=how.scale is None and how.best is None and not accept_only and not TASKS[known].settled,
        repeats=again,
        cells=cells_in(before, kept, known) if kept else {},
    )


def _again(repeats: Sequence[SelfAgreement], *, latest: bool) -> list[str]:
    """The note on items that somebody graded again."""
    said = "; ".join(one.note() for one in repeats[:MOST_NAMED])
    more = f"; {len(repeats) - MOST_NAMED} more did so" if len(repeats) > MOST_NAMED else ""
    count = sum(one.n for one in repeats)
    what = f"{graded_again(count, latest=latest)} (--repeats error refuses such items)"
    return [f"{what}: {said}{more}."] if repeats else []


def _shaped(file: Table, how: Datasheet, usual: TurnChoice | None) -> tuple[Table, Table, Task]:
    """The table with our columns; the same with one row per item and annotator and without judges; and its task."""
    known = None if how.task is None else as_task(how.task)
    before = with_ids_apart(with_turns(file, how.turn, usual))
    before = with_words_of_graders(before, how.winner_words, label_columns(before.columns, known or "preference"))
    before = _with_reasons_of(before, how.reasons)
    table = without_judges(before, how.judges)
    own = [name for name in before.columns if name not in table.columns and _is_label(name)]
    if own and not how.named and not any(map(_is_label, table.columns)):
        raise UserError(
            f"{file.path}: --judges {listed(own)}: the column of the labels, too; a judge cannot be measured against "
            "itself. Name another column, or the people's with --annotators A,B."
        )
    known = task_of_labels(known, table.columns)
    table = with_modes(table, known, how.aspects)
    if EACH in (how.turn, usual) and not how.named:
        require_labelled_turns(table)
    if generated := is_question_set(table, known):
        before, table, known = as_pairs(before), as_pairs(table), QUESTION_SET
    people = people_of(table, how.annotators, how.judges)
    table = without_labels_of(table, people.others)
    labels = _label_columns(table, known, people.annotators)
    table = without_rows_apart(table, known, labels, how.scale, how.words, whole=how.best not in (None, NO_END))
    table = with_label_cells(table, labels, how.scale, how.words)
    table = unpivot(table, people.annotators, task=known)
    table = with_verdicts(table) if generated else table
    notes = [*table.notes, *people.notes, *how.notes]
    if known is None:
        known, note = infer_task(table)
        notes.append(note)
    return before, replace(table, notes=tuple(notes)), known


def _with_reasons_of(table: Table, reasons: Mapping[str, str]) -> Table:
    """The table with the reasons of single graders as ``NAME.rationale``, and in the rows of a name as ``rationale``.

    Raises:
        InputError: A column that is not there.
    """
    table = renamed(table, {column: f"{name}.{RATIONALE}" for column, name in reasons.items()})
    who = table.column("annotator").each(lambda cell: "" if is_missing(cell) else as_id(cell))
    own = {f"{name}.{RATIONALE}": name for name in {*who} - {""} if f"{name}.{RATIONALE}" in table.columns}
    if not own:
        return table
    theirs = {name: column for column, name in own.items()}
    rows = tuple(
        {key: cell for key, cell in row.items() if key not in own}
        | ({RATIONALE: row.get(theirs[name])} if name in theirs else {})
        for row, name in zip(table.rows, who, strict=True)
    )
    columns = dict.fromkeys([*(name for name in table.columns if name not in own), RATIONALE])
    return replace(table, columns=tuple(columns), rows=rows)


def _require_people(file: Table, rename: Mapping[str, str], judges: Collection[str]) -> None:
    """Refuse what ``judgec judge`` wrote: its grades stand without the prefix where the rows had none of people.

    Raises:
        UserError: The labels that would be read are a judge's.
    """
    if JUDGED_BY not in file.columns or JUDGED_BY in rename:
        return
    own = [one for one in file.columns if one not in rename and one.partition(".")[0] in JUDGED]
    own = [one for one in own if not is_measured(one, judges)]
    said = list(dict.fromkeys(filter(None, map(as_id, file.column(JUDGED_BY).given()))))
    if own and said:
        seen = f"{file.path}:1: {listed(own)} hold what {listed(said)} said (column {JUDGED_BY}), no person's labels"
        advice = f"Grade the rows with judgec labels review {shlex.quote(file.path)}, or name who graded: --annotators"
        raise UserError(f"{seen}; labels of people are needed. {advice} A,B,...")


def _not_read(table: Table, task: Task, kept: Collection[str]) -> list[str]:
    """A note on the columns that nobody reads."""
    if task == QUESTION_SET:
        return []
    spec = TASKS[task]
    read = {*spec.inputs, *label_columns(table.columns, task), *BESIDE, *holding(table.columns), *kept}
    read |= {ORDER} if compares(task) else set()
    left = [name for name in table.columns if name not in read]
    more = f" and {len(left) - MOST_NAMED} more" if len(left) > MOST_NAMED else ""
    advice = "--map THEIRS=OURS says what one is."
    return [f"{NOT_READ}{listed(left[:MOST_NAMED])}{more}; {advice}"] if left else []


def people_only(labels: LabelSet, judges: Collection[str]) -> LabelSet:
    """Labels that were read already, without those of judges that are to be measured against them.

    Raises:
        UserError: Nobody else labelled anything.
    """
    out = {name for name in {label.annotator for label in labels.labels} if is_measured(name, judges)}
    kept = tuple(label for label in labels.labels if label.annotator not in out)
    if not out:
        return labels
    if not kept:
        who = listed(sorted(out))
        raise UserError(f"labels: all are by {who}, the judge that is measured; labels of people are needed. Add some.")
    known = _digest(labels.items, kept, labels.scale)
    return replace(labels, labels=kept, digest=known, notes=(*labels.notes, measured_note(sorted(out))))


def _is_label(name: str) -> bool:
    """True for a column that holds labels of some task."""
    return name == MODES_LIST or any(label_columns([name], task) for task in TASKS)


def _label_columns(table: Table, task: Task | None, annotators: Sequence[str]) -> list[str]:
    """The columns that hold labels, those of one annotator each among them."""
    tasks = TASKS if task is None else (task,)
    raters = [columns_of(name, table.columns) for name in rejoined(annotators, table.columns)]
    theirs = [column for own in raters for column, what in own.items() if what != RATIONALE]
    return [*(name for one in tasks for name in label_columns(table.columns, one)), *theirs]


def read_item_file(
    source: TableSource,
    *,
    task: str,
    rename: Mapping[str, str] | None = None,
    turn: TurnChoice | None = None,
    usual: TurnChoice | None = None,
) -> ItemFile:
    """Read the items of a file, labelled or not; rows of one item (several annotators) become one.

    Columns that the task does not read are ignored.
    With ``each`` turn of a conversation an item, or where rows that are no conversations are left out, the rows of the
    result are those that are judged, under judgec's names.

    Raises:
        InputError: A missing column or query, one item_id with different inputs, what ``read_table`` raises.
        UserError: An unknown task.
    """
    known = as_task(task)
    file = source if isinstance(source, Table) else read_table(source, rename or ())
    rename = dict(rename or {})
    table = with_turns(renamed(file, rename), turn, usual)
    if turn == EACH or len(table.rows) < len(file.rows):  # rows of the file that are no conversations are left out
        file, rename = table, {}
    require_columns(table, known, labelled=False)
    collected = collect_items(table, known)
    if collected.faults:
        raise InputError([sentence for _, sentence in collected.faults])
    repeated = len(table.rows) - len(collected.items)
    sentences = {
        f"{plural(repeated, 'row repeats an item and is', 'rows repeat an item and are')} judged once.": repeated,
        f"{plural(collected.empty, 'row')} without an answer: judged as empty answers.": collected.empty,
        f"{plural(collected.not_text, 'input cell')} that held no text became text.": collected.not_text,
        UNREAD_LISTS.format(plural(collected.unread, "cell")): collected.unread,
    }
    notes = (*table.notes, *(sentence for sentence, count in sentences.items() if count))
    return ItemFile(collected.items, len(table.rows), notes, file, collected.item_of, rename)


def _labels(
    table: Table,
    collected: Collected,
    raw: RawLabels,
    scale: Scale,
    how: Datasheet,
    *,
    accept_only: bool,
) -> tuple[tuple[Label, ...], list[tuple[int, str]]]:
    """Labels in file order, and the faults: grades off the scale, items graded again by nobody knows whom."""
    labels: list[Label] = []
    faults: list[tuple[int, str]] = []
    remedy = "declare another scale in a datasheet"
    if how.scale is not None:  # without a path it is a judge's
        remedy = f"change 'grades' in {how.path}" if how.path else "name a judge of their scale"
    if raw.means:
        remedy = f"add --round nearest, as {raw.means}"
    different: dict[Graded, tuple[dict[str, int], list[tuple[str, Grade]]]] = {}
    accepted = {said: {"grade": ACCEPT_SCALE.position(int(said))} for said in (True, False)} if accept_only else {}
    unnamed = table.column("annotator").missing.tolist()
    names = table.column("annotator").each(lambda cell: DEFAULT_ANNOTATOR if is_missing(cell) else as_id(cell))
    first_row = _first_rows(collected, raw, names)
    for index, (item, label) in enumerate(zip(collected.item_of, raw.rows, strict=True)):
        if label is None:
            continue
        key = tuple(label.grades.items())
        if key not in different:
            places = {aspect: place for aspect, grade in key if (place := position_of(grade, scale)) is not None}
            different[key] = places, [(aspect, grade) for aspect, grade in key if aspect not in places]
        places, off = different[key]
        for aspect, grade in off:
            ends = f"any number from {scale.grades[0]} to {scale.grades[-1]}"
            valid = ends if scale.interval else listed(scale.grades)
            seen = f"{raw.columns[aspect]} {grade} is not on scale {scale.name} ({valid})"
            faults.append((index, f"{table.where(index)}: {seen}. Fix the row, or {remedy}."))
        if item < 0:
            continue
        item_id, name, first = collected.items[item].item_id, names[index], first_row[index]
        if first != index and (how.repeats == ERROR or (how.repeats != MEDIAN and unnamed[index])):
            seen = f"annotator {name} labels item {item_id} again, first at {table.where(first)}"
            advice = "Delete one, or tell the annotators apart in a column 'annotator'"
            advice += "." if how.repeats else ", or add --repeats median where one person graded all."
            seen = f"{table.where(index)}: {seen}; one label an item and annotator is valid"
            faults.append((index, f"{seen}. {advice}"))
        grades = accepted[label.accept] if accept_only and label.accept is not None else places
        labels.append(Label(item_id, name, grades, label.accept, label.rationale, table.lines[index]))
    return tuple(labels), faults


def _values_in(raw: RawLabels, collected: Collected) -> list[float]:
    """The numbers of these labels, and of each item and aspect the mean of its annotators."""
    given: dict[tuple[int, str], list[float]] = {}
    for item, label in zip(collected.item_of, raw.rows, strict=True):
        for aspect, grade in label.grades.items() if label else ():
            if not isinstance(grade, str):
                given.setdefault((item, aspect), []).append(float(grade))
    return [one for each in given.values() for one in (*each, sum(each) / len(each))]


def _first_rows(collected: Collected, raw: RawLabels, names: Sequence[str]) -> list[int]:
    """The row of the first label of each row's item and annotator."""
    number: dict[str, int] = {}
    who = np.array([number.setdefault(name, len(number)) for name in names], dtype=np.int64)
    pair = np.array(collected.item_of, dtype=np.int64) * max(1, len(number)) + who
    labelled = np.flatnonzero([label is not None for label in raw.rows])
    _, first, which = np.unique(pair[labelled], return_index=True, return_inverse=True)
    found = np.arange(len(names))
    found[labelled] = labelled[first][which]
    return found.tolist()


def _in_line_order(faults: Sequence[tuple[int, str]]) -> list[str]:
    return [sentence for _, sentence in sorted(faults, key=itemgetter(0))]


def _require_labels(table: Table, raw: RawLabels) -> None:
    if not any(raw.rows):
        fault = f"no row of {len(raw.rows)} has a label; at least two labels are needed"
        raise InputError(
            [sentence for _, sentence in raw.faults]
            or [f"{table.where(0)}: {fault}. Fill in the label column, or name another with --map."]
        )
    labelled = [label for label in raw.rows if label is not None]
    empty = [aspect for aspect in raw.aspects if not any(aspect in label.grades for label in labelled)]
    if len(raw.aspects) > 1 and empty:
        raise InputError(
            [
                f"{table.path}:1: column {raw.columns[aspect]} has no grade in {len(raw.rows)} "
                "rows; every aspect "
                "needs some. Fill it in, or delete the column."
                for aspect in empty
            ]
        )


def require_two_classes(labels: LabelSet, path: str) -> None:
    """Refuse labels that are all alike: no judge can be told from a constant.

    Raises:
        InputError: They are.
    """
    grades = {position for label in labels.labels for position in label.grades.values()}
    accepts = {label.accept for label in labels.labels if label.accept is not None}
    if len(grades) == 1 and len(accepts) < 2:
        count = sum(len(label.grades) for label in labels.labels)
        raise InputError([one_class(path, labels.scale.grades[grades.pop()], count)])


def _counts(
    collected: Collected, raw: RawLabels, unlabelled: int, aspects: Sequence[str], labels: Sequence[Label]
) -> list[str]:
    """One sentence for each thing that was mended or is worth knowing."""
    items = len(collected.items)
    blank_rows = sum(label is None for label in raw.rows)
    partial = sum(len(label.grades) < len(aspects) for label in labels) if len(aspects) > 1 else 0
    first: dict[object, str] = {}
    spread = len(
        {q for one in collected.items if first.setdefault(q := one.text("query"), one.query_id) != one.query_id and q}
    )
    without = plural(unlabelled, "item has none", "items have none")
    sentences = {
        "Labels by ids, without texts: languages, duplicates and what a judge needs are not known.": not any(
            one.inputs for one in collected.items
        ),
        f"{plural(collected.empty, 'row')} without an answer: read as empty answers.": collected.empty,
        f"{plural(collected.not_text, 'input cell')} that held no text became text.": collected.not_text,
        UNREAD_LISTS.format(plural(collected.unread, "cell")): collected.unread,
        f"{plural(blank_rows, 'row has', 'rows have')} no label; {without} at all.": blank_rows,
        f"{plural(partial, 'label leaves', 'labels leave')} an aspect blank.": partial,
        f"{plural(collected.regrouped, 'row names', 'rows name')} another agent, group or query_id than the first row "
        "of the same item, which counts.": collected.regrouped,
        f"{plural(spread, 'query text')} with several query_ids can fall into different splits.": spread,
        f"Only {plural(items, 'item')}: under {FEW_ITEMS}, too few to prove a judge; intervals will be wide.": items
        < FEW_ITEMS,
    }
    return [sentence for sentence, applies in sentences.items() if applies]


def _digest(items: Sequence[Item], labels: Sequence[Label], scale: Scale) -> str:
    grades: dict[tuple[tuple[str, int], ...], str] = {}

    def label_digest(label: Label) -> str:
        key = tuple(label.grades.items())
        if key not in grades:
            grades[key] = encoded({aspect: scale.values[position] for aspect, position in key})
        accept = "null" if label.accept is None else "true" if label.accept else "false"
        texts = encode_basestring(label.item_id), encode_basestring(label.annotator)
        what = f"[{','.join(texts)},{grades[key]},{accept},{encode_basestring(label.rationale)}]"
        return hashlib.sha256(what.encode()).hexdigest()

    return digest([sorted(map(item_digest, items)), sorted(map(label_digest, labels))])
