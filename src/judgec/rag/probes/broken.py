"""A system with a planted fault for every scenario: ``--system broken`` shows that a probe finds what it should.

It answers about a neighbour with altered figures, keeps to the first option, ignores all but the first of several
questions, never refuses, and fails on one question in eight.
"""

import hashlib
import re

from judgec.rag.agents.answer import shown
from judgec.rag.agents.external import ExternalReply, SystemFailedError
from judgec.rag.queries.terms import content
from judgec.rag.retrieval.index import Index
from judgec.rag.retrieval.retrievers import open_retriever

BROKEN = "broken"
LOOKED_AT = 8  # passages
FAILS = 8  # one question in so many
_FIRST_OPTION = re.compile(r"^A\) (.+)$", re.MULTILINE)
_FIRST_QUESTION = re.compile(r"1\) (.+?)(?= 2\) |$)", re.DOTALL)
_SENTENCE = re.compile(r"(?<=[.!?])\s+|\n+")
_DIGIT = re.compile(r"\d")


class BrokenSystem:
    """A retriever with bad manners.

    Args:
        index: What it searches.
    """

    name = BROKEN

    def __init__(self, index: Index) -> None:
        self.identity = f"broken, version 1, {index_digest(index)}"
        self._retriever = open_retriever("bm25", index)

    def ask(self, query: str) -> ExternalReply:
        """A wrong answer, the same one every time.

        Raises:
            SystemFailedError: On one question in eight.
        """
        if hashlib.sha256(query.encode("utf-8", "surrogatepass")).digest()[0] % FAILS == 0:
            raise SystemFailedError("planted failure")
        hits = self._retriever.search(query, LOOKED_AT)
        contexts = tuple(map(shown, hits))
        if option := _FIRST_OPTION.search(query):
            return ExternalReply(f"A) {option[1]}", contexts)
        if not hits:
            return ExternalReply("It is 42 in every case.", contexts)
        first = _FIRST_QUESTION.search(query)
        if first and " 2) " in query:
            return ExternalReply(_nearest(hits[0].passage.text, first[1]), contexts)
        others = [hit for hit in hits if hit.passage.doc_id != hits[0].passage.doc_id] or hits
        said = _nearest(others[0].passage.text, query)
        return ExternalReply(_DIGIT.sub(lambda digit: str((int(digit[0]) + 3) % 10), said), contexts)


def index_digest(index: Index) -> str:
    """Digest that tells an index from the one that it was before its documents changed."""
    return hashlib.sha256(index.manifest.model_dump_json().encode()).hexdigest()[:16]


def _nearest(text: str, query: str) -> str:
    """The sentence or row of a text that shares most words with the query."""
    asked = content(query)
    parts = [part for part in _SENTENCE.split(text) if len(part.split()) > 2 and not set(part) <= set("|-: ")]
    return max(parts or [text], key=lambda part: sum(word in asked for word in content(part)))
