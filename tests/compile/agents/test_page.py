from dataclasses import replace
from pathlib import Path

import pytest

from judgec.compile.contest import COMPILED, UNCOMPILED
from judgec.compile.contest_report import finished
from judgec.rag.agents.answer import Answer
from judgec.rag.agents.rag import RAG
from judgec.tournament.files.queries import Query
from tests.compile.agents.world import FREE, SETTINGS, Found, answered, outcome
from tests.rag.agents.world import Shelf
from tests.report.page.html import Page, without_labels

EVIL = "<script>alert(1)</script>"


def measured(home: Path, uncompiled: list[float | None]) -> Found:
    """An agent that scores .8 everywhere, beside one of these scores."""
    queries = tuple(Query(f"q{n}", f"Question {n} {EVIL}?") for n in range(12))
    ours = [Answer(query_id=q.query_id, agent="ag", text=f"good {q.query_id} {EVIL}") for q in queries]
    theirs = [Answer(query_id=q.query_id, agent="ag", text="bad") for q in queries]
    theirs[5] = replace(theirs[5], text=None, error="the service is down")
    test = {UNCOMPILED: answered(uncompiled, theirs, queries), COMPILED: answered([0.8] * 12, ours, queries)}
    found = outcome(home, test, queries=queries)
    shown = RAG(Shelf(), SETTINGS)
    shown.answer.demos = [{"query": "shown question", "passages": "p", "answer": "shown answer"}]
    dev = {UNCOMPILED: answered([0.3, 0.5]), "labelled-2": answered([0.9])}
    return replace(found, chosen=replace(found.chosen, module=shown), dev=dev, notes=(f"a note {EVIL}",))


@pytest.fixture
def found(tmp_path: Path) -> Found:
    return measured(tmp_path, [None if n == 5 else 0.7 for n in range(12)])


def page_of(found: Found) -> str:
    made = finished(found, FREE, "2026-01-01")
    page = made.page(made.card.model_copy(update={"version": 3}))
    assert page is not None
    return page


def test_page_holds_both_agents_with_their_scores_prompts_and_answers(found: Found) -> None:
    html = without_labels(page_of(found))
    assert "<td>uncompiled<td><b>.64</b>" in html  # 11 x .7 and a failure, which counts 0
    assert "<td>labelled-2<td>.90 (chosen)" in html
    assert "shown answer" in html
    assert "lines added, 0 removed" in html
    assert html.index("Question 5") < html.index("Question 0")  # the failed one changed most
    assert "the service is down" in html
    assert "NOT PROMOTED" not in html


def test_changes_are_written_so_that_none_that_counts_reads_as_nothing(tmp_path: Path) -> None:
    found = measured(tmp_path, [0.8004, 0.802, 0.798, *[0.7] * 9])
    heads = {case.item_id: case.head for case in found.contest.cases(found)}
    assert [heads[f"q{n}"] for n in range(4)] == ["+.000, the same", "-.002, lost", "+.002, gained", "+.100, gained"]


def test_page_is_self_contained_and_escapes_everything(found: Found) -> None:
    assert Page(page_of(found)).faults == []


def test_page_says_that_an_agent_was_not_promoted(tmp_path: Path) -> None:
    assert "NOT PROMOTED" in page_of(measured(tmp_path, [0.8] * 12))
