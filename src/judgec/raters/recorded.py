"""Recorded judges: what LMs, prompts or people once said of items, kept in a file, in place of a model that is asked.

A judge that has no row for an item was not asked; a row without a grade was asked and failed, which leaves the item
unscored. Several runs of a judge are one verdict, the mean of their distributions. So are the two orders of a pair,
and two orders that disagree are a flip and a tie, as when a model is asked.
"""

import json
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Literal

import numpy as np

from judgec.errors import InputError, UserError
from judgec.labels.reading import NOTHING_SAID, Reading, as_reading
from judgec.labels.rows.grades import respelled
from judgec.labels.rows.ranges import Range, ranges_of, with_range
from judgec.raters.about_judges import ABOUT, MAPPED, ORDER, AboutJudge
from judgec.raters.columns import Columns
from judgec.raters.decision import stated_grades
from judgec.raters.joined import Stated, groups, of_orders, of_runs, turn_round
from judgec.raters.replies import OFF_SCALE, UnreadableReplyError, stated
from judgec.raters.values import read_value
from judgec.raters.verdicts import (
    ACCEPT,
    ASPECT,
    CHANCE,
    COST,
    GRADE,
    ITEM,
    JUDGE,
    PREFERENCE,
    REPLY,
    VerdictColumns,
    read_verdicts,
)  # fmt: skip
from judgec.records.card import ProgramCard
from judgec.records.counts import plural
from judgec.records.judgment import NOT_ASKED, UNSCORED, Judgments
from judgec.records.label import FloatArray, IntArray, LabelSet
from judgec.records.scale import ACCEPT_SCALE, Scale
from judgec.records.tasks.registry import TASKS, compares, plain
from judgec.records.tasks.winners import UNSCORED as UNDECIDED
from judgec.records.tasks.winners import unknown_words, winner_of
from judgec.table.rows.cells import as_grade, as_number
from judgec.table.rows.columns import listed, shortly
from judgec.table.table import NO_CELL, BoolArray, TableColumn
from judgec.table.tables import TableSource

NO_VERDICT = "no verdict in the recorded row"
UNSAID = "unsaid"  # in a card: nobody said how orders are read; one without a word of them mapped them back
MIN_COMMON = 30  # labelled items: a judge with fewer is compared with nobody
RECORDED_KIND = "recorded"  # what the card calls the candidate and the search
RANGES = "ranges"  # of a card's settings: JSON of the ranges by judge
MOST_OFF, LEAST_OFF = 0.05, 2  # share and number of a judge's numbers off the scale that are slips, no range
FAILED, OFF = 1, 2  # of a row: no readable verdict, a grade off the scale
WHY = (None, NO_VERDICT, OFF_SCALE)  # by fault
WITHOUT_ORDER = (
    "preferences without an order: read as they stand, whether they flip with the order of the answers is not known"
)
PARTIAL = "{times:,} times a judge was asked about some of the {aspects} aspects of an item only: taken as not asked"


@dataclass(frozen=True, slots=True)
class OnWhat:
    """Task, scale and aspects that recorded verdicts are about, and how their file is read.

    Args:
        task: Of the labels.
        scale: The grades.
        aspects: What is graded of each item.
        reading: Names of the columns, words for the winner, ranges and orders, whatever ``judges.json`` says.
        accept_only: The labels, and so the verdicts, are accept or reject.
        usual_orders: How verdicts on pairs in the other order are read where neither says it.
    """

    task: str
    scale: Scale
    aspects: tuple[str, ...]
    reading: Reading = NOTHING_SAID
    accept_only: bool = False
    usual_orders: str | None = None

    @classmethod
    def of(cls, labels: LabelSet, reading: Reading = NOTHING_SAID) -> "OnWhat":
        """The same from the labels."""
        return cls(labels.task, labels.scale, labels.aspects, reading, labels.accept_only)

    @classmethod
    def of_card(cls, card: ProgramCard) -> "OnWhat":
        """The same of a compiled judge."""
        names = {"winner_words": "winner_words", "columns": "columns", "judges": RANGES}
        said = {name: json.loads(str(card.settings.get(key, "{}"))) for name, key in names.items()}
        orders = card.settings.get("orders", MAPPED)
        usual = None if orders == UNSAID else str(orders)
        accept_only = card.scale.grades == ACCEPT_SCALE.grades
        return cls(card.task, card.scale, card.aspects, as_reading(**said), accept_only, usual)


