"""A judge's prompt put to a stream of items: rendered, asked, read, asked again where unreadable, in order."""

import threading
from collections import Counter, deque
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from typing import NamedTuple, Self

import dspy
import numpy as np

from judgec.errors import UserError
from judgec.labels.stream.pieces import Piece
from judgec.lm.executor import Ask, Reply, Request
from judgec.lm.frozen import FrozenPrompt, freeze
from judgec.lm.functions import VALUE
from judgec.lm.logprobs import label_probabilities
from judgec.raters.decision import half_way
from judgec.raters.replies.fields import Verdict, read_form, read_verdict
from judgec.raters.replies.said import CUT, UnreadableReplyError, said
from judgec.raters.replies.values import read_function
from judgec.raters.signatures import fenced, fenced_inputs, grade_fields, json_schema
from judgec.raters.stream.asking import ATTEMPTS, text_of
from judgec.raters.stream.columns import Columns
from judgec.raters.stream.recall import Recall, Verdicts
from judgec.records.judgment import Judgments
from judgec.records.label import Item
from judgec.records.scale import Scale

MOST_ATTEMPTS = 64  # of a judge that does not put up with bad replies from the journal; one more a run
AHEAD = 16  # pieces that may wait for a slow call in the first of them
FAR_AHEAD = 200  # the same where replies come in batches, hours later: 100,000 items at once
CHECKED = 8  # most items that the frozen prompt is compared with DSPy's adapter on
ITEMS_A_CHECK = 16  # a comparison takes as long as judging that many items of a short list


OnVerdict = Callable[[int, int], None]
"""Told how many verdicts have come since, and how many of these stay unscored."""


class StoppedError(Exception):
    """Nobody wants more: ``Interview.stop`` is set."""


