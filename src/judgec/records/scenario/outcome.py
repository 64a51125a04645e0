"""Records of what a system under test replied to a question, and what became of it."""

from collections.abc import Mapping
from typing import Literal

from judgec.records.record import Record
from judgec.records.scenario.schema import Question

Outcome = Literal["pass", "fail", "error", "unscored"]
Where = Literal["retrieval", "generator", "corpus", "not tested", ""]

REJECTION_OUTCOMES = (
    "answered",
    "refused",
    "refused_then_answered",
    "described",
    "described_then_answered",
    "error",
)
"""What a system can do with a question that its documents do not answer (RAGProbe)."""
REJECTION_PASSES = frozenset({"refused", "described"})


class SystemReply(Record):
    """Reply of a system.

    Args:
        query_id: The question's.
        system: Its name.
        answer: None where there is none, with the reason in ``error``.
        contexts: Texts of the passages that it retrieved, the best first; None where it does not say.
        doc_ids: Their documents; None where it does not say.
        error: Why there is no answer.
        seconds: How long it took, retries included.
        attempts: How often it was asked.
    """

    query_id: str
    system: str
    answer: str | None
    contexts: tuple[str, ...] | None = None
    doc_ids: tuple[str, ...] | None = None
    error: str | None = None
    seconds: float = 0.0
    attempts: int = 1


class ReplyVerdict(Record):
    """A reply, judged.

    Args:
        query_id: The question's.
        system: The system's name.
        data_set: The corpus that the question was made from.
        scenario: The question's.
        source: The document that groups it in intervals.
        outcome: ``pass`` when every criterion passed, ``error`` when the system gave no answer, ``unscored`` when
            nobody could judge it.
        criteria: Of each metric whether it passed; None where it could not be judged.
        rejection: What the system did, where a refusal was right; else None.
        parts: Of each part whether its answer is there.
        component: Which part of the system failed; empty where nothing did.
        why: The evidence for ``component``.
        reason: The judge's, or the error.
        partial: It passed, but the documents that the system names are not the question's (RAGProbe, Table II).
        votes: Of a jury, what each member said of the criteria or of the refusal, by its name.
    """

    query_id: str
    system: str
    data_set: str
    scenario: str
    source: str
    outcome: Outcome
    criteria: Mapping[str, bool | None] = {}
    rejection: str | None = None
    parts: tuple[bool | None, ...] = ()
    component: Where = ""
    why: str = ""
    reason: str = ""
    partial: bool = False
    votes: Mapping[str, Mapping[str, bool | str | None]] = {}


class Probed(Record):
    """One question put to one system, with everything that is known of it."""

    question: Question
    reply: SystemReply
    verdict: ReplyVerdict
