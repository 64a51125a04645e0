"""Judges replies: by rules, by a language model with an uncompiled prompt, or by compiled judges."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

from judgec.judges.judge import CompiledJudge
from judgec.judges.registry import judge_module
from judgec.lm.executor import Ask
from judgec.probes.judging.rules import JudgedReply, RuleJudge
from judgec.probes.systems import asked
from judgec.records.judgment import Judgments
from judgec.records.label import Item
from judgec.records.scale import Scale
from judgec.records.scenario.outcome import REJECTION_PASSES, SystemReply
from judgec.records.scenario.schema import CRITERIA, Metric, Question
from judgec.tasks.rejection import OUTCOME_SCALE

PASS_FAIL = Scale(name="criterion", grades=(0, 1), meanings=("fail", "pass"), accept_at=1)
FIELDS = ("query", "answer", "contexts", "reference")


class ReplyJudge(Protocol):
    """Judges replies that have an answer."""

    @property
    def name(self) -> str:
        """For reports."""
        ...

    def judge(self, pairs: Sequence[tuple[Question, SystemReply]]) -> list[JudgedReply]:
        """What became of each reply, in order."""
        ...


@dataclass(frozen=True)
class Seat:
    """One judge that reads, and the way to its model.

    Args:
        name: For reports.
        judge: Compiled or not.
        ask: Sends requests.
    """

    name: str
    judge: CompiledJudge
    ask: Ask


@dataclass(frozen=True)
class ReplyPanel:
    """A judge of the four criteria and a judge of refusals; where one is missing, rules judge.

    Args:
        criteria: A judge of the answer task whose aspects are the criteria.
        rejection: A judge of the rejection task.
    """

    criteria: Seat | None = None
    rejection: Seat | None = None

    @property
    def name(self) -> str:
        """Both names, or one where they are the same."""
        names = [seat.name if seat else RuleJudge.name for seat in (self.criteria, self.rejection)]
        return " and ".join(dict.fromkeys(names))

    def judge(self, pairs: Sequence[tuple[Question, SystemReply]]) -> list[JudgedReply]:
        """What became of each reply, in order."""
        refusals = [row for row, (question, _) in enumerate(pairs) if question.must_refuse]
        others = [row for row, (question, _) in enumerate(pairs) if not question.must_refuse]
        judged: dict[int, JudgedReply] = {}
        for rows, seat, judge in ((refusals, self.rejection, _rejections), (others, self.criteria, _criteria)):
            some = [pairs[row] for row in rows]
            found = RuleJudge().judge(some) if seat is None else judge(seat, some)
            judged |= dict(zip(rows, found, strict=True))
        return [judged[row] for row in range(len(pairs))]


def uncompiled(name: str, ask: Ask) -> ReplyPanel:
    """Both judges as prompts that were never measured."""
    criteria = judge_module("answer", PASS_FAIL, CRITERIA, FIELDS)
    rejection = judge_module("rejection", OUTCOME_SCALE, ("grade",), ("query", "answer"))
    shown = f"{name} (uncompiled)"
    return ReplyPanel(
        Seat(shown, CompiledJudge(criteria, PASS_FAIL, CRITERIA), ask),
        Seat(shown, CompiledJudge(rejection, OUTCOME_SCALE, ("grade",)), ask),
    )


def _rejections(seat: Seat, pairs: Sequence[tuple[Question, SystemReply]]) -> list[JudgedReply]:
    items = [_item(str(row), question, reply) for row, (question, reply) in enumerate(pairs)]
    found = seat.judge.judge(items, seat.ask)
    results = []
    for row in range(len(pairs)):
        if found.unscored[row] is not None:
            results.append(JudgedReply({"rejection": None}, unscored=str(found.unscored[row])))
            continue
        outcome = str(seat.judge.scale.grades[int(found.grade[row, 0])])
        results.append(
            JudgedReply({"rejection": outcome in REJECTION_PASSES}, rejection=outcome, reason=found.rationale[row])
        )
    return results


def _criteria(seat: Seat, pairs: Sequence[tuple[Question, SystemReply]]) -> list[JudgedReply]:
    """Every reply as a whole, and every part of a message that asks several things by itself."""
    items = [_item(str(row), question, reply) for row, (question, reply) in enumerate(pairs)]
    places = [(row, k) for row, (question, _) in enumerate(pairs) for k in range(len(question.parts))]
    for row, k in places:
        question, reply = pairs[row]
        items.append(_item(f"{row}.{k}", question, reply, k))
    found = seat.judge.judge(items, seat.ask)
    complete = found.aspects.index("completeness")
    parts: dict[int, list[bool | None]] = {}
    for number, (row, _) in enumerate(places, len(pairs)):
        parts.setdefault(row, []).append(_passed(found, number, complete, seat.judge.scale))
    return [
        _judged(found, row, question, tuple(parts.get(row, ())), seat.judge.scale)
        for row, (question, _) in enumerate(pairs)
    ]


def _judged(
    found: Judgments, row: int, question: Question, parts: tuple[bool | None, ...], scale: Scale
) -> JudgedReply:
    if found.unscored[row] is not None:
        none: dict[Metric, bool | None] = dict.fromkeys(question.metrics)
        return JudgedReply(none, parts, unscored=str(found.unscored[row]))
    criteria = {metric: _passed(found, row, found.aspects.index(metric), scale) for metric in question.metrics}
    if parts and "completeness" in criteria:
        criteria["completeness"] = False if False in parts else None if None in parts else True
    missing = [name for name, passed in criteria.items() if passed is None]
    fault = f"no grade of {', '.join(missing)}" if missing else ""
    return JudgedReply(criteria, parts, reason=found.rationale[row], unscored=fault)


def _passed(found: Judgments, row: int, column: int, scale: Scale) -> bool | None:
    if found.unscored[row] is not None:
        return None
    accept = int(found.accept[row, column])
    return accept == 1 if accept >= 0 else int(found.grade[row, column]) == len(scale.grades) - 1


def _item(item_id: str, question: Question, reply: SystemReply, part: int | None = None) -> Item:
    query = asked(question) if part is None else question.parts[part].query
    reference = question.reference if part is None else question.parts[part].reference
    if question.right is not None and part is None:
        reference = f"{chr(ord('A') + question.right)}) {question.options[question.right]}"
    inputs: dict[str, str | tuple[str, ...]] = {"query": query, "answer": reply.answer or ""}
    if question.passages and not question.must_refuse:
        inputs["contexts"] = question.passages
    if reference:
        inputs["reference"] = reference
    return Item(item_id, question.query_id, inputs)
