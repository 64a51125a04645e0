from dataclasses import replace
from pathlib import Path

import pytest

from judgec.compile.agents.candidates import AgentCandidate
from judgec.compile.agents.compile import AgentCompile, CompiledAgent
from judgec.compile.agents.duel import Duel
from judgec.compile.agents.metric import ScoredAnswer
from judgec.compile.agents.page import agent_page, cases
from judgec.compile.pipeline import COMPILED, UNCOMPILED
from judgec.rag.agents.answer import Answer
from judgec.rag.agents.rag import RAG, AgentSettings
from judgec.records.card import ProgramCard
from judgec.records.estimate import Estimate
from judgec.tournament.files.queries import Query
from tests.compile.agents.contested import compiled_agent
from tests.rag.agents.world import Shelf
from tests.records.test_card import make_card
from tests.report.page.html import Page, without_labels

EVIL = "<script>alert(1)</script>"
SETTINGS = AgentCompile("ag", Path(), "rag-bm25", AgentSettings(), resamples=200)
MET = Duel(
    judge="flags@1",
    independent=True,
    wins=7,
    losses=2,
    ties=3,
    unscored=4,
    net=Estimate(value=0.41, low=0.12, high=0.68, n=12),
    means={COMPILED: Estimate(value=4.2, low=3.9, high=4.5), UNCOMPILED: Estimate(value=3.1, low=2.8, high=3.4)},
    difference=Estimate(value=1.1, low=0.7, high=1.5),
)


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


def test_page_holds_both_agents_head_to_head_with_intervals(found: CompiledAgent, card: ProgramCard) -> None:
    html = without_labels(agent_page(found, MET, SETTINGS, card))
    assert "<td>7<td>2<td>3<td>4<td><b>.41</b> <span class=quiet>[.12, .68]</span>" in html
    assert "<td>compiled<td><b>4.20</b> <span class=quiet>[3.90, 4.50]</span>" in html
    assert "<td>difference<td><b>1.10</b> <span class=quiet>[.70, 1.50]</span>" in html
    assert "optimistic" not in html
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
    assert Page(agent_page(found, replace(MET, judge=f"'\"> {EVIL}"), SETTINGS, card)).faults == []


def test_page_says_when_the_judge_was_the_metric_and_when_there_is_none(
    found: CompiledAgent, card: ProgramCard
) -> None:
    assert "optimistic" in agent_page(found, replace(MET, independent=False), SETTINGS, card)
    assert "--report-judge" in agent_page(found, None, SETTINGS, card)
    assert "NOT PROMOTED" in agent_page(found, None, SETTINGS, card.model_copy(update={"promoted": False}))
