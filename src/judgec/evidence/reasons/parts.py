"""The parts of items that reasons point at: a phrase a topic, packed so that a journal can keep them.

Packed, an item is one byte a topic (what its phrase speaks for), then the phrases, a line each.
"""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from judgec.evidence.answer_features import JudgedAnswer, asked_for
from judgec.evidence.reasons.findings import Findings, against_contexts, against_reference, findings, share, shorten
from judgec.evidence.reasons.phrases import FAULT, SILENT, Phrases, answer_phrases, document_phrases
from judgec.evidence.reasons.topics import TOPICS
from judgec.evidence.reference_features import alternatives
from judgec.evidence.text import Library, StemmedText

VERSION = 7  # of the phrases: raised whenever an item would get other ones


_PLACES = {topic: place for place, topic in enumerate(TOPICS)}


def pack(phrases: Phrases) -> bytes:
    """Phrases as bytes; ``speaks`` and ``said`` read them."""
    codes, lines = bytearray([SILENT]) * len(TOPICS), [""] * len(TOPICS)
    for topic, (code, line) in phrases.items():
        place = _PLACES[topic]
        codes[place] = code % 256
        lines[place] = line if line.isprintable() and "  " not in f" {line} " else " ".join(line.split())
    return bytes(codes) + "\n".join(lines).encode("utf-8", "surrogatepass")


def speaks(packed: Sequence[bytes]) -> NDArray[np.int8]:
    """The direction of each phrase, shape (n_items, n_topics)."""
    codes = b"".join([one[: len(TOPICS)] for one in packed])
    return np.frombuffer(codes, dtype=np.int8).reshape(len(packed), len(TOPICS))


def said(packed: bytes) -> list[str]:
    """The phrase of each topic."""
    return packed[len(TOPICS) :].decode("utf-8", "surrogatepass").split("\n")


def answer_findings(
    answer: JudgedAnswer,
    question: StemmedText,
    reference: str,
    contexts: StemmedText,
    library: Library,
    *,
    own: bool = False,
) -> Findings:
    """Findings of an answer beside everything that its item has.

    Args:
        answer: The answer.
        question: What was asked.
        reference: With its alternatives, or empty.
        contexts: Without words where there are none.
        library: Where texts are read.
        own: Whether the answer's own words are wanted.
    """
    if not answer.passage.stems:
        return findings(answer, question, None, None, own=own)
    texts = map(library.read, alternatives(reference))
    beside = [against_reference(answer, question, wanted) for wanted in texts if wanted.stems]
    closest = max(beside, key=lambda one: (one.verbatim, one.recall.value), default=None)
    supported = against_contexts(answer, question, contexts) if contexts.stems else None
    return findings(answer, question, closest, supported, own=own)


def phrases_of(found: Findings, answer: JudgedAnswer, question: StemmedText) -> Phrases:
    """Phrases of one answer."""
    asked = asked_for(answer.passage, question) if found.words else None
    return answer_phrases(found, asked)


def document_parts(query: StemmedText, document: StemmedText) -> Phrases:
    """Phrases of a document beside its query."""
    if not document.stems or not query.stems:
        thing = "query" if document.stems else "document"
        return {"texts": (FAULT, f"the {thing} is empty")}
    terms = list(query.content) or list(query.vocabulary)
    wanted = frozenset(terms)
    known = [wanted.intersection(sentence) for sentence in document.sentences]
    best = max(range(len(known)), key=lambda i: (len(known[i]), -i))
    place = "the only sentence" if len(known) == 1 else "the best sentence"
    words, together = share(terms, document.vocabulary, query.written), share(terms, known[best], query.written)
    quote = shorten(document.quotes[best])
    return document_phrases(words, together, quote, place, document)
