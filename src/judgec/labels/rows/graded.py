"""A table that holds both the experts' and a judge's grades: what ``judgec agreement`` reads."""

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from judgec.errors import InputError, UserError
from judgec.labels.experts import consensus_of
from judgec.labels.rows.grades import position_of
from judgec.labels.rows.items import collect_items
from judgec.labels.rows.label_cells import with_label_cells, with_sides_of_agents, without_strays
from judgec.labels.rows.means import looks_like_means, nearest_grades
from judgec.labels.rows.panel import (
    ANNOTATOR,
    ITEM,
    QUERIES,
    AnnotatorPanel,
    item_keys,
    one_grading_each,
    one_row_an_item,
    one_row_each,
    panel_of,
    with_inputs,
)
from judgec.labels.rows.ranges import MARK, Range, other_range, usual_range, with_range
from judgec.labels.rows.raters import annotator_column, is_measured, people_of, with_gradings
from judgec.labels.rows.repeats import Repeats
from judgec.records.counts import plural
from judgec.records.judgment import UNSCORED
from judgec.records.label import UNLABELLED, FloatArray, IntArray
from judgec.records.ratings import GradePairs, people_mean
from judgec.records.scale import Grade, Scale
from judgec.records.tasks.registry import TASKS, also_called, plain
from judgec.records.tasks.winners import UNSCORED as UNDECIDED
from judgec.records.tasks.winners import unknown_words, winner_of
from judgec.table.ladders import ACCEPTED, in_order, number_of, rank_of
from judgec.table.rows.cells import as_accept, as_grade, as_id, as_text, is_missing
from judgec.table.rows.columns import listed, missing_columns, renamed
from judgec.table.table import Row, Table

VRAG_GRADES = {1.0, 2.0, 3.0, 4.0, 5.0}  # vRAG-Eval's scale, whose threshold is known
VRAG_ACCEPT_AT = 4.0
EMPTY = {"", "nan", "none", "null", "na", "n/a"}
JUDGED_COLUMN = re.compile(r"(.*?)(stated_confidence|grade|score|accept|confidence)(\..*)?")  # of ``judgec judge``
AGENT = "agent"
LEARNED = "learned"  # the column of rows whose queries the judge has learned from
MOST_GRADES = 101  # 0-100; more different values are a measurement, not a scale
TOPS = frozenset({3.0, 4.0, 5.0, 7.0, 10.0})  # of scales that begin at 1, though nobody gave a 1
BINARY = 2
NUMBER = re.compile(r"[-+]?[\d.]+")

Cell = float | str | None
"""A grade as a number, a class as text, or None when the cell is empty."""


@dataclass(frozen=True, slots=True)
class Graded:
    """The pairs of a table.

    Args:
        ratings: Rows that an expert graded, beside their consensus where there are several.
        nominal: The grades are words without an order.
        notes: What reading assumed.
        learned: How many rows the judge has learned from, or None where no column says so.
        out_of_fold: For how many of these stand judgments from before it learned from them.
        rows: Positions of the rows that an expert graded.
        panel: The annotators of these rows, why they cannot be compared, or None where the table names nobody.
        no_grades: Why the judge's numbers are scores of which no grade is made, or empty.
        ceiling: Each of several experts beside the consensus of the others.
        beside: The judge beside the same consensuses, expert by expert.
        expert: The columns of the labels.
        people: Grade positions of each expert on these rows, -1 where missing; none where grades have no order.
        cells: Of these rows, by what each column of ``ComparedColumns.kept`` is.
    """

    ratings: GradePairs
    nominal: bool
    notes: tuple[str, ...]
    learned: int | None = None
    out_of_fold: int = 0
    rows: tuple[int, ...] = ()
    panel: AnnotatorPanel | str | None = None
    no_grades: str = ""
    ceiling: tuple[GradePairs, ...] = ()
    beside: tuple[GradePairs, ...] = ()
    expert: str = ""
    people: Mapping[str, IntArray] = field(default_factory=dict)
    cells: Mapping[str, tuple[object, ...]] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class StandIns:
    """Rows with judgments from before the judge learned from them.

    Args:
        judge: ``NAME@VERSION``, or empty where the file does not say.
        rows: Such rows by their position.
    """

    judge: str = ""
    rows: Mapping[int, Row] = field(default_factory=dict)


InPlace = Callable[[Table, Sequence[int], str], StandIns]
"""Looks for stand-ins: in a table, for rows that the judge has learned from; with the prefix of the added columns."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ComparedColumns:
    """Columns of a table that are compared, and how they are read.

    Args:
        experts: Columns of the experts' grades; of several their consensus is compared. By default the annotators', as
            where one of these is named.
        judge: Column of the judge's; ``NAME#range=0..1`` where its numbers are not grades of the experts' scale.
        score: Column of the judge's continuous score; the judge's own number when None.
        cluster: Column that groups rows; the query's where there is one, when None.
        accept_at: The lowest accepted grade; that of the scale, or 4 on 1-5, when None.
        every: Keep the rows that the judge has learned from.
        annotators: Columns of one annotator each; by default those whom a column ``annotator`` names are compared.
        columns: judgec's names of columns by the table's.
        scale: The experts', where somebody has said it.
        low_is_good: A low number of the judge is a good one.
        round_to_nearest: Experts' means of annotators become the nearest grade.
        winner_words: What words for the winner of a pair mean, as ``records.tasks.winners.winner_words`` makes it.
        repeats: What becomes of an item that one person graded again.
        kept: Columns of which the cells are wanted, too, by what they are: ``aspect``, ``group``, ``confidence``.
    """

    experts: Sequence[str]
    judge: str
    score: str | None = None
    cluster: str | None = None
    accept_at: str | None = None
    every: bool = False
    annotators: Sequence[str] = ()
    columns: Mapping[str, str] = field(default_factory=dict)
    scale: Scale | None = None
    low_is_good: bool = False
    round_to_nearest: bool = False
    winner_words: Mapping[str, str] = field(default_factory=dict)
    repeats: Repeats = None
    kept: Mapping[str, str] = field(default_factory=dict)

    @property
    def judged(self) -> tuple[str, ...]:
        """The judge's columns."""
        return (self.judge,) if self.score is None else (self.judge, self.score)


