"""Classifies by rules what a system did with a question that its documents do not answer."""

import re
from collections.abc import Iterator

from judgec.evidence.answer_features import without_courtesies
from judgec.evidence.numerals import is_number
from judgec.evidence.text import FUNCTION_STEMS
from judgec.rag.probes.judging.denials import asks_back, denies, describes
from judgec.rag.probes.judging.facts import read
from judgec.rag.probes.judging.failures import is_failure

LEAST_CLAIM = 3  # content words of a sentence that claims something
_ADVICE = re.compile(
    r"^\W*(?:please|you (?:can|may|could|might|should|would)|contact|consult|check|ask|see|visit|if you|let me know|"
    r"i (?:can|could|would|recommend|suggest|am happy|'d)|for (?:this|that|more|further)|feel free|try)\b"
)
_WITH_DIGIT = re.compile(r"\S*\d\S*")
_CONCEDES = re.compile(r"(?:although|though|even though|even if|while|whereas)\b[^,]*,\s*", re.IGNORECASE)
_THEY = re.compile(
    r"^(?:they|it)(?= (?:only |mainly )?(?:describes?|discuss(?:es)?|covers?|deals?|focus(?:es)?|lists?|mentions?)\b)",
    re.IGNORECASE,
)
_NAMED = re.compile(
    r"\b[A-Z][A-Za-z]+ [A-Z]{0,3}\d+[A-Za-z]{0,2}\b"
    r"|\b\d+ (?:\w+ )?(?:passages?|documents?|sources?|pages?|excerpts?|texts?)\b"
    r"|\b(?:pages?|sections?|chapters?|passages?|documents?|sources?) \d+"
    r"|\b(?:at|call|tel\.?|phone) \+?\(?\d{3,}[-/]\d+"
)
_SENTENCE = re.compile(
    r"(?<=[.!?;])\s+|\n+|,? (?:but|however|nevertheless|that said|still),? |, (?:though|so),? ", re.IGNORECASE
)


def rejection_outcome(answer: str | None, query: str = "") -> str:
    """One of RAGProbe's six outcomes.

    A sentence refuses, describes the documents, asks back, gives advice or is a courtesy; whatever else says something
    claims it.
    An answer that claims anything has answered. A figure of its own is a claim whatever sentence it stands in: "the
    manual lists a price of 499 EUR" describes nothing.

    Args:
        answer: None, blank or an error message where the system gave none: an error.
        query: What was asked; its figures are no claims.
    """
    if answer is None or not answer.strip() or is_failure(answer, query):
        return "error"
    refused = described = answered = asked = False
    given = set(read(query).stems)
    for sentence in _sentences(without_courtesies(answer)):
        low = (_THEY.sub("the documents", sentence) if refused or described else sentence).lower()
        denied = denies(low)
        if asks_back(low) and not given.issuperset(read(sentence).stems):  # an echo asks nothing
            asked = True
        elif describes(low) and not denied:
            figures = _figures(sentence) - given
            described, answered = described or not figures, answered or bool(figures)
        elif denied:
            refused, answered = True, answered or bool(_figures(sentence) - given)
        elif not _ADVICE.match(low) and _claims(sentence):
            answered = True
    if refused:
        return "refused_then_answered" if answered else "described" if described else "refused"
    if described:
        return "described_then_answered" if answered else "described"
    return "answered" if answered or not (asked or _only_advice(answer)) else "refused"


def _sentences(text: str) -> Iterator[str]:
    """Sentences, and what follows "although the documents do not say, ..." by itself."""
    for part in _SENTENCE.split(text):
        sentence = (part or "").strip()
        conceded = _CONCEDES.match(sentence)
        if conceded and denies(conceded.group().lower()):
            yield conceded.group()
            sentence = sentence[conceded.end() :]
        if sentence:
            yield sentence


def _figures(sentence: str) -> set[str]:
    """The figures that a sentence writes in digits: not those of a name ("Fenn 25"), a page, a count of sources."""
    written = " ".join(_WITH_DIGIT.findall(_NAMED.sub(" ", sentence)))
    return {stem for stem in read(written).stems if is_number(stem)}


def _claims(sentence: str) -> bool:
    words = [stem for stem in read(sentence).stems if stem not in FUNCTION_STEMS]
    return len(words) >= LEAST_CLAIM or any(stem[:1].isdigit() for stem in words)


def _only_advice(answer: str) -> bool:
    parts = [part.strip().lower() for part in _SENTENCE.split(answer) if (part or "").strip()]
    return bool(parts) and all(_ADVICE.match(part) for part in parts)
