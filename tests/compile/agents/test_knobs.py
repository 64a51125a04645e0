"""The settings search: kept where train is better, recorded so that the agent opens again; and why answers tie."""

from pathlib import Path

from judgec.rag.agents.rag import RAG, AgentSettings
from judgec.rag.retrieval.passages import Hit, Passage
from judgec.rag.retrieval.retrievers import Retriever
from tests.compile.agents.world import Found, compiled
from tests.rag.agents.world import FACTS, Shelf, scripted
from tests.service.fake_openai import FakeOpenAI


class Misled(Shelf):
    """A retriever that finds the same useless passage for every query."""

    def search(self, query: str, k: int) -> list[Hit]:
        return [Hit(Passage("dirac", "dirac", FACTS["dirac"]), 1.0)]


def searched(home: Path, *, by_name: bool) -> Found:
    """A compile where only the hybrid retriever finds anything useful, as first passage of two."""

    def retrieve(name: str) -> Retriever:
        return Shelf() if name.startswith("hybrid") else Misled()

    agent = RAG(Misled(), AgentSettings(k=5))
    with FakeOpenAI(scripted) as server:
        return compiled(home, server, agent, optimizer="settings", retrieve=retrieve if by_name else None)


def test_a_better_retriever_is_found_promoted_and_recorded(tmp_path: Path) -> None:
    found = searched(tmp_path, by_name=True)
    assert found.decision.promoted
    assert found.chosen.name.startswith("rag-hybrid")
    assert found.chosen.settings["agent"] == "rag-hybrid"
    dev = {name: one.objective.point() for name, one in found.dev.items()}
    assert dev[found.chosen.name] > dev["uncompiled"]
    assert found.contest.start.settings.k == 5
    assert found.contest.report(found)["notes"] == list(found.notes)  # no answer is as before


def test_nothing_is_tried_where_other_retrievers_cannot_be_opened(tmp_path: Path) -> None:
    found = searched(tmp_path, by_name=False)
    assert list(found.dev) == ["uncompiled"]
    assert not found.decision.promoted
    n = len(found.split.test)
    notes = found.contest.report(found)["notes"]
    assert isinstance(notes, list)
    assert notes[-1].startswith(f"{n} of {n} test queries")