@dataclass(frozen=True)
class Recording:
    """One judge's recorded verdicts.

    Args:
        about: What is known of it.
        said: Its verdicts, without accepts of its own or a confidence.
        cost: US dollars of each item, NaN where unknown, shape (n_items,).
        calls: How often it was asked about each item: runs times orders, shape (n_items,).
    """

    about: AboutJudge
    said: Judgments = field(repr=False)
    cost: FloatArray = field(repr=False)
    calls: FloatArray = field(repr=False)

    @cached_property
    def _row(self) -> dict[str, int]:
        return {item_id: row for row, item_id in enumerate(self.said.item_ids)}

    def rows(self, item_ids: Sequence[str]) -> IntArray:
        """The row of each item, -1 where the judge was not asked."""
        return np.array([self._row.get(item_id, NO_CELL) for item_id in item_ids], dtype=np.int64)

    def only(self, rows: IntArray) -> "Recording":
        """Some of the items."""
        kept = {name: getattr(self, name)[rows] for name in ("cost", "calls")}
        return replace(self, said=self.said.subset(rows.tolist()), **kept)

    def on(self, item_ids: Sequence[str], scale: Scale) -> Judgments:
        """The verdicts on these items."""
        rows, said = self.rows(item_ids), self.said
        asked = np.flatnonzero(rows != NO_CELL)
        own, found = rows[asked], Columns.empty(len(rows), len(said.aspects), len(scale.grades))
        found.probabilities[asked], found.grade[asked] = said.probabilities[own], said.grade[own]
        found.faults = [NOT_ASKED if row == NO_CELL else said.unscored[row] for row in rows.tolist()]
        found.reasons = ["" if row == NO_CELL else said.rationale[row] for row in rows.tolist()]
        flipped = None if said.flipped is None or not len(own) else (rows != NO_CELL) & said.flipped[rows]
        return replace(found.judgments(scale, said.aspects, tuple(item_ids)), flipped=flipped)