def graded_of(table: Table, how: ComparedColumns, in_place: InPlace | None = None) -> Graded:
    """The grades in the experts' and the judge's columns of any table.

    The scale is the experts', and decided by column before any cell is compared: numbers; words whose order is known,
    worst first (nein / ja, bad / fair / good); words of accept and reject, which are 1 and 0 whatever words the judge
    has for them; any other words are classes without an order. A judge's number between two grades has the nearer one,
    of two as near the even one; one outside the scale leaves the row unscored. A judge whose numbers have another range
    than the experts' is a score: it never widens their scale, and no grade is made of it unless its range is said.

    An empty judge cell is unscored; rows without an expert grade are left out and counted, and so are rows that
    ``judgec judge`` marked as ``learned``: a judge agrees better on what it learned from than on anything new. Where
    ``in_place`` knows what it said before, that is measured.

    Args:
        table: A file as read, or rows in memory.
        how: Which columns, and how they are read.
        in_place: Looks for judgments out of fold of rows that the judge has learned from.

    Raises:
        InputError: When a score is not a number, nobody graded anything, judge and experts share no value, or there are
            too many grades for a scale.
        UserError: When a column is missing, the judge has learned from every row, ``accept_at`` is no grade, or grades
            meet accepts without a threshold.
    """
    name, said = with_range(how.judge) if how.judge not in table.columns else (how.judge, None)
    people, others = (*how.experts, *how.annotators), {name, how.score or name, how.cluster or name}
    table = with_gradings(table, people, others, how.scale)
    table, how = _of_people(*_named(table, replace(how, judge=name)))
    labels = [*how.experts, how.judge, *([how.score] if how.score else []), *how.annotators]
    table = without_strays(table, [*how.experts, *how.annotators], how.scale, how.winner_words)
    table = with_label_cells(table, labels, how.scale, how.winner_words)
    notes = [*table.notes]
    table, learned, out_of_fold = not_learned(table, how.judge, notes, every=how.every, in_place=in_place)
    first = how.experts[0]
    several = len(how.experts) > 1
    table = _with_winners(table, how, notes)
    table, items = _graded_once(table, how, notes)
    alike = None
    if ANNOTATOR in table.columns and not several:
        taken = [how.cluster] if how.cluster else []
        alike = one_row_an_item(replace(table, notes=()), first, how.judged, taken)
    if alike is None:
        how = _clustered(table, how, notes)
        found = _graded(table, how, said, notes, items)
    else:
        notes += alike[0].notes
        how = _clustered(alike[0], how, notes)
        found = _graded(alike[0], replace(how, experts=alike[1]), said, notes)
    each = one_row_each(table, how.annotators or (how.experts if several else ()), first)
    panel: AnnotatorPanel | str | None = None
    if each is not None:  # with a column an annotator, their labels are other ones than the experts' column
        alone = replace(how, experts=(first,))
        read = found if each is table and alike is None and not several else _graded(each, alone, said, [])
        panel = panel_of(each, read.rows, read.ratings, nominal=read.nominal, cluster=how.cluster)
        if found.no_grades:
            panel = f"the judge cannot be compared with an annotator: {found.no_grades}"
    shown = listed(how.experts)
    return replace(found, learned=learned, out_of_fold=out_of_fold, panel=panel, expert=shown)


def _graded_once(table: Table, how: ComparedColumns, notes: list[str]) -> tuple[Table, Sequence[str] | None]:
    """The table with one grading an item and person, where it says who graded; a note where there were several.

    Beside it the item of each row, where that is known by now.
    """
    several, labels, items = len(how.experts) > 1, how.experts[:1], None
    if ANNOTATOR in table.columns and not several:
        told = item_keys(table, {ANNOTATOR, *labels, *how.judged, *([how.cluster] if how.cluster else [])})
    elif several or how.annotators:
        labels = tuple(name for name in dict.fromkeys((*how.experts, *how.annotators)) if name in table.columns)
        items = _items_of(with_inputs(table, {ANNOTATOR, *labels, *how.judged}), range(len(table.rows)))
        told = dict(enumerate(items))
    else:
        return table, None
    once = one_grading_each(table, labels, how.judged, told, scale=how.scale, repeats=how.repeats)
    notes += once.notes[len(table.notes) :]
    return once, items if once is table else None


def _of_people(table: Table, how: ComparedColumns) -> tuple[Table, ComparedColumns]:
    """The table without labels by judges, and whose labels count.

    Raises:
        UserError: The labels are the judge's, or nobody says where they are.
    """
    judges = how.judged
    if own := [name for name in how.experts if is_measured(name, judges)]:
        raise UserError(
            f"{table.path}: --expert {own[0]}: the judge that is measured; a judge cannot be measured against itself. "
            "Name another column."
        )
    people = people_of(table, how.annotators, judges)
    named, others = people.annotators, people.others
    wide = bool(named) and all(name in table.columns for name in named)
    if named and not wide and "annotator" in table.columns:
        said = {as_id(value) for value in table.column("annotator").values if not is_missing(value)}
        others |= said - set(named) if said >= set(named) else set()
    notes = (*table.notes, *people.notes)
    if others:
        kept = [i for i, name in enumerate(table.column("annotator").each(as_id)) if name not in others]
        notes += (f"left out: {plural(len(table.rows) - len(kept), 'row')} of {', '.join(sorted(others))}",)
        table = table.only(kept)
    experts = tuple(named) if wide and (not how.experts or set(how.experts) & set(named)) else how.experts
    if not experts:
        raise UserError(
            f"{table.path}: --expert names the column of the experts' grades, --annotators those of one annotator "
            "each; one of these is needed. Give it."
        )
    return replace(table, notes=notes), replace(how, experts=experts, annotators=named)


