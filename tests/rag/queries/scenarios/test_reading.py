"""Scenario files: what is refused, with which line, and how a user adds one."""

import json
import time
from pathlib import Path

import pytest
import yaml

from judgec.errors import InputError, UserError
from judgec.rag.queries.scenarios import SHIPPED
from judgec.rag.queries.scenarios.reading import (
    files_in,
    questions_of,
    read_scenario,
    read_scenarios,
)
from judgec.records.scenario.schema import CRITERIA
from judgec.table import safe_yaml
from judgec.table.tables import read_table

SHOT = "{passage: a, question: b, answer: c}"
GOOD = """id: mine
title: Mine
document_sampling: {documents: 3}
chunking:
  size: 500
  overlap: 50
chunk_sampling: {chunks: 1}
prompts: [Ask something.]
prompting_strategy: one-shot
acceptable_metrics: [correctness, relevance]
"""


def faults(tmp_path: Path, text: str) -> list[str]:
    path = tmp_path / "mine.yaml"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(InputError) as error:
        read_scenario(path)
    return [fault.removeprefix(f"{path}:") for fault in error.value.faults]


def test_read_scenario_with_its_six_parts_reads_them(tmp_path: Path) -> None:
    path = tmp_path / "mine.yaml"
    path.write_text(GOOD)
    scenario = read_scenario(path)
    assert (scenario.chunking.size, scenario.chunking.separator) == (500, "\n")
    assert scenario.document_sampling.documents == 3
    assert scenario.acceptable_metrics == ("correctness", "relevance")


@pytest.mark.parametrize(
    ("old", "new", "line", "said"),
    [
        ("title: Mine", "title: Mine\ncolour: blue", 3, "key colour is not known; valid are id, title"),
        ("  overlap: 50", "  overlap: 50\n  stride: 5", 7, "key chunking.stride is not known; valid are separator"),
        ("  overlap: 50", "  overlap: 500", 4, "overlap 500 is not less than size 500"),
        ("relevance]", "beauty]", 10, "'beauty' is not valid; valid are correctness"),
        ("relevance]", "rejection]", 10, "rejection is for the form absent"),
        ("prompts: [Ask something.]\n", "", 1, "prompts is missing"),
        ("[Ask something.]", "[]", 8, "prompts: is empty"),
        ("[Ask something.]", "['']", 8, "one is empty"),
        ("[Ask something.]", "[a, b]", 8, "more than one needs the sequential strategy"),
        ("one-shot", "zero-shot", 9, "'zero-shot' is not valid; valid are 'one-shot', 'few-shot' or 'sequential'"),
        ("one-shot", "few-shot", 1, "examples: the few-shot strategy needs some"),
        (
            "prompting_strategy: one-shot",
            f"prompting_strategy: one-shot\nexamples: [{SHOT}, {SHOT}]",
            10,
            "2 of them; one-shot takes one",
        ),
        ("{documents: 3}", "{documents: 0}", 3, "document_sampling.documents"),
        ("title: Mine", "title: Mine\ntitle: Yours", 3, "key title again, first in line 2"),
    ],
)
def test_read_scenario_with_a_fault_names_its_line(tmp_path: Path, old: str, new: str, line: int, said: str) -> None:
    assert old in GOOD
    (fault,) = faults(tmp_path, GOOD.replace(old, new))
    assert fault.startswith(f"{line}: ")
    assert said in fault


def test_read_scenario_with_several_faults_lists_all_in_line_order(tmp_path: Path) -> None:
    found = faults(tmp_path, GOOD.replace("relevance]", "beauty]").replace("size: 500", "size: many"))
    assert [fault.split(":")[0] for fault in found] == ["5", "10"]


def test_read_scenario_that_is_no_yaml_names_the_line(tmp_path: Path) -> None:
    (fault,) = faults(tmp_path, GOOD + "x: [1\ny: 2\n")
    assert fault.startswith("12: not YAML")


def test_read_scenarios_of_the_user_are_added_by_adding_a_file(tmp_path: Path) -> None:
    (tmp_path / "mine.yaml").write_text(GOOD)
    found = read_scenarios(["S6", "mine"], SHIPPED, tmp_path)
    assert [scenario.id for scenario in found] == ["S6", "mine"]
    with pytest.raises(UserError, match=r"there are S1, S2, .*mine"):
        read_scenarios(["S9"], SHIPPED, tmp_path)
    with pytest.raises(UserError, match="named twice"):
        read_scenarios(["S1", "S1"], SHIPPED, tmp_path)


