"""A grid of settings: every combination once, named by its settings, and nothing that no index could be built for."""

import pytest

from judgec.errors import UserError
from judgec.rag.agents.grid import parse_grid
from judgec.rag.agents.rag import AgentSettings
from judgec.verbs.cli.help import _repeated


def test_a_grid_has_every_combination_and_names_it() -> None:
    agents = parse_grid(["retriever=bm25,hybrid chunk=500,1000/250", "k=3,5,10", "lm=openai/m:1"])
    assert len({agent.name for agent in agents}) == 2 * 2 * 3
    assert agents[0].name == "rag-bm25:chunk=500:k=3:lm=openai/m:1"
    assert agents[-1].name == "rag-hybrid:chunk=1000/250:k=10:lm=openai/m:1"
    assert dict(agents[1].settings) == {"retriever": "bm25", "chunk": "500", "k": "5", "lm": "openai/m:1"}
    assert agents[1].shape(AgentSettings(variations=7)) == AgentSettings(k=5, variations=7)


def test_kind_retriever_and_reranker_make_the_registrys_name() -> None:
    agents = parse_grid(["agent=rag-fusion,crag", "rerank=none,lexical"])
    names = ["rag-fusion-hybrid", "rag-fusion-hybrid+lexical", "crag-hybrid", "crag-hybrid+lexical"]
    assert [agent.kind for agent in agents] == names == [agent.name for agent in agents]


@pytest.mark.parametrize(
    ("texts", "said"),
    [
        (["size=3"], "settings are agent, retriever"),
        (["k"], "not NAME=VALUE"),
        (["k=3,"], "not NAME=VALUE"),
        (["k=3,3"], "there twice"),
        (["k=3", "k=5"], "there twice"),
        (["k=0"], "at least 1"),
        (["k=three"], "at least 1"),
        (["chunk=7"], "at least 20"),
        (["retriever=bm26"], "'rag-bm26' is not known"),
        (["k=" + ",".join(map(str, range(1, 202)))], "at most 200"),
    ],
)
def test_a_faulty_grid_says_what_is_valid(texts: list[str], said: str) -> None:
    with pytest.raises(UserError, match=said):
        parse_grid(texts)


def test_several_settings_may_follow_the_option_on_the_command_line() -> None:
    typed = ["--index", "a=b", "--grid", "k=3,5", "chunk=500", "--out", "x=y", "--grid=lm=m", "rrf_k=1", "z=w", "file"]
    spread = ["--grid", "k=3,5", "--grid", "chunk=500", "--out", "x=y", "--grid=lm=m", "--grid", "rrf_k=1"]
    assert list(_repeated(typed)) == ["--index", "a=b", *spread, "--grid", "z=w", "file"]