def _named(table: Table, how: ComparedColumns) -> tuple[Table, ComparedColumns]:
    """The table with judgec's names of the columns that nobody names, and the names of the others as it has them.

    Raises:
        UserError: When a column is missing.
    """
    theirs = {ours: name for name, ours in how.columns.items() if name in table.columns}

    def own(column: str) -> str:
        return column if column in table.columns else theirs.get(column, column)

    how = replace(
        how,
        experts=tuple(map(own, how.experts)),
        judge=own(how.judge),
        score=None if how.score is None else own(how.score),
        cluster=None if how.cluster is None else own(how.cluster),
    )
    typed = [("--expert", one) for one in how.experts]
    typed += [("--judge", how.judge), ("--score", how.score or ""), ("--cluster", how.cluster or "")]
    for option, column in typed:
        if column and column not in table.columns:
            raise UserError(
                f"{table.path}: {option} {column}: no such column; there are {', '.join(table.columns)}. "
                "Name one of these."
            )
    taken = {*how.experts, how.judge, how.score, how.cluster, *how.annotators}
    free = {
        name: ours
        for name, ours in how.columns.items()
        if name in table.columns and name not in taken and ours not in table.columns
    }
    if not how.annotators and ANNOTATOR not in {*table.columns, *free.values()}:
        raters = annotator_column(table, [name for name in table.columns if name not in taken | free.keys()])
        free |= {} if raters is None else {raters: ANNOTATOR}
    return renamed(table, free), replace(how, columns={ours: name for name, ours in free.items()})


def _clustered(table: Table, how: ComparedColumns, notes: list[str]) -> ComparedColumns:
    """With the column of the query, where the table has one and nobody named another; and a note that says so."""
    if how.cluster is not None:
        return how
    names = {plain(name): name for name in reversed(table.columns)}
    wanted = [*QUERIES, *(other for ours in QUERIES for other in also_called(ours))]
    taken = {*how.experts, how.judge, how.score, *how.annotators}
    column = next((names[one] for one in wanted if one in names and names[one] not in taken), None)
    if column is None:
        return how
    cells = [as_id(cell) for cell in table.column(column).cells() if _cell(cell) is not None]
    if len(set(cells)) < len(cells):
        shown = how.columns.get(column, column)
        notes.append(
            f"intervals are clustered by {shown}: {len(set(cells))} in {plural(len(cells), 'row')}; --cluster COLUMN "
            "clusters by another column"
        )
    return replace(how, cluster=column)


def _with_winners(table: Table, how: ComparedColumns, notes: list[str]) -> Table:
    """The table with a, b and tie for the winners of pairs, where the two columns spell these differently.

    Where nobody says what words mean, only if all words of both columns are sides and no spelling of a side is in both:
    else they may be classes of another kind, which stay as they are.

    Raises:
        InputError: Somebody said what words mean, and some that mean no side; numbers for a ``winner`` without it.
    """
    said, named = how.winner_words, (*how.experts, how.judge, *how.annotators)
    columns = [name for name in dict.fromkeys(named) if name in table.columns]
    read = with_sides_of_agents(table, columns, said)
    notes += read.notes[len(table.notes) :]
    table = read
    cells = {name: table.column(name).each(as_grade) for name in columns}
    sides = {word: winner_of(word, said) for own in cells.values() for word in own if word is not None}
    coded = any(name.strip().casefold() == "winner" for name in columns) and any(
        side is None and not isinstance(word, str) for word, side in sides.items()
    )
    if not said and not coded:  # numbers of a winner are codes: no order, no rank correlation
        one, other = (
            {(word, sides[word]) for word in cells[name] if word is not None} for name in (how.experts[0], how.judge)
        )
        both = {side for _, side in one} & {side for _, side in other} & {"a", "b"}
        if None in sides.values() or not both or {each for each in one & other if each[1] in both}:
            return table
        notes.append("the columns spell the winner differently: read as a, b and tie")
    known = {word: side for word, side in sides.items() if side is not None}
    strange = [(i, word) for own in cells.values() for i, word in enumerate(own) if word not in {None, *known}]
    if strange:
        first = min(i for i, _ in strange)
        raise InputError([f"{table.where(first)}: {unknown_words(word for _, word in strange)}"])

    def side_of(cell: object) -> str | None:
        word = as_grade(cell)
        side = None if word is None else known[word]
        return None if side == UNDECIDED else side

    return table.with_columns({name: table.column(name).made(side_of) for name in cells})


