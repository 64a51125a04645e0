"""Raters: whatever grades items, alone or made of others.

A rater at work on a piece of items is a generator. It yields the questions that must be answered before it can go on,
and returns its judgments; ``raters.rate`` keeps many pieces open and asks for all of them at once. So a rater that is
made of others takes a few lines: side by side is ``together``, one after the other is ``yield from`` twice.
"""

from collections.abc import Generator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Protocol, TypeAlias

import numpy as np

from judgec.lm.executor import Reply, Request
from judgec.lm.outlast import NOT_ASKED
from judgec.raters.asking import SERVICE_ERROR
from judgec.raters.pairwise import both_orders, joined
from judgec.raters.piece import Piece
from judgec.raters.recorded import RecordedVerdicts
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
class RecordedRater:
    """A recorded judge, whose verdicts are looked up, and its prompt, which is asked where an item has none.

    A pair's verdicts are of both orders already.

    Args:
        recorded: The verdicts.
        judge: Whose.
        count: Told of progress.
        called: What the verdicts call an item, where that is not its ``item_id``.
        prompt: Is asked about the items without a verdict; None leaves them out.

    Raises:
        UserError: There is no such judge.
    """

    recorded: RecordedVerdicts
    judge: str
    count: Count
    called: Mapping[str, str] | None = None
    prompt: Rater | None = None

    def __post_init__(self) -> None:
        self.recorded.require(self.judge)

    def rate(self, piece: Piece) -> Rating:
        """As ``Rater.rate``."""
        yield from ()
        named = piece.item_ids if self.called is None else [self.called[item_id] for item_id in piece.item_ids]
        said = replace(self.recorded.judgments(self.judge, named), item_ids=piece.item_ids)
        rows = [] if self.prompt is None else np.flatnonzero(~said.asked).tolist()
        self.count.add(len(named) - len(rows), int((~said.scored).sum()) - len(rows))
        if self.prompt is None or not rows:
            return said
        more = yield from self.prompt.rate(piece.only(rows))
        if said.flipped is None and more.flipped is not None:
            said = replace(said, flipped=np.zeros(len(named), dtype=bool))
        kept = np.flatnonzero(said.asked).tolist()
        return concatenate([said.subset(kept), more]).subset(np.argsort([*kept, *rows]).tolist())