@dataclass(frozen=True)
class RecordedVerdicts:
    """Verdicts of several judges on items.

    Args:
        path: The file, for messages.
        about: What they are about.
        recordings: The judges by name, sorted.
        notes: What reading assumed, left out or counted, one sentence each.
        ranges: From the worst to the best number of judges whose numbers were mapped to the scale.
        scores: The lowest and highest number of judges that are off the scale, and whose range nobody declared: only
            their order counts.
    """

    path: str
    about: OnWhat
    recordings: Mapping[str, Recording]
    notes: tuple[str, ...] = ()
    ranges: Mapping[str, Range] = field(default_factory=dict)
    scores: Mapping[str, Range] = field(default_factory=dict)

    @property
    def judges(self) -> dict[str, AboutJudge]:
        """What is known of each judge."""
        return {name: one.about for name, one in self.recordings.items()}

    @property
    def settings(self) -> dict[str, str]:
        """Settings that a card keeps, so that ``OnWhat.of_card`` reads other verdicts as these were."""
        reading, ranges = self.about.reading, {name: str(own) for name, own in self.ranges.items()}
        said = {RANGES: ranges, "winner_words": reading.words, "columns": reading.columns}
        orders = {"orders": plain(reading.orders or UNSAID)} if compares(self.about.task) else {}
        return orders | {name: json.dumps(dict(one)) for name, one in said.items() if one}

    def require(self, judge: str) -> Recording:
        """The recording of a judge.

        Raises:
            UserError: There is none, saying which there are.
        """
        if judge not in self.recordings:
            raise UserError(
                f"{self.path}: no verdicts of judge {judge}; it has {shortly(list(self.recordings))}. "
                "Correct the name, record verdicts of this judge, or name another file with --lm recorded:FILE."
            )
        return self.recordings[judge]

    def judgments(self, judge: str, item_ids: Sequence[str]) -> Judgments:
        """A judge's raw verdicts on items, as if it had been asked; errors as ``require``."""
        return self.require(judge).on(item_ids, self.about.scale)

    def asked(self, judge: str, item_ids: Sequence[str]) -> BoolArray:
        """True where a judge was asked about the item, shape (n_items,)."""
        return np.asarray(self.require(judge).rows(item_ids) != NO_CELL)

    def cost_of(self, judge: str, item_ids: Sequence[str]) -> float | None:
        """Cost of a judge's verdicts on these items in US dollars, as recorded; None where that is not known."""
        own = self.require(judge)
        costs = own.cost[own.rows(item_ids)[self.asked(judge, item_ids)]]
        return None if not len(costs) or np.isnan(costs).any() else float(costs.sum())

    def calls_of(self, judge: str, item_ids: Sequence[str]) -> tuple[float, int]:
        """Number of calls of a judge about these items, and of items it was asked about."""
        own, asked = self.require(judge), self.asked(judge, item_ids)
        return float(own.calls[own.rows(item_ids)[asked]].sum()), int(asked.sum())

    def beside(self, others: "RecordedVerdicts") -> "RecordedVerdicts":
        """These verdicts and others on the same task, whose judges have other names; what these are about stays."""
        both = dict(sorted({**self.recordings, **others.recordings}.items()))
        return replace(self, recordings=both, notes=(*self.notes, *others.notes))

    def of(self, names: Collection[str]) -> "RecordedVerdicts":
        """The verdicts of these judges alone."""
        return replace(self, recordings={name: one for name, one in self.recordings.items() if name in names})