def not_learned(
    table: Table, judge: str, notes: list[str], *, every: bool, in_place: InPlace | None
) -> tuple[Table, int | None, int]:
    """The rows to measure; how many the judge has learned from, None where no column says so; and stand-ins."""
    written = JUDGED_COLUMN.fullmatch(judge)
    names = [f"{written[1]}{LEARNED}"] if written else []
    column = next((name for name in (*names, LEARNED) if name in table.columns), None)
    if column is None:
        return table, None, 0
    said = table.column(column).each(as_grade)
    if not {"true", "false"} >= {str(value).lower() for value in said if value is not None}:
        return table, None, 0  # another thing of that name
    known = [i for i, value in enumerate(said) if str(value).lower() == "true"]
    if not known:
        return table, 0, 0
    if every:
        notes.append(f"the judge has learned from the queries of {len(known)} of {len(said)} rows: kept, as --all says")
        return table, len(known), 0
    prefix = column.removesuffix(LEARNED)
    found = StandIns() if in_place is None else in_place(table, known, prefix)
    left_out = set(known) - set(found.rows)
    kept = [i for i in range(len(said)) if i not in left_out]
    if not kept:
        raise UserError(
            f"{table.path}: the judge has learned from the queries of all {len(known)} rows ({column} is true); rows "
            "of new queries are valid. Judge other items, or keep these with --all. If the judge was compiled in "
            "folds, name its folder with --home: its out-of-fold judgments are then measured."
        )
    if found.rows:
        notes.append(
            f"the judge has learned from the queries of {len(known)} of {len(said)} rows: for "
            f"{len(found.rows)} of them the out-of-fold judgments of {found.judge} are measured, not those in the file"
        )
    if left_out:
        these = "the others of these" if found.rows else f"the judge has learned from the queries of {len(known)} of "
        these += " rows" if found.rows else f"{plural(len(said), 'row')}"
        notes.append(f"{these}: left out, {len(kept)} are measured; --all keeps them")
    rows = tuple(found.rows.get(i, row) for i, row in zip(kept, table.some(kept), strict=True))
    return replace(table, rows=rows, lines=tuple(table.lines[i] for i in kept)), len(known), len(found.rows)


def _graded(
    table: Table, how: ComparedColumns, said: Range | None, notes: list[str], items: Sequence[str] | None = None
) -> Graded:
    path = table.path
    people = [_column(table, name) for name in how.experts]
    judge = _column(table, how.judge)
    if how.round_to_nearest:
        people = _rounded(people, how, notes)
    if not any(cell is not None for column in people for cell in column):
        raise InputError(
            [f"{path}: no row has a grade in {listed(how.experts)}; at least one is needed. Name another --expert."]
        )
    kept = [i for i in range(len(judge)) if any(column[i] is not None for column in people)]
    if len(kept) < len(judge):
        notes.append(f"{plural(len(judge) - len(kept), 'row has', 'rows have')} no expert grade: left out")
    cluster = _codes(table, kept, how.cluster, notes)
    if items is None:
        keys = _items_of(with_inputs(table, {ANNOTATOR, *how.experts, *how.judged}), kept)
    else:
        keys = [items[i] for i in kept]
    people, judge = [[column[i] for i in kept] for column in people], [judge[i] for i in kept]
    ladder = _ladder(path, people, judge, how, notes)
    besides = {what: table.column(name).cells() for what, name in how.kept.items()}
    cells = {what: tuple(own[i] for i in kept) for what, own in besides.items()}
    if ladder is None:
        return replace(_classes(path, people, judge, keys, cluster, how, notes), rows=tuple(kept), cells=cells)
    by = np.array([[np.nan if (at := ladder.of(cell)) is None else at for cell in column] for column in people])
    numbers, foreign = _numbers(path, judge, ladder, how, notes)
    scores = numbers.copy() if how.score is None else _floats(_scores(table, kept, how.score))
    given = _judged(numbers, scores, ladder, None if foreign else by, said, how, notes)
    taken = {*how.experts, *how.judged, how.cluster, *how.annotators}
    heads = {plain(name): name for name in reversed(table.columns) if name not in taken}
    agent = next((heads[one] for one in (AGENT, *also_called(AGENT)) if one in heads), AGENT)
    every = table.column(agent).each(lambda cell: "" if is_missing(cell) else as_id(cell))
    found = _ordered(by, given, ladder, how.experts, keys, cluster, notes)
    answered = replace(found.ratings, system=np.array([every[i] for i in kept], dtype=np.str_))
    return replace(found, ratings=answered, rows=tuple(kept), cells=cells)


def _items_of(table: Table, kept: Sequence[int]) -> list[str]:
    """The item of each row, as a file of labels has it: where people differ, which of them is drawn follows from it."""
    fits = [one for one in TASKS if not missing_columns(table.columns, one, labelled=False)]
    task = max(fits, key=lambda one: len({*TASKS[one].inputs} & {*table.columns}), default=None)
    found = None if task is None else collect_items(table, task)
    keys, ids = [], table.column(ITEM).cells()
    for i in kept:
        own, at = ids[i], -1 if found is None else found.item_of[i]
        if not is_missing(own):
            keys.append(as_id(own))
        else:
            keys.append(f"row {table.lines[i]}" if found is None or at < 0 else found.items[at].item_id)
    return keys


@dataclass(frozen=True, slots=True)
class _Ladder:
    """The experts' scale.

    Args:
        values: What the grades stand for, rising.
        words: The value of each word, as ``_plain`` writes it; empty where the grades are numbers.
        accept_at: The lowest accepted value, or None.
        accepts: The grades are accept and reject.
        cut: From this number on a judge's grades count as accepted, where it has other ones than the experts.
        numbers: The scale where it is an interval one.
    """

    values: FloatArray
    words: Mapping[str, float] = field(default_factory=dict)
    accept_at: float | None = None
    accepts: bool = False
    cut: float | None = None
    numbers: Scale | None = None

    def of(self, cell: Cell) -> float | None:
        """The value of a cell of the experts', None where it has none."""
        if isinstance(cell, float) and self.words:
            return self.words.get(f"{cell:g}", cell)  # where 1 is the best grade
        if isinstance(cell, str):
            return self.words.get(_plain(cell))
        if cell is None or self.cut is None or not self.accepts:
            return cell
        return float(cell >= self.cut)


