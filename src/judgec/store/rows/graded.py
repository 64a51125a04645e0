"""A table that holds both the experts' and a judge's grades: what ``judgec agreement`` reads."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from judgec.errors import InputError, UserError
from judgec.records.judgment import UNSCORED
from judgec.records.label import UNLABELLED
from judgec.records.ratings import Ratings
from judgec.store.tables import Table, read_table

VRAG_GRADES = {1.0, 2.0, 3.0, 4.0, 5.0}  # vRAG-Eval's scale, whose threshold is known
VRAG_ACCEPT_AT = 4.0
EMPTY = {"", "nan", "none", "null", "na", "n/a"}
ACCEPTS = {"true": 1.0, "false": 0.0, "yes": 1.0, "no": 0.0, "accept": 1.0, "reject": 0.0}


@dataclass(frozen=True, slots=True)
class Graded:
    """The pairs of a table.

    Args:
        ratings: Rows that an expert graded.
        nominal: The grades are words without an order.
        notes: What reading assumed.
    """

    ratings: Ratings
    nominal: bool
    notes: tuple[str, ...]


def read_graded(
    path: str, *, expert: str, judge: str, score: str | None, cluster: str | None, accept_at: str | None
) -> Graded:
    """Read expert and judge columns of any table.

    Numbers are ordered grades; true / false, yes / no, accept / reject are 1 and 0; any other word makes the
    grades classes without an order. An empty judge cell is unscored; rows without an expert grade are left out
    and counted.

    Args:
        path: Any file that ``read_table`` reads.
        expert: Column of the experts' grades.
        judge: Column of the judge's.
        score: Column of the judge's continuous score; the judge's grade when None.
        cluster: Column that groups rows; every row stands alone when None.
        accept_at: The lowest accepted grade; 4 on a 1-5 scale, otherwise unknown, when None.

    Raises:
        InputError: When a score is not a number, or nobody graded anything.
        UserError: When a column is missing, or ``accept_at`` is no number.
    """
    table = read_table(path)
    for option, column in (
        ("--expert", expert),
        ("--judge", judge),
        ("--score", score),
        ("--cluster", cluster),
    ):
        if column is not None and column not in table.columns:
            raise UserError(
                f"{path}: {option} {column}: no such column; there are {', '.join(table.columns)}. Name one of these."
            )
    experts = [_cell(row.get(expert)) for row in table.rows]
    judges = [_cell(row.get(judge)) for row in table.rows]
    kept = [i for i, value in enumerate(experts) if value is not None]
    if not kept:
        raise InputError([f"{path}: no row has a grade in {expert}; at least one is needed. Name another --expert."])
    notes = [] if len(kept) == len(experts) else [f"{len(experts) - len(kept)} rows have no expert grade: left out"]
    words = {value for value in (*experts, *judges) if isinstance(value, str)}
    if words:
        return _classes(table, kept, experts, judges, cluster, [*notes, f"classes: {', '.join(sorted(words))}"])
    scores = judges if score is None else [_number(table, i, score) for i in range(len(table.rows))]
    return _ordered(
        kept,
        [float(value) for i in kept if (value := experts[i]) is not None],
        [np.nan if (value := judges[i]) is None else float(value) for i in kept],
        [np.nan if (value := scores[i]) is None else float(value) for i in kept],
        _codes(table, kept, cluster),
        accept_at,
        any(str(row.get(expert)).strip().lower() in ACCEPTS for row in table.rows),
        notes,
    )


def _ordered(
    kept: Sequence[int],
    expert: Sequence[float],
    judge: Sequence[float],
    score: Sequence[float],
    cluster: np.ndarray,
    accept_at: str | None,
    accepts: bool,
    notes: list[str],
) -> Graded:
    experts, judges, scores = np.array(expert), np.array(judge), np.array(score)
    values = sorted({*experts.tolist(), *judges[~np.isnan(judges)].tolist()})
    threshold = 1.0 if accepts and accept_at is None else _threshold(accept_at, values)
    known = ~np.isnan(judges)
    scores[~known] = np.nan
    lost = known & np.isnan(scores)
    if lost.any():
        notes.append(f"{int(lost.sum())} rows have a grade and no score: their grade stands in")
        scores[lost] = judges[lost]
    accept_e = np.full(len(kept), UNLABELLED) if threshold is None else (experts >= threshold).astype(np.int64)
    accept_j = np.full(len(kept), UNSCORED) if threshold is None else (judges >= threshold).astype(np.int64)
    ratings = Ratings(
        expert=np.searchsorted(values, experts).astype(np.int64),
        judge=np.where(known, np.searchsorted(values, np.nan_to_num(judges)), UNSCORED).astype(np.int64),
        score=scores,
        expert_accept=accept_e.astype(np.int64),
        judge_accept=np.where(known, accept_j, UNSCORED).astype(np.int64),
        cluster=cluster,
        values=tuple(values),
        n_clusters=int(cluster.max(initial=-1)) + 1,
    )
    return Graded(ratings, nominal=False, notes=tuple(notes))


def _classes(
    table: Table,
    kept: Sequence[int],
    experts: Sequence[float | str | None],
    judges: Sequence[float | str | None],
    cluster: str | None,
    notes: list[str],
) -> Graded:
    names = sorted({str(value) for value in (*experts, *judges) if value is not None})
    expert = np.array([names.index(str(experts[i])) for i in kept], dtype=np.int64)
    judge = np.array([UNSCORED if judges[i] is None else names.index(str(judges[i])) for i in kept], dtype=np.int64)
    codes = _codes(table, kept, cluster)
    unknown = np.full(len(kept), -1, dtype=np.int64)
    score = np.where(judge == UNSCORED, np.nan, judge.astype(np.float64))
    values = tuple(float(position) for position in range(len(names)))
    ratings = Ratings(expert, judge, score, unknown, unknown.copy(), codes, values, int(codes.max(initial=-1)) + 1)
    return Graded(ratings, nominal=True, notes=tuple(notes))


def _codes(table: Table, kept: Sequence[int], cluster: str | None) -> np.ndarray:
    if cluster is None:
        return np.arange(len(kept), dtype=np.int64)
    codes: dict[str, int] = {}
    return np.array([codes.setdefault(str(table.rows[i].get(cluster)), len(codes)) for i in kept], dtype=np.int64)


def _threshold(accept_at: str | None, values: Sequence[float]) -> float | None:
    if accept_at is None:
        return VRAG_ACCEPT_AT if set(values) <= VRAG_GRADES and max(VRAG_GRADES) in values else None
    try:
        return float(accept_at)
    except ValueError:
        raise UserError(
            f"--accept-at {accept_at}: not a number; the grades are {', '.join(f'{value:g}' for value in values)}. "
            "Name the lowest accepted one."
        ) from None


def _cell(value: object) -> float | str | None:
    """A grade as a number, a class as text, or None when the cell is empty."""
    if value is None:
        return None
    if isinstance(value, bool):
        return float(value)
    text = str(value).strip()
    if text.lower() in EMPTY:
        return None
    if text.lower() in ACCEPTS:
        return ACCEPTS[text.lower()]
    try:
        number = float(text)
    except ValueError:
        return text
    return number if np.isfinite(number) else None


def _number(table: Table, i: int, column: str) -> float | None:
    value = _cell(table.rows[i].get(column))
    if isinstance(value, str):
        raise InputError([f"{table.where(i)}: {column} is {value!r}; a score is a number. Mend the row."])
    return value
