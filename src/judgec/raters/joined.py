"""Joins what a recorded judge said of an item more than once: in several runs, and in both orders of a pair."""

from typing import NamedTuple

import numpy as np

from judgec.errors import InputError
from judgec.raters.about_judges import ABOUT, AS_SHOWN, EXPLAINED, MAPPED, ORDER
from judgec.raters.pairwise import TIE, places_mirrored
from judgec.raters.pool import joint_grade
from judgec.raters.verdicts import ITEM, JUDGE, RUN, VerdictColumns
from judgec.records.judgment import UNSCORED
from judgec.records.label import FloatArray, IntArray
from judgec.records.scale import Scale
from judgec.records.tasks.registry import plain
from judgec.table.rows.columns import shortly
from judgec.table.table import NO_CELL, BoolArray

STRAIGHT = frozenset({"ab", "a_b", "original", "normal", "straight", "forward", "a_first"})  # answer_a stood first
SWAPPED = frozenset({"ba", "b_a", "swapped", "swap", "reversed", "reverse", "flipped", "backward", "b_first"})


class Stated(NamedTuple):
    """Verdicts on items, aspects and orders, which are ``key``: the first row, the distribution, grade and fault."""

    key: IntArray
    row: IntArray
    spread: FloatArray
    grade: IntArray
    fault: IntArray

    def at(self, rows: IntArray) -> "Stated":
        """These rows, in this order."""
        return Stated(self.key[rows], self.row[rows], self.spread[rows], self.grade[rows], self.fault[rows])


def groups(key: IntArray) -> tuple[IntArray, IntArray]:
    """Where each of the rising keys begins, and how often it stands there."""
    begin = np.flatnonzero(np.diff(key, prepend=-1))
    return begin, np.diff(begin, append=len(key))


def of_runs(said: Stated, columns: VerdictColumns, scale: Scale) -> Stated:
    """Rows of one key as one verdict, pooled as a jury is; the stated grade where there is only one.

    Args:
        said: Of one judge, in any order.
        columns: The file.
        scale: The grades.

    Raises:
        InputError: Two rows of one key that no column ``run`` tells apart.
    """
    said = said.at(np.argsort(said.key, kind="stable"))
    begin, count = groups(said.key)
    run, runs = columns.ids(RUN)
    by_run = np.argsort(each := said.key * (len(runs) + 1) + run[said.row], kind="stable")
    if len(twice := np.flatnonzero(np.diff(each[by_run]) == 0)):
        apart = f"{ORDER} or {RUN}" if TIE in scale.grades else RUN
        raise InputError(
            [
                f"{columns.where([second])}: a second verdict of judge {columns.cell(JUDGE, second)} on item "
                f"{columns.cell(ITEM, second)}, after {columns.where([first])}; one is valid, or several with a column "
                f"{apart} that tells them apart. Delete one, or add the column."
                for second, first in sorted(zip(said.row[by_run[twice + 1]], said.row[by_run[twice]], strict=True))
            ]
        )
    if (count == 1).all():
        return said
    votes = np.add.reduceat((said.fault == 0).astype(np.int64), begin)
    total = np.add.reduceat(np.nan_to_num(said.spread), begin, axis=0)
    mean = np.where(votes[:, None] > 0, total / np.maximum(votes, 1)[:, None], np.nan)
    alone = np.maximum.reduceat(said.grade, begin)
    grade = np.where(votes > 1, joint_grade(np.nan_to_num(mean), scale), alone)
    fault = np.where(votes > 0, 0, np.maximum.reduceat(said.fault, begin))
    return Stated(said.key[begin], said.row[begin], mean, grade, fault)


def of_orders(said: Stated, columns: VerdictColumns, scale: Scale) -> tuple[Stated, BoolArray | None]:
    """Both orders of a pair as one verdict, and which of them differ; None where no pair has two.

    Args:
        said: In the order of their keys.
        columns: The file.
        scale: The grades.

    Raises:
        InputError: A pair has a third.
    """
    key = said.key // (len(columns.ids(ORDER)[1]) + 1)
    begin, count = groups(key)
    if (count > 2).any():
        seen = f"{columns.where(said.row[begin[count > 2][:1] + 2])}: a third order of one pair"
        raise InputError([f"{seen}; two answers have two orders, ab and ba. Correct the column {ORDER}."])
    if (count == 1).all():
        return said._replace(key=key), None
    low, high = (join.reduceat(said.grade, begin) for join in (np.minimum, np.maximum))
    flipped = (low != high) & (low != UNSCORED)
    grade = np.where(flipped, scale.position(TIE), low)
    spread = np.add.reduceat(said.spread, begin, axis=0) / count[:, None]
    return Stated(key[begin], said.row[begin], spread, grade, np.maximum.reduceat(said.fault, begin)), flipped


def turn_round(said: Stated, columns: VerdictColumns, reading: str | None, scale: Scale) -> None:
    """Map verdicts in which A is what stood first back to answer_a and answer_b, in place.

    Nobody can see in the verdicts whether they are mapped: a judge that follows the order looks alike either way.

    Args:
        said: Of one judge.
        columns: The file.
        reading: What A means, of ``ORDERS``; None where nobody says.
        scale: The grades.

    Raises:
        InputError: Nobody says what A means, or which answer stood first.
    """
    order, orders = columns.ids(ORDER)
    codes = order[said.row]
    straight, swapped = (
        np.array([*(plain(name) in known for name in orders), False])[codes] for known in (STRAIGHT, SWAPPED)
    )
    odd = (codes != NO_CELL) & ~straight & ~swapped
    several = len(np.unique(codes[codes != NO_CELL])) > 1
    if odd.any() if reading == AS_SHOWN else not reading and (swapped.any() or (odd.any() and several)):
        means = f"order is {shortly(orders)}, and preference can mean two things there: {EXPLAINED}"
        typed = "--orders as-shown (where ab and ba say what stood first) or --orders mapped"
        written = f'"{ORDER}": "{AS_SHOWN}" or "{MAPPED}" in STEM.{ABOUT}'
        raise InputError([f"{columns.where(said.row)}: {means}. Say which it is, with {typed}, or {written}."])
    if reading == AS_SHOWN and swapped.any():
        places, grade = places_mirrored(scale), said.grade[swapped]
        said.spread[swapped] = said.spread[swapped][:, places]
        said.grade[swapped] = np.where(grade == UNSCORED, UNSCORED, places[grade])
