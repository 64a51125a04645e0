"""Several annotators of a table that holds a judge's grades, too: who gave which item what."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from types import MappingProxyType

import numpy as np

from judgec.errors import InputError, UserError
from judgec.labels.rows.conversations import TURN
from judgec.labels.rows.repeats import ERROR, Repeats, SelfAgreement, graded_again, median_of, places_of
from judgec.records.counts import plural
from judgec.records.label import UNLABELLED, IntArray
from judgec.records.ratings import GradePairs
from judgec.records.scale import Scale
from judgec.records.tasks.registry import TASKS, also_called, plain
from judgec.table.rows.cells import as_id, is_missing
from judgec.table.rows.columns import JUDGED_BY, listed, renamed
from judgec.table.rows.heads import JUDGE_HEADS, machine_words, machines_among
from judgec.table.table import Row, Table, TableColumn

ANNOTATOR, ITEM, QUERIES = "annotator", "item_id", ("query_id", "query")
ASPECT = "\0aspect"  # where a table with one column an aspect has become rows: which it is of
ROW = "\0row"  # where a table with one column an annotator has become rows: the row that it was
GAME = ("query_id", "agent_a", "agent_b")  # tell a comparison where no text stands beside it
NO_ITEM = (
    "the annotators cannot be compared: no column says which rows are of one item; item_id, or the item's inputs "
    "(query, answer, ...) are needed"
)


@dataclass(frozen=True, slots=True)
class AnnotatorPanel:
    """Annotators and a judge on the same items.

    Args:
        annotators: Their names, sorted.
        by: Their grade positions, shape (n_annotators, n_items); -1 where missing.
        judge: The judge's, shape (n_items,); -1 where unscored.
        cluster: Query code of each item, or None where no column tells.
        clustered_by: That column, or ``item``.
        values: What each grade stands for; None for classes and for two grades.
        notes: What was assumed.
    """

    annotators: tuple[str, ...]
    by: IntArray
    judge: IntArray
    cluster: IntArray | None
    clustered_by: str
    values: tuple[float, ...] | None
    notes: tuple[str, ...]


def one_row_each(table: Table, annotators: Sequence[str], expert: str) -> Table | None:
    """The table with a row an item and annotator, whose label stands in ``expert``; None where it tells of nobody.

    Args:
        table: With one column an annotator, or a column ``annotator``.
        annotators: These columns; of a table with a column ``annotator`` those who are to be compared, or none: all.
        expert: The column of the labels.

    Raises:
        UserError: When a name is neither a column nor an annotator.
    """
    if not annotators:
        return table if ANNOTATOR in table.columns else None
    missing = [name for name in annotators if name not in table.columns]
    if not missing:
        rows = [
            (line, {**row, expert: row.get(name), ANNOTATOR: name, ROW: str(at)})
            for at, (line, row) in enumerate(zip(table.lines, table.rows, strict=True))
            for name in dict.fromkeys(annotators)
        ]
        columns = tuple(dict.fromkeys((*table.columns, ANNOTATOR, ROW)))
        return replace(
            table, columns=columns, rows=tuple(row for _, row in rows), lines=tuple(line for line, _ in rows)
        )
    said = set(_raters(table)) if ANNOTATOR in table.columns else set()
    if unknown := [name for name in missing if name not in said]:
        there = f"; there are {listed(table.columns)}" + (f" and annotators {listed(sorted(said))}" if said else "")
        raise UserError(f"{table.path}: --annotators {listed(unknown)}: no such column{there}. Name some of these.")
    return table.only(i for i, name in enumerate(_raters(table)) if name in annotators)


def judges_among(table: Table, named: Collection[str] = (), *, sure: bool = True) -> tuple[str, tuple[str, ...]]:
    """The column that says who graded, and which of those are judges: those named, else those who look like one.

    Args:
        table: With a row an item and whoever graded it.
        named: Judges that somebody names.
        sure: Where nobody does, leave out a column ``judge``: all that it names may be judges.

    Returns:
        Empty where there is no such column, or it names judges alone.
    """
    known = {ANNOTATOR, *also_called(ANNOTATOR)} | ({*JUDGE_HEADS} if named or not sure else set())
    for column in (name for name in table.columns if plain(name) in known):
        names = list(dict.fromkeys(as_id(value) for value in table.column(column).values if not is_missing(value)))
        found = tuple(name for name in names if name in named) if named else machines_among(names)
        if found and len(found) < len(names):
            return column, found
    return "", ()


def by_judge(table: Table, column: str) -> dict[str, Table]:
    """The rows of each judge, where another column names several whose grades stand in this one; else nothing."""
    for name in (one for one in table.columns if plain(one) in {*JUDGE_HEADS, JUDGED_BY} and one != column):
        said = table.column(name).each(lambda cell: "" if is_missing(cell) else as_id(cell))
        judges = [each for each in dict.fromkeys(said) if each]
        if len(judges) > 1 and (plain(name) == JUDGED_BY or any(map(machine_words, judges))):
            at = {each: [i for i, own in enumerate(said) if own == each] for each in judges}
            return {each: table.only(own) for each, own in at.items()}
    return {}


def judges_beside(
    table: Table, column: str, judges: Collection[str], label: str, columns: Mapping[str, str] = MappingProxyType({})
) -> Table:
    """The table with a row an item and person, and a column of each judge with what it gave that item.

    Args:
        table: With a row an item and whoever graded it.
        column: Who graded.
        judges: Which of these are judges.
        label: The grades.
        columns: judgec's names by the table's, as somebody says.

    Raises:
        UserError: No column says which rows are of one item.
    """
    said = {
        theirs: ours for theirs, ours in columns.items() if theirs in table.columns and theirs not in {column, label}
    }
    keys = _item_keys(with_inputs(renamed(table, said), {column, label}), range(len(table.rows)))
    if keys is None:
        raise UserError(f"{table.path}: {NO_ITEM}. Add one.")
    who = _raters(table, column)
    given: dict[tuple[str, object], object] = {}
    for name, key, cell in zip(who, keys, table.column(label).cells(), strict=True):
        given.setdefault((name, key), cell)
    kept = [at for at, name in enumerate(who) if name not in judges]
    beside = {judge: TableColumn.of(given.get((judge, keys[at])) for at in kept) for judge in judges}
    note = f"{listed(judges)} of column {column}: measured beside the others' grades of the same item"
    found = replace(table.only(kept).with_columns(beside, note), columns=(*table.columns, *judges))
    return renamed(found, {column: ANNOTATOR}) if column != ANNOTATOR else found


def one_row_an_aspect(table: Table, names: Sequence[str]) -> Table | None:
    """The table with a row an item and aspect, which ``ASPECT`` names, and a column for each of the graders.

    Args:
        table: With columns ``NAME.<aspect>``.
        names: The graders; None is returned where one of them has a column of its own, or they share no aspect.
    """
    by = {
        name: {column[len(name) + 1 :] for column in table.columns if column.startswith(f"{name}.")} for name in names
    }
    shared = set.intersection(*by.values()) - {""} if by else set()
    if not shared or not table.rows or {*names} & {*table.columns}:
        return None
    first = next(iter(by))
    heads = {plain(name) for ours in QUERIES for name in (ours, *also_called(ours))}
    queries = any(plain(name) in heads for name in table.columns)
    aspects = [at for column in table.columns if (at := column.removeprefix(f"{first}.")) in shared and at != column]
    gone = {f"{name}.{aspect}" for name in names for aspect in aspects}
    keys = _item_keys(with_inputs(table, gone), range(len(table.rows)))
    rows, lines = list[Row](), list[int]()
    for number, row in enumerate(table.rows):
        kept = {name: cell for name, cell in row.items() if name not in gone}
        key = number if keys is None else keys[number]
        for aspect in aspects:
            said = {name: row.get(f"{name}.{aspect}") for name in names}
            own = {} if queries else {QUERIES[0]: str(key)}  # the aspects of an answer are not independent
            rows.append({**kept, **own, **said, ITEM: f"{key} {aspect}", ASPECT: aspect})
            lines.append(table.lines[number])
    return replace(table, columns=tuple(dict.fromkeys(rows[0])), rows=tuple(rows), lines=tuple(lines))


def one_grading_each(
    table: Table,
    labels: Sequence[str],
    judged: Collection[str],
    keys: Mapping[int, object],
    *,
    scale: Scale | None = None,
    repeats: Repeats = None,
) -> Table:
    """The table without rows that grade an item again: its first row has the median of what each person gave.

    Args:
        table: With a column ``annotator`` beside one of labels, or with a column of labels a person.
        labels: These columns.
        judged: Columns of the judge; where they say several things of an item, all rows stay.
        keys: The item of each row that may be one of several.
        scale: Of the labels, where somebody has said it.
        repeats: What becomes of such items; None: the median of those who are named, who else may be several.

    Raises:
        InputError: There are some, and they are to be an error.
    """
    if len(set(keys.values())) == len(keys):
        return table
    apart = ANNOTATOR in table.columns and len(labels) == 1  # a row an item and person
    names, unnamed = _raters(table), table.column(ANNOTATOR).missing
    by: dict[tuple[object, str], list[int]] = {}
    rows: dict[object, list[int]] = {}
    for label in labels:
        for at in np.flatnonzero(~table.column(label).missing).tolist():
            who = names[at] if apart else label
            if at in keys and (not apart or repeats is not None or not unnamed[at]):
                by.setdefault((keys[at], who), []).append(at)
                rows.setdefault((keys[at], who) if apart else keys[at], []).append(at)
    several = {key: sorted({*at}) for key, at in rows.items() if len({*at}) > 1}
    judgments = [table.column(name).cells() for name in judged]
    said = [{str(one[at]) for at in own} for own in several.values() for one in judgments]
    if not several or any(len(different) > 1 for different in said):
        return table
    again = {who: own for who, own in by.items() if len(own) > 1}
    if again and repeats == ERROR:
        (_, who), own = next(iter(again.items()))
        seen = f"{table.where(own[1])}: annotator {who} grades an item again, first at {table.where(own[0])}"
        raise InputError([f"{seen}; one grade an item and annotator is valid. Delete one, or drop --repeats error."])
    cells = {label: table.column(label).cells() for label in labels}
    settled = {label: [*own] for label, own in cells.items()}
    given = {(key, who): [cells[labels[0] if apart else who][at] for at in own] for (key, who), own in by.items()}
    places = places_of((cell for each in again for cell in given[each]), scale)
    found: dict[str, SelfAgreement] = {}
    for (key, who), gradings in given.items():
        first, *others = texts = [*map(str, gradings)]
        if (to := several.get((key, who) if apart else key)) is not None:
            by_text = dict(zip(texts, gradings, strict=True))
            settled[labels[0] if apart else who][to[0]] = by_text[median_of(texts, places)]
        if others:
            before = found.get(who, SelfAgreement(who, 0, 0))
            found[who] = SelfAgreement(who, before.n + len(others), before.same + others.count(first))
    gone = {at for own in several.values() for at in own[1:]}
    count = sum(one.n for one in found.values())
    note = f"{listed(labels)}: {graded_again(count)}: "
    note += "; ".join(found[who].note() for who in sorted(found))
    made = {label: TableColumn.of(cells) for label, cells in settled.items()}
    return table.with_columns(made, *([note] if found else [])).only(
        at for at in range(len(table.rows)) if at not in gone
    )


def item_keys(table: Table, taken: Collection[str]) -> dict[int, object]:
    """Keys that tell the items of a table's rows apart; nothing where no column does.

    Args:
        table: As read.
        taken: Columns that tell no item.
    """
    rows = range(len(table.rows))
    return dict(zip(rows, _item_keys(with_inputs(table, taken), rows) or (), strict=False))


def one_row_an_item(
    table: Table, label: str, judged: Collection[str], taken: Collection[str] = ()
) -> tuple[Table, tuple[str, ...]] | None:
    """The table with a row an item and a column of labels a person, and these columns; None where it cannot be told.

    A table with a row an item and person is then read as one with a column each. Where all labels of an item are the
    same, as of a label that was settled on, one column holds them.

    Args:
        table: With a column ``annotator``.
        label: The column of the labels.
        judged: Columns of the judge, which say one thing of an item.
        taken: Further columns that tell no item.
    """
    graded = np.flatnonzero(~table.column(label).missing).tolist()
    keys = _item_keys(with_inputs(table, {ANNOTATOR, label, *judged, *taken}), graded)
    if keys is None:
        return None
    names, judgments = _raters(table), [table.column(name).cells() for name in judged]
    cells = table.column(label).cells()
    people = tuple(sorted({names[at] for at in graded}))
    own = {name: name if name not in table.columns else f"{name} of {label}" for name in people}
    items: dict[object, int] = {}
    labels: dict[int, dict[str, object]] = {}
    for at, key in zip(graded, keys, strict=True):
        first = items.setdefault(key, at)
        said = labels.setdefault(first, {})
        if own[names[at]] in said or any(one[at] != one[first] for one in judgments):
            return None  # an item that its columns do not tell from another one
        said[own[names[at]]] = cells[at]
    if len(items) == len(graded):
        return None
    if all(len(set(map(str, said.values()))) == 1 for said in labels.values()):
        return table.only(labels), (label,)
    seen = f"{label}: {plural(len(graded), 'label')} of {plural(len(items), 'item')}"
    note = f"{seen}: what the annotators of an item agree on is compared"
    theirs = {name: TableColumn.of(said.get(name) for said in labels.values()) for name in own.values()}
    found = table.only(labels).with_columns(theirs, note)
    return replace(found, columns=(*table.columns, *theirs)), tuple(theirs)


def panel_of(
    table: Table, rows: Sequence[int], ratings: GradePairs, *, nominal: bool, cluster: str | None
) -> AnnotatorPanel | str:
    """The annotators of ``one_row_each``'s table, or why they cannot be compared.

    Args:
        table: As ``one_row_each`` gives it.
        rows: Positions of the rows with a label.
        ratings: Label and judgment of each of these.
        nominal: The grades are classes.
        cluster: Column that groups items; by default ``query_id``, else ``query``.
    """
    keys = _item_keys(with_inputs(table, {ANNOTATOR}), rows)
    if keys is None:
        return NO_ITEM
    item: dict[object, int] = {}
    at = [item.setdefault(key, len(item)) for key in keys]
    every = _raters(table)
    names = [every[i] for i in rows]
    annotators = tuple(sorted(set(names)))
    place = {name: number for number, name in enumerate(annotators)}
    by = np.full((len(annotators), len(item)), UNLABELLED, dtype=np.int64)
    judge = np.full(len(item), UNLABELLED, dtype=np.int64)
    column = cluster or next((name for name in QUERIES if name in table.columns), None)
    groups = table.column(column or "").cells()
    queries: dict[object, int] = {}
    code, first = np.zeros(len(item), dtype=np.int64), np.full(len(item), True)
    twice = differ = 0
    for row, name, i, own, said in zip(rows, names, at, ratings.expert, ratings.judge, strict=True):
        if first[i]:
            first[i], judge[i] = False, said
            group = groups[row]
            code[i] = queries.setdefault((i,) if is_missing(group) else as_id(group), len(queries))
        differ += said != judge[i]
        twice += by[place[name], i] != UNLABELLED
        if by[place[name], i] == UNLABELLED:
            by[place[name], i] = own
    notes = [
        f"annotators: {plural(count, f'row {one}', f'rows {many}')}: the first counts"
        for count, one, many in (
            (twice, "repeats an annotator's label of an item", "repeat an annotator's label of an item"),
            (differ, "judges an item otherwise", "judge an item otherwise"),
        )
        if count
    ]
    return AnnotatorPanel(
        annotators=annotators,
        by=by,
        judge=judge,
        cluster=None if column is None else code,
        clustered_by=column or "item",
        values=None if nominal or ratings.n_grades == 2 else ratings.values,
        notes=tuple(notes),
    )


def with_inputs(table: Table, taken: Collection[str]) -> Table:
    """The table with judgec's names of the columns that tell items apart, where these have other heads."""
    inputs = {name for spec in TASKS.values() for name in spec.inputs} | {"agent", ITEM}
    ours = {name: ours for ours in inputs for name in table.columns if plain(name) in {ours, *also_called(ours)}}
    free = {theirs: name for theirs, name in ours.items() if name not in table.columns and theirs not in taken}
    first = {name: theirs for theirs, name in reversed(free.items())}
    return renamed(table, {theirs: name for name, theirs in first.items()})


def _item_keys(table: Table, rows: Sequence[int]) -> list[object] | None:
    """Keys that tell items apart: the row they came from, their id, or else their inputs; None where nothing does."""
    if ROW in table.columns:
        whole = table.column(ROW).cells()
        return [whole[i] for i in rows]
    inputs = {name for spec in TASKS.values() for name in spec.inputs} | {"agent"}
    known = [name for name in table.columns if name in inputs]
    if ITEM not in table.columns and not {*known} - {*GAME, TURN}:  # games as MT-Bench lists them
        games = {plain(name) for ours in GAME for name in (ours, *also_called(ours))}
        known = [name for name in table.columns if plain(name) in games]
        if len(known) < len(GAME):
            return None
    known += [TURN] if TURN in table.columns and TURN not in known else []
    return [
        repr([str(row.get(name)) for name in known]) if is_missing(row.get(ITEM)) else as_id(row[ITEM])
        for row in table.some(rows)
    ]


def _raters(table: Table, column: str = ANNOTATOR) -> list[str]:
    """Annotator of each row."""
    return table.column(column).each(lambda name: "expert" if is_missing(name) else as_id(name))
