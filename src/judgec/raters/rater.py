"""Raters: whatever grades items, alone or made of others.

A rater at work on a piece of items is a generator. It yields the questions that must be answered before it can go on,
and returns its judgments; ``raters.rate`` keeps many pieces open and asks for all of them at once. So a rater that is
made of others takes a few lines: side by side is ``together``, one after the other is ``yield from`` twice.
"""

from collections.abc import Generator, Sequence
from dataclasses import dataclass
from typing import Protocol, TypeAlias

import numpy as np

from judgec.lm.executor import Reply, Request
from judgec.lm.outlast import NOT_ASKED
from judgec.raters.asking import SERVICE_ERROR
from judgec.raters.pairwise import both_orders, joined
from judgec.raters.piece import Piece
from judgec.records.judgment import Judgments, concatenate
from judgec.records.scale import Scale

ENDED = tuple(f"{SERVICE_ERROR}: {why}" for why in (NOT_ASKED, "--budget", "--max-cost"))
"""What reasons begin with that the end of a run is to blame for."""

Rating: TypeAlias = Generator[Sequence["Questions"], None, Judgments]
"""A rater at work; what yields no questions waits until the pieces before this one are done."""


class Rater(Protocol):
    """Interface of everything that grades items."""

    def rate(self, piece: Piece) -> Rating:
        """Judge the items of a piece, in order."""


class Questions(Protocol):
    """Questions to one model about items of a piece."""

    @property
    def numbers(self) -> Sequence[int]:
        """Those that are not answered yet."""

    def request(self, number: int, attempt: int, key: int) -> Request:
        """The request that is sent, the ``attempt``-th time from 0; the reply to it has this key."""

    def take(self, number: int, attempt: int, reply: Reply) -> bool:
        """Read a reply; True when the same is to be asked once more."""


@dataclass
class Count:
    """Counts of the verdicts of a run.

    Attributes:
        done: Verdicts that have come, or are not needed.
        unscored: Those of them that came to nothing.
        half_way: Those that lay half way between two grades, where one judge or prompt gave them.
    """

    done: int = 0
    unscored: int = 0
    half_way: int = 0

    def add(self, done: int, unscored: int) -> None:
        """Verdicts that have come."""
        self.done += done
        self.unscored += unscored


def together(ratings: Sequence[Rating]) -> Generator[Sequence["Questions"], None, list[Judgments]]:
    """Raters at work side by side: what all of them want to know is asked at once."""
    said: dict[int, Judgments] = {}
    while True:
        wanted: list[Questions] = []
        for number, rating in enumerate(ratings):
            if number not in said:
                try:
                    wanted += next(rating)
                except StopIteration as done:
                    said[number] = done.value
        if len(said) == len(ratings):
            return [said[number] for number in range(len(ratings))]
        yield wanted


def not_yet(said: Sequence[Judgments]) -> dict[int, str]:
    """Rows on which one of several raters was not asked before the run ended, by a cap or a lost service, with why.

    Without it the others would be another judge than the one that was measured; the next run asks it.
    """
    return {
        row: reason
        for one in said
        for row, reason in enumerate(one.unscored)
        if reason is not None and reason.startswith(ENDED)
    }


@dataclass(frozen=True)
class BothOrders:
    """A rater of pairs that sees each in both orders; two different verdicts are a flip, and a tie.

    Args:
        of: Rates pairs as they stand.
        scale: The grades.
    """

    of: Rater
    scale: Scale

    def rate(self, piece: Piece) -> Rating:
        """As ``Rater.rate``."""
        return joined((yield from self.of.rate(both_orders(piece))), self.scale)


@dataclass(frozen=True)
class GivenVerdicts:
    """Verdicts that are known, in the place of a rater.

    Args:
        verdicts: On all items that it will be asked about.
    """

    verdicts: Judgments

    def rate(self, piece: Piece) -> Rating:
        """As ``Rater.rate``."""
        yield from ()
        if piece.item_ids == self.verdicts.item_ids:
            return self.verdicts
        row_of = {item_id: row for row, item_id in enumerate(self.verdicts.item_ids)}
        return self.verdicts.subset([row_of[item_id] for item_id in piece.item_ids])


@dataclass(frozen=True)
class Supplied:
    """Recorded verdicts, and whoever gave them where an item has none.

    Args:
        recorded: Looks them up.
        asked: Is asked about the others.
        count: Told of verdicts.
    """

    recorded: Rater
    asked: Rater
    count: Count

    def rate(self, piece: Piece) -> Rating:
        """As ``Rater.rate``."""
        said = yield from self.recorded.rate(piece)
        rows = np.flatnonzero(~said.asked).tolist()
        if not rows:
            return said
        self.count.add(-len(rows), -len(rows))  # which the recorded ones have counted
        more = yield from self.asked.rate(piece.only(rows))
        kept = np.flatnonzero(said.asked).tolist()
        place = np.argsort([*kept, *rows]).tolist()
        return concatenate([said.subset(kept), more]).subset(place)
