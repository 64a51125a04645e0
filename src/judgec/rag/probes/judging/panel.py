"""Judges replies: by rules, by a language model with an uncompiled prompt, or by compiled judges."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Protocol

from judgec.lm.executor import Ask
from judgec.rag.probes.judging.rules import JudgedReply, RuleJudge
from judgec.rag.probes.systems import asked
from judgec.raters.asked_judges import AskedJudge, AskedJudges
from judgec.raters.judge import uncompiled as as_judge
from judgec.raters.registry import judge_module
from judgec.records.judgment import Judgments
from judgec.records.label import Item
from judgec.records.scale import Aspect, Scale
from judgec.records.scenario.outcome import REJECTION_PASSES, SystemReply
from judgec.records.scenario.schema import CRITERIA, REJECTION, Metric, Question
from judgec.records.tasks.rejection import OUTCOME_SCALE

DEFINITIONS = {  # RAGProbe, section III.A; of RAGElo's aspects two have the same names and other meanings
    "correctness": "does the answer match the reference exactly, or is it a close paraphrase with the same information",
    "relevance": "does the answer directly address the question without deviating into unrelated topics",
    "completeness": "does the answer cover all parts of the reference with no omissions",
    "consistency": "does the answer align with the reference in detail and context, and is it coherent in itself",
}
PASS_FAIL = Scale(
    name="criterion",
    grades=(0, 1),
    meanings=("fail", "pass"),
    accept_at=1,
    aspects={name: Aspect(asks=text) for name, text in DEFINITIONS.items()},
)
FIELDS = ("query", "answer", "contexts", "reference")


class ReplyJudge(Protocol):
    """Judges replies that have an answer."""

    @property
    def name(self) -> str:
        """For reports."""
        ...

    def judge(self, pairs: Sequence[tuple[Question, SystemReply]]) -> list[JudgedReply]:
        """Judges the replies, in order."""
        ...


@dataclass(frozen=True)
class ReplyPanel:
    """A judge of the four criteria, a judge of refusals and judges of further metrics; where one is missing, rules.

    Args:
        criteria: A judge of the answer task whose aspects are the criteria.
        rejection: A judge of the rejection task.
        further: By metric, a judge of answers; it reads what the system retrieved.
    """

    criteria: AskedJudges | None = None
    rejection: AskedJudges | None = None
    further: Mapping[Metric, AskedJudges] = field(default_factory=dict)

    @property
    def name(self) -> str:
        """The names of all, each once."""
        two = [_named(judges) if judges else RuleJudge.name for judges in (self.criteria, self.rejection)]
        return " and ".join(dict.fromkeys([*two, *map(_named, self.further.values())]))

    @property
    def everybody(self) -> tuple[AskedJudges, ...]:
        """Those that there are."""
        return tuple(judges for judges in (self.criteria, self.rejection, *self.further.values()) if judges is not None)

    def agreement(self) -> dict[str, dict[str, object]]:
        """Agreement of the members of each jury on what was judged so far, by what it judges."""
        named = {"criteria": self.criteria, REJECTION: self.rejection}
        return {what: found for what, judges in named.items() if judges and (found := judges.agreement()) is not None}

    def asked(self, questions: Sequence[Question]) -> Iterator[tuple[AskedJudges, list[Item]]]:
        """Judges with what they will read of these questions; what systems retrieve counts as there."""
        refusals = [one for one in questions if one.must_refuse]
        others = [one for one in questions if not one.must_refuse]
        reply = SystemReply(query_id="", system="", answer="", contexts=("retrieved",))
        for judges, some in ((self.rejection, refusals), (self.criteria, others)):
            if judges is not None:
                yield judges, [_item("", one, reply) for one in some]
        for metric, judges in self.further.items():
            some = [one for one in others if metric in one.metrics]
            yield judges, [_item("", one, reply, retrieved=True) for one in some]

    def judge(self, pairs: Sequence[tuple[Question, SystemReply]]) -> list[JudgedReply]:
        """Judges the replies, in order."""
        refusals = [row for row, (question, _) in enumerate(pairs) if question.must_refuse]
        others = [row for row, (question, _) in enumerate(pairs) if not question.must_refuse]
        judged: dict[int, JudgedReply] = {}
        for rows, judges, judge in ((refusals, self.rejection, _rejections), (others, self.criteria, _criteria)):
            some = [_asked_of(pairs[row], (*CRITERIA, REJECTION)) for row in rows]
            found = RuleJudge().judge(some) if judges is None else judge(judges, some)
            judged |= dict(zip(rows, found, strict=True))
        for metric in dict.fromkeys(name for row in others for name in pairs[row][0].metrics if name not in CRITERIA):
            rows = [row for row in others if metric in pairs[row][0].metrics]
            some = [_asked_of(pairs[row], (metric,)) for row in rows]
            own = self.further.get(metric)
            more = RuleJudge().judge(some) if own is None else _graded(own, metric, some)
            judged |= {row: _both(judged[row], one) for row, one in zip(rows, more, strict=True)}
        return [judged[row] for row in range(len(pairs))]


def _named(judges: AskedJudges) -> str:
    return judges.names[0] if len(judges.names) == 1 else f"a jury of {', '.join(judges.names)} (unproven)"


def _asked_of(pair: tuple[Question, SystemReply], metrics: Sequence[Metric]) -> tuple[Question, SystemReply]:
    """A question with those of its metrics that one judge sees to."""
    question, reply = pair
    return question.model_copy(update={"metrics": tuple(one for one in question.metrics if one in metrics)}), reply


def _both(one: JudgedReply, other: JudgedReply) -> JudgedReply:
    if not one.criteria:
        return replace(other, parts=one.parts)
    said = [text for text in (one.reason, other.reason) if text]
    gone = [text for text in (one.unscored, other.unscored) if text]
    return replace(
        one,
        criteria={**one.criteria, **other.criteria},
        reason="; ".join(dict.fromkeys(said)),
        unscored="; ".join(gone),
    )


def _graded(judges: AskedJudges, metric: Metric, pairs: Sequence[tuple[Question, SystemReply]]) -> list[JudgedReply]:
    """One metric by a judge of answers: every aspect of it must be accepted, on what the system retrieved."""
    told = [row for row, (_, reply) in enumerate(pairs) if reply.contexts is not None or not judges.reads_contexts]
    items = [_item(str(row), *pairs[row], retrieved=True) for row in told]
    found, _ = judges.judged(items)
    results = [
        JudgedReply({metric: None}, unscored=f"{metric}: the system does not say what it retrieved") for _ in pairs
    ]
    for at, row in enumerate(told):
        passed = [_passed(found, at, column, judges.judge.scale) for column in range(len(found.aspects))]
        verdict = False if False in passed else None if None in passed else True
        why = "" if verdict is not None else f"{metric}: {found.unscored[at] or 'no grade'}"
        reason = f"{metric}: {found.rationale[at]}" if verdict is False else ""
        results[row] = JudgedReply({metric: verdict}, reason=reason, unscored=why)
    return results


def uncompiled(name: str, ask: Ask) -> ReplyPanel:
    """Both judges as prompts that were never measured; the criteria are of the reference alone, as in RAGProbe."""
    further = {"faithfulness": ("contexts",), "bias": ()}

    def asked(task: str, scale: Scale, aspects: tuple[str, ...], *more: str) -> AskedJudges:
        module = judge_module(task, scale, aspects, ("query", "answer", *more))
        return AskedJudges((AskedJudge(f"{name} (uncompiled)", as_judge(module, task, scale, aspects), ask),))

    return ReplyPanel(
        asked("answer", PASS_FAIL, CRITERIA, "reference"),
        asked("rejection", OUTCOME_SCALE, ("grade",)),
        {metric: asked("answer", PASS_FAIL, (metric,), *fields) for metric, fields in further.items()},
    )


def _rejections(judges: AskedJudges, pairs: Sequence[tuple[Question, SystemReply]]) -> list[JudgedReply]:
    items = [_item(str(row), question, reply) for row, (question, reply) in enumerate(pairs)]
    found, said = judges.judged(items)
    grades = judges.judge.scale.grades
    results = []
    for row in range(len(pairs)):
        votes: dict[str, dict[str, bool | str | None]] = {
            name: {REJECTION: str(grades[int(one.grade[row, 0])]) if one.unscored[row] is None else None}
            for name, one in said.items()
        }
        if found.unscored[row] is not None:
            results.append(JudgedReply({REJECTION: None}, unscored=str(found.unscored[row]), votes=votes))
            continue
        outcome, reason = str(grades[int(found.grade[row, 0])]), found.rationale[row]
        passed = {REJECTION: outcome in REJECTION_PASSES}
        results.append(JudgedReply(passed, rejection=outcome, reason=reason, votes=votes))
    return results


def _criteria(judges: AskedJudges, pairs: Sequence[tuple[Question, SystemReply]]) -> list[JudgedReply]:
    """Every reply as a whole, and every part of a message that asks several things by itself."""
    if not any(question.metrics for question, _ in pairs):
        return [JudgedReply({}) for _ in pairs]
    items = [_item(str(row), question, reply) for row, (question, reply) in enumerate(pairs)]
    places = [(row, k) for row, (question, _) in enumerate(pairs) for k in range(len(question.parts))]
    for row, k in places:
        question, reply = pairs[row]
        items.append(_item(f"{row}.{k}", question, reply, k))
    found, said = judges.judged(items)
    scale, alone = judges.judge.scale, _by_reference_alone(judges)
    complete = found.aspects.index("completeness")
    parts: dict[int, list[bool | None]] = {}
    for number, (row, _) in enumerate(places, len(pairs)):
        parts.setdefault(row, []).append(_passed(found, number, complete, scale))
    return [
        replace(
            _judged(
                found, row, question, tuple(parts.get(row, ())), scale, alone and "reference" not in items[row].inputs
            ),
            votes={name: _votes(one, row, question, scale) for name, one in said.items()},
        )
        for row, (question, _) in enumerate(pairs)
    ]


def _by_reference_alone(judges: AskedJudges) -> bool:
    """True if a reply without a reference is held against nothing."""
    shown = {name for member in judges.members for one in member.judge.prompts for name in one.inputs}
    return "reference" in shown and "contexts" not in shown


def _votes(said: Judgments, row: int, question: Question, scale: Scale) -> dict[str, bool | str | None]:
    """Vote of one member of a jury on a reply as a whole."""
    return {metric: _passed(said, row, said.aspects.index(metric), scale) for metric in question.metrics}


def _judged(
    found: Judgments, row: int, question: Question, parts: tuple[bool | None, ...], scale: Scale, unknown: bool
) -> JudgedReply:
    """Judgment of a reply as a whole; nothing where no reference is known and more than relevance is asked."""
    if found.unscored[row] is not None:
        none: dict[Metric, bool | None] = dict.fromkeys(question.metrics)
        return JudgedReply(none, parts, unscored=str(found.unscored[row]))
    criteria = {metric: _passed(found, row, found.aspects.index(metric), scale) for metric in question.metrics}
    if parts and "completeness" in criteria:
        criteria["completeness"] = False if False in parts else None if None in parts else True
    if unknown and criteria.keys() != {"relevance"}:
        criteria = dict.fromkeys(criteria)
    missing = [name for name, passed in criteria.items() if passed is None]
    why = ": the question has no reference" if unknown else ""
    fault = f"no grade of {', '.join(missing)}{why}" if missing else ""
    return JudgedReply(criteria, parts, reason=found.rationale[row], unscored=fault)


def _passed(found: Judgments, row: int, column: int, scale: Scale) -> bool | None:
    if found.unscored[row] is not None:
        return None
    accept = int(found.accept[row, column])
    return accept == 1 if accept >= 0 else int(found.grade[row, column]) == len(scale.grades) - 1


def _item(
    item_id: str, question: Question, reply: SystemReply, part: int | None = None, *, retrieved: bool = False
) -> Item:
    """The item as a judge reads it: the passages are those of the question, or those that the system retrieved."""
    query = asked(question) if part is None else question.parts[part].query
    reference = question.reference if part is None else question.parts[part].reference
    if question.right is not None and part is None:
        reference = f"{chr(ord('A') + question.right)}) {question.options[question.right]}"
    inputs: dict[str, str | tuple[str, ...]] = {"query": query, "answer": reply.answer or ""}
    contexts = (reply.contexts or ()) if retrieved else question.passages
    if contexts and not question.must_refuse:
        inputs["contexts"] = contexts
    if reference:
        inputs["reference"] = reference
    return Item(item_id, question.query_id, inputs)
