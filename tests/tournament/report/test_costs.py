from pathlib import Path

import pytest

from judgec.tournament.files.entries import AnswerCost, Entries
from judgec.tournament.files.reading import Sources, read_entries
from judgec.tournament.report.costs import COSTS, AgentCost, agent_costs, costs_json
from tests.compile.small import Rows, write


def row(query: str, agent: str, **more: object) -> dict[str, object]:
    return {"query_id": query, "query": f"{query}?", "agent": agent, "answer": agent, **more}


def test_costs_are_read_from_answers_and_summed_by_agent(tmp_path: Path) -> None:
    rows: Rows = [
        row("1", "x", seconds=1.0, input_tokens=10, output_tokens=2, usd=0.1),
        row("2", "x", seconds=3.0, input_tokens=20, usd=0.2),
        row("1", "y", seconds=None, usd=None, tokens="7"),
        row("1", "z", seconds="soon", usd=-1),
    ]
    entries = read_entries(Sources(answers=((str(write(tmp_path / "a.jsonl", rows)), ""),)))
    found = agent_costs(entries)
    assert set(found) == {"x", "y"}
    assert (found["x"].answers, found["x"].median_seconds, found["x"].tokens) == (2, 2.0, 16.0)
    assert found["x"].usd == pytest.approx(0.15)
    assert found["x"].usd_total == pytest.approx(0.3)
    assert (found["y"].median_seconds, found["y"].tokens, found["y"].usd) == (None, 7.0, None)
    assert costs_json(entries)["y"]["usd_per_answer"] is None
    assert cells(found["y"]) == ("-", "7", "-")
    assert cells(found["x"]) == ("2000.0", "16", "0.3000")
    assert COSTS.csv([found["x"]])[1] == pytest.approx([2000.0, 16.0, 0.3])


def cells(cost: AgentCost | None) -> tuple[str, ...]:
    return COSTS.screen([cost])[1][0]


def test_unknown_numbers_of_one_answer_leave_the_agents_unknown() -> None:
    costs = {("1", "x"): AnswerCost(usd=1.0), ("2", "x"): AnswerCost(tokens=5), ("1", "y"): AnswerCost(seconds=0.5)}
    answers = {("1", "x"): "A", ("2", "x"): "B", ("1", "y"): "C"}
    found = agent_costs(Entries(queries={"1": "a", "2": "b"}, answers=answers, costs=costs))
    assert found["x"].usd is None
    assert cells(found["y"]) == ("500.0", "-", "-")
    assert cells(None) == ("-", "-", "-")
    assert COSTS.csv([None])[1] == ["", "", ""]


def test_passage_ids_of_answers_name_the_documents(tmp_path: Path) -> None:
    rows = [
        row("1", "x", contexts=["T", "U"], passage_ids=["d#1", "d#2"]),
        row("1", "y", contexts=["other"], passage_ids=["d#1"]),
        row("1", "z", contexts=["T"], passage_ids=["d#1", "d#2"]),
    ]
    entries = read_entries(Sources(answers=((str(write(tmp_path / "a.jsonl", rows)), ""),)))
    assert entries.ranking("1", "x") == ("d#1", "d#2")
    assert entries.item("1", "y").texts("contexts") == ("other",)  # one id, two texts: told apart
    assert entries.item("1", "z").texts("contexts") == ("T",)
