"""Holds what is audited: a judge, the items it is tried on, and its verdicts as numbers between 0 and 1."""

import hashlib
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Protocol

import numpy as np

from judgec.lm.executor import Ask, Reply, Request
from judgec.raters.judge import JudgeTree
from judgec.raters.pairwise import TIE
from judgec.records.consensus import people_mean
from judgec.records.judgment import UNSCORED, Judgments
from judgec.records.label import UNLABELLED, Experts, FloatArray, IntArray, Item
from judgec.records.ratings import pair
from judgec.records.scale import ACCEPT_SCALE, Scale
from judgec.stats.agreement.systems import SystemAgreement, systems_of
from judgec.trust.audits.effect import codes_of

GRADED = ("answer", "document")  # the inputs that are graded, of a subject whose task nobody named
RUN_APART = 1_000  # rollouts between two runs: more than a run asks of one prompt


class AuditedJudge(Protocol):
    """A judge at work: everything that an audit asks of it."""

    def __call__(self, items: Sequence[Item], *, run: int = 0, one_order: bool = False) -> Judgments:
        """Judge items.

        Args:
            items: Any number.
            run: 0 is the run that everybody gets; others ask anew, whatever the journal has of that run.
            one_order: A pairwise judge sees the answers only in the order given.
        """
        ...


@dataclass(frozen=True)
class AuditSubject:
    """A judge and what it is audited on.

    Args:
        judging: The judge.
        items: What it is tried on.
        scale: Its grades.
        fields: The inputs that it sees.
        model: The language model behind it, as in its spec.
        experts: Their labels, row i of ``items[i]``, or None.
        grade_fields: What its reply calls the grades; attacks imitate them.
        seed: Chooses edits and partners.
        unlearned: What to hold against the experts: out of fold where the judge has learned from an item since. None
            where it has learned from none.
        graded: The inputs that are graded; the first one that the judge sees is edited.
    """

    judging: AuditedJudge
    items: tuple[Item, ...]
    scale: Scale
    fields: tuple[str, ...]
    model: str = ""
    experts: Experts | None = None
    grade_fields: tuple[str, ...] = ("grade",)
    seed: int = 0
    pairwise: bool = field(default=False)
    unlearned: Callable[[Sequence[Item]], Judgments] | None = None
    graded: tuple[str, ...] = GRADED

    @cached_property
    def base(self) -> Judgments:
        """Verdicts on the items as they are."""
        return self.judging(self.items)

    @cached_property
    def beside_experts(self) -> Judgments:
        """Verdicts on the items as they are, none by a judge that has learned from the item."""
        return self.base if self.unlearned is None else self.unlearned(self.items)

    @cached_property
    def systems(self) -> SystemAgreement | None:
        """Order of the systems by the judge, beside the experts' order; None where nobody names them.

        By the shares that are accepted, where the experts gave no grades.
        """
        if self.experts is None or self.scale.level == "nominal":
            return None
        accepts = bool((self.experts.target == UNLABELLED).all())
        ratings = pair(self.experts, self.beside_experts, self.scale, accept_only=accepts)
        if accepts:
            ratings = replace(ratings, score=np.where(ratings.judge == UNSCORED, np.nan, ratings.judge))
        return systems_of(ratings)

    @cached_property
    def cluster(self) -> IntArray:
        """Code of each item's query."""
        return codes_of([item.query_id for item in self.items])

    @property
    def step(self) -> float:
        """The smallest change of a verdict, as a part of the scale."""
        if self.scale.level == "nominal":
            return 0.5 if self.pairwise else 1.0
        return 1.0 / (len(self.scale.grades) - 1)

    def merit(self, judgments: Judgments) -> FloatArray:
        """Merit of each item by the judge, 0-1; NaN unscored.

        Of a pair: the points of the first answer. Of classes without an order: 1 accepted, 0 rejected.
        """
        if self.pairwise:
            return self._points(judgments.probabilities[:, 0])
        if self.scale.level == "nominal":
            return self._accepts(judgments)
        values = np.array(self.scale.values)
        shares = (judgments.score - values[0]) / (values[-1] - values[0])
        return np.asarray(shares.mean(axis=1))

    def standing(self, judgments: Judgments) -> FloatArray:
        """As ``merit``, of the grades instead of the scores: it changes only when a verdict does."""
        scored = judgments.scored
        if self.pairwise:
            chosen = np.eye(len(self.scale.grades))[np.maximum(judgments.grade[:, 0], 0)]
            return np.where(scored, self._points(chosen), np.nan)
        if self.scale.level == "nominal":
            return self._accepts(judgments)
        mean = judgments.grade.mean(axis=1) / (len(self.scale.grades) - 1)
        return np.where(scored, mean, np.nan)

    def _points(self, spread: FloatArray) -> FloatArray:
        a, tie = self.scale.position("a"), self.scale.position(TIE)
        return np.asarray(spread[:, a] + spread[:, tie] / 2)

    def _accepts(self, judgments: Judgments) -> FloatArray:
        """Classes without an order: accepted or not; NaN where neither is known."""
        known = judgments.scored & (judgments.accept != UNSCORED).all(axis=1)
        return np.where(known, judgments.accept.mean(axis=1), np.nan)

    def moved(self, one: Judgments, other: Judgments) -> FloatArray:
        """1 where any grade differs, 0 where none does, NaN where either has no verdict."""
        differs = (one.grade != other.grade).any(axis=1).astype(np.float64)
        return np.where(one.scored & other.scored, differs, np.nan)

    def draw(self, item: Item, purpose: str) -> int:
        """A number that depends on the seed, the item and the purpose alone."""
        text = f"{self.seed}\0{item.item_id}\0{purpose}".encode()
        return int.from_bytes(hashlib.sha256(text).digest()[:8], "big")

    def target(self, item: Item) -> str:
        """The input that edits change: the answer, the document, one of the two answers."""
        if self.pairwise:
            return ("answer_a", "answer_b")[self.draw(item, "side") % 2]
        return next((name for name in self.graded if name in self.fields), self.graded[-1])

    def gain(self, target: str, before: float, after: float) -> float:
        """By how much a change of verdict favours the text in ``target``."""
        return before - after if target == "answer_b" else after - before

    @cached_property
    def partners(self) -> tuple[int | None, ...]:
        """For each item another one, of another query: the next in a seeded order; None when there is none."""
        order = sorted(range(len(self.items)), key=lambda i: self.draw(self.items[i], "partner"))
        found: list[int | None] = [None] * len(self.items)
        for place, i in enumerate(order):
            others = (order[(place + step) % len(order)] for step in range(1, len(order)))
            found[i] = next((j for j in others if self.items[j].query_id != self.items[i].query_id), None)
        return tuple(found)


