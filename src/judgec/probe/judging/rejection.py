"""What a system did with a question that its documents do not answer, by rules."""

import re

from judgec.evidence.answer_features import refuses, without_courtesies
from judgec.evidence.text import FUNCTION_STEMS
from judgec.probe.judging.facts import read

LEAST_CLAIM = 3  # content words of a sentence that claims something
_DESCRIBES = re.compile(
    r"\b(?:documents?|documentation|contexts?|passages?|texts?|excerpts?|sources?|information|materials?|pages?|"
    r"catalogue|manuals?|articles?)\b[^.!?]{0,60}?\b(?:only |mainly |mostly |instead )?(?:describes?|discuss(?:es)?|"
    r"contains?|covers?|mentions?|deals? with|(?:is|are) about|provides?|gives?|lists?|focus(?:es)? on|includes?|"
    r"refers? to|talks? about|concerns?)\b"
)
_ADVICE = re.compile(
    r"^\W*(?:please|you (?:can|may|could|might|should|would)|contact|consult|check|ask|see|visit|if you|let me know|"
    r"i (?:can|could|would|recommend|suggest|am happy|'d)|for (?:this|that|more|further)|feel free|try)\b"
)
_SENTENCE = re.compile(r"(?<=[.!?;])\s+|\n+|,? (?:but|however|nevertheless|that said|still),? ", re.IGNORECASE)


def rejection_outcome(answer: str | None) -> str:
    """One of RAGProbe's six outcomes.

    A sentence refuses, describes the documents, gives advice or is a courtesy; whatever else says something claims it.
    An answer that claims anything has answered.

    Args:
        answer: None or blank where the system gave none: an error.
    """
    if answer is None or not answer.strip():
        return "error"
    refused = described = answered = False
    for part in _SENTENCE.split(without_courtesies(answer)):
        sentence = (part or "").strip()
        low = sentence.lower()
        if not low:
            continue
        if _DESCRIBES.search(low) and not _refuses_first(low):
            described = True
        elif refuses(low):
            refused = True
        elif not _ADVICE.match(low) and _claims(sentence):
            answered = True
    if refused:
        return "refused_then_answered" if answered else "described" if described else "refused"
    if described:
        return "described_then_answered" if answered else "described"
    return "answered" if answered or not _only_advice(answer) else "refused"


def _refuses_first(sentence: str) -> bool:
    """True for "the documents do not describe ...": a refusal in the words of a description."""
    return refuses(sentence)


def _claims(sentence: str) -> bool:
    words = [stem for stem in read(sentence).stems if stem not in FUNCTION_STEMS]
    return len(words) >= LEAST_CLAIM or any(stem[:1].isdigit() for stem in words)


def _only_advice(answer: str) -> bool:
    parts = [part.strip().lower() for part in _SENTENCE.split(answer) if (part or "").strip()]
    return bool(parts) and all(_ADVICE.match(part) for part in parts)
