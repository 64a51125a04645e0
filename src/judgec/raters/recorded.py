"""Recorded judges: what LMs, prompts or people once said of items, kept in a file, in place of a model that is asked.

A judge that has no row for an item was not asked; a row without a grade was asked and failed, which leaves the item
unscored. Several runs of a judge are one verdict, the mean of their distributions. So are the two orders of a pair,
and two orders that disagree are a flip and a tie, as when a model is asked.
"""

import json
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from fnmatch import fnmatchcase
from functools import cached_property
from types import MappingProxyType

import numpy as np
from numpy.typing import NDArray

from judgec.errors import InputError, UserError
from judgec.labels.experts import experts_of
from judgec.labels.rows.grades import respelled
from judgec.labels.rows.ranges import Range, ranges_of, with_range
from judgec.raters.decision import stated_grades
from judgec.raters.pairwise import TIE
from judgec.raters.piece import Piece
from judgec.raters.pool import joint_grade
from judgec.raters.rater import Count, Rating
from judgec.raters.replies import OFF_SCALE, UnreadableReplyError, stated
from judgec.raters.values import read_value
from judgec.raters.verdicts import (
    ABOUT,
    ACCEPT,
    AS_SHOWN,
    ASPECT,
    CHANCE,
    COST,
    EXPLAINED,
    GRADE,
    ITEM,
    JUDGE,
    MAPPED,
    MODEL,
    ORDER,
    ORDERS,
    PREFERENCE,
    PROMPT,
    REPLY,
    RUN,
    AboutJudge,
    VerdictColumns,
    messages_of,
    read_verdicts,
)
from judgec.records.card import ProgramCard
from judgec.records.consensus import mean_of
from judgec.records.counts import plural
from judgec.records.judgment import NOT_ASKED, UNSCORED, Judgments
from judgec.records.label import FloatArray, IntArray, LabelSet
from judgec.records.ratings import pair
from judgec.records.scale import ACCEPT_SCALE, Scale
from judgec.records.tasks.registry import TASKS, compares, plain
from judgec.records.tasks.winners import UNSCORED as UNDECIDED
from judgec.records.tasks.winners import unknown_words, winner_of, winner_words
from judgec.table.rows.cells import as_grade, as_number, as_text
from judgec.table.rows.columns import listed
from judgec.table.table import NO_CELL, TableColumn
from judgec.table.tables import TableSource

NO_VERDICT = "no verdict in the recorded row"
UNSAID = "unsaid"  # in a card: nobody said how orders are read; one without a word of them mapped them back
STRAIGHT = frozenset({"ab", "a_b", "original", "normal", "straight", "forward", "a_first"})  # answer_a stood first
SWAPPED = frozenset({"ba", "b_a", "swapped", "swap", "reversed", "reverse", "flipped", "backward", "b_first"})
MIN_COMMON = 30  # labelled items: a judge with fewer is compared with nobody
RECORDED_KIND = "recorded"  # what the card calls the candidate and the search
SHOWN = 8  # judges or grades that a message lists
RANGES = "ranges"  # of a card's settings: JSON of the ranges by judge
MOST_OFF, LEAST_OFF = 0.05, 2  # share and number of a judge's numbers off the scale that are slips, no range
FAILED, OFF = 1, 2  # of a row: no readable verdict, a grade off the scale

BoolArray = NDArray[np.bool_]


@dataclass(frozen=True, slots=True)
class OnWhat:
    """Task, scale and inputs that recorded verdicts are about.

    Args:
        task: Of the labels.
        scale: The grades.
        aspects: What is graded of each item.
        accept_only: The labels, and so the verdicts, are accept or reject.
        ranges: From the worst to the best number of judges whose numbers are not grades of the scale.
        orders: How verdicts on pairs in the other order are read, a key of ``raters.verdicts.ORDERS``, whatever
            ``judges.json`` says; None where nobody typed it.
        usual_orders: The same where ``judges.json`` says nothing, either.
        winner_words: What words for the winner of a pair mean, as ``records.tasks.winners.winner_words`` makes it.
        columns: Names of the columns of a file of verdicts by names that it may use.
    """

    task: str
    scale: Scale
    aspects: tuple[str, ...]
    accept_only: bool = False
    ranges: Mapping[str, Range] = field(default_factory=dict)
    orders: str | None = None
    usual_orders: str | None = None
    winner_words: Mapping[str, str] = field(default_factory=dict)
    columns: Mapping[str, str] = field(default_factory=dict)

    @classmethod
    def of(
        cls,
        labels: LabelSet,
        orders: str | None = None,
        said: Mapping[str, str] = MappingProxyType({}),
        columns: Mapping[str, str] = MappingProxyType({}),
        judges: Mapping[str, str] = MappingProxyType({}),
    ) -> "OnWhat":
        """The same from the labels, and from how words, orders, columns and numbers are read, as somebody says."""
        return cls(
            labels.task,
            labels.scale,
            labels.aspects,
            labels.accept_only,
            ranges=ranges_of(judges),
            orders=None if orders is None else plain(orders),
            winner_words=winner_words(said),
            columns=columns,
        )

    @classmethod
    def of_card(cls, card: ProgramCard) -> "OnWhat":
        """The same of a compiled judge."""
        said, orders, columns = map(card.settings.get, ("winner_words", "orders", "columns"))
        return cls(
            card.task,
            card.scale,
            card.aspects,
            card.scale.grades == ACCEPT_SCALE.grades,
            ranges=_ranges_on(card),
            usual_orders=MAPPED if orders is None else None if orders == UNSAID else str(orders),
            winner_words=json.loads(str(said)) if said else {},
            columns=json.loads(str(columns)) if columns else {},
        )

    @property
    def settings(self) -> dict[str, str]:
        """Settings that a card keeps, so that ``of_card`` reads other verdicts the same way."""
        said = {"winner_words": self.winner_words, "columns": self.columns}
        words = {name: json.dumps(dict(one)) for name, one in said.items() if one}
        return ({"orders": self.orders or UNSAID} if compares(self.task) else {}) | words


