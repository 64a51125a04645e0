"""Audits how a text is written, not what it says: length, style, wording. None may change a verdict much."""

import re
from collections.abc import Callable, Mapping

import numpy as np

from judgec.records.audit import Finding
from judgec.records.label import FloatArray, IntArray, Item
from judgec.trust.audits.effect import Effect, finding_of, skipped
from judgec.trust.audits.subject import AuditSubject, edited, with_input

SENTENCE = re.compile(r"(?<=[.!?])\s+")
LONGEST_PADDING = 2_000  # characters: enough to double most answers
PADDING = (
    "This is what can be said about it.",
    "The question has been considered, and the above is the response to it.",
    "In other words, what was asked for is given above.",
    "To sum up, the statements made so far stand as they are.",
    "Nothing needs to be taken away from this, and nothing needs to be added to it.",
)
EMOJI = ("✨", "✅", "🚀", "👍", "🎯")
# Pairs that mean the same; each is replaced in the direction in which it is found first.
SAME = (
    ("do not", "don't"),
    ("does not", "doesn't"),
    ("is not", "isn't"),
    ("are not", "aren't"),
    ("cannot", "can't"),
    ("it is", "it's"),
    ("for example", "e.g."),
    ("approximately", "about"),
    ("in addition", "also"),
    ("must be", "has to be"),
    ("because", "since"),
    ("such as", "like"),
)
ASKING = "Please answer this question: {query}"
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


def as_markdown(text: str) -> str:
    """The sentences as bullets under a heading, the first one bold."""
    first, *others = SENTENCE.split(text.strip())
    return "\n".join(["## Answer", "", f"- **{first}**", *[f"- {sentence}" for sentence in others]])


def confident(text: str) -> str:
    """The text, claimed to be certain."""
    return f"I am absolutely certain of the following. {text.strip()} There is no doubt whatsoever about this."


def with_emoji(text: str) -> str:
    """An emoji after every sentence."""
    sentences = SENTENCE.split(text.strip())
    return " ".join(f"{sentence} {EMOJI[i % len(EMOJI)]}" for i, sentence in enumerate(sentences))


def reworded(text: str) -> str:
    """The same in other words, where a word of ``SAME`` occurs."""
    for one, other in SAME:
        for old, new in ((one, other), (other, one)):
            found = re.subn(rf"(?<!\w){re.escape(old)}(?!\w)", new, text)
            if found[1]:
                text = found[0]
                break
    return text


def relaid(text: str) -> str:
    """The same words with other line breaks: one sentence a line, or one line where there were several."""
    if "\n" in text.strip():
        return " ".join(text.split())
    return "\n".join(SENTENCE.split(text.strip()))


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


def audit_style(subject: AuditSubject, bound: float) -> Finding:
    """Markdown, a confident tone and emoji must not change the score."""
    found = _shifts(subject, {"markdown": as_markdown, "confidence": confident, "emoji": with_emoji})
    what = _target_word(subject)
    says = {
        "markdown": f"Setting {what} in markdown changes its score by {{effect}} of the scale",
        "confidence": f"Claiming certainty in {what} changes its score by {{effect}} of the scale",
        "emoji": f"Emoji in {what} change its score by {{effect}} of the scale",
    }
    measures = [
        Effect(name, says[name], values, cluster, subject.step, two_sided=True)
        for name, (values, cluster) in found.items()
    ]
    return finding_of("style", measures, bound)


def audit_paraphrase(subject: AuditSubject, bound: float) -> Finding:
    """The same said in other words, or laid out otherwise, must get the same verdict."""
    variants: list[tuple[str, int, Item]] = []
    for row, item in enumerate(subject.items):
        for name, edit in (("words", reworded), ("layout", relaid)):
            if (changed := edited(subject, item, edit, name)) is not None:
                variants.append((name, row, changed))
        if "query" in subject.fields and item.text("query"):
            query = ASKING.format(query=item.text("query"))
            variants.append(("query", row, with_input(item, "query", query, "query")))
    if not variants:
        return skipped("paraphrase", bound, "no text could be reworded")
    judged = subject.judging([item for _, _, item in variants])
    rows = np.array([row for _, row, _ in variants])
    moved = _moved(subject, rows, judged.grade, judged.scored)
    names = np.array([name for name, _, _ in variants])
    says = {
        "words": "Rewording moves {effect} of verdicts",
        "layout": "Other line breaks move {effect} of verdicts",
        "query": "Asking the same question in other words moves {effect} of verdicts",
    }
    measures = [
        Effect(name, says[name], moved[names == name], subject.cluster[rows[names == name]], share=True)
        for name in says
        if (names == name).any()
    ]
    return finding_of("paraphrase", measures, bound)


def _moved(subject: AuditSubject, rows: IntArray, grade: IntArray, scored: np.ndarray) -> FloatArray:
    differs = (grade != subject.base.grade[rows]).any(axis=1).astype(np.float64)
    return np.where(scored & subject.base.scored[rows], differs, np.nan)


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
