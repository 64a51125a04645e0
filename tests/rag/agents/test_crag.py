import json
from pathlib import Path

import pytest

from judgec.errors import UserError
from judgec.rag.agents.answer import REFUSAL
from judgec.rag.agents.bulk import answer_queries
from judgec.rag.agents.crag import CorrectiveRAG, read_grades
from judgec.rag.agents.rag import AgentSettings
from judgec.rag.agents.registry import agent_names, open_agent
from judgec.rag.agents.rerank import lexical_scores
from judgec.rag.retrieval.build import build_index
from judgec.rag.retrieval.index import Index, open_index
from tests.rag.agents.test_rag import finish
from tests.rag.agents.world import Shelf

ROOT = Path(__file__).parents[3]


def test_passages_that_answer_are_used_and_those_that_are_off_are_left_out() -> None:
    agent = CorrectiveRAG(Shelf(), AgentSettings(k=3))
    asked, draft = finish(agent.steps("Bell sensor"), {"grades": "2\n0\n1"}, {"answer": "90 bar [1]"})
    assert asked == ["grade", "answer"]
    assert [context.passage_id for context in draft.contexts] == ["bell", "cray"]  # ada, the second, is off
    assert " 2, 0, 1." in draft.decision
    assert "2 of 3" in draft.decision


def test_without_an_answer_among_the_passages_it_searches_again_and_fuses_what_touches() -> None:
    shelf = Shelf()
    agent = CorrectiveRAG(shelf, AgentSettings(k=3, variations=1))
    replies = ({"grades": "1\n0\n0"}, {"queries": "cables long"}, {"answer": "two metres [2]"})
    asked, draft = finish(agent.steps("Bell sensor"), *replies)
    assert asked == ["grade", "vary", "answer"]
    assert [query for query, _ in shelf.asked] == ["Bell sensor", "cables long"]
    assert draft.searched == ("cables long",)
    assert [context.passage_id for context in draft.contexts] == ["bell", "dirac"]


def test_nothing_found_twice_is_a_refusal() -> None:
    asked, draft = finish(CorrectiveRAG(Shelf(), AgentSettings()).steps("unheard"), {"queries": "unknown"})
    assert (asked, draft.text, draft.contexts) == (["vary"], REFUSAL, ())


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("2\n0\n1", (2, 0, 1)),
        ("[1] 2\n[2]: 0\n3. 1", (2, 0, 1)),
        ("2, 0, 1", (2, 0, 1)),
        ("2\n0", (2, 2, 2)),
        ("all of them help", (2, 2, 2)),
        ("5\n7\n2.5", (2, 2, 2)),
    ],
)
def test_grades_are_read_and_an_unreadable_reply_corrects_nothing(text: str, wanted: tuple[int, ...]) -> None:
    assert read_grades(text, 3) == wanted


@pytest.fixture(scope="module")
def index(tmp_path_factory: pytest.TempPathFactory) -> Index:
    folder = tmp_path_factory.mktemp("crag")
    build_index([ROOT / "trainsets" / "sensors" / "catalogue"], folder / "index")
    return open_index(str(folder / "index"))


@pytest.mark.parametrize("name", ["crag-bm25", "rag-bm25", "rag-fusion-hybrid"])
def test_rules_answer_the_catalogue_with_citations_and_refuse_a_stranger(index: Index, name: str) -> None:
    lines = (ROOT / "trainsets" / "sensors" / "queries.jsonl").read_text(encoding="utf-8").splitlines()[:12]
    pairs = [(row["query_id"], row["query"]) for row in map(json.loads, lines)]
    pairs.append(("stranger", "Who wrote the opera Wozzeck?"))
    agent = open_agent(name, index, AgentSettings(feedback=True))
    answers = answer_queries(agent, name, pairs, ask=None)
    assert not [answer.error for answer in answers if answer.error]
    answered = [answer for answer in answers[:-1] if answer.text != REFUSAL]
    assert len(answered) >= 9
    assert all(answer.cited for answer in answered)
    assert answers[-1].text == REFUSAL
    if name == "crag-bm25":
        assert {name for name, _ in agent.named_predictors()} == {"answer", "grade", "vary"}
        assert any("passage answers" in answer.decision for answer in answers[:-1])
        assert "again" in answers[-1].decision


def test_lexical_reranker_orders_by_what_a_text_says_of_the_query() -> None:
    texts = ["The Ada sensor.", "Range of the Bell sensor: 90 bar.", "Range sensor Bell"]
    # by hand: "bell" is in two texts of three, "sensor" in three, "ada" is not asked; only the second has "bell sensor"
    # (content words: range, bell, sensor; pairs: range bell, bell sensor)
    ada, second, third = lexical_scores("range of the Bell sensor", texts)
    assert second == pytest.approx(1.0)
    assert second > third > ada > 0.0
    assert lexical_scores("of the", texts) == [0.0, 0.0, 0.0]


def test_agent_names_its_own_reranker(index: Index) -> None:
    for kind in ("rag", "rag-fusion", "crag"):
        assert open_agent(f"{kind}-bm25+lexical", index, AgentSettings()).retriever.name == "bm25+rerank"
    with pytest.raises(UserError, match=r"--rerank best: .* lexical"):
        open_agent("rag-bm25+best", index, AgentSettings())
    query = "What is the measuring range?"
    found = open_agent("rag-bm25+lexical", index, AgentSettings()).retriever.search(query, 10)
    scores = [hit.score for hit in found]
    assert scores == sorted(scores, reverse=True)
    assert 0.0 <= scores[-1] <= scores[0] <= 1.0


def test_the_papers_six_agents_are_there_and_unknown_ones_name_them(index: Index) -> None:
    six = [f"{kind}-{retriever}" for kind in ("rag", "rag-fusion") for retriever in ("bm25", "knn", "hybrid")]
    assert set(six) <= set(agent_names())
    for name in six:
        assert open_agent(name, index, AgentSettings()).retriever.name == name.rsplit("-", 1)[1]
    with pytest.raises(UserError, match=r"rag-fusion-hybrid.*python:module:function"):
        open_agent("rag-splade", index, AgentSettings())
