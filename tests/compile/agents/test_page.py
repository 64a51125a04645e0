from dataclasses import replace
from pathlib import Path

import pytest

from judgec.compile.agents.candidates import AgentCandidate
from judgec.compile.agents.compile import AgentCompile, CompiledAgent
from judgec.compile.agents.metric import ScoredAnswer
from judgec.compile.agents.page import agent_page, cases
from judgec.compile.pipeline import COMPILED, UNCOMPILED
from judgec.rag.agents.answer import Answer
from judgec.rag.agents.rag import RAG, AgentSettings
from judgec.records.card import ProgramCard
from judgec.tournament.files.queries import Query
from tests.compile.agents.contested import compiled_agent
from tests.rag.agents.world import Shelf
from tests.records.test_card import make_card
from tests.report.page.html import Page, without_labels

EVIL = "<script>alert(1)</script>"
SETTINGS = AgentCompile("ag", Path(), "rag-bm25", AgentSettings(), resamples=200)


@pytest.fixture
def found() -> CompiledAgent:
    return measured([None if n == 5 else 0.7 for n in range(12)])


def measured(uncompiled: list[float | None]) -> CompiledAgent:
    """An agent that scores .8 everywhere, beside one of these scores."""
    queries = tuple(Query(f"q{n}", f"Question {n} {EVIL}?") for n in range(12))
    ours = [Answer(query_id=q.query_id, agent=COMPILED, text=f"good {q.query_id} {EVIL}") for q in queries]
    theirs = [Answer(query_id=q.query_id, agent=UNCOMPILED, text="bad") for q in queries]
    theirs[5] = replace(theirs[5], text=None, error="the service is down")
    scores = {
        COMPILED: [ScoredAnswer(0.8, "well said")] * 12,
        UNCOMPILED: [ScoredAnswer(value) for value in uncompiled],
    }
    shown = RAG(Shelf(), AgentSettings())
    shown.answer.demos = [{"query": "shown question", "passages": "p", "answer": "shown answer"}]
    return compiled_agent(
        queries,
        {COMPILED: ours, UNCOMPILED: theirs},
        scores,
        SETTINGS,
        chosen=AgentCandidate("labelled-2", shown),
        dev={UNCOMPILED: [0.3, 0.5], "labelled-2": [0.9]},
        notes=(f"a note {EVIL}",),
    )


@pytest.fixture
def card() -> ProgramCard:
    return make_card().model_copy(
        update={"name": "ag", "version": 3, "settings": {"agent": "rag-bm25", "metric": "judge:m@1"}}
    )


def test_page_holds_both_agents_with_their_scores_prompts_and_answers(found: CompiledAgent, card: ProgramCard) -> None:
    html = without_labels(agent_page(found, SETTINGS, card))
    assert "<td>uncompiled<td><b>.64</b>" in html  # 11 x .7 and a failure, which counts 0
    assert "<td>labelled-2<td>.90 (chosen)" in html
    assert "shown answer" in html
    assert "lines added, 0 removed" in html
    assert html.index("Question 5") < html.index("Question 0")  # the failed one changed most
    assert "the service is down" in html


def test_changes_are_written_so_that_none_that_counts_reads_as_nothing() -> None:
    heads = {case.item_id: case.head for case in cases(measured([0.8004, 0.802, 0.798, *[0.7] * 9]))}
    assert [heads[f"q{n}"] for n in range(4)] == ["+.000, the same", "-.002, lost", "+.002, gained", "+.100, gained"]


def test_page_is_self_contained_and_escapes_everything(found: CompiledAgent, card: ProgramCard) -> None:
    assert Page(agent_page(found, SETTINGS, card)).faults == []


def test_page_says_that_an_agent_was_not_promoted(found: CompiledAgent, card: ProgramCard) -> None:
    assert "NOT PROMOTED" in agent_page(found, SETTINGS, card.model_copy(update={"promoted": False}))