def _ladder(
    path: str, people: Sequence[Sequence[Cell]], judge: Sequence[Cell], how: ComparedColumns, notes: list[str]
) -> _Ladder | None:
    """The experts' scale; None where their words have no order."""
    cells = [cell for column in people for cell in column if cell is not None]
    words = {cell for cell in cells if isinstance(cell, str)}
    numbers = {cell for cell in cells if isinstance(cell, float)}
    if how.scale is not None and how.scale.interval:
        return _of_numbers(path, people, how.scale, how)
    answers = None if words else _yes_or_no({cell for cell in judge if isinstance(cell, str)})
    accepts = answers is not None and all(cell is None or isinstance(cell, str) or cell in {0.0, 1.0} for cell in judge)
    known = None if how.scale is None or accepts else _said(how.scale, words, numbers, how.accept_at)
    if known is not None:
        return known
    if words:
        yes = _yes_or_no(words)
        if yes is not None and numbers <= {0.0, 1.0}:
            return _Ladder(np.array([0.0, 1.0]), yes, accept_at=1.0, accepts=True)
        found = None if numbers else in_order(sorted(words))
        if found is None:
            return None
        grades, at = found
        values = np.arange(len(grades), dtype=np.float64)
        places = {_plain(str(grade)): float(place) for place, grade in enumerate(grades)}
        notes.append(f"the grades, worst first: {', '.join(map(str, grades))}; accepted from {grades[at]}")
        least = _word_threshold(how.accept_at, grades, float(at))
        return _Ladder(values, places, accept_at=least, accepts=len(grades) == BINARY)
    used = np.array(sorted(numbers))
    if accepts:
        if used.min() >= 0 and used.max() <= 1:
            return _Ladder(np.array([0.0, 1.0]), accept_at=1.0, accepts=True)
        said = None if how.scale is None or how.scale.accept_at is None else str(how.scale.accept_at)
        cut = _accepted_from(how.experts[0], how.accept_at or said, used, notes)
        if cut is not None:
            return _Ladder(np.array([0.0, 1.0]), accept_at=1.0, accepts=True, cut=cut)
        if all(as_accept(cell) is not None for cell in judge if isinstance(cell, str)):
            raise UserError(
                f"{listed(how.experts)}: grades from {used.min():g} to {used.max():g} beside accept / reject; a "
                "threshold is needed to compare them. Give --accept-at GRADE."
            )
    values = _scale(path, used)
    if (raters := looks_like_means(used)) is not None:
        notes.append(f"{listed(how.experts)}: {raters}; --round nearest makes grades of them")
    return _Ladder(values, accept_at=_threshold(how.accept_at, values))


def _of_numbers(path: str, people: Sequence[Sequence[Cell]], scale: Scale, how: ComparedColumns) -> _Ladder:
    """The interval scale that somebody said, with a position for what each expert gave and for each row's mean.

    Raises:
        InputError: A cell is no number from its worst to its best.
    """
    rows = [[cell for cell in row if cell is not None] for row in zip(*people, strict=True)]
    off = [cell for row in rows for cell in row if isinstance(cell, str) or scale.nearest(cell) is None]
    if off:
        valid = f"numbers from {scale.grades[0]} to {scale.grades[-1]} are valid"
        raise InputError([f"{path}: {len(off)} expert grades such as {off[0]!r}; {valid}. Fix them, or the scale."])
    given = [[cell for cell in row if isinstance(cell, float)] for row in rows]
    scale = scale.with_values(one for row in given if row for one in (*row, sum(row) / len(row)))
    said = None if scale.accept_index is None else scale.values[scale.accept_index]
    ends = np.array([scale.values[0], scale.values[-1]])
    at = said if how.accept_at is None else _threshold(how.accept_at, ends)
    return _Ladder(np.array(scale.values), accept_at=at, numbers=scale)


def _said(scale: Scale, words: set[str], numbers: set[float], accept_at: str | None) -> _Ladder | None:
    """The scale that somebody said, where all grades are on it."""
    grades = [as_grade(one) for one in (*words, *numbers)]
    if scale.level == "nominal" or any(one is None or position_of(one, scale) is None for one in grades):
        return None
    values = np.array(scale.values)
    places = {_plain(str(grade)): value for grade, value in zip(scale.grades, scale.values, strict=True)}
    known = None if scale.accept_index is None else scale.values[scale.accept_index]
    if not any(isinstance(grade, str) for grade in scale.grades):
        least = known if accept_at is None and known is not None else _threshold(accept_at, values)
        return _Ladder(values, accept_at=least)
    least = _word_threshold(accept_at, scale.grades, known)
    return _Ladder(values, places, accept_at=least, accepts=len(places) == BINARY and least == values[-1])


def _word_threshold(accept_at: str | None, grades: Sequence[Grade], usual: float | None) -> float | None:
    """The position of the lowest accepted of some words; of two words, a number is about the judge's grades."""
    if accept_at is None or (len(grades) == BINARY and NUMBER.fullmatch(accept_at.strip())):
        return usual
    places = [_plain(str(grade)) for grade in grades]
    if _plain(accept_at) not in places:
        raise UserError(
            f"--accept-at {accept_at}: not among the grades; the grades are {listed(grades)}. Name the lowest accepted "
            "one."
        )
    return float(places.index(_plain(accept_at)))


def _plain(word: str) -> str:
    return plain(word) or word.strip().casefold()


def _yes_or_no(words: set[str]) -> dict[str, float] | None:
    """1 for accept and 0 for reject, where all words say one of the two; None where one does not, or there is none."""
    if not words:
        return None
    if all(as_accept(word) is not None for word in words):
        return {_plain(word): float(bool(as_accept(word))) for word in words}
    ranks = {word: rank for word in words if (rank := rank_of(word)) is not None}
    if len(ranks) < len(words) or len({_plain(word) for word in words}) > BINARY:
        return None
    found = {_plain(word): float(rank >= ACCEPTED) for word, rank in ranks.items()}
    return found if len(set(found.values())) == len(found) else None


