"""Two systems that go wrong in ways that happen, so that the demo's league has somebody to lose."""

from functools import cache
from pathlib import Path

from judgec.rag.agents.answer import REFUSAL
from judgec.rag.retrieval.retrievers import Retriever
from judgec.rag.rules.answering import extract

OUT = Path("demo")
INDEX = OUT / "index"
NAMES = ("broken_retriever", "no_context")
AGENTS = ",".join(f"python:{__name__}:{name}" for name in NAMES)
_CUT = 12  # characters of the query that reach the broken retriever
_K = 5


def broken_retriever(query: str) -> dict[str, object]:
    """Answers from what is found for the beginning of the query: a length limit that nobody noticed."""
    passages = [hit.passage for hit in _retriever(INDEX.resolve()).search(query[:_CUT], _K)]
    texts = [passage.text for passage in passages]
    answer = extract(query, texts, REFUSAL, cite=False) if texts else REFUSAL
    return {"answer": answer, "contexts": [{"id": one.passage_id, "text": one.text} for one in passages]}


def no_context(query: str) -> str:
    """Answers without looking anything up: fluent, and about nothing."""
    return f'On "{query.rstrip("?")}": sensors of this series are suited for that and meet the usual requirements.'


@cache
def _retriever(index: Path) -> Retriever:
    from judgec.rag.retrieval.index import open_index
    from judgec.rag.retrieval.retrievers import open_retriever

    return open_retriever("bm25", open_index(index))