def read_recorded(
    source: TableSource,
    about: OnWhat,
    judges: str | Collection[str] | None = None,
    off_scale: Literal["unscored", "refused", "scores"] = "unscored",
) -> RecordedVerdicts:
    """Read recorded verdicts.

    A verdict is a grade, or any number within the scale: such a score is shared between the two neighbouring grades so
    that its mean is kept, and its grade is the nearest. Where a judge's numbers have another range, somebody declares
    it: ``FILE#range=0..1``, ``"range": [0, 1]`` in ``judges.json``, or in ``about``; they are mapped linearly. Where
    there are replies and no grades, the verdict of each is read, as of a model that was asked.

    Args:
        source: A file, or rows in memory, as ``raters.verdicts`` reads them.
        about: The labels' task, scale and aspects.
        judges: Names of those that are read, or a pattern of them; notes and faults are of their rows alone.
        off_scale: What becomes of a judge whose numbers are off the scale though nobody declared their range: they
            are unscored one by one, the judge is refused, or it is read for its order alone.

    Raises:
        InputError: Missing columns or cells, verdicts given twice, several aspects without a column that says which,
            numbers off the scale; pairs in both orders of which nobody says how to read them; unknown words for the
            winner.
        UserError: No name matches, or no range behind ``#range=``.
    """
    path, typed = with_range(source) if isinstance(source, str) else (source, None)
    columns = read_verdicts(path, about.scale.grades, about.reading)
    pairs, notes, grades = compares(about.task), list(columns.notes), listed(about.scale.grades)
    usual, others = PREFERENCE if pairs else GRADE, [ACCEPT, REPLY] if about.accept_only else [REPLY]
    verdict = next((one for one in (usual, *others) if one in columns.coded), usual)
    columns.require(ITEM, JUDGE, verdict)
    columns = columns if pairs else replace(columns, coded={**columns.coded, ORDER: columns.column("")})
    if verdict == REPLY:
        notes.append(f"{columns.path}: no grades; each verdict is what its {REPLY} states last")
    (code, names), declared = columns.ids(JUDGE), ranges_of(about.reading.judges)
    aspect, rows = _aspects(columns, columns.of_judges(judges), about, notes)
    cells, read = columns.coded[verdict], _Recorder(columns, aspect, about, replied=verdict == REPLY)
    if pairs and verdict != REPLY:
        cells = _sides(columns, cells, rows, about.reading.words)
    if pairs and len(unnoted := rows[columns.ids(ORDER)[0][rows] == NO_CELL]):
        notes.append(f"{columns.where(unnoted)}: {len(unnoted):,} {WITHOUT_ORDER}")
    found, ranges, scores = dict[str, Recording](), dict[str, Range](), dict[str, Range]()
    fault, most = np.zeros(len(code), dtype=np.int8), np.full(len(code), np.nan)  # a grade is certain
    for at in sorted(np.unique(code[rows]).tolist(), key=names.__getitem__):
        name, own = names[at], rows[code[rows] == at]
        said_in, known = cells.only(own), columns.described(name, int(own[0]))
        if kind := typed or declared.get(name) or known.range:
            ranges[name] = kind
        said = read.rows(own, said_in, kind, known.verdict)
        if not kind and off_scale != "unscored" and (kind := _off_the_scale(said_in, said.fault, about.scale)):
            scores[name], said = kind, read.rows(own, said_in, kind, known.verdict)
        fault[own], most[own] = said.fault, np.nan if name in scores else said.spread.max(axis=1)
        found[name] = read.recording(said, known)
    if scores and off_scale == "refused":
        raise InputError(
            [
                f"{columns.path}: the numbers of {name} run from {own.worst:g} to {own.best:g}; the grades of the "
                f'labels are {grades}. Declare the range: --judges "{name}=WORST..BEST" of a column or a judge beside '
                f'labels, #range=WORST..BEST behind recorded:FILE, or "range": [WORST, BEST] in its {ABOUT}.'
                for name, own in scores.items()
            ]
        )
    if len(off := rows[fault[rows] == OFF]):
        kinds = [{**ranges, **scores}.get(names[at]) for at in dict.fromkeys(code[off].tolist())]
        valid = [f"numbers of {one}" if one else grades for one in dict.fromkeys(kinds)]
        strange = [str(cells.values[at])[:40] for at in dict.fromkeys(cells.codes[off].tolist())]
        many = f"{plural(len(off), 'grade', thousands=True)} off the scale"
        if verdict == REPLY:
            many = f"{len(off):,} of {int((cells.codes[rows] != NO_CELL).sum()):,} replies could not be read"
            valid[-1] += f', in English or in a form; "verdict": "Nota: {{v}}" in {ABOUT} names another one'
        notes.append(f"{columns.where(off)}: {many} ({shortly(strange)}; valid are {'; '.join(valid)}): unscored")
    if len(empty := rows[fault[rows] == FAILED]):
        many = plural(len(empty), "row", thousands=True)
        notes.append(f"{columns.where(empty)}: {many} without a {verdict}: asked and failed, unscored")
    if (most < 1.0).any() and not about.scale.interval:
        many = f"{(most < 1.0).sum():,} of {(~np.isnan(most)).sum():,} verdicts lie between two grades"
        which = "its grade is the nearer one, or the even one of two equally near"
        notes.append(f"{columns.path}: {many}: each is split between the two so that its mean stays; {which}")
    notes += columns.unread(rows)
    if read.partial:
        notes.append(PARTIAL.format(times=read.partial, aspects=len(about.aspects)))
    return RecordedVerdicts(columns.path, about, found, tuple(notes), ranges, scores)


