"""Puts items to a rater: many pieces are open at once, and handed over in the order in which they were read."""

from collections import deque
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple, NoReturn, Self

from judgec.lm.executor import Ask, Reply, Request
from judgec.raters.piece import Piece
from judgec.raters.rater import Questions, Rater, Rating
from judgec.records.judgment import Judgments
from judgec.records.label import Item

AHEAD = 16  # pieces that may wait for a slow call in the first of them
FAR_AHEAD = 200  # the same where replies come in batches, hours later: 100,000 items at once


def rated(rater: Rater, pieces: Iterable[Piece], ask: Ask, *, ahead: int = AHEAD) -> Iterator[tuple[Piece, Judgments]]:
    """Each piece with its judgments, in order.

    Args:
        rater: Judges them.
        pieces: The items, read as needed.
        ask: Sends requests to the models.
        ahead: Pieces that may be open at once; of more than ``AHEAD``, all are asked about before any is handed over.

    Raises:
        ServiceError: A model cannot be reached; finished calls are in the journal.
        BudgetError: The next call does not fit the caps; likewise.
    """
    agenda = _Agenda(rater, iter(pieces), ahead)
    while agenda.fill():
        for reply in ask(agenda, total=agenda.total) if agenda.due else ():
            agenda.take(reply)
            yield from agenda.ready()
        yield from agenda.ready()


def nobody(requests: Iterable[Request], *, total: int | None = None) -> NoReturn:
    """The way to ask where everything is known."""
    raise AssertionError(f"nobody to ask: {next(iter(requests))}, of {total}")


def rate_all(rater: Rater, items: Sequence[Item], ask: Ask = nobody) -> Judgments:
    """The judgments on items that are held already, as one piece."""
    piece = Piece(tuple(item.item_id for item in items), (b"",) * len(items), items)
    ((_, judged),) = rated(rater, [piece], ask)
    return judged


@dataclass(slots=True)
class _Open:
    """A piece at work."""

    piece: Piece
    rating: Rating
    left: int = 0  # questions without an answer
    judged: Judgments | None = None


class _Due(NamedTuple):
    """A question to ask, the ``attempt``-th time."""

    open: _Open
    questions: Questions
    number: int
    attempt: int = 0


class _Agenda:
    """The requests of a run, and what became of them.

    Iterating stops when there is nothing to ask *now*: a piece is ready to be handed over, or enough pieces wait.
    """

    def __init__(self, rater: Rater, source: Iterator[Piece], ahead: int) -> None:
        self._rater, self._ahead = rater, ahead
        self._source: Iterator[Piece] | None = source
        self._open: deque[_Open] = deque()
        self._asked: dict[int, _Due] = {}
        self._next_key = 0
        self.due: deque[_Due] = deque()

    @property
    def total(self) -> int | None:
        """Number of questions that are left, where all pieces are open."""
        return len(self.due) if self._source is None else None

    def __iter__(self) -> Self:
        return self

    def __next__(self) -> Request:
        while not self.due:
            ready = bool(self._open) and not self._open[0].left
            if self._source is None or len(self._open) >= self._ahead or (ready and self._ahead <= AHEAD):
                raise StopIteration
            self._read()
        due = self.due.popleft()
        self._asked[self._next_key] = due
        self._next_key += 1
        return due.questions.request(due.number, due.attempt, self._next_key - 1)

    def fill(self) -> bool:
        """Open pieces until something is due; False when the items are over and everything was handed over."""
        while not self.due and self._source is not None and len(self._open) < self._ahead:
            self._read()
        return bool(self.due or self._open)

    def ready(self) -> Iterator[tuple[Piece, Judgments]]:
        """Finished pieces, as far as none before them is open; of those that waited for nothing else one at a time."""
        while self._open:
            first = self._open[0]
            waited = first.judged is None and not first.left
            if waited:
                self._step(first)
            if first.judged is None:
                return
            self._open.popleft()
            yield first.piece, first.judged
            if waited:
                return

    def take(self, reply: Reply) -> None:
        """Read a reply; what is asked for again is due."""
        due = self._asked.pop(int(reply.key))
        if due.questions.take(due.number, due.attempt, reply):
            self.due.append(due._replace(attempt=due.attempt + 1))
            return
        due.open.left -= 1
        if not due.open.left:
            self._step(due.open)

    def _read(self) -> None:
        assert self._source is not None  # the caller has looked
        piece = next(self._source, None)
        if piece is None:
            self._source = None
            return
        begun = _Open(piece, self._rater.rate(piece))
        self._open.append(begun)
        self._step(begun)

    def _step(self, begun: _Open) -> None:
        """Go on with a piece whose questions are answered."""
        try:
            wanted = next(begun.rating)
        except StopIteration as done:
            begun.judged = done.value
            return
        due = [_Due(begun, questions, number) for questions in wanted for number in questions.numbers]
        due.sort(key=lambda one: one.number)  # so that several raters hear of an item at the same time
        begun.left = len(due)
        self.due.extend(due)
