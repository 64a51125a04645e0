"""Registers the agents: three kinds by any retriever, systems that exist already, plugins."""

from collections.abc import Callable, Mapping
from importlib.metadata import entry_points
from pathlib import Path

from judgec.errors import UserError
from judgec.rag.agents.crag import CorrectiveRAG
from judgec.rag.agents.rag import RAG, AgentSettings, RAGFusion
from judgec.rag.agents.rerank import open_reranker
from judgec.rag.retrieval.fusion import RRF_K
from judgec.rag.retrieval.index import Index
from judgec.rag.retrieval.retrievers import Reranked, Reranker, Retriever, open_retriever, retriever_names

ENTRY_POINTS = "judgec.agents"
RERANKED = "+"  # between the names of a retriever and its reranker

Build = Callable[[Retriever, AgentSettings], RAG]
KINDS: Mapping[str, Build] = {"rag-fusion": RAGFusion, "rag": RAG, "crag": CorrectiveRAG}


def agent_names() -> tuple[str, ...]:
    """Every agent that can be opened here on an index."""
    kinds = sorted({*KINDS, *(point.name for point in entry_points(group=ENTRY_POINTS))})
    return tuple(f"{kind}-{retriever}" for kind in kinds for retriever in retriever_names())


def kind_of(name: str) -> tuple[Build, str]:
    """The builder and the retriever's name in ``KIND-RETRIEVER[+RERANKER]``: ``rag-bm25``, ``crag-hybrid+lexical``, ...

    A plugin is a callable that is given the retriever and the settings and returns a ``RAG``.

    Raises:
        UserError: When there is none of that name.
    """
    plugins = {point.name: point for point in entry_points(group=ENTRY_POINTS)}
    for kind in sorted({*KINDS, *plugins}, key=len, reverse=True):
        retriever = name.removeprefix(f"{kind}-")
        if name.startswith(f"{kind}-") and retriever.partition(RERANKED)[0] in retriever_names():
            build: Build = KINDS[kind] if kind in KINDS else plugins[kind].load()
            return build, retriever
    raise UserError(
        f"--agents: {name!r} is not known; valid are {', '.join(agent_names())}, any of them with +lexical or "
        "+ORGANISATION/MODEL, the NAME@VERSION of a compiled one, "
        "python:module:function and a .toml file of an HTTP system. Correct the name."
    )


def open_agent(name: str, index: Index, settings: AgentSettings, rerank: Reranker | None = None) -> RAG:
    """The agent called ``name`` on an index; ``rerank`` orders what its retriever finds anew.

    Raises:
        UserError: When there is none of that name.
    """
    build, retriever = kind_of(name)
    return build(reranked(retriever, index, rerank, settings.rrf_k), settings)


def reranked(name: str, index: Index, rerank: Reranker | None, rrf_k: int = RRF_K) -> Retriever:
    """The retriever called ``name``, with the reranker that it names, or else ``rerank`` where there is one."""
    first, _, own = name.partition(RERANKED)
    retriever, second = open_retriever(first, index, rrf_k), open_reranker(own, Path()) if own else rerank
    return retriever if second is None else Reranked(retriever, second)