def test_shipped_scenarios_are_those_of_the_paper_six_more_and_a_plain_one() -> None:
    known = {scenario.id: scenario for scenario in map(read_scenario, files_in(SHIPPED))}
    more = {"distracting", "situational", "follow-up", "false-premise", "typos", "language", "plain"}
    assert set(known) == {"S1", "S2", "S3", "S4", "S5", "S6"} | more
    paper = [known[f"S{k}"] for k in range(1, 7)]
    assert all((s.chunking.size, s.chunking.overlap, s.chunking.separator) == (3000, 150, "\n") for s in paper)
    assert all(s.document_sampling.documents == 10 for s in paper)
    assert [s.chunk_sampling.filter for s in paper[:2]] == ["number", "date"]
    assert [len(s.examples) for s in paper] == [1, 1, 3, 1, 1, 0]
    assert [(s.chunk_sampling.chunks, s.chunk_sampling.documents) for s in paper[3:5]] == [(3, "one"), (3, "several")]
    assert known["S6"].acceptable_metrics == ("rejection",)
    assert known["S6"].prompting_strategy == "sequential"
    assert all(scenario.recommended_fix is not None for scenario in known.values())


def test_questions_of_a_plain_table_get_ids_and_metrics(tmp_path: Path) -> None:
    (tmp_path / "q.csv").write_text("query,reference\nHow long?,3 m\nHow wide?,2 m\n")
    found = questions_of(read_table(str(tmp_path / "q.csv")))
    assert [one.query_id for one in found] == ["q1", "q2"]
    assert found[0].metrics == CRITERIA
    assert found[0].reference == "3 m"


def test_questions_of_ones_own_have_the_form_and_metrics_of_the_scenario_that_they_name(tmp_path: Path) -> None:
    known = {scenario.id: scenario for scenario in map(read_scenario, files_in(SHIPPED))}
    rows = [
        {"query": "How deep?", "scenario": "S6", "data_set": "nq"},
        {"query": "How wide?", "reference": "2 m", "scenario": "S1"},
        {"query": "How old?", "scenario": "S6", "metrics": ["correctness"]},
        {"query": "How new?", "scenario": "mine"},
    ]
    (tmp_path / "q.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    found = questions_of(read_table(str(tmp_path / "q.jsonl")), known)

    assert [(one.form, one.metrics) for one in found] == [
        ("absent", ("rejection",)),
        (known["S1"].form, known["S1"].acceptable_metrics),
        ("open", ("correctness",)),
        ("open", CRITERIA),
    ]
    assert [one.data_set for one in found] == ["nq", "", "", ""]


def test_questions_with_faults_are_refused_line_by_line(tmp_path: Path) -> None:
    rows: list[dict[str, object]] = [
        {"query_id": "a", "query": "x?"},
        {"query_id": "b", "query": ""},
        {"query_id": "c", "query": "y?", "form": "odd"},
        {"query_id": "a", "query": "z?"},
    ]
    (tmp_path / "q.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    with pytest.raises(InputError) as error:
        questions_of(read_table(str(tmp_path / "q.jsonl")))
    assert [fault.split(":")[1] for fault in error.value.faults] == ["2", "3", "4"]


LAUGHS = [f"a{n}: &a{n} [{', '.join(['x' if n == 0 else f'*a{n - 1}'] * 10)}]" for n in range(10)]
MERGES = ["m0: &m0 {x: 1}", *(f"m{n}: &m{n} {{<<: [{', '.join([f'*m{n - 1}'] * 10)}]}}" for n in range(1, 10))]


@pytest.mark.parametrize("lines", [LAUGHS, MERGES, ["endless: &e [*e]"]], ids=["aliases", "merges", "endless"])
def test_aliases_and_merges_that_stand_for_billions_are_never_written_out(tmp_path: Path, lines: list[str]) -> None:
    begun = time.thread_time()
    assert "more than 100000 values" in faults(tmp_path, GOOD + "\n".join(lines) + "\n")[0]
    assert time.thread_time() - begun < 5


def test_yaml_that_is_too_long_is_refused_before_it_is_parsed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(safe_yaml, "MOST_CHARACTERS", 1000)
    monkeypatch.setattr(yaml, "compose", lambda *_, **__: pytest.fail("parsed"))
    (fault,) = faults(tmp_path, GOOD + "#" * 1000)
    assert "at most 1000 " in fault
