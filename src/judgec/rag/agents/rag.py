"""RAG and RAG-Fusion as DSPy modules: what is ranked, and what is compiled."""

import re
from collections.abc import Generator, Mapping
from dataclasses import dataclass
from typing import TypeAlias

import dspy

from judgec.rag.agents.answer import REFUSAL, Context, shown
from judgec.rag.agents.signatures import answer_predictor, variations_predictor
from judgec.rag.retrieval.fusion import RRF_K, reciprocal_rank_fusion
from judgec.rag.retrieval.passages import Hit
from judgec.rag.retrieval.retrievers import Retriever
from judgec.raters.fencing import fence

FEEDBACK = 3  # passages of a first search whose words rules vary a query with
_BULLET = re.compile(r"^\s*(?:[-*•]\s*|\(?\d{1,2}[.):]\s+)")


@dataclass(frozen=True, slots=True)
class AgentSettings:
    """Settings of an agent.

    Args:
        k: Passages that it answers from, and that each search of RAG-Fusion finds.
        variations: Queries that RAG-Fusion writes beside the user's own.
        persona: Who it is to be, as an instruction ("think like an engineer").
        citations: Whether it cites passages.
        feedback: Whether variations are written from what a first search found.
        rrf_k: The constant of reciprocal rank fusion: the larger, the less the first places stand out.
    """

    k: int = 5
    variations: int = 4
    persona: str = ""
    citations: bool = True
    feedback: bool = False
    rrf_k: int = RRF_K


@dataclass(frozen=True, slots=True)
class Call:
    """The next call of an agent to a model: which of its predictors, with which inputs."""

    predictor: str
    inputs: Mapping[str, str]


@dataclass(frozen=True, slots=True)
class AgentResult:
    """The result of an agent."""

    text: str
    contexts: tuple[Context, ...]
    searched: tuple[str, ...] = ()
    decision: str = ""


Steps: TypeAlias = Generator[Call, Mapping[str, object], AgentResult]
"""Yields what it asks, is sent the fields of the reply, returns its draft."""


class RAG(dspy.Module):  # type: ignore[misc]  # dspy ships no types
    """Retrieve ``k`` passages, answer from them.

    Args:
        retriever: Finds passages.
        settings: How it works.
    """

    most_calls = 1  # of a model, for a query

    def __init__(self, retriever: Retriever, settings: AgentSettings) -> None:
        super().__init__()
        self.retriever = retriever
        self.settings = settings
        self.answer = answer_predictor(settings.persona, citations=settings.citations)

    def forward(self, query: str) -> dspy.Prediction:
        """Answer one query; fields ``answer``, ``contexts`` and ``searched``."""
        steps = self.steps(query)
        try:
            call = next(steps)
            while True:
                found = getattr(self, call.predictor)(**call.inputs)
                call = steps.send({name: found[name] for name in found})
        except StopIteration as end:
            draft: AgentResult = end.value  # what the steps return, which StopIteration does not know
        contexts = [context.text for context in draft.contexts]
        return dspy.Prediction(answer=draft.text, contexts=contexts, searched=list(draft.searched))

    def steps(self, query: str) -> Steps:
        """The agent's work on one query, a model call at a time."""
        hits = self.retriever.search(query, self.settings.k)
        return (yield from self._answered(query, hits, ()))

    def _answered(self, query: str, hits: list[Hit], searched: tuple[str, ...], decision: str = "") -> Steps:
        """The answer from what was found; nothing found is a refusal, without a call."""
        contexts = tuple(shown(hit) for hit in hits)
        if not contexts:
            return AgentResult(REFUSAL, (), searched, decision)
        texts = tuple(context.text for context in contexts)
        fields = yield Call("answer", {"query": fence("query", query), "passages": fence("passages", texts)})
        return AgentResult(str(fields.get("answer") or "").strip(), contexts, searched, decision)


class RAGFusion(RAG):
    """Write further queries, retrieve for each, fuse by reciprocal rank, answer from the fused ``k``.

    Source: Rackauckas (2024), RAG-Fusion: a new take on retrieval-augmented generation, IJNLC 13(1).
    """

    most_calls = 2

    def __init__(self, retriever: Retriever, settings: AgentSettings) -> None:
        super().__init__(retriever, settings)
        self.vary = variations_predictor(settings.variations, settings.persona, feedback=settings.feedback)

    def steps(self, query: str) -> Steps:
        """As ``RAG.steps``, with one call more before it."""
        settings = self.settings
        inputs = {"query": fence("query", query)}
        if settings.feedback:
            first = tuple(shown(hit).text for hit in self.retriever.search(query, FEEDBACK))
            inputs["passages"] = fence("passages", first)
        fields = yield Call("vary", inputs)
        varied = read_variations(str(fields.get("queries") or ""), query, settings.variations)
        found = self.retriever.search_many([query, *varied], settings.k)
        hits = fused(found, settings.rrf_k)[: settings.k]
        return (yield from self._answered(query, hits, varied))


def read_variations(text: str, query: str, most: int) -> tuple[str, ...]:
    """The queries in a reply, one a line; bullets, numbers, quotes, repeats and the query itself left out."""
    lines = (_BULLET.sub("", line).strip().strip("\"'`") for line in text.splitlines())
    known = {query.casefold().strip()}
    varied = []
    for line in lines:
        if line and line.casefold() not in known:
            known.add(line.casefold())
            varied.append(line)
    return tuple(varied[:most])


def fused(found: list[list[Hit]], k: int = RRF_K) -> list[Hit]:
    """Several lists of hits as one, by reciprocal rank; scores are the fused ones."""
    passages = {hit.passage.passage_id: hit.passage for hits in found for hit in hits}
    ranking = reciprocal_rank_fusion([[hit.passage.passage_id for hit in hits] for hits in found], k)
    return [Hit(passages[passage_id], score) for passage_id, score in ranking]
