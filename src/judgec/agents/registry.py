"""Registers the agents: two kinds by any retriever, systems that exist already, plugins."""

from collections.abc import Callable, Mapping
from importlib.metadata import entry_points

from judgec.agents.rag import RAG, AgentSettings, RAGFusion
from judgec.errors import UserError
from judgec.retrieval.index import Index
from judgec.retrieval.retrievers import Reranked, Reranker, Retriever, open_retriever, retriever_names

ENTRY_POINTS = "judgec.agents"

Build = Callable[[Retriever, AgentSettings], RAG]
KINDS: Mapping[str, Build] = {"rag-fusion": RAGFusion, "rag": RAG}  # the longer name first: one begins the other


def agent_names() -> tuple[str, ...]:
    """Every agent that can be opened here on an index."""
    kinds = sorted({*KINDS, *(point.name for point in entry_points(group=ENTRY_POINTS))})
    return tuple(f"{kind}-{retriever}" for kind in kinds for retriever in retriever_names())


def kind_of(name: str) -> tuple[Build, str]:
    """The builder and the retriever's name in ``KIND-RETRIEVER``: ``rag-bm25``, ``rag-fusion-hybrid``, ...

    A plugin is a callable that is given the retriever and the settings and returns a ``RAG``.

    Raises:
        UserError: When there is none of that name.
    """
    plugins = {point.name: point for point in entry_points(group=ENTRY_POINTS)}
    for kind in sorted({*KINDS, *plugins}, key=len, reverse=True):
        retriever = name.removeprefix(f"{kind}-")
        if name.startswith(f"{kind}-") and retriever in retriever_names():
            build: Build = KINDS[kind] if kind in KINDS else plugins[kind].load()
            return build, retriever
    raise UserError(
        f"--agents: {name!r} is not known; valid are {', '.join(agent_names())}, the NAME@VERSION of a compiled one, "
        "python:module:function and a .toml file of an HTTP system. Correct the name."
    )


def open_agent(name: str, index: Index, settings: AgentSettings, rerank: Reranker | None = None) -> RAG:
    """The agent called ``name`` on an index; ``rerank`` orders what its retriever finds anew.

    Raises:
        UserError: When there is none of that name.
    """
    build, retriever = kind_of(name)
    return build(reranked(retriever, index, rerank), settings)


def reranked(name: str, index: Index, rerank: Reranker | None) -> Retriever:
    """The retriever called ``name``, with a second ranking where there is one."""
    retriever = open_retriever(name, index)
    return retriever if rerank is None else Reranked(retriever, rerank)
