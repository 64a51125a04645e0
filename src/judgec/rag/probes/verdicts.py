"""Turns replies into verdicts: judged, and diagnosed where they failed."""

import re
from collections.abc import Mapping, Sequence

from judgec.rag.probes.diagnosis import diagnose
from judgec.rag.probes.judging.facts import states
from judgec.rag.probes.judging.failures import is_failure
from judgec.rag.probes.judging.panel import ReplyJudge
from judgec.rag.probes.judging.rules import JudgedReply
from judgec.rag.queries.terms import TermIndex
from judgec.records.scenario.outcome import Outcome, Probed, ReplyVerdict, SystemReply
from judgec.records.scenario.schema import Question

_PASSAGE = re.compile(r"#\d+$")  # as an index names the passages of a document that has several
SHOWN = 200  # characters of a system's error message


def verdicts(
    questions: Sequence[Question],
    replies: Sequence[SystemReply],
    judge: ReplyJudge,
    *,
    data_set: str,
    terms: TermIndex | None,
) -> list[Probed]:
    """Judge the replies of one system.

    A reply passes when every criterion passes. One that has no answer, or is a system's error message instead of one,
    is an error whoever judges, and one that the judge gave no grade of is unscored: neither counts as passed or failed.

    Args:
        questions: In the order of ``replies``.
        replies: Of one system.
        judge: Who judges.
        data_set: Name of the corpus, of questions that say none.
        terms: The index that the system searched, or None when nobody knows it.
    """
    pairs = list(zip(questions, replies, strict=True))
    answered = [row for row, (question, reply) in enumerate(pairs) if _has_answer(question, reply)]
    judged = dict(zip(answered, judge.judge([pairs[row] for row in answered]), strict=True))
    return [
        Probed(question=question, reply=reply, verdict=_verdict(question, reply, judged.get(row), data_set, terms))
        for row, (question, reply) in enumerate(pairs)
    ]


def _has_answer(question: Question, reply: SystemReply) -> bool:
    if reply.answer is None:
        return False
    references = [part.reference for part in question.parts] or [question.reference]
    right = any(reference and states(reply.answer, reference) for reference in references)
    return right or not is_failure(reply.answer, question.query)


def _verdict(
    question: Question, reply: SystemReply, judged: JudgedReply | None, data_set: str, terms: TermIndex | None
) -> ReplyVerdict:
    place = ReplyVerdict(
        query_id=question.query_id,
        system=reply.system,
        data_set=question.data_set or data_set,
        scenario=question.scenario,
        source=question.source,
        outcome="error",
    )
    if judged is None or judged.rejection == "error":
        rejection = "error" if question.must_refuse else None
        return place.model_copy(update={"rejection": rejection, "reason": reply.error or _message(reply.answer)})
    criteria = {str(name): passed for name, passed in judged.criteria.items()}
    outcome = outcome_of(criteria, judged.unscored)
    component, why = diagnose(question, reply, terms) if outcome == "fail" else ("", "")
    update = {
        "outcome": outcome,
        "criteria": criteria,
        "rejection": judged.rejection,
        "parts": judged.parts,
        "component": component,
        "why": why,
        "reason": judged.unscored or judged.reason,
        "votes": judged.votes,
        "partial": outcome == "pass" and _names_others(question, reply),
    }
    return place.model_copy(update=update)


def _names_others(question: Question, reply: SystemReply) -> bool:
    """True if a system names documents and none that the question was made from; a passage ``d#2`` is one of ``d``.

    Of a question to refuse there is no right document.
    """
    if question.must_refuse or not (question.doc_ids and reply.doc_ids):
        return False
    named = {name for one in reply.doc_ids for name in (one, _PASSAGE.sub("", one))}
    return named.isdisjoint(question.doc_ids)


def _message(answer: str | None) -> str:
    return " ".join((answer or "no answer").split())[:SHOWN]


def outcome_of(criteria: Mapping[str, bool | None], unscored: str) -> Outcome:
    """``fail`` when any criterion failed; ``unscored`` when one is unknown and none failed; else ``pass``.

    Criteria that cannot be judged without a reference are unknown, unless nobody asked for one.
    """
    values = list(criteria.values())
    if False in values:
        return "fail"
    if unscored or None in values or not values:
        return "unscored"
    return "pass"