@dataclass(frozen=True)
class RecordedVerdicts:
    """Verdicts of several judges on items, in rows sorted by judge and item.

    Args:
        path: The file, for messages.
        about: What they are about.
        judges: Names, sorted, and what is known of each.
        item_ids: The items that any judge was asked about.
        judge: Position of each row's judge, shape (n_rows,).
        item: Position of each row's item, shape (n_rows,).
        probabilities: Shape (n_rows, n_aspects, n_grades), NaN where there is no verdict.
        grade: The stated positions, shape (n_rows, n_aspects), -1 where there is no verdict.
        fault: 0 for a verdict, else ``FAILED`` or ``OFF``, shape (n_rows,).
        flipped: The two orders of the pair disagree, shape (n_rows,).
        paired: The pair was shown in both orders, shape (n_rows,).
        reply: Position of each row's reply in ``replies``, -1 without one, shape (n_rows,).
        replies: The different replies.
        cost: US dollars of each row, NaN where unknown, shape (n_rows,).
        calls: How often the judge was asked for each row: runs times orders, shape (n_rows,).
        notes: What reading assumed, left out or counted, one sentence each.
        ranges: From the worst to the best number of judges whose numbers were mapped to the scale.
        scores: The lowest and highest number of judges that are off the scale, and whose range nobody declared: only
            their order counts.
    """

    path: str
    about: OnWhat
    judges: Mapping[str, AboutJudge]
    item_ids: tuple[str, ...] = field(repr=False)
    judge: IntArray = field(repr=False)
    item: IntArray = field(repr=False)
    probabilities: FloatArray = field(repr=False)
    grade: IntArray = field(repr=False)
    fault: IntArray = field(repr=False)
    flipped: BoolArray = field(repr=False)
    paired: BoolArray = field(repr=False)
    reply: IntArray = field(repr=False)
    replies: Sequence[str] = field(repr=False)
    cost: FloatArray = field(repr=False)
    calls: FloatArray = field(repr=False)
    notes: tuple[str, ...] = ()
    ranges: Mapping[str, Range] = field(default_factory=dict)
    scores: Mapping[str, Range] = field(default_factory=dict)

    @cached_property
    def _code(self) -> dict[str, int]:
        return {item_id: code for code, item_id in enumerate(self.item_ids)}

    @cached_property
    def _begins(self) -> dict[str, slice]:
        edges = np.searchsorted(self.judge, np.arange(len(self.judges) + 1))
        return {name: slice(int(edges[i]), int(edges[i + 1])) for i, name in enumerate(self.judges)}

    def rows_of(self, judge: str, item_ids: Sequence[str]) -> IntArray:
        """The row of a judge on each item, -1 where it was not asked.

        Raises:
            UserError: There is no such judge.
        """
        self.require(judge)
        own = self._begins[judge]
        codes = np.array([self._code.get(item_id, NO_CELL) for item_id in item_ids], dtype=np.int64)
        items = self.item[own]
        if not len(items):
            return np.full(len(codes), NO_CELL, dtype=np.int64)
        at = np.minimum(np.searchsorted(items, codes), len(items) - 1)
        return np.where(items[at] == codes, at + own.start, NO_CELL)

    def lacking(self, judge: str, item_ids: Sequence[str]) -> int:
        """On how many of these items there is nothing of a judge."""
        return int((self.rows_of(judge, item_ids) == NO_CELL).sum())

    def require(self, judge: str) -> None:
        """Refuse a judge that is not there.

        Raises:
            UserError: Saying which there are.
        """
        if judge not in self.judges:
            raise UserError(
                f"{self.path}: no verdicts of judge {judge}; it has {shortly(list(self.judges))}. "
                "Correct the name, record verdicts of this judge, or name another file with --lm recorded:FILE."
            )

    def judgments(self, judge: str, item_ids: Sequence[str]) -> Judgments:
        """A judge's raw verdicts on items, as if it had been asked.

        Raises:
            UserError: There is no such judge.
        """
        rows = self.rows_of(judge, item_ids)
        scale, shape = self.about.scale, (len(rows), len(self.about.aspects))
        asked = rows != NO_CELL
        probabilities = np.full((*shape, len(scale.grades)), np.nan)
        grade = np.full(shape, UNSCORED, dtype=np.int64)
        flipped = np.zeros(len(rows), dtype=bool)
        probabilities[asked], grade[asked], flipped[asked] = (
            self.probabilities[rows[asked]],
            self.grade[rows[asked]],
            self.flipped[rows[asked]],
        )
        fault = np.where(asked, self.fault[rows], -1).tolist() if len(self.fault) else [-1] * len(rows)
        why = {0: None, FAILED: NO_VERDICT, OFF: OFF_SCALE, -1: NOT_ASKED}
        said = np.where(asked, self.reply[rows], NO_CELL).tolist() if len(self.reply) else [NO_CELL] * len(rows)
        known = (grade != UNSCORED) & (scale.accept_index is not None)
        return Judgments(
            item_ids=tuple(item_ids),
            aspects=self.about.aspects,
            probabilities=probabilities,
            grade=grade,
            score=probabilities @ np.array(scale.values),
            accept=np.where(known, grade >= (scale.accept_index or 0), UNSCORED).astype(np.int64),
            confidence=np.full(shape, np.nan),
            rationale=tuple("" if code == NO_CELL else self.replies[code] for code in said),
            unscored=tuple(why[code] for code in fault),
            flipped=flipped if self.paired[rows[asked]].any() else None,
        )

    def cost_of(self, judge: str, item_ids: Sequence[str]) -> float | None:
        """Cost of a judge's verdicts on these items in US dollars, as recorded; None where that is not known."""
        rows = self.rows_of(judge, item_ids)
        costs = self.cost[rows[rows != NO_CELL]]
        return None if not len(costs) or np.isnan(costs).any() else float(costs.sum())

    def calls_of(self, judge: str, item_ids: Sequence[str]) -> tuple[float, int]:
        """Number of calls of a judge about these items, and of items it was asked about."""
        rows = self.rows_of(judge, item_ids)
        return float(self.calls[rows[rows != NO_CELL]].sum()), int((rows != NO_CELL).sum())

    def beside(self, others: "RecordedVerdicts") -> "RecordedVerdicts":
        """These verdicts and others on the same task, whose judges have other names; what these are about stays."""
        both, ids = (self, others), tuple(dict.fromkeys((*self.item_ids, *others.item_ids)))
        names, code = sorted((*self.judges, *others.judges)), {item_id: n for n, item_id in enumerate(ids)}
        replies = list(dict.fromkeys((*self.replies, *others.replies)))
        place = {text: n for n, text in enumerate(replies)}

        def moved(what: str, kept: Callable[[RecordedVerdicts], Iterable[str]], to: Mapping[str, int]) -> IntArray:
            places = [np.array([*map(to.__getitem__, kept(one)), NO_CELL]) for one in both]
            return np.concatenate([place[getattr(one, what)] for place, one in zip(places, both, strict=True)])

        rows = {
            "judge": moved("judge", lambda one: one.judges, {name: n for n, name in enumerate(names)}),
            "item": moved("item", lambda one: one.item_ids, code),
            "reply": moved("reply", lambda one: one.replies, place),
        } | {
            name: np.concatenate([getattr(one, name) for one in both])
            for name in ("probabilities", "grade", "fault", "flipped", "paired", "cost", "calls")
        }
        order = np.lexsort((rows["item"], rows["judge"]))
        return replace(
            self,
            judges={name: (self.judges.get(name) or others.judges[name]) for name in names},
            item_ids=ids,
            replies=replies,
            notes=(*self.notes, *others.notes),
            **{name: values[order] for name, values in rows.items()},
        )

    def of(self, names: Sequence[str]) -> "RecordedVerdicts":
        """The verdicts of these judges alone."""
        return _only(self, names)