def _aspects(columns: VerdictColumns, rows: IntArray, about: OnWhat, notes: list[str]) -> tuple[IntArray, IntArray]:
    """Each row's aspect, and those of the rows whose aspect is labelled; an ``InputError`` where none is."""
    codes, seen = columns.column(ASPECT).as_ids()
    if not seen and len(about.aspects) == 1:
        return np.zeros(len(codes), dtype=np.int64), rows
    places = [about.aspects.index(name) if name in about.aspects else NO_CELL for name in seen]
    aspect = np.array([*places, NO_CELL], dtype=np.int64)[codes]
    kept = rows[aspect[rows] != NO_CELL]
    if not len(kept):
        seen_there = f"aspects {shortly(seen)}" if seen else f"no column {ASPECT}"
        ours = f"the labels have the aspects {listed(about.aspects)}, and a verdict is of one of them"
        raise InputError([f"{columns.path}:1: {seen_there}; {ours}. Add the column, or rename them in the file."])
    if len(kept) < len(rows):
        notes.append(f"{columns.path}: {len(rows) - len(kept):,} verdicts of aspects that nobody labelled: left out")
    return aspect, kept


def _sides(columns: VerdictColumns, column: TableColumn, rows: IntArray, said: Mapping[str, str]) -> TableColumn:
    """The column with a, b and tie for the words of the winner, all of which must mean something; one for nobody is no
    verdict.
    """
    words = [as_grade(value) for value in column.values]
    sides = [None if word is None else winner_of(word, said) for word in words]
    strange = [word is not None and side is None for word, side in zip(words, sides, strict=True)]
    if len(unknown := rows[np.array([*strange, False])[column.codes[rows]]]):
        seen = unknown_words(words[code] for code in column.codes[unknown].tolist())
        raise InputError([f"{columns.where(unknown)}: {seen}"])
    return TableColumn(column.codes, [None if side == UNDECIDED else side for side in sides]).present()


def _off_the_scale(column: TableColumn, fault: IntArray, scale: Scale) -> Range | None:
    """The lowest and highest number of a judge whose numbers are off the scale, but for slips; else None."""
    numbers = np.array([np.nan if (n := as_number(one)) is None else n for one in [*column.values, None]])[column.codes]
    known = ~np.isnan(numbers)
    off = int((known & (fault == OFF)).sum())
    if scale.level == "nominal" or off < LEAST_OFF or off <= MOST_OFF * known.sum():
        return None
    low, high = float(numbers[known].min()), float(numbers[known].max())
    return Range(low, high if high > low else low + 1.0)


