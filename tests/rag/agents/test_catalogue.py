"""The baseline by rule on the catalogue that ships: it must answer most questions and refuse most strangers."""

import json
from pathlib import Path

import pytest

from judgec.errors import UserError
from judgec.rag.agents.answer import REFUSAL
from judgec.rag.agents.bulk import answer_queries
from judgec.rag.agents.rag import AgentSettings
from judgec.rag.agents.registry import agent_names, open_agent
from judgec.rag.retrieval.build import build_index
from judgec.rag.retrieval.index import Index, open_index

SENSORS = Path(__file__).parents[3] / "trainsets" / "sensors"
SIX = ("rag-bm25", "rag-fusion-bm25", "rag-knn", "rag-fusion-knn", "rag-hybrid", "rag-fusion-hybrid")


@pytest.fixture(scope="module")
def index(tmp_path_factory: pytest.TempPathFactory) -> Index:
    out = tmp_path_factory.mktemp("sensors") / "index"
    build_index([SENSORS / "catalogue"], out)
    return open_index(out)


def queries(name: str) -> list[tuple[str, str]]:
    rows = map(json.loads, (SENSORS / name).read_text(encoding="utf-8").splitlines())
    return [(row["query_id"], row["query"]) for row in rows]


@pytest.mark.parametrize("name", ["rag-bm25", "rag-fusion-hybrid"])
def test_catalogue_is_answered_with_citations_and_strangers_are_refused(name: str, index: Index) -> None:
    agent = open_agent(name, index, AgentSettings(feedback=True))
    asked = answer_queries(agent, name, queries("queries.jsonl"), ask=None)
    strangers = answer_queries(agent, name, queries("unanswerable.jsonl"), ask=None)
    answered = [answer for answer in asked if answer.text != REFUSAL]
    assert len(answered) >= 0.9 * len(asked)
    assert all(answer.cited for answer in answered)
    assert sum(answer.text == REFUSAL for answer in strangers) >= 0.7 * len(strangers)


def test_the_papers_six_agents_are_there_and_unknown_ones_name_them(index: Index) -> None:
    assert set(SIX) <= set(agent_names())
    for name in SIX:
        assert open_agent(name, index, AgentSettings()).retriever.name == name.rsplit("-", 1)[1]
    with pytest.raises(UserError, match=r"rag-fusion-hybrid.*python:module:function"):
        open_agent("rag-splade", index, AgentSettings())