def _numbers(
    path: str, judge: Sequence[Cell], ladder: _Ladder, how: ComparedColumns, notes: list[str]
) -> tuple[FloatArray, bool]:
    """The judge's cells as numbers; NaN where one is empty, or a word that is no grade of the experts'.

    Returns:
        The numbers, and True where they stand beside words: then none of them is a grade.

    Raises:
        InputError: When no cell is left.
    """
    words = {cell for cell in judge if isinstance(cell, str)}
    places = dict(ladder.words)
    if ladder.accepts:
        own = {_plain(word): float(bool(as_accept(word))) for word in words if as_accept(word) is not None}
        places = own | (_yes_or_no(words) or {}) | places
    stand_for = {number_of(word): value for word, value in ladder.words.items()}
    numbered = bool(stand_for) and None not in stand_for  # ``4 - good`` is what a judge calls 4
    shared = any(_plain(word) in places for word in words)

    def number(cell: Cell) -> float:
        if isinstance(cell, str):
            return places.get(_plain(cell), np.nan)
        if cell is None:
            return np.nan
        return stand_for.get(cell, cell) if numbered else cell

    found = np.array([number(cell) for cell in judge], dtype=np.float64)
    foreign = bool(ladder.words) and not ladder.accepts and not numbered
    if foreign and shared:
        stray = np.array([isinstance(cell, float) for cell in judge])
        if stray.any():
            notes.append(f"unscored: {plural(int(stray.sum()), 'number')} of the judge beside words")
        found[stray] = np.nan
        foreign = False
    strange = sorted(word for word in words if _plain(word) not in places)
    if strange and np.isnan(found).all():
        if ladder.accepts:
            what = "say accept or reject: the two share no value"
        elif ladder.words:
            what = f"are {', '.join(ladder.words)}: the two share no value"
        else:
            what = "are numbers"
        raise InputError(
            [f"{path}: {how.judge} holds {_some(strange)}; the experts' grades {what}. Name another --judge."]
        )
    if strange:
        count = sum(isinstance(cell, str) and _plain(cell) not in places for cell in judge)
        notes.append(
            f"{plural(count, 'judge value is no grade', 'judge values are no grades')} ({_some(strange)}): unscored"
        )
    return found, foreign


@dataclass(frozen=True, slots=True)
class _Judged:
    """A judge's grades and scores.

    Args:
        grade: Positions on the experts' scale, -1 where there is none.
        score: Numbers, NaN where there is none.
        accept: 1, 0, or -1.
        no_grades: Why no grade is made of the scores, or empty.
    """

    grade: IntArray
    score: FloatArray
    accept: IntArray
    no_grades: str = ""


def _judged(
    numbers: FloatArray,
    scores: FloatArray,
    ladder: _Ladder,
    by: FloatArray | None,
    said: Range | None,
    how: ComparedColumns,
    notes: list[str],
) -> _Judged:
    """The judge's numbers as grades of the experts' scale, or as scores; ``by`` is None where the grades are words."""
    values, low_is_good = ladder.values, how.low_is_good
    low, high = float(values[0]), float(values[-1])
    none = np.full(len(numbers), UNSCORED, dtype=np.int64)
    there, given = ~np.isnan(numbers), numbers
    valid = f"the grades {_listed(values)}"
    if said is not None:
        ends = Range(said.best, said.worst) if low_is_good else said
        mapped = ends.onto(numbers, low, high)
        scores = mapped if how.score is None else (-scores if low_is_good else scores)
        notes.append(f"{how.judge}: {ends.worst:g} to {ends.best:g} mapped onto {low:g} to {high:g}")
        numbers, valid = mapped, f"the judge's range, {said}"
    else:
        other = _other(numbers[there], ladder, by)
        cut = None if other is None or not ladder.accepts else _accepted_from(how.judge, how.accept_at, numbers, notes)
        if cut is not None:  # grades beside accept / reject
            numbers = np.where(there, (numbers >= cut).astype(np.float64), np.nan)
        elif other is not None:
            shown = f"{numbers[there].min():g} to {numbers[there].max():g}"
            seen = f"the numbers of {how.judge}, {shown}, have another range than the experts' grades"
            notes.append(
                f"{seen}: read as a score, for its order alone. If it means grades, say its range: --judge "
                f'"{how.judge}{MARK}{other}"'
            )
            why = f"{seen}, so that it is a score and no grade"
            signed = -scores if low_is_good else scores
            return _Judged(np.where(there, 0, UNSCORED), np.where(there, signed, np.nan), none, why)
        if low_is_good:
            numbers = low + high - numbers
            scores = low + high - scores if how.score is None else -scores
    inside = (numbers >= low) & (numbers <= high)
    if out := int((there & ~inside).sum()):
        first = ", ".join(f"{one:g}" for one in np.unique(given[there & ~inside])[:3])
        notes.append(f"{plural(out, 'judge value is', 'judge values are')} outside {valid} ({first}): unscored")
    grade = none.copy()
    grade[inside] = nearest_grades(numbers[inside], values)
    moved = int((values[grade[inside]] != numbers[inside]).sum())
    if moved and ladder.numbers is None:
        notes.append(
            f"{plural(moved, 'judge value is', 'judge values are')} not among the grades {_listed(values)}: the "
            "nearest grade counts"
        )
    score = np.where(inside, scores, np.nan)
    lost = inside & np.isnan(score)
    if lost.any():
        notes.append(f"{plural(int(lost.sum()), 'row has', 'rows have')} a grade and no score: the grade stands in")
        score[lost] = numbers[lost]
    accept = none.copy()
    if ladder.accept_at is not None:
        accept[inside] = (values[grade[inside]] if ladder.numbers is None else numbers[inside]) >= ladder.accept_at
    return _Judged(grade, score, accept)