class _Recorder:
    """Reads the rows of single judges, each with the position of its aspect; counts how often one lacks aspects."""

    def __init__(self, columns: VerdictColumns, aspect: IntArray, about: OnWhat, *, replied: bool) -> None:
        self.columns, self.about, self.replied, self.partial = columns, about, replied, 0
        (order, orders), (item, item_ids) = columns.ids(ORDER), columns.ids(ITEM)
        self.key = (item * len(about.aspects) + aspect) * (len(orders) + 1) + order + 1
        self.item_ids, self.replies = np.array([*item_ids, ""], dtype=object), columns.texts(REPLY)

    def rows(self, rows: IntArray, column: TableColumn, kind: Range | None, form: str | None) -> Stated:
        """What each of these rows says, whose cells are the column's; numbers are of a range, replies of a form."""
        scale, accept_only = self.about.scale, self.about.accept_only
        meant = [self._meant(value, form) for value in column.values]
        read = [None if one is None else read_value(one, scale, kind, accept_only=accept_only) for one in meant]
        fault = np.array([*(OFF if one is None else 0 for one in read), FAILED])
        spread = np.array([np.full(len(scale.grades), np.nan) if one is None else one for one in [*read, None]])
        grade = np.full(len(fault), UNSCORED)
        grade[fault == 0] = stated_grades(spread[fault == 0], scale)
        return Stated(self.key[rows], rows, spread[column.codes], grade[column.codes], fault[column.codes])

    def _meant(self, value: object, form: str | None) -> object:
        """A cell in words of the scale; None for a text that is not of the form that is declared."""
        if form is not None and isinstance(value, str) and (self.replied or as_number(value) is None):
            try:
                value = stated(value, self.about.scale, form=form)
            except UnreadableReplyError:
                return None
        spellings = TASKS[self.about.task].spellings
        word = as_grade(value) if spellings and isinstance(value, str) else None
        return value if word is None else respelled(word, spellings)

    def recording(self, said: Stated, known: AboutJudge) -> Recording:
        """The verdicts of one judge: its runs, orders and aspects joined; errors as ``read_recorded``."""
        scale, names, columns = self.about.scale, self.about.aspects, self.columns
        chances = np.stack([columns.number(f"{CHANCE}{grade}", said.row) for grade in scale.grades], axis=1)
        mass = np.nansum(chances, axis=1)
        has = (said.fault == 0) & (mass > 0)  # recorded probabilities go before what a grade says
        said.spread[has] = np.nan_to_num(chances[has]) / mass[has, None]
        declared = self.about.reading.orders and plain(self.about.reading.orders)
        reading = declared or known.order or columns.order or self.about.usual_orders
        turn_round(said, columns, reading, scale)
        one, flipped = of_orders(of_runs(said, columns, scale), columns, scale)
        begin, count = groups(one.key // len(names))
        at, places = np.repeat(np.arange(len(begin)), count), one.key[begin] // len(names)
        found = Columns.empty(len(begin), len(names), len(scale.grades))
        found.probabilities[at, one.key % len(names)], found.grade[at, one.key % len(names)] = one.spread, one.grade
        fault = np.maximum.reduceat(one.fault, begin)
        found.probabilities[fault > 0], found.grade[fault > 0] = np.nan, UNSCORED
        found.faults = np.array(WHY, dtype=object)[fault].tolist()
        found.reasons = self.replies[one.row[begin]].tolist()
        judged = found.judgments(scale, names, tuple(self.item_ids[places].tolist()))
        place = np.searchsorted(places, said.key // (len(names) * (len(columns.ids(ORDER)[1]) + 1)))
        cost = np.bincount(place, columns.number(COST, said.row), len(places)).astype(np.float64)
        flips = None if flipped is None else np.logical_or.reduceat(flipped, begin)
        calls, lacking = np.bincount(place, minlength=len(places)) / len(names), count < len(names)
        self.partial += int(lacking.sum())
        whole = Recording(known, replace(judged, flipped=flips), cost, calls)
        return whole.only(np.flatnonzero(~lacking)) if lacking.any() else whole


def check_against(recorded: RecordedVerdicts, labels: LabelSet) -> RecordedVerdicts:
    """The judges that share enough labelled items with the labels, with notes on the others.

    Raises:
        InputError: No item is in both files.
        UserError: No judge shares ``MIN_COMMON`` labelled items.
    """
    path, labelled = recorded.path, tuple(dict.fromkeys(label.item_id for label in labels.labels))
    judged = {item_id: None for one in recorded.recordings.values() for item_id in one.said.item_ids}
    common = {name: int(recorded.asked(name, labelled).sum()) for name in recorded.judges}
    if not any(common.values()):
        theirs, ours = next(iter(judged), "none"), next(iter(labelled), "none")
        seen = f"{path}:1: none of its items is a labelled one; item_id must be the same in both files"
        raise InputError([f"{seen}, and is {theirs} here, {ours} in the labels. Add the column item_id to both."])
    few = [f"{name} ({n})" for name, n in common.items() if n < MIN_COMMON]
    kept = {name: n for name, n in common.items() if n >= MIN_COMMON}
    if not kept:
        raise UserError(
            f"{path}: {shortly(few)} items in common with the labels; at least {MIN_COMMON} are needed of one judge. "
            "Label more items, or record more verdicts."
        )
    notes = [*recorded.notes]
    if few:
        notes.append(f"{path}: fewer than {MIN_COMMON} items in common with the labels, left out: {shortly(few)}")
    if strangers := len(judged.keys() - labelled):
        notes.append(f"{path}: verdicts on {strangers:,} items that nobody labelled: not looked at")
    if min(kept.values()) < len(labelled):
        each = " to ".join(f"{n:,}" for n in sorted({min(kept.values()), max(kept.values())}))
        notes.append(
            f"{path}: its judges were asked about {each} of the {len(labelled):,} labelled items (no row: not asked); "
            "two judges are compared on the items that both were asked about"
        )
    return replace(recorded.of(kept), notes=tuple(notes))