class RecordedRater:
    """A recorded judge, whose verdicts are looked up; a pair's are of both orders already.

    Args:
        recorded: The verdicts.
        judge: Whose.
        count: Told of progress.
        called: What the verdicts call an item, where that is not its ``item_id``.

    Raises:
        UserError: There is no such judge.
    """

    def __init__(
        self, recorded: RecordedVerdicts, judge: str, count: Count, called: Mapping[str, str] | None = None
    ) -> None:
        recorded.require(judge)
        self._recorded, self._judge, self._count, self._called = recorded, judge, count, called

    def rate(self, piece: Piece) -> Rating:
        """As ``Rater.rate``."""
        yield from ()
        named = piece.item_ids if self._called is None else [self._called[item_id] for item_id in piece.item_ids]
        said = self._recorded.judgments(self._judge, named)
        self._count.add(len(named), int((~said.scored).sum()))
        return replace(said, item_ids=piece.item_ids)


def read_recorded(
    source: TableSource,
    about: OnWhat,
    judges: str | Collection[str] | None = None,
    labels: LabelSet | None = None,
    *,
    scores: bool = False,
) -> RecordedVerdicts:
    """Read recorded verdicts.

    A verdict is a grade, or any number within the scale: such a score is shared between the two neighbouring grades so
    that its mean is kept, and its grade is the nearest. Where a judge's numbers have another range, somebody declares
    it: ``FILE#range=0..1``, ``"range": [0, 1]`` in ``judges.json``, or in ``about``; they are mapped linearly.

    Where there are replies and no grades, the verdict of each is read, as of a model that was asked.

    A pair's verdict in the other order says which answer *stood* first, or it was mapped back to answer_a and
    answer_b. Nobody can see which from the verdicts: a judge that follows the order looks alike either way.

    Args:
        source: A file, or rows in memory, as ``raters.verdicts`` reads them.
        about: The labels' task, scale and aspects.
        judges: Names of those that are read, or a pattern of them; notes and faults are of their rows alone.
        labels: To say how far each reading of the orders agrees with, where nobody says which it is; beside them
            numbers off the scale are none of it.
        scores: Read judges whose numbers are off the scale, though nobody declared their range, for their order alone.

    Raises:
        InputError: Missing columns or cells, verdicts given twice, several aspects without a column that says which,
            numbers off the scale; pairs in both orders of which nobody says how to read them; unknown words for the
            winner.
        UserError: No name matches, or no range behind ``#range=``.
    """
    path, said = with_range(source) if isinstance(source, str) else (source, None)
    columns = read_verdicts(path, about.scale.grades, about.winner_words, about.columns)
    verdict = _verdict_column(columns, about)
    columns = columns if judges is None else _of_judges(columns, judges)
    notes = list(columns.notes)
    if verdict == REPLY:
        notes.append(f"{columns.path}: no grades; each verdict is what its {REPLY} states last")
    asked = _asked(columns, about, notes)
    turned = _turned(columns, about)
    if turned is None:
        raise InputError([_unexplained(path, columns, about, judges, labels)])
    if compares(about.task) and verdict != REPLY:
        columns = _with_sides(columns, verdict, about.winner_words)
    own = {name: columns.about.get(name, AboutJudge()).range for name in asked.judges}
    ranges = {name: one for name in asked.judges if (one := said or about.ranges.get(name) or own[name]) is not None}
    off = {} if labels is None else _off_the_scale(columns.coded[verdict], asked, about, ranges)
    if off and not scores:
        raise InputError(_refused(columns.path, off, about))
    as_score = np.array([name in off for name in asked.judges], dtype=bool)[asked.judge]
    spread, stated, fault = _verdicts(columns, verdict, asked, about, {**off, **ranges}, as_score, notes)
    if turned.any():
        _swap(spread, stated, turned, about.scale)
    kept = asked.kept
    merged = _merge(asked.cell[kept], asked.order[kept], spread[kept], stated[kept], fault[kept], about)
    cost = columns.numbers.get(COST, np.full(columns.n_rows, np.nan))
    _say_costs(columns, cost, notes)
    found = _by_item(merged, about, notes)
    place = np.searchsorted(found.key, asked.cell[kept] // len(about.aspects))
    reply, texts = _replies(columns)
    result = RecordedVerdicts(
        path=columns.path,
        about=about,
        judges=_described(columns, asked.judges),
        item_ids=tuple(asked.item_ids),
        judge=found.key // len(asked.item_ids),
        item=found.key % len(asked.item_ids),
        probabilities=found.spread,
        grade=found.grade,
        fault=found.fault,
        flipped=found.flipped,
        paired=found.paired,
        reply=reply[kept[found.row]],
        replies=texts,
        cost=np.bincount(place, cost[kept], len(found.key)).astype(np.float64),
        calls=np.bincount(place, minlength=len(found.key)) / len(about.aspects),
        notes=tuple(notes),
        ranges=ranges,
        scores=off,
    )
    return result if not found.partial.any() else _whole(result, ~found.partial)


@dataclass(frozen=True, slots=True)
class _Asked:
    """Item, judge and aspect of each row of a file of verdicts.

    Args:
        judges: Names, sorted.
        item_ids: The items.
        judge: Position of each row's judge, shape (n_rows,).
        cell: Code of each row's judge, item and aspect, shape (n_rows,).
        order: Code of the order in which its pair was shown, shape (n_rows,).
        kept: The rows of aspects that are labelled.
    """

    judges: Sequence[str]
    item_ids: Sequence[str]
    judge: IntArray
    cell: IntArray
    order: IntArray
    kept: IntArray


def _asked(columns: VerdictColumns, about: OnWhat, notes: list[str]) -> _Asked:
    """Judge, item, aspect and order of each row.

    Raises:
        InputError: Two verdicts on the same, or no aspect where there are several.
    """
    aspect, kept = _aspects(columns, about, notes)
    item, item_ids = columns.coded[ITEM].as_ids()
    code, names = columns.coded[JUDGE].as_ids()
    judges = sorted(names)
    place = {name: at for at, name in enumerate(judges)}
    judge = np.array([place[name] for name in names], dtype=np.int64)[code]
    cell = (judge * len(item_ids) + item) * len(about.aspects) + aspect
    order = _orders(columns, about, notes)
    _require_distinct(columns, kept, cell, order, pairs=compares(about.task))
    return _Asked(judges, item_ids, judge, cell, order, kept)


def _verdict_column(columns: VerdictColumns, about: OnWhat) -> str:
    """The column of the verdicts: grades, else what judges wrote of which nobody made grades.

    Raises:
        InputError: There is none, or no column of items or judges, or cells of these are missing.
    """
    wanted = PREFERENCE if compares(about.task) else GRADE
    if wanted not in columns.coded:
        wanted = next(
            (one for one in (*([ACCEPT] if about.accept_only else []), REPLY) if one in columns.coded), wanted
        )
    columns.require(ITEM, JUDGE, wanted)
    if faults := [*columns.missing_cells(ITEM), *columns.missing_cells(JUDGE)]:
        raise InputError(faults)
    return wanted


def _swap(spread: FloatArray, stated: IntArray, turned: np.ndarray, scale: Scale) -> None:
    """Map verdicts on pairs that were shown the other way round back to answer_a and answer_b, in place."""
    a, b = scale.position("a"), scale.position("b")
    spread[turned, a], spread[turned, b] = spread[turned, b], spread[turned, a]
    stated[turned] = np.where(stated[turned] == a, b, np.where(stated[turned] == b, a, stated[turned]))


def _whole(result: RecordedVerdicts, keep: np.ndarray) -> RecordedVerdicts:
    """The verdicts without those that are of some aspects alone."""
    changed = {name: getattr(result, name)[keep] for name in ("judge", "item", "probabilities", "grade", "fault")}
    changed |= {name: getattr(result, name)[keep] for name in ("flipped", "paired", "reply", "cost", "calls")}
    return replace(result, **changed)


def _of_judges(columns: VerdictColumns, pattern: str | Collection[str]) -> VerdictColumns:
    """The rows of the judges whose names match."""
    codes, everybody = columns.coded[JUDGE].as_ids()
    kept = set(_matching(sorted(everybody), pattern, columns.path))
    return columns.only(np.flatnonzero(np.array([name in kept for name in everybody])[codes]))


def _matching(names: Sequence[str], wanted: str | Collection[str], path: str) -> list[str]:
    """The names that are wanted.

    Raises:
        UserError: One of them is not there, or none matches.
    """
    kept = [name for name in names if (fnmatchcase(name, wanted) if isinstance(wanted, str) else name in wanted)]
    lacks = [] if isinstance(wanted, str) else [name for name in wanted if name not in names]
    if lacks or not kept:
        said = f"#{wanted}: matches none" if isinstance(wanted, str) else f"--judges {listed(lacks)}: none"
        raise UserError(f"{said} of the judges in {path}, {shortly(names)}. Correct the name.")
    return kept


def _aspects(columns: VerdictColumns, about: OnWhat, notes: list[str]) -> tuple[IntArray, IntArray]:
    """Position of each row's aspect, and the rows of aspects that are labelled."""
    everything = np.arange(columns.n_rows)
    column = columns.coded.get(ASPECT)
    if column is None:
        if len(about.aspects) > 1:
            raise InputError(
                [
                    (
                        f"{columns.path}:1: no column aspect; the labels have the aspects {listed(about.aspects)}, and "
                        "a verdict is of one of them. Add the column."
                    )
                ]
            )
        return np.zeros(columns.n_rows, dtype=np.int64), everything
    place = {name: i for i, name in enumerate(about.aspects)}
    found = [place.get(as_text(name).strip(), NO_CELL) for name in column.values]
    position = np.array([*found, NO_CELL], dtype=np.int64)[column.codes]
    kept = np.flatnonzero(position != NO_CELL)
    if not len(kept):
        seen = listed([as_text(value) for value in column.values[:SHOWN]])
        raise InputError(
            [
                (
                    f"{columns.path}:1: aspects {seen}; none of these is an aspect of the labels, "
                    f"{listed(about.aspects)}. Rename them in the file."
                )
            ]
        )
    if len(kept) < columns.n_rows:
        notes.append(
            f"{columns.path}: {columns.n_rows - len(kept):,} verdicts of aspects that nobody labelled: left out"
        )
    return np.maximum(position, 0), kept


def _orders(columns: VerdictColumns, about: OnWhat, notes: list[str]) -> IntArray:
    """Code of the order in which each row's pair was shown; 0 for what is no pair, or where nobody noted it."""
    if not compares(about.task):
        return np.zeros(columns.n_rows, dtype=np.int64)
    column = columns.coded.get(ORDER)
    codes = np.full(columns.n_rows, NO_CELL, dtype=np.int64) if column is None else column.as_ids()[0]
    if missing := int((codes == NO_CELL).sum()):
        first = int(np.flatnonzero(codes == NO_CELL)[0])
        notes.append(
            f"{columns.where(first)}{_below(missing)}: {missing:,} preferences without an order: read as they "
            "stand, whether they flip with the order of the answers is not known"
        )
    return codes + 1


def _turned(columns: VerdictColumns, about: OnWhat) -> BoolArray | None:
    """Rows whose A is answer_b, because it stood first; None where nobody says.

    Raises:
        InputError: Verdicts as shown, in an order of which nobody knows what stood first.
    """
    none = np.zeros(columns.n_rows, dtype=bool)
    column = columns.coded.get(ORDER)
    if column is None or not compares(about.task):
        return none
    codes, names = column.as_ids()
    straight, swapped = (np.array([*(plain(name) in known for name in names), False]) for known in (STRAIGHT, SWAPPED))
    other = codes != NO_CELL if len(names) > 1 else none
    judge, called = columns.coded[JUDGE].as_ids()
    own = [None if (one := columns.about.get(name)) is None else one.order for name in called]
    read = [about.orders or one or columns.order or about.usual_orders for one in own]
    shown, unsaid = (np.array([one == reading for one in read])[judge] for reading in (AS_SHOWN, None))
    if (unsaid & (swapped[codes] | (other & ~straight[codes]))).any():
        return None
    strange = np.flatnonzero(shown & (codes != NO_CELL) & ~straight[codes] & ~swapped[codes])
    if len(strange):
        row = int(strange[0])
        raise InputError(
            [
                (
                    f"{columns.where(row)}: order {names[codes[row]]!r}: as shown, it has to say which answer stood "
                    "first; ab and ba are valid. Rename the orders in the file."
                )
            ]
        )
    return np.asarray(shown & swapped[codes])


def _unexplained(
    source: TableSource,
    columns: VerdictColumns,
    about: OnWhat,
    judges: str | Collection[str] | None,
    labels: LabelSet | None,
) -> str:
    """The message where nobody says how verdicts in the other order are to be read: with what either reading gives."""
    found = []
    for reading in ORDERS:
        try:
            read = read_recorded(source, replace(about, orders=reading), judges)
        except InputError as error:
            found.append(f"read as {reading}, {error.faults[0].partition(': ')[2].rstrip('.')}")
            continue
        both = read.paired & (read.fault == 0)
        flips = f"{int(read.flipped[both].sum()):,} of {int(both.sum()):,} pairs flip"
        found.append(f"read as {reading}, {flips}{'' if labels is None else _exact(read, labels)}")
    orders = columns.coded[ORDER].as_ids()[1]
    return (
        f"{columns.path}:1: order is {listed(orders[:SHOWN])}, and {PREFERENCE} can mean two things there: "
        f"{EXPLAINED}; {'; '.join(found)}. Say which it is, with --orders as-shown or --orders mapped, or "
        f'"{ORDER}": "{AS_SHOWN}" or "{MAPPED}" in STEM.{ABOUT}.'
    )


def _exact(read: RecordedVerdicts, labels: LabelSet) -> str:
    """Share of all judges' verdicts that are the experts'."""
    experts = experts_of(labels)
    right, of = 0.0, 0
    for name in read.judges:
        rated = pair(
            experts, read.judgments(name, [item.item_id for item in labels.items]), labels.scale, accept_only=False
        )
        both = rated.where(rated.graded & (rated.judge != UNSCORED))
        right += float(mean_of(both.target == both.judge[:, None], both.target).sum())
        of += len(both.judge)
    return f", exact agreement with the labels {right / of:.2f}" if of else ""


def _with_sides(columns: VerdictColumns, verdict: str, said: Mapping[str, str]) -> VerdictColumns:
    """The columns with a, b and tie for the words of the winner; a word for nobody is no verdict.

    Raises:
        InputError: Words that mean nothing, all together.
    """
    column = columns.coded[verdict]
    words = [as_grade(value) for value in column.values]
    sides = [None if word is None else winner_of(word, said) for word in words]
    strange = np.array([word is not None and side is None for word, side in zip(words, sides, strict=True)] + [False])
    if strange.any():
        rows = np.flatnonzero(strange[column.codes])
        unknown = unknown_words(words[code] for code in column.codes[rows].tolist())
        raise InputError([f"{columns.where(int(rows[0]))}{_below(len(rows))}: {unknown}"])
    codes = np.array([NO_CELL if side in {None, UNDECIDED} else at for at, side in enumerate(sides)] + [NO_CELL])
    read = TableColumn(codes[column.codes].astype(np.int32), list(sides))
    return replace(columns, coded={**columns.coded, verdict: read})


def _require_distinct(columns: VerdictColumns, kept: IntArray, cell: IntArray, order: IntArray, *, pairs: bool) -> None:
    """Refuse two verdicts of one judge on one item, aspect and order, unless a column ``run`` tells them apart."""
    run = columns.coded.get(RUN)
    runs = np.zeros(columns.n_rows, dtype=np.int64) if run is None else run.as_ids()[0] + 1
    n_orders, n_runs = int(order.max(initial=0)) + 1, int(runs.max(initial=0)) + 1
    key = ((cell * n_orders + order) * n_runs + runs)[kept]
    by_key = np.argsort(key, kind="stable")
    twice = np.flatnonzero(np.diff(key[by_key]) == 0)
    if len(twice):
        later = np.sort(kept[by_key[twice + 1]])
        first = kept[by_key[twice[np.argmin(by_key[twice + 1])]]]
        item, judge = (columns.coded[name] for name in (ITEM, JUDGE))
        apart = f"{ORDER} or {RUN}" if pairs else RUN
        raise InputError(
            [
                f"{columns.where(int(row))}: a second verdict of judge {judge.values[judge.codes[row]]} on item "
                f"{item.values[item.codes[row]]}"
                f"{f', the first is at {columns.where(int(first))}' if row == later[0] else ''}; one is valid, or "
                f"several with a column {apart} that tells them apart. Delete one, or add the column."
                for row in later
            ]
        )
    if n_orders < 3:
        return
    cells, orders = np.unique(np.unique((cell * n_orders + order)[kept]) // n_orders, return_counts=True)
    if (orders > 2).any():
        row = int(np.flatnonzero(cell == cells[orders > 2][0])[2])
        raise InputError(
            [
                (
                    f"{columns.where(row)}: a third order of one pair; two answers have two orders, for example ab "
                    f"and ba. Correct the column {ORDER}."
                )
            ]
        )


def _off_the_scale(column: TableColumn, asked: _Asked, about: OnWhat, said: Mapping[str, Range]) -> dict[str, Range]:
    """The judges whose numbers are off the scale and whose range nobody declared, with their lowest and highest."""
    if about.scale.level == "nominal":
        return {}
    has = column.codes != NO_CELL
    pairs, counts = np.unique(asked.judge[has] * len(column.values) + column.codes[has], return_counts=True)
    numbers = np.array([np.nan if (n := as_number(value)) is None else n for value in column.values])
    read = [_spread(value, about) is not None for value in column.values]
    off = ~np.isnan(numbers) & ~np.array(read, dtype=bool)
    found = {}
    for place, name in enumerate(asked.judges):
        own = slice(*np.searchsorted(pairs, [place * len(column.values), (place + 1) * len(column.values)]))
        code, count = pairs[own] % len(column.values), counts[own]
        strange, known = int(count[off[code]].sum()), ~np.isnan(numbers[code])
        if name not in said and strange >= LEAST_OFF and strange > MOST_OFF * count[known].sum():
            low, high = float(numbers[code[known]].min()), float(numbers[code[known]].max())
            found[name] = Range(low, high if high > low else low + 1.0)
    return found


def _spread(value: object, about: OnWhat, kind: Range | None = None, form: str | None = None) -> FloatArray | None:
    """The distribution that a cell states, in whatever words the task has for its grades; None off the scale."""
    if form is not None and isinstance(value, str):
        try:
            value = stated(value, about.scale, form=form)
        except UnreadableReplyError:
            return None
    word, spellings = as_grade(value) if isinstance(value, str) else None, TASKS[about.task].spellings
    said = value if word is None or not spellings else respelled(word, spellings)
    return read_value(said, about.scale, kind, accept_only=about.accept_only)


def _refused(path: str, off: Mapping[str, Range], about: OnWhat) -> list[str]:
    """Reasons why judges off the scale are not read, and how to declare their range."""
    grades = listed(about.scale.grades)
    return [
        f"{path}: the numbers of {name} run from {own.worst:g} to {own.best:g}; the grades of the labels are {grades}. "
        f'Declare the range of its numbers: --judges "{name}=WORST..BEST" of a column or a judge beside labels, '
        f'#range=WORST..BEST behind recorded:FILE, or "range": [WORST, BEST] in its judges.json.'
        for name, own in off.items()
    ]


def _verdicts(
    columns: VerdictColumns,
    verdict: str,
    asked: _Asked,
    about: OnWhat,
    ranges: Mapping[str, Range],
    as_score: BoolArray,
    notes: list[str],
) -> tuple[FloatArray, IntArray, IntArray]:
    """Each row's distribution, stated position and fault; of the rows ``as_score`` no note speaks of grades."""
    scale, k, column = about.scale, len(about.scale.grades), columns.coded[verdict]
    spread, fault = np.full((columns.n_rows, k), np.nan), np.full(columns.n_rows, FAILED, dtype=np.int64)
    kind_of = [(ranges.get(name), columns.about.get(name, AboutJudge()).verdict) for name in asked.judges]
    for kind, form in dict.fromkeys(kind_of):
        rows = np.flatnonzero(np.array([one == (kind, form) for one in kind_of], dtype=bool)[asked.judge])
        forms = [form if verdict == REPLY or as_number(value) is None else None for value in column.values]
        read = [_spread(value, about, kind, own) for value, own in zip(column.values, forms, strict=True)]
        spreads = np.array([np.full(k, np.nan) if one is None else one for one in [*read, None]])
        codes = np.array([*(OFF if one is None else 0 for one in read), FAILED], dtype=np.int64)
        spread[rows], fault[rows] = spreads[column.codes[rows]], codes[column.codes[rows]]
        off = rows[fault[rows] == OFF]
        if len(off):
            strange = [str(column.values[code])[:40] for code in dict.fromkeys(column.codes[off].tolist())]
            valid = listed(scale.grades) if kind is None else f"numbers of the judge's range, {kind}"
            kinds = ("grade off the scale", "grades off the scale")
            if as_score[off[0]]:
                kinds = ("score that cannot be read", "scores that cannot be read")
            what = plural(len(off), *kinds, thousands=True)
            if verdict == REPLY:
                what = f"{len(off):,} of {int((column.codes[rows] != NO_CELL).sum()):,} replies could not be read"
                valid = f'{valid}, in English or in a form; "verdict": "Nota: {{v}}" in judges.json names another one'
            where = f"{columns.where(int(off[0]))}{_below(len(off))}"
            notes.append(f"{where}: {what} ({shortly(strange)}; valid are {valid}): unscored")
    scored = fault == 0
    stated = np.full(len(fault), UNSCORED, dtype=np.int64)
    stated[scored] = stated_grades(spread[scored], scale)
    if empty := int((fault == FAILED).sum()):
        row = int(np.flatnonzero(fault == FAILED)[0])
        where, many = f"{columns.where(row)}{_below(empty)}", plural(empty, "row", thousands=True)
        notes.append(f"{where}: {many} without a {verdict}: asked and failed, unscored")
    graded = scored & ~as_score
    if not scale.interval and (between := int((spread[graded].max(axis=1, initial=0.0) < 1.0).sum())):
        notes.append(
            f"{columns.path}: {between:,} of {int(graded.sum()):,} verdicts lie between two grades: each is split "
            "between the two so that its mean stays; its grade is the nearer one, or the even one of two equally near"
        )
    chances = [columns.numbers.get(f"{CHANCE}{grade}") for grade in scale.grades]
    if any(one is not None for one in chances):
        given = np.stack([np.full(len(fault), np.nan) if one is None else one for one in chances], axis=1)
        mass = np.nansum(given, axis=1)
        has = scored & (mass > 0)
        spread[has] = np.nan_to_num(given[has]) / mass[has, None]
    return spread, stated, fault


@dataclass(frozen=True, slots=True)
class _Merged:
    """Verdicts by judge, item and aspect, in rising order of ``cell``; ``row`` is the first of each."""

    cell: IntArray
    row: IntArray
    spread: FloatArray
    grade: IntArray
    fault: IntArray
    flipped: BoolArray
    paired: BoolArray = field(default_factory=lambda: np.empty(0, dtype=bool))
    key: IntArray = field(default_factory=lambda: np.empty(0, dtype=np.int64))
    partial: BoolArray = field(default_factory=lambda: np.empty(0, dtype=bool))


def _merge(
    cell: IntArray, order: IntArray, spread: FloatArray, stated: IntArray, fault: IntArray, about: OnWhat
) -> _Merged:
    """Runs of one order as one verdict, then the orders of one pair."""
    n_orders = int(order.max(initial=0)) + 1
    once = _runs(cell * n_orders + order, spread, stated, fault, about.scale)
    whole, first, count = np.unique(once.cell // n_orders, return_index=True, return_counts=True)
    second = np.minimum(first + 1, len(once.cell) - 1)
    two = count == 2
    grade, kind = once.grade[first], once.fault[first]
    none = np.zeros(len(whole), dtype=bool)
    merged = _Merged(whole, once.row[first], once.spread[first], grade, kind, none, two)
    if not two.any():
        return merged
    a, b = first[two], second[two]
    scored = (once.fault[a] == 0) & (once.fault[b] == 0)
    differ = scored & (once.grade[a] != once.grade[b])
    merged.flipped[two] = differ
    agreed = np.where(differ, about.scale.position(TIE), once.grade[a])
    merged.grade[two] = np.where(scored, agreed, UNSCORED)
    merged.spread[two] = np.where(scored[:, None], (once.spread[a] + once.spread[b]) / 2.0, np.nan)
    merged.fault[two] = np.where(scored, 0, np.maximum(once.fault[a], once.fault[b]))
    return merged


def _runs(key: IntArray, spread: FloatArray, stated: IntArray, fault: IntArray, scale: Scale) -> _Merged:
    """Rows of one key as one verdict, pooled as a jury is; the stated grade where there is only one."""
    by_key = np.argsort(key, kind="stable")
    keys, begin, count = np.unique(key[by_key], return_index=True, return_counts=True)
    first = by_key[begin]
    if (count == 1).all():
        return _Merged(keys, first, spread[first], stated[first], fault[first], np.zeros(len(keys), dtype=bool))
    good = fault == 0
    votes = np.add.reduceat(good[by_key].astype(np.int64), begin)
    total = np.add.reduceat(np.where(good[:, None], spread, 0.0)[by_key], begin, axis=0)
    mean = np.where(votes[:, None] > 0, total / np.maximum(votes, 1)[:, None], np.nan)
    only = np.maximum.reduceat(np.where(good, stated, UNSCORED)[by_key], begin)
    grade = np.where(votes > 1, joint_grade(np.nan_to_num(mean), scale), only)
    kind = np.where(votes > 0, 0, np.maximum.reduceat(fault[by_key], begin))
    return _Merged(keys, first, mean, np.where(votes > 0, grade, UNSCORED), kind, np.zeros(len(keys), dtype=bool))


def _by_item(merged: _Merged, about: OnWhat, notes: list[str]) -> _Merged:
    """The aspects of one item side by side; a judge that was asked about some of them only was not asked."""
    aspects, k = len(about.aspects), len(about.scale.grades)
    key, first, count = np.unique(merged.cell // aspects, return_index=True, return_counts=True)
    row = np.searchsorted(key, merged.cell // aspects)
    spread = np.full((len(key), aspects, k), np.nan)
    grade = np.full((len(key), aspects), UNSCORED, dtype=np.int64)
    spread[row, merged.cell % aspects] = merged.spread
    grade[row, merged.cell % aspects] = merged.grade
    fault = np.maximum.reduceat(merged.fault, first) if len(first) else np.empty(0, dtype=np.int64)
    spread[fault > 0], grade[fault > 0] = np.nan, UNSCORED
    partial = count < aspects
    if partial.any():
        notes.append(
            f"{int(partial.sum()):,} times a judge was asked about some of the {aspects} aspects of an item only: "
            "taken as not asked"
        )
    flipped, paired = (
        np.logical_or.reduceat(mask, first) if len(first) else mask for mask in (merged.flipped, merged.paired)
    )
    return _Merged(merged.cell, merged.row[first], spread, grade, fault, flipped, paired, key=key, partial=partial)


def _replies(columns: VerdictColumns) -> tuple[IntArray, list[str]]:
    column = columns.coded.get(REPLY)
    if column is None:
        return np.full(columns.n_rows, NO_CELL, dtype=np.int64), []
    return column.codes.astype(np.int64), list(map(as_text, column.values))


def _say_costs(columns: VerdictColumns, cost: FloatArray, notes: list[str]) -> None:
    if COST in columns.numbers and (unknown := int(np.isnan(cost).sum())):
        unread = columns.unread.get(COST)
        what = "" if unread is None else f", {len(unread):,} of them negative, infinite or no number"
        odd = "" if unread is None else f"{what} (the first is {columns.where(int(unread[0]))})"
        place = columns.where(int(np.flatnonzero(np.isnan(cost))[0]))
        of = f"{unknown:,} of {plural(columns.n_rows, 'row', thousands=True)}"
        notes.append(f"{place}{_below(unknown)}: {of} without a {COST}{odd}: unknown, not 0")
    for name, rows in columns.unread.items():
        if name.startswith(CHANCE):
            place = f"{columns.where(int(rows[0]))}{_below(len(rows))}"
            notes.append(f"{place}: {len(rows):,} cells of {name} are no probability: left out")


def _below(count: int) -> str:
    """Behind the place of the first of so many."""
    return " and below" if count > 1 else ""


def _described(columns: VerdictColumns, names: Sequence[str]) -> dict[str, AboutJudge]:
    """Facts known of each judge: ``judges.json``, else the columns ``model`` and ``prompt`` of its first row."""
    judge, written = columns.coded[JUDGE].as_ids()
    first = np.full(len(written), columns.n_rows, dtype=np.int64)
    np.minimum.at(first, judge, np.arange(columns.n_rows))
    found = {}
    for name in names:
        row = int(first[written.index(name)])
        cells = {
            what: str(column.values[column.codes[row]])
            for what in (MODEL, PROMPT)
            if (column := columns.coded.get(what)) is not None and column.codes[row] != NO_CELL
        }
        found[name] = columns.about.get(name) or AboutJudge(
            cells.get(MODEL), cells.get(PROMPT), messages=messages_of(cells.get(PROMPT))
        )
    return found


def _ranges_on(card: ProgramCard) -> dict[str, Range]:
    """The ranges that the verdicts of a compiled judge had."""
    said = card.settings.get(RANGES)
    return (
        {name: Range.parse(text, card.name) for name, text in json.loads(said).items()} if isinstance(said, str) else {}
    )


def ranges_for_card(recorded: RecordedVerdicts) -> dict[str, str]:
    """Ranges for the card, so that the judge reads new verdicts as it read these."""
    return {RANGES: json.dumps({name: str(own) for name, own in recorded.ranges.items()})} if recorded.ranges else {}


def check_against(recorded: RecordedVerdicts, labels: LabelSet) -> RecordedVerdicts:
    """The judges that share enough labelled items with the labels, with notes on the others.

    Raises:
        InputError: No item is in both files.
        UserError: No judge shares ``MIN_COMMON`` labelled items.
    """
    labelled = tuple(dict.fromkeys(label.item_id for label in labels.labels))
    common = {name: int((recorded.rows_of(name, labelled) != NO_CELL).sum()) for name in recorded.judges}
    if not any(common.values()):
        theirs, ours = next(iter(recorded.item_ids), "none"), next(iter(labelled), "none")
        raise InputError(
            [
                (
                    f"{recorded.path}:1: none of its items is a labelled one; item_id must be the same in both files, "
                    f"and is here for example {theirs}, in the labels {ours}. Add the column item_id to both."
                )
            ]
        )
    few = {name: n for name, n in common.items() if n < MIN_COMMON}
    kept = [name for name in common if name not in few]
    if not kept:
        raise UserError(
            f"{recorded.path}: {shortly([f'{name} {n}' for name, n in few.items()])} items in common with the labels; "
            f"at least {MIN_COMMON} are needed of one judge. Label more items, or record more verdicts."
        )
    notes = [*recorded.notes]
    if few:
        who = shortly([f"{name} ({n})" for name, n in few.items()])
        notes.append(f"{recorded.path}: fewer than {MIN_COMMON} items in common with the labels, left out: {who}")
    strangers = len(set(recorded.item_ids) - set(labelled))
    if strangers:
        notes.append(f"{recorded.path}: verdicts on {strangers:,} items that nobody labelled: not looked at")
    fewest, most = min(common[name] for name in kept), max(common[name] for name in kept)
    if fewest < len(labelled):
        each = f"{fewest:,} to {most:,}" if fewest < most else f"{most:,}"
        notes.append(
            f"{recorded.path}: its judges were asked about {each} of the {len(labelled):,} labelled items (no "
            "row: not asked); two judges are compared on the items that both were asked about"
        )
    return replace(_only(recorded, kept), notes=tuple(notes))


def _only(recorded: RecordedVerdicts, kept: Sequence[str]) -> RecordedVerdicts:
    """The verdicts of these judges, which are still found by name."""
    if len(kept) == len(recorded.judges):
        return recorded
    wanted = set(kept)
    names = [name for name in recorded.judges if name in wanted]
    places = np.array([names.index(name) if name in wanted else NO_CELL for name in recorded.judges], dtype=np.int64)
    rows = np.flatnonzero(places[recorded.judge] != NO_CELL)
    changed = {
        name: getattr(recorded, name)[rows]
        for name in ("item", "probabilities", "grade", "fault", "flipped", "paired", "reply", "cost", "calls")
    }
    return replace(
        recorded,
        judges={name: recorded.judges[name] for name in names},
        judge=places[recorded.judge[rows]],
        **changed,
    )


def shortly(names: Sequence[str]) -> str:
    """Names, the first few of many."""
    more = f" and {len(names) - SHOWN} more" if len(names) > SHOWN else ""
    return f"{', '.join(names[:SHOWN])}{more}"
