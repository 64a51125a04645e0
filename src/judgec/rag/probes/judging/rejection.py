"""Classifies by rules what a system did with a question that its documents do not answer; they read English."""

import re
from collections.abc import Iterator

from judgec.evidence.answer_features import refuses, without_courtesies
from judgec.evidence.numerals import is_number
from judgec.evidence.text import FUNCTION_STEMS
from judgec.rag.probes.judging.facts import read
from judgec.rag.probes.judging.failures import is_failure
from judgec.records.language import ENGLISH, language_of

PAGES = (
    r"(?:documents?|documentation|contexts?|passages?|texts?|excerpts?|sources?|information|materials?|pages?|"
    r"catalogue|manuals?|articles?|sections?|data ?sheets?|web ?sites?|handbooks?|knowledge base|snippets?|chunks?)"
)
_OTHERS = re.compile(r"\"[^\"]{1,80}\"|“[^”]{1,80}”|„[^“”]{1,80}[“”]|«[^»]{1,80}»")  # somebody else's words
_LEAST = 3  # words around them, or the sentence is nothing but a quotation
_CONDITION = re.compile(r"^(?:if|unless|whoever)\b[^,]{1,80},\s*")
_ATTRIBUTE = re.compile(
    r"(?:^|\b(?:an?|the|any|from|by|all) )(?:unknown|unclear) (?!to|in|from|based|because|at|and|whether)(?=\w)"
)
_CLAUSE = re.compile(r"[,;:–]\s")
_TO_READER = re.compile(r"\b(?:you|your)\b")
_QUESTION = re.compile(r"\?[\"'”»)*_\s]*$")
_ASKS = re.compile(r"^(?:which|what|who|where|when|could|can|do|are|was)")
LEAST_WORDS = 2  # function words of another language before a reply is taken to be in it: refusals are short


_OUTRIGHT = re.compile(  # needs nothing beside it
    r"\bno\b[^.!?]{1,60}?\b(?:given|listed|stated|mentioned|specified|provided|documented|published)\b"
    r"|\b(?:says?|saying|have|states?) nothing (?:about|on|of)\b|(?:not|n't) (?:documented|name|appear)\b"
    rf"|\b(?:nothing in|none of|not (?:in|among|part of)|can(?:no|')t see it in)(?: the| my| these)? {PAGES}\b"
    rf"|^there (?:is|are|was|were) no\b[^.!?]{{1,60}}? in (?:the |my |these )?{PAGES}\b"
    r"|\b(?:is|are|remains?|stays?) silent (?:on|about|as to)\b|\bstops? short of (?:naming|saying|giving|stating)\b"
    rf"|\b(?:outside|beyond|out)(?: of)?(?: the)? scope of (?:\w+ ){{0,2}}?{PAGES}\b"
    r"|\bi(?:['’]d| would)? need (?:more|further|additional) (?:details?|information|context)\b"
    r"|\bi(?: would|'d|’d)? (?:rather|prefer)(?: to)? not\b"
    r"|\bi(?: won['’]t| will not| do(?: not|n['’]t) want to) (?:guess|speculate|invent|assume|make)"
)
_SOURCE = re.compile(rf"\b{PAGES}\b")
_TOLD = re.compile(  # what a source does with an answer
    r"\b(?:cover(?:s|ed)?|address(?:es|ed)?|discuss(?:es|ed)?|includ(?:es?|ed)|available|goes? into|gets? into|has|"
    r"have|answer(?:s|ed)?)\b"
)
_NEGATED = re.compile(r"\b(?:not|(?:is|are|was|were|do|does|did)n['’]t|nothing|none|never|nowhere|no)\b")
_REPORTED = re.compile(r"\b(?:(?:according to|as per|per) [\w ]{1,20})\b")  # what follows is an answer
_DESCRIBES = re.compile(
    rf"\bi (?:only )?(?:found|have|see) (?:\w+ )?{PAGES} (?:about|on)\b"
    rf"|\b{PAGES}\b[^.!?]{{0,60}}?\b(?:only |mainly |mostly |instead )?(?:describes?|discuss(?:es)?|"
    r"contains?|covers?|mentions?|deals? with|(?:is|are) about|provides?|gives?|lists?|focus(?:es)? on|includes?|"
    r"refers? to|talks? about|concerns?)\b"
)


def denies(sentence: str) -> bool:
    """True if a sentence in lower case says that there is no answer: not in a condition or in somebody else's words."""
    quoted = _OTHERS.sub(" ", sentence)
    said = _ATTRIBUTE.sub("", _CONDITION.sub("", quoted if len(quoted.split()) >= _LEAST else sentence))
    return refuses(said) or any(map(_denies, _CLAUSE.split(said)))


def _denies(clause: str) -> bool:
    """True if a clause denies that a source has the answer, or that the writer does."""
    said = _REPORTED.sub(" ", clause)
    parts = (_SOURCE, _TOLD, _NEGATED)
    return _OUTRIGHT.search(said) is not None or all(part.search(said) for part in parts)


def describes(sentence: str) -> bool:
    """True if a sentence in lower case says what the documents are about."""
    return _DESCRIBES.search(_REPORTED.sub(" ", sentence)) is not None


def asks_back(sentence: str) -> bool:
    """True if a sentence in lower case is a question to whoever asked."""
    if _QUESTION.search(sentence) is None:
        return False
    return _TO_READER.search(sentence) is not None or _ASKS.search(sentence) is not None


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


def rejection_outcome(answer: str | None, query: str = "") -> str | None:
    """One of RAGProbe's six outcomes; None of a reply in another language that does not refuse in English either.

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
    if (refused or described) and not answered:
        return "described" if described else "refused"
    if language_of([answer], least=LEAST_WORDS) not in {None, ENGLISH}:
        return None
    if refused:
        return "refused_then_answered"
    if described:
        return "described_then_answered"
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
