"""A table that holds both the experts' and a judge's grades: what ``judgec agreement`` reads."""

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from judgec.errors import InputError, UserError
from judgec.records.judgment import UNSCORED
from judgec.records.label import UNLABELLED, FloatArray, IntArray
from judgec.records.ratings import GradePairs
from judgec.store.rows.cells import as_accept, as_grade, as_id, as_text
from judgec.store.rows.panel import QUERIES, AnnotatorPanel, one_row_each, panel_of
from judgec.store.table import Row, Table

VRAG_GRADES = {1.0, 2.0, 3.0, 4.0, 5.0}  # vRAG-Eval's scale, whose threshold is known
VRAG_ACCEPT_AT = 4.0
EMPTY = {"", "nan", "none", "null", "na", "n/a"}
JUDGED_COLUMN = re.compile(r"(.*?)(stated_confidence|grade|score|accept|confidence)(\..*)?")  # of ``judgec judge``
LEARNED = "learned"  # the column of rows whose queries the judge has learned from
JUDGED_BY = "judged_by"  # the column that names the judge
MOST_GRADES = 101  # 0-100; more different values are a measurement, not a scale
WIDEST = 21  # grades up to which a judge's whole numbers may widen the experts' scale

Cell = float | str | None
"""A grade as a number, a class as text, or None when the cell is empty."""


@dataclass(frozen=True, slots=True)
class Graded:
    """The pairs of a table.

    Args:
        ratings: Rows that an expert graded.
        nominal: The grades are words without an order.
        notes: What reading assumed.
        learned: How many rows the judge has learned from, or None where no column says so.
        out_of_fold: For how many of these stand judgments from before it learned from them.
        rows: Positions of the rows that an expert graded.
        panel: The annotators of these rows, why they cannot be compared, or None where the table names nobody.
    """

    ratings: GradePairs
    nominal: bool
    notes: tuple[str, ...]
    learned: int | None = None
    out_of_fold: int = 0
    rows: tuple[int, ...] = ()
    panel: AnnotatorPanel | str | None = None


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


def graded_of(
    table: Table,
    *,
    expert: str,
    judge: str,
    score: str | None,
    cluster: str | None,
    accept_at: str | None,
    every: bool = False,
    in_place: InPlace | None = None,
    annotators: Sequence[str] = (),
) -> Graded:
    """The grades in the expert and judge columns of any table.

    Numbers are ordered grades; where all words say accept or reject (true / false, yes / no, pass / fail) they are
    1 and 0, and grades in the other column are held against the threshold; any other word makes the grades classes
    without an order. The scale is the experts': a judge's number that is not on it is a score, whose nearest grade is
    the judge's grade, and a judge's word beside numbers is none. An empty judge cell is unscored; rows without an
    expert grade are left out and counted, and so are rows that ``judgec judge`` marked as ``learned``: a judge agrees
    better on what it learned from than on anything new. Where ``in_place`` knows what it said before, that is measured.

    Args:
        table: A file as read, or rows in memory.
        expert: Column of the experts' grades.
        judge: Column of the judge's.
        score: Column of the judge's continuous score; the judge's own number when None.
        cluster: Column that groups rows; every row stands alone when None, and where its cell is empty.
        accept_at: The lowest accepted grade; 4 on a 1-5 scale, otherwise unknown, when None.
        every: Keep the rows that the judge has learned from.
        in_place: Looks for judgments out of fold of such rows.
        annotators: Columns of one annotator each; by default those whom a column ``annotator`` names are compared.

    Raises:
        InputError: When a score is not a number, nobody graded anything, the judge gave words where experts gave
            numbers, or there are too many grades for a scale.
        UserError: When a column is missing, the judge has learned from every row, ``accept_at`` is no number or beyond
            the grades, or they are classes, or grades meet accepts without a threshold.
    """
    for option, column in (("--expert", expert), ("--judge", judge), ("--score", score), ("--cluster", cluster)):
        if column is not None and column not in table.columns:
            raise UserError(
                f"{table.path}: {option} {column}: no such column; there are {', '.join(table.columns)}. "
                "Name one of these."
            )
    notes = [*table.notes]
    table, learned, out_of_fold = not_learned(table, judge, notes, every=every, in_place=in_place)
    found = _graded(table, expert, judge, score, cluster, accept_at, notes)
    each = one_row_each(table, annotators, expert)
    panel: AnnotatorPanel | str | None = None
    if each is not None:  # with a column an annotator, their labels are other ones than the experts' column
        read = found if each is table else _graded(each, expert, judge, score, cluster, accept_at, [])
        panel = panel_of(each, read.rows, read.ratings, nominal=read.nominal, cluster=cluster)
    return replace(found, learned=learned, out_of_fold=out_of_fold, panel=panel)