def _other(numbers: FloatArray, ladder: _Ladder, by: FloatArray | None) -> Range | None:
    """The range of the judge's numbers where it is not that of the experts' grades."""
    values = ladder.values
    binary = len(values) == BINARY and bool((values == [0.0, 1.0]).all())
    different, counts = np.unique(numbers, return_counts=True)
    if not len(different):
        return None
    if by is None:
        return usual_range(different)
    within = np.isin(different, values) if binary else (different >= values[0]) & (different <= values[-1])
    given = by[~np.isnan(by)]
    shares = [float((given == value).mean()) for value in values]
    return other_range(different, counts.astype(np.float64), (~within).astype(np.float64), values.tolist(), shares)


def _accepted_from(name: str, accept_at: str | None, numbers: FloatArray, notes: list[str]) -> float | None:
    """From which grade on a column counts as accepted beside one that says accept / reject; None: nobody knows."""
    known = np.unique(numbers[~np.isnan(numbers)])
    if not len(known) or (accept_at is not None and not NUMBER.fullmatch(accept_at.strip())):
        accept_at = None
    threshold = _threshold(accept_at, known) if len(known) else None
    if threshold is not None:
        notes.append(f"{name}: {threshold:g} and above count as accepted, as the other column says accept / reject")
    return threshold


def _rounded(people: Sequence[list[Cell]], how: ComparedColumns, notes: list[str]) -> list[list[Cell]]:
    """The experts' numbers as the nearest whole ones, of two as near the even one."""
    moved = sum(isinstance(cell, float) and cell != round(cell) for column in people for cell in column)
    notes.append(f"{listed(how.experts)}: {plural(moved, 'grade')} rounded to a whole number (--round nearest)")
    return [[float(round(cell)) if isinstance(cell, float) else cell for cell in column] for column in people]


def _some(words: Sequence[str]) -> str:
    return ", ".join(words[:3]) + (", ..." if len(words) > 3 else "")


def _listed(values: FloatArray) -> str:
    return ", ".join(f"{value:g}" for value in values)


def _ordered(
    by: FloatArray,
    said: _Judged,
    ladder: _Ladder,
    experts: Sequence[str],
    keys: Sequence[str],
    cluster: IntArray,
    notes: list[str],
) -> Graded:
    """The judge beside the consensus of the experts, and beside that of all but one of them, one after the other.

    Args:
        by: The value that each expert gave of each row, NaN where none, shape (n_experts, n_rows).
        said: The judge's.
        ladder: The experts' scale.
        experts: Their names.
        keys: What the pick between two middle grades depends on.
        cluster: Query codes.
        notes: What reading assumed.
    """
    values = ladder.values
    known = np.nan_to_num(by, nan=values[0])
    at = np.searchsorted(values, known)
    if ladder.numbers is not None:  # of very many values thousandths stand for them
        at = nearest_grades(known.ravel(), values).reshape(known.shape)
    grade_by = np.where(np.isnan(by), UNLABELLED, at)
    grade_by = grade_by.astype(np.int64)
    none = np.full(by.shape, UNLABELLED, dtype=np.int64)
    votes = none if ladder.accept_at is None else np.where(grade_by < 0, UNLABELLED, by >= ladder.accept_at)

    def pairs(others: IntArray, accepts: IntArray, own: _Judged) -> GradePairs:
        expert, tied = consensus_of(others[:, :, None], keys, numbers=ladder.numbers)
        accept, _ = consensus_of(accepts[:, :, None], keys)
        if others is grade_by and tied.any():
            notes.append(
                f"{plural(int(tied.sum()), 'row')} on which the experts' middle grades differ: statistics of classes "
                "(tau-b, kappa, QWK, exact, limits of agreement) use one of them, drawn by a hash; the bias uses "
                "their mean"
            )
        return GradePairs(
            expert=expert[:, 0],
            judge=own.grade,
            score=own.score,
            expert_accept=accept[:, 0],
            judge_accept=own.accept,
            cluster=cluster,
            values=tuple(values.tolist()),
            n_clusters=int(cluster.max(initial=-1)) + 1,
            people=people_mean(others, values) if len(others) > 1 else None,
            interval=ladder.numbers is not None,
        )

    whole = pairs(grade_by, votes.astype(np.int64), said)
    ceiling: list[GradePairs] = []
    beside: list[GradePairs] = []
    for number in range(len(by)) if len(by) > 1 else ():
        others, accepts = (np.delete(one, number, axis=0) for one in (grade_by, votes))
        own = grade_by[number]
        score = by[number]
        took_part = (own >= 0) & (others >= 0).any(axis=0)
        ceiling.append(pairs(others, accepts, _Judged(own, score, votes[number].astype(np.int64))).where(took_part))
        beside.append(pairs(others, accepts, said).where(took_part))
    return Graded(
        whole,
        nominal=False,
        notes=tuple(notes),
        no_grades=said.no_grades,
        ceiling=tuple(one for one in ceiling if len(one.expert)),
        beside=tuple(one for one in beside if len(one.expert)),
        people=dict(zip(experts, grade_by, strict=True)),
    )


