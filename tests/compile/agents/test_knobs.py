"""The settings search: kept where train is better, recorded so that the agent opens again; and why answers tie."""

from pathlib import Path

from judgec.compile.agents.compile import AgentCompile, CompiledAgent
from judgec.rag.agents.rag import RAG, AgentSettings
from judgec.rag.retrieval.passages import Hit, Passage
from judgec.rag.retrieval.retrievers import Retriever
from tests.compile.agents.test_compile import run
from tests.rag.agents.world import FACTS, Shelf, scripted
from tests.service.fake_openai import FakeOpenAI


class Misled(Shelf):
    """A retriever that finds the same useless passage for every query."""

    def search(self, query: str, k: int) -> list[Hit]:
        return [Hit(Passage("dirac", "dirac", FACTS["dirac"]), 1.0)]


def compiled(home: Path, agent: str, *, by_name: bool) -> CompiledAgent:
    """A compile where only the hybrid retriever finds anything useful, as first passage of two."""

    def retrieve(name: str) -> Retriever:
        return Shelf() if name.startswith("hybrid") else Misled()

    settings = AgentCompile("ag", home, agent, AgentSettings(k=5), optimizer="settings", resamples=300)
    with FakeOpenAI(scripted) as server:
        return run(RAG(Misled(), settings.settings), settings, server, retrieve=retrieve if by_name else None)


def test_a_better_retriever_is_found_promoted_and_recorded(tmp_path: Path) -> None:
    found = compiled(tmp_path, "rag-bm25", by_name=True)
    assert found.verdict.promoted
    assert found.chosen.name.startswith("rag-hybrid")
    assert found.chosen.settings["agent"] == "rag-hybrid"
    assert found.dev[found.chosen.name] > found.dev["uncompiled"]
    assert found.start.settings.k == 5
    assert found.same_answers == 0
    assert found.with_ties_explained().notes == found.notes


def test_nothing_is_tried_where_other_retrievers_cannot_be_opened(tmp_path: Path) -> None:
    found = compiled(tmp_path, "rag-bm25", by_name=False)
    assert list(found.dev) == ["uncompiled"]
    assert not found.verdict.promoted
    n = len(found.parts["test"])
    assert found.same_answers == n
    assert found.with_ties_explained().notes[-1].startswith(f"{n} of {n} test queries")
