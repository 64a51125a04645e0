"""A prompt as a rater: filled for each item, its replies read strictly, asked again where there is nothing to read."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import dspy
import numpy as np

from judgec.errors import UserError
from judgec.lm.adapters import CHAT, TERSE, adapter_name, verdict_form
from judgec.lm.executor import Ask, Reply, Request
from judgec.lm.frozen import FrozenPrompt, freeze
from judgec.lm.functions import VALUE
from judgec.lm.logprobs import label_probabilities
from judgec.raters.asking import ATTEMPTS, text_of
from judgec.raters.columns import Columns
from judgec.raters.known import KnownAnswers, KnownVerdicts
from judgec.raters.pairwise import is_pairwise
from judgec.raters.piece import Piece
from judgec.raters.predictors import function_module, module_of
from judgec.raters.rate import rate_all
from judgec.raters.rater import BothOrders, Count, Rater, Rating
from judgec.raters.replies.fields import Verdict, read_form, read_verdict
from judgec.raters.replies.said import CUT, UnreadableReplyError, said
from judgec.raters.signatures import fenced, fenced_inputs, grade_fields, json_schema
from judgec.raters.tree import FunctionLeaf, Leaf, PromptLeaf
from judgec.raters.turns import TurnsRater
from judgec.raters.values import read_function
from judgec.records.judgment import Judgments
from judgec.records.label import Item
from judgec.records.scale import Scale

MOST_ATTEMPTS = 64  # of a judge that does not put up with bad replies from the journal; one more a run
CHECKED = 8  # most items that the frozen prompt is compared with DSPy's adapter on
ITEMS_A_CHECK = 16  # a comparison takes as long as judging that many items of a short list


class PromptRater:
    """A prompt, put to one model.

    The probabilities of an item are those of the label log-probabilities where the model gives them, of the stated
    grade alone where not. The grade is the stated one. An item without a readable reply is unscored, with the last
    reason.

    Args:
        module: From ``registry.judge_module``, compiled or not; never called: its prompt is rendered.
        scale: The judge's scale.
        aspects: The judge's aspects.
        to: What requests call the model, where there are several.
        sample: Which of several replies to the same prompt this is, from 0.
        samples: How many there are.
        structured: Ask for JSON under a schema at the first attempt already.
        anew: Ask once more when every reply in the journal is unreadable, so that none is served for ever.
        known: Where verdicts are looked up before anything is rendered.
        count: Told of progress.
        asked_again: Counts the replies that were asked for again, by kind: malformed reply, refusal, ...

    Raises:
        UserError: When the module is not a judge of these aspects.
    """

    def __init__(
        self,
        module: dspy.Module,
        *,
        scale: Scale,
        aspects: tuple[str, ...],
        to: str = "",
        sample: int = 0,
        samples: int = 1,
        structured: bool = False,
        anew: bool = False,
        known: KnownAnswers | None = None,
        count: Count | None = None,
        asked_again: Counter[str] | None = None,
    ) -> None:
        self.predict = _predictor(module, aspects)
        self.names = grade_fields(self.predict)
        self.fields = tuple(self.predict.signature.input_fields)
        self.labels = [str(grade) for grade in scale.grades]
        self.schema = json_schema(self.predict)
        self.prompt = freeze(self.predict, [])
        self.scale, self.aspects, self.to = scale, aspects, to
        self.count = count or Count()
        self._sample, self._samples = sample, samples
        self._form = adapter_name(self.predict)
        self._structured, self._anew = structured or self._form not in {CHAT, TERSE}, anew
        self._asked_again = Counter() if asked_again is None else asked_again
        self._shown: list[Mapping[str, object]] = []
        self._strict: FrozenPrompt | None = None
        self._known = known
        self._verdicts: KnownVerdicts | None = None
        self._checked = False
        self._paid: set[bytes] = set()  # digests of the items to which an unreadable reply was paid now

    def rate(self, piece: Piece) -> Rating:
        """As ``Rater.rate``."""
        verdicts = self._ready(piece)
        questions = _PromptQuestions.of(self, piece, verdicts)
        self.count.add(len(piece.item_ids) - len(questions.numbers), 0)
        if questions.numbers:
            yield (questions,)
            questions.keep(verdicts)
        return questions.columns.judgments(self.scale, self.aspects, piece.item_ids)

    @property
    def departure(self) -> str | None:
        """The reason why DSPy renders each prompt anew, or None where it is filled in."""
        return self.form(0)[0].departure

    def form(self, attempt: int) -> tuple[FrozenPrompt, str | None]:
        """The prompt of an attempt, and the schema of its reply.

        What could not be read is asked for again as JSON, which an endpoint that knows schemas cannot get wrong.
        """
        if self.schema is None or not (attempt or self._structured):
            return self.prompt, None
        if self._form == TERSE:
            return self.prompt, self.schema
        if self._strict is None:  # made when it is needed first: most judges never need it
            self._strict = freeze(self.predict, self._shown, dspy.JSONAdapter())
        return self._strict, self.schema

    def request(self, item: Item, attempt: int, key: int) -> Request:
        """The request that is sent about an item."""
        prompt, schema = self.form(attempt)
        shown = {name: item.inputs[name] for name in self.fields if name in item.inputs}  # what the key is made of
        messages = prompt.messages(fenced(self.fields, item))
        return Request(key, messages, self._rollout(attempt), schema, self.to, item=shown)

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
        prompt, schema = self.form(attempt)
        form = verdict_form(self.predict) if schema is None else None
        fields: Mapping[str, object] | None = None if reply.finish in CUT or form else prompt.usual(text)
        if fields is not None:
            return read_verdict(fields, self.names, self.scale, given)
        texts = None if item is None else item.everything
        return read_form(text, self.names, self.scale, given, reply.finish, texts=texts, form=form)

    def again(self, digest: bytes, attempt: int, bad: Reply, error: UnreadableReplyError) -> bool:
        """True to ask again, after a bad reply: until one was paid now, by this item or one of the same inputs."""
        if error.final:
            return False
        if self._anew and not bad.cached:
            self._paid.add(digest)
        more = attempt + 1 < ATTEMPTS or (self._anew and digest not in self._paid and attempt + 1 < MOST_ATTEMPTS)
        if more:
            self._asked_again[str(error).partition(":")[0]] += 1
        return more

    def _ready(self, piece: Piece) -> KnownVerdicts | None:
        """Check the prompt on the first items; the verdicts that are known of it, if they are looked up."""
        if not self._checked:
            few = piece.items[: min(CHECKED, 1 + len(piece.items) // ITEMS_A_CHECK)]
            self._shown = [fenced_inputs(self.predict, item) for item in few]
            self.prompt = freeze(self.predict, self._shown)
            if self._known is not None:
                about = self.predict, self.form(0)[0], self.scale, self.aspects
                self._verdicts = self._known.verdicts(*about, self._rollout(0))
            self._checked = True
        return self._verdicts

    def _rollout(self, attempt: int) -> int | None:
        """Another rollout is another call; the only reply of the first attempt has none, as in DSPy."""
        return None if self._samples == 1 and not attempt else self._sample + attempt * self._samples


def leaf_rater(leaf: Leaf, scale: Scale, aspects: tuple[str, ...], *, both_orders: bool, **how: Any) -> Rater:
    """A prompt or a function, ready to be asked.

    Args:
        leaf: Of a tree.
        scale: The judge's scale.
        aspects: Its aspects.
        both_orders: Ask about each pair in both orders.
        how: As for ``PromptRater``; of a prompt in turns ``to`` and ``count`` alone.
    """
    rater: Rater
    if isinstance(leaf, PromptLeaf) and leaf.turns:
        known = {name: how[name] for name in ("to", "count") if name in how}
        rater = TurnsRater(leaf, scale=scale, aspects=aspects, **known)
    elif isinstance(leaf, PromptLeaf):
        rater = PromptRater(module_of(leaf, scale), scale=scale, aspects=aspects, **how)
    elif isinstance(leaf, FunctionLeaf):
        rater = PromptRater(function_module(leaf.inputs, aspects, scale), scale=scale, aspects=aspects, **how)
    else:
        raise TypeError(f"{leaf.name}: a {leaf.kind} leaf is not asked")
    return BothOrders(rater, scale) if both_orders else rater


def verdicts(
    module: dspy.Module,
    items: Sequence[Item],
    *,
    ask: Ask,
    scale: Scale,
    aspects: tuple[str, ...],
    to: str = "",
    one_order: bool = False,
    asked_again: Counter[str] | None = None,
) -> Judgments:
    """Raw verdicts of a prompt: what the model said, before any calibration.

    Of both orders of a pair, the probabilities are the mean. The grade is the one that both stated; two different ones
    are a flip, recorded in ``flipped``, and the grade is a tie. A pair without a readable reply in either order is
    unscored.

    Args:
        module: As for ``PromptRater``, and so are ``scale``, ``aspects``, ``to`` and ``asked_again``.
        items: In the order of the result.
        ask: Sends the requests.
        scale: The grades.
        aspects: What is graded.
        to: What requests call the model.
        one_order: Of pairs, ask only the order in which the items are; flips stay unknown.
        asked_again: Counts replies that were asked for again.

    Raises:
        UserError: When the module is not a judge of these aspects.
        ServiceError: When the LM cannot be reached at all; finished calls are in the journal.
    """
    of = prompt_rater(module, scale=scale, aspects=aspects, to=to, one_order=one_order, asked_again=asked_again)
    return rate_all(of, items, ask)


def prompt_rater(
    module: dspy.Module,
    *,
    scale: Scale,
    aspects: tuple[str, ...],
    to: str = "",
    one_order: bool = False,
    asked_again: Counter[str] | None = None,
) -> Rater:
    """Rates with a prompt as ``verdicts`` does, for the same arguments."""
    alone = PromptRater(module, scale=scale, aspects=aspects, to=to, asked_again=asked_again)
    return BothOrders(alone, scale) if is_pairwise(module) and not one_order else alone


@dataclass(slots=True)
class _PromptQuestions:
    """The verdicts of a prompt on a piece, as they come.

    Args:
        rater: Whose.
        piece: The items.
        columns: The verdicts.
        numbers: Positions of the items that nothing was known of.
        new: Those of them that a verdict was read of now.
    """

    rater: PromptRater
    piece: Piece
    columns: Columns
    numbers: Sequence[int]
    new: list[int] = field(default_factory=list)

    @classmethod
    def of(cls, rater: PromptRater, piece: Piece, known: KnownVerdicts | None) -> "_PromptQuestions":
        """With the verdicts that are known."""
        size = len(piece.item_ids)
        columns = Columns.empty(size, len(rater.aspects), len(rater.labels))
        if known is None:
            return cls(rater, piece, columns, range(size))
        found = known.find(piece.digests)
        columns.probabilities[found.rows] = found.probabilities
        columns.grade[found.rows] = found.grade
        columns.confidence[found.rows] = found.confidence
        for row, reason in zip(found.rows, found.reasons, strict=True):
            columns.reasons[row] = reason
            columns.faults[row] = None
        return cls(rater, piece, columns, [row for row, fault in enumerate(columns.faults) if fault is not None])

    def request(self, number: int, attempt: int, key: int) -> Request:
        """As ``Questions.request``."""
        return self.rater.request(self.piece.items[number], attempt, key)

    def take(self, number: int, attempt: int, reply: Reply) -> bool:
        """As ``Questions.take``."""
        try:
            verdict = self.rater.read(reply, attempt, self.piece.items[number])
        except UnreadableReplyError as error:
            self.columns.faults[number] = str(error)
            if self.rater.again(self.piece.digests[number], attempt, reply, error):
                return True
        else:
            self.columns.put(number, verdict)
            self.new.append(number)
        self.rater.count.add(1, int(self.columns.faults[number] is not None))
        return False

    def keep(self, known: KnownVerdicts | None) -> None:
        """Keep the verdicts that were read from replies."""
        if known is None or not self.new:
            return
        columns, new = self.columns, self.new
        numbers = np.concatenate(
            [columns.probabilities[new].reshape(len(new), -1), columns.grade[new], columns.confidence[new, None]],
            axis=1,
        )
        known.keep([self.piece.digests[row] for row in new], numbers, [columns.reasons[row] for row in new])


def _predictor(module: dspy.Module, aspects: tuple[str, ...]) -> dspy.Predict:
    predictors = module.predictors()
    grades = [name for predict in predictors for name in grade_fields(predict)]
    if len(predictors) != 1 or len(grades) != len(aspects):
        raise UserError(
            f"judge module: {len(predictors)} predictors with grades {', '.join(grades) or 'none'}; "
            f"one with a grade for each of {', '.join(aspects)} is valid. Change the plugin that built it."
        )
    return predictors[0]