class Interview:
    """A judge's prompt put to a stream of items; setting ``stop`` ends it after the calls in flight.

    Args:
        module, ask, scale, aspects, samples, asked_again: As for ``bulk.judge_items``.
        total: How many calls there will be, if all goes well, or None when nobody knows.
        structured: Ask for JSON under a schema at the first attempt already.
        anew: Ask once more when every reply in the journal is unreadable, so that none is served for ever.
        recall: Where verdicts are looked up before anything is rendered.
        ahead: Pieces that may be asked about at once; of more than ``AHEAD``, all before any is handed over.
        on_verdict: Told of progress.
    """

    def __init__(
        self,
        module: dspy.Module,
        *,
        ask: Ask,
        scale: Scale,
        aspects: tuple[str, ...],
        samples: int = 1,
        asked_again: Counter[str] | None = None,
        total: int | None = None,
        structured: bool = False,
        anew: bool = False,
        recall: Recall | None = None,
        ahead: int = AHEAD,
        on_verdict: OnVerdict | None = None,
    ) -> None:
        self.ahead = ahead
        self.predict = _predictor(module, aspects)
        self.names = grade_fields(self.predict)
        self.fields = tuple(self.predict.signature.input_fields)
        self.labels = [str(grade) for grade in scale.grades]
        self.schema = json_schema(self.predict)
        self.structured = structured
        self.prompt = freeze(self.predict, [])
        self._sample: list[Mapping[str, object]] = []
        self._strict: FrozenPrompt | None = None
        self.ask, self.scale, self.aspects, self.samples = ask, scale, aspects, samples
        self.asked_again = Counter() if asked_again is None else asked_again
        self.total, self.anew = total, anew
        self.half_way = 0  # verdicts between two grades, of the pieces that were handed over
        self.on_verdict = on_verdict or (lambda _done, _unscored: None)
        self.stop = threading.Event()
        self._recall = recall
        self._known: list[Verdicts | None] | None = None

    def hold(self, pieces: Iterable[Piece]) -> Iterator[tuple[Piece, list[Judgments]]]:
        """Each piece with its raw judgments, one a sample, in order."""
        queue = _Queue(self, iter(pieces))
        with suppress(StoppedError):
            while queue.fill():
                for reply in self.ask(queue, total=self.total) if queue.due else ():
                    queue.take(reply)
                    yield from queue.ready()
                    if self.stop.is_set():
                        return
                yield from queue.ready()

    def known(self, items: Callable[[], Sequence[Item]]) -> list[Verdicts | None]:
        """The verdicts of each sample; the prompt is checked on the first items."""
        if self._known is None:
            given = items()
            few = given[: min(CHECKED, 1 + len(given) // ITEMS_A_CHECK)]
            self._sample = [fenced_inputs(self.predict, item) for item in few]
            self.prompt = freeze(self.predict, self._sample)
            about = (self.predict, self.form(0)[0], self.scale, self.aspects)
            rollouts = [self.rollout(sample, 0) for sample in range(self.samples)]
            self._known = [None if self._recall is None else self._recall.verdicts(*about, r) for r in rollouts]
        return self._known

    @property
    def strict(self) -> FrozenPrompt:
        """The prompt that asks for JSON, made when it is needed first: most judges never need it."""
        if self._strict is None:
            self._strict = freeze(self.predict, self._sample, dspy.JSONAdapter())
        return self._strict

    def rollout(self, sample: int, attempt: int) -> int | None:
        """Another rollout is another call; the only reply of the first attempt has none, as in DSPy."""
        return None if self.samples == 1 and not attempt else sample + attempt * self.samples

    def form(self, attempt: int) -> tuple[FrozenPrompt, str | None]:
        """The prompt of an attempt, and the schema of its reply.

        What could not be read is asked for again as JSON, which an endpoint that knows schemas cannot get wrong.
        """
        again = attempt > 0 or self.structured
        return (self.strict, self.schema) if again and self.schema is not None else (self.prompt, None)

    def read(self, reply: Reply, attempt: int, item: Item | None = None) -> Verdict:
        """The verdict in the reply to an attempt.

        Args:
            reply: What came back.
            attempt: Of the question, from 0.
            item: What was judged: what a reply repeats of its texts is no verdict.

        Raises:
            UnreadableReplyError: When there is none.
        """
        text = text_of(reply)
        if reply.finish == VALUE:
            return read_function(text, self.aspects, self.scale)
        given = {}
        rest = said(text) if reply.logprobs else ""
        for name in self.names if reply.logprobs else ():
            spread = label_probabilities(reply.logprobs, name, self.labels, after=max(0, text.rfind(rest)))
            if spread is not None:
                given[name] = np.array(spread)
        prompt = self.form(attempt)[0]
        fields: Mapping[str, object] | None = None if reply.finish in CUT else prompt.usual(text)
        if fields is not None:
            return read_verdict(fields, self.names, self.scale, given)
        texts = None if item is None else item.everything
        return read_form(text, self.names, self.scale, given, reply.finish, texts=texts)


@dataclass(slots=True)
class _Open:
    """A piece that is being judged."""

    piece: Piece
    samples: list[Columns]
    left: int = 0
    items: Sequence[Item] | None = None
    new: list[list[int]] = field(default_factory=list)


class _Due(NamedTuple):
    """A question to ask, the ``attempt``-th time."""

    open: _Open
    row: int
    sample: int
    attempt: int = 0


class _Queue:
    """The requests of an interview, and what became of them.

    Iterating stops when there is nothing to ask *now*: a piece is ready to be handed over, or enough pieces wait.
    """

    def __init__(self, interview: Interview, source: Iterator[Piece]) -> None:
        self._interview = interview
        self._source: Iterator[Piece] | None = source
        self._open: deque[_Open] = deque()
        self._asked: dict[int, _Due] = {}
        self._next_key = 0
        self._paid: set[int] = set()  # questions to which an unreadable reply was paid now, as hashes
        self.due: deque[_Due] = deque()

    def __iter__(self) -> Self:
        return self

    def __next__(self) -> Request:
        if self._interview.stop.is_set():
            raise StoppedError
        eager = self._interview.ahead > AHEAD
        while not self.due:
            ready = bool(self._open) and not self._open[0].left
            if self._source is None or len(self._open) >= self._interview.ahead or (ready and not eager):
                raise StopIteration
            self.fill()
        due = self.due.popleft()
        self._asked[self._next_key] = due
        self._next_key += 1
        interview, item = self._interview, self._item(due)
        prompt, schema = interview.form(due.attempt)
        messages = prompt.messages(fenced(interview.fields, item))
        rollout = interview.rollout(due.sample, due.attempt)
        shown = {name: item.inputs[name] for name in interview.fields if name in item.inputs}  # what the key is made of
        return Request(self._next_key - 1, messages, rollout, schema, item=shown)

    def fill(self) -> bool:
        """Take the next piece, if nothing is due; False when the items are over and everything was handed over."""
        if not self.due and self._source is not None:
            piece = next(self._source, None)
            if piece is None:
                self._source = None
            else:
                self._start(piece)
        return bool(self.due or self._open or self._source)

    def ready(self) -> Iterator[tuple[Piece, list[Judgments]]]:
        """Finished pieces, as far as none before them is open."""
        while self._open and not self._open[0].left:
            done = self._open.popleft()
            self._keep(done)
            about = self._interview.scale, self._interview.aspects, done.piece.item_ids
            said = [columns.judgments(*about) for columns in done.samples]
            self._interview.half_way += sum(half_way(one, self._interview.scale) for one in said)
            yield done.piece, said

    def take(self, reply: Reply) -> None:
        """Read a reply; an unreadable one is asked for again."""
        due = self._asked.pop(int(reply.key))
        columns = due.open.samples[due.sample]
        try:
            verdict = self._interview.read(reply, due.attempt, self._item(due))
        except UnreadableReplyError as error:
            columns.faults[due.row] = str(error)
            if not error.final and self._patient(due, reply):
                self._interview.asked_again[str(error).partition(":")[0]] += 1
                self.due.append(due._replace(attempt=due.attempt + 1))
                return
        else:
            columns.put(due.row, verdict)
            due.open.new[due.sample].append(due.row)
        due.open.left -= 1
        self._interview.on_verdict(1, int(columns.faults[due.row] is not None))

    def _patient(self, due: _Due, bad: Reply) -> bool:
        """Whether to ask again, after a bad reply: until one was paid now, by this item or one of the same inputs."""
        attempt = due.attempt + 1
        if not self._interview.anew:
            return attempt < ATTEMPTS
        same = hash((due.open.piece.digests[due.row], due.sample))
        if not bad.cached:
            self._paid.add(same)
        return attempt < ATTEMPTS or (same not in self._paid and attempt < MOST_ATTEMPTS)

    def _start(self, piece: Piece) -> None:
        interview, size = self._interview, len(piece.item_ids)
        shape = size, len(interview.aspects), len(interview.labels)
        opened = _Open(piece, [Columns.empty(*shape) for _ in range(interview.samples)])
        opened.new = [[] for _ in range(interview.samples)]
        due = []
        for sample, (known, columns) in enumerate(zip(interview.known(piece.read), opened.samples, strict=True)):
            missing: Iterable[int] = range(size)
            if known is not None:
                found = known.find(piece.digests)
                columns.probabilities[found.rows] = found.probabilities
                columns.grade[found.rows] = found.grade
                columns.confidence[found.rows] = found.confidence
                for row, reason in zip(found.rows, found.reasons, strict=True):
                    columns.reasons[row] = reason
                    columns.faults[row] = None
                missing = [row for row, fault in enumerate(columns.faults) if fault is not None]
            due += [_Due(opened, row, sample) for row in missing]
        due.sort(key=lambda one: one.row)
        opened.left = len(due)
        interview.on_verdict(size * interview.samples - len(due), 0)
        self.due.extend(due)
        self._open.append(opened)

    def _item(self, due: _Due) -> Item:
        if due.open.items is None:
            due.open.items = due.open.piece.read()
        return due.open.items[due.row]

    def _keep(self, done: _Open) -> None:
        """Keep the verdicts that were read from replies."""
        for known, columns, new in zip(self._interview.known(done.piece.read), done.samples, done.new, strict=True):
            if known is not None and new:
                numbers = np.concatenate(
                    [
                        columns.probabilities[new].reshape(len(new), -1),
                        columns.grade[new],
                        columns.confidence[new, None],
                    ],
                    axis=1,
                )
                known.keep([done.piece.digests[row] for row in new], numbers, [columns.reasons[row] for row in new])


def _predictor(module: dspy.Module, aspects: tuple[str, ...]) -> dspy.Predict:
    predictors = module.predictors()
    grades = [name for predict in predictors for name in grade_fields(predict)]
    if len(predictors) != 1 or len(grades) != len(aspects):
        raise UserError(
            f"judge module: {len(predictors)} predictors with grades {', '.join(grades) or 'none'}; "
            f"one with a grade for each of {', '.join(aspects)} is valid. Change the plugin that built it."
        )
    return predictors[0]