def _scale(path: str, own: FloatArray) -> FloatArray:
    """The grades: what the experts used, and the whole numbers between.

    A grade that nobody used still counts in a distance: from 2 to 4 are two steps, whether or not there is a 3.
    """
    if (own == np.floor(own)).all() and own[-1] - own[0] < MOST_GRADES:
        first = min(own[0], 1.0) if own[-1] in TOPS and own[0] > 0 else own[0]
        return np.arange(first, own[-1] + 1)
    if len(own) > MOST_GRADES:
        raise InputError(
            [f"{path}: {len(own)} different expert grades; a scale has at most {MOST_GRADES}. Round the column."]
        )
    return own


def _classes(
    path: str,
    people: Sequence[Sequence[Cell]],
    judge: Sequence[Cell],
    keys: Sequence[str],
    cluster: IntArray,
    how: ComparedColumns,
    notes: list[str],
) -> Graded:
    """Words without an order.

    Raises:
        UserError: A threshold, which only ordered grades have.
        InputError: The judge has none of the experts' classes.
    """
    experts = [[None if cell is None else as_id(cell) for cell in column] for column in people]
    said = [None if cell is None else as_id(cell) for cell in judge]
    theirs = {name for column in experts for name in column if name is not None}
    own = {name for name in said if name is not None}
    names = sorted(theirs | own)
    if how.accept_at is not None:
        raise UserError(
            f"--accept-at {how.accept_at}: the grades are classes without an order ({', '.join(names)}); only ordered "
            "grades have a threshold. Leave it out, or write the grades as numbers."
        )
    if own and not own & theirs:
        seen = f"{path}: {how.judge} holds {_some(sorted(own))}, {listed(how.experts)} {_some(sorted(theirs))}"
        valid = "the two share no value, and classes without an order are compared by their names"
        raise InputError([f"{seen}: {valid}. Name another column."])
    words = sorted({cell for column in (*people, judge) for cell in column if isinstance(cell, str)})
    notes.append(f"classes without an order: {', '.join(words)}")
    place = {name: position for position, name in enumerate(names)}
    by = np.array([[UNLABELLED if name is None else place[name] for name in column] for column in experts])
    given = np.array([UNSCORED if name is None else place[name] for name in said], dtype=np.int64)

    def pairs(others: IntArray, judged: IntArray) -> GradePairs:
        unknown = np.full(len(judged), UNLABELLED, dtype=np.int64)
        return GradePairs(
            expert=consensus_of(others[:, :, None], keys, nominal=True)[0][:, 0],
            judge=judged,
            score=np.where(judged == UNSCORED, np.nan, judged.astype(np.float64)),
            expert_accept=unknown,
            judge_accept=unknown.copy(),
            cluster=cluster,
            values=tuple(map(float, range(len(names)))),
            n_clusters=int(cluster.max(initial=-1)) + 1,
        )

    rest = [np.delete(by, number, axis=0) for number in range(len(by) if len(by) > 1 else 0)]
    both = [(own >= 0) & (others >= 0).any(axis=0) for own, others in zip(by, rest, strict=False)]
    return Graded(
        pairs(by, given),
        nominal=True,
        notes=tuple(notes),
        ceiling=tuple(pairs(o, own).where(kept) for o, own, kept in zip(rest, by, both, strict=False) if kept.any()),
        beside=tuple(pairs(o, given).where(kept) for o, kept in zip(rest, both, strict=False) if kept.any()),
    )


def _codes(table: Table, kept: Sequence[int], cluster: str | None, notes: list[str]) -> IntArray:
    if cluster is None:
        return np.arange(len(kept), dtype=np.int64)
    whole = table.column(cluster).cells()
    cells = [whole[i] for i in kept]
    keys: list[object] = [(row, None) if _cell(cell) is None else as_id(cell) for row, cell in enumerate(cells)]
    codes: dict[object, int] = {}
    alone = sum(isinstance(key, tuple) for key in keys)
    if alone:
        notes.append(f"{plural(alone, 'row has', 'rows have')} no {cluster}: each stands alone")
    return np.array([codes.setdefault(key, len(codes)) for key in keys], dtype=np.int64)


def _threshold(accept_at: str | None, values: FloatArray) -> float | None:
    if accept_at is None:
        return VRAG_ACCEPT_AT if set(values) <= VRAG_GRADES and max(VRAG_GRADES) in values else None
    known = set(values) | (VRAG_GRADES if set(values) <= VRAG_GRADES else set())  # 1-5, though nobody gave a 5
    try:
        threshold, fault = float(accept_at), "not among the grades"
    except ValueError:
        threshold, fault = float("nan"), "not a number"
    if not min(known) <= threshold <= max(known):
        raise UserError(
            f"--accept-at {accept_at}: {fault}; the grades are {', '.join(f'{value:g}' for value in values)}. "
            "Name the lowest accepted one."
        )
    return threshold


def _floats(cells: Sequence[Cell]) -> FloatArray:
    """Numbers, NaN where a cell is empty; there are no words among them."""
    return np.array([np.nan if cell is None else float(cell) for cell in cells], dtype=np.float64)


def _column(table: Table, name: str) -> list[Cell]:
    """A column's cells, decimal commas as points."""
    return table.column(name).each(_cell)


def _cell(value: object) -> Cell:
    if value is None:
        return None
    if isinstance(value, bool):
        return str(value)
    text = as_text(value).strip()
    if text.lower() in EMPTY:
        return None
    try:
        number = float(text)
    except ValueError:
        return text
    return number if np.isfinite(number) else None


def _scores(table: Table, kept: Sequence[int], column: str) -> list[Cell]:
    whole = _column(table, column)
    cells = [whole[i] for i in kept]
    faults = [
        f"{table.where(i)}: {column} is {cell!r}; a score is a number. Mend the row, or name another --score."
        for i, cell in zip(kept, cells, strict=True)
        if isinstance(cell, str)
    ]
    if faults:
        raise InputError(faults)
    return cells
