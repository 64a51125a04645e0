"""Audits the length of a text: empty words must not change a verdict, and less of it must not be worth more."""

import re
from collections.abc import Callable, Mapping

import numpy as np

from judgec.records.audit import Finding
from judgec.records.label import FloatArray, IntArray
from judgec.trust.audits.effect import Effect, finding_of
from judgec.trust.audits.subject import AuditSubject, edited

SENTENCE = re.compile(r"(?<=[.!?])\s+")
LONGEST_PADDING = 2_000  # characters: enough to double most answers
PADDING = (
    "This is what can be said about it.",
    "The question has been considered, and the above is the response to it.",
    "In other words, what was asked for is given above.",
    "To sum up, the statements made so far stand as they are.",
    "Nothing needs to be taken away from this, and nothing needs to be added to it.",
)
Edit = Callable[[str], str]


def padded(text: str) -> str:
    """The text and as much again that says nothing."""
    added: list[str] = []
    while sum(map(len, added)) < min(len(text), LONGEST_PADDING):
        added.append(PADDING[len(added) % len(PADDING)])
    return f"{text.rstrip()} {' '.join(added)}"


def truncated(text: str) -> str:
    """The first half: of the sentences, or of the words where there is one sentence."""
    for pieces in (SENTENCE.split(text.strip()), text.split()):
        if len(pieces) > 1:
            return " ".join(pieces[: (len(pieces) + 1) // 2])
    return text


def audit_length(subject: AuditSubject, bound: float) -> Finding:
    """Padding must not change the score; cutting off the second half must not raise it."""
    found = _shifts(subject, {"padded": padded, "truncated": truncated})
    what = _target_word(subject)
    says = {
        "padded": f"Padding {what} with empty words changes its score by {{effect}} of the scale",
        "truncated": f"Cutting off the second half of {what} raises its score by {{effect}} of the scale",
    }
    measures = [
        Effect(name, says[name], values, cluster, subject.step, two_sided=name == "padded")
        for name, (values, cluster) in found.items()
    ]
    return finding_of("length", measures, bound)


def _shifts(subject: AuditSubject, edits: Mapping[str, Edit]) -> dict[str, tuple[FloatArray, IntArray]]:
    """By edit: how far it favours the text that it changes, and the query, of each item that it changes."""
    variants = [
        (name, row, changed)
        for name, edit in edits.items()
        for row, item in enumerate(subject.items)
        if (changed := edited(subject, item, edit, name)) is not None
    ]
    after = subject.merit(subject.judging([item for _, _, item in variants]))
    before = subject.merit(subject.base)
    found: dict[str, tuple[FloatArray, IntArray]] = {}
    for name in edits:
        mine = [(place, row) for place, (of, row, _) in enumerate(variants) if of == name]
        values = [subject.gain(subject.target(subject.items[row]), before[row], after[place]) for place, row in mine]
        found[name] = np.array(values, dtype=np.float64), subject.cluster[[row for _, row in mine]]
    return found


def _target_word(subject: AuditSubject) -> str:
    return "a document" if subject.target(subject.items[0]) == "document" else "an answer"