def not_learned(
    table: Table, judge: str, notes: list[str], *, every: bool, in_place: InPlace | None
) -> tuple[Table, int | None, int]:
    """The rows to measure; how many the judge has learned from, None where no column says so; and stand-ins."""
    written = re.fullmatch(
        r"(.*?)(stated_confidence|grade|score|accept|confidence)(\..*)?", judge
    )  # as ``judgec judge`` names columns
    names = [f"{written[1]}{LEARNED}"] if written else []
    column = next((name for name in (*names, LEARNED) if name in table.columns), None)
    if column is None:
        return table, None, 0
    said = [as_grade(row.get(column)) for row in table.rows]
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
            "that are new to it are valid. Judge other items, keep these with --all, or say with --home where the "
            "judge is: what it said before it learned from them is measured then, if it was tested in folds."
        )
    if found.rows:
        notes.append(
            f"the judge has learned from the queries of {len(known)} of {len(said)} rows: what {found.judge} said of "
            f"{len(found.rows)} out of fold, before it learned from them, is measured in place of the file's judgments"
        )
    if left_out:
        these = "the others of these" if found.rows else f"the judge has learned from the queries of {len(known)} of "
        these += " rows" if found.rows else f"{len(said)} rows"
        notes.append(f"{these}: left out, {len(kept)} are measured; --all keeps them")
    rows, lines = tuple(found.rows.get(i, table.rows[i]) for i in kept), tuple(table.lines[i] for i in kept)
    return replace(table, rows=rows, lines=lines), len(known), len(found.rows)


def _graded(
    table: Table,
    expert: str,
    judge: str,
    score: str | None,
    cluster: str | None,
    accept_at: str | None,
    notes: list[str],
) -> Graded:
    path = table.path
    experts, judges = ([_cell(row.get(column)) for row in table.rows] for column in (expert, judge))
    if not any(value is not None for value in experts):
        raise InputError([f"{path}: no row has a grade in {expert}; at least one is needed. Name another --expert."])
    classes = not _says_accept(experts) and any(isinstance(value, str) for value in experts)
    numbers = judges = judges if classes else _only_grades(path, judge, judges, experts, notes)
    threshold: str | float | None = accept_at
    if not classes and (_says_accept(experts) or _says_accept(judges)):
        experts = _as_accepts(expert, experts, accept_at, notes)
        judges = _as_accepts(judge, judges, accept_at, notes)
        threshold = 1.0
    kept = [i for i, value in enumerate(experts) if value is not None]
    if len(kept) < len(experts):
        notes.append(f"{len(experts) - len(kept)} rows have no expert grade: left out")
    codes = _codes(table, kept, cluster, notes)
    words = sorted({value for value in (*experts, *judges) if isinstance(value, str)})
    if words:
        if accept_at is not None:
            raise UserError(
                f"--accept-at {accept_at}: the grades are classes without an order ({', '.join(words)}); only ordered "
                "grades have a threshold. Leave it out, or write the grades as numbers."
            )
        notes.append(f"classes without an order: {', '.join(words)}")
        found = _classes([experts[i] for i in kept], [judges[i] for i in kept], codes, notes)
        return replace(found, rows=tuple(kept))
    own, said = _floats([experts[i] for i in kept]), _floats([judges[i] for i in kept])
    given = [judges[i] if isinstance(numbers[i], str) else numbers[i] for i in kept]
    scores = _floats(given if score is None else _scores(table, kept, score))
    return replace(_ordered(path, own, said, scores, codes, threshold, notes), rows=tuple(kept))


