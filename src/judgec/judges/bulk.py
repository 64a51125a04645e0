"""Many items through one judge: rendered, asked, read, asked again where unreadable, collected in order."""

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Protocol

import dspy
import numpy as np

from judgec.errors import UserError
from judgec.judges.reading import UnreadableReplyError, Verdict, read_fields, read_verdict
from judgec.judges.signatures import fenced_inputs, grade_fields
from judgec.lm.executor import Reply, Request
from judgec.lm.frozen import FrozenPrompt, freeze
from judgec.lm.logprobs import label_probabilities
from judgec.records.judgment import UNSCORED, Judgments
from judgec.records.label import Item
from judgec.records.scale import Scale

ATTEMPTS = 2  # a malformed reply is asked for once more
SERVICE_ERROR = "service error"
CHECKED = 8  # items that the frozen prompt is compared with DSPy's adapter on


class Ask(Protocol):
    """Sends requests to an LM; ``Executor.run`` is one. Replies may come in any order, one a request."""

    def __call__(self, requests: Iterable[Request], *, total: int | None = None) -> Iterator[Reply]:
        """``total`` is how many requests there are."""
        ...


def judge_items(
    module: dspy.Module,
    items: Sequence[Item],
    *,
    ask: Ask,
    scale: Scale,
    aspects: tuple[str, ...],
    samples: int = 1,
    asked_again: Counter[str] | None = None,
) -> Judgments:
    """Raw verdicts: what the LM said, before any calibration.

    The probabilities of an item are the mean over its readable replies: of the label log-probabilities where
    the backend gives them, of the stated grade alone where not. The grade is the stated one; of several
    replies, the most probable (of equals, the worst). An item without a readable reply is unscored, with the
    last reason.

    Args:
        module: From ``registry.judge_module``, compiled or not; never called: its prompt is rendered.
        items: In the order of the result.
        ask: Sends the requests.
        scale: The judge's scale.
        aspects: The judge's aspects.
        samples: Replies an item.
        asked_again: Counts the replies that were asked for again, by kind: malformed reply, refusal, ...

    Raises:
        UserError: When the module is not a judge of these aspects.
        ServiceError: When the LM cannot be reached at all; finished calls are in the journal.
    """
    predict = _predictor(module, aspects)
    verdicts: list[dict[int, Verdict]] = [{} for _ in items]
    faults = ["no reply"] * len(items)
    if not items:
        return _collect(items, verdicts, faults, scale, aspects)
    prompt = freeze(predict, [fenced_inputs(predict, item) for item in items[:CHECKED]])
    interview = _Interview(predict, grade_fields(predict), prompt, items, scale, samples, ask)
    due: Sequence[int] = range(len(items) * samples)
    for attempt in range(ATTEMPTS):
        unread: dict[int, str] = {}
        for key, answer in interview.hold(due, attempt):
            row, sample = divmod(key, samples)
            if isinstance(answer, Verdict):
                verdicts[row][sample] = answer
                continue
            faults[row] = answer
            if not answer.startswith(SERVICE_ERROR):  # those were retried already
                unread[key] = answer.partition(":")[0]
        due = sorted(unread)
        if not due:
            break
        if asked_again is not None and attempt + 1 < ATTEMPTS:
            asked_again.update(unread.values())
    return _collect(items, verdicts, faults, scale, aspects)


@dataclass(frozen=True, slots=True)
class _Interview:
    """A prompt, the items that fill it, the LM that answers; a request's key is row * samples + sample."""

    predict: dspy.Predict
    names: tuple[str, ...]
    prompt: FrozenPrompt
    items: Sequence[Item]
    scale: Scale
    samples: int
    ask: Ask

    def hold(self, keys: Sequence[int], attempt: int) -> Iterator[tuple[int, Verdict | str]]:
        """The verdict of each key, or the reason why there is none, as they come."""
        for reply in self.ask((self._request(key, attempt) for key in keys), total=len(keys)):
            try:
                yield int(reply.key), self._read(reply)
            except UnreadableReplyError as fault:
                yield int(reply.key), str(fault)

    def _request(self, key: int, attempt: int) -> Request:
        row, sample = divmod(key, self.samples)
        # Another rollout is another call; the only reply of the first attempt has none, as in DSPy.
        rollout = None if self.samples == 1 and not attempt else sample + attempt * self.samples
        return Request(key, self.prompt.messages(fenced_inputs(self.predict, self.items[row])), rollout)

    def _read(self, reply: Reply) -> Verdict:
        if reply.text is None:
            raise UnreadableReplyError(f"{SERVICE_ERROR}: {reply.error}")
        labels = [str(grade) for grade in self.scale.grades]
        spreads = {name: label_probabilities(reply.logprobs, name, labels) for name in self.names}
        given = {name: np.array(spread) for name, spread in spreads.items() if spread is not None}
        return read_verdict(read_fields(reply.text, self.prompt.parse), self.names, self.scale, given)


def _predictor(module: dspy.Module, aspects: tuple[str, ...]) -> dspy.Predict:
    predictors = module.predictors()
    grades = [name for predict in predictors for name in grade_fields(predict)]
    if len(predictors) != 1 or len(grades) != len(aspects):
        raise UserError(
            f"judge module: {len(predictors)} predictors with grades {', '.join(grades) or 'none'}; "
            f"one with a grade for each of {', '.join(aspects)} is valid. Change the plugin that built it."
        )
    return predictors[0]


def _collect(
    items: Sequence[Item],
    verdicts: Sequence[dict[int, Verdict]],
    faults: Sequence[str],
    scale: Scale,
    aspects: tuple[str, ...],
) -> Judgments:
    shape = (len(items), len(aspects))
    probabilities = np.full((*shape, len(scale.grades)), np.nan)
    grade = np.full(shape, UNSCORED, dtype=np.int64)
    confidence = np.full(shape, np.nan)
    rationale = [""] * len(items)
    for row, by_sample in enumerate(verdicts):
        replies = [by_sample[sample] for sample in sorted(by_sample)]
        if not replies:
            continue
        probabilities[row] = sum(verdict.probabilities for verdict in replies) / len(replies)
        grade[row] = replies[0].positions if len(replies) == 1 else probabilities[row].argmax(axis=1)
        stated = [verdict.confidence for verdict in replies if not np.isnan(verdict.confidence)]
        confidence[row] = sum(stated) / len(stated) if stated else np.nan
        rationale[row] = replies[0].reason
    known = grade != UNSCORED if scale.accept_index is not None else np.zeros(shape, dtype=bool)
    accepted = grade >= (scale.accept_index or 0)
    return Judgments(
        item_ids=tuple(item.item_id for item in items),
        aspects=aspects,
        probabilities=probabilities,
        grade=grade,
        score=probabilities @ np.array(scale.values),
        accept=np.where(known, accepted, UNSCORED).astype(np.int64),
        confidence=confidence,
        rationale=tuple(rationale),
        unscored=tuple(None if by_sample else fault for by_sample, fault in zip(verdicts, faults, strict=True)),
    )