def with_input(item: Item, name: str, text: str | tuple[str, ...], mark: str) -> Item:
    """The item with one input replaced; ``mark`` keeps its id apart from the original's."""
    return replace(item, item_id=f"{item.item_id}#{mark}", inputs={**item.inputs, name: text})


def edited(subject: AuditSubject, item: Item, edit: Callable[[str], str], mark: str) -> Item | None:
    """The item with the text of its target edited; None where the edit changes nothing."""
    name = subject.target(item)
    before = item.text(name)
    after = edit(before) if before.strip() else before
    return None if after == before else with_input(item, name, after, mark)


def subject_of(
    judge: JudgeTree,
    items: Sequence[Item],
    ask: Ask,
    *,
    fields: tuple[str, ...],
    model: str,
    experts: Experts | None,
    seed: int = 0,
    graded: tuple[str, ...] = GRADED,
) -> AuditSubject:
    """A compiled judge as the subject of an audit.

    Args:
        judge: The judge.
        items: What it is tried on.
        ask: Sends requests to its model.
        fields: The inputs that it was built with.
        model: The model's name.
        experts: Labels of the items, or None.
        seed: Chooses edits and partners.
        graded: The inputs that are graded.
    """
    chosen = tuple(items)

    def judging(items: Sequence[Item], *, run: int = 0, one_order: bool = False) -> Judgments:
        asking = _rerun(ask, run) if run else ask
        if one_order and judge.asks_lm:
            return judge.uncalibrated.judge(items, asking, one_order=True)
        return judge.judge(items, asking)

    return AuditSubject(
        judging=judging,
        items=chosen,
        scale=judge.scale,
        fields=fields,
        model=model,
        experts=experts,
        grade_fields=tuple(name for one in judge.prompts for name in one.grades) or AuditSubject.grade_fields,
        seed=seed,
        pairwise=judge.pairs,
        graded=graded,
    )


def _rerun(ask: Ask, run: int) -> Ask:
    """The same way to the model, every request being another rollout: no reply of another run answers it."""

    def asking(requests: Iterable[Request], *, total: int | None = None) -> Iterator[Reply]:
        apart = (replace(one, rollout=run * RUN_APART + (one.rollout or 0)) for one in requests)
        return ask(apart, total=total)

    return asking


def expert_merit(subject: AuditSubject) -> FloatArray:
    """Merit of each item by the experts, 0-1 as ``AuditSubject.merit``; NaN where they did not say."""
    experts = subject.experts
    if experts is None:
        return np.full(len(subject.items), np.nan)
    if subject.pairwise:
        points = {"a": 1.0, TIE: 0.5}
        each = np.array([points.get(str(grade), 0.0) for grade in subject.scale.grades])
        return people_mean(experts.grade_by[:, :, 0], each)
    if subject.scale.level == "nominal":
        return np.asarray(people_mean(experts.accept_by, np.array(ACCEPT_SCALE.values)).mean(axis=1))
    values = np.array(subject.scale.values)
    return np.asarray(people_mean(experts.grade_by, (values - values[0]) / (values[-1] - values[0])).mean(axis=1))