def _says_accept(column: Sequence[Cell]) -> bool:
    """Whether there are words in it, and all of it says accept or reject."""
    words = {value for value in column if isinstance(value, str)}
    numbers = {value for value in column if isinstance(value, float)}
    return bool(words) and numbers <= {0.0, 1.0} and all(as_accept(word) is not None for word in words)


def _only_grades(path: str, name: str, judges: list[Cell], experts: Sequence[Cell], notes: list[str]) -> list[Cell]:
    """The judge's cells; words that cannot be grades, because the experts give numbers or accepts, become unscored.

    Raises:
        InputError: When no cell is left.
    """
    accepts = _says_accept(experts)
    if _says_accept(judges):
        return judges
    kept: list[Cell] = [
        None if isinstance(value, str) and not (accepts and as_accept(value) is not None) else value for value in judges
    ]
    words = sorted({old for old, new in zip(judges, kept, strict=True) if isinstance(old, str) and new is None})
    if words and not any(value is not None for value in kept):
        what = "say accept or reject" if accepts else "are numbers"
        raise InputError([f"{path}: {name} holds {_some(words)}; the experts' grades {what}. Name another --judge."])
    if words:
        count = sum(value is None for value in kept) - sum(value is None for value in judges)
        notes.append(f"{count} judge values are no grades ({_some(words)}): unscored")
    return kept


def _as_accepts(name: str, column: Sequence[Cell], accept_at: str | None, notes: list[str]) -> list[Cell]:
    """The column as 1 and 0, because the other one says accept or reject; numbers from 0 to 1 are left as they are.

    Raises:
        UserError: When it holds other grades and no threshold is known.
    """
    numbers = np.array([value for value in column if isinstance(value, float)])
    column = [float(bool(as_accept(value))) if isinstance(value, str) else value for value in column]
    if not len(numbers) or (numbers.min() >= 0 and numbers.max() <= 1):
        return column
    threshold = _threshold(accept_at, np.unique(numbers))
    if threshold is None:
        raise UserError(
            f"{name}: grades from {numbers.min():g} to {numbers.max():g} beside accept / reject; a threshold is needed "
            "to compare them. Give --accept-at GRADE."
        )
    notes.append(f"{name}: {threshold:g} and above count as accepted, as the other column says accept / reject")
    return [None if value is None else float(value >= threshold) for value in column if not isinstance(value, str)]


def _some(words: Sequence[str]) -> str:
    return ", ".join(words[:3]) + (", ..." if len(words) > 3 else "")


def _ordered(
    path: str,
    expert: FloatArray,
    judge: FloatArray,
    score: FloatArray,
    cluster: IntArray,
    accept_at: str | float | None,
    notes: list[str],
) -> Graded:
    known = ~np.isnan(judge)
    values = _scale(path, expert, judge[known])
    at = np.zeros(len(judge), dtype=np.int64)
    at[known] = np.abs(judge[known, None] - values).argmin(axis=1)
    moved = int((values[at[known]] != judge[known]).sum())
    if moved:
        grades = ", ".join(f"{value:g}" for value in values)
        notes.append(f"{moved} judge values are not among the grades {grades}: the nearest grade stands for them")
    score = np.where(known, score, np.nan)
    lost = known & np.isnan(score)
    if lost.any():
        notes.append(f"{int(lost.sum())} rows have a grade and no score: their grade stands in")
        score[lost] = judge[lost]
    threshold = _threshold(accept_at, values)
    position = np.searchsorted(values, expert)
    unknown = np.full(len(expert), UNLABELLED)
    ratings = GradePairs(
        expert=position.astype(np.int64),
        judge=np.where(known, at, UNSCORED),
        score=score,
        expert_accept=unknown if threshold is None else (expert >= threshold).astype(np.int64),
        judge_accept=np.where(known, unknown if threshold is None else values[at] >= threshold, UNSCORED),
        cluster=cluster,
        values=tuple(values.tolist()),
        n_clusters=int(cluster.max(initial=-1)) + 1,
    )
    return Graded(ratings, nominal=False, notes=tuple(notes))


def _scale(path: str, expert: FloatArray, judge: FloatArray) -> FloatArray:
    """The grades: what the experts used, and the whole numbers between; a judge's whole numbers may widen them.

    A grade that nobody used still counts in a distance: from 2 to 4 are two steps, whether or not there is a 3.
    """
    own = np.unique(expert)
    for used, most in ((np.union1d(own, judge), WIDEST), (own, MOST_GRADES)):
        if (used == np.floor(used)).all() and used[-1] - used[0] < most:
            return np.arange(used[0], used[-1] + 1)
    if len(own) > MOST_GRADES:
        raise InputError(
            [f"{path}: {len(own)} different expert grades; a scale has at most {MOST_GRADES}. Round the column."]
        )
    return own


def _classes(experts: Sequence[Cell], judges: Sequence[Cell], cluster: IntArray, notes: list[str]) -> Graded:
    expert, judge = ([None if value is None else as_id(value) for value in column] for column in (experts, judges))
    names = sorted({name for name in (*expert, *judge) if name is not None})
    place = {name: position for position, name in enumerate(names)}
    given = np.array([UNSCORED if name is None else place[name] for name in judge], dtype=np.int64)
    unknown = np.full(len(given), UNLABELLED)
    ratings = GradePairs(
        expert=np.array([place[name] for name in expert if name is not None], dtype=np.int64),
        judge=given,
        score=np.where(given == UNSCORED, np.nan, given.astype(np.float64)),
        expert_accept=unknown,
        judge_accept=unknown.copy(),
        cluster=cluster,
        values=tuple(map(float, range(len(names)))),
        n_clusters=int(cluster.max(initial=-1)) + 1,
    )
    return Graded(ratings, nominal=True, notes=tuple(notes))


def _codes(table: Table, kept: Sequence[int], cluster: str | None, notes: list[str]) -> IntArray:
    if cluster is None:
        _says_what_could_group(table, kept, notes)
        return np.arange(len(kept), dtype=np.int64)
    cells = [table.rows[i].get(cluster) for i in kept]
    keys: list[object] = [(row, None) if _cell(cell) is None else as_id(cell) for row, cell in enumerate(cells)]
    codes: dict[object, int] = {}
    alone = sum(isinstance(key, tuple) for key in keys)
    if alone:
        notes.append(f"{alone} rows have no {cluster}: each stands alone")
    return np.array([codes.setdefault(key, len(codes)) for key in keys], dtype=np.int64)


def _says_what_could_group(table: Table, kept: Sequence[int], notes: list[str]) -> None:
    """A note where rows share a query: intervals that take each row by itself are too narrow then."""
    column = next((name for name in QUERIES if name in table.columns), None)
    if column is None:
        return
    cells = [cell for i in kept if _cell(cell := table.rows[i].get(column)) is not None]
    queries = len({as_id(cell) for cell in cells})
    if queries < len(cells):
        notes.append(
            f"intervals take each row by itself, but {len(cells)} rows have {queries} values of {column}: rows of one "
            f"query are not independent; --cluster {column} counts them together"
        )


def _threshold(accept_at: str | float | None, values: FloatArray) -> float | None:
    if accept_at is None:
        return VRAG_ACCEPT_AT if set(values) <= VRAG_GRADES and max(VRAG_GRADES) in values else None
    if isinstance(accept_at, float):
        return accept_at
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
    cells = [_cell(table.rows[i].get(column)) for i in kept]
    faults = [
        f"{table.where(i)}: {column} is {cell!r}; a score is a number. Mend the row, or name another --score."
        for i, cell in zip(kept, cells, strict=True)
        if isinstance(cell, str)
    ]
    if faults:
        raise InputError(faults)
    return cells
